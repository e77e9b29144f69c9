//! Exports in any order, by chunks and by rows, and retrieval of a few documents at a time.

use std::collections::BTreeSet;

use docvalues_column::{ColumnSource, DocId};
use docvalues_search::export::{Cell, Chunk, Export};
use docvalues_search::{Bitset, Docs, Search};

use crate::model;
use crate::shapes::Dataset;

/// Exports documents as a list and as sets, in chunks of limited rows and bytes, and retrieves them a few at a time.
/// They are in any order, with repeats, and some do not exist.
///
/// # Panics
///
/// If a value differs from that of `dataset`, from which `source` was made.
pub fn check_export(
    source: &(dyn ColumnSource + Sync),
    dataset: &Dataset,
    docs: &[DocId],
    rows: usize,
    memory: usize,
) {
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    let search = Search::new(source);
    check_chunks(search.export(docs, &names).unwrap(), docs, dataset);
    check_chunks(search.export(docs, &names).unwrap().chunk_rows(rows).memory(memory), docs, dataset);

    let mut retriever = search.retriever(&names).unwrap();
    for docs in docs.chunks(rows) {
        check_chunk(retriever.retrieve(docs).unwrap(), docs, dataset);
    }

    let mut left = docs.iter();
    let exported = search.export(docs, &names).unwrap().chunk_rows(rows).rows();
    let counted = exported.for_each(|row| {
        assert_eq!(Some(row.doc()), left.next().map(|doc| (*doc).into()));
        Ok::<(), docvalues_search::Error>(())
    });
    counted.unwrap();
    assert_eq!(left.next(), None);

    let list: Vec<DocId> = docs.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let known: Vec<DocId> = list.iter().copied().filter(|doc| doc.get() < dataset.docs).collect();
    let bits = Bitset::from_docs(list.iter().copied(), dataset.docs);
    for docs in [Docs::list(&list).unwrap(), Docs::Bits(&bits)] {
        check_chunks(search.export(docs, &names).unwrap().chunk_rows(rows), &known, dataset);
    }
}

/// Compares all chunks of an export of `docs` with `dataset`, and returns their number.
///
/// # Panics
///
/// If a value differs.
pub fn check_chunks(mut export: Export<'_>, docs: &[DocId], dataset: &Dataset) -> usize {
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

fn check_chunk(chunk: &Chunk, docs: &[DocId], dataset: &Dataset) {
    assert_eq!((chunk.docs().len(), chunk.width()), (docs.len(), dataset.columns.len()));
    for (row, doc) in chunk.rows().zip(docs) {
        assert_eq!(row.doc(), (*doc).into());
        for (cell, (field, column)) in row.values().zip(&dataset.columns) {
            let expected = column.cell(doc.get());
            assert!(same(&cell, expected), "{} of {doc:?}: {cell:?}, not {expected:?}", field.name);
        }
    }
}

/// Whether a cell equals that of the model.
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
