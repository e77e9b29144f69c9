//! The cost of updates for the calls that apply, refresh and commit them.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use docvalues::store::{Store, StoreOptions};
use docvalues::{Field, Kind as FieldKind, LogicalType};
use docvalues_storage::{Directory, FsDirectory, NewFile};
use docvalues_testkit::rng::SplitMix64;

use crate::ways::{Hybrid, Op, Way as _};
use crate::{Kind, cpu, open};
use docvalues_benches::updated_docs::{copy, host, id, time, title};

/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

const COUNTS: [u32; 4] = [1, 100, 1_000, 10_000];

/// Prints the milliseconds of CPU time of applying a batch, and of showing it; and the time and the bytes of a commit.
pub(crate) fn measure(base: &Path, folder: &Path, docs: u32, kinds: &[Kind]) {
    println!("\n## Costs, {docs} documents\n");
    println!(
        "| kind | changed before | updates | apply, CPU ms | refresh, CPU ms | commit, ms | bare protocol, ms | CPU ms | delta, KB | heap, bytes a change |"
    );
    println!("| --- | ---: | ---: |{}", " ---: |".repeat(7));
    for kind in kinds {
        for share in [0.0, 0.001, 0.01, 0.1] {
            let store = Store::open(copy(base, folder), StoreOptions::default()).expect("a store");
            let way = Hybrid(Arc::new(store));
            let mut rng = SplitMix64::new(11);
            let mut left = (f64::from(docs) * share) as usize;
            while left > 0 {
                let some = left.min(100_000);
                way.apply(*kind, &ops(&mut rng, docs, some));
                left -= some;
            }
            way.0.commit().expect("a disk with room");
            for count in COUNTS {
                row(&way, (*kind, share), docs, count, (&mut rng, folder));
            }
        }
    }
}

/// Prints the milliseconds of CPU time of 1,000 updates of one, four and eight fields, one of which no segment has.
pub(crate) fn fields(base: &Path, folder: &Path, docs: u32) {
    println!("\n## Fields changed at once, {docs} documents, 1,000 updates\n");
    println!("| fields | apply, CPU ms | refresh, CPU ms |\n| ---: | ---: | ---: |");
    let names = ["time", "n1", "n2", "n3", "n4", "title", "host", "late"];
    for count in [1, 4, 8] {
        let store = Store::open(copy(base, folder), StoreOptions::default()).expect("a store");
        store.add_field(Field::new("late", FieldKind::Numeric, LogicalType::I64)).expect("a new name");
        let (mut rng, mut rounds) = (SplitMix64::new(3), [Vec::new(), Vec::new()]);
        for _ in 0..4 * ROUNDS {
            let start = cpu();
            let mut batch = store.batch().expect("a schema");
            let id_field = batch.field("id").expect("a field");
            let fields = names.map(|name| batch.field(name).expect("a field"));
            for _ in 0..1_000 {
                let seed = rng.next_u64();
                let mut row = batch.update();
                row.bytes(id_field, &id(rng.below_u32(docs))).expect("an id");
                for (field, name) in fields.iter().zip(names).take(count) {
                    match name {
                        "title" => row.str(*field, &title(seed)),
                        "host" => row.str(*field, &host(seed)),
                        _ => row.i64(*field, time(seed)),
                    }
                    .expect("a value");
                }
                row.finish().expect("a row");
            }
            store.apply(batch).expect("a disk with room");
            let applied = cpu();
            store.refresh().expect("a store");
            let search = store.snapshot().search();
            drop(search.retriever(&names[..count]).expect("good bytes"));
            rounds[0].push((applied - start) * 1e3);
            rounds[1].push((cpu() - applied) * 1e3);
        }
        let [apply, refresh] = rounds.map(|mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!("| {count} | {apply:.2} | {refresh:.3} |");
    }
}

fn row(
    way: &Hybrid,
    (kind, share): (Kind, f64),
    docs: u32,
    count: u32,
    (rng, folder): (&mut SplitMix64, &Path),
) {
    let mut rounds: [Vec<f64>; 5] = Default::default();
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let ops = ops(rng, docs, count as usize);
        let start = cpu();
        way.apply(kind, &ops);
        let applied = cpu();
        open(&way.refresh(), kind);
        let shown = cpu();
        let (before, began) = (way.written(), Instant::now());
        way.0.commit().expect("a disk with room");
        let (committed, time) = (cpu(), began.elapsed().as_secs_f64());
        bytes = way.written().saturating_sub(before);
        let bare = bare(folder, bytes);
        let times = [applied - start, shown - applied, time, bare, committed - shown];
        rounds.iter_mut().zip(times).for_each(|(all, time)| all.push(time * 1e3));
    }
    let stats = way.0.stats().expect("a store");
    let [apply, refresh, commit, bare, commit_cpu] = rounds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let changed = share * f64::from(docs) + f64::from(count) * ROUNDS as f64;
    println!(
        "| {} | {} % | {count} | {apply:.3} | {refresh:.3} | {commit:.2} | {bare:.2} | {commit_cpu:.2} | {:.1} | {:.1} |",
        kind.name(),
        share * 100.0,
        bytes as f64 / 1024.0,
        stats.updates_bytes as f64 / changed
    );
}

/// The seconds that the calls of a commit take alone, with a delta of so many bytes: two files that are written and synced, a
/// rename, and two syncs of the folder.
fn bare(folder: &Path, bytes: u64) -> f64 {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(folder.path()));
    let write = |name: &str, bytes: u64| {
        let mut file = NewFile::create(directory.clone(), name).expect("a new name");
        file.append(&vec![7; bytes as usize]).and_then(|()| file.finish()).expect("a disk with room");
    };
    let began = Instant::now();
    write("delta", bytes);
    directory.sync().expect("a folder");
    write("draft", 2_000);
    directory.rename("draft".as_ref(), "commit".as_ref()).expect("a file");
    directory.sync().expect("a folder");
    began.elapsed().as_secs_f64()
}

fn ops(rng: &mut SplitMix64, docs: u32, count: usize) -> Vec<Op> {
    std::iter::repeat_with(|| Op { number: rng.below_u32(docs), seed: rng.next_u64() }).take(count).collect()
}
