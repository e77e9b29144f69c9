//! Both ways leave the same documents, which are those of a model.

use std::collections::HashMap;

use docvalues::column::DocAddress;
use docvalues_benches::updated_docs::{first_seed, id, text, time};

use crate::changes::changes;
use crate::clock::Source;
use crate::ours::{self, Ours};
use crate::record::{Figures, Record, Shape, Task, Way, What};
use crate::report;
use crate::text_index::TextIndex;

const SHAPE: Shape = Shape { docs: 3_000, words: 100, segments: 3 };
const CHANGED: u32 = 200;
const REINDEX: Way = Way::Reindex { wait_ms: 0.05 };

#[test]
fn both_ways_leave_the_same_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let built = folder.path().join("built");
    let done = ours::build(&built, SHAPE);
    assert!(done.text_bytes > 3_000 * 20 * 3 && done.bytes > done.text_bytes / 2);
    for way in [Way::Update, REINDEX] {
        let mut ours = Ours::open(&built, folder.path(), SHAPE, way);
        let mut times: HashMap<u32, i64> =
            (0..SHAPE.docs).map(|number| (number, time(first_seed(number)))).collect();
        let mut source = Source::new(0.05);
        for cycle in 0..5 {
            let changes = changes(SHAPE.docs, SHAPE.words, cycle, CHANGED);
            ours.change(way, &changes, &mut source);
            ours.refresh();
            times.extend(changes.iter().map(|change| (change.number, change.time)));
            are_as(&ours, &times);
        }
        let waited = if way == REINDEX { 0.05 * 5.0 * f64::from(CHANGED) } else { 0.0 };
        assert!(source.waited_ms >= waited && (way == REINDEX || source.waited_ms == 0.0));
        ours.store.commit().expect("a disk with room");
    }
}

/// Compares all documents with a model.
fn are_as(ours: &Ours, times: &HashMap<u32, i64>) {
    let snapshot = ours.store.snapshot();
    assert_eq!(snapshot.docs(), times.len() as u64);
    let mut words = String::new();
    for (number, time) in times {
        let at = snapshot.find(&id(*number)).expect("good bytes").expect("a document");
        assert_eq!(ours.time(at), *time, "document {number}");
        if let Some(index) = &ours.text {
            text(*number, SHAPE.words, &mut words);
            assert!(index.has(*number, words.split(' ').next_back().expect("words")), "document {number}");
        }
    }
    assert_eq!(snapshot.find(b"another").expect("good bytes"), None::<DocAddress>);
    assert!(ours.text.as_ref().is_none_or(|index| index.docs() == u64::from(SHAPE.docs)));
}

/// More documents than fit into memory still become one segment of a shape.
#[test]
fn segments_of_a_portion_are_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape { docs: 40_000, words: 500, segments: 2 };
    assert!(TextIndex::build(folder.path(), shape, 15_000_000) > 2);
    let mut index = TextIndex::open(folder.path());
    index.refresh();
    assert_eq!(index.docs(), u64::from(shape.docs));
}

#[test]
fn a_record_continues_and_becomes_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("record.jsonl");
    let figures = |ms| Figures { ms, commit_written: 7.0, ..Figures::default() };
    let cells = [(Way::Update, 0.75), (reindex(0.0), 0.25), (reindex(1.0), 1.25)];
    for (way, ms) in cells {
        // Each run reads what the last one wrote.
        let mut record = Record::open(&path);
        assert!(record.cell("docvalues", SHAPE, way, CHANGED).is_none());
        let task = Task { way, cycles: 3, changed: CHANGED };
        record.add("docvalues", SHAPE, What::Cell { task, figures: figures(ms) });
    }
    let mut record = Record::open(&path);
    for (way, ms) in cells {
        assert_eq!(record.cell("docvalues", SHAPE, way, CHANGED).map(|cell| cell.1), Some(&figures(ms)));
        assert!(record.cell("docvalues", SHAPE, way, 1).is_none());
        assert!(record.cell("10.5.0", SHAPE, way, CHANGED).is_none());
    }
    has_row(&record, "| 20 to 100, 3 | 0.750 | 0.250 | 0.500 ms |");
    report::draw(&record, folder.path());
    let svg = std::fs::read_to_string(folder.path().join("reindex-3000-100-3-200.svg")).expect("a plot");
    assert!(svg.contains("docvalues and tantivy, update"));
    for (way, ms) in [(Way::Update, 0.5), (Way::Update, 1.0), (reindex(0.0), 0.125), (reindex(0.0), 0.375)] {
        let task = Task { way, cycles: 3, changed: CHANGED };
        record.add("docvalues", SHAPE, What::Cell { task, figures: figures(ms) });
    }
    has_row(&record, "| 20 to 100, 3 | 0.750 (0.500–1.00) | 0.250 (0.125–0.375) | 0.500 ms |");
    let task = Task { way: reindex(0.0), cycles: 3, changed: CHANGED };
    record.add("docvalues", SHAPE, What::Cell { task, figures: figures(0.5) });
    has_row(&record, "| 20 to 100, 3 | 0.750 (0.500–1.00) | 0.375 (0.125–0.500) | even |");
}

/// A table without columns would say nothing.
#[test]
fn sides_that_cache_have_a_table_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = Record::open(&folder.path().join("record.jsonl"));
    for (way, ms) in [(Way::Update, 0.75), (reindex(0.0), 0.25), (reindex(1.0), 1.25)] {
        let figures = Figures { ms, ..Figures::default() };
        record.add(
            "10.6.0-nrt",
            SHAPE,
            What::Cell { task: Task { way, cycles: 3, changed: CHANGED }, figures },
        );
    }
    let tables = report::tables(&record).markdown();
    assert!(tables.contains("\n3000-200-times-nrt\n") && !tables.contains("\n3000-200-times\n"), "{tables}");
    report::draw(&record, folder.path());
    assert!(!folder.path().join("reindex-3000-100-3-200.svg").exists());
}

fn has_row(record: &Record, row: &str) {
    let tables = report::tables(record).markdown();
    assert!(tables.lines().any(|line| line == row), "{tables}");
}

fn reindex(wait_ms: f64) -> Way {
    Way::Reindex { wait_ms }
}

/// Lengths are even, and the frequencies of words follow Zipf's law.
#[test]
fn texts_are_as_long_and_as_frequent_as_said() {
    let (mut words, mut lens, mut one) = (HashMap::<String, u32>::new(), Vec::new(), String::new());
    for number in 0..2_000 {
        text(number, 100, &mut one);
        lens.push(one.split(' ').count());
        one.split(' ').for_each(|word| *words.entry(word.to_owned()).or_default() += 1);
    }
    let all: usize = lens.iter().sum();
    assert!((118_000..122_000).contains(&all), "{all} words");
    assert_eq!((lens.iter().min(), lens.iter().max()), (Some(&20), Some(&100)));
    let mut counts: Vec<u32> = words.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let share = |ranks: std::ops::Range<usize>| f64::from(counts[ranks].iter().sum::<u32>()) / all as f64;
    for ranks in [0..1, 1..3, 7..15, 127..255] {
        let share = share(ranks);
        assert!((0.055..0.07).contains(&share), "{share}");
    }
    text(7, 0, &mut one);
    assert!(one.is_empty());
}
