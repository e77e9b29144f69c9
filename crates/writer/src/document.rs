//! One document at a time.

use std::net::IpAddr;

use docvalues_format::file::kind::{from_f64, from_u64};
use docvalues_format::id::DocId;

use crate::error::Result;
use crate::field_buffers::{FieldBuffers, InputType};
use crate::schema::FieldId;

/// A document that is being added.
///
/// Give it its values, in any order, then [`finish`](Self::finish) it. Dropped without that, for
/// instance because of an error on the way, it never was: the segment has none of its values, and the
/// next document takes its number.
///
/// A value is added whole or, with an error, not at all; whoever ignores the error can go on, and finish
/// a document without that value. A field that is given no value is missing in the document. A
/// multi-valued one takes any number of them, in any order.
///
/// Every method fails if the field is another schema's, is of another type, has room for one value and
/// has one, or if the budget is used up. The error names field and document.
#[derive(Debug)]
pub struct Document<'w> {
    fields: &'w mut FieldBuffers,
}

impl<'w> Document<'w> {
    pub(crate) fn new(fields: &'w mut FieldBuffers) -> Document<'w> {
        // A document that was forgotten (`mem::forget`) is still there.
        fields.roll_back();
        Document { fields }
    }

    /// The number under which the document is added. It keeps that number, unless documents are
    /// [sorted](crate::SegmentWriter::sort_by): then [`SegmentWriter::finish_moved`](crate::SegmentWriter::finish_moved) tells
    /// the one that it gets.
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

    /// Adds a value of type `f64`. Every bit pattern comes back as it is.
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

    /// Adds a timestamp: milliseconds, microseconds or nanoseconds since 1970-01-01T00:00:00Z, as the
    /// field has it.
    ///
    /// # Errors
    ///
    /// See [`Document`].
    pub fn timestamp(&mut self, field: FieldId, units: i64) -> Result<&mut Self> {
        self.number(field, InputType::TIMESTAMP, units)
    }

    /// Adds a number that is in its stored form already: see
    /// [`LogicalType`](docvalues_format::file::kind::LogicalType).
    ///
    /// # Errors
    ///
    /// See [`Document`]; and for a boolean that is neither 0 nor 1.
    pub fn stored(&mut self, field: FieldId, stored: i64) -> Result<&mut Self> {
        self.number(field, InputType::NUMBER, stored)
    }

    /// Adds a string.
    ///
    /// # Errors
    ///
    /// See [`Document`]; and for a string of more than [`MAX_VALUE`](crate::MAX_VALUE) bytes, or one
    /// distinct string more than a dictionary can number.
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

    /// Adds an IP address. An IPv4 address is stored as the IPv6 address it is mapped to, and comes back
    /// as IPv4: the two are one value.
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

    /// Adds a 128-bit id.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str).
    pub fn uuid(&mut self, field: FieldId, value: u128) -> Result<&mut Self> {
        let bytes = value.to_be_bytes();
        self.string(field, InputType::UUID, &bytes)
    }

    /// Adds a byte string that is in its stored form already: UTF-8 for text, 16 bytes for an IP address
    /// or a 128-bit id.
    ///
    /// # Errors
    ///
    /// As [`str`](Self::str); and for bytes that the type does not have.
    pub fn stored_bytes(&mut self, field: FieldId, value: &[u8]) -> Result<&mut Self> {
        self.string(field, InputType::BYTES_OF_ANY, value)
    }

    /// Adds the document to the segment.
    ///
    /// # Errors
    ///
    /// When the segment has as many documents as it can have.
    pub fn finish(self) -> Result<DocId> {
        let id = self.id();
        self.fields.commit_document()?;
        Ok(id)
    }

    fn number(&mut self, field: FieldId, given: InputType, stored: i64) -> Result<&mut Self> {
        self.fields.add_number(field, given, stored)?;
        Ok(self)
    }

    fn string(&mut self, field: FieldId, given: InputType, value: &[u8]) -> Result<&mut Self> {
        self.fields.add_bytes(field, given, value)?;
        Ok(self)
    }
}

impl Drop for Document<'_> {
    fn drop(&mut self) {
        // Nothing is left to take back once it was committed.
        self.fields.roll_back();
    }
}
