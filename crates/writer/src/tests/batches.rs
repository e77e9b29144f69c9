//! By document and by batch of whatever size: the same bytes.

use std::collections::BTreeSet;

use super::*;
use proptest::prelude::*;

/// The values of one document, by field of [`specs`].
#[derive(Clone, Debug, Default)]
struct Row {
    numbers: [Option<i64>; 7],
    strings: [Option<Vec<u8>>; 5],
    lists: [Vec<i64>; 4],
    set: Vec<String>,
}

const NUMBERS: [LogicalType; 7] = [
    LogicalType::I64,
    LogicalType::U64,
    LogicalType::F64,
    LogicalType::Bool,
    LogicalType::Date,
    LogicalType::TimestampMicros,
    LogicalType::TimestampNanos,
];
const STRINGS: [LogicalType; 5] =
    [LogicalType::Utf8, LogicalType::Utf8, LogicalType::Bytes, LogicalType::Ip, LogicalType::Uuid];
const KINDS: [BytesKind; 5] =
    [BytesKind::Auto, BytesKind::Sorted, BytesKind::Binary, BytesKind::Auto, BytesKind::Binary];
const LISTS: [LogicalType; 4] = [LogicalType::I64, LogicalType::U64, LogicalType::F64, LogicalType::Date];

struct Ids {
    numbers: Vec<FieldId>,
    strings: Vec<FieldId>,
    lists: Vec<FieldId>,
    set: FieldId,
}

/// All fields, in an order that is rotated by `turn`.
fn all(turn: usize) -> (Schema, Ids) {
    let mut specs = Vec::new();
    for (i, logical) in NUMBERS.into_iter().enumerate() {
        specs.push(FieldSpec::new(format!("number {i}"), logical));
    }
    for (i, (logical, kind)) in STRINGS.into_iter().zip(KINDS).enumerate() {
        specs.push(FieldSpec::new(format!("string {i}"), logical).kind(kind));
    }
    for (i, logical) in LISTS.into_iter().enumerate() {
        specs.push(FieldSpec::new(format!("list {i}"), logical).multi_valued());
    }
    specs.push(FieldSpec::new("set", LogicalType::Utf8).multi_valued());
    let len = specs.len();
    specs.rotate_left(turn % len);
    let mut schema = Schema::new();
    for spec in specs {
        schema.add(spec).unwrap();
    }
    let ids = |what: &str, n: usize| (0..n).map(|i| schema.field(&format!("{what} {i}")).unwrap()).collect();
    let (numbers, strings, lists) = (ids("number", 7), ids("string", 5), ids("list", 4));
    let set = schema.field("set").unwrap();
    (schema, Ids { numbers, strings, lists, set })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let text = prop_oneof![Just(String::new()), "[ab]{1,3}", "\\PC{0,12}"];
    let fixed = proptest::array::uniform16(0..2_u8).prop_map(|a| a.to_vec());
    let number = prop_oneof![0..3_i64, any::<i64>()];
    let row = (
        proptest::array::uniform7(proptest::option::of(number.clone())),
        proptest::array::uniform2(proptest::option::of(text.clone().prop_map(String::into_bytes))),
        proptest::option::of(proptest::collection::vec(any::<u8>(), 0..6)),
        proptest::array::uniform2(proptest::option::of(fixed)),
        proptest::array::uniform4(proptest::collection::vec(number, 0..4)),
        proptest::collection::vec(text, 0..4),
    )
        .prop_map(|(mut numbers, [a, b], bytes, [ip, uuid], mut lists, set)| {
            numbers[3] = numbers[3].map(|n| n & 1);
            for day in numbers[4].iter_mut().chain(&mut lists[3]) {
                *day = (*day).clamp(-100_000, 100_000);
            }
            Row { numbers, strings: [a, b, bytes, ip, uuid], lists, set }
        });
    proptest::collection::vec(row, 0..80)
}

/// Each row a document, by the methods of the types where they take what the row has.
fn by_document(rows: &[Row], turn: usize) -> Vec<u8> {
    let (schema, ids) = all(turn);
    let mut writer = in_memory(schema);
    for row in rows {
        let mut doc = writer.document();
        for (&field, value) in ids.numbers.iter().zip(row.numbers) {
            if let Some(value) = value {
                doc.stored(field, value).unwrap();
            }
        }
        for ((&field, value), logical) in ids.strings.iter().zip(&row.strings).zip(STRINGS) {
            let Some(value) = value else { continue };
            match logical {
                LogicalType::Utf8 => doc.str(field, std::str::from_utf8(value).unwrap()),
                LogicalType::Bytes => doc.bytes(field, value),
                LogicalType::Ip => doc.ip(field, <[u8; 16]>::try_from(&value[..]).unwrap()),
                _ => doc.uuid(field, u128::from_be_bytes(value[..].try_into().unwrap())),
            }
            .unwrap();
        }
        for (&field, list) in ids.lists.iter().zip(&row.lists) {
            // Backwards: the order within a document does not matter.
            list.iter().rev().for_each(|&value| {
                doc.stored(field, value).unwrap();
            });
        }
        row.set.iter().rev().for_each(|term| {
            doc.str(ids.set, term).unwrap();
        });
        doc.finish().unwrap();
    }
    writer.finish_bytes().unwrap()
}

fn validity<T>(rows: &[Row], value: impl Fn(&Row) -> Option<T>) -> Vec<u64> {
    let mut words = vec![0; rows.len().div_ceil(64)];
    for (i, _) in rows.iter().enumerate().filter(|(_, row)| value(row).is_some()) {
        words[i / 64] |= 1 << (i % 64);
    }
    words
}

/// Lists end to end, from an offset that is not 0.
fn flat<T: Clone>(lists: impl Iterator<Item = Vec<T>>, filler: T) -> (Vec<u64>, Vec<T>) {
    let (mut offsets, mut values) = (vec![1], vec![filler]);
    for list in lists {
        values.extend(list);
        offsets.push(values.len() as u64);
    }
    (offsets, values)
}

/// Strings as indexes of terms, which are in another order, with one that is not used.
fn terms(strings: Vec<Vec<u8>>, unused: &[u8]) -> (Vec<u32>, Vec<u64>, Vec<u8>) {
    let terms: BTreeSet<_> = strings.iter().cloned().chain([unused.to_vec()]).collect();
    let id = |string: &Vec<u8>| {
        u32::try_from(terms.iter().rev().position(|term| term == string).unwrap()).unwrap()
    };
    let ids = strings.iter().map(id).collect();
    let (offsets, data) = flat(terms.iter().rev().cloned(), 0);
    (ids, offsets, data)
}

/// The rows in batches of the given sizes, over and over. Those of an odd number of rows have terms.
fn by_batch(rows: &[Row], turn: usize, sizes: &[usize]) -> Vec<u8> {
    let (schema, ids) = all(turn);
    let mut writer = in_memory(schema);
    let (mut rest, mut sizes) = (rows, sizes.iter().cycle());
    while !rest.is_empty() {
        let (chunk, tail) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        rest = tail;
        let mut batch = writer.batch(u32::try_from(chunk.len()).unwrap()).unwrap();
        for (i, &field) in ids.numbers.iter().enumerate() {
            let values: Vec<i64> = chunk.iter().map(|row| row.numbers[i].unwrap_or(1)).collect();
            let valid = validity(chunk, |row| row.numbers[i]);
            batch.stored(field, &values, Some(&valid)).unwrap();
        }
        for (i, &field) in ids.strings.iter().enumerate() {
            let strings = chunk.iter().map(|row| row.strings[i].clone().unwrap_or_default());
            let valid = validity(chunk, |row| row.strings[i].clone());
            let valid = chunk.iter().any(|row| row.strings[i].is_none()).then_some(&valid[..]);
            if chunk.len() % 2 == 1 {
                let (ids, offsets, data) = terms(strings.collect(), b"not UTF-8: \xff");
                batch.terms(field, &ids, &offsets, &data, valid).unwrap();
            } else {
                let (offsets, data) = flat(strings, 0);
                batch.bytes(field, &offsets, &data, valid).unwrap();
            }
        }
        for (i, &field) in ids.lists.iter().enumerate() {
            let (offsets, values) = flat(chunk.iter().map(|row| row.lists[i].clone()), 0);
            batch.stored_lists(field, &offsets, &values, None).unwrap();
        }
        let (lists, set) = flat(chunk.iter().map(|row| row.set.clone()), "not in a list".to_owned());
        let set = set.into_iter().map(String::into_bytes);
        if chunk.len() % 2 == 1 {
            let (terms, offsets, data) = terms(set.collect(), b"unused");
            batch.terms_lists(ids.set, &lists, &terms, &offsets, &data, None).unwrap();
        } else {
            let (offsets, data) = flat(set, 0);
            batch.bytes_lists(ids.set, &lists, &offsets, &data, None).unwrap();
        }
        batch.finish();
    }
    writer.finish_bytes().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_bytes_by_document_by_batch_and_in_any_order_of_fields(
        rows in rows(),
        sizes in proptest::collection::vec(1..70_usize, 1..5),
        turn in 0..17_usize,
    ) {
        let bytes = by_document(&rows, 0);
        prop_assert!(bytes == by_batch(&rows, turn, &sizes));
        prop_assert!(bytes == by_batch(&rows, 0, &[usize::MAX]));
        prop_assert!(bytes == by_document(&rows, turn));
        let (docs, columns) = columns(&bytes);
        prop_assert_eq!((docs as usize, columns.len()), (rows.len(), 17));
        let with_value = |i: usize| rows.iter().filter(|row| row.numbers[i].is_some()).count();
        for (i, column) in columns.iter().filter(|c| c.field.kind == Kind::Numeric).enumerate() {
            prop_assert_eq!(column.presence.values(docs) as usize, with_value(i));
        }
    }
}

#[test]
fn typed_columns_are_the_stored_ones() {
    let specs = || {
        [
            FieldSpec::new("i64", LogicalType::I64),
            FieldSpec::new("u64", LogicalType::U64),
            FieldSpec::new("f64", LogicalType::F64),
            FieldSpec::new("bool", LogicalType::Bool),
            FieldSpec::new("date", LogicalType::Date),
            FieldSpec::new("seen", LogicalType::TimestampMillis),
            FieldSpec::new("i64s", LogicalType::I64).multi_valued(),
            FieldSpec::new("u64s", LogicalType::U64).multi_valued(),
            FieldSpec::new("f64s", LogicalType::F64).multi_valued(),
        ]
    };
    let (schema_a, ids) = schema(specs());
    let mut writer = in_memory(schema_a);
    let valid = Some(&[0b110][..]);
    let mut batch = writer.batch(3).unwrap();
    batch.i64(ids[0], &[0, -1, 1], valid).unwrap().u64(ids[1], &[0, 1, u64::MAX], valid).unwrap();
    batch.f64(ids[2], &[0.0, -0.0, 2.5], valid).unwrap().bool(ids[3], &[false, true, false], valid).unwrap();
    batch.date(ids[4], &[0, -1, 1], valid).unwrap().timestamp(ids[5], &[0, 5, 6], valid).unwrap();
    batch.i64_lists(ids[6], &[0, 0, 2, 3], &[2, 1, 3], None).unwrap();
    batch.u64_lists(ids[7], &[0, 0, 2, 3], &[2, 1, 3], None).unwrap();
    batch.f64_lists(ids[8], &[0, 1, 3, 4], &[f64::NAN, 2.0, -1.0, 3.0], valid).unwrap();
    batch.finish();

    let (schema_b, ids) = schema(specs());
    let mut expected = in_memory(schema_b);
    expected.document().finish().unwrap();
    for (i, u, f, b, d, t, list) in
        [(-1, 1, -0.0, true, -1, 5, &[1, 2][..]), (1, u64::MAX, 2.5, false, 1, 6, &[3])]
    {
        let mut doc = expected.document();
        doc.i64(ids[0], i).unwrap().u64(ids[1], u).unwrap().f64(ids[2], f).unwrap().bool(ids[3], b).unwrap();
        doc.date(ids[4], d).unwrap().timestamp(ids[5], t).unwrap();
        for &n in list as &[i32] {
            doc.i64(ids[6], n.into()).unwrap().u64(ids[7], n.unsigned_abs().into()).unwrap();
        }
        let doubles = if i < 0 { [2.0, -1.0].as_slice() } else { &[3.0] };
        for &n in doubles {
            doc.f64(ids[8], n).unwrap();
        }
        doc.finish().unwrap();
    }
    assert!(writer.finish_bytes().unwrap() == expected.finish_bytes().unwrap());
}

#[test]
fn slices_that_do_not_fit_are_refused_and_the_batch_goes_on() {
    let (schema, [size, host, tags, sizes]) = schema([
        FieldSpec::new("size", LogicalType::I64),
        FieldSpec::new("host", LogicalType::Utf8),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
        FieldSpec::new("sizes", LogicalType::I64).multi_valued(),
    ]);
    let mut writer = in_memory(schema);
    writer.document().finish().unwrap();
    let mut batch = writer.batch(2).unwrap();
    let refused = [
        (
            message(batch.i64(size, &[1], None)),
            "field \"size\", document 1: the batch needs 2 values, and 1 were given",
        ),
        (
            message(batch.i64(size, &[1, 2], Some(&[]))),
            "field \"size\", document 1: the batch needs 1 words of validity, and 0 were given",
        ),
        (
            message(batch.f64(size, &[1.0, 2.0], None)),
            "field \"size\", document 1: a double for a field of type i64",
        ),
        (
            message(batch.i64_lists(size, &[0, 1, 2], &[1, 2], None)),
            "field \"size\", document 1: lists for a field with one value a document: declare it `multi_valued`",
        ),
        (
            message(batch.bytes(host, &[0, 1], b"ab", None)),
            "field \"host\", document 1: the batch needs 2 values, and 1 were given",
        ),
        (
            message(batch.bytes(host, &[0, 2, 1], b"ab", None)),
            "field \"host\", document 2: byte offsets must ascend and end within the 2 that were given: 2, then 1",
        ),
        (
            message(batch.bytes(host, &[0, 1, 3], b"ab", None)),
            "field \"host\", document 2: byte offsets must ascend and end within the 2 that were given: 1, then 3",
        ),
        (
            message(batch.terms(host, &[1, 0, 1], &[0, 1, 2], b"ab", None)),
            "field \"host\", document 1: the batch needs 2 values, and 3 were given",
        ),
        (
            message(batch.terms(host, &[1, 2], &[0, 1, 2], b"ab", None)),
            "field \"host\", document 2: there is no term 2: the batch has 2",
        ),
        (
            message(batch.terms(host, &[1, 0], &[0, 1, 2], b"\xffb", None)),
            "field \"host\", document 2: not UTF-8 behind its first 0 bytes",
        ),
        (
            message(batch.terms_lists(tags, &[0, 1, 2], &[0, 0], &[0], b"", None)),
            "field \"tags\", document 1: there is no term 0: the batch has 0",
        ),
        (
            message(batch.bytes_lists(tags, &[0, 1], &[0, 1], b"a", None)),
            "field \"tags\", document 1: the batch needs 3 list offsets, and 2 were given",
        ),
    ];
    for (found, expected) in refused {
        assert_eq!(found, expected);
    }
    // Values after the last offset, and those of invalid rows, are ignored.
    batch.bytes(host, &[0, 1, 3], b"abc\xff", None).unwrap();
    batch.i64_lists(sizes, &[9, 9, 1], &[5], Some(&[!0b11])).unwrap();
    batch.finish();
    assert_eq!(writer.docs(), 3);
}

#[test]
fn where_there_are_no_values_there_need_not_be_offsets() {
    let (schema, [host, path, tags, sizes]) = schema([
        FieldSpec::new("host", LogicalType::Utf8),
        FieldSpec::new("path", LogicalType::Utf8).kind(BytesKind::Binary),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
        FieldSpec::new("sizes", LogicalType::I64).multi_valued(),
    ]);
    let mut writer = in_memory(schema);
    let mut batch = writer.batch(0).unwrap();
    batch.bytes(host, &[], b"", None).unwrap().bytes(path, &[], b"", None).unwrap();
    batch.bytes_lists(tags, &[0], &[], b"", None).unwrap().i64_lists(sizes, &[0], &[], None).unwrap();
    batch.finish();
    let mut batch = writer.batch(2).unwrap();
    batch.bytes_lists(tags, &[0, 0, 0], &[], b"", None).unwrap();
    batch.i64_lists(sizes, &[0, 0, 0], &[], None).unwrap();
    batch.bytes(host, &[7, 9, 9], b"", Some(&[0])).unwrap();
    batch.finish();
    let (docs, columns) = columns(&writer.finish_bytes().unwrap());
    assert_eq!((docs, columns.len()), (2, 4));
    assert!(columns.iter().all(|column| column.presence.values(docs) == 0));
}

#[test]
fn a_refusal_halfway_names_the_document() {
    let specs = [
        FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
    ];
    let (schema, [host, tags]) = schema(specs);
    let mut writer = in_memory(schema);
    limit_terms(&mut writer, 3);
    let mut batch = writer.batch(5).unwrap();
    let offsets: Vec<u64> = (0..=5).collect();
    let error = batch.bytes(host, &offsets, b"abcde", Some(&[0b11011])).unwrap_err();
    assert_eq!(error.doc().map(|doc| doc.get()), Some(4));
    let error = batch.bytes_lists(tags, &[0, 2, 2, 4, 5, 5], &offsets, b"abade", None).unwrap_err();
    assert_eq!(error.doc().map(|doc| doc.get()), Some(3));
}

#[test]
fn a_column_that_fails_halfway_is_taken_back_alone() {
    let specs = || {
        [
            FieldSpec::new("host", LogicalType::Utf8),
            FieldSpec::new("id", LogicalType::Uuid),
            FieldSpec::new("size", LogicalType::I64),
            FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
            FieldSpec::new("up", LogicalType::Bool),
        ]
    };
    let good = |batch: &mut crate::ColumnBatch<'_>, [host, _, size, tags, up]: [FieldId; 5]| {
        batch.bytes(host, &[0, 1, 2], b"ab", None).unwrap();
        batch.i64(size, &[1, 2], None).unwrap();
        batch.bytes_lists(tags, &[0, 0, 2], &[0, 1, 2], b"xy", None).unwrap();
        batch.stored(up, &[0, 1], None).unwrap();
    };
    let (schema_a, ids) = schema(specs());
    let [host, id, size, tags, up] = ids;
    let mut writer = in_memory(schema_a);
    // The first batch is dropped, after some columns and in all states.
    let mut batch = writer.batch(2).unwrap();
    good(&mut batch, ids);
    drop(batch);
    let mut batch = writer.batch(2).unwrap();
    let text = message(batch.bytes(host, &[0, 1, 3], b"z\xc3\x28", None));
    assert_eq!(text, "field \"host\", document 1: not UTF-8 behind its first 0 bytes");
    let text = message(batch.bytes(id, &[0, 16, 31], &[7; 31], None));
    assert_eq!(text, "field \"id\", document 1: a value of 15 bytes, where all have 16");
    let text = message(batch.bytes_lists(tags, &[0, 1, 3], &[0, 1, 2, 1], b"pq", None));
    assert!(text.starts_with("field \"tags\", document 1: byte offsets must ascend"), "{text}");
    let text = message(batch.bytes_lists(tags, &[0, 1, 4], &[0, 1, 2, 2], b"pq", None));
    assert!(text.starts_with("field \"tags\", document 1: list offsets must ascend"), "{text}");
    assert_eq!(
        message(batch.stored(up, &[1, -1], None)),
        "field \"up\", document 1: the stored number -1 is no boolean"
    );
    good(&mut batch, ids);
    assert_eq!(
        message(batch.i64(size, &[1, 2], None)),
        "field \"size\", document 0: the batch has values of this field already"
    );
    assert_eq!((batch.first().get(), batch.docs()), (0, 2));
    batch.finish();

    let (schema_b, ids) = schema(specs());
    let mut expected = in_memory(schema_b);
    let mut batch = expected.batch(2).unwrap();
    good(&mut batch, ids);
    batch.finish();
    assert!(writer.finish_bytes().unwrap() == expected.finish_bytes().unwrap());
}

#[test]
fn a_column_without_values_is_the_one_that_the_batch_was_given() {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued()).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for docs in [2, 0] {
        for finished in [false, true] {
            let mut batch = writer.batch(docs).unwrap();
            let numbers = &[1, 2][..docs as usize];
            batch.i64(size, numbers, Some(&[0])).unwrap();
            let second = batch.i64(size, numbers, None).unwrap_err();
            assert!(matches!(second.kind(), ErrorKind::SecondColumn), "{second}");
            let lists = &[0, 0, 0][..=docs as usize];
            batch.bytes_lists(tags, lists, &[], b"", None).unwrap();
            let second = batch.bytes_lists(tags, lists, &[], b"", None).unwrap_err();
            assert!(matches!(second.kind(), ErrorKind::SecondColumn), "{second}");
            if finished {
                batch.finish();
            }
        }
    }
    assert_eq!(writer.docs(), 2);
}

#[test]
fn a_segment_whose_only_values_were_taken_back_is_one_without_values() {
    let specs = || {
        let text = || FieldSpec::new("text", LogicalType::Utf8);
        [
            FieldSpec::new("numbers", LogicalType::I64).multi_valued(),
            FieldSpec::new("set", LogicalType::Utf8).multi_valued(),
            text().kind(BytesKind::Binary),
        ]
    };
    for docs in [0, 3] {
        let (of_none, _) = schema(specs());
        let mut expected = in_memory(of_none);
        expected.batch(docs).unwrap().finish();
        let (of_some, [numbers, set, text]) = schema(specs());
        let mut writer = in_memory(of_some);
        // Dropped whole; and columns that fail at the second document.
        let mut batch = writer.batch(2).unwrap();
        batch.i64_lists(numbers, &[0, 1, 2], &[7, 8], None).unwrap();
        batch.bytes_lists(set, &[0, 1, 2], &[0, 1, 2], b"ab", None).unwrap();
        batch.bytes(text, &[0, 1, 2], b"ab", None).unwrap();
        drop(batch);
        let mut batch = writer.batch(2).unwrap();
        batch.i64_lists(numbers, &[0, 1, 3], &[7, 8], None).unwrap_err();
        batch.bytes_lists(set, &[0, 1, 2], &[0, 1, 2], b"a\xff", None).unwrap_err();
        batch.bytes(text, &[0, 1, 2], b"a\xff", None).unwrap_err();
        drop(batch);
        writer.batch(docs).unwrap().finish();
        let bytes = writer.finish_bytes().unwrap();
        assert_eq!(columns(&bytes).0, docs);
        assert!(bytes == expected.finish_bytes().unwrap());
    }
}
