//! The fields of documents: their names and types, and their values in a segment and as JSON.

use std::io::{self, Write};

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
    like(name, name)
}

/// The specification of a field `name` with the type of one of [`FIELDS`].
pub fn like(field: &str, name: &str) -> FieldSpec {
    match field {
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
    add_values(writer, fields.iter().copied().zip(places.iter().map(|&place| values[place])))
}

/// Adds a document with the given fields and values.
///
/// # Errors
///
/// As [`add`].
pub fn add_values<'a>(
    writer: &mut SegmentWriter,
    values: impl IntoIterator<Item = (FieldId, Option<Value<'a>>)>,
) -> docvalues::writer::Result<()> {
    let mut document = writer.document();
    for (field, value) in values {
        match value {
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

/// Writes a document as a JSON object, without the fields that have no value. The names and texts of an archive have no
/// characters to escape but quotes.
///
/// # Errors
///
/// The errors of `out`.
pub fn json<'a>(
    out: &mut impl Write,
    values: impl IntoIterator<Item = (&'a str, Option<Value<'a>>)>,
) -> io::Result<()> {
    let mut before = '{';
    for (name, value) in values {
        let Some(value) = value else { continue };
        write!(out, "{before}\"{name}\":")?;
        before = ',';
        match value {
            Value::Id(id) => {
                let hex = format!("{id:032x}");
                let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
                write!(out, "\"{a}-{b}-{c}-{d}-{e}\"")?;
            }
            Value::Text(text) => write!(out, "\"{}\"", text.replace('"', "\\\""))?,
            Value::Number(number) => write!(out, "{number}")?,
            Value::Unsigned(number) => write!(out, "{number}")?,
            Value::Moment(millis) => write!(out, "\"{}\"", moment(millis))?,
        }
    }
    // The document may have none.
    out.write_all(if before == '{' { b"{}" } else { b"}" })
}

/// The time `millis` milliseconds after 1970-01-01T00:00:00Z.
pub fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).expect("between the years -9999 and 9999")
}
