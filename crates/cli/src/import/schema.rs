//! Requested types of columns: `--type NAME=TYPE` and the schema file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::column_type::ColumnType;
use crate::api::LogicalType;
use crate::error::{CliError, Result};
use crate::text::time::{TimeFormat, is_time};

/// The requests on columns, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    columns: BTreeMap<String, ColumnRequest>,
}

/// The request on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnRequest {
    pub(crate) ty: ColumnType,
    /// Whether the type is a timestamp whose unit is inferred.
    pub(crate) any_unit: bool,
    pub(crate) time: Option<TimeRequest>,
    /// The separator of several values in a CSV cell.
    pub(crate) separator: Option<String>,
    /// Whether the request is from the command line, so the column must exist.
    pub(crate) must_exist: bool,
}

/// The format of dates and timestamps in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeRequest {
    /// A `strftime` pattern.
    Format(TimeFormat),
    /// Integers: units since 1970.
    Epoch,
}

/// The types of `--schema` and `--type`.
pub(crate) fn requested(file: Option<&Path>, types: &[String]) -> Result<Schema> {
    let mut schema = match file {
        None => Schema::default(),
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| CliError::file(&name, &error))?;
            Schema::from_toml(&text).map_err(|message| CliError::usage(format!("{name}: {message}")))?
        }
    };
    for types in types {
        schema.add_types(types).map_err(|message| CliError::usage(format!("--type {message}")))?;
    }
    Ok(schema)
}

/// A schema file; unknown keys are errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    #[serde(default)]
    columns: BTreeMap<String, ColumnEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnEntry {
    #[serde(rename = "type")]
    ty: toml::Spanned<String>,
    format: Option<toml::Spanned<String>>,
    separator: Option<toml::Spanned<String>>,
}

impl Schema {
    pub(crate) fn get(&self, name: &str) -> Option<&ColumnRequest> {
        self.columns.get(name)
    }

    /// All requests, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ColumnRequest)> {
        self.columns.iter().map(|(name, request)| (name.as_str(), request))
    }

    /// Replaces the request on a column.
    pub(crate) fn set(&mut self, name: &str, request: ColumnRequest) {
        self.columns.insert(name.to_owned(), request);
    }

    /// Names that must be columns of an input.
    pub(crate) fn required_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|(_, request)| request.must_exist).map(|(name, _)| name.as_str())
    }

    /// Parses a schema file.
    ///
    /// # Errors
    ///
    /// Returns a message with the line and its text.
    pub(crate) fn from_toml(text: &str) -> Result<Schema, String> {
        let file: SchemaFile = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
        let mut columns = BTreeMap::new();
        for (name, entry) in file.columns {
            let request = entry.request().map_err(|(start, message)| {
                let before = text.get(..start).unwrap_or_default();
                format!("line {}: column {name:?}: {message}", before.matches('\n').count() + 1)
            })?;
            columns.insert(name, request);
        }
        Ok(Schema { columns })
    }

    /// Adds `NAME=TYPE[,NAME=TYPE]…` of the command line, which overrides the schema file. `:epoch` after a timestamp is its
    /// format.
    ///
    /// # Errors
    ///
    /// Returns a message on the type.
    pub(crate) fn add_types(&mut self, text: &str) -> Result<(), String> {
        let mut pending = String::new();
        for part in text.split(',') {
            // A name may contain a comma; a type does not.
            pending.push_str(part);
            let Some((name, ty)) = pending.rsplit_once('=') else {
                pending.push(',');
                continue;
            };
            let at_type = |message| format!("{pending}: {message}");
            let (ty, format) = ty.strip_suffix(":epoch").map_or((ty, None), |ty| (ty, Some("epoch")));
            let (ty, any_unit) = ColumnType::parse(ty).map_err(at_type)?;
            let format = format.map(|format| time_request(ty, any_unit, format)).transpose();
            let format = format.map_err(at_type)?;
            let known = self.columns.remove(name);
            let (time, separator) = known.map_or((None, None), |known| (known.time, known.separator));
            let entry = ColumnRequest {
                ty,
                any_unit,
                time: format.or_else(|| time.filter(|_| is_time(ty.logical))),
                separator: separator.filter(|_| ty.multi),
                must_exist: true,
            };
            self.columns.insert(name.to_owned(), entry);
            pending.clear();
        }
        if pending.is_empty() {
            Ok(())
        } else {
            Err(format!("expected NAME=TYPE, found {:?}", pending.trim_end_matches(',')))
        }
    }
}

impl ColumnEntry {
    /// The request; or the place of a mistake in the file, and what is wrong there.
    fn request(self) -> Result<ColumnRequest, (usize, String)> {
        let at = |text: &toml::Spanned<String>, message| (text.span().start, message);
        let parsed = ColumnType::parse(self.ty.get_ref());
        let (ty, any_unit) = parsed.map_err(|message| at(&self.ty, message))?;
        let time = self.format.as_ref();
        let time = time.map(|text| time_request(ty, any_unit, text.get_ref()).map_err(|m| at(text, m)));
        let time = time.transpose()?;
        let separator = match &self.separator {
            Some(separator) if separator.get_ref().is_empty() || !ty.multi => {
                let message = "expected a separator that is not empty, of a type with []";
                return Err(at(separator, message.to_owned()));
            }
            separator => separator.as_ref().map(|s| s.get_ref().clone()),
        };
        Ok(ColumnRequest { ty, any_unit, time, separator, must_exist: false })
    }
}

fn time_request(ty: ColumnType, any_unit: bool, format: &str) -> Result<TimeRequest, String> {
    if !is_time(ty.logical) {
        return Err("a format needs type = \"date\" or a timestamp type beside it".to_owned());
    }
    let is_date = ty.logical == LogicalType::Date;
    if format == "epoch" && (is_date || any_unit) {
        return Err("format \"epoch\" needs the unit: type = \"timestamp[ms]\", [us] or [ns]".to_owned());
    }
    if format == "epoch" {
        return Ok(TimeRequest::Epoch);
    }
    let parsed = TimeFormat::parse(format)?;
    if is_date != parsed.is_date() && is_date {
        return Err("a date has no time of day: take a timestamp type, or drop it from the format".to_owned());
    }
    Ok(TimeRequest::Format(parsed))
}

#[cfg(test)]
mod tests {
    use super::super::column_type::Layout;
    use super::*;

    #[test]
    fn a_schema_file_says_everything() {
        let schema = Schema::from_toml(
            r#"
            [columns.size]
            type = "u64"
            [columns."Flight Date"]
            type = "date"
            format = "%d.%m.%Y"
            [columns.tags]
            type = "string[]"
            separator = "|"
            [columns.name]
            type = "string:sorted"
            [columns.at]
            type = "timestamp[us]"
            format = "epoch"
            "#,
        )
        .unwrap();
        let logical = |name: &str| schema.get(name).unwrap().ty.logical;
        assert_eq!(logical("size"), LogicalType::U64);
        let date = schema.get("Flight Date").unwrap().time.clone();
        assert_eq!(date, Some(TimeRequest::Format(TimeFormat::parse("%d.%m.%Y").unwrap())));
        let tags = schema.get("tags").unwrap();
        assert_eq!((tags.ty.multi, tags.separator.as_deref()), (true, Some("|")));
        assert_eq!(schema.get("name").unwrap().ty.layout, Some(Layout::Sorted));
        assert_eq!(schema.get("at").unwrap().time, Some(TimeRequest::Epoch));
        assert_eq!(schema.required_names().count(), 0);
    }

    #[test]
    fn mistakes_in_a_schema_file_are_shown_where_they_are() {
        for (text, parts) in [
            ("[columns.a]\ntyp = \"i64\"", &["line 2", "typ", "type"][..]),
            ("[column.a]\ntype = \"i64\"", &["line 1", "column", "columns"]),
            ("[columns.a]\ntype = \"integer\"", &["line 2", "column \"a\"", "did you mean i64?"]),
            ("[columns.a]\ntype = \"i64:sorted\"", &["line 2", "only string"]),
            ("[columns.a]\ntype = \"string:fast\"", &["line 2", "unknown layout"]),
            ("[columns.a]\ntype = \"i64\"\nformat = \"%Y\"", &["line 3", "needs type"]),
            ("[columns.a]\ntype = \"date\"\nformat = \"%Y\"", &["line 3", "invalid date format"]),
            ("[columns.a]\ntype = \"date\"\nformat = \"%Y%m%d%H\"", &["line 3", "no time of day"]),
            ("[columns.a]\ntype = \"timestamp\"\nformat = \"epoch\"", &["line 3", "needs the unit"]),
            ("[columns.a]\ntype = \"string\"\nseparator = \"|\"", &["line 3", "with []"]),
            ("[columns.a]\nformat = \"%Y\"", &["missing field `type`"]),
            ("[columns.a]\ntype = 5", &["line 2", "string"]),
            ("columns = [", &["line 1"]),
        ] {
            let error = Schema::from_toml(text).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{text}\ngives\n{error}\nwithout {part}");
            }
        }
    }

    #[test]
    fn types_of_the_command_line_go_before_the_file() {
        let mut schema =
            Schema::from_toml("[columns.a]\ntype = \"i64\"\n[columns.b]\ntype = \"i64\"").unwrap();
        schema.add_types("a=u64,x=y=string[],last, first=f64").unwrap();
        let logical = |name: &str| schema.get(name).unwrap().ty.logical;
        assert_eq!(logical("a"), LogicalType::U64);
        assert_eq!(logical("b"), LogicalType::I64);
        assert_eq!(logical("x=y"), LogicalType::Utf8);
        assert_eq!(logical("last, first"), LogicalType::F64);
        assert_eq!(schema.required_names().collect::<Vec<_>>(), ["a", "last, first", "x=y"]);
    }

    #[test]
    fn numbers_since_1970_are_a_type_of_the_command_line() {
        let mut schema = Schema::default();
        schema.add_types("at=timestamp[ms]:epoch,all=timestamp[ns][]:epoch").unwrap();
        for name in ["at", "all"] {
            assert_eq!(schema.get(name).unwrap().time, Some(TimeRequest::Epoch));
        }
        assert!(schema.get("all").unwrap().ty.multi);
        assert!(schema.add_types("at=timestamp:epoch").unwrap_err().contains("needs the unit"));
        assert!(schema.add_types("at=i64:epoch").unwrap_err().contains("a timestamp type"));
    }

    #[test]
    fn what_is_no_type_of_the_command_line_is_named() {
        let mut schema = Schema::default();
        assert_eq!(schema.add_types("size").unwrap_err(), "expected NAME=TYPE, found \"size\"");
        assert!(schema.add_types("size=int").unwrap_err().contains("did you mean i64?"));
    }
}
