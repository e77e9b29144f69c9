//! `dv schema`: prints the inferred types as a schema file.

use crate::args::build::SchemaArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::Import;
use crate::import::column::Column;
use crate::import::column_type::ColumnType;
use crate::import::schema::TimeRequest;
use crate::text::quoting::json_text;
use crate::text::words::excerpt;
use crate::text::{Json, counted, printable};

pub(crate) fn run(args: &SchemaArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let import = Import::prepare(args.input.sources(), args.input.options(usize::MAX)?)?;
    import.file_notes().for_each(|note| console.note(&format!("note: {note}")));
    if args.json {
        let columns = columns(&import).map(|column| Entry::new(column).to_json());
        let schema = [("sampled_rows", import.sampled.into()), ("columns", columns.collect())];
        console.json(Json::object(schema))?;
    } else {
        write!(console.out, "{}", to_toml(&import))?;
    }
    Ok(Exit::Ok)
}

/// The columns that are not excluded.
fn columns(import: &Import) -> impl Iterator<Item = &Column> {
    import.columns.iter().filter(|column| !column.excluded)
}

/// A schema file with the types of the columns.
pub(crate) fn to_toml(import: &Import) -> String {
    let tables = columns(import).map(|column| Entry::new(column).to_toml());
    tables.fold(heading(import), |file, table| file + "\n" + &table)
}

/// The heading: the number of columns and rows, and how to use the file.
fn heading(import: &Import) -> String {
    let (columns, rows) = (columns(import).count() as u64, import.sampled);
    let of = match import.is_text() {
        true => format!(" of {}", counted(rows, "sampled row", "sampled rows")),
        false => String::new(),
    };
    format!(
        "# {}{of}. Pass this file to dv build --schema; dv schema --help explains its keys.\n",
        counted(columns, "column", "columns"),
    )
}

/// A column, with the keys of a schema file.
struct Entry<'a> {
    name: &'a str,
    ty: Option<String>,
    kind: Option<&'static str>,
    format: Option<&'a str>,
    separator: Option<&'a str>,
    /// The type in the schema of a file.
    declared: Option<&'a str>,
    /// The first value of the sample.
    example: Option<&'a str>,
}

impl<'a> Entry<'a> {
    fn new(column: &'a Column) -> Entry<'a> {
        let format = |time: &'a TimeRequest| match time {
            TimeRequest::Epoch => "epoch",
            TimeRequest::Format(format) => format.pattern.as_str(),
        };
        Entry {
            name: &column.name,
            ty: column.ty.map(|ty| ColumnType { layout: None, ..ty }.to_string()),
            kind: column.ty.and_then(|ty| ty.layout).map(|layout| layout.name()),
            format: column.time.as_ref().map(format),
            separator: column.separator.as_deref(),
            declared: column.declared.as_ref().map(|declared| declared.called.as_str()),
            example: column.example.as_deref(),
        }
    }

    fn to_json(&self) -> Json {
        Json::object([
            ("name", self.name.into()),
            ("type", self.ty.as_deref().into()),
            ("kind", self.kind.into()),
            ("format", self.format.into()),
            ("separator", self.separator.into()),
            ("declared", self.declared.into()),
            ("example", self.example.into()),
        ])
    }

    /// A table of a schema file; a comment if the type is unknown.
    fn to_toml(&self) -> String {
        let Some(ty) = &self.ty else {
            return format!(
                "# [columns.{}] has no value in the sample; its first value decides the type\n",
                key(self.name)
            );
        };
        let comment = match (self.declared, self.example) {
            (Some(declared), _) => printable(declared),
            (None, Some(example)) => format!("such as {}", excerpt(example.as_bytes())),
            (None, None) => "no value in the sample: guessed".to_owned(),
        };
        let mut toml = format!("[columns.{}] # {comment}\ntype = {}\n", key(self.name), quoted(ty));
        for (key, value) in [("kind", self.kind), ("format", self.format), ("separator", self.separator)] {
            if let Some(value) = value {
                toml += &format!("{key} = {}\n", quoted(value));
            }
        }
        toml
    }
}

/// A name as a TOML key.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A TOML string: escaped as in JSON, and DEL as well.
fn quoted(text: &str) -> String {
    json_text(text).replace('\u{7f}', "\\u007f")
}
