//! The file of `docs/format.md`, section 15, is what the writer makes.

use docvalues_writer::{BytesKind, FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};

#[path = "../../format/tests/spec/document.rs"]
#[expect(dead_code, reason = "one example is read here; its own crate reads the rest")]
mod document;

/// Where the header has the writer's release and the checksum over it, which change with each.
const RELEASE: [std::ops::Range<usize>; 2] = [20..26, 60..64];

#[test]
fn the_writer_makes_the_whole_file_of_the_document() {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let city = schema.add(FieldSpec::new("city", LogicalType::Utf8).kind(BytesKind::Sorted)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for (value, name) in [(1000, Some("Oslo")), (1030, Some("Rome")), (1010, None), (1070, Some("Oslo"))] {
        let mut doc = writer.document();
        doc.i64(size, value).unwrap();
        if let Some(name) = name {
            doc.str(city, name).unwrap();
        }
        doc.finish().unwrap();
    }
    let mut made = writer.finish_bytes().unwrap();

    let shown: Option<Vec<u8>> = document::Document::spec().example("whole-file").into_iter().collect();
    let mut shown = shown.unwrap();
    for release in RELEASE {
        made[release.clone()].fill(0);
        shown[release].fill(0);
    }
    let differ = made.iter().zip(&shown).position(|(made, shown)| made != shown);
    assert_eq!((differ, made.len()), (None, shown.len()));
}
