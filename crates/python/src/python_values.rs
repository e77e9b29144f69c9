//! Lists of Python as Arrow arrays, and values of Arrow arrays in Python.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, NullArray,
    RecordBatch, RecordBatchOptions, StringArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use arrow_select::concat::concat;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict as _, PyBool, PyBytes, PyFloat, PyInt, PyList, PyMapping, PyTuple};

use crate::capsules::Arrays;
use crate::errors::{Failure, Result, argument, wrong_type};
use crate::text::{addresses, field_of, text_of};

/// The ordinal of 1970-01-01 in Python.
const ORDINAL_OF_1970: i32 = 719_163;

/// The days after which the calendar is the same again, and years.
const CYCLE: (i128, i128) = (146_097, 400);

/// The microseconds of a day.
const DAY: i128 = 86_400_000_000;

/// A year that Python does not have: an error, or the text of the date.
#[derive(Clone, Copy)]
pub(crate) enum OtherYears {
    Error,
    Text,
}

/// A value of an array, of which a dictionary is decoded. IP addresses and UUIDs are text; timestamps to the nanosecond are
/// integers, as Python has no type for them.
pub(crate) fn value<'py>(
    py: Python<'py>,
    array: &dyn Array,
    field: &Field,
    row: usize,
    others: OtherYears,
) -> Result<Bound<'py, PyAny>> {
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py)?,
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into_bound_py_any(py)?,
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py)?,
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into_bound_py_any(py)?,
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py)?,
        DataType::Utf8View => array.as_string_view().value(row).into_bound_py_any(py)?,
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any(),
        DataType::BinaryView => PyBytes::new(py, array.as_binary_view().value(row)).into_any(),
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(row);
            match text_of(field, bytes) {
                Some(text) => text.into_bound_py_any(py)?,
                None => PyBytes::new(py, bytes).into_any(),
            }
        }
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            let date = py.import("datetime")?.getattr("date")?;
            let of = |days: i128| date.call_method1("fromordinal", (days + i128::from(ORDINAL_OF_1970),));
            in_any_year(days.into(), CYCLE.0, of, others)?
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let millis = array.as_primitive::<TimestampMillisecondType>().value(row);
            moment(py, i128::from(millis) * 1_000, others)?
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            moment(py, array.as_primitive::<TimestampMicrosecondType>().value(row).into(), others)?
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().value(row).into_bound_py_any(py)?
        }
        DataType::List(item) => {
            let (items, list) = (array.as_list::<i32>().value(row), PyList::empty(py));
            for at in 0..items.len() {
                list.append(value(py, &items, item, at, others)?)?;
            }
            list.into_any()
        }
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int32Type>();
            let place = array.key(row).unwrap_or(0);
            value(py, array.values(), field, place, others)?
        }
        ty => return Err(PyTypeError::new_err(format!("{ty} has no type in Python: use Arrow")).into()),
    })
}

/// A moment, so many microseconds after 1970.
fn moment(py: Python<'_>, micros: i128, others: OtherYears) -> PyResult<Bound<'_, PyAny>> {
    let (span, epoch) = (py.import("datetime")?.getattr("timedelta")?, epoch(py)?);
    in_any_year(micros, CYCLE.0 * DAY, |micros| epoch.add(span.call1((0, 0, micros))?), others)
}

/// The date or moment of a count from 1970 on. In a year that Python does not have, its text is that of the same day of another
/// cycle of the calendar, except for the year.
fn in_any_year<'py>(
    count: i128,
    cycle: i128,
    of: impl Fn(i128) -> PyResult<Bound<'py, PyAny>>,
    others: OtherYears,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(found) = of(count) {
        return Ok(found);
    }
    let same = of(count.rem_euclid(cycle))?;
    let year = same.getattr("year")?.extract::<i128>()? + CYCLE.1 * count.div_euclid(cycle);
    let same = same.str()?;
    let text = same.to_string_lossy();
    let text = format!("{year:04}{}", text.trim_start_matches(|c: char| c.is_ascii_digit()));
    match others {
        OtherYears::Text => text.into_bound_py_any(same.py()),
        OtherYears::Error => Err(PyValueError::new_err(format!(
            "expected a year from 1 to 9999, which Python has, found {text}: use Arrow"
        ))),
    }
}

/// The beginning of 1970, in UTC.
fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(py, || {
        let datetime = py.import("datetime")?;
        let utc = datetime.getattr("timezone")?.getattr("utc")?;
        let keywords = [("tzinfo", utc)].into_py_dict(py)?;
        let epoch = datetime.getattr("datetime")?.call((1970, 1, 1), Some(&keywords))?;
        Ok::<_, PyErr>(epoch.unbind())
    })?;
    Ok(epoch.bind(py))
}

/// Columns in lists as a record batch. Integers become doubles in the columns that `are_doubles`.
pub(crate) fn batch(
    columns: &Bound<'_, PyMapping>,
    are_doubles: impl Fn(&str) -> bool,
) -> Result<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::<Field>::new(), Vec::<ArrayRef>::new());
    for item in columns.items()?.iter() {
        let (name, values): (String, Bound<'_, PyAny>) = item.extract()?;
        let column = column(&name, &values, are_doubles(&name));
        let (field, array) = column.map_err(|error| error.in_column(columns.py(), &name))?;
        if let (Some(first), Some(of_first)) = (fields.first(), arrays.first())
            && of_first.len() != array.len()
        {
            let (expected, first) = (of_first.len(), first.name());
            let what = format!("expected {expected} values, as in column {first:?}, found {}", array.len());
            return Err(argument(what).in_column(columns.py(), &name));
        }
        fields.push(field);
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(arrays.first().map_or(0, Array::len)));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
}

/// A list, or an array of Arrow or numpy, as an array and its field.
fn column(name: &str, values: &Bound<'_, PyAny>, are_doubles: bool) -> Result<(Field, ArrayRef)> {
    if let Some(arrays) = Arrays::of(values)? {
        let (field, mut chunks) = (arrays.field().clone().with_name(name).with_nullable(true), Vec::new());
        arrays.for_each(values.py(), |chunk| {
            chunks.push(chunk);
            Ok(())
        })?;
        let array = match chunks.as_slice() {
            [] => arrow_array::new_empty_array(field.data_type()),
            chunks => {
                let chunks: Vec<&dyn Array> = chunks.iter().map(|chunk| &**chunk).collect();
                values.py().detach(|| concat(&chunks))?
            }
        };
        return Ok((field, array));
    }
    if let Some(times) = times_of_numpy(values)? {
        return Ok((Field::new(name, times.data_type().clone(), true), times));
    }
    match values.getattr_opt("tolist")? {
        Some(to_list) => column_of_list(name, &to_list.call0()?, are_doubles),
        None => column_of_list(name, values, are_doubles),
    }
}

fn column_of_list(name: &str, values: &Bound<'_, PyAny>, are_doubles: bool) -> Result<(Field, ArrayRef)> {
    if let Some((logical, array)) = addresses(values)? {
        return Ok((field_of(name, logical), array));
    }
    let array = array_of_list(values, are_doubles)?;
    Ok((Field::new(name, array.data_type().clone(), true), array))
}

/// Times of numpy, of which some are integers in a list of Python; `None` of other values. Records, which are tuples there, are
/// refused.
fn times_of_numpy(values: &Bound<'_, PyAny>) -> Result<Option<ArrayRef>> {
    if !values.get_type().module()?.extract::<String>()?.starts_with("numpy") {
        return Ok(None);
    }
    let Some(dtype) = values.getattr_opt("dtype")? else { return Ok(None) };
    if !dtype.getattr("names")?.is_none() {
        return Err(PyTypeError::new_err("expected a list of values, found records of numpy").into());
    }
    let dtype: String = dtype.getattr("str")?.extract()?;
    // The order of the bytes comes first.
    let unit = dtype.get(1..).unwrap_or_default();
    if unit == "M8[ns]" {
        let counts = values.call_method1("astype", ("int64",))?.call_method0("tolist")?;
        // The least integer is NaT.
        let counts = counts.extract::<Vec<Option<i64>>>()?.into_iter();
        let times = counts.map(|count| count.filter(|count| *count != i64::MIN));
        return Ok(Some(Arc::new(times.collect::<TimestampNanosecondArray>().with_timezone("UTC"))));
    }
    if !unit.starts_with("M8") && !unit.starts_with("m8") {
        return Ok(None);
    }
    let list = values.call_method0("tolist")?;
    for value in list.try_iter()? {
        if value?.is_instance_of::<PyInt>() {
            let message =
                format!("expected times to the nanosecond, found {unit} of numpy, or a year beyond 9999");
            return Err(PyTypeError::new_err(message).into());
        }
    }
    array_of_list(&list, false).map(Some)
}

fn array_of_list(values: &Bound<'_, PyAny>, are_doubles: bool) -> Result<ArrayRef> {
    if let Ok(values) = values.extract::<Vec<Option<bool>>>() {
        return Ok(match values.iter().all(Option::is_none) {
            true => Arc::new(NullArray::new(values.len())),
            false => Arc::new(BooleanArray::from(values)),
        });
    }
    if !are_doubles && let Ok(numbers) = values.extract::<Vec<Option<i64>>>() {
        // Python takes a bool as 0 or 1.
        if numbers.iter().any(|number| matches!(number, Some(0 | 1))) {
            no_bool(values)?;
        }
        return Ok(Arc::new(Int64Array::from(numbers)));
    }
    if !are_doubles && let Ok(numbers) = values.extract::<Vec<Option<u64>>>() {
        no_bool(values)?;
        return Ok(Arc::new(UInt64Array::from(numbers)));
    }
    if let Ok(values) = values.extract::<Vec<Option<String>>>() {
        return Ok(Arc::new(StringArray::from(values)));
    }
    let items = values.extract::<Vec<Option<Bound<'_, PyAny>>>>();
    let values = items.map_err(|_| wrong_type("a list of values", values))?;
    let present = || values.iter().flatten();
    if !are_doubles && present().all(|value| value.is_instance_of::<PyInt>()) {
        return Err(argument("expected integers that all are i64 or all are u64"));
    }
    if present().all(|value| value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>()) {
        return Ok(Arc::new(values.iter().map(double).collect::<Result<Float64Array>>()?));
    }
    if present().all(|value| value.is_instance_of::<PyBytes>()) {
        let bytes = |value: &Option<Bound<'_, PyAny>>| {
            value.as_ref().map(|value| value.extract::<Vec<u8>>()).transpose()
        };
        return Ok(Arc::new(values.iter().map(bytes).collect::<PyResult<BinaryArray>>()?));
    }
    if present().all(|value| value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
        return lists(&values, are_doubles);
    }
    moments(&values)
}

/// Refuses a bool among numbers.
fn no_bool(numbers: &Bound<'_, PyAny>) -> Result<()> {
    for number in numbers.try_iter()? {
        if number?.is_instance_of::<PyBool>() {
            return Err(bool_and_numbers());
        }
    }
    Ok(())
}

fn bool_and_numbers() -> Failure {
    PyTypeError::new_err("expected values of one type, found bool and numbers").into()
}

/// A number as a double, which an integer may not be.
fn double(value: &Option<Bound<'_, PyAny>>) -> Result<Option<f64>> {
    let Some(value) = value else { return Ok(None) };
    if value.is_instance_of::<PyBool>() {
        return Err(bool_and_numbers());
    }
    let number: f64 = value.extract()?;
    if value.is_instance_of::<PyInt>() && !value.eq(number)? {
        return Err(argument(format!("expected numbers that are doubles, found {value}")));
    }
    Ok(Some(number))
}

fn lists(values: &[Option<Bound<'_, PyAny>>], are_doubles: bool) -> Result<ArrayRef> {
    let (mut items, mut lens) = (Vec::new(), Vec::new());
    for list in values {
        let before = items.len();
        if let Some(list) = list {
            for item in list.try_iter()? {
                items.push(item?);
            }
        }
        lens.push(items.len() - before);
    }
    let Some(first) = items.first() else {
        // An empty list is a missing value.
        return Ok(Arc::new(NullArray::new(values.len())));
    };
    let (item, items) = column_of_list("item", PyList::new(first.py(), &items)?.as_any(), are_doubles)?;
    let nulls = NullBuffer::from_iter(values.iter().map(Option::is_some));
    Ok(Arc::new(ListArray::try_new(Arc::new(item), OffsetBuffer::from_lengths(lens), items, Some(nulls))?))
}

/// Dates, or datetimes; one without a zone is in UTC.
fn moments(values: &[Option<Bound<'_, PyAny>>]) -> Result<ArrayRef> {
    let Some(first) = values.iter().flatten().next() else {
        return Ok(Arc::new(NullArray::new(values.len())));
    };
    let py = first.py();
    let datetime = py.import("datetime")?;
    let (moment, date) = (datetime.getattr("datetime")?, datetime.getattr("date")?);
    let utc = datetime.getattr("timezone")?.getattr("utc")?;
    let (mut micros, mut days) = (Vec::new(), Vec::new());
    for value in values {
        let value = match value {
            // NaT of pandas, which is a datetime, equals nothing.
            Some(value) if value.eq(value)? => value,
            _ => {
                micros.push(None);
                days.push(None);
                continue;
            }
        };
        if value.is_instance(&moment)? {
            let value = match value.getattr("tzinfo")?.is_none() {
                true => {
                    let keywords = [("tzinfo", &utc)].into_py_dict(py)?;
                    value.call_method("replace", (), Some(&keywords))?
                }
                false => value.clone(),
            };
            // One of pandas.
            if let Some(nanos) = value.getattr_opt("nanosecond")?
                && nanos.extract::<i64>()? != 0
            {
                return Err(argument(format!(
                    "expected times to the microsecond, found {value}: pass them as Arrow"
                )));
            }
            let span = value.sub(epoch(py)?)?;
            let number = |name: &str| span.getattr(name)?.extract::<i64>();
            let seconds = number("days")? * 86_400 + number("seconds")?;
            micros.push(Some(seconds * 1_000_000 + number("microseconds")?));
        } else if value.is_instance(&date)? {
            let ordinal: i32 = value.call_method0("toordinal")?.extract()?;
            days.push(Some(ordinal - ORDINAL_OF_1970));
        } else {
            let expected = "values of one type, of bool, int, float, str, bytes, date, datetime, UUIDs, IP addresses, or lists of these";
            return Err(wrong_type(expected, value).into());
        }
    }
    if micros.len() == values.len() {
        Ok(Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC")))
    } else if days.len() == values.len() {
        Ok(Arc::new(Date32Array::from(days)))
    } else {
        Err(PyTypeError::new_err("expected dates or datetimes, found both").into())
    }
}
