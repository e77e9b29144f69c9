//! The index of ids: its options for `build` and `merge`, its errors, and the text of ids.

use crate::api::writer::{self, ErrorKind};
use crate::api::{Error, Field, IdIndex, IdOptions, LogicalType};
use crate::args::{IdArgs, MergeArgs};
use crate::error::{CliError, Exit};
use crate::input::column::Column;
use crate::input::column_type::Layout;
use crate::input::import::{Import, type_flag};
use crate::input::parse_cell::CellParser;
use crate::input::row::Form;
use crate::open::columns;
use crate::open::segment::OpenSegment;
use crate::text::print_value::Printer;
use crate::text::quoting::printable;
use crate::text::stored_ref::StoredRef;
use crate::text::words::{meant, quoted_list};

/// The column and options of an index of ids to build.
#[derive(Clone, Debug)]
pub(crate) struct IdIndexPlan {
    pub(crate) column: String,
    pub(crate) options: IdOptions,
}

impl IdIndexPlan {
    /// The plan of `dv build`.
    pub(crate) fn of_build(args: &IdArgs) -> Result<Option<IdIndexPlan>, CliError> {
        if args.lacks_field() && !args.refuses() {
            return Err(no_field("--term-index and --filter-bits need a column of ids"));
        }
        let column = args.id_field.clone().filter(|_| !args.refuses());
        Ok(column.map(|column| IdIndexPlan { column, options: args.options(IdOptions::default()) }))
    }

    /// The plan of `dv merge`: from the options, or from the indexes that the segments have in common. May return a note
    /// for the user.
    pub(crate) fn of_merge(
        args: &MergeArgs,
        segments: &[OpenSegment],
    ) -> Result<(Option<IdIndexPlan>, Option<String>), CliError> {
        let (ids, has_documents) = (&args.ids, |segment: &&OpenSegment| segment.segment.docs() > 0);
        if args.no_ids || ids.refuses() {
            return Ok((None, None));
        }
        let any = segments.iter().any(|segment| has_documents(&segment));
        let counting: Vec<&OpenSegment> =
            segments.iter().filter(|segment| !any || has_documents(segment)).collect();
        if let Some(column) = &ids.id_field {
            check_fields(column, segments)?;
            // The index is built anew, so a damaged one does not matter.
            let first = counting.iter().find_map(|segment| segment.segment.ids().ok().flatten());
            let base = first.filter(|first| first.field() == column).map(|first| options_of(&first));
            let options = ids.options(base.unwrap_or_default());
            return Ok((Some(IdIndexPlan { column: column.clone(), options }), None));
        }
        let (common, note) = common(&counting)?;
        match common {
            Some(first) => {
                let options = ids.options(options_of(&first));
                Ok((Some(IdIndexPlan { column: first.field().to_owned(), options }), None))
            }
            None if ids.lacks_field() => Err(no_field("the segments have no index of ids in common")),
            None => Ok((None, note)),
        }
    }

    /// Checks that the column of ids exists and can hold ids, as soon as it is known.
    pub(crate) fn check(&self, import: &Import, all_known: bool) -> Result<(), CliError> {
        let there = |column: &&Column| {
            let typed = column.ty.is_some() && !all_known;
            !column.excluded && (column.in_header || column.values > 0 || typed)
        };
        let columns = import.columns().iter().filter(there);
        match columns.clone().find(|column| column.name == self.column) {
            Some(column) => check_column(column),
            None if all_known => Err(unknown(&self.column, columns.map(|column| column.name.as_str()))),
            None => Ok(()),
        }
    }
}

fn no_field(message: &str) -> CliError {
    CliError::usage(message).hint("name the column with --id-field NAME")
}

fn options_of(index: &IdIndex) -> IdOptions {
    IdOptions {
        form: index.form(),
        filter_bits: index.filter_bits(),
        seed: index.seed(),
        ..IdOptions::default()
    }
}

/// The first segment's index, if all segments have one of the same column; otherwise a note, if some segment has one.
fn common(segments: &[&OpenSegment]) -> Result<(Option<IdIndex>, Option<String>), CliError> {
    let mut first: Option<(&OpenSegment, IdIndex)> = None;
    let mut lacking: Option<&OpenSegment> = None;
    for segment in segments {
        let index = segment.segment.ids().map_err(|error| {
            damaged(&error, "--no-ids merges without the index of ids, --id-field rebuilds it")
        })?;
        match (index, &first) {
            (None, _) => lacking = lacking.or(Some(segment)),
            (Some(index), None) => first = Some((segment, index)),
            (Some(index), Some((of, known))) if index.field() != known.field() => {
                let note = format!(
                    "note: the result has no index of ids: the index is of column {:?} in \"{}\", and of column {:?} in \"{}\" (choose with --id-field)",
                    known.field(),
                    of.file(),
                    index.field(),
                    segment.file()
                );
                return Ok((None, Some(note)));
            }
            (Some(_), Some(_)) => {}
        }
    }
    Ok(match (first, lacking) {
        (Some((_, index)), None) => (Some(index), None),
        (Some((of, index)), Some(lacking)) => {
            let note = format!(
                "note: the result has no index of ids: \"{}\" has one, \"{}\" has none (build one with --id-field {})",
                of.file(),
                lacking.file(),
                index.field()
            );
            (None, Some(note))
        }
        (None, _) => (None, None),
    })
}

/// The hint for a damaged index of ids.
pub(crate) const MEND: &str = "`dv check` lists all damage; `dv merge --id-field` rebuilds the index";

/// An error of a damaged index of ids. Everything else of the segment can still be read.
pub(crate) fn damaged(error: &Error, hint: &str) -> CliError {
    let failure = CliError::from(error);
    match failure.exit {
        Exit::Failed => failure.hint(hint),
        _ => failure,
    }
}

fn unknown<'a>(name: &str, columns: impl Iterator<Item = &'a str> + Clone) -> CliError {
    let failure = CliError::failed(format!("--id-field: no column {name:?}"));
    let all = || format!("the columns are {}", quoted_list(columns.clone()));
    failure.hint(meant(name, columns.clone(), all))
}

/// Checks that a column of an input can hold ids.
fn check_column(column: &Column) -> Result<(), CliError> {
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

/// Checks that a column of segments to merge can hold ids.
fn check_fields(name: &str, segments: &[OpenSegment]) -> Result<(), CliError> {
    let fields = columns::select(segments, &[])?;
    match fields.iter().find(|field| field.name == name) {
        Some(Field { logical, kind, .. }) => check_type(name, *logical, kind.is_multi_valued()),
        None => Err(unknown(name, fields.iter().map(|field| field.name.as_str()))),
    }
}

fn check_type(name: &str, logical: LogicalType, multi: bool) -> Result<(), CliError> {
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
fn quoted(id: &[u8], logical: LogicalType) -> String {
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

/// The index of a segment and the field of its ids. An error has a hint on how to build one.
pub(crate) fn open(segment: &OpenSegment) -> Result<(IdIndex, Field), CliError> {
    let file = segment.file();
    let Some(index) = segment.segment.ids().map_err(|error| damaged(&error, MEND))? else {
        return Err(CliError::failed(format!("{file}: the segment has no index of ids")).hint(
            "`dv build --id-field NAME` makes one, and \
             `dv merge OLD.dv -o NEW.dv --id-field NAME` adds one to an existing segment",
        ));
    };
    match segment.field(index.field())? {
        Some(field) => Ok((index, field)),
        None => Err(columns::unknown_column(std::slice::from_ref(segment), index.field())?),
    }
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
