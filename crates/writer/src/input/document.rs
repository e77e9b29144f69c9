//! [`Document`]: adding one document at a time.

use std::net::IpAddr;

use docvalues_format::file::kind::{from_f64, from_u64};
use docvalues_format::id::DocId;

use super::check_value::{check_bytes, check_number};
use super::field_buffers::{FieldBuffers, InputType};
use crate::error::Result;
use crate::schema::FieldId;

/// A builder of one document; made by [`SegmentWriter::document`](crate::SegmentWriter::document).
///
/// Add its values, in any order, then call [`finish`](Self::finish). A document that is dropped before, such as by `?`
/// on an error, leaves no values in the segment, and the next document takes its number.
///
/// After an error, the value was not added, and the document can still be finished without it. Fields without a value
/// are missing in the document. Multi-valued fields take any number of values, in any order.
///
/// # Errors
///
/// Every method fails if the field belongs to another schema or has another type, if a single-valued field already has
/// a value, or if the budget is used up. The error names the field and the document.
///
/// # Examples
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// let mut doc = writer.document();
/// doc.str(tags, "red")?.str(tags, "blue")?;
/// assert_eq!(doc.finish()?.get(), 0);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
///
/// Types have a method each:
///
/// ```
/// use std::net::IpAddr;
///
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let mut field = |name: &str, logical| schema.add(FieldSpec::new(name, logical));
/// let (price, sold) = (field("price", LogicalType::F64)?, field("sold", LogicalType::Bool)?);
/// let (day, at) = (field("day", LogicalType::Date)?, field("at", LogicalType::TimestampMillis)?);
/// let (client, session) = (field("client", LogicalType::Ip)?, field("session", LogicalType::Uuid)?);
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// let mut doc = writer.document();
/// doc.f64(price, 12.5)?.bool(sold, true)?.date(day, 19_675)?.timestamp(at, 1_700_000_000_000)?;
/// doc.ip(client, IpAddr::from([192, 0, 2, 1]))?.uuid(session, 0x1234_5678)?;
/// doc.finish()?;
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
#[derive(Debug)]
pub struct Document<'w> {
    fields: &'w mut FieldBuffers,
}

impl<'w> Document<'w> {
    pub(crate) fn new(fields: &'w mut FieldBuffers) -> Document<'w> {
        // A leaked document (`mem::forget`) was not rolled back on drop.
        fields.roll_back();
        Document { fields }
    }

    /// The number of the document. It changes only if documents are [sorted](crate::SegmentWriter::sort_by) or deleted:
    /// [`SegmentWriter::finish_moved`](crate::SegmentWriter::finish_moved) reports the new one.
    pub fn id(&self) -> DocId {
        DocId::new(self.fields.docs)
    }

    /// Adds a value of type `i64`.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn i64(&mut self, field: FieldId, value: i64) -> Result<&mut Self> {
        self.number(field, InputType::I64, value)
    }

    /// Adds a value of type `u64`.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn u64(&mut self, field: FieldId, value: u64) -> Result<&mut Self> {
        self.number(field, InputType::U64, from_u64(value))
    }

    /// Adds a value of type `f64`. Every bit pattern is kept.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn f64(&mut self, field: FieldId, value: f64) -> Result<&mut Self> {
        self.number(field, InputType::F64, from_f64(value))
    }

    /// Adds a value of type `bool`.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn bool(&mut self, field: FieldId, value: bool) -> Result<&mut Self> {
        self.number(field, InputType::BOOL, value.into())
    }

    /// Adds a date: days since 1970-01-01.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn date(&mut self, field: FieldId, days: i32) -> Result<&mut Self> {
        self.number(field, InputType::DATE, days.into())
    }

    /// Adds a timestamp: milliseconds, microseconds or nanoseconds since 1970-01-01T00:00:00Z, depending on the field's
    /// type.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn timestamp(&mut self, field: FieldId, units: i64) -> Result<&mut Self> {
        self.number(field, InputType::TIMESTAMP, units)
    }

    /// Adds a number in its stored form, which [`LogicalType`](docvalues_format::file::kind::LogicalType) defines.
    ///
    /// # Errors
    ///
    /// See [`Document`]; also for a boolean that is neither 0 nor 1.
    pub fn stored(&mut self, field: FieldId, stored: i64) -> Result<&mut Self> {
        self.number(field, InputType::NUMBER, stored)
    }

    /// Adds a string.
    ///
    /// # Errors
    ///
    /// See [`Document`]; also for a string of more than [`MAX_VALUE`](crate::MAX_VALUE) bytes, or if the field would
    /// have more distinct strings than a dictionary can number.
    pub fn str(&mut self, field: FieldId, value: &str) -> Result<&mut Self> {
        self.string(field, InputType::STR, value.as_bytes())
    }

    /// Adds a byte string.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str).
    pub fn bytes(&mut self, field: FieldId, value: &[u8]) -> Result<&mut Self> {
        self.string(field, InputType::BYTES, value)
    }

    /// Adds an IP address. An IPv4 address is stored as the IPv4-mapped IPv6 address, and reads as IPv4: the two are
    /// one value.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str).
    pub fn ip(&mut self, field: FieldId, value: impl Into<IpAddr>) -> Result<&mut Self> {
        let octets = match value.into() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
            IpAddr::V6(v6) => v6.octets(),
        };
        self.string(field, InputType::IP, &octets)
    }

    /// Adds a UUID, or another 128-bit id.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str).
    pub fn uuid(&mut self, field: FieldId, value: u128) -> Result<&mut Self> {
        let bytes = value.to_be_bytes();
        self.string(field, InputType::UUID, &bytes)
    }

    /// Adds a byte string in its stored form: UTF-8 for text, 16 bytes for an IP address or a UUID.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str); also for bytes that are no value of the type.
    pub fn stored_bytes(&mut self, field: FieldId, value: &[u8]) -> Result<&mut Self> {
        self.string(field, InputType::BYTES_OF_ANY, value)
    }

    /// Adds the document to the segment.
    ///
    /// # Errors
    ///
    /// If the segment already has as many documents as it can number.
    pub fn finish(self) -> Result<DocId> {
        let id = self.id();
        self.fields.commit_document()?;
        Ok(id)
    }

    fn number(&mut self, field: FieldId, given: InputType, stored: i64) -> Result<&mut Self> {
        self.fields.add(field, given, |logical, buffer, _| {
            check_number(logical, stored)?;
            buffer.push_number(stored);
            Ok(())
        })?;
        Ok(self)
    }

    fn string(&mut self, field: FieldId, given: InputType, value: &[u8]) -> Result<&mut Self> {
        self.fields.add(field, given, |logical, buffer, memory| {
            check_bytes(logical, value, given.is_text)?;
            buffer.push_bytes(value, memory)
        })?;
        Ok(self)
    }
}

impl Drop for Document<'_> {
    fn drop(&mut self) {
        // A no-op after a commit.
        self.fields.roll_back();
    }
}
