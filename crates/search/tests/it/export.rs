//! Export and retrieval.

use docvalues_column::{DocId, Field, Kind, LogicalType};
use docvalues_search::export::ChunkColumn;
use docvalues_search::{Docs, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::searches::{check_chunks, check_export};
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

fn names(dataset: &Dataset) -> Vec<&str> {
    dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect()
}

fn check(dataset: &Dataset, docs: &[u32], rows: usize, memory: usize) {
    let docs: Vec<DocId> = docs.iter().copied().map(DocId::new).collect();
    check_export(&dataset.source(), dataset, &docs, rows, memory);
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
        check_chunks(export.chunk_rows(rows), &docs, &dataset);
        let all: Vec<DocId> = (0..dataset.docs).map(DocId::new).collect();
        check_chunks(Search::new(&source).export(Docs::All, &names(&dataset)).unwrap(), &all, &dataset);
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
    Dataset { docs: u32::try_from(count).unwrap(), columns: vec![(field, column)] }
}

#[test]
fn long_values_make_small_chunks() {
    let dataset = long_strings(1000, 10_000);
    let source = dataset.source();
    let docs: Vec<DocId> = (0..1000).rev().map(DocId::new).collect();
    let export = |memory| Search::new(&source).export(&docs, &["long"]).unwrap().memory(memory);
    assert_eq!(check_chunks(export(usize::MAX), &docs, &dataset), 1);
    let chunks = check_chunks(export(1_000_000), &docs, &dataset);
    assert!((10..=64).contains(&chunks), "{chunks} chunks");
    // Less than one value.
    assert_eq!(check_chunks(export(0), &docs, &dataset), 1000);
}

#[test]
fn a_repeated_document_takes_memory_once() {
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
fn errors_name_unknown_columns() {
    let source = MemSource::new(3, []);
    let search = Search::new(&source);
    for error in [search.export(Docs::All, &["size"]).unwrap_err(), search.retriever(&["size"]).unwrap_err()]
    {
        assert!(error.to_string().contains("no column \"size\""), "{error}");
    }
    let mut export = search.export(Docs::All, &[""; 0]).unwrap();
    assert_eq!(export.next_chunk().unwrap().unwrap().len(), 3);
    assert!(export.next_chunk().unwrap().is_none());
}
