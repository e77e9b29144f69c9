//! `dv schema`: prints the inferred types as a schema file.

use crate::args::build::SchemaArgs;
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::import::Import;
use crate::import::column::Column;
use crate::import::schema::TimeRequest;
use crate::text::quoting::json_text;
use crate::text::words::excerpt;
use crate::text::{Json, counted, printable};

pub(crate) fn run(args: &SchemaArgs, console: &mut Console<'_>) -> Result<Exit> {
    let import = Import::prepare(args.input.sources(), args.input.options(usize::MAX)?)?;
    import.file_notes().for_each(|note| console.note(&format!("note: {note}")));
    if args.json {
        let columns = columns(&import).map(json);
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
    let tables = columns(import).map(table);
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

/// The keys of a schema file, and their values for a column.
fn keys(column: &Column) -> [(&'static str, Option<String>); 3] {
    let format = |time: &TimeRequest| match time {
        TimeRequest::Epoch => "epoch".to_owned(),
        TimeRequest::Format(format) => format.pattern.clone(),
    };
    [
        ("type", column.ty.map(|ty| ty.to_string())),
        ("format", column.time.as_ref().map(format)),
        ("separator", column.separator.clone()),
    ]
}

fn json(column: &Column) -> Json {
    // The type in the schema of a file, and the first value of the sample.
    let declared = column.declared.as_ref().map(|declared| declared.called.as_str());
    let more = [("declared", declared.into()), ("example", column.example.as_deref().into())];
    let keys = keys(column).map(|(key, value)| (key, Json::from(value)));
    Json::object([("name", Json::from(column.name.as_str()))].into_iter().chain(keys).chain(more))
}

/// A table of a schema file; a comment if the type is unknown.
fn table(column: &Column) -> String {
    let name = key(&column.name);
    if column.ty.is_none() {
        return format!("# [columns.{name}] has no value in the sample; its first value decides the type\n");
    }
    let comment = match (&column.declared, &column.example) {
        (Some(declared), _) => printable(&declared.called),
        (None, Some(example)) => format!("such as {}", excerpt(example.as_bytes())),
        (None, None) => "no value in the sample: guessed".to_owned(),
    };
    let mut toml = format!("[columns.{name}] # {comment}\n");
    for (key, value) in keys(column) {
        if let Some(value) = value {
            toml += &format!("{key} = {}\n", quoted(&value));
        }
    }
    toml
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
