//! One document, some documents, a range of documents: the values must be the same.

use std::ops::{ControlFlow, Range};

use docvalues_column::DocId;

use super::subject::{Expected, Subject, edges, good, short};
use crate::rng::SplitMix64;

/// Documents of a column that are all asked for one by one; of larger ones, this many are.
const ALL: u32 = 10_000;

pub(super) fn check<S: Subject>(column: &S, expected: &Expected<S::Value>) {
    let with_value = expected.slots.iter().flatten().count();
    let told = column.column().docs_with_value() as usize;
    assert_eq!(told, with_value, "column `{}`: docs_with_value", expected.name);
    gets(column, expected);
    gathers(column, expected);
    for docs in ranges(expected) {
        scan(column, expected, docs);
    }
    for breaks_at in 0..3 {
        scan_and_break(column, expected, breaks_at);
    }
}

fn gets<S: Subject>(column: &S, expected: &Expected<S::Value>) {
    let docs = expected.docs();
    let mut rng = SplitMix64::named(&expected.name);
    let mut asked: Vec<u32> = match docs {
        ..=ALL => (0..docs).collect(),
        _ => (0..ALL).map(|_| rng.below_u32(docs)).collect(),
    };
    asked.extend(edges(docs));
    asked.extend([docs, docs.saturating_add(1), u32::MAX - 1, u32::MAX]);
    for doc in asked {
        let value = good(column.get(DocId::new(doc)), &expected.name, "get");
        same(expected, "get", doc, value.as_ref());
    }
}

/// Panics unless `value` is what `doc` has.
fn same<V: PartialEq + Clone + std::fmt::Debug>(
    expected: &Expected<V>,
    operation: &str,
    doc: u32,
    value: Option<&V>,
) {
    assert!(
        value == expected.get(doc),
        "column `{}`: {operation}: document {doc} has {}, not {}",
        expected.name,
        short(&expected.get(doc)),
        short(&value)
    );
}

fn gathers<S: Subject>(column: &S, expected: &Expected<S::Value>) {
    // `present` must come out the same whatever was in it.
    let mut patterns = [0, u64::MAX, 0xAAAA_AAAA_AAAA_AAAA].into_iter().cycle();
    for (order, docs) in lists(expected) {
        let operation = format!("gather, {order}");
        let pattern = patterns.next().unwrap();
        let values = good(column.gather(&docs, pattern, &operation), &expected.name, &operation);
        for (doc, value) in docs.iter().zip(&values) {
            same(expected, &operation, doc.get(), value.as_ref());
        }
        let operation = format!("gather_or, {order}");
        for (fill, values) in good(column.gather_or(&docs), &expected.name, &operation) {
            for (doc, value) in docs.iter().zip(&values) {
                let wanted = expected.get(doc.get()).unwrap_or(&fill);
                assert!(
                    value == wanted,
                    "column `{}`: {operation}: document {} is {}, not {}",
                    expected.name,
                    doc.get(),
                    short(wanted),
                    short(value)
                );
            }
        }
    }
}

/// Lists of documents in the orders that callers have them in.
fn lists<V: Clone>(expected: &Expected<V>) -> Vec<(&'static str, Vec<DocId>)> {
    let docs = expected.docs();
    let mut rng = SplitMix64::named(&expected.name);
    let past = [docs, docs.saturating_add(1), u32::MAX - 1, u32::MAX];
    let mut lists = vec![("no documents", vec![]), ("past the end", past.to_vec())];
    if docs > 0 {
        let mut sparse = Vec::new();
        let mut at = rng.below_u32(3);
        while at < docs {
            sparse.push(at);
            at = at.saturating_add(1 + rng.below_u32(1 + docs / 500));
        }
        let shuffled: Vec<u32> = (0..docs.min(20_000) + 70).map(|_| rng.below_u32(docs)).collect();
        let mut mixed: Vec<u32> = shuffled.iter().take(500).copied().chain(past).collect();
        rng.shuffle(&mut mixed);
        let with_value: Vec<u32> = expected.within(0..docs).map(|(doc, _)| doc).take(1000).collect();
        lists.extend([
            ("ascending", (0..docs).collect()),
            ("descending", (0..docs).rev().collect()),
            ("shuffled with repeats", shuffled),
            ("sparse", sparse),
            ("one, repeated", vec![rng.below_u32(docs); 65]),
            ("some past the end", mixed),
            ("edges", edges(docs)),
            ("edges, backwards", edges(docs).into_iter().rev().collect()),
            ("only documents with a value", with_value),
        ]);
    }
    lists.into_iter().map(|(order, docs)| (order, docs.into_iter().map(DocId::new).collect())).collect()
}

/// Ranges of documents: whole, empty, backwards, past the end, at edges, random.
fn ranges<V: Clone>(expected: &Expected<V>) -> Vec<Range<u32>> {
    let docs = expected.docs();
    let mut rng = SplitMix64::named(&expected.name);
    let mut ranges = vec![
        0..docs,
        0..0,
        docs..docs,
        0..1,
        docs.saturating_sub(1)..docs,
        docs.saturating_sub(3)..docs + 1000,
        docs..docs + 70,
        0..u32::MAX,
        u32::MAX - 3..u32::MAX,
        Range { start: 5, end: 2 },
        Range { start: u32::MAX, end: 0 },
    ];
    ranges.extend(edges(docs).into_iter().map(|edge| edge..edge + 3));
    for _ in 0..8 {
        let (a, b) = (rng.below_u32(docs), rng.below_u32(docs));
        ranges.push(a.min(b)..a.max(b));
    }
    ranges
}

fn scan<S: Subject>(column: &S, expected: &Expected<S::Value>, range: Range<u32>) {
    let operation = format!("scan of {range:?}");
    let mut wanted = expected.within(range.clone());
    let result = column.scan(range.clone(), &mut |docs, values| {
        assert!(!docs.is_empty(), "column `{}`: {operation}: an empty batch", expected.name);
        assert_eq!(docs.len(), docs.iter().count(), "column `{}`: {operation}: BatchDocs", expected.name);
        assert_eq!(
            docs.len(),
            values.len(),
            "column `{}`: {operation}: documents and values of a batch",
            expected.name
        );
        for (doc, value) in docs.iter().zip(&values) {
            let next = wanted.next();
            assert!(
                next == Some((doc.get(), value)),
                "column `{}`: {operation}: document {doc} with {} found, not {}",
                expected.name,
                short(value),
                short(&next)
            );
        }
        ControlFlow::Continue(())
    });
    good(result, &expected.name, &operation);
    let missed = wanted.next();
    assert!(missed.is_none(), "column `{}`: {operation}: missed {}", expected.name, short(&missed));
}

/// A scan that is told to stop at a batch stops there, and is no failure.
fn scan_and_break<S: Subject>(column: &S, expected: &Expected<S::Value>, breaks_at: usize) {
    let operation = format!("scan, broken off at batch {breaks_at}");
    let mut calls = 0;
    let result = column.scan(0..expected.docs(), &mut |_, _| {
        assert!(calls <= breaks_at, "column `{}`: {operation}: went on", expected.name);
        calls += 1;
        if calls > breaks_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    good(result, &expected.name, &operation);
}
