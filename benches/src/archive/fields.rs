//! The fields of documents: their names and types, and their values in a segment.

use docvalues::{BytesKind, FieldId, FieldSpec, LogicalType, SegmentWriter};
use jiff::Timestamp;

use super::Document;

/// The names of the fields.
pub const FIELDS: [&str; 16] = [
    "id",
    "source_file",
    "url",
    "url_norm",
    "host",
    "domain",
    "public_suffix",
    "content_type_served",
    "content_type_norm",
    "content_type_ext",
    "status_code",
    "crawl_date",
    "crawl_year",
    "content_length",
    "content_language",
    "image_pixels",
];

/// The specification of one of [`FIELDS`].
pub fn field(name: &str) -> FieldSpec {
    match name {
        "id" => FieldSpec::new(name, LogicalType::Uuid),
        "url" | "url_norm" => FieldSpec::new(name, LogicalType::Utf8).kind(BytesKind::Binary),
        "status_code" | "crawl_year" => FieldSpec::new(name, LogicalType::I64),
        "crawl_date" => FieldSpec::new(name, LogicalType::TimestampMillis),
        "content_length" | "image_pixels" => FieldSpec::new(name, LogicalType::U64),
        _ => FieldSpec::new(name, LogicalType::Utf8).kind(BytesKind::Sorted),
    }
}

/// A value of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A 128-bit id.
    Id(u128),
    /// Text.
    Text(&'a str),
    /// A number.
    Number(i64),
    /// A number that is not negative.
    Unsigned(u64),
    /// Milliseconds since 1970-01-01T00:00:00Z.
    Moment(i64),
}

impl Document {
    /// The values, in the order of [`FIELDS`].
    pub fn values(&self) -> [Option<Value<'_>>; 16] {
        let text = |text| Some(Value::Text(text));
        [
            Some(Value::Id(self.id)),
            text(&self.source_file),
            text(&self.url),
            text(&self.url_norm),
            text(&self.host),
            text(&self.domain),
            text(self.public_suffix),
            text(self.content_type_served),
            text(self.content_type_norm),
            self.content_type_ext.map(Value::Text),
            Some(Value::Number(self.status_code)),
            Some(Value::Moment(self.crawl_date)),
            Some(Value::Number(self.crawl_year)),
            self.content_length.map(Value::Unsigned),
            self.content_language.map(Value::Text),
            self.image_pixels.map(Value::Unsigned),
        ]
    }
}

/// Adds a document with some of [`FIELDS`]: those at `places`, whose fields in the segment are `fields`.
///
/// # Errors
///
/// If the writer fails.
pub fn add(
    writer: &mut SegmentWriter,
    fields: &[FieldId],
    places: &[usize],
    document: &Document,
) -> docvalues::writer::Result<()> {
    let values = document.values();
    let mut document = writer.document();
    for (&field, &place) in fields.iter().zip(places) {
        match values[place] {
            None => &mut document,
            Some(Value::Id(value)) => document.uuid(field, value)?,
            Some(Value::Text(value)) => document.str(field, value)?,
            Some(Value::Number(value)) => document.i64(field, value)?,
            Some(Value::Unsigned(value)) => document.u64(field, value)?,
            Some(Value::Moment(value)) => document.timestamp(field, value)?,
        };
    }
    document.finish()?;
    Ok(())
}

/// The time `millis` milliseconds after 1970-01-01T00:00:00Z.
pub fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).expect("between the years -9999 and 9999")
}
