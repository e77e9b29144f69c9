//! The rows of one document (`get`), of some documents (`gather`) and of a range (`scan`) are the same.

use std::ops::ControlFlow;

use docvalues_column::{BatchDocs, DocId, DocRange, Gathered, Rows};

use super::expected::{Expected, Probe, edges, good};
use crate::rng::SplitMix64;

/// The largest column whose documents are all read one by one. Of a larger one, this many documents are.
const ALL: u32 = 10_000;

/// The most documents that are gathered into outputs of every fill value. More are gathered into one of them.
const EACH_FILL: usize = 1_000;

pub(super) fn check<T: Probe>(rows: &dyn Rows<T>, expected: &Expected<T>) {
    gets(rows, expected);
    gathers(rows, expected);
    for docs in ranges(expected.docs(), 8, &mut SplitMix64::named(&expected.name)) {
        scan(rows, expected, docs);
    }
    for breaks_at in 0..3 {
        scan_and_break(rows, expected, breaks_at);
    }
}

fn gets<T: Probe>(rows: &dyn Rows<T>, expected: &Expected<T>) {
    let docs = expected.docs();
    let mut rng = SplitMix64::named(&expected.name);
    let mut asked: Vec<u32> = match docs {
        ..=ALL => (0..docs).collect(),
        _ => (0..ALL).map(|_| rng.below_u32(docs)).collect(),
    };
    asked.extend(edges(docs));
    asked.extend([docs, docs.saturating_add(1), u32::MAX - 1, u32::MAX]);
    let mut row = Vec::new();
    for doc in asked {
        // Not empty: `get` must replace its contents.
        row.push(T::WRONG);
        let is_present = good(rows.get(DocId::new(doc), &mut row), &expected.name, "get");
        expected.same("get", doc, is_present.then_some(&row));
        assert!(is_present || row.is_empty(), "column \"{}\": get: document {doc}: a row", expected.name);
    }
}

/// Gathers lists and runs into outputs that are reused.
fn gathers<T: Probe>(rows: &dyn Rows<T>, expected: &Expected<T>) {
    let lists = lists(expected);
    let lists = lists.iter().map(|(order, docs)| (format!("gather, {order}"), BatchDocs::List(docs)));
    let mut rng = SplitMix64::named(&expected.name);
    let runs = ranges(expected.docs(), 2, &mut rng).into_iter().filter(|docs| docs.len() < 1 << 30);
    let runs = runs.map(|docs| (format!("gather of {docs:?}"), BatchDocs::Run(docs)));
    let mut tracking = Gathered::new();
    tracking.begin_one(70).0.fill(T::WRONG);
    let mut filled: Vec<Gathered<T>> = T::FILLS.iter().map(|fill| Gathered::filled(*fill)).collect();
    for (operation, docs) in lists.chain(runs) {
        good(rows.gather(docs, &mut tracking), &expected.name, &operation);
        expected.gathered(&operation, docs, &tracking, true);
        let one = rng.place(filled.len());
        let fills = if docs.len() > EACH_FILL { one..one + 1 } else { 0..filled.len() };
        for out in &mut filled[fills] {
            let operation = format!("{operation}, filled with {:?}", out.fill());
            good(rows.gather(docs, out), &expected.name, &operation);
            expected.gathered(&operation, docs, out, false);
        }
    }
}

/// Lists of documents in orders that occur in practice.
fn lists<T: Probe>(expected: &Expected<T>) -> Vec<(&'static str, Vec<DocId>)> {
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
        let with_value = expected.within(DocRange::new(0, docs)).map(|(doc, _)| doc).take(1000).collect();
        lists.extend([
            ("ascending", (0..docs).collect()),
            ("descending", (docs.saturating_sub(20_000)..docs).rev().collect()),
            ("shuffled with repeats", shuffled),
            ("sparse", sparse),
            ("one, repeated", vec![rng.below_u32(docs); 65]),
            ("some past the end", mixed),
            ("whole batches, then some past the end", (0..docs.min(3_000)).chain(past).collect()),
            ("edges", edges(docs)),
            ("edges, backwards", edges(docs).into_iter().rev().collect()),
            ("only documents with a value", with_value),
        ]);
    }
    lists.into_iter().map(|(order, docs)| (order, docs.into_iter().map(DocId::new).collect())).collect()
}

/// Ranges of documents: whole, empty, backwards, past the end, at edges, and some random ones.
fn ranges(docs: u32, random: usize, rng: &mut SplitMix64) -> Vec<DocRange> {
    let mut ranges = vec![
        (0, docs),
        (0, 0),
        (docs, docs),
        (0, 1),
        (docs.saturating_sub(1), docs),
        (docs.saturating_sub(3), docs + 1000),
        (docs, docs + 70),
        (0, u32::MAX),
        (u32::MAX - 3, u32::MAX),
        (5, 2),
        (u32::MAX, 0),
    ];
    ranges.extend(edges(docs).into_iter().map(|edge| (edge, edge + 3)));
    for _ in 0..random {
        let (a, b) = (rng.below_u32(docs), rng.below_u32(docs));
        ranges.push((a.min(b), a.max(b)));
    }
    ranges.into_iter().map(|(start, end)| DocRange::new(start, end)).collect()
}

fn scan<T: Probe>(rows: &dyn Rows<T>, expected: &Expected<T>, range: DocRange) {
    let (name, operation) = (&expected.name, format!("scan of {range:?}"));
    let mut wanted = expected.within(range);
    let result = rows.scan(range, &mut |batch| {
        let docs = batch.docs;
        assert!(!docs.is_empty(), "column \"{name}\": {operation}: an empty batch");
        assert_eq!(batch.values.len(), docs.len(), "column \"{name}\": {operation}: rows for documents");
        let is_many = batch.values.many().is_some();
        assert_eq!(is_many, expected.is_many, "column \"{name}\": {operation}: whether rows are lists");
        for (at, doc) in docs.iter().enumerate() {
            let next = wanted.next().map(|(doc, _)| doc);
            assert!(
                next == Some(doc.get()),
                "column \"{name}\": {operation}: found document {doc}, expected {next:?}"
            );
            expected.same(&operation, doc.get(), Some(batch.values.row(at)));
        }
        ControlFlow::Continue(())
    });
    good(result, name, &operation);
    let missed = wanted.next().map(|(doc, _)| doc);
    assert!(missed.is_none(), "column \"{name}\": {operation}: missed document {missed:?}");
}

/// A scan whose callback breaks stops at that batch and returns `Ok`.
fn scan_and_break<T: Probe>(rows: &dyn Rows<T>, expected: &Expected<T>, breaks_at: usize) {
    let operation = format!("scan that breaks at batch {breaks_at}");
    let mut calls = 0;
    let result = rows.scan(DocRange::new(0, expected.docs()), &mut |_| {
        assert!(calls <= breaks_at, "column \"{}\": {operation}: continued after the break", expected.name);
        calls += 1;
        if calls > breaks_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    good(result, &expected.name, &operation);
}
