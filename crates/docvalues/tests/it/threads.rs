//! Columns that are read by several threads.

use std::sync::Arc;

use docvalues::{Column, ColumnSource as _, Field, JumpTables, OpenOptions, Segment};
use docvalues_testkit::conformance::check_column;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::ModelColumn;

use crate::write::EVERY_KIND;

#[test]
fn threads_share_a_cold_segment() {
    let (dataset, file) = &*EVERY_KIND;
    let model = dataset.source();
    for (i, jump_tables) in JumpTables::ALL.into_iter().enumerate() {
        let segment = Segment::from_bytes(file.clone(), OpenOptions::new().jump_tables(jump_tables)).unwrap();
        // In each mode some columns, or all in the full sweep.
        let fields = dataset.columns.iter().skip(cases(i, 0)).step_by(cases(3, 1));
        let check = |(field, _): &(Field, ModelColumn)| {
            check_column(&*segment.column(&field.name).unwrap(), &*model.column(&field.name).unwrap());
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (fields, check) = (fields.clone(), &check);
                scope.spawn(move || fields.for_each(check));
            }
        });
    }
}

#[test]
fn columns_are_send_sync_and_static() {
    fn assert<T: Send + Sync + Clone + 'static>() {}
    assert::<Segment>();
    assert::<docvalues::Numeric>();
    assert::<docvalues::Numeric<f64>>();
    assert::<docvalues::Binary>();
    assert::<docvalues::Sorted>();
    assert::<docvalues::SortedNumeric>();
    assert::<docvalues::SortedSet>();
    assert::<Arc<dyn Column>>();
}
