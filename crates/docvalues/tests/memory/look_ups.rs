//! The heap usage of single look-ups: none, once the buffer is large enough.

use docvalues::prelude::*;
use docvalues::reader::{JumpTables, Verify};

use crate::ALLOCATOR;

const DOCS: u32 = 1_000;

/// Lists of few distinct values, which lie in a table, in a column with gaps.
#[test]
fn lists_one_by_one_allocate_nothing() {
    let _turn = crate::turn();
    let mut schema = Schema::new();
    let levels = schema.add(FieldSpec::new("levels", LogicalType::I64).multi_valued()).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for doc in 0..DOCS {
        let mut document = writer.document();
        for level in [i64::MIN, -1, 1 << 40].into_iter().take(doc as usize % 4) {
            document.i64(levels, level).unwrap();
        }
        document.finish().unwrap();
    }
    let file = writer.finish_bytes().unwrap();
    for jump_tables in JumpTables::ALL {
        let options = OpenOptions::new().verify(Verify::AtOpen).jump_tables(jump_tables);
        let segment = Segment::from_bytes(file.clone(), options).unwrap();
        let column = segment.sorted_numeric("levels").unwrap().column();
        let rows = column.values().numbers().unwrap();
        let mut row = Vec::with_capacity(16);
        let mut read_all = || {
            for doc in 0..DOCS {
                rows.get(DocId::new(doc), &mut row).unwrap();
                assert_eq!(row.len(), doc as usize % 4, "{doc}");
            }
        };
        read_all();
        let ((), more, peak) = ALLOCATOR.here(read_all);
        assert_eq!((more, peak), (0, 0), "{jump_tables:?}");
    }
}
