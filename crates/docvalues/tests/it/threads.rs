//! Columns that are read by several threads.

use std::sync::Arc;

use docvalues::reader::JumpTables;
use docvalues::{Column, OpenOptions, Segment};

use crate::write::{EVERY_KIND, check_some};

#[test]
fn threads_share_a_cold_segment() {
    for (turn, jump_tables) in JumpTables::ALL.into_iter().enumerate() {
        let options = OpenOptions::new().jump_tables(jump_tables);
        let segment = Segment::from_bytes(EVERY_KIND.1.clone(), options).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| check_some(&segment, turn));
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
