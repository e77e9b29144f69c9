//! The conformance suite of searches over segments, in each mode of jump tables, with and without an index sort.

use docvalues::reader::JumpTables;
use docvalues::{OpenOptions, Segment, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::searches::check_searches;
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, in_batches};

fn open(file: &[u8], mode: JumpTables) -> Segment {
    Segment::from_bytes(file.to_vec(), OpenOptions::new().jump_tables(mode)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(8, 24)))]

    #[test]
    fn of_any_segment(dataset in shapes::any_dataset(3), tables: bool) {
        let options = WriterOptions::new().jump_tables(tables).zones(tables);
        let file = in_batches(&dataset, 500, &COMPRESSIONS, options);
        for mode in JumpTables::ALL {
            check_searches(&open(&file, mode), &dataset);
        }
    }
}

/// Two columns at a time, to bound the time. The full sweep takes all; the tests of the crate of searches take others.
#[test]
fn of_every_kind_and_type() {
    let Dataset { docs, columns } = &EVERY_KIND.0;
    for columns in columns.chunks(2).step_by(cases(11, 1)) {
        let dataset = Dataset { docs: *docs, columns: columns.to_vec() };
        let file = in_batches(&dataset, 60_000, &COMPRESSIONS, WriterOptions::default());
        check_searches(&open(&file, JumpTables::Baked), &dataset);
    }
}
