//! The budget holds, its error is clear, and the writer can go on after it.

use super::*;

fn specs() -> [FieldSpec; 4] {
    [
        FieldSpec::new("number", LogicalType::I64),
        FieldSpec::new("strings", LogicalType::Bytes).kind(BytesKind::Binary),
        FieldSpec::new("terms", LogicalType::Utf8),
        FieldSpec::new("sets", LogicalType::Utf8).multi_valued(),
    ]
}

/// Adds document `i`, or tells why not.
fn add(
    writer: &mut SegmentWriter<Vec<u8>>,
    [number, strings, terms, sets]: [FieldId; 4],
    i: u32,
) -> crate::Result<()> {
    let mut doc = writer.document();
    doc.i64(number, i.into())?;
    doc.bytes(strings, &i.to_le_bytes())?;
    if i.is_multiple_of(3) {
        doc.str(terms, &format!("term {i}"))?;
    }
    for part in 0..i % 4 {
        doc.str(sets, &format!("part {part} of {i}"))?;
    }
    doc.finish().map(|_| ())
}

#[test]
fn past_the_budget_comes_an_error_and_what_fitted_can_be_written() {
    for budget in [0, 100, 1_000, 20_000, 100_000] {
        let options = WriterOptions { budget, ..WriterOptions::default() };
        let (schema_a, ids) = schema(specs());
        let mut writer = SegmentWriter::in_memory(schema_a, options);
        let error = (0..).find_map(|i| add(&mut writer, ids, i).err()).unwrap();
        assert!(matches!(error.kind(), ErrorKind::Budget { budget: b } if *b == budget), "{error}");
        assert_eq!(error.doc().map(|d| d.get()), Some(writer.docs()));
        assert!(error.field().is_some());
        assert!(writer.buffered() <= budget);
        // Most of the budget is used before it is said to be used up.
        assert!(budget < 1_000 || writer.buffered() > budget / 2, "{} of {budget}", writer.buffered());

        let (schema_b, ids) = schema(specs());
        let mut expected = in_memory(schema_b);
        for i in 0..writer.docs() {
            add(&mut expected, ids, i).unwrap();
        }
        assert!(writer.finish_bytes().unwrap() == expected.finish_bytes().unwrap(), "budget {budget}");
    }
}

#[test]
fn the_error_gives_advice() {
    let (schema, [number, ..]) = schema(specs());
    let options = WriterOptions { budget: 7, ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    assert_eq!(
        message(writer.document().i64(number, 1)),
        "field \"number\", document 0: the buffered values would take more than the budget of 7 bytes: \
         raise `WriterOptions::budget`, add fewer documents at a time, or build the segment in a file"
    );
}

#[test]
fn a_batch_that_does_not_fit_is_refused_whole() {
    let (schema, [number, _, terms, _]) = schema(specs());
    let options = WriterOptions { budget: 1_000, ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    let mut batch = writer.batch(1_000).unwrap();
    assert!(matches!(batch.i64(number, &[1; 1_000], None).unwrap_err().kind(), ErrorKind::Budget { .. }));
    let offsets: Vec<u64> = (0..=1_000).collect();
    let error = batch.bytes(terms, &offsets, &[b'x'; 1_000], None).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Budget { .. }));
    drop(batch);
    assert!(writer.buffered() <= 1_000);
    let mut batch = writer.batch(10).unwrap();
    batch.i64(number, &[1; 10], None).unwrap();
    batch.finish();
    assert_eq!(writer.finish().unwrap().1.docs, 10);
}
