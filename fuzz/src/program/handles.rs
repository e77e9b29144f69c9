//! Answers of the typed handles of a segment.

use docvalues::column::{Lists, Number, Result, bits};
use docvalues::{
    Binary, Field, Kind, LogicalType, Numeric, Segment, Sorted, SortedNumeric, SortedSet, TermOrd,
};

use super::answer::{Answer, Item, Question, Scanned, Value, filtered, ords_of};

/// The answer of the handle of a column, or `None` if it has no method for the question.
///
/// # Errors
///
/// If the column is damaged.
pub(super) fn ask_handle(segment: &Segment, field: &Field, question: &Question) -> Result<Option<Answer>> {
    let name = &field.name;
    match (field.kind, field.logical) {
        (Kind::Numeric, LogicalType::I64) => numeric(&segment.numeric(name)?, question),
        (Kind::Numeric, LogicalType::U64) => numeric(&segment.typed::<u64>(name)?, question),
        (Kind::Numeric, LogicalType::F64) => numeric(&segment.typed::<f64>(name)?, question),
        (Kind::Numeric, _) => numeric(&segment.stored(name)?, question),
        (Kind::SortedNumeric, LogicalType::I64) => lists(&segment.sorted_numeric(name)?, question),
        (Kind::SortedNumeric, LogicalType::U64) => lists(&segment.typed_lists::<u64>(name)?, question),
        (Kind::SortedNumeric, LogicalType::F64) => lists(&segment.typed_lists::<f64>(name)?, question),
        (Kind::SortedNumeric, _) => lists(&segment.stored_lists(name)?, question),
        (Kind::Sorted, _) => sorted(&segment.sorted(name)?, question),
        (Kind::SortedSet, _) => sorted_set(&segment.sorted_set(name)?, question),
        (Kind::Binary, _) => binary(&segment.binary(name)?, question),
    }
}

/// Values with the presence bits of their documents.
fn with_present<T: Item>(values: &[T], present: &[u64]) -> impl Iterator<Item = Value> {
    values.chunks(1).enumerate().map(|(at, value)| Value::of(bits::get(present, at).then_some(value)))
}

fn numeric<T: Number>(column: &Numeric<T>, question: &Question) -> Result<Option<Answer>> {
    let value = |value: Option<T>| Value::from(value.map(T::to_stored));
    let stored = |values: &[T]| values.iter().map(|value| value.to_stored()).collect::<Vec<_>>();
    Ok(Some(match question {
        Question::Get(docs) => Answer::of_each(docs, |doc| column.get(doc).map(value))?,
        Question::Gather(docs) => {
            let mut out = vec![T::from_stored(7); docs.len()];
            let mut present = vec![0xAA; docs.len().div_ceil(64)];
            column.gather(docs, &mut out, &mut present)?;
            Answer::of_docs(docs, with_present(&stored(&out), &present))
        }
        Question::GatherOr(docs, fill) => {
            let mut out = vec![T::from_stored(7); docs.len()];
            column.gather_or(docs, &mut out, T::from_stored(*fill))?;
            Answer::of_docs(docs, stored(&out).into_iter().map(Value::Number))
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            column.scan(*docs, |docs, values| {
                scanned.take(docs, stored(values).into_iter().map(Value::Number))
            })?;
            scanned.finish()
        }
        Question::Filter(docs, values, pattern) => {
            let stored = column.stored();
            filtered(*docs, *pattern, |bits| stored.range(values.clone()).within(*docs).collect_into(bits))?
        }
        _ => return Ok(None),
    }))
}

fn lists<T: Number>(column: &SortedNumeric<T>, question: &Question) -> Result<Option<Answer>> {
    let value = |list: &[T]| Value::of_list(&list.iter().map(|value| value.to_stored()).collect::<Vec<_>>());
    // Not cleared: a list replaces the contents.
    let mut out = vec![T::from_stored(7)];
    Ok(Some(match question {
        Question::Get(docs) => Answer::of_each(docs, |doc| column.get(doc, &mut out).map(|()| value(&out)))?,
        Question::Gather(docs) => {
            let mut lists = Lists::new();
            column.gather(docs, &mut lists)?;
            Answer::of_docs(docs, lists.slices().iter().map(value))
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            column.scan(*docs, |docs, lists| scanned.take(docs, lists.iter().map(value)))?;
            scanned.finish()
        }
        _ => return Ok(None),
    }))
}

fn sorted(column: &Sorted, question: &Question) -> Result<Option<Answer>> {
    let value = |ord: Option<TermOrd>| Value::of(ord.as_slice().first().map(std::slice::from_ref));
    Ok(Some(match question {
        Question::Get(docs) => Answer::of_each(docs, |doc| column.ord(doc).map(value))?,
        Question::Gather(docs) => {
            let mut out = vec![TermOrd::new(7); docs.len()];
            let mut present = vec![0xAA; docs.len().div_ceil(64)];
            column.gather(docs, &mut out, &mut present)?;
            Answer::of_docs(docs, with_present(&out, &present))
        }
        Question::GatherOr(docs, fill) => {
            let mut out = vec![TermOrd::new(7); docs.len()];
            column.gather_or(docs, &mut out, TermOrd::fill(*fill))?;
            Answer::of_docs(docs, out.chunks(1).map(TermOrd::value))
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            column.scan(*docs, |docs, ords| scanned.take(docs, ords.chunks(1).map(TermOrd::value)))?;
            scanned.finish()
        }
        Question::Filter(docs, values, pattern) => {
            let filter = column.range(ords_of(values)).within(*docs);
            filtered(*docs, *pattern, |bits| filter.collect_into(bits))?
        }
        _ => return Ok(None),
    }))
}

fn sorted_set(column: &SortedSet, question: &Question) -> Result<Option<Answer>> {
    // Not cleared: a list replaces the contents.
    let mut out = vec![TermOrd::new(7)];
    Ok(Some(match question {
        Question::Get(docs) => {
            Answer::of_each(docs, |doc| column.ords(doc, &mut out).map(|()| Value::of_list(&out)))?
        }
        Question::Gather(docs) => {
            let mut lists = Lists::new();
            column.gather(docs, &mut lists)?;
            Answer::of_docs(docs, lists.slices().iter().map(Value::of_list))
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            column.scan(*docs, |docs, lists| scanned.take(docs, lists.iter().map(Value::of_list)))?;
            scanned.finish()
        }
        _ => return Ok(None),
    }))
}

fn binary(column: &Binary, question: &Question) -> Result<Option<Answer>> {
    let (mut buffer, mut lists) = (Vec::new(), Lists::new());
    Ok(Some(match question {
        Question::Get(docs) => Answer::of_each(docs, |doc| Ok(Value::of(column.get(doc, &mut buffer)?)))?,
        Question::Gather(docs) => {
            let mut present = vec![0xAA; docs.len().div_ceil(64)];
            column.gather(docs, &mut lists, &mut present)?;
            let values = lists.slices().iter().enumerate();
            let value = |(at, value)| Value::of(bits::get(&present, at).then_some(value));
            Answer::of_docs(docs, values.map(value))
        }
        Question::GatherOr(docs, fill) => {
            let fill = fill.to_le_bytes();
            column.gather_or(docs, &mut lists, &fill)?;
            let mut values = Vec::new();
            for (at, doc) in docs.iter().enumerate() {
                let value = column.get(*doc, &mut buffer)?;
                assert_eq!(
                    lists.get(at),
                    value.unwrap_or(&fill),
                    "gathered with something in place of a value"
                );
                values.push(Value::of(value));
            }
            Answer::of_docs(docs, values)
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            column.scan(*docs, |docs, strings| scanned.take(docs, strings.iter().map(u8::value)))?;
            scanned.finish()
        }
        Question::FilterBytes(docs, (low, high)) => {
            let [low, high] = [low, high].map(|bound| bound.as_ref().map(Vec::as_slice));
            let filter = column.range(low, high).within(*docs);
            filtered(*docs, 0, |bits| filter.collect_into(bits))?
        }
        _ => return Ok(None),
    }))
}
