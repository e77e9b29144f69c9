//! Round trips: segments that are written, opened and read in every mode equal the model.

use std::slice;
use std::sync::Arc;

use docvalues::reader::{Access, JumpTables, Verify};
use docvalues::{ColumnSource as _, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::conformance::{check_panics, check_source};
use docvalues_testkit::damage::{Sweep, cases};
use docvalues_testkit::shapes::{self, Dataset, Values};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, by_document, in_batches};

/// Opens `file` in a mode of jump tables and one of verification, and compares it with `dataset`. The modes take turns.
/// The full sweep takes all combinations.
fn check_all_ways(dataset: &Dataset, file: &[u8], turn: usize) {
    const TIMES: [Verify; 3] = [Verify::OnFirstTouch, Verify::AtOpen, Verify::Never];
    let model = dataset.source();
    for (i, jump_tables) in JumpTables::ALL.into_iter().enumerate() {
        let times = match Sweep::from_env(1) {
            Sweep::Full => &TIMES[..],
            Sweep::Sample(_) if i == turn % 2 => slice::from_ref(&TIMES[turn / 2 % TIMES.len()]),
            Sweep::Sample(_) => &[],
        };
        for &verify in times {
            let options = OpenOptions::new().verify(verify).jump_tables(jump_tables).access(Access::Map);
            let segment = Segment::from_bytes(file.to_vec(), options).unwrap();
            check_source(&segment, &model);
            segment.verify().unwrap();
            if i == turn % 2 {
                let requested = Segment::from_reader(Arc::new(file.to_vec()), "requested", options).unwrap();
                check_source(&requested, &model);
            }
        }
    }
}

#[test]
fn columns_at_edges_of_blocks_equal_the_model() {
    for (i, shape) in shapes::small().into_iter().enumerate().step_by(cases(2, 1)) {
        let dataset = Dataset::of_shapes(shape.docs, [shape]);
        let file = by_document(&dataset, &COMPRESSIONS, WriterOptions::default());
        assert!(file == in_batches(&dataset, 100, &COMPRESSIONS, WriterOptions::default()), "{shape:?}");
        check_all_ways(&dataset, &file, i);
    }
}

#[test]
fn columns_over_several_blocks_equal_the_model() {
    for (i, shape) in shapes::large().into_iter().enumerate().step_by(cases(4, 1)) {
        let dataset = Dataset::of_shapes(shape.docs, [shape]);
        let file = in_batches(&dataset, 10_000, &COMPRESSIONS, WriterOptions::default());
        // Without tables in the file, only one mode has tables.
        let jump_tables = JumpTables::ALL[i % 2];
        let bare = WriterOptions::new().jump_tables(false).zones(false);
        let bare = in_batches(&dataset, 77_777, &COMPRESSIONS, bare);
        // Both in the full sweep; otherwise by turns.
        let files = match Sweep::from_env(1) {
            Sweep::Full => vec![file, bare],
            Sweep::Sample(_) => vec![if i % 2 == 0 { file } else { bare }],
        };
        for file in files {
            let options = OpenOptions::new().jump_tables(jump_tables);
            let segment = Segment::from_bytes(file, options).unwrap();
            check_source(&segment, &dataset.source());
            segment.verify().unwrap();
        }
    }
}

#[test]
fn compressed_byte_strings_equal_the_model() {
    let shapes = shapes::small().into_iter().chain(shapes::large());
    let shapes = shapes.filter(|shape| matches!(shape.values, Values::Binary(_)));
    for shape in shapes.step_by(cases(4, 1)) {
        let dataset = Dataset::of_shapes(shape.docs, [shape]);
        // The other tests cover OnPair.
        for compression in &COMPRESSIONS[1..3] {
            let file = in_batches(&dataset, 10_000, slice::from_ref(compression), WriterOptions::default());
            let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
            check_source(&segment, &dataset.source());
            segment.verify().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(16, 40)))]

    #[test]
    fn any_segment_equals_the_model(dataset in shapes::any_dataset(5), size in 1..700_u32, tables: bool) {
        let options = WriterOptions::new().jump_tables(tables);
        let file = in_batches(&dataset, size, &COMPRESSIONS, options);
        prop_assert!(file == by_document(&dataset, &COMPRESSIONS, options), "batches and documents give the same bytes");
        check_all_ways(&dataset, &file, dataset.docs as usize);
    }
}

#[test]
fn outputs_that_are_too_short_panic() {
    let (dataset, file) = &*EVERY_KIND;
    let segment = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
    for (field, _) in &dataset.columns {
        check_panics(&*segment.column(&field.name).unwrap());
    }
}

#[test]
fn a_segment_without_documents_or_columns_opens() {
    for (docs, columns) in [(0, vec![]), (5, vec![]), (0, shapes::small()[..1].to_vec())] {
        let dataset = match columns.first() {
            Some(shape) => Dataset::of_shapes(0, [docvalues_testkit::shapes::Shape { docs: 0, ..*shape }]),
            None => Dataset { docs, columns: vec![] },
        };
        check_all_ways(&dataset, &by_document(&dataset, &COMPRESSIONS, WriterOptions::default()), 0);
    }
}
