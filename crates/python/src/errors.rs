//! Errors as Python exceptions: those of `docvalues/_errors.py`.

use std::any::Any;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::Path;

use arrow_schema::ArrowError;
use docvalues::DocId;
use docvalues::column::{Error as ReadError, ErrorKind as ReadErrorKind};
use docvalues::search::Error as SearchError;
use docvalues::store::Error as StoreError;
use docvalues::store::error::panic_text;
use docvalues::writer::{Error as WriteError, ErrorKind as WriteErrorKind, StorageError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The result of what can fail outside of Python.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The reason for which a call fails.
pub(crate) enum Failure {
    Docvalues(docvalues::Error),
    Arrow(ArrowError),
    Python(PyErr),
    Raised(Box<Raised>),
}

impl Failure {
    /// The failure of data that follows so many other rows.
    pub(crate) fn after_rows(self, rows: u64) -> Failure {
        match self {
            Failure::Docvalues(error) => of_docvalues(&error, rows).into(),
            other => other,
        }
    }

    /// The failure of values of a column.
    pub(crate) fn in_column(self, py: Python<'_>, name: &str) -> Failure {
        match self {
            Failure::Raised(raised) => {
                let (raised, column) = (*raised, Some(name.to_owned()));
                Raised { message: format!("column {name:?}: {}", raised.message), column, ..raised }.into()
            }
            Failure::Python(error) if error.is_instance_of::<PyTypeError>(py) => {
                PyTypeError::new_err(format!("column {name:?}: {}", error.value(py))).into()
            }
            Failure::Arrow(error) => wrong_column(name, &error.to_string()),
            other => other,
        }
    }
}

/// For errors within streams, whose readers get nothing but a text.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Docvalues(error) => error.fmt(f),
            Failure::Arrow(error) => error.fmt(f),
            Failure::Python(error) => error.fmt(f),
            Failure::Raised(raised) => f.write_str(&raised.message),
        }
    }
}

/// An exception to be raised.
#[derive(Default)]
pub(crate) struct Raised {
    class: &'static str,
    message: String,
    /// The number of the error, of a class of Python that has one.
    errno: Option<i32>,
    file: Option<String>,
    section: Option<String>,
    offset: Option<u64>,
    column: Option<String>,
    row: Option<u64>,
}

/// An argument that is of no use.
pub(crate) fn argument(message: impl ToString) -> Failure {
    Raised::of("QueryError", message).into()
}

/// An argument of another type than the expected ones.
pub(crate) fn wrong_type(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    match found.get_type().name() {
        Ok(found) => PyTypeError::new_err(format!("expected {expected}, found {found}")),
        Err(error) => error,
    }
}

/// There is no column of this name.
pub(crate) fn no_column(name: &str) -> Failure {
    let raised = Raised::of("ColumnError", format!("there is no column {name:?}"));
    Raised { column: Some(name.to_owned()), ..raised }.into()
}

/// A type that no column has.
pub(crate) fn wrong_column(column: &str, what: &str) -> Failure {
    let message = place(Some(column), None) + what;
    Raised { column: Some(column.to_owned()), ..Raised::of("DataError", message) }.into()
}

/// A value that its column cannot hold.
pub(crate) fn wrong_value(column: &str, row: u64, what: &str) -> Failure {
    let message = place(Some(column), Some(row)) + what;
    Raised { column: Some(column.to_owned()), row: Some(row), ..Raised::of("DataError", message) }.into()
}

/// A search that panicked.
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Failure {
    Raised::of("Error", format!("the search panicked: {}", panic_text(panic))).into()
}

/// Data of another library that could not be read. An exception of Python comes as its text, after where it was raised.
pub(crate) fn unread(message: String) -> Failure {
    match message.trim_end().ends_with("KeyboardInterrupt") {
        true => PyKeyboardInterrupt::new_err(()).into(),
        false => Raised::of("Error", message).into(),
    }
}

impl From<Failure> for PyErr {
    #[cold]
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Python(error) => error,
            Failure::Docvalues(docvalues::Error::Search(SearchError::Interrupted)) => {
                PyKeyboardInterrupt::new_err(())
            }
            Failure::Docvalues(error) => of_docvalues(&error, 0).raise(),
            Failure::Arrow(error) => of_arrow(&error).raise(),
            Failure::Raised(raised) => raised.raise(),
        }
    }
}

impl Raised {
    fn of(class: &'static str, message: impl ToString) -> Raised {
        Raised { class, message: message.to_string(), ..Raised::default() }
    }

    fn in_file(self, file: impl AsRef<Path>) -> Raised {
        Raised { file: Some(file.as_ref().display().to_string()), ..self }
    }

    /// A call to the operating system about `file` that failed.
    fn of_system(error: impl ToString, source: &io::Error, file: impl AsRef<Path>) -> Raised {
        let class = if source.kind() == io::ErrorKind::NotFound { "NotFoundError" } else { "StorageError" };
        Raised { errno: source.raw_os_error(), ..Raised::of(class, error).in_file(file) }
    }

    fn raise(self) -> PyErr {
        Python::attach(|py| self.exception(py).map_or_else(|error| error, PyErr::from_value))
    }

    fn exception(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let places = PyDict::new(py);
        places.set_item("file", self.file)?;
        places.set_item("section", self.section)?;
        places.set_item("offset", self.offset)?;
        places.set_item("column", self.column)?;
        places.set_item("row", self.row)?;
        if let Some(errno) = self.errno {
            places.set_item("errno", errno)?;
        }
        py.import("docvalues._errors")?.getattr(self.class)?.call((self.message,), Some(&places))
    }
}

/// The exception for an error of data that follows `rows` others.
fn of_docvalues(error: &docvalues::Error, rows: u64) -> Raised {
    match error {
        docvalues::Error::Read(error) => of_read(error),
        docvalues::Error::Write(error) => of_write(error, rows),
        docvalues::Error::Search(error) => of_search(error),
        docvalues::Error::Store(error) => of_store(error, rows),
        docvalues::Error::Storage(error) => of_storage(error),
        other => Raised::of("Error", other),
    }
}

fn of_read(error: &ReadError) -> Raised {
    let raised = |class| Raised::of(class, error);
    match error.kind() {
        ReadErrorKind::Corrupt { file, field, .. } => {
            let (section, offset) = error.place().unzip();
            Raised {
                section: section.map(|section| section.to_string()),
                offset,
                column: field.clone(),
                ..raised("CorruptError").in_file(file)
            }
        }
        ReadErrorKind::Io { file, source } => Raised::of_system(error, source, file),
        ReadErrorKind::NoSuchColumn { file, field } => {
            Raised { column: Some(field.clone()), ..raised("ColumnError").in_file(file) }
        }
        _ => raised("Error"),
    }
}

fn of_search(error: &SearchError) -> Raised {
    match error.inner() {
        SearchError::Column(error) => of_read(error),
        SearchError::Query(query) => Raised {
            column: query.no_such_column().map(str::to_owned),
            ..Raised::of("QueryError", query.caret().unwrap_or_else(|| query.to_string()))
        },
        SearchError::Kind { field, .. } | SearchError::MixedTypes { column: field, .. } => {
            Raised { column: Some(field.clone()), ..Raised::of("QueryError", error) }
        }
        SearchError::Request(message) => Raised::of("QueryError", message),
        SearchError::Value { field, doc, .. } => Raised {
            column: Some(field.clone()),
            row: Some(u64::from(*doc)),
            ..Raised::of("DataError", error)
        },
        _ => Raised::of("Error", error),
    }
}

fn of_write(error: &WriteError, rows: u64) -> Raised {
    let kind = match error.kind() {
        WriteErrorKind::Read(error) => return of_read(error),
        WriteErrorKind::Storage(error) => return of_storage(error),
        kind => kind,
    };
    let row = match kind {
        WriteErrorKind::DuplicateId { docs: [_, second], .. } => Some(*second),
        _ => error.doc().map(DocId::get),
    };
    let row = row.map(|row| rows + u64::from(row));
    use WriteErrorKind as K;
    let (class, column) = match kind {
        K::UnknownColumns { names } => ("ColumnError", names.first().map(String::as_str)),
        K::SortByNothing => ("ColumnError", error.field()),
        K::SortBySeveral | K::SortTwice | K::TooManySortKeys { .. } | K::NoIdField(_) => {
            ("QueryError", error.field())
        }
        K::Budget { .. } | K::Memory { .. } | K::TooManyDocs { .. } => ("Error", error.field()),
        _ => ("DataError", error.field()),
    };
    let message = format!("{}{kind}{}", place(error.field(), row), advice(kind));
    Raised { column: column.map(str::to_owned), row, ..Raised::of(class, message) }
}

/// A place in data, before what is wrong there.
fn place(column: Option<&str>, row: Option<u64>) -> String {
    match (column, row) {
        (Some(column), Some(row)) => format!("column \"{column}\", row {row}: "),
        (Some(column), None) => format!("column \"{column}\": "),
        (None, Some(row)) => format!("row {row}: "),
        (None, None) => String::new(),
    }
}

/// What to do about data that a column does not hold.
fn advice(kind: &WriteErrorKind) -> &'static str {
    let found = match kind {
        WriteErrorKind::ArrowType { found, .. } | WriteErrorKind::ArrowValue { found, .. } => found.as_str(),
        WriteErrorKind::NullItem => return "; drop the nulls of the lists",
        WriteErrorKind::Budget { .. } => return "; it is `memory` of `write`",
        _ => return "",
    };
    if found.starts_with("Decimal") {
        "; cast decimals to float64, to integers of the smallest unit, or to text"
    } else if found.starts_with("Map") || found.starts_with("Union") {
        "; leave the column out, or cast it to a struct or to text"
    } else {
        ""
    }
}

fn of_store(error: &StoreError, rows: u64) -> Raised {
    match error {
        StoreError::Storage(error) => of_storage(error),
        StoreError::Read(error) => of_read(error),
        StoreError::Write(error) => of_write(error, rows),
        StoreError::Search(error) => of_search(error),
        StoreError::NoStore { folder } | StoreError::NoCommit { folder, .. } => {
            Raised::of("NotFoundError", error).in_file(folder)
        }
        StoreError::Damaged { file, .. } => Raised::of("CorruptError", error).in_file(file),
        StoreError::Exists { folder, .. } => Raised::of("ExistsError", error).in_file(folder),
        StoreError::Busy { folder, .. } => Raised::of("Error", error).in_file(folder),
        StoreError::Schema { field, .. } => {
            Raised { column: Some(field.clone()), ..Raised::of("DataError", error) }
        }
        StoreError::Request(message) => Raised::of("QueryError", message),
        _ => Raised::of("Error", error),
    }
}

fn of_storage(error: &StorageError) -> Raised {
    Raised::of_system(error, error.io_error(), error.path())
}

/// An error of an export comes as the cause of one of Arrow's.
fn of_arrow(error: &ArrowError) -> Raised {
    match error.source().and_then(|source| source.downcast_ref::<SearchError>()) {
        Some(error) => of_search(error),
        None => Raised::of("DataError", error),
    }
}

macro_rules! from {
    ($($variant:ident: $type:ty),+ $(,)?) => {
        $(impl From<$type> for Failure {
            #[cold]
            fn from(error: $type) -> Failure {
                Failure::$variant(error.into())
            }
        })+
    };
}

from! {
    Docvalues: docvalues::Error, Docvalues: ReadError, Docvalues: SearchError, Docvalues: StoreError, Docvalues: WriteError,
    Docvalues: StorageError,
    Arrow: ArrowError,
    Python: PyErr,
    Raised: Raised,
}
