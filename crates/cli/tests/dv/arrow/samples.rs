//! Columns of every Arrow type, and what `dv export` has to make of them.

use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, FixedSizeListBuilder, Int64Builder, ListBuilder, ListViewBuilder, StringBuilder,
    StringDictionaryBuilder, StringRunBuilder, UInt8Builder,
};
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{Field, Schema};
use half::f16;

/// A column: its name, its array, the type that `dv info` shows, and the JSON of each row, empty where the row has
/// none.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) array: ArrayRef,
    pub(crate) ty: &'static str,
    pub(crate) rows: [&'static str; 4],
    /// Whether Parquet has the type.
    pub(crate) in_parquet: bool,
}

fn sample(
    name: &'static str,
    ty: &'static str,
    array: impl Array + 'static,
    rows: [&'static str; 4],
) -> Sample {
    Sample { name, array: Arc::new(array), ty, rows, in_parquet: true }
}

fn with<T>(a: T, b: T, d: T) -> Vec<Option<T>> {
    vec![Some(a), Some(b), None, Some(d)]
}

/// Some of each scalar type; the third row has no value.
pub(crate) fn scalars() -> Vec<Sample> {
    let day = 86_400_000;
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    fixed.append_value([0, 255]).unwrap();
    fixed.append_value([1, 2]).unwrap();
    fixed.append_null();
    fixed.append_value([0, 0]).unwrap();
    let texts = [Some("b"), Some(""), None, Some("é\"")];
    let texts_out = [r#""b""#, r#""""#, "", r#""é\"""#];
    let bytes: [Option<&[u8]>; 4] = [Some(b"\x00\xff"), Some(b""), None, Some(b"abc")];
    let bytes_out = [r#""00ff""#, r#""""#, "", r#""616263""#];
    vec![
        sample(
            "bool",
            "bool",
            BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]),
            ["true", "false", "", "true"],
        ),
        sample("int8", "i64", Int8Array::from(with(i8::MIN, 0, i8::MAX)), ["-128", "0", "", "127"]),
        sample("int16", "i64", Int16Array::from(with(i16::MIN, 0, i16::MAX)), ["-32768", "0", "", "32767"]),
        sample(
            "int32",
            "i64",
            Int32Array::from(with(i32::MIN, 0, i32::MAX)),
            ["-2147483648", "0", "", "2147483647"],
        ),
        sample(
            "int64",
            "i64",
            Int64Array::from(with(i64::MIN, 0, i64::MAX)),
            ["-9223372036854775808", "0", "", "9223372036854775807"],
        ),
        sample("uint8", "u64", UInt8Array::from(with(0, 1, u8::MAX)), ["0", "1", "", "255"]),
        sample("uint16", "u64", UInt16Array::from(with(0, 1, u16::MAX)), ["0", "1", "", "65535"]),
        sample("uint32", "u64", UInt32Array::from(with(0, 1, u32::MAX)), ["0", "1", "", "4294967295"]),
        sample(
            "uint64",
            "u64",
            UInt64Array::from(with(0, 1 << 63, u64::MAX)),
            ["0", "9223372036854775808", "", "18446744073709551615"],
        ),
        sample(
            "float16",
            "f64",
            Float16Array::from(with(f16::from_f32(1.5), f16::from_f32(-0.0), f16::MAX)),
            ["1.5", "-0.0", "", "65504.0"],
        ),
        sample(
            "float32",
            "f64",
            Float32Array::from(with(0.5, -1.25, 16_777_216.0)),
            ["0.5", "-1.25", "", "16777216.0"],
        ),
        sample(
            "float64",
            "f64",
            Float64Array::from(with(0.1, -1e300, f64::NAN)),
            ["0.1", "-1e300", "", "null"],
        ),
        sample("utf8", "string", StringArray::from(texts.to_vec()), texts_out),
        sample("large_utf8", "string", LargeStringArray::from(texts.to_vec()), texts_out),
        sample("utf8_view", "string", StringViewArray::from(texts.to_vec()), texts_out),
        sample("binary", "bytes", BinaryArray::from(bytes.to_vec()), bytes_out),
        sample("large_binary", "bytes", LargeBinaryArray::from(bytes.to_vec()), bytes_out),
        sample("binary_view", "bytes", BinaryViewArray::from(bytes.to_vec()), bytes_out),
        sample("fixed_binary", "bytes", fixed.finish(), [r#""00ff""#, r#""0102""#, "", r#""0000""#]),
        sample(
            "date32",
            "date",
            Date32Array::from(with(0, -1, 15_706)),
            [r#""1970-01-01""#, r#""1969-12-31""#, "", r#""2013-01-01""#],
        ),
        sample(
            "date64",
            "date",
            Date64Array::from(with(0, -day, 15_706 * day)),
            [r#""1970-01-01""#, r#""1969-12-31""#, "", r#""2013-01-01""#],
        ),
        sample(
            "timestamp_s",
            "timestamp[ms]",
            TimestampSecondArray::from(with(0, -1, 1_357_020_000)).with_timezone("UTC"),
            [r#""1970-01-01T00:00:00Z""#, r#""1969-12-31T23:59:59Z""#, "", r#""2013-01-01T06:00:00Z""#],
        ),
        sample(
            "timestamp_ms",
            "timestamp[ms]",
            TimestampMillisecondArray::from(with(0, -1, 1_357_020_000_000)).with_timezone("+02:00"),
            [
                r#""1970-01-01T02:00:00+02:00""#,
                r#""1970-01-01T01:59:59.999+02:00""#,
                "",
                r#""2013-01-01T08:00:00+02:00""#,
            ],
        ),
        sample(
            "timestamp_us",
            "timestamp[us]",
            TimestampMicrosecondArray::from(with(0, -1, 1_357_020_000_000_000)),
            [r#""1970-01-01T00:00:00""#, r#""1969-12-31T23:59:59.999999""#, "", r#""2013-01-01T06:00:00""#],
        ),
        sample(
            "timestamp_ns",
            "timestamp[ns]",
            TimestampNanosecondArray::from(with(0, -1, i64::MAX)).with_timezone("Europe/Berlin"),
            [
                r#""1970-01-01T00:00:00Z""#,
                r#""1969-12-31T23:59:59.999999999Z""#,
                "",
                r#""2262-04-11T23:47:16.854775807Z""#,
            ],
        ),
        sample("time32_s", "i64", Time32SecondArray::from(with(0, 1, 86_399)), ["0", "1", "", "86399"]),
        sample(
            "time32_ms",
            "i64",
            Time32MillisecondArray::from(with(0, 1, 86_399_999)),
            ["0", "1", "", "86399999"],
        ),
        sample(
            "time64_us",
            "i64",
            Time64MicrosecondArray::from(with(0, 1, 86_399_999_999)),
            ["0", "1", "", "86399999999"],
        ),
        sample(
            "time64_ns",
            "i64",
            Time64NanosecondArray::from(with(0, 1, 86_399_999_999_999)),
            ["0", "1", "", "86399999999999"],
        ),
        sample("duration_s", "i64", DurationSecondArray::from(with(0, -1, 5)), ["0", "-1", "", "5"]),
        sample("duration_ms", "i64", DurationMillisecondArray::from(with(0, -1, 5)), ["0", "-1", "", "5"]),
        sample("duration_us", "i64", DurationMicrosecondArray::from(with(0, -1, 5)), ["0", "-1", "", "5"]),
        sample("duration_ns", "i64", DurationNanosecondArray::from(with(0, -1, 5)), ["0", "-1", "", "5"]),
        sample(
            "decimal32",
            "f64",
            Decimal32Array::from(with(1_250, -1, 0)).with_precision_and_scale(9, 2).unwrap(),
            ["12.50", "-0.01", "", "0.00"],
        ),
        sample(
            "decimal64",
            "f64",
            Decimal64Array::from(with(123_456_789_012_345, -1, 0)).with_precision_and_scale(18, 3).unwrap(),
            ["123456789012.345", "-0.001", "", "0.000"],
        ),
        sample(
            "decimal128",
            "f64",
            Decimal128Array::from(with(12_500_000_000_000_000_000, -10, 0))
                .with_precision_and_scale(38, 18)
                .unwrap(),
            ["12.500000000000000000", "-0.000000000000000010", "", "0.000000000000000000"],
        ),
        sample(
            "decimal_whole",
            "i64",
            Decimal128Array::from(with(i64::MAX.into(), i64::MIN.into(), 0))
                .with_precision_and_scale(38, 0)
                .unwrap(),
            ["9223372036854775807", "-9223372036854775808", "", "0"],
        ),
        Sample {
            // Parquet has no negative scales.
            in_parquet: false,
            ..sample(
                "decimal_round",
                "i64",
                Decimal128Array::from(with(5, -7, 0)).with_precision_and_scale(10, -3).unwrap(),
                ["5000", "-7000", "", "0"],
            )
        },
        sample("dictionary", "string", dictionary(texts), texts_out),
        Sample { in_parquet: false, ..sample("run_end_encoded", "string", runs(texts), texts_out) },
    ]
}

fn dictionary(texts: [Option<&str>; 4]) -> DictionaryArray<Int8Type> {
    let mut builder = StringDictionaryBuilder::new();
    texts.into_iter().for_each(|text| builder.append_option(text));
    builder.finish()
}

fn runs(texts: [Option<&str>; 4]) -> RunArray<Int32Type> {
    let mut builder = StringRunBuilder::new();
    texts.into_iter().for_each(|text| builder.append_option(text));
    builder.finish()
}

/// Lists; one is empty, one is not there.
pub(crate) fn lists() -> Vec<Sample> {
    let numbers = [Some(vec![2, 1, 2]), Some(vec![]), None, Some(vec![-5])];
    let numbers_out = ["[1,2,2]", "", "", "[-5]"];
    let add = |values: &[i64], builder: &mut Int64Builder| builder.append_slice(values);

    let mut list = ListBuilder::new(StringBuilder::new());
    for texts in [Some(vec!["b", "a", "b"]), Some(vec![]), None, Some(vec![""])] {
        texts.iter().flatten().for_each(|text| list.values().append_value(text));
        list.append(texts.is_some());
    }
    let mut large = builder::LargeListBuilder::new(Int64Builder::new());
    let mut view = ListViewBuilder::new(Int64Builder::new());
    for row in &numbers {
        let values = row.as_deref().unwrap_or_default();
        add(values, large.values());
        large.append(row.is_some());
        add(values, view.values());
        view.append(row.is_some());
    }
    let mut fixed = FixedSizeListBuilder::new(UInt8Builder::new(), 2);
    for row in [Some([7, 3]), Some([1, 1]), None, Some([0, 255])] {
        fixed.values().append_slice(&row.unwrap_or_default());
        fixed.append(row.is_some());
    }
    let mut dictionaries = ListBuilder::new(StringDictionaryBuilder::<Int16Type>::new());
    for texts in [Some(vec!["z", "y"]), Some(vec!["z"]), None, Some(vec![])] {
        texts.iter().flatten().for_each(|text| dictionaries.values().append_value(text));
        dictionaries.append(texts.is_some());
    }
    vec![
        sample("list", "string", list.finish(), [r#"["a","b"]"#, "", "", r#"[""]"#]),
        sample("large_list", "i64", large.finish(), numbers_out),
        Sample { in_parquet: false, ..sample("list_view", "i64", view.finish(), numbers_out) },
        sample("fixed_list", "u64", fixed.finish(), ["[3,7]", "[1,1]", "", "[0,255]"]),
        sample("list_of_dictionary", "string", dictionaries.finish(), [r#"["y","z"]"#, r#"["z"]"#, "", ""]),
    ]
}

/// Rows with these columns.
pub(crate) fn batch(samples: &[Sample]) -> RecordBatch {
    let field = |sample: &Sample| Field::new(sample.name, sample.array.data_type().clone(), true);
    let schema = Schema::new(samples.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), samples.iter().map(|sample| sample.array.clone()).collect())
        .unwrap()
}

type Write = fn(&RecordBatch) -> Vec<u8>;

/// Names of files, and what writes such ones.
pub(crate) const FORMATS: [(&str, Write); 3] =
    [("a.parquet", parquet), ("a.arrow", ipc_file), ("a.arrows", ipc_stream)];

/// A file in each format, by its name.
pub(crate) fn files(batch: &RecordBatch) -> [(&'static str, Vec<u8>); 3] {
    FORMATS.map(|(name, write)| (name, write(batch)))
}

pub(crate) fn parquet(batch: &RecordBatch) -> Vec<u8> {
    use ::parquet::arrow::ArrowWriter;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn ipc_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn ipc_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}
