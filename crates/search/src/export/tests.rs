use std::collections::BTreeSet;

use docvalues_column::{Kind, LogicalType};
use docvalues_testkit::model::{self, MemSource, ModelColumn};
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

use super::*;
use crate::Search;

/// Whether a cell holds what the model has.
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

fn names(dataset: &Dataset) -> Vec<&str> {
    dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect()
}

/// Compares rows with the model.
#[track_caller]
fn check_chunk(chunk: &Chunk, docs: &[DocId], dataset: &Dataset) {
    assert_eq!((chunk.docs(), chunk.width()), (docs, dataset.columns.len()));
    for (row, doc) in chunk.rows().zip(docs) {
        assert_eq!(row.doc(), *doc);
        for (cell, (field, column)) in row.values().zip(&dataset.columns) {
            let expected = column.cell(doc.get());
            assert!(same(&cell, expected), "{} of {doc:?}: {cell:?}, not {expected:?}", field.name);
        }
    }
}

#[track_caller]
fn check_export(mut export: Export<'_>, docs: &[DocId], dataset: &Dataset) -> usize {
    let (mut at, mut chunks) = (0, 0);
    while let Some(chunk) = export.next_chunk().unwrap() {
        assert!(!chunk.is_empty());
        check_chunk(chunk, &docs[at..at + chunk.len()], dataset);
        at += chunk.len();
        chunks += 1;
    }
    assert_eq!(at, docs.len());
    chunks
}

/// Exports these documents as a list and as a set, in chunks of any size, and asks for them again and again.
fn check(dataset: &Dataset, docs: &[u32], rows: usize, memory: usize) {
    let source = dataset.source();
    let (search, names) = (Search::new(&source), names(dataset));
    let docs: Vec<DocId> = docs.iter().copied().map(DocId::new).collect();
    check_export(search.export(&docs, &names).unwrap(), &docs, dataset);
    check_export(search.export(&docs, &names).unwrap().chunk_rows(rows).memory(memory), &docs, dataset);

    let mut retriever = search.retriever(&names).unwrap();
    for docs in docs.chunks(rows) {
        check_chunk(retriever.retrieve(docs).unwrap(), docs, dataset);
    }

    let mut at = 0;
    let rows_of = search.export(&docs, &names).unwrap().chunk_rows(rows).rows();
    let counted = rows_of.for_each(|row| {
        assert_eq!(row.doc(), docs[at]);
        at += 1;
        Ok::<(), crate::Error>(())
    });
    counted.unwrap();
    assert_eq!(at, docs.len());

    let set: BTreeSet<DocId> = docs.into_iter().collect();
    let list: Vec<DocId> = set.into_iter().collect();
    let known: Vec<DocId> = list.iter().copied().filter(|doc| doc.get() < dataset.docs).collect();
    let bits = Bitset::from_docs(list.iter().copied(), dataset.docs);
    for docs in [Docs::List(&list), Docs::Bits(&bits)] {
        check_export(search.export(docs, &names).unwrap().chunk_rows(rows), &known, dataset);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_documents_in_any_order(
        dataset in any_dataset(6),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
        beyond in prop::collection::vec(any::<u32>(), 0..3),
        rows in 1..200_usize,
        memory in 0..20_000_usize,
    ) {
        let mut docs: Vec<u32> = match dataset.docs {
            0 => vec![],
            docs => picks.iter().map(|pick| u32::try_from(pick.index(docs as usize)).unwrap()).collect(),
        };
        docs.extend(beyond);
        check(&dataset, &docs, rows, memory);
    }

    #[test]
    fn any_range(dataset in any_dataset(4), from in 0..3000_u32, len in 0..3000_u32, rows in 1..2000_usize) {
        let source = dataset.source();
        let docs: Vec<DocId> = (from..from + len).filter(|doc| *doc < dataset.docs).map(DocId::new).collect();
        let export = Search::new(&source).export(from..from + len, &names(&dataset)).unwrap();
        check_export(export.chunk_rows(rows), &docs, &dataset);
        let all: Vec<DocId> = (0..dataset.docs).map(DocId::new).collect();
        check_export(Search::new(&source).export(Docs::All, &names(&dataset)).unwrap(), &all, &dataset);
    }
}

#[test]
fn every_kind_in_windows_of_all_sizes() {
    let dataset = small_of_every_kind();
    let backwards: Vec<u32> = (0..dataset.docs).rev().step_by(3).collect();
    check(&dataset, &backwards, 10_000, 100_000);
    let nearly_a_run = [4, 9, 6, 7];
    check(&dataset, &nearly_a_run, 4, usize::MAX);
    check(&dataset, &[dataset.docs - 1, dataset.docs, u32::MAX], 3, usize::MAX);
    check(&dataset, &[u32::MAX - 2, u32::MAX - 1, u32::MAX], 3, usize::MAX);
}

fn long_strings(count: usize, len: usize) -> Dataset {
    let field = Field::new("long", Kind::Binary, LogicalType::Bytes);
    let column =
        ModelColumn::Binary((0..count).map(|i| Some(vec![u8::try_from(i % 251).unwrap(); len])).collect());
    Dataset { docs: len_u32(count), columns: vec![(field, column)] }
}

#[test]
fn long_values_make_small_chunks() {
    let dataset = long_strings(1000, 10_000);
    let source = dataset.source();
    let docs: Vec<DocId> = (0..1000).rev().map(DocId::new).collect();
    let export = |memory| Search::new(&source).export(&docs, &["long"]).unwrap().memory(memory);
    assert_eq!(check_export(export(usize::MAX), &docs, &dataset), 1);
    let chunks = check_export(export(1_000_000), &docs, &dataset);
    assert!((10..=64).contains(&chunks), "{chunks} chunks");
    // Less than one value.
    assert_eq!(check_export(export(0), &docs, &dataset), 1000);
}

#[test]
fn one_document_many_times_takes_its_memory_once() {
    let dataset = long_strings(3, 100_000);
    let source = dataset.source();
    let docs: Vec<DocId> = (0..3000).map(|i| DocId::new(i % 3)).collect();
    let mut export = Search::new(&source).export(&docs, &["long", "long"]).unwrap().memory(1_000_000);
    let chunk = export.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.len(), 3000);
    let ChunkColumn::Strings(strings) = chunk.column(1) else { panic!("a binary column") };
    assert_eq!(strings.strings().items().len(), 300_000);
}

#[test]
fn unknown_columns_are_named() {
    let source = MemSource::new(3, []);
    let search = Search::new(&source);
    for error in [search.export(Docs::All, &["size"]).unwrap_err(), search.retriever(&["size"]).unwrap_err()]
    {
        assert!(error.to_string().contains("no column `size`"), "{error}");
    }
    let mut export = search.export(Docs::All, &[""; 0]).unwrap();
    assert_eq!(export.next_chunk().unwrap().unwrap().len(), 3);
    assert!(export.next_chunk().unwrap().is_none());
}
