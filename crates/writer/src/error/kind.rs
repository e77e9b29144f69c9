//! [`ErrorKind`]: all that can go wrong, in words.

use docvalues_column::promotion;
use docvalues_format::file::kind::{Kind, LogicalType};

/// The kind of an [`Error`](super::Error). New kinds may be added in any release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The name of a field is empty.
    #[error("a field needs a name of at least one byte")]
    EmptyName,
    /// The name of a field is too long; the error shows its beginning.
    #[error("the name has {len} bytes, and {max} is the most")]
    LongName {
        /// The length of the name, in bytes.
        len: usize,
        /// The maximum length.
        max: usize,
    },
    /// Two fields have the same name.
    #[error("the schema has a field of this name already")]
    DuplicateName,
    /// The format of a field is too long.
    #[error("the format has {len} bytes, and {max} is the most")]
    LongFormat {
        /// The length of the format, in bytes.
        len: usize,
        /// The maximum length.
        max: usize,
    },
    /// The schema would have more fields than a segment can.
    #[error("a segment has at most {max} fields: write several segments, or fewer fields")]
    TooManyFields {
        /// The maximum number of fields.
        max: u32,
    },
    /// A field of numbers is declared sorted or binary.
    #[error("sorted or binary is a choice for byte strings, and values of type {} are numbers", logical.name())]
    KindOfNumbers {
        /// The type of the field.
        logical: LogicalType,
    },
    /// A multi-valued field of byte strings is declared binary.
    #[error("several byte strings a document are a sorted set: leave out the kind, or the several values")]
    BinaryList,
    /// The field belongs to another schema.
    #[error("the writer's schema has no such field: the id is another schema's")]
    UnknownField,
    /// The value has another type than the field.
    #[error("{given} for a field of type {}", logical.name())]
    WrongType {
        /// The value's type, with an article.
        given: &'static str,
        /// The field's type.
        logical: LogicalType,
    },
    /// A document has a second value of a single-valued field.
    #[error("a second value for a field with one value a document: declare it `multi_valued`")]
    SecondValue,
    /// A single-valued field was given lists.
    #[error("lists for a field with one value a document: declare it `multi_valued`")]
    ListOfSingle,
    /// A batch was given a second column of a field.
    #[error("the batch has values of this field already")]
    SecondColumn,
    /// The stored form of a boolean is neither 0 nor 1.
    #[error("the stored number {stored} is no boolean")]
    NotBool {
        /// The stored number.
        stored: i64,
    },
    /// The byte string is not UTF-8, and the field holds text.
    #[error("not UTF-8 behind its first {valid} bytes")]
    NotUtf8 {
        /// The length of the valid prefix, in bytes.
        valid: usize,
    },
    /// The byte string has another length than all values of the type.
    #[error("a value of {len} bytes, where all have {expected}")]
    WrongLength {
        /// The length of the value, in bytes.
        len: usize,
        /// The length of all values of the type, in bytes.
        expected: u32,
    },
    /// The byte string is longer than a segment can hold.
    #[error("a value of {len} bytes, and {max} is the most")]
    LongValue {
        /// The length of the value, in bytes.
        len: u64,
        /// The maximum length.
        max: u64,
    },
    /// The field has more distinct byte strings than a dictionary can number.
    #[error("more than {max} different values: write several segments, or make the field binary")]
    TooManyTerms {
        /// The maximum number.
        max: u32,
    },
    /// The segment would have more documents than it can number.
    #[error("more than {max} documents: write several segments")]
    TooManyDocs {
        /// The maximum number.
        max: u32,
    },
    /// The document to delete was not added.
    #[error("there are {docs} documents, and this is none of them")]
    NoSuchDoc {
        /// The number of documents.
        docs: u32,
    },
    /// The buffered values would exceed the memory budget. With a temporary file, a single document or batch is too
    /// large; without one, all values together.
    #[error(
        "the buffered values would take more than the budget of {budget} bytes: raise \
         `WriterOptions::budget`, add fewer documents at a time, or build the segment in a file"
    )]
    Budget {
        /// The budget, in bytes.
        budget: usize,
    },
    /// The memory to sort documents could not be allocated.
    #[error("there are no {bytes} bytes of memory to sort documents: build the segment in a file")]
    Memory {
        /// The size of the failed allocation, in bytes.
        bytes: u64,
    },
    /// A sort key names no field.
    #[error("there is no such field to sort by")]
    SortByNothing,
    /// A sort key names a multi-valued field.
    #[error("documents cannot be sorted by a field of which one may have several values")]
    SortBySeveral,
    /// Two sort keys name the same field.
    #[error("the documents are to be sorted by this field twice")]
    SortTwice,
    /// There are more sort keys than a segment can record.
    #[error("documents are sorted by at most {max} fields")]
    TooManySortKeys {
        /// The maximum number.
        max: usize,
    },
    /// The field cannot hold ids.
    #[error("this cannot be the field of ids: {0}")]
    NoIdField(&'static str),
    /// An id is too long for the index.
    #[error("the id of document {doc} has {len} bytes, and {max} is the most")]
    LongId {
        /// The number under which the document was added.
        doc: u32,
        /// The length of the id, in bytes.
        len: usize,
        /// The maximum length.
        max: usize,
    },
    /// The id index could not be built: a bug of this crate, which sorts and checks the ids before.
    #[error("cannot index the ids: {0}")]
    Ids(&'static str),
    /// Two documents have the same id.
    #[error("documents {} and {} have the same id: \"{}\"", docs[0], docs[1], shown(id))]
    DuplicateId {
        /// The id.
        id: Vec<u8>,
        /// The first two documents with it, by the numbers under which they were added.
        docs: [u32; 2],
    },
    /// A slice of a batch has the wrong length for its number of documents.
    #[error("the batch needs {expected} {what}, and {found} were given")]
    Slice {
        /// The contents of the slice.
        what: &'static str,
        /// The length of the slice.
        found: usize,
        /// The required length; for validity, the minimum.
        expected: usize,
    },
    /// Offsets of a batch descend or are out of bounds.
    #[error("{what} offsets must ascend and end within the {len} that were given: {from}, then {to}")]
    Offsets {
        /// The kind of offsets.
        what: &'static str,
        /// The start of the value.
        from: u64,
        /// The end of the value.
        to: u64,
        /// The length of what the offsets index.
        len: usize,
    },
    /// A value of a batch is a term that the batch does not have.
    #[error("there is no term {id}: the batch has {terms}")]
    NoSuchTerm {
        /// The index of the term.
        id: u32,
        /// The number of terms.
        terms: usize,
    },
    /// Columns of a record batch are not in the schema.
    #[error("the schema has no field {}: add fields for these columns, or leave them out", quoted(names))]
    UnknownColumns {
        /// Their names.
        names: Vec<String>,
    },
    /// A column of a record batch has a type that its field, or any field, cannot hold.
    #[error("expected {}, found Arrow's type {found}", expected(*logical))]
    ArrowType {
        /// The type of the column.
        found: String,
        /// The type of the field; `None` if no field takes the column.
        logical: Option<LogicalType>,
    },
    /// A value of a record batch is out of range for its field, or not exact in it.
    #[error("a value of Arrow's type {found} that a field of type {} cannot hold exactly", logical.name())]
    ArrowValue {
        /// The type of the column.
        found: String,
        /// The type of the field.
        logical: LogicalType,
    },
    /// A list of a record batch contains a null.
    #[error("a null in a list: a document has values, or none")]
    NullItem,
    /// An array of a record batch is invalid.
    #[cfg(feature = "arrow")]
    #[error("cannot read the record batch: {0}")]
    Arrow(arrow_schema::ArrowError),
    /// Columns of one name differ in kind or type, so they cannot be merged.
    /// [`Merger::promote`](crate::Merger::promote) converts numbers of different types.
    #[error(
        "expected one kind and type, found {} values of type {} in \"{}\" and {} values of type {} in \"{}\": {}",
        kinds[0].name(), types[0].name(), sources[0], kinds[1].name(), types[1].name(), sources[1],
        if self.can_promote() { "`Merger::promote` makes them one type" } else { "write one of them anew" }
    )]
    Differ {
        /// The names of two of the merged sources.
        sources: [String; 2],
        /// The kinds of their columns.
        kinds: [Kind; 2],
        /// The types of their columns.
        types: [LogicalType; 2],
    },
    /// A number is not exact in the type to which a merge promotes its column.
    #[error("expected a number that is exact as {}, found {value} of type {}", types[1].name(), types[0].name())]
    Inexact {
        /// The number.
        value: i128,
        /// The type of the source's column, and the type it is promoted to.
        types: [LogicalType; 2],
    },
    /// One source has a column and another lacks it, in a merge with
    /// [`Merger::same_columns`](crate::Merger::same_columns).
    #[error("expected a column of every source, found one in \"{}\" and none in \"{}\"", sources[0], sources[1])]
    MissingColumn {
        /// The first source that has the column, and the first that lacks it.
        sources: [String; 2],
    },
    /// A set of live documents is for another number of documents than its source has.
    #[error("expected a set of live documents for {expected} documents, found one for {found}")]
    LiveDocs {
        /// The number of documents of the set, live or not.
        found: u32,
        /// The number of documents of the source.
        expected: u32,
    },
    /// A source could be read, but holds values that no segment can.
    #[error("{name}: {kind}")]
    Source {
        /// The source's name in the merge.
        name: String,
        /// The error.
        kind: Box<ErrorKind>,
    },
    /// A source breaks the contract of `docvalues_column`: values are out of order or out of bounds.
    #[error("the {0} do not ascend, or there are more than there should be")]
    Disorder(&'static str),
    /// A source could not be read.
    #[error(transparent)]
    Read(#[from] docvalues_column::Error),
    /// Values are in the temporary file, so that they cannot be taken as plain columns.
    #[error("expected all values in memory, found some in the temporary file")]
    Plain,
    /// The encoder refused the terms of a field, with a [`DictionaryError`](crate::DictionaryError): a bug of this crate, which
    /// checks them before.
    #[error("cannot encode the terms: {0}")]
    Dictionary(#[from] docvalues_format::dictionary::BuildError),
    /// The encoder refused the byte strings of a field, with a [`BinaryError`](crate::BinaryError): a bug, as
    /// [`Dictionary`](Self::Dictionary).
    #[error("cannot encode the byte strings: {0}")]
    Binary(#[from] docvalues_format::binary::EncodeError),
    /// The file, or the temporary file beside it, could not be written. A file that already had the name is unchanged,
    /// except after [`Step::SyncFolder`](docvalues_storage::Step::SyncFolder).
    ///
    /// A document or batch that was refused with this error can be added again: values that were added before are kept.
    #[error(transparent)]
    Storage(#[from] docvalues_storage::Error),
}

impl ErrorKind {
    /// A failed allocation of `bytes`.
    pub(crate) fn memory(bytes: usize) -> ErrorKind {
        ErrorKind::Memory { bytes: bytes as u64 }
    }

    /// Whether [`Merger::promote`](crate::Merger::promote) would avoid this error.
    pub fn can_promote(&self) -> bool {
        matches!(self, ErrorKind::Differ { kinds: [a, b], types, .. } if a == b && promotion::common(types[0], types[1]).is_some())
    }
}

/// The first ten names, quoted, and the number of the others.
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut all = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
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

/// An id as text, with escapes for bytes outside of ASCII; a long id is cut.
fn shown(id: &[u8]) -> String {
    const SHOWN: usize = 200;
    match id.get(..SHOWN) {
        Some(start) if id.len() > SHOWN => format!("{}…", start.escape_ascii()),
        _ => id.escape_ascii().to_string(),
    }
}
