//! Columns in a store, and text in tantivy.

use std::path::Path;
use std::time::Instant;

use docvalues::SortKey;
use docvalues::column::DocAddress;
use docvalues::search::Docs;
use docvalues::store::{Store, StoreOptions};
use docvalues_benches::updated_docs::{Fields, build_store, copy, first_seed, id, text, title};

use crate::changes::{Change, changes};
use crate::clock::{Moment, Source, written};
use crate::record::{Built, Figures, Shape, Task, Way};
use crate::text_index::{BUILD, TextIndex};

/// The newest documents that a query finds.
pub const TOP: usize = 20;

/// One document of so many is in a checksum.
pub const CHECKED: u32 = 1_000;

/// Builds the indexes of a shape.
pub fn build(folder: &Path, shape: Shape) -> Built {
    let start = Moment::now();
    build_store(&folder.join("store"), shape.docs, shape.segments);
    if shape.words > 0 {
        TextIndex::build(&folder.join("text"), shape, BUILD);
    }
    let [seconds, cpu_seconds] = Moment::now().since(start).map(|ms| ms / 1e3);
    let (mut some, mut text_bytes) = (String::new(), 0);
    for number in 0..shape.docs {
        text(number, shape.words, &mut some);
        text_bytes += some.len() as u64;
    }
    Built { seconds, cpu_seconds, bytes: bytes(folder), text_bytes, checksum: checksum(shape) }
}

/// A checksum of some titles and texts.
fn checksum(shape: Shape) -> u32 {
    let mut some = String::new();
    let numbers = (0..shape.docs).step_by(CHECKED as usize);
    numbers.fold(0, |sum, number| {
        text(number, shape.words, &mut some);
        let bytes = title(first_seed(number)).into_bytes().into_iter().chain(some.bytes());
        bytes.fold(sum, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
    })
}

fn bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| if file.path().is_dir() { bytes(&file.path()) } else { len(&file) }).sum()
}

fn len(file: &std::fs::DirEntry) -> u64 {
    file.metadata().map_or(0, |data| data.len())
}

/// A store and an index of texts that change.
pub struct Ours {
    pub store: Store,
    /// Not if documents have no text, or none is changed.
    pub text: Option<TextIndex>,
}

impl Ours {
    /// Opens a copy of what [`build`] wrote.
    pub fn open(built: &Path, folder: &Path, shape: Shape, way: Way) -> Ours {
        let store = copy(&built.join("store"), &folder.join("columns"));
        let has_text = shape.words > 0 && way != Way::Update;
        let text = has_text.then(|| TextIndex::open(&copy(&built.join("text"), &folder.join("texts"))));
        Ours { store: Store::open(store, StoreOptions::default()).expect("a store"), text }
    }

    /// Changes documents, which the next refresh shows.
    pub fn change(&self, way: Way, changes: &[Change], source: &mut Source) {
        let mut batch = self.store.batch().expect("a schema");
        let fields = Fields::of(|name| batch.field(name).expect("a field"));
        for Change { number, time, text } in changes {
            let mut doc = if way == Way::Update { batch.update() } else { batch.upsert() };
            if way == Way::Update {
                doc.bytes(fields.id, &id(*number)).expect("an id").i64(fields.time, *time).expect("a number");
            } else {
                source.wait();
                fields.write(&mut doc, *number, *time, first_seed(*number));
                if let Some(index) = &self.text {
                    index.replace(*number, text);
                }
            }
            doc.finish().expect("a document");
        }
        self.store.apply(batch).expect("a disk with room");
    }

    pub fn refresh(&mut self) {
        self.store.refresh().expect("a store");
        if let Some(index) = &mut self.text {
            index.refresh();
        }
        drop(self.store.snapshot().search().retriever(&["time"]).expect("good bytes"));
    }

    /// The newest documents.
    fn newest(&self) -> Vec<DocAddress> {
        let keys = [SortKey::of("time").descending()];
        self.store.snapshot().search().threads(1).top(Docs::All, &keys, TOP).expect("good bytes")
    }

    /// The time of a document.
    pub fn time(&self, at: DocAddress) -> i64 {
        let column = self.store.snapshot().parts().source(at.part as usize).column("time").expect("a column");
        let mut row = Vec::new();
        column.values().numbers().expect("numbers").get(at.doc, &mut row).expect("good bytes");
        row[0]
    }

    /// Checks that the newest documents are the last changes, from the last one, and that their text is found.
    fn check(&self, shape: Shape, changes: &[Change], newest: &[DocAddress]) {
        let snapshot = self.store.snapshot();
        assert_eq!(snapshot.docs(), u64::from(shape.docs));
        for (change, at) in changes.iter().rev().zip(newest) {
            assert_eq!(self.time(*at), change.time, "document {}", change.number);
            assert_eq!(snapshot.find(&id(change.number)).expect("good bytes"), Some(*at));
            if let Some(index) = &self.text {
                let word = change.text.split(' ').next().unwrap_or_default();
                assert!(index.has(change.number, word), "document {} has no {word}", change.number);
                assert_eq!(index.docs(), u64::from(shape.docs));
            }
        }
    }
}

/// Runs a cell on a copy of the indexes.
pub fn run(built: &Path, folder: &Path, shape: Shape, task: Task, is_cold: bool) -> Figures {
    let Task { way, cycles, changed } = task;
    let mut ours = Ours::open(built, folder, shape, way);
    let mut source = Source::new(if let Way::Reindex { wait_ms } = way { wait_ms } else { 0.0 });
    let (mut sum, mut bytes) = (Figures::default(), 0);
    // The first cycle reads pages for the first time.
    let first = u32::from(!is_cold);
    for cycle in 0..cycles + first {
        let changes = changes(shape.docs, shape.words, cycle, changed);
        let (spun, waited, before) = (source.cpu_ms, source.waited_ms, written());
        let start = Moment::now();
        ours.change(way, &changes, &mut source);
        let applied = Moment::now();
        ours.refresh();
        let shown = Moment::now();
        let newest = ours.newest();
        let found = Moment::now();
        ours.check(shape, &changes, &newest);
        if cycle >= first {
            let [ms, cpu_ms] = shown.since(start);
            sum.ms += ms;
            sum.cpu_ms += cpu_ms - (source.cpu_ms - spun);
            sum.longest_ms = sum.longest_ms.max(ms);
            sum.refresh_ms += shown.since(applied)[0];
            sum.waited_ms += source.waited_ms - waited;
            sum.query_ms += found.since(shown)[0];
            bytes += written() - before;
        }
    }
    let (start, before) = (Instant::now(), written());
    ours.store.commit().expect("a disk with room");
    ours.text.iter().for_each(TextIndex::sync);
    let (each, all) = (f64::from(cycles), f64::from(cycles) * f64::from(changed));
    Figures {
        ms: sum.ms / all,
        cpu_ms: sum.cpu_ms / all,
        refresh_ms: sum.refresh_ms / each,
        longest_ms: sum.longest_ms / f64::from(changed),
        waited_ms: sum.waited_ms / all,
        query_ms: sum.query_ms / each,
        written: bytes as f64 / all,
        commit_ms: start.elapsed().as_secs_f64() * 1e3,
        commit_written: (written() - before) as f64,
    }
}
