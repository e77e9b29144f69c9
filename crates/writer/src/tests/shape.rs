//! What the columns of a file look like: kinds, statistics, and what costs nothing.

use super::*;
use crate::Compression;
use crate::Summary;

fn numbers(spec: FieldSpec, values: &[i64]) -> (Vec<u8>, Summary) {
    let (schema, [field]) = schema([spec]);
    let mut writer = in_memory(schema);
    let mut batch = writer.batch(u32::try_from(values.len()).unwrap()).unwrap();
    batch.stored(field, values, None).unwrap();
    batch.finish();
    writer.finish().unwrap()
}

fn strings(kind: BytesKind, compression: Compression, values: &[String]) -> Summary {
    let spec = FieldSpec::new("s", LogicalType::Utf8).kind(kind).compression(compression);
    let (schema, [field]) = schema([spec]);
    let mut writer = in_memory(schema);
    for value in values {
        let mut doc = writer.document();
        doc.str(field, value).unwrap();
        doc.finish().unwrap();
    }
    writer.finish().unwrap().1
}

#[test]
fn the_smallest_segment_is_header_and_footer() {
    let (bytes, summary) = in_memory(Schema::new()).finish().unwrap();
    assert_eq!((bytes.len(), summary.bytes, summary.docs), (128, 128, 0));
    assert_eq!(columns(&bytes), (0, Vec::new()));
}

#[test]
fn a_field_without_values_has_an_entry_and_no_section() {
    let specs = LogicalType::ALL.map(|t| FieldSpec::new(t.name(), t));
    let (mut all, _) = schema(specs);
    for logical in LogicalType::ALL {
        all.add(FieldSpec::new(format!("{}s", logical.name()), logical).multi_valued()).unwrap();
    }
    for docs in [0, 3] {
        let mut writer = in_memory(all.clone());
        writer.batch(docs).unwrap().finish();
        let (bytes, summary) = writer.finish().unwrap();
        assert_eq!(columns(&bytes).1.len(), 24);
        for column in &summary.columns {
            assert_eq!((column.bytes, column.values(), column.docs_with_value()), (0, 0, 0));
            assert_eq!(column.column.presence, Presence::None);
            assert!(column.sections().is_empty());
        }
    }
}

#[test]
fn columns_lie_in_the_order_of_their_names() {
    let (schema, _) = schema(["b", "a", "ab", "é", "Z"].map(|name| FieldSpec::new(name, LogicalType::I64)));
    let (bytes, summary) = in_memory(schema).finish().unwrap();
    let names: Vec<_> = columns(&bytes).1.into_iter().map(|c| c.field.name).collect();
    assert_eq!(names, ["Z", "a", "ab", "b", "é"]);
    assert_eq!(summary.columns.iter().map(|c| &c.field().name[..]).collect::<Vec<_>>(), names);
}

#[test]
fn the_summary_tells_what_the_file_has() {
    let (schema, [size, tags]) = schema([
        FieldSpec::new("size", LogicalType::U64),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
    ]);
    let mut writer = in_memory(schema);
    for i in 0..1_000_u64 {
        let mut doc = writer.document();
        if i % 2 == 0 {
            doc.u64(size, i * i).unwrap();
            doc.str(tags, "even").unwrap().str(tags, &format!("tag {}", i % 10)).unwrap();
        }
        doc.finish().unwrap();
    }
    let (bytes, summary) = writer.finish().unwrap();
    assert_eq!((summary.docs, summary.bytes), (1_000, bytes.len() as u64));
    let (_, from_file) = columns(&bytes);
    assert_eq!(summary.columns.iter().map(|c| c.column.clone()).collect::<Vec<_>>(), from_file);
    let counts = |i: usize| (summary.columns[i].docs_with_value(), summary.columns[i].values());
    assert_eq!((counts(0), counts(1)), ((500, 500), (500, 1_000)));
    for column in &summary.columns {
        assert_eq!(column.sections().iter().map(|(_, bytes)| bytes).sum::<u64>(), column.bytes);
        assert!(column.bytes > 0);
    }
    let footer = Footer::decode(bytes.last_chunk().unwrap(), summary.bytes).unwrap();
    assert_eq!(footer.id, summary.id);
}

#[test]
fn strings_are_kept_in_the_fewest_bytes() {
    let few: Vec<String> = (0..2_000).map(|i| format!("host-{}.example.org", i % 7)).collect();
    let unique: Vec<String> =
        (0..2_000_u64).map(|i| format!("{:016x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let paths: Vec<String> =
        (0..2_000).map(|i| format!("/a/rather/long/and/common/prefix/of/all/{i}")).collect();
    use Compression::{Auto, Fsst, None};
    for (values, compression, expected) in [
        (&few, None, Kind::Sorted),
        (&few, Auto, Kind::Sorted),
        (&unique, None, Kind::Binary),
        (&unique, Fsst, Kind::Binary),
        // A dictionary leaves out what neighbours share, and so do codes.
        (&paths, None, Kind::Sorted),
        (&paths, Auto, Kind::Binary),
    ] {
        let [auto, sorted, binary] = [BytesKind::Auto, BytesKind::Sorted, BytesKind::Binary]
            .map(|kind| strings(kind, compression, values));
        let kind = |summary: &Summary| summary.columns[0].field().kind;
        assert_eq!((kind(&auto), kind(&sorted), kind(&binary)), (expected, Kind::Sorted, Kind::Binary));
        assert!(auto.columns[0].bytes <= sorted.columns[0].bytes.min(binary.columns[0].bytes));
        let chosen = if expected == Kind::Sorted { sorted } else { binary };
        assert_eq!(auto, chosen, "the choice is all there is to it");
    }
}

#[test]
fn statistics_are_those_of_the_stored_numbers() {
    let known = |spec, values: &[i64]| {
        let s = numbers(spec, values).1.columns[0].column.statistics;
        (s.sum, s.distinct, s.ascending, s.descending)
    };
    let i64s = || FieldSpec::new("n", LogicalType::I64);
    let wide: Vec<i64> = (0..1_000).map(|i| i * i).collect();
    let mut shuffled = wide.clone();
    shuffled.swap(3, 900);
    let sum: i128 = wide.iter().map(|&v| i128::from(v)).sum();
    assert_eq!(known(i64s(), &[]), (Some(0), Some(0), true, true));
    assert_eq!(known(i64s(), &[5, 5, 5]), (Some(15), Some(1), true, true));
    assert_eq!(known(i64s(), &[i64::MAX; 4]), (Some(4 * i128::from(i64::MAX)), Some(1), true, true));
    assert_eq!(known(i64s(), &wide), (Some(sum), Some(1_000), true, false));
    assert_eq!(known(i64s(), &shuffled), (Some(sum), None, false, false));
    let back: Vec<i64> = wide.iter().rev().copied().collect();
    assert_eq!(known(i64s(), &back), (Some(sum), Some(1_000), false, true));
    assert_eq!(known(FieldSpec::new("n", LogicalType::F64), &[5, 5]), (None, Some(1), true, true));
    let (sum, _, ascending, descending) = known(i64s().multi_valued(), &[1, 2]);
    assert_eq!((sum, ascending, descending), (Some(3), false, false));

    let words = ["b", "a", "b"].map(str::to_owned);
    let s = strings(BytesKind::Sorted, Compression::Auto, &words).columns[0].column.statistics;
    assert_eq!((s.sum, s.distinct, s.ascending, s.descending), (None, Some(2), false, false));
    let s = strings(BytesKind::Sorted, Compression::Auto, &words[..2]).columns[0].column.statistics;
    assert_eq!((s.distinct, s.ascending, s.descending), (Some(2), false, true));
}

#[test]
fn values_of_a_document_are_in_order_whatever_order_they_came_in() {
    let (schema, [set]) = schema([FieldSpec::new("set", LogicalType::Utf8).multi_valued()]);
    let segment = |docs: &[&[&str]]| {
        let mut writer = in_memory(schema.clone());
        for terms in docs {
            let mut doc = writer.document();
            terms.iter().for_each(|term| {
                doc.str(set, term).unwrap();
            });
            doc.finish().unwrap();
        }
        writer.finish().unwrap()
    };
    let (messy, summary) = segment(&[&["z", "a", "z", "m"], &[], &["m", "m"], &["b", "z"]]);
    let (normalize, _) = segment(&[&["a", "m", "z"], &[], &["m"], &["b", "z"]]);
    assert!(messy == normalize);
    assert_eq!((summary.columns[0].docs_with_value(), summary.columns[0].values()), (3, 6));
}

#[test]
fn options_leave_out_what_they_say() {
    let bytes = |jump_tables, zones| {
        let (schema, [n]) = schema([FieldSpec::new("n", LogicalType::I64)]);
        let options = WriterOptions { jump_tables, zones, ..WriterOptions::default() };
        let mut writer = SegmentWriter::in_memory(schema, options);
        let values: Vec<i64> = (0..20_000).map(|i: i64| i.wrapping_mul(0x9e37_79b9_7f4a) >> 3).collect();
        let mut batch = writer.batch(20_000).unwrap();
        batch.i64(n, &values, Some(&[0x7777_7777_7777_7777; 313])).unwrap();
        batch.finish();
        let (_, summary) = writer.finish().unwrap();
        summary.columns[0].sections().into_iter().map(|(section, _)| section.name()).collect::<Vec<_>>()
    };
    assert_eq!(
        bytes(true, true),
        ["presence", "presence jump table", "values", "values jump table", "zone map", "fine zones"]
    );
    assert_eq!(bytes(false, true), ["presence", "values", "zone map", "fine zones"]);
    assert_eq!(bytes(true, false), ["presence", "presence jump table", "values", "values jump table"]);
}

#[test]
fn sixty_five_thousand_columns_take_little_memory() {
    let mut schema = Schema::new();
    let fields: Vec<FieldId> = (0..65_000)
        .map(|i| {
            let logical = if i % 2 == 0 { LogicalType::I64 } else { LogicalType::Utf8 };
            schema.add(FieldSpec::new(format!("field {i}"), logical)).unwrap()
        })
        .collect();
    let one_more = schema.add(FieldSpec::new("one more", LogicalType::I64));
    assert!(matches!(one_more.unwrap_err().kind(), ErrorKind::TooManyFields { max: 65_000 }));
    let mut writer = in_memory(schema);
    // A document a field: nearly every field is missing in nearly every document.
    for (i, &field) in fields.iter().enumerate() {
        let mut doc = writer.document();
        match i % 2 {
            0 => doc.i64(field, 1).unwrap(),
            _ => doc.str(field, "x").unwrap(),
        };
        doc.finish().unwrap();
    }
    assert!(writer.buffered() < 32 << 20, "{} bytes", writer.buffered());
    let (bytes, _) = writer.finish().unwrap();
    assert_eq!(columns(&bytes).1.len(), 65_000);
}

#[test]
fn one_value_among_all_the_documents_there_can_be() {
    let (schema, [n]) = schema([FieldSpec::new("n", LogicalType::I64)]);
    let options = WriterOptions { budget: 1 << 10, ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    writer.batch(docvalues_format::id::MAX_DOCS - 1).unwrap().finish();
    let mut doc = writer.document();
    doc.i64(n, 7).unwrap();
    assert_eq!(doc.finish().unwrap().get(), docvalues_format::id::MAX_DOCS - 1);
    let (bytes, summary) = writer.finish().unwrap();
    assert_eq!(summary.columns[0].docs_with_value(), 1);
    // Eight bytes of header and sixteen in the jump table for each block of 65,536.
    assert!(bytes.len() < 30 * 65_536, "{} bytes", bytes.len());
}

/// Behind the last word of their validity there is no number for a document.
#[test]
fn a_batch_of_the_last_documents_there_can_be() {
    for (docs, validity) in [(10, 0b10_1010_1010), (64, u64::MAX), (64, u64::MAX >> 1), (64, 1 << 63)] {
        let (schema, [n, set]) = schema([
            FieldSpec::new("n", LogicalType::I64),
            FieldSpec::new("set", LogicalType::I64).multi_valued(),
        ]);
        let mut writer = in_memory(schema);
        writer.batch(docvalues_format::id::MAX_DOCS - docs).unwrap().finish();
        let (values, mut batch) = (vec![7; docs as usize], writer.batch(docs).unwrap());
        batch.i64(n, &values, Some(&[validity])).unwrap().i64(set, &values, Some(&[validity])).unwrap();
        batch.finish();
        let (_, summary) = writer.finish().unwrap();
        let with_value: Vec<_> = summary.columns.iter().map(|column| column.docs_with_value()).collect();
        assert_eq!(with_value, [u64::from(validity.count_ones()); 2]);
    }
}
