//! Damaged indexes of Lucene: every file of one that Lucene wrote in each family of formats, with one byte flipped, cut, and with
//! the flipped byte under a checksum that is right.
//!
//! `cargo test` tries one byte of each file, `DOCVALUES_SWEEP=full` all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docvalues::column::Result;
use docvalues::{ColumnSource as _, DocId};
use docvalues_fuzz::{Plan, exercise};
use docvalues_lucene::{Index, Segment};
use docvalues_testkit::damage::{Damage, Sweep, bit_flips, truncations};
use docvalues_testkit::lucene::reseal_lucene;

use crate::{ALLOCATOR, turn};

/// An index of each family: `Lucene70`, `Lucene80` in both modes, `Lucene90` without and with files of their own for skip indexes
/// and presence, the last with overlays.
const FAMILIES: [&str; 5] = ["7.0", "8.0", "8.11-compressed", "9.12", "10.6-overlays"];

/// The ends of files that are never opened: stored fields and positions.
const UNREAD: [&str; 6] = [".fdt", ".fdx", ".fdm", ".pos", ".psm", ".pay"];

/// The ends of files of terms, which have nothing of columns.
const TERMS: [&str; 3] = [".tim", ".tip", ".doc"];

/// The most documents of a segment whose columns are read: a damaged number of documents can be any.
const MOST_DOCS: u32 = 200_000;

/// What is counted over the damages of a family.
#[derive(Debug, Default)]
struct Seen {
    damaged: usize,
    refused: usize,
    errors: usize,
    right: usize,
    resealed: usize,
    /// The most bytes that were allocated.
    most: usize,
}

/// An index, with what its segments answer.
struct Good {
    folder: PathBuf,
    bytes: usize,
    segments: Vec<GoodSegment>,
}

/// The answers of a segment.
struct GoodSegment {
    name: String,
    plan: Plan,
    answers: Vec<u64>,
    found: Vec<Option<Vec<DocId>>>,
}

#[test]
fn damaged_indexes_give_errors_or_right_answers_in_bounded_memory() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lucene/fixtures/data");
    if !data.exists() {
        println!("SKIPPED: no {}", data.display());
        return;
    }
    let _turn = turn();
    std::thread::scope(|scope| {
        for family in FAMILIES {
            let data = &data;
            scope.spawn(move || {
                let seen = sweep(&data.join(family));
                println!("{family}: {seen:?}; 0 wrong, 0 panics");
                assert!(seen.refused > 0 && seen.errors > 0 && seen.right > 0 && seen.resealed > 0);
            });
        }
    });
}

fn sweep(original: &Path) -> Seen {
    let copy = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    let mut good = Good { folder: copy.path().to_owned(), bytes: 0, segments: Vec::new() };
    for entry in fs::read_dir(original).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        good.bytes +=
            usize::try_from(fs::copy(original.join(&name), copy.path().join(&name)).unwrap()).unwrap();
        names.push(name);
    }
    names.sort_unstable();
    for segment in Index::open(copy.path()).unwrap().segments() {
        let (plan, mut answers) = (Plan::small(&**segment).unwrap(), Vec::new());
        exercise(&plan, &**segment, &mut |answer| answers.push(answer.unwrap()));
        let (name, found) = (segment.name().to_owned(), look_up(segment));
        good.segments.push(GoodSegment { name, plan, answers, found });
    }
    let mut seen = Seen::default();
    let ends = |name: &str, ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    for name in names.iter().filter(|name| !ends(name, &UNREAD)) {
        let (path, bytes) = (copy.path().join(name), fs::read(copy.path().join(name)).unwrap());
        let (extent, mut damaged) = (Sweep::from_env(1), Vec::new());
        for damage in bit_flips(bytes.len(), extent).chain(truncations(bytes.len(), extent)) {
            damage.apply(&bytes, &mut damaged);
            fs::write(&path, &damaged).unwrap();
            let what = || format!("{}: {damage}", path.display());
            good.ask(name, !ends(name, &TERMS), &what, &mut seen);
            if let Damage::Flip { .. } = damage {
                reseal_lucene(&mut damaged);
                fs::write(&path, &damaged).unwrap();
                let ((), _, peak) = ALLOCATOR.here(|| good.read(name));
                // A segment may claim to have any number of documents, of which sets take some bits each.
                let claimed = if name.ends_with(".si") { i32::MAX as usize / 2 } else { 0 };
                assert!(peak <= (64 << 20) + 4 * good.bytes + claimed, "{}: {peak} bytes", what());
                (seen.resealed, seen.most) = (seen.resealed + 1, seen.most.max(peak));
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    seen
}

impl Good {
    /// The segments that a file belongs to, with what they answer if nothing is damaged.
    fn of_file<'a>(
        &'a self,
        index: &'a Index,
        file: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<Segment>, &'a GoodSegment)> {
        let known = move |segment: &&Arc<Segment>| {
            let name = segment.name();
            let is_own = |rest: &str| rest.starts_with(['_', '.']);
            file.starts_with("segments") || file.strip_prefix(name).is_some_and(is_own)
        };
        index.segments().iter().filter(known).filter_map(move |segment| {
            Some((segment, self.segments.iter().find(|good| good.name == segment.name())?))
        })
    }

    /// Reads an index with a damaged file: its columns only if `has_columns`. What is read is right, or an error.
    fn ask(&self, file: &str, has_columns: bool, what: &dyn Fn() -> String, seen: &mut Seen) {
        seen.damaged += 1;
        let Ok(index) = Index::open(&self.folder) else { return seen.refused += 1 };
        for (segment, good) in self.of_file(&index, file) {
            for (found, good) in look_up(segment).iter().zip(&good.found) {
                assert!(found.is_none() || found == good, "{}: other documents", what());
            }
            if !has_columns {
                continue;
            }
            let mut left = good.answers.iter();
            exercise(&good.plan, &**segment, &mut |answer| match answer {
                // A column that does not open gives one error instead of its many answers.
                Ok(answer) if left.any(|good| *good == answer) => seen.right += 1,
                Ok(_) => panic!("{}: a wrong answer", what()),
                Err(_) => seen.errors += 1,
            });
        }
    }

    /// Reads an index with a damaged file, whose checksum is right.
    fn read(&self, file: &str) {
        let Ok(index) = Index::open(&self.folder) else { return };
        std::hint::black_box((index.live_docs(), index.verify().is_ok()));
        for segment in index.segments().iter().filter(|segment| segment.docs() <= MOST_DOCS) {
            // A damaged commit has other names.
            if file.starts_with("segments") || file.starts_with(segment.name()) {
                look_up(segment);
                let Ok(plan) = Plan::small(&**segment) else { continue };
                exercise(&plan, &**segment, &mut |answer: Result<u64>| drop(std::hint::black_box(answer)));
            }
        }
    }
}

/// The documents of some terms; `None` is an error.
fn look_up(segment: &Segment) -> Vec<Option<Vec<DocId>>> {
    let terms = [("id", "k1"), ("id", "k60"), ("group", "g0"), ("words", "word number 3")];
    let found = terms.into_iter().map(|(field, term)| segment.find_id(field, term).ok());
    found.inspect(|docs| assert!(docs.iter().flatten().all(|doc| doc.get() < segment.docs()))).collect()
}
