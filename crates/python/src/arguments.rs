//! Arguments of Python as requests: names of columns, sort keys, conditions, types, numbers of documents and ids.

use std::fmt::Display;
use std::path::PathBuf;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch, downcast_integer_array};
use arrow_schema::DataType;
use docvalues::search::arrow::StringLayout;
use docvalues::search::calendar::CalendarStep;
use docvalues::search::group::Metric;
use docvalues::search::histogram::Step;
use docvalues::search::query::Literal;
use docvalues::search::{Query, Search};
use docvalues::writer::arrow::{FlatArray, for_each};
use docvalues::{LogicalType, SortKey};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyMapping, PyMemoryView, PyString};

use crate::capsules::Arrays;
use crate::errors::{Failure, Result, argument, wrong_type};
use crate::python_values;
use crate::text::id_of_text;

/// A name, or several.
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'py> FromPyObject<'_, 'py> for Names {
    type Error = PyErr;

    fn extract(names: Borrowed<'_, 'py, PyAny>) -> PyResult<Names> {
        one_or_many(&names, "a name or a list of names").map(Names)
    }
}

/// A path, or several.
pub(crate) fn paths(paths: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    one_or_many(paths, "a path or a list of paths")
}

/// A percentile, or several.
pub(crate) fn percentiles(percentiles: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    one_or_many(percentiles, "a percentile or a list of percentiles")
}

/// The value of an object, or those of an iterable.
fn one_or_many<'py, T: FromPyObjectOwned<'py>>(
    object: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<Vec<T>> {
    if let Ok(one) = object.extract::<T>() {
        return Ok(vec![one]);
    }
    let each =
        |item: PyResult<Bound<'py, PyAny>>| -> PyResult<T> { item?.extract::<T>().map_err(Into::into) };
    let many = object.try_iter().and_then(|items| items.map(each).collect::<PyResult<Vec<T>>>());
    many.map_err(|error| match error.is_instance_of::<PyTypeError>(object.py()) {
        true => wrong_type(expected, object),
        false => error,
    })
}

/// A number that is not negative. pyo3 refuses others by an `OverflowError`.
pub(crate) fn count<T: TryFrom<u64>>(number: &Bound<'_, PyAny>) -> PyResult<T> {
    let fitting = match number.extract::<u64>() {
        Ok(count) => T::try_from(count).ok(),
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => None,
        Err(error) => return Err(error),
    };
    fitting.ok_or_else(|| argument(format!("expected a number from 0 to 2^64 - 1, found {number}")).into())
}

/// As [`count`], or `None`.
pub(crate) fn optional_count<T: TryFrom<u64>>(number: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if number.is_none() { Ok(None) } else { count(number).map(Some) }
}

/// The bytes that values begin with, as text or bytes, or `None`.
pub(crate) fn prefix(prefix: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if prefix.is_none() {
        return Ok(None);
    }
    if let Ok(bytes) = prefix.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    let text = prefix.extract::<String>().map_err(|_| wrong_type("a prefix as str or bytes", prefix))?;
    Ok(Some(text.into_bytes()))
}

/// The documents of a condition; all without one.
pub(crate) fn condition(text: Option<&str>) -> Result<Query> {
    Ok(text.map(Query::parse).transpose()?.unwrap_or(Query::All))
}

/// Sort keys: `-size`, `size:missing-first`. A text that is the name of a column as it stands is that name.
pub(crate) fn sort_keys(keys: Names, columns: &[String]) -> Vec<SortKey> {
    let is_column = |text: &str| columns.iter().any(|column| column == text);
    let direction = |text: &str| match text.strip_prefix('-') {
        Some(name) if !is_column(text) => SortKey::of(name).descending(),
        _ => SortKey::of(text),
    };
    let key = |text: &String| {
        let bare = |end: &str| text.strip_suffix(end).filter(|_| !is_column(text));
        match (bare(":missing-first"), bare(":missing-last")) {
            (Some(text), _) => direction(text).missing_first(),
            (None, Some(text)) => direction(text),
            (None, None) => direction(text),
        }
    };
    keys.0.iter().map(key).collect()
}

/// Metrics by their names, such as `sum(size)`.
pub(crate) fn metrics(names: &[String]) -> Result<Vec<Metric>> {
    let metric = |name: &String| {
        let unknown = || {
            argument(format!(
                "expected sum, min, max, mean, distinct or a percentile of a column, such as p99(size), or first(url by time) or last, found {name:?}"
            ))
        };
        Metric::from_name(name).ok_or_else(unknown)
    };
    names.iter().map(metric).collect()
}

/// The layout of strings.
pub(crate) fn strings(name: &str) -> Result<StringLayout> {
    match name {
        "offsets" => Ok(StringLayout::Offsets),
        "views" => Ok(StringLayout::Views),
        "dictionary" => Ok(StringLayout::Dictionary),
        _ => Err(argument(format!("expected strings as offsets, views or dictionary, found {name:?}"))),
    }
}

/// The function that is called after each batch; `None` without one.
pub(crate) fn progress(progress: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    match progress.is_callable() {
        true => Ok(Some(progress.clone().unbind())),
        false if progress.is_none() => Ok(None),
        false => Err(wrong_type("a function that gets a number, as progress", progress)),
    }
}

/// The columns of a mapping, and the names of their types.
pub(crate) fn names_of_types(types: Option<&Bound<'_, PyMapping>>) -> Result<Vec<(String, String)>> {
    types.map_or(Ok(Vec::new()), |types| Ok(types.items()?.extract::<Vec<(String, String)>>()?))
}

/// A type, and whether documents may have several of its values: `i64`, `list<string>`.
pub(crate) fn type_of(name: &str) -> Result<(LogicalType, bool)> {
    let item = name.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>'));
    let wanted = item.unwrap_or(name);
    let logical = LogicalType::ALL.into_iter().find(|logical| logical.name() == wanted);
    let unknown = || {
        let names = LogicalType::ALL.map(LogicalType::name).join(", ");
        argument(format!("expected a type of {names}, or a list<…> of one, found {name:?}"))
    };
    Ok((logical.ok_or_else(unknown)?, item.is_some()))
}

/// The buckets of a histogram of `column`: a width, a step of the calendar, or edges.
pub(crate) fn step(search: &Search<'_>, column: &str, step: &Bound<'_, PyAny>) -> Result<Step> {
    if let Ok(text) = step.extract::<String>() {
        return Ok(Step::every(CalendarStep::parse(&text)?));
    }
    if let Ok(width) = step.extract::<u64>() {
        return Ok(Step::Whole(width));
    }
    if let Ok(width) = step.extract::<f64>() {
        return Ok(Step::Width(width));
    }
    let edges = step.try_iter().map_err(|_| wrong_type("a width, a step or edges", step))?;
    let edges = edges.map(|edge| literal(&edge?)).collect::<Result<Vec<_>>>()?;
    let first = || search.retriever(&[column]).map(|retriever| retriever.fields().next().cloned());
    let field = step.py().detach(first)?.ok_or_else(|| argument("expected a column"))?;
    Ok(Step::edges(&field, &edges)?)
}

/// A value as in a query. Dates and datetimes are their text.
fn literal(value: &Bound<'_, PyAny>) -> Result<Literal> {
    Ok(if value.is_instance_of::<PyBool>() {
        Literal::Bool(value.extract()?)
    } else if value.is_instance_of::<PyInt>() {
        let number = value.extract::<i128>();
        Literal::Int(number.map_err(|_| argument(format!("expected a number of 128 bits, found {value}")))?)
    } else if value.is_instance_of::<PyFloat>() {
        Literal::Float(value.extract()?)
    } else if let Ok(number) = value.extract::<i128>() {
        // One of numpy.
        Literal::Int(number)
    } else if let Some(text) = value.getattr_opt("isoformat")? {
        Literal::Text(text.call0()?.extract()?)
    } else {
        let text = value.extract::<String>();
        Literal::Text(text.map_err(|_| wrong_type("numbers, dates or text", value))?)
    })
}

/// Data to write: batches of Arrow, or a mapping of names to lists.
pub(crate) enum Data {
    Arrow(Arrays),
    Lists(Option<RecordBatch>),
}

impl Data {
    /// The batches of an object. Integers in lists become doubles in the columns that `are_doubles`.
    pub(crate) fn of(data: &Bound<'_, PyAny>, are_doubles: impl Fn(&str) -> bool) -> Result<Data> {
        if let Some(arrays) = Arrays::of(data)? {
            return Ok(Data::Arrow(arrays));
        }
        let Ok(columns) = data.cast::<PyMapping>() else {
            let found = data.get_type().name()?;
            return Err(argument(format!(
                "expected data with __arrow_c_stream__, such as a table of polars or pyarrow, or a mapping of lists, found {found}"
            )));
        };
        Ok(Data::Lists(Some(python_values::batch(columns, are_doubles)?)))
    }

    pub(crate) fn schema(&self) -> Result<arrow_schema::Schema> {
        match self {
            Data::Arrow(arrays) => arrays.schema(),
            Data::Lists(Some(batch)) => Ok(batch.schema().as_ref().clone()),
            Data::Lists(None) => Ok(arrow_schema::Schema::empty()),
        }
    }

    /// The next batch. May run Python code: call it detached.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self {
            Data::Arrow(arrays) => arrays.next_batch(),
            Data::Lists(batch) => Ok(batch.take()),
        }
    }
}

/// Numbers of documents: integers of Arrow, of numpy or another buffer, or of Python.
pub(crate) fn doc_numbers(docs: &Bound<'_, PyAny>) -> Result<Vec<u64>> {
    if let Some(arrays) = Arrays::of(docs)? {
        let mut numbers = Vec::new();
        arrays.for_each(docs.py(), |array| add_integers(only_column(&array).as_ref(), &mut numbers))?;
        return Ok(numbers);
    }
    if docs.hasattr("mask")? {
        // A masked array of numpy, whose buffer has what is masked, too.
        return numbers_of_list(&docs.call_method0("tolist")?);
    }
    match PyMemoryView::from(docs) {
        Ok(memory) => of_memory(&memory),
        Err(_) => numbers_of_list(docs),
    }
}

fn numbers_of_list(docs: &Bound<'_, PyAny>) -> Result<Vec<u64>> {
    let number = |number: PyResult<Bound<'_, PyAny>>| {
        let number = number?;
        // Python takes a bool as 0 or 1, but a list of them is a mask.
        let found = if number.is_instance_of::<PyBool>() { None } else { Some(number.extract::<i64>()) };
        match found {
            Some(Ok(number)) => doc_number(number),
            Some(Err(error)) if error.is_instance_of::<PyOverflowError>(number.py()) => {
                Err(no_document(&number))
            }
            _ => Err(wrong_type("numbers of documents", &number).into()),
        }
    };
    docs.try_iter()?.map(number).collect()
}

/// The column of a table that has one; any other array itself.
fn only_column(array: &ArrayRef) -> &ArrayRef {
    match array.as_struct_opt().map(|table| table.columns()) {
        Some([column]) => column,
        _ => array,
    }
}

fn doc_number(number: impl Into<i128>) -> Result<u64> {
    let number = number.into();
    u64::try_from(number).map_err(|_| no_document(&number))
}

fn no_document(number: &dyn Display) -> Failure {
    PyIndexError::new_err(format!("there is no document {number}")).into()
}

fn add_integers(array: &dyn Array, numbers: &mut Vec<u64>) -> Result<()> {
    if array.logical_null_count() > 0 {
        return Err(argument("expected numbers of documents, found nulls"));
    }
    downcast_integer_array!(
        array => add_numbers(array, numbers),
        DataType::Null => Ok(()),
        ty => Err(argument(format!("expected numbers of documents, found an array of {ty}"))),
    )
}

fn add_numbers<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, numbers: &mut Vec<u64>) -> Result<()>
where
    T::Native: Into<i128>,
{
    numbers.reserve(array.len());
    for number in array.values() {
        numbers.push(doc_number(*number)?);
    }
    Ok(())
}

/// The integers of a `memoryview`.
fn of_memory(memory: &Bound<'_, PyMemoryView>) -> Result<Vec<u64>> {
    let format: String = memory.getattr("format")?.extract()?;
    let (size, dimensions): (usize, usize) =
        (memory.getattr("itemsize")?.extract()?, memory.getattr("ndim")?.extract()?);
    let kind = format.trim_start_matches(['@', '=', '<']);
    let is_signed = match kind {
        "b" | "h" | "i" | "l" | "q" | "n" => true,
        "B" | "H" | "I" | "L" | "Q" | "N" => false,
        _ => return Err(argument(format!("expected numbers of documents, found a buffer of {format:?}"))),
    };
    if dimensions != 1 || !(1..=8).contains(&size) {
        return Err(argument("expected numbers of documents in one dimension"));
    }
    let bytes = memory.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
    let number = |item: &[u8]| {
        let fill = if is_signed && item.last().is_some_and(|last| *last >= 0x80) { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..size].copy_from_slice(item);
        match is_signed {
            true => doc_number(i64::from_le_bytes(wide)),
            false => Ok(u64::from_le_bytes(wide)),
        }
    };
    memory.py().detach(|| bytes.chunks_exact(size).map(number).collect())
}

/// Ids of a column of type `logical`, as stored: text, bytes, or arrays of them; `None` for a null.
pub(crate) fn ids(ids: &Bound<'_, PyAny>, logical: LogicalType) -> Result<Vec<Option<Vec<u8>>>> {
    let Some(arrays) = Arrays::of(ids)? else { return ids_of_list(ids, logical) };
    let mut stored = Vec::new();
    arrays.for_each(ids.py(), |array| add_ids(&array, logical, &mut stored))?;
    Ok(stored)
}

fn add_ids(array: &ArrayRef, logical: LogicalType, stored: &mut Vec<Option<Vec<u8>>>) -> Result<()> {
    let FlatArray { items, lists: None, .. } = FlatArray::of(only_column(array))? else {
        return Err(argument("expected ids as strings or bytes, found lists"));
    };
    let is_text = match items.data_type() {
        DataType::Null => {
            stored.resize(stored.len() + items.len(), None);
            return Ok(());
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => false,
        DataType::FixedSizeBinary(_) => false,
        ty => return Err(argument(format!("expected ids as strings or bytes, found an array of {ty}"))),
    };
    let mut failed = Ok(());
    for_each(items.as_ref(), |id| {
        let id = id.map(|id| match str::from_utf8(id) {
            Ok(text) if is_text => id_of_text(text, logical),
            _ => Ok(id.to_vec()),
        });
        match id.transpose() {
            Ok(id) => stored.push(id),
            Err(error) => failed = Err(error),
        }
    });
    failed
}

fn ids_of_list(ids: &Bound<'_, PyAny>, logical: LogicalType) -> Result<Vec<Option<Vec<u8>>>> {
    if ids.is_instance_of::<PyString>() || ids.is_instance_of::<PyBytes>() {
        return Err(argument("expected a list of ids, found one id"));
    }
    let mut stored = Vec::new();
    for id in ids.try_iter()? {
        let id = id?;
        stored.push(match id.cast::<PyBytes>() {
            Ok(bytes) => Some(bytes.as_bytes().to_vec()),
            Err(_) if id.is_none() => None,
            // A `uuid.UUID` and an `ipaddress.IPv4Address` are their text.
            Err(_) if logical.fixed_len().is_some() => {
                Some(id_of_text(&id.str()?.extract::<String>()?, logical)?)
            }
            Err(_) => {
                let text = id.extract::<String>().map_err(|_| wrong_type("ids as str or bytes", &id))?;
                Some(id_of_text(&text, logical)?)
            }
        });
    }
    Ok(stored)
}
