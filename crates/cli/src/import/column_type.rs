//! Column types as written in `--type` and schema files.

use std::fmt;

use crate::api::{Compression, LogicalType};
use crate::text::words::closest;

/// The type of a column: `i64`, `timestamp[us]`, `string:sorted`, `string[]` …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnType {
    pub(crate) logical: LogicalType,
    /// Whether a document can have several values.
    pub(crate) multi: bool,
    /// The layout of byte strings; `None` chooses the smaller of sorted and binary.
    pub(crate) layout: Option<Layout>,
}

/// The layout of byte strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Ordinals into a dictionary of distinct values.
    Sorted,
    /// Values without a dictionary.
    Binary(Compression),
}

impl Layout {
    /// Every layout and its name.
    const NAMED: [(&'static str, Layout); 5] = [
        ("sorted", Layout::Sorted),
        ("binary", Layout::Binary(Compression::Auto)),
        ("raw", Layout::Binary(Compression::None)),
        ("fsst", Layout::Binary(Compression::Fsst)),
        ("onpair", Layout::Binary(Compression::OnPair)),
    ];

    /// Returns the layout called `name`.
    ///
    /// # Errors
    ///
    /// Returns a message with all names.
    pub(crate) fn parse(name: &str) -> Result<Layout, String> {
        let found = Layout::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, layout)| *layout).ok_or_else(|| {
            let names = Layout::NAMED.map(|(name, _)| name).join(", ");
            format!("unknown layout {name:?}: expected one of {names}")
        })
    }

    pub(crate) fn name(self) -> &'static str {
        Layout::NAMED.iter().find(|(_, layout)| *layout == self).map_or("", |(name, _)| name)
    }
}

/// The names of all types, for messages.
fn type_names() -> Vec<&'static str> {
    let mut names = LogicalType::ALL.map(LogicalType::name).to_vec();
    let timestamp = names.iter().position(|name| name.starts_with("timestamp"));
    names.insert(timestamp.unwrap_or(0), "timestamp");
    names
}

impl ColumnType {
    pub(crate) fn single(logical: LogicalType) -> ColumnType {
        ColumnType { logical, multi: false, layout: None }
    }

    /// Parses `NAME[:LAYOUT]`, with `[]` after the name for several values. Also returns whether it is a `timestamp` of any
    /// unit, which the sample decides.
    ///
    /// # Errors
    ///
    /// Returns a message with all names.
    pub(crate) fn parse(text: &str) -> Result<(ColumnType, bool), String> {
        let (name, layout) = match text.split_once(':') {
            Some((name, layout)) => (name, Some(Layout::parse(layout)?)),
            None => (text, None),
        };
        let (name, multi) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
        let (logical, any_unit) = logical_type(name)?;
        Ok((ColumnType { logical, multi, layout }.checked()?, any_unit))
    }

    /// Checks that a column can have this type.
    ///
    /// # Errors
    ///
    /// Returns a message with the reason.
    pub(crate) fn checked(self) -> Result<ColumnType, String> {
        match self.layout {
            Some(layout) if !self.logical.is_bytes() => {
                Err(format!("only string, bytes, ip and uuid can be {}", layout.name()))
            }
            Some(layout @ Layout::Binary(_)) if self.multi => {
                Err(format!("a column with several values is always sorted: leave out :{}", layout.name()))
            }
            _ => Ok(self),
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.logical.name())?;
        if self.multi {
            f.write_str("[]")?;
        }
        match self.layout {
            Some(layout) => write!(f, ":{}", layout.name()),
            None => Ok(()),
        }
    }
}

/// Describes a value of the type, for messages.
pub(crate) fn value_name(logical: LogicalType) -> &'static str {
    match logical {
        LogicalType::I64 => "an i64 (-2^63 to 2^63-1)",
        LogicalType::U64 => "a u64 (0 to 2^64-1)",
        LogicalType::F64 => "a number",
        LogicalType::Bool => "true or false",
        LogicalType::Date => "a date (YYYY-MM-DD)",
        LogicalType::TimestampMillis | LogicalType::TimestampMicros | LogicalType::TimestampNanos => {
            "a timestamp (2013-01-31T06:00:00Z)"
        }
        LogicalType::Ip => "an IP address",
        LogicalType::Uuid => "a UUID",
        LogicalType::Utf8 => "text",
        LogicalType::Bytes => "bytes in hexadecimal",
        _ => logical.name(),
    }
}

/// Returns the type called `name`, and whether it is a timestamp of any unit.
pub(crate) fn logical_type(name: &str) -> Result<(LogicalType, bool), String> {
    if name == "timestamp" {
        return Ok((LogicalType::TimestampMillis, true));
    }
    if let Some(logical) = LogicalType::ALL.into_iter().find(|logical| logical.name() == name) {
        return Ok((logical, false));
    }
    let alias = match name.to_ascii_lowercase().as_str() {
        "int" | "integer" | "long" | "int64" | "i32" | "int32" => Some("i64"),
        "uint" | "uint64" | "u32" => Some("u64"),
        "float" | "double" | "number" | "float64" | "f32" => Some("f64"),
        "boolean" => Some("bool"),
        "str" | "text" | "utf8" | "keyword" => Some("string"),
        "datetime" => Some("timestamp"),
        _ => closest(name, type_names().into_iter()),
    };
    Err(match alias {
        Some(alias) => format!("unknown type {name:?}; did you mean {alias}?"),
        None => format!("unknown type {name:?}: expected one of {}", type_names().join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_printed() {
        for text in [
            "i64",
            "u64[]",
            "timestamp[us]",
            "timestamp[ms][]",
            "string:sorted",
            "ip:binary",
            "uuid:raw",
            "bytes:fsst",
            "string:onpair",
            "string[]",
        ] {
            let (column, any_unit) = ColumnType::parse(text).unwrap();
            assert_eq!((column.to_string().as_str(), any_unit), (text, false));
        }
        assert!(ColumnType::parse("timestamp").unwrap().1);
    }

    #[test]
    fn other_names_get_a_suggestion() {
        let error = |text: &str| ColumnType::parse(text).unwrap_err();
        assert_eq!(error("integer"), "unknown type \"integer\"; did you mean i64?");
        assert_eq!(error("timestmp[ms]"), "unknown type \"timestmp[ms]\"; did you mean timestamp[ms]?");
        assert!(error("quux").ends_with("string, bytes"));
        assert_eq!(error("i64:sorted"), "only string, bytes, ip and uuid can be sorted");
        assert_eq!(
            error("string:hashed"),
            "unknown layout \"hashed\": expected one of sorted, binary, raw, fsst, onpair"
        );
        assert!(error("string[]:binary").contains("leave out :binary"));
    }

    #[test]
    fn every_type_has_its_name_listed() {
        for logical in LogicalType::ALL {
            assert!(type_names().contains(&logical.name()));
        }
    }
}
