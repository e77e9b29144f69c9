//! Structs as documents: [`derive(Document)`](macro@Document), with the feature `derive`.
//!
//! ```
//! use docvalues::document::Document;
//! use docvalues::prelude::*;
//!
//! #[derive(Document, Debug, PartialEq)]
//! struct Hit {
//!     #[document(id)]
//!     url: String,
//!     #[document(rename = "bytes")]
//!     size: u64,
//!     price: Option<f64>,
//!     tags: Vec<String>,
//! }
//!
//! let hit = Hit { url: "a".into(), size: 512, price: None, tags: vec!["new".into(), "red".into()] };
//! let (schema, ids) = Hit::schema()?;
//! let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
//! let mut doc = writer.document();
//! hit.write(&ids, &mut doc)?;
//! doc.finish()?;
//! let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
//!
//! let mut retriever = Search::new(&segment).retriever(Hit::NAMES)?;
//! assert_eq!(Hit::read(&retriever.retrieve(&[DocId::new(0)])?.row(0))?, hit);
//! # Ok::<(), docvalues::Error>(())
//! ```

use std::net::IpAddr;

use crate::column::{Date, TimestampMicros, TimestampMillis, TimestampNanos};
use crate::search::export::Row;
use crate::writer::{Document as Builder, Error};
use crate::{Field, FieldId, Kind, LogicalType, Schema};

pub use docvalues_derive::Document;

/// A struct that is written as a document, and read from a row. `#[derive(Document)]` implements it for a struct with
/// named fields and at most one lifetime, whose types implement [`ToValue`] and
/// [`FromValue`](crate::search::export::FromValue): a field of documents for each.
///
/// | `#[document(…)]` | the field |
/// | --- | --- |
/// | `rename = "…"` | has this name |
/// | `id` | identifies documents in a store, which needs byte strings; its column is binary |
/// | `version` | has the version of documents in a store |
/// | `kind = "binary"`, `kind = "sorted"` | has this column kind; byte strings are sorted without |
/// | `skip` | is not written, and reads as its default |
///
/// A type that is no value does not compile:
///
/// ```compile_fail
/// #[derive(docvalues::document::Document)]
/// struct Hit {
///     place: (f64, f64),
/// }
/// ```
pub trait Document<'a>: Sized {
    /// The names of the fields: the columns of the rows to [`read`](Self::read).
    const NAMES: &'static [&'static str];

    /// The name of the field of ids.
    const ID: Option<&'static str>;

    /// The name of the field of versions.
    const VERSION: Option<&'static str>;

    /// The fields, in the order of [`NAMES`](Self::NAMES).
    fn fields() -> Vec<Field>;

    /// Adds the values to a document of a segment writer or of a store's batch. `ids` are those of
    /// [`schema`](Self::schema) or [`ids`](Self::ids). O(values).
    ///
    /// # Errors
    ///
    /// See [`writer::Document`](crate::writer::Document).
    ///
    /// # Panics
    ///
    /// If there are fewer ids than fields.
    fn write(&self, ids: &[FieldId], doc: &mut Builder<'_>) -> Result<(), Error>;

    /// Reads a row whose columns are [`NAMES`](Self::NAMES). Lists of numbers come back ascending, those of byte strings
    /// as sets, and empty ones of an `Option` as `None`.
    ///
    /// # Errors
    ///
    /// See [`Row::get`].
    ///
    /// # Panics
    ///
    /// If there are fewer columns than fields.
    fn read(row: &Row<'a>) -> crate::search::Result<Self>;

    /// A schema of the fields for a segment writer, and their ids.
    ///
    /// # Errors
    ///
    /// See [`Schema::add`].
    fn schema() -> Result<(Schema, Vec<FieldId>), Error> {
        let mut schema = Schema::new();
        let ids = Self::fields().into_iter().map(|field| schema.add(field)).collect::<Result<_, _>>()?;
        Ok((schema, ids))
    }

    /// The ids of the fields in another schema, such as `ids(|name| batch.field(name))`.
    ///
    /// # Errors
    ///
    /// Those of `find`.
    fn ids<E>(find: impl FnMut(&'static str) -> Result<FieldId, E>) -> Result<Vec<FieldId>, E> {
        Self::NAMES.iter().copied().map(find).collect()
    }

    /// A schema of the fields for a store.
    ///
    /// # Errors
    ///
    /// See [`StoreSchema`](crate::store::StoreSchema).
    #[cfg(feature = "store")]
    fn store_schema() -> Result<crate::store::StoreSchema, crate::store::Error> {
        let mut schema = crate::store::StoreSchema::new().with_fields(Self::fields())?;
        if let Some(id) = Self::ID {
            schema = schema.with_id_field(id)?;
        }
        if let Some(version) = Self::VERSION {
            schema = schema.with_version_field(version)?;
        }
        Ok(schema)
    }
}

/// A type of the fields of a [`Document`]: those of [`FromValue`](crate::search::export::FromValue), each written to
/// columns of one type. `i32` and `u32` are written as `i64` and `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of a document's field",
    note = "`docvalues::document::ToValue` lists these types; `#[document(skip)]` leaves a field out"
)]
pub trait ToValue {
    /// The type of the column.
    const LOGICAL: LogicalType;

    /// Whether there may be several values.
    const MANY: bool = false;

    /// Adds the value to a document.
    ///
    /// # Errors
    ///
    /// See [`writer::Document`](crate::writer::Document).
    fn write(&self, field: FieldId, doc: &mut Builder<'_>) -> Result<(), Error>;
}

/// The kind of the column of a type: sorted for single byte strings.
#[doc(hidden)]
pub fn kind<T: ToValue>() -> Kind {
    match (T::LOGICAL.is_bytes(), T::MANY) {
        (false, false) => Kind::Numeric,
        (false, true) => Kind::SortedNumeric,
        (true, false) => Kind::Sorted,
        (true, true) => Kind::SortedSet,
    }
}

macro_rules! values {
    ($($of:ty, $logical:ident, $write:ident, |$value:ident| $written:expr;)*) => {$(
        impl ToValue for $of {
            const LOGICAL: LogicalType = LogicalType::$logical;

            fn write(&self, field: FieldId, doc: &mut Builder<'_>) -> Result<(), Error> {
                let $value = self;
                doc.$write(field, $written).map(drop)
            }
        }
    )*};
}

values! {
    i32, I64, i64, |value| i64::from(*value);
    u32, U64, u64, |value| u64::from(*value);
    i64, I64, i64, |value| *value;
    u64, U64, u64, |value| *value;
    f64, F64, f64, |value| *value;
    bool, Bool, bool, |value| *value;
    Date, Date, stored, |value| value.0;
    TimestampMillis, TimestampMillis, timestamp, |value| value.0;
    TimestampMicros, TimestampMicros, timestamp, |value| value.0;
    TimestampNanos, TimestampNanos, timestamp, |value| value.0;
    &str, Utf8, str, |value| value;
    String, Utf8, str, |value| value;
    &[u8], Bytes, bytes, |value| value;
    Vec<u8>, Bytes, bytes, |value| value;
    IpAddr, Ip, ip, |value| *value;
    u128, Uuid, uuid, |value| *value;
}

/// `None` writes nothing.
impl<T: ToValue> ToValue for Option<T> {
    const LOGICAL: LogicalType = T::LOGICAL;
    const MANY: bool = T::MANY;

    fn write(&self, field: FieldId, doc: &mut Builder<'_>) -> Result<(), Error> {
        self.as_ref().map_or(Ok(()), |value| value.write(field, doc))
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    const LOGICAL: LogicalType = {
        assert!(!T::MANY, "a field has no lists of lists");
        T::LOGICAL
    };
    const MANY: bool = true;

    fn write(&self, field: FieldId, doc: &mut Builder<'_>) -> Result<(), Error> {
        self.iter().try_for_each(|value| value.write(field, doc))
    }
}
