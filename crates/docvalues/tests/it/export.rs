//! Export and retrieval over segments, beside the model.

use docvalues::search::Search;
use docvalues::search::export::{Cell, Chunk};
use docvalues::{DocId, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::model;
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, in_batches};

fn same(found: &Cell<'_>, expected: model::Cell<'_>) -> bool {
    match (found, expected) {
        (Cell::Missing, model::Cell::Missing) => true,
        (Cell::Number(found), model::Cell::Number(expected)) => *found == expected,
        (Cell::Bytes(found), model::Cell::Bytes(expected)) => *found == expected,
        (Cell::Numbers(found), model::Cell::Numbers(expected)) => {
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            *found == expected
        }
        (Cell::Terms(found), model::Cell::Set(expected)) => found.clone().eq(expected),
        _ => false,
    }
}

#[track_caller]
fn check_chunk(chunk: &Chunk, docs: &[DocId], dataset: &Dataset) {
    assert_eq!(chunk.docs(), docs);
    for row in chunk.rows() {
        for (cell, (field, column)) in row.values().zip(&dataset.columns) {
            let expected = column.cell(row.doc().get());
            assert!(same(&cell, expected), "{} of {:?}: {cell:?}, not {expected:?}", field.name, row.doc());
        }
    }
}

/// Exports documents in chunks of some rows, and retrieves them a few at a time.
fn check(dataset: &Dataset, file: Vec<u8>, docs: &[DocId], rows: usize) {
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    let search = Search::new(&segment);
    let (mut export, mut at) = (search.export(docs, &names).unwrap().chunk_rows(rows).memory(1 << 20), 0);
    while let Some(chunk) = export.next_chunk().unwrap() {
        check_chunk(chunk, &docs[at..at + chunk.len()], dataset);
        at += chunk.len();
    }
    assert_eq!(at, docs.len());
    let mut retriever = search.retriever(&names).unwrap();
    for docs in docs.chunks(20).step_by(7) {
        check_chunk(retriever.retrieve(docs).unwrap(), docs, dataset);
    }
}

fn every_third_backwards(docs: u32) -> Vec<DocId> {
    (0..docs).rev().step_by(3).chain(docs / 2..(docs / 2 + 100).min(docs)).map(DocId::new).collect()
}

#[test]
fn every_kind_and_encoding() {
    let dataset = shapes::small_of_every_kind();
    let file = in_batches(&dataset, 10_000, &COMPRESSIONS, WriterOptions::default());
    check(&dataset, file.clone(), &every_third_backwards(dataset.docs), 9_999);
    let all: Vec<DocId> = (0..dataset.docs).map(DocId::new).collect();
    check(&dataset, file, &all, usize::MAX);
}

#[test]
fn columns_over_several_blocks() {
    for shape in shapes::large().into_iter().step_by(3) {
        let dataset = Dataset::of_shapes(shape.docs, [shape]);
        let file = in_batches(&dataset, 100_000, &COMPRESSIONS, WriterOptions::default());
        check(&dataset, file, &every_third_backwards(dataset.docs), usize::MAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_segment_and_documents(
        dataset in shapes::any_dataset(5),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
        beyond in any::<bool>(),
        rows in 1..300_usize,
    ) {
        let picked = picks.iter().filter(|_| dataset.docs > 0).map(|pick| pick.index(dataset.docs as usize) as u32);
        let docs: Vec<DocId> = picked.chain(beyond.then_some(dataset.docs)).map(DocId::new).collect();
        let file = in_batches(&dataset, 333, &COMPRESSIONS, WriterOptions::default());
        check(&dataset, file, &docs, rows);
    }
}
