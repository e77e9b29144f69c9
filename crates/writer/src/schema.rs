//! Which fields a segment has: what the caller declares before the first document.

use std::fmt;

use docvalues_format::binary::Compression;
use docvalues_format::file::field::MAX_NAME;
use docvalues_format::file::kind::LogicalType;
use docvalues_format::file::root::MAX_COLUMNS;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use crate::error::{Error, ErrorKind, Result};

/// The longest [`format`](FieldSpec::format) of a field, in bytes.
pub const MAX_FORMAT: usize = 255;

/// A field of a [`Schema`]: what values are given by, instead of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(u32);

impl FieldId {
    /// The field's place in the order in which fields were added.
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

/// How the byte strings of a field with one value a document are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BytesKind {
    /// Whichever takes fewer bytes in the file, down to the last one; sorted on a tie.
    #[default]
    Auto,
    /// The distinct ones in a dictionary, and the ord of one for each document: for facets, groups
    /// and sorting.
    Sorted,
    /// One after the other: for retrieval.
    Binary,
}

/// What one field holds.
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
pub struct FieldSpec {
    name: String,
    logical: LogicalType,
    multi_valued: bool,
    kind: BytesKind,
    compression: Compression,
    format: Option<String>,
}

impl FieldSpec {
    /// A field with at most one value of type `logical` a document.
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

    /// Lets a document have any number of values: a sorted list of numbers, in which duplicates stay,
    /// or a set of byte strings.
    #[must_use]
    pub fn multi_valued(self) -> FieldSpec {
        FieldSpec { multi_valued: true, ..self }
    }

    /// Says how byte strings are kept.
    #[must_use]
    pub fn kind(self, kind: BytesKind) -> FieldSpec {
        FieldSpec { kind, ..self }
    }

    /// Says how byte strings are compressed that are kept one after the other.
    #[must_use]
    pub fn compression(self, compression: Compression) -> FieldSpec {
        FieldSpec { compression, ..self }
    }

    /// Says how the input spelled the values, for who writes them out again: for dates and
    /// timestamps a `strftime` pattern. At most [`MAX_FORMAT`] bytes; an empty one is none. Where only
    /// the values tell, see [`SegmentWriter::set_format`](crate::SegmentWriter::set_format).
    #[must_use]
    pub fn format(self, format: impl Into<String>) -> FieldSpec {
        FieldSpec { format: Some(format.into()).filter(|format| !format.is_empty()), ..self }
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn logical(&self) -> LogicalType {
        self.logical
    }

    /// Whether a document may have several.
    pub fn is_multi_valued(&self) -> bool {
        self.multi_valued
    }

    /// How byte strings are kept.
    pub fn bytes_kind(&self) -> BytesKind {
        self.kind
    }

    /// How byte strings are compressed.
    pub fn compressed(&self) -> Compression {
        self.compression
    }

    /// How the input spelled them.
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

/// The fields of a segment, in the order in which they were added. That order is the caller's own:
/// the file has the columns by name.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    fields: Vec<FieldSpec>,
    // Indices into `fields`, hashed by name: names are up to 64 KiB, and are not kept twice.
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
    /// A name that is empty, longer than 65,536 bytes or taken, a format that is too long, a
    /// [`BytesKind`] that the field cannot have, or the 65,001st field. The schema is then as before.
    pub fn add(&mut self, field: FieldSpec) -> Result<FieldId> {
        let refuse = |kind| Err(Error::new(kind).of(&field.name));
        if let Err(kind) = field.check() {
            return refuse(kind);
        }
        if self.field(&field.name).is_some() {
            return refuse(ErrorKind::DuplicateName);
        }
        let id = match u32::try_from(self.fields.len()) {
            Ok(id) if id < MAX_COLUMNS => id,
            _ => return refuse(ErrorKind::TooManyFields { max: MAX_COLUMNS }),
        };
        let hash = self.hash.hash_one(&field.name);
        self.fields.push(field);
        let (hasher, fields) = (&self.hash, &self.fields);
        self.by_name.insert_unique(hash, id, |&id| hasher.hash_one(fields[FieldId(id).index()].name()));
        Ok(FieldId(id))
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<FieldId> {
        let named = |&id: &u32| self.fields[FieldId(id).index()].name == name;
        self.by_name.find(self.hash.hash_one(name), named).map(|&id| FieldId(id))
    }

    /// What `field` holds; `None` if it is another schema's.
    pub fn get(&self, field: FieldId) -> Option<&FieldSpec> {
        self.fields.get(field.index())
    }

    /// The fields, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FieldId, &FieldSpec)> {
        (0..).map(FieldId).zip(&self.fields)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Puts `spec` in the place of a field with the same name.
    pub(crate) fn replace(&mut self, field: FieldId, spec: FieldSpec) -> Result<()> {
        spec.check().map_err(|kind| Error::new(kind).of(&spec.name))?;
        if let Some(place) = self.fields.get_mut(field.index()) {
            *place = spec;
        }
        Ok(())
    }

    pub(crate) fn into_fields(self) -> Vec<FieldSpec> {
        self.fields
    }
}
