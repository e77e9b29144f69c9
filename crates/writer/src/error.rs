//! The error of all functions that write.

mod kind;

use std::fmt;

use docvalues_format::id::DocId;

pub use kind::ErrorKind;

/// The result of functions that write.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of writing, with the field and the document if it concerns one.
///
/// One pointer wide, because every added value returns a `Result`.
///
/// # Examples
///
/// A refused value names its field and document, and the document goes on without it:
///
/// ```
/// use docvalues_writer::{ErrorKind, FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// let mut doc = writer.document();
/// doc.i64(size, 1)?;
/// let error = doc.i64(size, 2).err().ok_or("a second value was taken")?;
/// assert_eq!((error.field(), error.doc().map(|doc| doc.get())), (Some("size"), Some(0)));
/// assert!(matches!(error.kind(), ErrorKind::SecondValue));
/// doc.finish()?;
/// assert_eq!(writer.docs(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Error(Box<Refusal>);

#[derive(Debug)]
struct Refusal {
    field: Option<String>,
    doc: Option<DocId>,
    kind: ErrorKind,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Refusal { field: None, doc: None, kind }))
    }

    /// Adds the field's name; a long name is cut.
    pub(crate) fn of(mut self, field: &str) -> Error {
        const SHOWN: usize = 200;
        let shown = match field.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &field[..end]),
            None => field.to_owned(),
        };
        self.0.field = Some(shown);
        self
    }

    /// Adds the document.
    pub(crate) fn in_doc(mut self, doc: u32) -> Error {
        self.0.doc = Some(DocId::new(doc));
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the kind of the error.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the field, if the error concerns one. A long name is cut.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The document, if the error concerns one.
    pub fn doc(&self) -> Option<DocId> {
        self.0.doc
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error::new(kind)
    }
}

impl From<docvalues_storage::Error> for Error {
    fn from(error: docvalues_storage::Error) -> Error {
        Error::new(error.into())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.field, self.0.doc) {
            (Some(field), Some(doc)) => write!(f, "field \"{field}\", document {doc}: ")?,
            (Some(field), None) => write!(f, "field \"{field}\": ")?,
            (None, Some(doc)) => write!(f, "document {doc}: ")?,
            (None, None) => {}
        }
        self.0.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message of a transparent kind is shown already, so the next source is its cause.
        self.0.kind.source()
    }
}
