//! `write`: a segment file from data of Arrow.

use std::path::PathBuf;

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use docvalues::writer::arrow::{field_specs, weight};
use docvalues::writer::{FinishError, IdOptions};
use docvalues::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::arguments::{self, Data, Names};
use crate::errors::{Result, argument, no_column, wrong_value};
use crate::interrupt::{refuse_fork, tell};
use crate::text;

/// The most rows that are added at once.
const ROWS: usize = 1 << 16;

/// The most bytes of values that are added at once: an eighth of the writer's default budget, half of which is for a batch.
const BYTES: usize = 32 << 20;

/// Writes a segment file, batch by batch, and returns its number of documents.
///
///     >>> dv.write("hits.dv", {"host": ["b", "a"], "client": ["10.0.0.7", "::1"]}, types={"client": "ip"})
///     2
#[pyfunction]
#[pyo3(signature = (path, data, *, sort_by = None, id_field = None, types = None, threads = None, memory = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn write(
    py: Python<'_>,
    path: PathBuf,
    data: Bound<'_, PyAny>,
    sort_by: Option<Names>,
    id_field: Option<String>,
    types: Option<Bound<'_, PyMapping>>,
    #[pyo3(from_py_with = arguments::optional_count::<usize>)] threads: Option<usize>,
    #[pyo3(from_py_with = arguments::optional_count::<usize>)] memory: Option<usize>,
    #[pyo3(from_py_with = arguments::progress)] progress: Option<Py<PyAny>>,
) -> Result<u32> {
    refuse_fork()?;
    let types = Types::of(types.as_ref())?;
    let data = Data::of(&data, |name| types.are_doubles(name))?;
    let mut options = WriterOptions::new().threads(threads.unwrap_or(0));
    options.budget = memory.unwrap_or(options.budget);
    py.detach(|| -> Result<u32> {
        // A stream is released without the GIL, too, as that may wait for its threads.
        let mut data = data;
        let mut schema = Schema::new();
        for field in types.fields(&data.schema()?)? {
            schema.add(field)?;
        }
        let names: Vec<String> = schema.iter().map(|(_, field)| field.name().to_owned()).collect();
        let mut writer = SegmentWriter::create(path, schema, options)?;
        if let Some(name) = &id_field {
            let field = writer.schema().field(name).ok_or_else(|| no_column(name))?;
            writer.id_field(field, IdOptions::default())?;
        }
        if let Some(keys) = sort_by {
            writer.sort_by(arguments::sort_keys(keys, &names))?;
        }
        each_slice(&mut data, &types, BYTES.min(options.budget / 8), progress.as_ref(), |rows, _| {
            writer.append(rows)?;
            Ok(())
        })?;
        Ok(writer.finish().map_err(FinishError::into_error)?.docs)
    })
}

/// The types of columns that have others than those of the data.
pub(crate) struct Types(Vec<(String, LogicalType)>);

impl Types {
    pub(crate) fn of(types: Option<&Bound<'_, PyMapping>>) -> Result<Types> {
        let mut all = Vec::new();
        for (name, ty) in arguments::names_of_types(types)? {
            match arguments::type_of(&ty)? {
                (logical, false) => all.push((name, logical)),
                (_, true) => {
                    return Err(argument(format!(
                        "expected the type of the items of column {name:?}, found {ty:?}"
                    )));
                }
            }
        }
        Ok(Types(all))
    }

    /// The types of the columns of a store.
    pub(crate) fn of_fields<'f>(fields: impl IntoIterator<Item = &'f docvalues::Field>) -> Types {
        Types(fields.into_iter().map(|field| (field.name.clone(), field.logical)).collect())
    }

    pub(crate) fn get(&self, column: &str) -> Option<LogicalType> {
        self.0.iter().find(|(name, _)| name == column).map(|(_, logical)| *logical)
    }

    /// Whether the values of a column are doubles.
    pub(crate) fn are_doubles(&self, column: &str) -> bool {
        self.get(column) == Some(LogicalType::F64)
    }

    /// The fields of a schema with these types.
    pub(crate) fn fields(&self, schema: &ArrowSchema) -> Result<Vec<FieldSpec>> {
        let mut fields = field_specs(schema)?;
        for (name, logical) in &self.0 {
            let field = fields.iter_mut().find(|field| field.name() == name);
            let field = field.ok_or_else(|| no_column(name))?;
            let of_type = FieldSpec::new(name, *logical);
            *field = if field.is_multi_valued() { of_type.multi_valued() } else { of_type };
        }
        Ok(fields)
    }
}

/// Fields by the names of their types.
pub(crate) fn declared(types: &Bound<'_, PyAny>) -> Result<Vec<FieldSpec>> {
    let Ok(types) = types.cast::<PyMapping>() else {
        return Err(argument(
            "expected a schema with __arrow_c_schema__, such as one of polars or pyarrow, or a mapping of types",
        ));
    };
    let mut fields = Vec::new();
    for (name, ty) in arguments::names_of_types(Some(types))? {
        let (logical, is_list) = arguments::type_of(&ty)?;
        let field = FieldSpec::new(name, logical);
        fields.push(if is_list { field.multi_valued() } else { field });
    }
    Ok(fields)
}

/// Passes the rows of data in slices, with the number of rows before each. Between them, `progress` gets that number, and
/// Ctrl-C its turn. Call it detached.
pub(crate) fn each_slice(
    data: &mut Data,
    types: &Types,
    bytes: usize,
    progress: Option<&Py<PyAny>>,
    mut each: impl FnMut(&RecordBatch, u64) -> Result<()>,
) -> Result<()> {
    let mut rows = 0;
    while let Some(batch) = data.next()? {
        let mut first = 0;
        while first < batch.num_rows() {
            let slice = fitting(&batch, first, bytes);
            each(&text::parsed(&slice, rows, |name| types.get(name))?, rows)?;
            first += slice.num_rows();
            rows += slice.num_rows() as u64;
            tell(progress, rows)?;
        }
    }
    Ok(())
}

/// Refuses rows without an id in the column `name`. They follow so many others.
pub(crate) fn require_ids(rows: &RecordBatch, name: &str, before: u64) -> Result<()> {
    let Some(ids) = rows.column_by_name(name) else {
        // It may be a field of a struct.
        return if name.contains('.') { Ok(()) } else { Err(no_column(name)) };
    };
    let nulls = ids.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    match nulls.and_then(|nulls| nulls.iter().position(|is_valid| !is_valid)) {
        Some(row) => Err(wrong_value(name, before + row as u64, "expected an id, found none")),
        None => Ok(()),
    }
}

/// The next rows of a batch, of about so many bytes.
fn fitting(batch: &RecordBatch, first: usize, bytes: usize) -> RecordBatch {
    let mut slice = batch.slice(first, ROWS.min(batch.num_rows() - first));
    while slice.num_rows() > 1 && slice.columns().iter().map(|column| weight(column)).sum::<usize>() > bytes {
        slice = slice.slice(0, slice.num_rows() / 2);
    }
    slice
}
