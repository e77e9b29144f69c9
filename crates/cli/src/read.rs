//! Reading documents out of a segment: some of its columns, many documents at a time.

use std::cell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crate::api::{
    Cell, ChunkColumn, Column, ColumnSource as _, DocId, Error, ErrorKind, Field, OpenOptions, Retriever,
    Search, SearchError, Segment,
};
use crate::error::CliError;
use crate::input::error::meant;
use crate::input::import::StoredRef;
use crate::output::format_value::Printer;
use crate::text_format::TextFormat;

thread_local! {
    /// Whether segments are opened whatever number of documents they say they have.
    pub(crate) static ANY_DOCS: cell::Cell<bool> = const { cell::Cell::new(false) };
}

/// Documents that are read together.
pub(crate) const CHUNK: usize = 4096;

/// Opens a segment; `-` is no file that could be mapped.
pub(crate) fn open(path: &Path) -> Result<Segment, CliError> {
    if path.as_os_str() == "-" {
        return Err(CliError::usage("a segment cannot be read from standard input")
            .hint("any value of it may be asked for first: give the name of a file"));
    }
    if ANY_DOCS.get() {
        return Ok(Segment::open(path)?);
    }
    Segment::open_with(path, OpenOptions::new().untrusted()).map_err(|error| {
        let failure = CliError::from(error);
        match Segment::open(path) {
            Ok(_) => {
                failure.hint("a small file may say so to use up memory; --any-docs opens it all the same")
            }
            Err(_) => failure,
        }
    })
}

/// The text of a file, or of standard input, and its name in messages; `hint` is what else could be said.
pub(crate) fn text<'a>(path: &'a str, hint: &str) -> Result<(&'a str, String), CliError> {
    let (name, text) = match path {
        "-" => ("<stdin>", io::read_to_string(io::stdin().lock())),
        path => (path, fs::read_to_string(path)),
    };
    let text = text.map_err(|error| CliError::file(name, &error).hint(hint))?;
    Ok((name, text))
}

/// The fields of a segment in the order that the input had, those of other writers behind, by name.
pub(crate) fn fields_in_order(segment: &Segment) -> Result<Vec<Field>, CliError> {
    let mut fields = segment.fields()?;
    fields.sort_by_key(order_of);
    Ok(fields)
}

/// The place of a field among those of the input.
pub(crate) fn order_of(field: &Field) -> u32 {
    field.format.as_deref().and_then(|format| TextFormat::parse(format).order).unwrap_or(u32::MAX)
}

/// The fields that the user named, in that order; all of them if none was named. Those of several segments
/// are united by name, and the first that has one describes it.
///
/// Named ones are looked up one by one, without reading the rest of the directory.
pub(crate) fn select(segments: &[Segment], columns: &[String]) -> Result<Vec<Field>, CliError> {
    if columns.is_empty() {
        return unite(segments);
    }
    let mut selected: Vec<Field> = Vec::new();
    for argument in columns {
        // A name may hold a comma.
        let whole = find(segments, argument)?;
        let names = if whole.is_some() { vec![argument.as_str()] } else { argument.split(',').collect() };
        for name in names {
            let Some(field) = find(segments, name)? else { return Err(unknown_column(segments, name)?) };
            if selected.iter().any(|known| known.name == name) {
                return Err(CliError::usage(format!("the column {name:?} is named twice")));
            }
            selected.push(field);
        }
    }
    Ok(selected)
}

fn unite(segments: &[Segment]) -> Result<Vec<Field>, CliError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for segment in segments {
        fields.extend(fields_in_order(segment)?.into_iter().filter(|field| names.insert(field.name.clone())));
    }
    Ok(fields)
}

/// The field of this name of the first segment that has one.
pub(crate) fn find(segments: &[Segment], name: &str) -> Result<Option<Field>, CliError> {
    let mut fields =
        segments.iter().map(|segment| Ok(column(segment, name)?.map(|c| c.info().field.clone())));
    fields.find_map(Result::transpose).transpose()
}

/// The column of this name, if the segment has one.
pub(crate) fn column(segment: &Segment, name: &str) -> Result<Option<Arc<dyn Column>>, Error> {
    match segment.column(name) {
        Ok(column) => Ok(Some(column)),
        Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An error that says which column is meant, maybe.
pub(crate) fn unknown_column(segments: &[Segment], name: &str) -> Result<CliError, CliError> {
    let fields = unite(segments)?;
    let files = segments.iter().map(Segment::file).collect::<Vec<_>>().join(", ");
    let failure = CliError::failed(format!("{files}: no column {name:?}"));
    Ok(failure.hint(column_meant(name, &fields, segments.first())))
}

/// Why a segment could not be asked, and which column was meant, maybe.
pub(crate) fn search_failure(segment: &Segment, error: SearchError) -> CliError {
    let name = match &error {
        SearchError::Query(error) => error.no_such_column().map(str::to_owned),
        SearchError::Column(error) => match error.kind() {
            ErrorKind::NoSuchColumn { field, .. } => Some(field.clone()),
            _ => None,
        },
        _ => None,
    };
    let failure = CliError::from(error);
    let Some((name, fields)) = name.zip(fields_in_order(segment).ok()) else { return failure };
    failure.hint(column_meant(&name, &fields, Some(segment)))
}

fn column_meant(name: &str, fields: &[Field], segment: Option<&Segment>) -> String {
    let info = || format!("`dv info {}` shows all columns", segment.map_or("", Segment::file));
    meant(name, fields.iter().map(|field| field.name.as_str()), info)
}

/// Some columns of a segment, and the values of some documents.
pub(crate) struct Records {
    columns: Vec<RecordColumn>,
    retriever: Retriever,
}

/// How a column is printed, and where its values are.
struct RecordColumn {
    printer: Printer,
    /// Absent: the segment has no such column, and no document a value.
    place: Option<usize>,
}

/// A column and the values of the documents that were read last.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) printer: &'a Printer,
    values: Option<ChunkColumn<'a>>,
}

impl Records {
    /// The columns of a segment that have the names of these fields; they may be of other types.
    pub(crate) fn open(segment: &Segment, fields: &[Field]) -> Result<Records, CliError> {
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for field in fields {
            let column = column(segment, &field.name)?;
            let own = column.as_ref().map_or(field, |column| &column.info().field);
            let printer = Printer::new(own.logical, own.kind.is_multi_valued(), own.format.as_deref());
            let place = column.is_some().then_some(names.len());
            names.extend(place.map(|_| &field.name));
            columns.push(RecordColumn { printer, place });
        }
        Ok(Records { columns, retriever: Search::new(segment).retriever(&names)? })
    }

    /// Reads the values of these documents, in any order.
    pub(crate) fn load(&mut self, docs: &[DocId]) -> Result<(), CliError> {
        self.retriever.retrieve(docs)?;
        Ok(())
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        let chunk = self.retriever.chunk();
        self.columns.iter().map(|RecordColumn { printer, place }| {
            let values = place.map(|place| chunk.column(place));
            Record { printer, values }
        })
    }
}

impl Record<'_> {
    /// Hands the values of document `at` of those that were read to `each`.
    pub(crate) fn values<R>(&self, at: usize, each: impl FnOnce(&[StoredRef<'_>]) -> R) -> R {
        match self.values.map_or(Cell::Missing, |values| values.get(at)) {
            Cell::Missing => each(&[]),
            Cell::Number(number) => each(&[StoredRef::Number(number)]),
            Cell::Bytes(bytes) => each(&[StoredRef::Bytes(bytes)]),
            Cell::Numbers(numbers) => {
                each(&numbers.iter().map(|number| StoredRef::Number(*number)).collect::<Vec<_>>())
            }
            Cell::Terms(terms) => each(&terms.map(StoredRef::Bytes).collect::<Vec<_>>()),
        }
    }
}
