//! The index of ids that is built: its column, the errors of ids, and their text.

use std::io::{self, BufRead as _};

use super::column::Column;
use super::column_type::Layout;
use super::parse_cell::CellParser;
use super::row::Form;
use super::{Import, type_flag};
use crate::api::LogicalType;
use crate::api::store::Store;
use crate::api::writer::{self, ErrorKind};
use crate::error::{CliError, Result};
use crate::text::words::{meant, quoted_list};
use crate::text::{Printer, StoredRef, printable};

/// Checks that the column of ids exists and can hold ids, as soon as it is known.
pub(crate) fn check_id_field(name: &str, import: &Import, all_known: bool) -> Result<()> {
    let there = |column: &&Column| {
        let typed = column.ty.is_some() && !all_known;
        !column.excluded && (column.in_header || column.values > 0 || typed)
    };
    let columns = import.columns.iter().filter(there);
    match columns.clone().find(|column| column.name == name) {
        Some(column) => check_column(column),
        None if all_known => Err(unknown(name, columns.map(|column| column.name.as_str()))),
        None => Ok(()),
    }
}

/// The error for a column of ids that is not there.
pub(crate) fn unknown<'a>(name: &str, columns: impl Iterator<Item = &'a str> + Clone) -> CliError {
    let failure = CliError::failed(format!("--id-field: no column {name:?}"));
    let all = || format!("the columns are {}", quoted_list(columns.clone()));
    failure.hint(meant(name, columns.clone(), all))
}

/// Checks that a column of an input can hold ids.
fn check_column(column: &Column) -> Result<()> {
    let Some(ty) = column.ty else { return Ok(()) };
    check_type(&column.name, ty.logical, ty.multi)?;
    match ty.layout {
        Some(Layout::Sorted) => {
            let message = format!(
                "--id-field: column {:?} has a dictionary, but ids are stored without one",
                column.name
            );
            let flag = type_flag(&column.name, &format!("{}:binary", ty.logical.name()));
            Err(CliError::failed(message).hint(format!("use {flag}")))
        }
        _ => Ok(()),
    }
}

/// Checks that a column of this type can hold ids.
pub(crate) fn check_type(name: &str, logical: LogicalType, multi: bool) -> Result<()> {
    if multi {
        let message = format!(
            "--id-field: expected a column with one value a document, found several in column {name:?}"
        );
        return Err(CliError::failed(message));
    }
    if !logical.is_bytes() {
        let ty = logical.name();
        let message = format!(
            "--id-field: expected a column of string, bytes, ip or uuid, found {ty} in column {name:?}"
        );
        let flag = type_flag(name, "string:binary");
        return Err(CliError::failed(message).hint(format!("build with {flag} to keep their text")));
    }
    Ok(())
}

/// The error of writing a segment with ids of type `logical`; `documents` names two documents with the same id.
pub(crate) fn refused(
    error: writer::Error,
    logical: LogicalType,
    documents: impl FnOnce([u32; 2]) -> String,
    hint: &str,
) -> CliError {
    let column = error.field().unwrap_or_default();
    match error.kind() {
        ErrorKind::DuplicateId { id, docs } => {
            let id = quoted(id, logical);
            let message = format!("column {column:?}: {} have the same id: {id}", documents(*docs));
            CliError::failed(message).hint(hint)
        }
        ErrorKind::LongId { .. } => {
            CliError::failed(format!("column {column:?}: {}", error.kind())).hint(hint)
        }
        _ => CliError::from(error),
    }
}

/// An id in quotes, in the format of `dv get`.
pub(crate) fn quoted(id: &[u8], logical: LogicalType) -> String {
    format!("\"{}\"", printable(&Printer::new(logical, false, None).to_text(StoredRef::Bytes(id))))
}

/// Parses an id that the user wrote; returns the reason if it is not one.
pub(crate) fn parse(text: &[u8], logical: LogicalType) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_owned())?;
    let (reading, mut id) =
        (CellParser { logical, explicit: true, has_no_offsets: false, time: None }, Vec::new());
    reading.read(Form::Bare, text, &mut id).map_err(|wrong| wrong.problem)?;
    Ok(id)
}

/// A source of ids.
pub(crate) enum IdInput {
    Id(Vec<u8>),
    /// The lines of standard input.
    Lines,
}

impl IdInput {
    /// The ids. Empty lines are skipped.
    pub(crate) fn all(self) -> Box<dyn Iterator<Item = Result<Vec<u8>>>> {
        match self {
            IdInput::Id(id) => Box::new(std::iter::once(Ok(id))),
            IdInput::Lines => Box::new(io::stdin().lock().split(b'\n').filter_map(|line| match line {
                Ok(mut line) => {
                    line.pop_if(|last| *last == b'\r');
                    (!line.is_empty()).then_some(Ok(line))
                }
                Err(error) => Some(Err(CliError::file("<stdin>", &error))),
            })),
        }
    }
}

/// The ids of the command line, or of standard input for `-`, that documents have. The others are added to `not_found`.
/// A store without ids is an error with this hint.
pub(crate) fn find_ids(
    store: &Store,
    ids: &[String],
    hint: &str,
    not_found: &mut Vec<String>,
) -> Result<Vec<Vec<u8>>> {
    let snapshot = store.snapshot();
    let schema = snapshot.schema();
    let logical = schema.id_field().and_then(|name| schema.field(name)).map(|field| field.logical);
    let Some(logical) = logical else {
        let message = format!("{}: the store has no column of ids", store.directory().path().display());
        return Err(CliError::failed(message).hint(hint));
    };
    let inputs = ids.iter().map(|id| match id.as_str() {
        "-" => IdInput::Lines,
        id => IdInput::Id(id.as_bytes().to_vec()),
    });
    let texts = inputs.flat_map(IdInput::all).collect::<Result<Vec<_>>>()?;
    let mut found = Vec::with_capacity(texts.len());
    for text in &texts {
        match parse(text, logical) {
            Ok(id) if snapshot.find(&id)?.is_some() => found.push(id),
            _ => not_found.push(String::from_utf8_lossy(text).into_owned()),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_their_type_prints_them() {
        let uuid = "01010101-0101-0101-0101-010101010101";
        assert_eq!(parse(uuid.as_bytes(), LogicalType::Uuid), Ok(vec![1; 16]));
        assert_eq!(quoted(&[1; 16], LogicalType::Uuid), format!("{uuid:?}"));
        assert_eq!(parse(b"00FF", LogicalType::Bytes), Ok(vec![0, 255]));
        assert_eq!(parse(b" a\n", LogicalType::Utf8), Ok(b" a\n".to_vec()));
        assert_eq!(parse(b"10.0.0.1", LogicalType::Ip).unwrap().len(), 16);
        assert_eq!(parse(b"x", LogicalType::Uuid), Err("expected a UUID".to_owned()));
        assert_eq!(parse(b"\xff", LogicalType::Utf8), Err("not UTF-8".to_owned()));
        assert_eq!(quoted(b"a\x1b", LogicalType::Utf8), r#""a\u{1b}""#);
    }
}
