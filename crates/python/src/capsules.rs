//! Arrow's C data interface in PyCapsules: data of other libraries in, ours out, without a copy and without pyarrow.
#![expect(unsafe_code, reason = "capsules hold pointers to structs whose owner is another library")]

use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, make_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{Failure, Result, argument, unread, wrong_column};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The capsule of `__arrow_c_schema__`.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> Result<Bound<'py, PyCapsule>> {
    Ok(PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema)?, SCHEMA)?)
}

/// The capsules of `__arrow_c_array__`.
pub(crate) fn batch_capsules(py: Python<'_>, batch: RecordBatch) -> Result<Bound<'_, PyTuple>> {
    let schema = schema_capsule(py, &batch.schema())?;
    let array = FFI_ArrowArray::new(&StructArray::from(batch).to_data());
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    Ok(PyTuple::new(py, [schema, array])?)
}

/// The capsule of `__arrow_c_stream__`.
pub(crate) fn stream_capsule<R: RecordBatchReader + Send + 'static>(
    py: Python<'_>,
    batches: R,
) -> Result<Bound<'_, PyCapsule>> {
    Ok(PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)?)
}

/// Arrays of another library, one after the other. [`next`](Self::next) may run Python code: call it detached.
pub(crate) struct Arrays {
    field: Field,
    source: Source,
}

enum Source {
    Array(Option<ArrayRef>),
    Stream(FFI_ArrowArrayStream),
}

impl Arrays {
    /// Those of an object with `__arrow_c_stream__` or `__arrow_c_array__`; `None` of others.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> Result<Option<Arrays>> {
        if let Some(method) = data.getattr_opt("__arrow_c_stream__")? {
            refuse_objects(data)?;
            let stream = take_stream(&capsule(&method.call0()?)?)?;
            return data.py().detach(|| Arrays::of_stream(stream)).map(Some);
        }
        let Some(method) = data.getattr_opt("__arrow_c_array__")? else { return Ok(None) };
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = method.call0()?.extract()?;
        let field = read_field(&capsule(&schema)?)?;
        let array = imported(take_array(&capsule(&array)?)?, field.data_type())?;
        Ok(Some(Arrays { field, source: Source::Array(Some(array)) }))
    }

    fn of_stream(mut stream: FFI_ArrowArrayStream) -> Result<Arrays> {
        // Whoever moves a stream away may leave its other members as they are.
        let get_schema = stream.release.and(stream.get_schema).ok_or_else(released)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and `schema` is to be written to.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(last_error(&mut stream, code));
        }
        Ok(Arrays { field: field_of(&schema)?, source: Source::Stream(stream) })
    }

    /// The type of the arrays, and the metadata of an extension type.
    pub(crate) fn field(&self) -> &Field {
        &self.field
    }

    /// The columns of tables.
    pub(crate) fn schema(&self) -> Result<Schema> {
        match self.field.data_type() {
            DataType::Struct(fields) => Ok(Schema::new(fields.clone())),
            found => Err(argument(format!("expected a table, found an array of {found}"))),
        }
    }

    /// The next array.
    pub(crate) fn next(&mut self) -> Result<Option<ArrayRef>> {
        let stream = match &mut self.source {
            Source::Array(array) => return Ok(array.take()),
            Source::Stream(stream) => stream,
        };
        let get_next = stream.release.and(stream.get_next).ok_or_else(released)?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as for the schema; the stream is used by one thread at a time, as `self` is borrowed mutably.
        let code = unsafe { get_next(&raw mut *stream, &raw mut array) };
        match code {
            0 if array.is_released() => Ok(None),
            0 => imported(array, self.field.data_type()).map(Some),
            code => Err(last_error(stream, code)),
        }
    }

    /// Calls `each` with all arrays, without the GIL. So is the stream released, which may wait for its threads.
    pub(crate) fn for_each(
        mut self,
        py: Python<'_>,
        mut each: impl FnMut(ArrayRef) -> Result<()> + Send,
    ) -> Result<()> {
        py.detach(move || {
            while let Some(array) = self.next()? {
                each(array)?;
            }
            Ok(())
        })
    }

    /// The next array as a batch of a table.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let schema = self.schema()?;
        let Some(array) = self.next()? else { return Ok(None) };
        let (rows, data) = (array.len(), StructArray::from(array.to_data()));
        let (_, columns, nulls) = data.into_parts();
        if nulls.is_some_and(|nulls| nulls.null_count() > 0) {
            return Err(argument("expected a table, found structs of which some are null"));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)?))
    }
}

/// The schema of an object with `__arrow_c_schema__`, or of data; `None` of others.
pub(crate) fn schema_of(data: &Bound<'_, PyAny>) -> Result<Option<Schema>> {
    let Some(method) = data.getattr_opt("__arrow_c_schema__")? else {
        let arrays = Arrays::of(data)?;
        return data.py().detach(move || arrays.map(|arrays| arrays.schema()).transpose());
    };
    let field = read_field(&capsule(&method.call0()?)?)?;
    Arrays { field, source: Source::Array(None) }.schema().map(Some)
}

/// Refuses columns of Python objects, of which polars passes the addresses.
fn refuse_objects(data: &Bound<'_, PyAny>) -> Result<()> {
    // Without the module, there are no tables of it.
    let polars = data.py().import("sys")?.getattr("modules")?.call_method1("get", ("polars",))?;
    let (frame, series) = (polars.getattr_opt("DataFrame")?, polars.getattr_opt("Series")?);
    let (Some(frame), Some(series), Some(object)) = (frame, series, polars.getattr_opt("Object")?) else {
        return Ok(());
    };
    let what = "expected a type that a field can hold, found objects of Python";
    if data.is_instance(&series)? && data.getattr("dtype")?.eq(&object)? {
        return Err(PyTypeError::new_err(what).into());
    }
    if !data.is_instance(&frame)? {
        return Ok(());
    }
    for item in data.getattr("schema")?.call_method0("items")?.try_iter()? {
        let (name, ty): (String, Bound<'_, PyAny>) = item?.extract()?;
        if ty.eq(&object)? {
            return Err(wrong_column(&name, what));
        }
    }
    Ok(())
}

fn capsule<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyCapsule>> {
    let capsule = object.cast::<PyCapsule>().map_err(PyErr::from)?;
    Ok(capsule.clone())
}

fn read_field(capsule: &Bound<'_, PyCapsule>) -> Result<Field> {
    let schema = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name has such a struct, which nobody changes while this thread is attached and runs no Python
    // code.
    let schema = unsafe { schema.as_ref() };
    if schema.release.is_none() {
        return Err(released());
    }
    field_of(schema)
}

/// The field of a schema. An error of a table names the column.
fn field_of(schema: &FFI_ArrowSchema) -> Result<Field> {
    Field::try_from(schema).map_err(|error| {
        let is_refused = |column: &&FFI_ArrowSchema| Field::try_from(*column).is_err();
        let refused = schema.children().find(is_refused).filter(|_| schema.format() == "+s");
        match refused.and_then(FFI_ArrowSchema::name) {
            Some(column) => wrong_column(column, &format!("expected a type that a field can hold: {error}")),
            None => error.into(),
        }
    })
}

fn take_array(capsule: &Bound<'_, PyCapsule>) -> Result<FFI_ArrowArray> {
    let array = capsule.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name has such a struct. It is moved out, and left as released.
    Ok(unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) })
}

fn take_stream(capsule: &Bound<'_, PyCapsule>) -> Result<FFI_ArrowArrayStream> {
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name has such a struct. It is moved out, and left as released.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) })
}

fn imported(array: FFI_ArrowArray, ty: &DataType) -> Result<ArrayRef> {
    if array.is_released() {
        return Err(released());
    }
    let import = || {
        // SAFETY: by the C data interface, the array is of the type that came with it.
        let data = unsafe { from_ffi_and_data_type(array, ty.clone()) };
        data.map(make_array)
    };
    // Arrow checks numbers of buffers and children by assertions.
    let array = catch_unwind(AssertUnwindSafe(import));
    let unlike = || ArrowError::CDataInterface(format!("expected an array that is laid out as {ty}"));
    Ok(array.map_err(|_| unlike())??)
}

fn last_error(stream: &mut FFI_ArrowArrayStream, code: c_int) -> Failure {
    let get_last_error = stream.get_last_error;
    // SAFETY: the stream is not released, and a function of it has failed.
    let message = get_last_error.map(|last| unsafe { last(&raw mut *stream) });
    let message = message.filter(|message| !message.is_null());
    // SAFETY: the text ends with a 0 and is valid until the next call of the stream.
    let message = message.map(|message| unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned());
    let message = message.unwrap_or_else(|| format!("error {code}"));
    unread(format!("the data could not be read: {message}"))
}

fn released() -> Failure {
    argument("expected data, found a stream or an array that was read already")
}
