use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_schema::TimeUnit;
use docvalues_column::{DocId, Kind, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};
use docvalues_testkit::model::{Cell, MemSource, ModelColumn};
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

use super::*;
use crate::{Docs, Search};

/// A value of an array as it is stored in a column; absent where it is null.
#[derive(Debug, PartialEq)]
enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
    Several(Vec<Stored>),
}

fn stored(array: &dyn Array, at: usize) -> Option<Stored> {
    use Stored::{Bytes, Number};
    array.is_valid(at).then(|| match array.data_type() {
        DataType::Int64 => Number(array.as_primitive::<Int64Type>().value(at)),
        DataType::UInt64 => {
            let value = array.as_primitive::<UInt64Type>().value(at);
            Number(docvalues_format::file::kind::from_u64(value))
        }
        DataType::Float64 => {
            let value = array.as_primitive::<Float64Type>().value(at);
            Number(docvalues_format::file::kind::from_f64(value))
        }
        DataType::Boolean => Number(i64::from(array.as_boolean().value(at))),
        DataType::Date32 => Number(array.as_primitive::<Date32Type>().value(at).into()),
        DataType::Timestamp(unit, Some(zone)) if **zone == *"UTC" => Number(match unit {
            TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(at),
            TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(at),
            TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(at),
            TimeUnit::Second => panic!("no such column"),
        }),
        DataType::FixedSizeBinary(16) => Bytes(array.as_fixed_size_binary().value(at).to_vec()),
        DataType::Utf8 => Bytes(array.as_string::<i32>().value(at).as_bytes().to_vec()),
        DataType::Utf8View => Bytes(array.as_string_view().value(at).as_bytes().to_vec()),
        DataType::BinaryView => Bytes(array.as_binary_view().value(at).to_vec()),
        DataType::Binary => Bytes(array.as_binary::<i32>().value(at).to_vec()),
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int32Type>();
            let key = array.keys().value(at) as usize;
            stored(array.values(), key).unwrap()
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(at);
            Stored::Several((0..items.len()).map(|at| stored(&items, at).unwrap()).collect())
        }
        other => panic!("{other}"),
    })
}

fn expected(cell: Cell<'_>) -> Option<Stored> {
    let bytes = |bytes: &[u8]| Stored::Bytes(bytes.to_vec());
    match cell {
        Cell::Missing => None,
        Cell::Number(number) => Some(Stored::Number(number)),
        Cell::Bytes(value) => Some(bytes(value)),
        Cell::Numbers(numbers) => {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            Some(Stored::Several(numbers.into_iter().map(Stored::Number).collect()))
        }
        Cell::Set(set) => Some(Stored::Several(set.iter().map(|value| bytes(value)).collect())),
    }
}

#[track_caller]
fn check(batches: Batches<'_>, docs: &[DocId], dataset: &Dataset) {
    let schema = RecordBatchReader::schema(&batches);
    let mut at = 0;
    for batch in batches {
        let batch = batch.unwrap();
        assert_eq!(batch.schema(), schema);
        for (row, doc) in docs[at..at + batch.num_rows()].iter().enumerate() {
            assert_eq!(batch.column(0).as_primitive::<UInt32Type>().value(row), doc.get());
            for ((field, column), array) in dataset.columns.iter().zip(&batch.columns()[1..]) {
                let found = stored(array, row);
                assert_eq!(found, expected(column.cell(doc.get())), "{} of {doc:?}", field.name);
            }
        }
        at += batch.num_rows();
    }
    assert_eq!(at, docs.len());
}

fn check_all(dataset: &Dataset, docs: &[DocId], rows: usize) {
    let source = dataset.source();
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    let export = || Search::new(&source).export(docs, &names).unwrap().chunk_rows(rows);
    check(export().batches().doc_ids("_doc"), docs, dataset);
    for layout in [StringLayout::Views, StringLayout::Dictionary] {
        check(export().batches().strings_as(layout).doc_ids("_doc"), docs, dataset);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_documents(
        dataset in any_dataset(6),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        beyond in any::<bool>(),
        rows in 1..150_usize,
    ) {
        // Shapes make days that have no 32 bits.
        let mut dataset = dataset;
        for (field, column) in &mut dataset.columns {
            if let (LogicalType::Date, ModelColumn::Numeric(slots)) = (field.logical, &mut *column) {
                slots.iter_mut().flatten().for_each(|day| *day %= 1 << 31);
            }
            if let (LogicalType::Date, ModelColumn::SortedNumeric(slots)) = (field.logical, column) {
                slots.iter_mut().flatten().for_each(|day| *day %= 1 << 31);
            }
        }
        let docs = picks.iter().filter(|_| dataset.docs > 0).map(|pick| pick.index(dataset.docs as usize));
        let mut docs: Vec<DocId> = docs.map(|doc| DocId::new(u32::try_from(doc).unwrap())).collect();
        docs.extend(beyond.then_some(DocId::new(dataset.docs)));
        check_all(&dataset, &docs, rows);
    }
}

#[test]
fn every_kind_and_type() {
    let dataset = small_of_every_kind();
    let docs: Vec<DocId> = (0..dataset.docs).step_by(7).chain(60..2000).rev().map(DocId::new).collect();
    check_all(&dataset, &docs, 10_000);
    assert_eq!((to_u64(i64::MIN), to_f64(0)), (0, 0.0));
}

fn one(field: docvalues_column::Field, column: ModelColumn) -> MemSource {
    MemSource::new(3, [(field, column)])
}

fn error_of(source: &MemSource, layout: StringLayout) -> String {
    let batches = Search::new(source).export(Docs::All, &["c"]).unwrap().batches();
    let mut batches = batches.strings_as(layout);
    let error = batches.next().unwrap().unwrap_err().to_string();
    assert!(batches.next().is_none());
    error
}

#[test]
fn values_invalid_for_their_type_are_errors() {
    let field = |kind, logical| docvalues_column::Field::new("c", kind, logical);
    // Good as a whole, but not each by itself.
    let bad = || vec![Some(b"ok".to_vec()), Some(b"\xc3".to_vec()), Some(b"\xa9".to_vec())];
    let text = "column \"c\": document 1 has text that is not UTF-8";
    let binary = one(field(Kind::Binary, LogicalType::Utf8), ModelColumn::Binary(bad()));
    assert!(error_of(&binary, StringLayout::Offsets).contains(text));
    let sorted = one(field(Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(bad()));
    assert!(error_of(&sorted, StringLayout::Offsets).contains(text));
    for layout in [StringLayout::Views, StringLayout::Dictionary] {
        let error = error_of(&sorted, layout);
        assert!(error.contains("document 2 has text that is not UTF-8"), "{error}");
    }
    let sets = bad().into_iter().map(|value| value.into_iter().collect()).collect();
    let sets = one(field(Kind::SortedSet, LogicalType::Utf8), ModelColumn::SortedSet(sets));
    assert!(error_of(&sets, StringLayout::Offsets).contains(text));
    let short =
        one(field(Kind::Binary, LogicalType::Uuid), ModelColumn::Binary(vec![None, Some(vec![1; 15])]));
    assert!(
        error_of(&short, StringLayout::Offsets).contains("document 1 has a value that is not 16 bytes long")
    );
    let far = one(
        field(Kind::Numeric, LogicalType::Date),
        ModelColumn::Numeric(vec![Some(1), None, Some(1 << 31)]),
    );
    assert!(error_of(&far, StringLayout::Offsets).contains("document 2 has a day beyond"));
}

#[test]
fn one_long_string_for_many_rows_makes_many_batches() {
    let field = docvalues_column::Field::new("c", Kind::Binary, LogicalType::Bytes);
    let source = one(field, ModelColumn::Binary(vec![Some(vec![7; 1 << 20])]));
    let docs = vec![DocId::new(0); 300];
    let batches = Search::new(&source).export(&docs, &["c"]).unwrap().batches();
    let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
    assert!(rows.len() >= 3 && rows.iter().sum::<usize>() == 300, "{rows:?}");
}

#[test]
fn fields_say_whether_values_may_be_missing() {
    let field = |name: &str| docvalues_column::Field::new(name, Kind::Numeric, LogicalType::I64);
    let columns = [(field("all"), vec![Some(1); 2]), (field("some"), vec![Some(1)])];
    let source = MemSource::new(2, columns.map(|(field, slots)| (field, ModelColumn::Numeric(slots))));
    let nullable = |docs: &[DocId]| {
        let batches = Search::new(&source).export(docs, &["all", "some"]).unwrap().batches();
        RecordBatchReader::schema(&batches)
            .fields()
            .iter()
            .map(|field| field.is_nullable())
            .collect::<Vec<_>>()
    };
    assert_eq!(nullable(&[DocId::new(0)]), [false, true]);
    assert_eq!(nullable(&[DocId::new(2)]), [true, true]);
}
