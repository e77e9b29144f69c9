//! [`Table`] and [`Schema`]: rows and types in memory, as Arrow.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use docvalues::Field;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyCapsule, PyDict, PyIterator, PyList, PyTuple};

use crate::capsules::{batch_capsules, schema_capsule, stream_capsule};
use crate::errors::{Failure, Result, argument};
use crate::python_values::{self, OtherYears};

/// The rows that `repr` shows.
const SHOWN: usize = 20;

/// The characters of a value that it shows.
const CHARACTERS: usize = 1_000;

/// Rows in memory.
///
///     >>> docs = dv.write("hits.dv", {"host": ["a", None, "a"]})
///     >>> dv.open("hits.dv").facet("host").to_pydict()
///     {'host': ['a'], 'count': [2]}
#[pyclass(frozen, module = "docvalues")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    info: Vec<(&'static str, u64)>,
}

/// Names and types of columns.
///
///     >>> docs = dv.write("hits.dv", {"tags": [["x", "y"]]})
///     >>> dv.open("hits.dv").schema.types
///     {'tags': 'list<string>'}
#[pyclass(frozen, module = "docvalues")]
pub(crate) struct Schema {
    schema: SchemaRef,
    types: Vec<(String, String)>,
}

impl Table {
    /// A table of batches of `schema`, with totals of the answer.
    pub(crate) fn new(
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        info: impl IntoIterator<Item = (&'static str, u64)>,
    ) -> Table {
        Table { schema, batches, info: info.into_iter().collect() }
    }

    /// The first rows as lists of cells.
    fn cells(&self, py: Python<'_>) -> Result<Vec<Vec<String>>> {
        let mut rows = Vec::new();
        for batch in &self.batches {
            for row in 0..batch.num_rows().min(SHOWN - rows.len()) {
                let cells = self.schema.fields().iter().zip(batch.columns());
                let cells = cells.map(|(field, column)| -> Result<String> {
                    let value = python_values::value(py, column, field, row, OtherYears::Text)?;
                    Ok(shortened(&value.str()?.to_string_lossy()))
                });
                rows.push(cells.collect::<Result<Vec<String>>>()?);
            }
        }
        Ok(rows)
    }

    fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Totals of the answer.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.info.iter().copied().into_py_dict(py)
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    /// The columns as lists of Python.
    fn to_pydict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (at, field) in self.schema.fields().iter().enumerate() {
            if columns.contains(field.name())? {
                let name = field.name();
                return Err(argument(format!(
                    "expected columns of different names, found two {name:?}: use Arrow"
                )));
            }
            let values = PyList::empty(py);
            for batch in &self.batches {
                py.check_signals()?;
                for row in 0..batch.num_rows() {
                    let value = python_values::value(py, batch.column(at), field, row, OtherYears::Error)?;
                    values.append(value)?;
                }
            }
            columns.set_item(field.name(), values)?;
        }
        Ok(columns)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyCapsule>> {
        // A consumer converts what it wants otherwise.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok::<RecordBatch, ArrowError>);
        stream_capsule(py, RecordBatchIterator::new(batches, Arc::clone(&self.schema)))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyTuple>> {
        drop(requested_schema);
        let whole = match self.batches.as_slice() {
            [batch] => batch.clone(),
            batches => py.detach(|| concat_batches(&self.schema, batches)).map_err(in_one_batch)?,
        };
        batch_capsules(py, whole)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let mut lines = vec![self.columns().join("\t")];
        lines.extend(self.cells(py)?.iter().map(|row| row.join("\t")));
        if self.len() > SHOWN {
            lines.push(format!("… {} rows", self.len()));
        }
        Ok(lines.join("\n"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> Result<String> {
        let more = self.len().checked_sub(SHOWN).filter(|more| *more > 0);
        let more = more.map_or_else(String::new, |more| format!("<p>… and {more} rows more</p>"));
        Ok(html(&self.columns(), &self.cells(py)?) + &more)
    }
}

impl Schema {
    /// The schema of columns, with the names of their types.
    pub(crate) fn new<'f>(schema: SchemaRef, fields: impl IntoIterator<Item = &'f Field>) -> Schema {
        let types = fields.into_iter().map(|field| (field.name.clone(), type_name(field)));
        Schema { schema, types: types.collect() }
    }

    /// The names and types.
    pub(crate) fn html(&self) -> String {
        let rows: Vec<_> = self.types.iter().map(|(name, ty)| vec![name.clone(), ty.clone()]).collect();
        html(&["column", "type"], &rows)
    }
}

#[pymethods]
impl Schema {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The types by name, as conditions call them.
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.types.iter().map(|(name, ty)| (name.as_str(), ty.as_str())).into_py_dict(py)
    }

    fn __len__(&self) -> usize {
        self.schema.fields().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names())?.try_iter()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        let lines = self.types.iter().map(|(name, ty)| format!("{name}: {ty}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A type as docs/query.md calls it.
pub(crate) fn type_name(field: &Field) -> String {
    match field.kind.is_multi_valued() {
        true => format!("list<{}>", field.logical.name()),
        false => field.logical.name().to_owned(),
    }
}

/// The error of rows that are no single batch, whose strings have offsets of 32 bits.
fn in_one_batch(error: ArrowError) -> Failure {
    match error {
        ArrowError::OffsetOverflowError(_) => argument(
            "expected a batch with less than 2 GiB of strings in each column, found more: read a stream, as pa.table does",
        ),
        error => error.into(),
    }
}

/// The beginning of a long text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn html(names: &[&str], rows: &[Vec<String>]) -> String {
    let head = html_row("th", names.iter().copied());
    let body: String = rows.iter().map(|cells| html_row("td", cells.iter().map(String::as_str))).collect();
    format!("<table><thead>{head}</thead><tbody>{body}</tbody></table>")
}

fn html_row<'c>(tag: &str, cells: impl Iterator<Item = &'c str>) -> String {
    let cells: String = cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
    format!("<tr>{cells}</tr>")
}

/// Text within HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
