//! Notes on values that a segment has otherwise than the input.

use super::column::Column;
use super::error::BadRow;
use super::infer_types::{Found, KeptAsText};
use super::spellings::Joined;
use super::{Import, type_flag};
use crate::api::LogicalType;
use crate::console::Console;
use crate::text::quoting::{jq_path, named_columns, shell_word};
use crate::text::words::excerpt;
use crate::text::{counted, thousands};

/// Notes on the type and the format of a column; `lost` if its values have no format in common.
pub(crate) fn column_notes(column: &Column, lost: bool) -> impl Iterator<Item = String> + use<> {
    let format = joined(column).or_else(|| type_or_format(column, lost));
    let odd = column.odd_cells.clone().filter(|_| column.kept_as_text.is_none());
    let notes = [widened(column), without_offsets(column), format, odd];
    notes.into_iter().flatten()
}

/// A note on a type that is not the one of the sample.
fn widened(column: &Column) -> Option<String> {
    let (widened, ty) = (column.widened.as_ref()?, column.ty?);
    let (name, from) = (&column.name, widened.from);
    let why = match &widened.misfit {
        Some(Found { text, place: (file, line, at) }) => {
            format!("{file}:{line}:{at} has {}, so ", excerpt(text.as_bytes()))
        }
        None => "after all rows, ".to_owned(),
    };
    Some(format!(
        "column {name:?}: {why}the type is {ty} and not the {from} of the sample; the input was read again"
    ))
}

/// A note on timestamps without an offset.
fn without_offsets(column: &Column) -> Option<String> {
    (column.has_no_offsets && column.values > 0).then(|| {
        format!(
            "column {:?}: its timestamps have no UTC offset, so they are read as UTC ({} keeps text)",
            column.name,
            type_flag(&column.name, "string")
        )
    })
}

/// A note on cells that became one number.
fn joined(column: &Column) -> Option<String> {
    let Joined { first, other, cells, is_partial } = column.joined()?;
    let (name, at_least) = (&column.name, if is_partial { "at least " } else { "" });
    Some(format!(
        "column {name:?}: {first:?} and {other:?} became one number; {at_least}{} cells were joined with other \
         spellings ({} keeps text)",
        thousands(cells),
        type_flag(name, "string")
    ))
}

/// A note on a type or a format that is not the one of the input.
fn type_or_format(column: &Column, lost: bool) -> Option<String> {
    let name = &column.name;
    let brackets = if column.ty.is_some_and(|ty| ty.multi) { "[]" } else { "" };
    let flag = |ty: &str| type_flag(name, &format!("{ty}{brackets}"));
    let note = match (&column.kept_as_text, column.ty.map(|ty| ty.logical).filter(|_| lost)) {
        (Some(KeptAsText::Rounded(number)), _) => {
            format!("a double rounds {number}, so the type is string ({} rounds it)", flag("f64"))
        }
        (Some(KeptAsText::MixedOffsets), _) => format!(
            "the UTC offsets of its timestamps differ, so the type is string ({} stores them in UTC)",
            flag("timestamp")
        ),
        (None, Some(LogicalType::Bool)) => format!(
            "its values are booleans, which export prints as true and false ({} keeps text)",
            flag("string")
        ),
        (None, Some(LogicalType::Utf8)) => {
            "its JSON values are of different types, so export prints all of them as strings".to_owned()
        }
        (None, Some(_)) => format!(
            "its values are written in different ways, so export prints them in canonical form ({} keeps every \
             character)",
            type_flag(name, "string")
        ),
        (None, None) if column.unsampled && column.values > 0 => {
            "no value in the sample, so its type is string (set --type, or use --sample all)".to_owned()
        }
        (None, None) => return None,
    };
    Some(format!("column {name:?}: {note}"))
}

/// Notes on the whole input, one for each kind of change.
pub(crate) fn input_notes(import: &Import) -> Vec<String> {
    [missing_tokens(import), reordered(import)].into_iter().flatten().collect()
}

/// A note on text that is a missing value unless the user says otherwise.
fn missing_tokens(import: &Import) -> Option<String> {
    let tokens = import.missing_tokens();
    let seen = |column: &&Column| tokens.defaults(column.missing_tokens_seen()).next().is_some();
    let columns: Vec<&Column> = import.columns.iter().filter(seen).collect();
    let all = columns.iter().fold(0, |all, column| all | column.missing_tokens_seen());
    let found: Vec<&str> = tokens.defaults(all).collect();
    let are = if found.len() == 1 { "is a missing value" } else { "are missing values" };
    (!found.is_empty()).then(|| {
        let columns = named_columns(columns.iter().map(|column| column.name.as_str()));
        format!("{columns}: {} {are} (--no-default-missing reads text)", found.join(" and "))
    })
}

/// A note on columns in which the values of some document were sorted, or equal strings stored once.
fn reordered(import: &Import) -> Option<String> {
    let reordered: Vec<&Column> = import.columns.iter().filter(|column| column.reordered).collect();
    let first = reordered.first()?;
    let how = match (&first.declared, first.in_header) {
        // A list of a Parquet or Arrow file has no text.
        (Some(_), _) => String::new(),
        (None, true) => format!(" ({} keeps text)", type_flag(&first.name, "string")),
        (None, false) => {
            let program = format!("{} |= tojson", jq_path(&first.name));
            format!(" (jq -c {} keeps text)", shell_word(&program))
        }
    };
    let columns = named_columns(reordered.iter().map(|column| column.name.as_str()));
    Some(format!(
        "{columns}: the values of a document are stored in ascending order, and equal strings once{how}"
    ))
}

/// A note on fields without any value, which no header names.
pub(crate) fn without_values(import: &Import) -> Option<String> {
    let is_left_out = |column: &&Column| !column.excluded && !column.is_stored();
    let columns: Vec<&str> =
        import.columns.iter().filter(is_left_out).map(|column| column.name.as_str()).collect();
    let first = columns.first()?;
    let (flag, columns) = (type_flag(first, "string"), named_columns(columns.iter().copied()));
    Some(format!("{columns}: no document has a value, so the segment has no such column ({flag} adds it)"))
}

/// A note on inputs without a byte.
pub(crate) fn empty_inputs(import: &Import) -> Option<String> {
    let names: Vec<&str> = import.empty_inputs().collect();
    let result = if import.columns.is_empty() { ", so the segment has no columns" } else { "" };
    (!names.is_empty()).then(|| format!("empty input: {}{result}", names.join(", ")))
}

/// Prints the notes that `--quiet` keeps: values were joined that may differ in meaning.
pub(crate) fn tell_joined_numbers(import: &Import, console: &mut Console<'_>) {
    for note in import.columns.iter().filter(|column| column.is_stored()).filter_map(joined) {
        console.note(&format!("note: {note}"));
    }
}

/// Prints how many rows were skipped, and what is unexpected about the input.
pub(crate) fn tell_notes(import: &Import, notes: &[String], console: &mut Console<'_>) {
    let (skipped, first) = import.skipped();
    tell_skipped(skipped, first, console);
    for note in notes {
        console.note(&format!("note: {note}"));
    }
    if let [column] = &import.columns[..]
        && let Some(delimiter) = [';', '\t', '|', ','].into_iter().find(|c| column.name.contains(*c))
    {
        console.note(&format!(
            "note: the input has a single column, {:?}; if {delimiter:?} separates its cells, set --delimiter",
            column.name
        ));
    }
    for name in import.unknown_names() {
        console.note(&format!("note: --type: no input has a column {name:?}"));
    }
}

/// Prints how many rows were skipped, and the first of them.
fn tell_skipped(skipped: u64, first: &[BadRow], console: &mut Console<'_>) {
    if skipped == 0 {
        return;
    }
    let which = if skipped > first.len() as u64 { "; the first of them" } else { "" };
    console.note(&format!("skipped {}{which}:", counted(skipped, "bad row", "bad rows")));
    for row in first {
        console.note(&format!("  {row}"));
    }
}
