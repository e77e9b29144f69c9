use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema as ArrowSchema, TimeUnit};
use docvalues_format::file::kind::from_u64;

use super::*;
use crate::{Schema, WriterOptions};

/// A writer with the fields of these columns.
fn writer(specs: impl IntoIterator<Item = FieldSpec>) -> SegmentWriter<Vec<u8>> {
    let mut schema = Schema::new();
    for spec in specs {
        schema.add(spec).unwrap();
    }
    SegmentWriter::in_memory(schema, WriterOptions::default())
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// The error for a column that the field does not take.
fn refused(spec: FieldSpec, array: ArrayRef) -> String {
    writer([spec]).append(&batch([("x", array)])).unwrap_err().to_string()
}

fn lists(lists: &[Option<&[Option<i64>]>]) -> ArrayRef {
    let mut builder = ListBuilder::new(Int64Builder::new());
    lists.iter().for_each(|list| builder.append_option(list.map(|list| list.iter().copied())));
    Arc::new(builder.finish())
}

#[test]
fn encoded_strings_weigh_as_much_as_decoded_ones() {
    let texts: Vec<Option<String>> =
        (0..100_usize).map(|row| (row % 7 > 0).then(|| "x".repeat(row / 20 * 100))).collect();
    let plain: ArrayRef = Arc::new(StringArray::from(texts.clone()));
    let dictionary: ArrayRef =
        Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>());
    let ends = Int32Array::from_iter_values(1..=100);
    let runs: ArrayRef = Arc::new(RunArray::<Int32Type>::try_new(&ends, &plain).unwrap());
    let fields = [("a", &plain), ("b", &dictionary)].map(|(name, column)| {
        (Arc::new(Field::new(name, column.data_type().clone(), true)), Arc::clone(column))
    });
    let both: ArrayRef = Arc::new(StructArray::from(fields.to_vec()));
    for (first, rows) in [(0, 100), (0, 0), (30, 41), (99, 1)] {
        let expected = weight(&plain.slice(first, rows));
        assert_eq!(weight(&dictionary.slice(first, rows)), expected, "{first} {rows}");
        assert_eq!(weight(&runs.slice(first, rows)), expected, "{first} {rows}");
        assert_eq!(weight(&both.slice(first, rows)), 2 * expected, "{first} {rows}");
    }
    // Other values, and a dictionary without any.
    let keys = Int8Array::from(vec![0, 0]);
    assert_eq!(weight(&DictionaryArray::<Int8Type>::new(keys, longs([7]))), 16);
    assert_eq!(weight(&[None::<&str>; 2].into_iter().collect::<DictionaryArray<Int8Type>>()), 16);
}

#[test]
fn a_batch_equals_documents_added_one_by_one() {
    let mut hosts = StringDictionaryBuilder::<Int8Type>::new();
    for host in [Some("b"), None, Some("a"), Some("b")] {
        hosts.append_option(host);
    }
    let cities: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z", "w"]));
    let fields = Fields::from(vec![Field::new("city", DataType::Utf8, false)]);
    let nulls = Some(vec![true, true, false, true].into());
    let all = batch([
        ("size", Arc::new(UInt32Array::from(vec![Some(7), None, Some(9), Some(u32::MAX)]))),
        ("host", Arc::new(hosts.finish())),
        ("tags", lists(&[Some(&[Some(3), Some(1)]), Some(&[]), None, Some(&[Some(5)])])),
        ("geo", Arc::new(StructArray::try_new(fields, vec![cities], nulls).unwrap())),
        ("none", Arc::new(NullArray::new(4))),
        ("at", Arc::new(TimestampSecondArray::from(vec![Some(-1), None, Some(2), Some(3)]))),
    ]);
    let specs = field_specs(&all.schema()).unwrap();
    let mut documents = writer(specs.clone());
    let field = |name: &str| documents.schema().field(name).unwrap();
    let [size, host, tags, city, at] = ["size", "host", "tags", "geo.city", "at"].map(field);
    let mut add = |values: &[(FieldId, i64)], strings: &[(FieldId, &str)]| {
        let mut doc = documents.document();
        for (field, value) in values {
            doc.stored(*field, *value).unwrap();
        }
        for (field, value) in strings {
            doc.str(*field, value).unwrap();
        }
        doc.finish().unwrap();
    };
    add(&[(size, from_u64(7)), (tags, 3), (tags, 1), (at, -1_000)], &[(host, "b"), (city, "x")]);
    add(&[], &[(city, "y")]);
    add(&[(size, from_u64(9)), (at, 2_000)], &[(host, "a")]);
    add(&[(size, from_u64(u32::MAX.into())), (tags, 5), (at, 3_000)], &[(host, "b"), (city, "w")]);
    let expected = documents.finish_bytes().unwrap();

    for split in 0..=4 {
        let mut rows = writer(specs.clone());
        assert_eq!(rows.append(&all.slice(0, split)).unwrap(), DocId::new(0));
        assert_eq!(rows.append(&all.slice(split, 4 - split)).unwrap().get() as usize, split);
        assert_eq!(rows.finish_bytes().unwrap(), expected, "split at {split}");
    }
}

#[test]
fn every_type_has_a_field() {
    use DataType as D;
    use LogicalType as L;
    let item = |ty: DataType| Arc::new(Field::new("item", ty, true));
    let with_extension = |name: &str| {
        let metadata = [("ARROW:extension:name".to_owned(), name.to_owned())];
        Field::new("x", D::FixedSizeBinary(16), true).with_metadata(metadata.into())
    };
    let plain = [
        (D::Boolean, L::Bool, false),
        (D::Int8, L::I64, false),
        (D::UInt64, L::U64, false),
        (D::Float16, L::F64, false),
        (D::Utf8View, L::Utf8, false),
        (D::FixedSizeBinary(16), L::Bytes, false),
        (D::LargeBinary, L::Bytes, false),
        (D::Date64, L::Date, false),
        (D::Timestamp(TimeUnit::Second, Some("+02:00".into())), L::TimestampMillis, false),
        (D::Timestamp(TimeUnit::Microsecond, None), L::TimestampMicros, false),
        (D::Time64(TimeUnit::Nanosecond), L::I64, false),
        (D::Decimal64(9, 2), L::F64, false),
        (D::Decimal128(9, -2), L::I64, false),
        (D::Dictionary(Box::new(D::Int8), Box::new(D::Utf8)), L::Utf8, false),
        (D::LargeList(item(D::Date32)), L::Date, true),
        (D::FixedSizeList(item(D::Float32), 3), L::F64, true),
        (D::ListView(item(D::Utf8)), L::Utf8, true),
        (D::Null, L::Utf8, false),
    ];
    let plain = plain.map(|(ty, logical, multi)| (Field::new("x", ty, true), logical, multi));
    let extensions = [("arrow.uuid", L::Uuid), ("docvalues.ip", L::Ip), ("else", L::Bytes)];
    let extensions = extensions.map(|(name, logical)| (with_extension(name), logical, false));
    for (field, logical, multi_valued) in plain.into_iter().chain(extensions) {
        let specs = field_specs(&ArrowSchema::new(vec![field.clone()])).unwrap();
        let expected = FieldSpec::new("x", logical);
        assert_eq!(specs, [if multi_valued { expected.multi_valued() } else { expected }], "{field}");
    }
}

#[test]
fn unsupported_types_are_named() {
    let item = |ty: DataType| Arc::new(Field::new("item", ty, true));
    let types = [
        DataType::Decimal256(40, 2),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::List(item(DataType::List(item(DataType::Int64)))),
    ];
    for ty in types {
        let schema = Arc::new(ArrowSchema::new(vec![Field::new("x", ty.clone(), true)]));
        let expected = format!("field \"x\": expected a type that a field can hold, found Arrow's type {ty}");
        assert_eq!(field_specs(&schema).unwrap_err().to_string(), expected);
        let mut writer = writer([FieldSpec::new("x", LogicalType::I64).multi_valued()]);
        let refused = writer.append(&RecordBatch::new_empty(schema)).unwrap_err();
        let expected = format!("field \"x\": expected values of type i64, found Arrow's type {ty}");
        assert_eq!(refused.to_string(), expected);
    }
}

#[test]
fn unknown_columns_are_all_named() {
    let one = || longs([1]);
    let mut writer = writer([FieldSpec::new("b", LogicalType::I64), FieldSpec::new("d", LogicalType::I64)]);
    let refused = writer.append(&batch([("a", one()), ("b", one()), ("c", one())])).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::UnknownColumns { names } if names == &["a", "c"]));
    assert_eq!(
        refused.to_string(),
        "the schema has no field \"a\", \"c\": add fields for these columns, or leave them out"
    );
    // A field without a column has no values.
    writer.append(&batch([("b", one())])).unwrap();
    assert_eq!(writer.docs(), 1);

    let names: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
    let many = RecordBatch::try_from_iter(names.iter().map(|name| (name, one()))).unwrap();
    let refused = writer.append(&many).unwrap_err().to_string();
    assert!(refused.contains("\"c9\" and 2 more: "), "{refused}");
}

#[test]
fn a_value_that_does_not_fit_refuses_its_whole_batch() {
    let specs = || [FieldSpec::new("a", LogicalType::I64), FieldSpec::new("x", LogicalType::I64)];
    let good = batch([("a", longs([1, 2])), ("x", longs([3, 4]))]);
    let wide: ArrayRef = Arc::new(UInt64Array::from(vec![Some(5), None, Some(u64::MAX)]));
    let bad = batch([("a", longs([6, 7, 8])), ("x", wide)]);
    let mut clean = writer(specs());
    clean.append(&good).unwrap();
    clean.append(&good).unwrap();

    let mut tried = writer(specs());
    tried.append(&good).unwrap();
    let refused = tried.append(&bad).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "field \"x\", document 4: a value of Arrow's type UInt64 that a field of type i64 cannot hold exactly"
    );
    tried.append(&good).unwrap();
    assert_eq!(tried.finish_bytes().unwrap(), clean.finish_bytes().unwrap());
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let single = || FieldSpec::new("x", LogicalType::I64);
    let list = lists(&[Some(&[Some(1)]), Some(&[None]), None]);
    assert!(refused(single(), Arc::clone(&list)).contains("document 1: a null in a list"));
    assert!(refused(single(), list.slice(0, 1)).contains("declare it `multi_valued`"));
    assert!(refused(single().multi_valued(), list).contains("document 1: a null in a list"));
    let wide = lists(&[None, Some(&[Some(1), Some(-1)])]);
    let refused = refused(FieldSpec::new("x", LogicalType::U64).multi_valued(), wide);
    assert!(refused.starts_with("field \"x\", document 1: a value of Arrow's type List"), "{refused}");

    // The items of a null list are ignored.
    let items = Arc::new(Int64Array::from(vec![Some(-1), None, Some(3), Some(4)]));
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let list = FixedSizeListArray::try_new(item, 2, items, Some(vec![false, true].into())).unwrap();
    let mut writer = writer([FieldSpec::new("x", LogicalType::U64).multi_valued()]);
    writer.append(&batch([("x", Arc::new(list))])).unwrap();
    let (_, summary) = writer.finish().unwrap();
    assert_eq!((summary.columns[0].values(), summary.columns[0].docs_with_value()), (2, 1));
}

#[test]
fn fields_take_other_types_exactly() {
    let takes = |logical, array: ArrayRef| {
        let mut writer = writer([FieldSpec::new("x", logical)]);
        writer.append(&batch([("x", array)])).map(drop)
    };
    takes(LogicalType::U64, longs([0, i64::MAX])).unwrap();
    takes(LogicalType::Utf8, Arc::new(BinaryArray::from(vec![b"ok".as_slice()]))).unwrap();
    takes(LogicalType::Ip, Arc::new(BinaryArray::from(vec![[0; 16].as_slice()]))).unwrap();
    takes(LogicalType::TimestampMillis, Arc::new(TimestampNanosecondArray::from(vec![2_000_000]))).unwrap();
    takes(LogicalType::TimestampMillis, Arc::new(TimestampNanosecondArray::from(vec![2_000_001])))
        .unwrap_err();
    takes(LogicalType::U64, longs([-1])).unwrap_err();
    takes(LogicalType::Utf8, Arc::new(BinaryArray::from(vec![b"\xff".as_slice()]))).unwrap_err();
    takes(LogicalType::Uuid, Arc::new(BinaryArray::from(vec![[0; 15].as_slice()]))).unwrap_err();
    // Integers do not convert to doubles.
    let refused = takes(LogicalType::F64, longs([1])).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::ArrowType { logical: Some(LogicalType::F64), .. }));
}
