//! The heap usage of single look-ups: none, once the buffer is large enough.

use docvalues::prelude::*;
use docvalues::reader::{JumpTables, Verify};

use crate::ALLOCATOR;

const DOCS: u32 = 1_000;

/// Lists and single values of few distinct ones, which lie in a table, in columns with gaps.
#[test]
fn rows_one_by_one_allocate_nothing() {
    let _turn = crate::turn();
    let mut schema = Schema::new();
    let levels = schema.add(FieldSpec::new("levels", LogicalType::I64).multi_valued()).unwrap();
    let level = schema.add(FieldSpec::new("level", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for doc in 0..DOCS {
        let mut document = writer.document();
        let numbers = [i64::MIN, -1, 1 << 40];
        for number in numbers.into_iter().take(doc as usize % 4) {
            document.i64(levels, number).unwrap();
        }
        if doc % 4 > 0 {
            document.i64(level, numbers[doc as usize % 3]).unwrap();
        }
        document.finish().unwrap();
    }
    let file = writer.finish_bytes().unwrap();
    for jump_tables in JumpTables::ALL {
        let options = OpenOptions::new().verify(Verify::AtOpen).jump_tables(jump_tables);
        let segment = Segment::from_bytes(file.clone(), options).unwrap();
        let (levels, level) = (segment.sorted_numeric("levels").unwrap(), segment.numeric("level").unwrap());
        for (column, most) in [(levels.column(), 3), (level.column(), 1)] {
            let rows = column.values().numbers().unwrap();
            let mut row = Vec::with_capacity(16);
            let mut read_all = || {
                for doc in 0..DOCS {
                    rows.get(DocId::new(doc), &mut row).unwrap();
                    assert_eq!(row.len(), (doc as usize % 4).min(most), "{doc}");
                }
            };
            read_all();
            let ((), more, peak) = ALLOCATOR.here(read_all);
            assert_eq!((more, peak), (0, 0), "{jump_tables:?}");
        }
    }
}
