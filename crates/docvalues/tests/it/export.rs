//! Export and retrieval over segments, compared with the model.

use docvalues::{DocId, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::searches::check_export;
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, in_batches};

fn check(dataset: &Dataset, file: Vec<u8>, docs: &[DocId], rows: usize) {
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    check_export(&segment, dataset, docs, rows, 1 << 20);
}

fn every_third_backwards(docs: u32) -> Vec<DocId> {
    (0..docs).rev().step_by(3).chain(docs / 2..(docs / 2 + 100).min(docs)).map(DocId::new).collect()
}

#[test]
fn every_kind_and_encoding() {
    let (dataset, file) = &*EVERY_KIND;
    check(dataset, file.clone(), &every_third_backwards(dataset.docs), 9_999);
    let all: Vec<DocId> = (0..dataset.docs).map(DocId::new).collect();
    check(dataset, file.clone(), &all, usize::MAX);
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
    #![proptest_config(ProptestConfig::with_cases(cases(20, 40)))]

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
