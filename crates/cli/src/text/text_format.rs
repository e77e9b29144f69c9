//! The text format of a column's values, stored with the column so that export reproduces the input.
//!
//! The logical type gives a value its meaning; the text format only says how to print it. It is stored as a short text
//! such as `%Y-%m-%dT%H:%M:%SZ;missing=NA;order=3`: the `strftime` pattern of a date or timestamp, if it
//! has one, and `key=value` entries.

use std::fmt;

use jiff::tz::Offset;

use super::number::FloatStyle;
use super::time::{TimeFormat, parse_offset, print_offset};
use crate::api::search::calendar::TimeZone;

/// The text format of a column, which export needs beyond the type. The default is the canonical format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextFormat {
    /// The format of a date or timestamp.
    pub(crate) time: Option<TimeFormat>,
    /// Timestamps are printed in this zone, whatever the offset of their format. No segment stores it.
    pub(crate) zone: Option<TimeZone>,
    /// Timestamps are printed as integers: units since 1970.
    pub(crate) epoch: bool,
    /// The format of an `f64`.
    pub(crate) float: Option<FloatStyle>,
    /// The CSV cell for a missing value; the default is an empty cell.
    pub(crate) missing: Option<String>,
    /// One of [`JSON_MISSING`] for a missing value; by default the key is absent.
    pub(crate) json_missing: Option<&'static str>,
    /// The separator of several values in a CSV cell; the default is a JSON array.
    pub(crate) separator: Option<String>,
    /// The column's rank among the columns of the input; a segment's directory is sorted by name.
    pub(crate) order: Option<u32>,
}

/// The longest text that a segment stores, in bytes.
const MAX_LEN: usize = 255;

/// The JSON that a missing value may have.
const JSON_MISSING: [&str; 2] = ["null", "[]"];

impl TextFormat {
    /// The text for a segment's directory; `None` for the canonical format. Drops entries that would make it
    /// longer than [`MAX_LEN`].
    pub(crate) fn to_format(&self) -> Option<String> {
        let mut text = self.to_string();
        if text.len() > MAX_LEN {
            text = TextFormat { missing: None, separator: None, ..self.clone() }.to_string();
        }
        if text.len() > MAX_LEN {
            text = TextFormat { time: None, ..TextFormat::parse(&text) }.to_string();
        }
        (!text.is_empty()).then_some(text)
    }

    /// The format of timestamps in a zone: RFC 3339 with the offset of each.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> TextFormat {
        let time = Some(TimeFormat::new("%Y-%m-%dT%H:%M:%S%.f%:z"));
        TextFormat { time, zone: Some(zone.clone()), epoch: false, ..self }
    }

    /// The entries that both have in common; the rank is that of `self`.
    pub(crate) fn common(self, other: TextFormat) -> TextFormat {
        fn same<T: PartialEq>(a: Option<T>, b: &Option<T>) -> Option<T> {
            a.filter(|a| b.as_ref() == Some(a))
        }
        TextFormat {
            time: same(self.time, &other.time),
            zone: same(self.zone, &other.zone),
            epoch: self.epoch && other.epoch,
            float: same(self.float, &other.float),
            missing: same(self.missing, &other.missing),
            json_missing: same(self.json_missing, &other.json_missing),
            separator: same(self.separator, &other.separator),
            order: self.order.or(other.order),
        }
    }

    /// The text for a directory that several texts have in common.
    pub(crate) fn in_common<'t>(formats: impl Iterator<Item = Option<&'t str>>) -> Option<String> {
        let formats = formats.map(|format| TextFormat::parse(format.unwrap_or_default()));
        formats.reduce(TextFormat::common).and_then(|text_format| text_format.to_format())
    }

    /// Parses the output of [`fmt::Display`]. Ignores keys of newer releases, because the canonical format is always
    /// correct.
    pub(crate) fn parse(text: &str) -> TextFormat {
        let mut text_format = TextFormat::default();
        for entry in text.split(';').filter(|entry| !entry.is_empty()) {
            let (key, value) = entry.split_once('=').unwrap_or((entry, ""));
            let value = unescape(value);
            match key {
                "float" => text_format.float = float_style(&value),
                "missing" => text_format.missing = Some(value),
                "json-missing" => {
                    text_format.json_missing = JSON_MISSING.into_iter().find(|json| *json == value);
                }
                "separator" if !value.is_empty() => text_format.separator = Some(value),
                "order" => text_format.order = value.parse().ok(),
                "epoch" => text_format.epoch = true,
                "zone" => text_format.zone = TimeZone::get(&value).ok(),
                "offset" => {
                    if let (Some(time), Some(offset)) = (&mut text_format.time, parse_offset(&value)) {
                        time.offset = offset;
                    }
                }
                _ if entry.contains('%') => text_format.time = TimeFormat::parse(&unescape(entry)).ok(),
                _ => {}
            }
        }
        text_format
    }
}

impl fmt::Display for TextFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries = Vec::new();
        if self.epoch {
            entries.push("epoch".to_owned());
        } else if let Some(time) = &self.time {
            entries.push(escape(&time.pattern));
            if time.offset != Offset::UTC {
                entries.push(format!("offset={}", print_offset(time.offset)));
            }
        }
        entries.extend(self.zone.as_ref().map(|zone| format!("zone={}", escape(&zone.to_string()))));
        match self.float {
            Some(FloatStyle::Shortest) => entries.push("float=shortest".to_owned()),
            Some(FloatStyle::Cell) => entries.push("float=cell".to_owned()),
            Some(FloatStyle::Point) => entries.push("float=point".to_owned()),
            Some(FloatStyle::Compact) => entries.push("float=compact".to_owned()),
            Some(FloatStyle::Python) => entries.push("float=python".to_owned()),
            Some(FloatStyle::Plain) => entries.push("float=plain".to_owned()),
            Some(FloatStyle::Fixed(digits)) => entries.push(format!("float={digits}")),
            None => {}
        }
        entries.extend(self.missing.as_ref().map(|token| format!("missing={}", escape(token))));
        entries.extend(self.json_missing.map(|json| format!("json-missing={json}")));
        entries.extend(self.separator.as_ref().map(|separator| format!("separator={}", escape(separator))));
        entries.extend(self.order.map(|order| format!("order={order}")));
        f.write_str(&entries.join(";"))
    }
}

fn float_style(text: &str) -> Option<FloatStyle> {
    match text {
        "shortest" => Some(FloatStyle::Shortest),
        "cell" => Some(FloatStyle::Cell),
        "point" => Some(FloatStyle::Point),
        "compact" => Some(FloatStyle::Compact),
        "python" => Some(FloatStyle::Python),
        "plain" => Some(FloatStyle::Plain),
        digits => digits.parse().ok().filter(|n| (1..=18).contains(n)).map(FloatStyle::Fixed),
    }
}

/// Escapes `;`, which separates entries, and backslashes.
fn escape(text: &str) -> String {
    text.replace('\\', r"\\").replace(';', r"\s")
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(if chars.next() == Some('s') { ';' } else { '\\' }),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_format_is_parsed_from_its_text() {
        let mut time = TimeFormat::parse("%Y-%m-%d;%H=%M%z").unwrap();
        time.offset = Offset::constant(-5);
        let full = TextFormat {
            time: Some(time),
            zone: None,
            epoch: false,
            float: Some(FloatStyle::Fixed(2)),
            missing: Some(r"\N;=\s".to_owned()),
            json_missing: Some("[]"),
            separator: Some(";".to_owned()),
            order: Some(7),
        };
        for text_format in [
            TextFormat::default(),
            TextFormat { epoch: true, ..TextFormat::default() },
            TextFormat {
                float: Some(FloatStyle::Point),
                json_missing: Some("null"),
                ..TextFormat::default()
            },
            TextFormat {
                float: Some(FloatStyle::Shortest),
                missing: Some("NA".to_owned()),
                ..TextFormat::default()
            },
            full,
            TextFormat::default().in_zone(&TimeZone::get("Europe/Berlin").unwrap()),
        ] {
            assert_eq!(TextFormat::parse(&text_format.to_string()), text_format, "{text_format}");
        }
        assert_eq!(
            TextFormat { missing: Some("NA".into()), ..TextFormat::default() }.to_string(),
            "missing=NA"
        );
    }

    #[test]
    fn what_a_newer_release_wrote_is_ignored() {
        assert_eq!(
            TextFormat::parse("colour=red;float=99;json-missing=x;%q;order=-1;;x"),
            TextFormat::default()
        );
    }
}
