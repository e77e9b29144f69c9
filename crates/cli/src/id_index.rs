//! The index of ids: which there is to be, what is wrong with it, and how ids are written.

use crate::api::writer::{self, ErrorKind};
use crate::api::{Error, Field, IdIndex, IdOptions, LogicalType, Segment};
use crate::args::{IdArgs, MergeArgs};
use crate::error::{CliError, Exit};
use crate::input::column::Column;
use crate::input::column_type::Layout;
use crate::input::error::meant;
use crate::input::import::{Import, StoredRef, type_flag};
use crate::input::parse_cell::CellParser;
use crate::input::row::Form;
use crate::output::format_value::Printer;
use crate::output::text::printable;
use crate::read;

/// The index of ids that there is to be.
#[derive(Clone, Debug)]
pub(crate) struct IdIndexPlan {
    pub(crate) column: String,
    pub(crate) options: IdOptions,
}

impl IdIndexPlan {
    /// What `dv build` is asked for.
    pub(crate) fn of_build(args: &IdArgs) -> Result<Option<IdIndexPlan>, CliError> {
        if args.lacks_field() && !args.refuses() {
            return Err(no_field(
                "--term-index and --filter-bits say how ids are indexed, but not of which column",
            ));
        }
        let column = args.id_field.clone().filter(|_| !args.refuses());
        Ok(column.map(|column| IdIndexPlan { column, options: args.options(IdOptions::default()) }))
    }

    /// What `dv merge` is asked for, or what the segments have in common; and what to tell of that.
    pub(crate) fn of_merge(
        args: &MergeArgs,
        segments: &[Segment],
    ) -> Result<(Option<IdIndexPlan>, Option<String>), CliError> {
        let (ids, has_documents) = (&args.ids, |segment: &&Segment| segment.docs() > 0);
        if args.no_ids || ids.refuses() {
            return Ok((None, None));
        }
        let any = segments.iter().any(|segment| has_documents(&segment));
        let counting: Vec<&Segment> =
            segments.iter().filter(|segment| !any || has_documents(segment)).collect();
        if let Some(column) = &ids.id_field {
            check_fields(column, segments)?;
            // What is made anew need not be whole.
            let first = counting.iter().find_map(|segment| segment.ids().ok().flatten());
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

    /// The column of ids among those that are to be written, if it is known by now; refuses what holds no ids.
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
    CliError::usage(message).hint("name the column with --id-field")
}

fn options_of(index: &IdIndex) -> IdOptions {
    IdOptions {
        form: index.form(),
        filter_bits: index.filter_bits(),
        seed: index.seed(),
        ..IdOptions::default()
    }
}

/// The first segment's index, if all have one of its column; otherwise what is to be told, if one of them has any.
fn common(segments: &[&Segment]) -> Result<(Option<IdIndex>, Option<String>), CliError> {
    let mut first: Option<(&Segment, IdIndex)> = None;
    let mut lacking: Option<&Segment> = None;
    for segment in segments {
        let index = segment.ids().map_err(|error| {
            damaged(&error, "--no-ids merges without the index of ids, and --id-field makes it anew")
        })?;
        match (index, &first) {
            (None, _) => lacking = lacking.or(Some(segment)),
            (Some(index), None) => first = Some((segment, index)),
            (Some(index), Some((of, known))) if index.field() != known.field() => {
                let note = format!(
                    "note: no index of ids: it is of column {:?} in {}, and of {:?} in {} (--id-field chooses)",
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
                "note: no index of ids: {} has one, and {} has none (--id-field {} makes one)",
                of.file(),
                lacking.file(),
                index.field()
            );
            (None, Some(note))
        }
        (None, _) => (None, None),
    })
}

/// What to do about a damaged index of ids.
pub(crate) const MEND: &str =
    "`dv check` tells all that is damaged; `dv merge --id-field` makes the index anew";

/// Damage of an index of ids, without which all else can be read.
pub(crate) fn damaged(error: &Error, hint: &str) -> CliError {
    let failure = CliError::from(error);
    match failure.exit {
        Exit::Failed => failure.hint(hint),
        _ => failure,
    }
}

fn unknown<'a>(name: &str, columns: impl Iterator<Item = &'a str> + Clone) -> CliError {
    let failure = CliError::failed(format!("--id-field {name}: there is no such column"));
    let all = || format!("the columns are {}", columns.clone().collect::<Vec<_>>().join(", "));
    failure.hint(meant(name, columns.clone(), all))
}

/// Refuses a column of an input whose values cannot be ids.
fn check_column(column: &Column) -> Result<(), CliError> {
    let Some(ty) = column.ty else { return Ok(()) };
    check_type(&column.name, ty.logical, ty.multi)?;
    match ty.layout {
        Some(Layout::Sorted) => {
            let message =
                format!("--id-field {}: it is to have a dictionary, and ids have none", column.name);
            let flag = type_flag(&column.name, &format!("{}:binary", ty.logical.name()));
            Err(CliError::failed(message).hint(flag))
        }
        _ => Ok(()),
    }
}

/// The same of a column that is merged.
fn check_fields(name: &str, segments: &[Segment]) -> Result<(), CliError> {
    let fields = read::select(segments, &[])?;
    match fields.iter().find(|field| field.name == name) {
        Some(Field { logical, kind, .. }) => check_type(name, *logical, kind.is_multi_valued()),
        None => Err(unknown(name, fields.iter().map(|field| field.name.as_str()))),
    }
}

fn check_type(name: &str, logical: LogicalType, multi: bool) -> Result<(), CliError> {
    if multi {
        let message =
            format!("--id-field {name}: its documents may have several values, and a document has one id");
        return Err(CliError::failed(message));
    }
    if !logical.is_bytes() {
        let ty = logical.name();
        let message =
            format!("--id-field {name}: its values are {ty}, and ids are string, bytes, ip or uuid");
        let flag = type_flag(name, "string:binary");
        return Err(CliError::failed(message).hint(format!("{flag} in dv build keeps their text")));
    }
    Ok(())
}

/// Why a segment with an index of ids of type `logical` was not written; `documents` says which two are meant.
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

/// An id in quotes, as it is printed elsewhere.
fn quoted(id: &[u8], logical: LogicalType) -> String {
    format!("\"{}\"", printable(&Printer::new(logical, false, None).to_text(StoredRef::Bytes(id))))
}

/// The bytes of an id that a person wrote; otherwise why it is none.
pub(crate) fn parse(text: &[u8], logical: LogicalType) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_owned())?;
    let (reading, mut id) = (CellParser { logical, explicit: true, time: None }, Vec::new());
    reading.read(Form::Bare, text, &mut id).map_err(|wrong| wrong.problem)?;
    Ok(id)
}

/// The index of a segment and the type of its ids; an error says how there would be one.
pub(crate) fn open(segment: &Segment) -> Result<(IdIndex, Field), CliError> {
    let file = segment.file();
    let Some(index) = segment.ids().map_err(|error| damaged(&error, MEND))? else {
        return Err(CliError::failed(format!("{file}: there is no index of ids")).hint(
            "`dv build --id-field NAME` makes one, and of a segment that there is, \
             `dv merge OLD.dv -o NEW.dv --id-field NAME`",
        ));
    };
    match read::column(segment, index.field())? {
        Some(column) => {
            let field = column.info().field.clone();
            Ok((index, field))
        }
        None => Err(read::unknown_column(std::slice::from_ref(segment), index.field())?),
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
        assert_eq!(parse(b"x", LogicalType::Uuid), Err("not a UUID".to_owned()));
        assert_eq!(parse(b"\xff", LogicalType::Utf8), Err("not UTF-8".to_owned()));
        assert_eq!(quoted(b"a\x1b", LogicalType::Utf8), r#""a\u{1b}""#);
    }
}
