//! Id lookups with a cold page cache, with several threads, and with indexing and reading at the same time.
//!
//! ```text
//! cargo run --release -p docvalues-benches --bin ids -- mapped [uuid|auto|seq] [SEGMENTS] [IDS]
//! cargo run --release -p docvalues-benches --bin ids -- versions [uuid|auto|seq] [SEGMENTS] [IDS]
//! cargo run --release -p docvalues-benches --bin ids -- cold FOLDER [uuid|auto|seq] [IDS]
//! cargo run --release -p docvalues-benches --bin ids -- threads
//! cargo run --release -p docvalues-benches --bin ids -- mixed [SECONDS]
//! ```
//!
//! `mapped` looks up ids in segments of IDS each, in mapped files in the page cache, and in memory: CPU time for each
//! id, the median of five rounds.
//!
//! `versions` looks up present ids and the versions of their documents, as for each document that replaces an older
//! one.
//!
//! `cold` writes a segment for each form of the index, with ten million ids; drops it from the page cache; and looks
//! up absent and present ids in a new process: page faults that read the disk, and time. `filter` reads the whole
//! filter first. `fst` is the crate's map, mapped.
//!
//! `mixed` is the workload of apache/lucene#15820: 32 bulks of 20 documents with new ids a second, in 400 segments,
//! while another thread sums a column. It prints the share of a core that the lookups take.
#![expect(unsafe_code, reason = "the crate fst reads a mapping, too")]
#![expect(clippy::cast_possible_truncation, clippy::expect_used, reason = "a tool for 64-bit machines")]

use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docvalues::format::source::Owned;
use docvalues::terms::build::IdsBuilder;
use docvalues::terms::lookup::{Hit, IdLookup, IdStore, SegmentIds};
use docvalues::terms::read::IdsReader;
use docvalues::{
    DocId, FieldSpec, IdForm, IdOptions, IdReader, LogicalType, NumericSeeker, Schema, Segment,
    SegmentWriter, WriterOptions,
};
use docvalues_benches::ids::{IdKind, random};
use rustix::fs::{Advice, fadvise};
use rustix::time::{ClockId, clock_gettime};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["cold", folder, rest @ ..] => {
            let kind = kind(rest.first().unwrap_or(&"uuid"))?;
            let ids = rest.get(1).map_or(Ok(10_000_000), |ids| ids.parse())?;
            cold(Path::new(folder), kind, ids)
        }
        ["cold-child", file, how, kind_name, ids, work] => {
            cold_child(Path::new(file), how, kind(kind_name)?, ids.parse()?, work)
        }
        ["mapped", rest @ ..] => {
            let number =
                |at: usize, usual| rest.get(at).map_or(Ok(usual), |number: &&str| number.parse::<u32>());
            mapped(kind(rest.first().unwrap_or(&"uuid"))?, number(1, SEGMENTS)?, number(2, EACH)?)
        }
        ["versions", rest @ ..] => {
            let number =
                |at: usize, usual| rest.get(at).map_or(Ok(usual), |number: &&str| number.parse::<u32>());
            versions(kind(rest.first().unwrap_or(&"uuid"))?, number(1, SEGMENTS)?, number(2, EACH)?)
        }
        ["threads"] => threads(),
        ["mixed", rest @ ..] => mixed(rest.first().map_or(Ok(10), |seconds| seconds.parse())?),
        _ => {
            Err("mapped [KIND] [SEGMENTS] [IDS] | cold FOLDER [KIND] [IDS] | threads | mixed [SECONDS]"
                .into())
        }
    }
}

fn kind(name: &str) -> Outcome<IdKind> {
    IdKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("expected uuid, auto or seq, found {name}").into())
}

/// Writes a segment of the ids `from..to` and their numbers to a file.
fn write(path: &Path, kind: IdKind, ids: std::ops::Range<u32>, options: IdOptions) -> Outcome {
    let mut schema = Schema::new();
    let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8))?;
    let version = schema.add(FieldSpec::new("_version", LogicalType::I64))?;
    let mut writer = SegmentWriter::create(path, schema, WriterOptions::default())?;
    writer.id_field(id, options)?;
    for i in ids {
        let mut document = writer.document();
        document.str(id, &kind.id(i))?.i64(version, i.into())?;
        document.finish()?;
    }
    writer.finish()?;
    Ok(())
}

// Mapped.

fn mapped(kind: IdKind, segments: u32, each: u32) -> Outcome {
    println!(
        "{segments} x {each} ids, {kind}; µs an id\n\n| | absent | bulks of 20 | present | bulks of 20 |\n\
         | --- | ---: | ---: | ---: | ---: |"
    );
    let bare =
        IdForm::ALL.map(|form| (form.name(), IdOptions { form, filter_bits: 0, ..IdOptions::default() }));
    for (name, options) in std::iter::once(("filter", IdOptions::default())).chain(bare) {
        let folder = tempfile::tempdir()?;
        let mut opened: Vec<Arc<IdReader>> = Vec::new();
        for segment in (0..segments).rev() {
            let path = folder.path().join(format!("{segment}.dv"));
            write(&path, kind, segment * each..(segment + 1) * each, options)?;
            opened.push(Arc::clone(Segment::open(&path)?.ids()?.ok_or("no index")?.reader()));
        }
        let ids = segments * each;
        for segment in &opened {
            segment.verify()?;
        }
        lookups(&format!("{name}, mapped"), kind, ids, &IdLookup::new(opened.iter().cloned()))?;
        if options.filter_bits > 0 {
            let in_memory = IdLookup::new(opened.iter().cloned()).with_filters_in_memory()?;
            lookups("filters in memory, rest mapped", kind, ids, &in_memory)?;
            let store = IdStore::with_seed(1);
            store.add_all(&opened)?;
            lookups("fingerprint table, mapped", kind, ids, &store.snapshot())?;
        }
        let owned =
            (0..segments).rev().map(|segment| owned(kind, segment * each..(segment + 1) * each, options));
        let owned = owned.collect::<Outcome<Vec<_>>>()?;
        lookups(&format!("{name}, in memory"), kind, ids, &IdLookup::new(owned))?;
    }
    Ok(())
}

/// The id index of a segment in memory.
fn owned(kind: IdKind, ids: std::ops::Range<u32>, options: IdOptions) -> Outcome<Arc<IdsReader<Owned>>> {
    let mut sorted: Vec<(String, DocId)> = ids.map(|i| kind.id(i)).zip((0..).map(DocId::new)).collect();
    sorted.sort_unstable();
    let made = IdsBuilder::new(options).build(&sorted[..], sorted.len() as u32)?;
    let made = made.try_map(&mut |role, bytes| Ok::<_, std::convert::Infallible>(Owned::new(role, bytes)))?;
    Ok(Arc::new(IdsReader::open(made)?))
}

/// Prints the row of a lookup.
fn lookups<S: SegmentIds>(name: &str, kind: IdKind, ids: u32, lookup: &IdLookup<S>) -> Outcome {
    const ROUNDS: usize = 5;
    const LOOKUPS: usize = 10_000;
    let mut row = format!("| {name} |");
    for absent in [true, false] {
        let requested: Vec<String> = match absent {
            true => (0..LOOKUPS as u32).map(|i| kind.id(ids + i)).collect(),
            false => random(ids, LOOKUPS).map(|i| kind.id(i)).collect(),
        };
        let requested: Vec<&[u8]> = requested.iter().map(|id| id.as_bytes()).collect();
        for bulk in [1, 20] {
            let (mut seeker, mut hits, mut times) = (lookup.seeker(), Vec::new(), Vec::new());
            // The first one is the warm-up.
            for _ in 0..=ROUNDS {
                let (mut found, began) = (0, cpu());
                for ids in requested.chunks(bulk) {
                    match ids {
                        [id] => found += usize::from(seeker.find(id)?.is_some()),
                        ids => {
                            seeker.find_many(ids, &mut hits)?;
                            found += hits.iter().flatten().count();
                        }
                    }
                }
                times.push(cpu() - began);
                assert_eq!(found, if absent { 0 } else { LOOKUPS });
            }
            times.remove(0);
            times.sort_unstable();
            row += &format!(" {:.3} |", times[ROUNDS / 2].as_secs_f64() * 1e6 / LOOKUPS as f64);
        }
    }
    println!("{row}");
    Ok(())
}

// Versions.

fn versions(kind: IdKind, segments: u32, each: u32) -> Outcome {
    let segments = Segments::of(kind, segments, each)?;
    let ids = kind_ids(kind, segments.ids);
    for (_, version) in &segments.opened {
        (0..each).try_for_each(|doc| version.get(DocId::new(doc)).map(drop))?;
    }
    println!("| | ids | bulks of 20 | versions | bulks of 20 |\n| --- | ---: | ---: | ---: | ---: |");
    for (name, lookup) in segments.ways()? {
        let mut row = format!("| {name} |");
        for (bulk, with) in [(1, false), (20, false), (1, true), (20, true)] {
            let (mut seeker, mut hits) = (lookup.seeker(), Vec::new());
            let versions = NumericSeeker::new(segments.opened.iter().map(|segment| &segment.1));
            let version = |hit: Option<Hit>| match hit {
                Some(hit) if with => versions.get(hit.segment, hit.doc).expect("undamaged").unwrap_or(0),
                hit => hit.map_or(0, |_| 1),
            };
            row += &match bulk {
                1 => median(&ids, |ids| {
                    ids.iter().map(|id| version(seeker.find(id.as_bytes()).expect("undamaged"))).sum()
                }),
                _ => median(&ids, |ids| {
                    let bulks = ids.chunks(bulk).map(|ids| {
                        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
                        seeker.find_many(&ids, &mut hits).expect("undamaged");
                        hits.iter().map(|&hit| version(hit)).sum::<i64>()
                    });
                    bulks.sum()
                }),
            };
        }
        println!("{row}");
    }
    Ok(())
}

/// Ten thousand of `ids` ids in random order.
fn kind_ids(kind: IdKind, ids: u32) -> Vec<String> {
    random(ids, 10_000).map(|i| kind.id(i)).collect()
}

/// CPU time for each id, the median of 25 rounds.
fn median(ids: &[String], mut round: impl FnMut(&[String]) -> i64) -> String {
    let mut times = Vec::new();
    let sum = round(ids);
    for _ in 0..25 {
        let began = cpu();
        assert_eq!(black_box(round(ids)), sum);
        times.push(cpu() - began);
    }
    times.sort_unstable();
    format!(" {:.3} |", times[times.len() / 2].as_secs_f64() * 1e6 / ids.len() as f64)
}

// Cold.

/// Ids to look up: so few that hardly two of them share a page.
const COLD: usize = 2_000;

fn cold(folder: &Path, kind: IdKind, ids: u32) -> Outcome {
    fs::create_dir_all(folder)?;
    let forms = [("blocks", IdForm::Blocks, 0), ("trie", IdForm::Exact, 0), ("automaton", IdForm::Fst, 0)];
    let forms = forms.into_iter().chain([("filter", IdForm::Blocks, 16)]);
    println!(
        "{ids} ids, {kind}\n\n| | absent: faults | µs | present: faults | µs |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (how, form, filter_bits) in forms {
        let path = folder.join(format!("{kind}-{ids}-{how}.dv"));
        write(&path, kind, 0..ids, IdOptions { form, filter_bits, ..IdOptions::default() })?;
        cold_row(&path, how, kind, ids)?;
    }
    let path = folder.join(format!("{kind}-{ids}.fst"));
    write_fst(&path, kind, ids)?;
    cold_row(&path, "fst", kind, ids)
}

fn write_fst(path: &Path, kind: IdKind, ids: u32) -> Outcome {
    let mut sorted: Vec<(String, u64)> = (0..ids).map(|i| (kind.id(i), i.into())).collect();
    sorted.sort_unstable();
    let mut builder = fst::MapBuilder::new(std::io::BufWriter::new(File::create(path)?))?;
    sorted.iter().try_for_each(|(id, i)| builder.insert(id, *i))?;
    builder.finish()?;
    Ok(())
}

/// Runs each workload in a new process, after dropping the file from the page cache.
fn cold_row(path: &Path, how: &str, kind: IdKind, ids: u32) -> Outcome {
    let mut row = format!("| {how} |");
    for work in ["absent", "present"] {
        let file = File::open(path)?;
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        let this = std::env::current_exe()?;
        let output = Command::new(this)
            .args(["cold-child", &path.display().to_string(), how, kind.name(), &ids.to_string(), work])
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        row += String::from_utf8_lossy(&output.stdout).trim_end();
    }
    println!("{row}");
    fs::remove_file(path)?;
    Ok(())
}

/// Whether an id is present.
type Find = Box<dyn Fn(&[u8]) -> bool>;

fn cold_child(path: &Path, how: &str, kind: IdKind, ids: u32, work: &str) -> Outcome {
    let requested: Vec<String> = match work {
        "absent" => (0..COLD as u32).map(|i| kind.id(ids + i)).collect(),
        _ => random(ids, COLD).map(|i| kind.id(i)).collect(),
    };
    let find: Find = if how == "fst" {
        let file = File::open(path)?;
        // SAFETY: the program wrote the file, and nothing changes it while it is mapped.
        let bytes = unsafe { memmap2::Mmap::map(&file) }?;
        bytes.advise(memmap2::Advice::Random)?;
        let map = fst::Map::new(bytes)?;
        Box::new(move |id| map.get(id).is_some())
    } else {
        let index = Segment::open(path)?.ids()?.ok_or("no index")?;
        if how == "filter" {
            // Read the whole filter, as random ids do after some minutes.
            let lines = ids / 16;
            for i in 0..lines {
                black_box(index.reader().may_hold(&docvalues::terms::bloom::Probe::new(
                    u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                ))?);
            }
        }
        Box::new(move |id| index.find(id).expect("undamaged").is_some())
    };
    let (faults, began) = (major_faults()?, Instant::now());
    let found = requested.iter().filter(|id| find(id.as_bytes())).count();
    let took = began.elapsed();
    assert_eq!(found, if work == "absent" { 0 } else { COLD });
    let faults = (major_faults()? - faults) as f64 / COLD as f64;
    print!(" {faults:.2} | {:.0} |", took.as_secs_f64() * 1e6 / COLD as f64);
    Ok(())
}

/// Page faults of this process that read the disk.
fn major_faults() -> Outcome<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(')').ok_or("no such field")?.1;
    Ok(after_name.split_whitespace().nth(9).ok_or("no such field")?.parse()?)
}

// Threads and mixed workloads: 400 segments of 2,500 ids, the defaults of `mapped`.

const SEGMENTS: u32 = 400;
const EACH: u32 = 2_500;

/// Segments that threads share.
type Lookup = Arc<IdLookup<IdReader>>;

struct Segments {
    _folder: tempfile::TempDir,
    opened: Vec<(Arc<IdReader>, docvalues::Numeric)>,
    ids: u32,
}

impl Segments {
    fn new() -> Outcome<Segments> {
        Segments::of(IdKind::Uuid, SEGMENTS, EACH)
    }

    fn of(kind: IdKind, segments: u32, each: u32) -> Outcome<Segments> {
        let folder = tempfile::tempdir()?;
        let mut opened = Vec::new();
        for segment in 0..segments {
            let path: PathBuf = folder.path().join(format!("{segment}.dv"));
            write(&path, kind, segment * each..(segment + 1) * each, IdOptions::default())?;
            let segment = Segment::open(&path)?;
            let index = segment.ids()?.ok_or("no index")?;
            opened.push((Arc::clone(index.reader()), segment.numeric("_version")?));
        }
        opened.reverse();
        Ok(Segments { _folder: folder, opened, ids: segments * each })
    }

    fn readers(&self) -> Vec<Arc<IdReader>> {
        self.opened.iter().map(|segment| Arc::clone(&segment.0)).collect()
    }

    /// Lookups through filters and through a fingerprint table.
    fn ways(&self) -> Outcome<[(&'static str, Lookup); 2]> {
        let store = IdStore::new();
        store.add_all(&self.readers())?;
        Ok([("files", Arc::new(IdLookup::new(self.readers()))), ("table", store.snapshot())])
    }
}

fn threads() -> Outcome {
    const IDS: u32 = 20_000;
    let segments = Segments::new()?;
    println!("| | threads | absent: ids a second | present |\n| --- | ---: | ---: | ---: |");
    for (name, lookup) in segments.ways()? {
        for threads in [1, 2] {
            let mut row = format!("| {name} | {threads} |");
            for absent in [true, false] {
                let done = AtomicU64::new(0);
                let began = Instant::now();
                std::thread::scope(|scope| {
                    for thread in 0..threads {
                        let (lookup, done) = (&lookup, &done);
                        scope.spawn(move || {
                            let all = SEGMENTS * EACH;
                            let id = |i| {
                                IdKind::Uuid.id(if absent { all + thread * IDS + i } else { i * 7_919 % all })
                            };
                            let ids: Vec<String> = (0..IDS).map(id).collect();
                            let (mut seeker, began) = (lookup.seeker(), Instant::now());
                            while began.elapsed() < Duration::from_secs(2) {
                                let found = ids
                                    .iter()
                                    .filter(|id| seeker.find(id.as_bytes()).expect("undamaged").is_some());
                                assert_eq!(found.count() as u32, if absent { 0 } else { IDS });
                                done.fetch_add(IDS.into(), Ordering::Relaxed);
                            }
                        });
                    }
                });
                row += &format!(" {:.0} |", done.into_inner() as f64 / began.elapsed().as_secs_f64());
            }
            println!("{row}");
        }
    }
    Ok(())
}

fn mixed(seconds: u32) -> Outcome {
    const BULKS: u32 = 32;
    const BULK: u32 = 20;
    let segments = Segments::new()?;
    println!("| | µs a document | of a core | the reader's sums a second |\n| --- | ---: | ---: | ---: |");
    for (name, lookup) in segments.ways()? {
        let (stop, sums) = (AtomicBool::new(false), AtomicU64::new(0));
        let took = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for (_, versions) in &segments.opened {
                        black_box(versions.range(..).count().expect("undamaged"));
                    }
                    sums.fetch_add(1, Ordering::Relaxed);
                }
            });
            let (mut seeker, mut hits, mut took, mut next) =
                (lookup.seeker(), Vec::new(), Duration::ZERO, SEGMENTS * EACH);
            let (began, pause) = (Instant::now(), Duration::from_secs(1) / BULKS);
            for bulk in 1..=BULKS * seconds {
                let ids: Vec<String> = (next..next + BULK).map(|i| IdKind::Uuid.id(i)).collect();
                let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
                next += BULK;
                let start = cpu();
                seeker.find_many(&ids, &mut hits).expect("undamaged");
                took += cpu() - start;
                assert!(hits.iter().all(Option::is_none));
                std::thread::sleep((pause * bulk).saturating_sub(began.elapsed()));
            }
            stop.store(true, Ordering::Relaxed);
            took
        });
        let documents = f64::from(BULKS * BULK * seconds);
        println!(
            "| {name} | {:.2} | {:.4} % | {:.0} |",
            took.as_secs_f64() * 1e6 / documents,
            took.as_secs_f64() * 100.0 / f64::from(seconds),
            sums.into_inner() as f64 / f64::from(seconds),
        );
    }
    Ok(())
}

/// CPU time of this thread so far.
fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
