//! Why a value, a column or a whole segment was refused.

use std::fmt;

use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::id::DocId;

use crate::merge::type_promotion::common;

/// Shorthand for what every writing function returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something could not be written, and of which field and document it was.
///
/// One pointer wide: adding a value returns one of these for every value of every document.
pub struct Error(Box<Refusal>);

#[derive(Debug)]
struct Refusal {
    field: Option<String>,
    doc: Option<DocId>,
    kind: ErrorKind,
}

/// What was wrong. New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A field without a name.
    #[error("a field needs a name of at least one byte")]
    EmptyName,
    /// A name that is too long; the error shows its beginning.
    #[error("the name has {len} bytes, and {max} is the most")]
    LongName {
        /// Bytes of the name.
        len: usize,
        /// The most a name may have.
        max: usize,
    },
    /// Two fields of one name.
    #[error("the schema has a field of this name already")]
    DuplicateName,
    /// The spelling of a field's values is too long.
    #[error("the format has {len} bytes, and {max} is the most")]
    LongFormat {
        /// Bytes of the format.
        len: usize,
        /// The most a format may have.
        max: usize,
    },
    /// One field more than a segment can have.
    #[error("a segment has at most {max} fields: write several segments, or fewer fields")]
    TooManyFields {
        /// The most fields.
        max: u32,
    },
    /// A choice between sorted and binary for a field that is neither.
    #[error("sorted or binary is a choice for byte strings, and values of type {} are numbers", logical.name())]
    KindOfNumbers {
        /// The type of the field.
        logical: LogicalType,
    },
    /// Several values a document in a column that has room for one.
    #[error("several byte strings a document are a sorted set: leave out the kind, or the several values")]
    BinaryList,
    /// A field that the schema does not have.
    #[error("the writer's schema has no such field: the id is another schema's")]
    UnknownField,
    /// A value of another type than the field's.
    #[error("{given} for a field of type {}", logical.name())]
    WrongType {
        /// What was given, with its article.
        given: &'static str,
        /// What the field holds.
        logical: LogicalType,
    },
    /// A second value for a field that has one.
    #[error("a second value for a field with one value a document: declare it `multi_valued`")]
    SecondValue,
    /// Lists for a field that has no room for them.
    #[error("lists for a field with one value a document: declare it `multi_valued`")]
    ListOfSingle,
    /// A column that a batch was given before.
    #[error("the batch has values of this field already")]
    SecondColumn,
    /// A stored number that stands for neither true nor false.
    #[error("the stored number {stored} is no boolean")]
    NotBool {
        /// What was given.
        stored: i64,
    },
    /// A byte string that is no text, for a field of text.
    #[error("not UTF-8 behind its first {valid} bytes")]
    NotUtf8 {
        /// Bytes of it that are UTF-8.
        valid: usize,
    },
    /// A byte string for a type whose values have a fixed length.
    #[error("a value of {len} bytes, where all have {expected}")]
    WrongLength {
        /// Bytes of the value.
        len: usize,
        /// Bytes of every value of the type.
        expected: u32,
    },
    /// A value longer than a segment can hold.
    #[error("a value of {len} bytes, and {max} is the most")]
    LongValue {
        /// Bytes of the value.
        len: u64,
        /// The most a value may have.
        max: u64,
    },
    /// More different byte strings than a dictionary can number.
    #[error("more than {max} different values: write several segments, or make the field binary")]
    TooManyTerms {
        /// The most.
        max: u32,
    },
    /// More documents than a segment can number.
    #[error("more than {max} documents: write several segments")]
    TooManyDocs {
        /// The most.
        max: u32,
    },
    /// A document to delete that was not added.
    #[error("there are {docs} documents, and this is none of them")]
    NoSuchDoc {
        /// How many there are.
        docs: u32,
    },
    /// The buffered values take all the memory they may: a document or a batch too much, and of a segment in
    /// memory all of them together.
    #[error(
        "the buffered values would take more than the budget of {budget} bytes: raise \
         `WriterOptions::budget`, add fewer documents at a time, or build the segment in a file"
    )]
    Budget {
        /// What they may take.
        budget: usize,
    },
    /// There is no memory to sort documents.
    #[error("there are no {bytes} bytes of memory to sort documents: build the segment in a file")]
    Memory {
        /// What was asked for.
        bytes: u64,
    },
    /// A field to sort by that there is not.
    #[error("there is no such field to sort by")]
    SortByNothing,
    /// A field to sort by of which a document may have several values.
    #[error("documents cannot be sorted by a field of which one may have several values")]
    SortBySeveral,
    /// A field that is named twice among those to sort by.
    #[error("the documents are to be sorted by this field twice")]
    SortTwice,
    /// More fields to sort by than a segment can record.
    #[error("documents are sorted by at most {max} fields")]
    TooManySortKeys {
        /// The most.
        max: usize,
    },
    /// A field of ids that holds something else.
    #[error("this cannot be the field of ids: {0}")]
    NoIdField(&'static str),
    /// An id that is too long to be indexed.
    #[error("the id of document {doc} has {len} bytes, and {max} is the most")]
    LongId {
        /// The number under which the document was added.
        doc: u32,
        /// Bytes of the id.
        len: usize,
        /// The most an id may have.
        max: usize,
    },
    /// The index of ids could not be built: a fault of this crate, which orders them before.
    #[error("cannot index the ids: {0}")]
    Ids(&'static str),
    /// Two documents with one id, in the field that the segment has an index of.
    #[error("documents {} and {} have the same id: {}", docs[0], docs[1], shown(id))]
    DuplicateId {
        /// The id.
        id: Vec<u8>,
        /// The numbers under which two of the documents with it were added: the first two.
        docs: [u32; 2],
    },
    /// A slice of a batch that does not fit the number of its documents.
    #[error("the batch needs {expected} {what}, and {found} were given")]
    Slice {
        /// What the slice holds.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that was needed; of validity, the least one.
        expected: usize,
    },
    /// Offsets of a batch that point backwards or out of what they point into.
    #[error("{what} offsets must ascend and end within the {len} that were given: {from}, then {to}")]
    Offsets {
        /// What they are offsets of.
        what: &'static str,
        /// Where the value begins.
        from: u64,
        /// Where it ends.
        to: u64,
        /// What there is.
        len: usize,
    },
    /// Columns of a record batch that are no fields of the schema.
    #[error("the schema has no field {}: add fields for these columns, or leave them out", quoted(names))]
    UnknownColumns {
        /// Their names.
        names: Vec<String>,
    },
    /// A column of a record batch whose type the field, or any field, does not take.
    #[error("expected {}, found Arrow's type {found}", expected(*logical))]
    ArrowType {
        /// The type of the column.
        found: String,
        /// The type of the field; `None` if no field takes the column.
        logical: Option<LogicalType>,
    },
    /// A value of a record batch that its field cannot hold: out of range, or not exactly.
    #[error("a value of Arrow's type {found} that a field of type {} cannot hold exactly", logical.name())]
    ArrowValue {
        /// The type of the column.
        found: String,
        /// The type of the field.
        logical: LogicalType,
    },
    /// A null in a list of a record batch.
    #[error("a null in a list: a document has values, or none")]
    NullItem,
    /// An array of a record batch could not be read.
    #[cfg(feature = "arrow")]
    #[error("cannot read the record batch: {0}")]
    Arrow(arrow_schema::ArrowError),
    /// Columns of one name that are not of one kind and type, and so cannot become one. Of two types of numbers,
    /// [`Merger::promote`](crate::Merger::promote) makes one.
    #[error(
        "expected one kind and type, found {} values of type {} in {} and {} values of type {} in {}: {}",
        kinds[0].name(), types[0].name(), sources[0], kinds[1].name(), types[1].name(), sources[1],
        if self.can_promote() { "`Merger::promote` makes them one type" } else { "write one of them anew" }
    )]
    Differ {
        /// Two of the merged sources.
        sources: [String; 2],
        /// Their columns' kinds.
        kinds: [Kind; 2],
        /// Their columns' types.
        types: [LogicalType; 2],
    },
    /// A number that the type to which a merge promotes its column does not have.
    #[error("expected a number that is exact as {}, found {value} of type {}", types[1].name(), types[0].name())]
    Inexact {
        /// The number.
        value: i128,
        /// The type of the source's column, and the one it is promoted to.
        types: [LogicalType; 2],
    },
    /// A column that one source has and another lacks, in a merge of the
    /// [same columns](crate::Merger::same_columns).
    #[error("expected a column of every source, found one in {} and none in {}", sources[0], sources[1])]
    MissingColumn {
        /// The first source that has it, and the first one that lacks it.
        sources: [String; 2],
    },
    /// A source holds what no segment may, although what it holds could be read.
    #[error("{name}: {kind}")]
    Source {
        /// What the caller of the merge calls it.
        name: String,
        /// What is wrong.
        kind: Box<ErrorKind>,
    },
    /// What a source should have in ascending order, and within bounds, is not.
    #[error("the {0} do not ascend, or there are more than there should be")]
    Disorder(&'static str),
    /// A source could not be read.
    #[error(transparent)]
    Read(#[from] docvalues_column::Error),
    /// An encoder refused the terms of a field: a fault of this crate, which hands it none that it may
    /// refuse.
    #[error("cannot encode the terms: {0}")]
    Dictionary(#[from] docvalues_format::dictionary::BuildError),
    /// An encoder refused the byte strings of a field: as [`Dictionary`](Self::Dictionary).
    #[error("cannot encode the byte strings: {0}")]
    Binary(#[from] docvalues_format::binary::EncodeError),
    /// The file could not be written, or a temporary file beside it. Under its name stands what stood there,
    /// but after [`Step::SyncFolder`](docvalues_storage::Step::SyncFolder).
    ///
    /// A document or a batch that was refused because of it can be added again: nothing of what was added
    /// before is lost.
    #[error(transparent)]
    Storage(#[from] docvalues_storage::Error),
}

impl ErrorKind {
    /// So many bytes of memory are not there.
    pub(crate) fn memory(bytes: usize) -> ErrorKind {
        ErrorKind::Memory { bytes: bytes as u64 }
    }

    /// Whether this refuses columns that [`Merger::promote`](crate::Merger::promote) would merge.
    pub fn can_promote(&self) -> bool {
        matches!(self, ErrorKind::Differ { kinds: [a, b], types, .. } if a == b && common(types[0], types[1]).is_some())
    }
}

/// Names in quotes, or the first of them.
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut all = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        all += &format!(" and {more} more");
    }
    all
}

fn expected(logical: Option<LogicalType>) -> String {
    logical.map_or("a type that a field can hold".to_owned(), |logical| {
        format!("values of type {}", logical.name())
    })
}

/// An id for people: with escapes for what is no ASCII; of a long one, the beginning.
fn shown(id: &[u8]) -> String {
    const SHOWN: usize = 200;
    match id.get(..SHOWN) {
        Some(start) if id.len() > SHOWN => format!("{}…", start.escape_ascii()),
        _ => id.escape_ascii().to_string(),
    }
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind) -> Error {
        Error(Box::new(Refusal { field: None, doc: None, kind }))
    }

    /// Says of which field this is. Of a name that is too long, the beginning will do.
    pub(crate) fn of(mut self, field: &str) -> Error {
        const SHOWN: usize = 200;
        let shown = match field.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &field[..end]),
            None => field.to_owned(),
        };
        self.0.field = Some(shown);
        self
    }

    /// Says of which document it is.
    pub(crate) fn in_doc(mut self, doc: u32) -> Error {
        self.0.doc = Some(DocId::new(doc));
        self
    }

    /// What was wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What was wrong, by value.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the field, if it was about one. A long one is cut.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The number of the document, if it was about one.
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
            (Some(field), Some(doc)) => write!(f, "field `{field}`, document {doc}: ")?,
            (Some(field), None) => write!(f, "field `{field}`: ")?,
            (None, Some(doc)) => write!(f, "document {doc}: ")?,
            (None, None) => {}
        }
        self.0.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // `Storage` shows itself, so its cause is the next one to show.
        self.0.kind.source()
    }
}
