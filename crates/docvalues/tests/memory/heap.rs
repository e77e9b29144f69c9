//! The heap usage of an open column: little, and a bit for each 4 KiB of the file.

use docvalues::writer::Compression;
use docvalues::{ColumnSource as _, Kind, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::shapes::{self, Dataset};

use crate::{ALLOCATOR, write};

/// Readers, sections, and the segment's list of open columns.
const FIXED: usize = 19 << 8;

/// Bytes of a file per byte on the heap: a bit per granule.
const PER_BYTE: usize = 8 * 4096;

/// Decoding tables, which are kept in memory: 4,096 tokens of 16 bytes and their lengths, 256 symbols of 16 bytes, or 256
/// values of 8.
fn tables(kind: Kind, compression: Compression) -> usize {
    match kind {
        Kind::Binary if matches!(compression, Compression::OnPair | Compression::Auto) => 4096 * 17,
        Kind::Binary => 256 * 16,
        Kind::Numeric | Kind::SortedNumeric => 256 * 8,
        Kind::Sorted | Kind::SortedSet => 0,
    }
}

#[test]
fn an_open_column_takes_little_heap() {
    let _turn = crate::turn();
    let large =
        shapes::large().into_iter().step_by(cases(4, 1)).map(|shape| Dataset::of_shapes(shape.docs, [shape]));
    let (mut columns, mut most) = (0, (0, String::new()));
    for dataset in large.chain([shapes::small_of_every_kind()]) {
        let file = write::in_batches(&dataset, 10_000, &write::COMPRESSIONS, WriterOptions::default());
        let bits = file.len() / PER_BYTE;
        let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
        for ((field, _), &compression) in dataset.columns.iter().zip(write::COMPRESSIONS.iter().cycle()) {
            // The segment keeps the open column.
            let ((), taken, _) = ALLOCATOR.here(|| drop(segment.column(&field.name).unwrap()));
            let taken = taken.unsigned_abs();
            let allowed = FIXED + tables(field.kind, compression) + bits;
            assert!(taken <= allowed, "`{}` takes {taken} bytes of {allowed}", field.name);
            most = most.max((taken, field.name.clone()));
            columns += 1;
        }
    }
    println!("{columns} columns opened: {} bytes at most, by `{}`", most.0, most.1);
    assert!(most.0 > 0, "an open column has something on the heap");
}
