//! Columns that are read by several threads.

use std::sync::Arc;

use docvalues::{Column, JumpTables, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::conformance::check_source;
use docvalues_testkit::shapes;

use crate::write::{COMPRESSIONS, by_document};

#[test]
fn threads_share_a_cold_segment() {
    let dataset = shapes::small_of_every_kind();
    let file = by_document(&dataset, &COMPRESSIONS, WriterOptions::default());
    for jump_tables in JumpTables::ALL {
        let segment = Segment::from_bytes(file.clone(), OpenOptions::new().jump_tables(jump_tables)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| check_source(&segment, &dataset.source()));
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
