//! The fields of a segment: [`Schema`] and [`FieldSpec`], declared before the first document.

use std::fmt;
use std::sync::Arc;

use docvalues_format::binary::Compression;
use docvalues_format::file::field::{Field, MAX_NAME};
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::file::root::MAX_COLUMNS;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use crate::error::{Error, ErrorKind, Result};

/// The maximum length of a field's [`format`](FieldSpec::format), in bytes.
pub const MAX_FORMAT: usize = 255;

/// A handle of a field of a [`Schema`], which identifies the field when values are added.
///
/// It is the index of the field, so it is valid in every schema that begins with the same fields, such as a clone. In
/// another schema it names the field with this index, or none.
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema};
///
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
/// assert_eq!((size.index(), host.index()), (0, 1));
/// assert_eq!(schema.field("host"), Some(host)); // by name, once; values are added by handle
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(u32);

impl FieldId {
    /// The index of the field, in the order in which fields were added.
    pub fn index(self) -> usize {
        // At most 65,000.
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Debug for FieldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {}", self.0)
    }
}

/// The column kind of a single-valued field of byte strings: with or without a dictionary.
///
/// # Examples
///
/// ```
/// use docvalues_writer::{BytesKind, FieldSpec, LogicalType};
///
/// let host = FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted); // faceted: many documents a term
/// let body = FieldSpec::new("body", LogicalType::Utf8).kind(BytesKind::Binary); // retrieved: mostly different
/// let other = FieldSpec::new("other", LogicalType::Utf8); // `Auto`: the writer compares the sizes of both
/// # assert_eq!(other.bytes_kind(), BytesKind::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BytesKind {
    /// The kind that takes fewer bytes in the file; sorted on a tie. A field whose values hardly repeat, among the first
    /// 65,536 and in all, gets the kind that takes fewer bytes for those first values.
    #[default]
    Auto,
    /// A dictionary of the distinct byte strings, and an ord for each document: for facets, grouping and sorting.
    Sorted,
    /// The byte strings of all documents, without a dictionary: for retrieval.
    Binary,
}

/// The declaration of a field: its name, type and options. A [`Field`] declares one, too, of exactly its kind.
///
/// ```
/// use docvalues_writer::{BytesKind, Compression, FieldSpec, LogicalType};
///
/// let size = FieldSpec::new("size", LogicalType::U64);
/// let host = FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted);
/// let body = FieldSpec::new("body", LogicalType::Utf8).compression(Compression::None);
/// let tags = FieldSpec::new("tags", LogicalType::Utf8).multi_valued();
/// let seen = FieldSpec::new("seen", LogicalType::TimestampMillis).format("%Y-%m-%dT%H:%M:%SZ");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct FieldSpec {
    name: String,
    logical: LogicalType,
    multi_valued: bool,
    kind: BytesKind,
    compression: Compression,
    format: Option<String>,
}

impl FieldSpec {
    /// A single-valued field of type `logical`.
    pub fn new(name: impl Into<String>, logical: LogicalType) -> FieldSpec {
        FieldSpec {
            name: name.into(),
            logical,
            multi_valued: false,
            kind: BytesKind::Auto,
            compression: Compression::Auto,
            format: None,
        }
    }

    /// Makes the field multi-valued: a document may have any number of values. Numbers become a sorted list with
    /// duplicates, byte strings a set.
    pub fn multi_valued(self) -> FieldSpec {
        FieldSpec { multi_valued: true, ..self }
    }

    /// Sets the column kind of a field of byte strings.
    pub fn kind(self, kind: BytesKind) -> FieldSpec {
        FieldSpec { kind, ..self }
    }

    /// Sets the compression of binary columns.
    pub fn compression(self, compression: Compression) -> FieldSpec {
        FieldSpec { compression, ..self }
    }

    /// Records how the input formatted the values, for exports: for dates and timestamps a `strftime` pattern. At most
    /// [`MAX_FORMAT`] bytes; an empty format is none. If the format is known only from the values, call
    /// [`SegmentWriter::set_format`](crate::SegmentWriter::set_format) later.
    pub fn format(self, format: impl Into<String>) -> FieldSpec {
        FieldSpec { format: Some(format.into()).filter(|format| !format.is_empty()), ..self }
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the values.
    pub fn logical(&self) -> LogicalType {
        self.logical
    }

    /// Whether a document may have several values.
    pub fn is_multi_valued(&self) -> bool {
        self.multi_valued
    }

    /// The column kind of a field of byte strings.
    pub fn bytes_kind(&self) -> BytesKind {
        self.kind
    }

    /// The compression of binary columns.
    pub fn compressed(&self) -> Compression {
        self.compression
    }

    /// The [format](Self::format) of the values in the input.
    pub fn spelling(&self) -> Option<&str> {
        self.format.as_deref()
    }

    fn check(&self) -> Result<(), ErrorKind> {
        let (len, format) = (self.name.len(), self.format.as_ref().map_or(0, String::len));
        if len == 0 {
            return Err(ErrorKind::EmptyName);
        }
        if len > MAX_NAME {
            return Err(ErrorKind::LongName { len, max: MAX_NAME });
        }
        if format > MAX_FORMAT {
            return Err(ErrorKind::LongFormat { len: format, max: MAX_FORMAT });
        }
        match self.kind {
            BytesKind::Auto => Ok(()),
            _ if !self.logical.is_bytes() => Err(ErrorKind::KindOfNumbers { logical: self.logical }),
            BytesKind::Binary if self.multi_valued => Err(ErrorKind::BinaryList),
            BytesKind::Sorted | BytesKind::Binary => Ok(()),
        }
    }
}

/// A field of exactly this kind, with the default compression.
impl From<&Field> for FieldSpec {
    fn from(field: &Field) -> FieldSpec {
        let spec = FieldSpec::new(&field.name, field.logical);
        let spec = if field.kind.is_multi_valued() { spec.multi_valued() } else { spec };
        let spec = match field.kind {
            Kind::Binary => spec.kind(BytesKind::Binary),
            Kind::Sorted => spec.kind(BytesKind::Sorted),
            Kind::Numeric | Kind::SortedNumeric | Kind::SortedSet => spec,
        };
        spec.format(field.format.clone().unwrap_or_default())
    }
}

impl From<Field> for FieldSpec {
    fn from(field: Field) -> FieldSpec {
        FieldSpec::from(&field)
    }
}

/// The fields of a segment, in the order in which they were added. In the file, columns are sorted by name.
///
/// ```
/// use docvalues_writer::{Field, FieldSpec, Kind, LogicalType, Schema};
///
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::U64))?;
/// assert_eq!(schema.field("size"), Some(size));
///
/// // As a store declares it, and as it is read from a segment.
/// let tags = schema.add(Field::new("tags", Kind::SortedSet, LogicalType::Utf8))?;
/// assert!(schema.get(tags).is_some_and(FieldSpec::is_multi_valued));
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schema(Arc<Fields>);

/// The fields of a [`Schema`]. Clones share them, as each batch of a store has one.
#[derive(Clone, Debug, Default)]
struct Fields {
    fields: Vec<FieldSpec>,
    // Indices into `fields`, hashed by name. Names have up to 64 KiB, so they are not stored twice.
    by_name: HashTable<u32>,
    hash: DefaultHashBuilder,
}

impl Schema {
    /// A schema without fields.
    pub fn new() -> Schema {
        Schema::default()
    }

    /// Adds a field.
    ///
    /// # Errors
    ///
    /// If the name is empty, longer than 65,536 bytes or taken; if the format is too long; if the field cannot have its
    /// [`BytesKind`]; or if it is the 65,001st field. The schema is then unchanged.
    pub fn add(&mut self, field: impl Into<FieldSpec>) -> Result<FieldId> {
        let field = field.into();
        let refuse = |kind| Err(Error::new(kind).of(&field.name));
        if let Err(kind) = field.check() {
            return refuse(kind);
        }
        if self.field(&field.name).is_some() {
            return refuse(ErrorKind::DuplicateName);
        }
        let id = match u32::try_from(self.len()) {
            Ok(id) if id < MAX_COLUMNS => id,
            _ => return refuse(ErrorKind::TooManyFields { max: MAX_COLUMNS }),
        };
        let Fields { fields, by_name, hash: hasher } = Arc::make_mut(&mut self.0);
        let hash = hasher.hash_one(&field.name);
        fields.push(field);
        by_name.insert_unique(hash, id, |&id| hasher.hash_one(fields[FieldId(id).index()].name()));
        Ok(FieldId(id))
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<FieldId> {
        let Fields { fields, by_name, hash } = &*self.0;
        let named = |&id: &u32| fields[FieldId(id).index()].name == name;
        by_name.find(hash.hash_one(name), named).map(|&id| FieldId(id))
    }

    /// The declaration of `field`; `None` if it belongs to another schema.
    pub fn get(&self, field: FieldId) -> Option<&FieldSpec> {
        self.0.fields.get(field.index())
    }

    /// The fields, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FieldId, &FieldSpec)> {
        (0..).map(FieldId).zip(&self.0.fields)
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.fields.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.fields.is_empty()
    }

    /// Replaces the declaration of a field by `spec`, which has the same name.
    pub(crate) fn replace(&mut self, field: FieldId, spec: FieldSpec) -> Result<()> {
        spec.check().map_err(|kind| Error::new(kind).of(&spec.name))?;
        if let Some(place) = Arc::make_mut(&mut self.0).fields.get_mut(field.index()) {
            *place = spec;
        }
        Ok(())
    }

    pub(crate) fn into_fields(self) -> Vec<FieldSpec> {
        Arc::unwrap_or_clone(self.0).fields
    }
}
