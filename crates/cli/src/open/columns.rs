//! Columns of open segments, by name, and the errors of names that no segment has.

use std::collections::HashSet;

use super::segment::OpenSegment;
use crate::api::search::Query;
use crate::api::{ErrorKind, Field, SearchError};
use crate::error::{CliError, Result};
use crate::text::quoting::{NAMED, first_few, shell_word};
use crate::text::text_format::TextFormat;
use crate::text::words::{closest, meant};

/// The rank of a field in the input.
pub(crate) fn order_of(field: &Field) -> u32 {
    field.format.as_deref().and_then(|format| TextFormat::parse(format).order).unwrap_or(u32::MAX)
}

/// The fields that the user named, in that order, or all fields. Fields of several segments are united by name; the
/// first segment with a field describes it.
///
/// Named fields are looked up one by one, without reading the rest of the directory.
pub(crate) fn select(segments: &[OpenSegment], columns: &[String]) -> Result<Vec<Field>> {
    if columns.is_empty() {
        return unite(segments);
    }
    let mut selected: Vec<Field> = Vec::new();
    for argument in columns {
        // A name may contain a comma.
        let whole = find(segments, argument)?;
        let names = if whole.is_some() { vec![argument.as_str()] } else { argument.split(',').collect() };
        for name in names {
            let Some(field) = find(segments, name)? else { return Err(unknown_column(segments, name)?) };
            if selected.iter().any(|known| known.name == name) {
                return Err(CliError::usage(format!("column {name:?} is named twice")));
            }
            selected.push(field);
        }
    }
    Ok(selected)
}

fn unite(segments: &[OpenSegment]) -> Result<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for segment in segments {
        let mut own = segment.source.fields()?;
        // In the order of the input. Fields without a rank come last, by name.
        own.sort_by_key(order_of);
        fields.extend(own.into_iter().filter(|field| names.insert(field.name.clone())));
    }
    Ok(fields)
}

/// The field of this name in the first segment that has it.
pub(crate) fn find(segments: &[OpenSegment], name: &str) -> Result<Option<Field>> {
    let mut fields = segments.iter().map(|segment| segment.field(name).map_err(CliError::from));
    fields.find_map(Result::transpose).transpose()
}

/// The error for an unknown column, with the closest name as a hint.
pub(crate) fn unknown_column(segments: &[OpenSegment], name: &str) -> Result<CliError> {
    let fields = unite(segments)?;
    let files = first_few(segments.iter().map(|segment| segment.file().to_owned()), NAMED);
    let failure = CliError::failed(format!("{files}: no column {name:?}"));
    Ok(failure.hint(column_meant(name, &fields, segments.first())))
}

/// The error of a search of segments, with the closest name as a hint if a column is unknown.
pub(crate) fn search_failure(segments: &[OpenSegment], error: SearchError) -> CliError {
    let name = match &error {
        SearchError::Query(error) => error.no_such_column().map(str::to_owned),
        SearchError::Column(error) => match error.kind() {
            ErrorKind::NoSuchColumn { field, .. } => Some(field.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_query = matches!(error, SearchError::Query(_));
    let failure = CliError::from(error);
    let Some((name, fields)) = name.zip(unite(segments).ok()) else { return failure };
    let close = closest(&name, fields.iter().map(|field| field.name.as_str()));
    failure.hint(match close.map(|close| (close, name_in_query(close))) {
        Some((close, quoted)) if is_query && quoted != close => format!("did you mean {quoted}?"),
        _ => column_meant(&name, &fields, segments.first()),
    })
}

/// The error of a query that cannot be parsed. If it has a name that must be quoted, the hint quotes it.
pub(crate) fn unparsed(segments: &[OpenSegment], query: &str, error: SearchError) -> CliError {
    let failure = CliError::from(error);
    let fields = unite(segments).unwrap_or_default();
    let names = fields.iter().map(|field| (field.name.as_str(), name_in_query(&field.name)));
    let is_bare = |(name, quoted): &(&str, String)| {
        quoted != name && query.contains(name) && !query.contains(quoted.as_str())
    };
    match names.filter(is_bare).max_by_key(|(name, _)| name.len()) {
        Some((_, quoted)) => failure.hint(format!("write the name in backticks: {quoted}")),
        None => failure,
    }
}

/// A column's name as a query has it: in backticks if necessary.
fn name_in_query(name: &str) -> String {
    let query = Query::exists(name).to_string();
    query.strip_suffix(" exists").unwrap_or(&query).to_owned()
}

fn column_meant(name: &str, fields: &[Field], segment: Option<&OpenSegment>) -> String {
    let info =
        || format!("`dv info {}` lists all columns", shell_word(segment.map_or("", OpenSegment::file)));
    meant(name, fields.iter().map(|field| field.name.as_str()), info)
}
