//! Opens segments, finds columns by name, and reads documents in chunks.

use std::cell;
use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use crate::api::search::Query;
use crate::api::store::{Snapshot, StoreReader};
use crate::api::{
    Access, Cell, ChunkColumn, DocAddress, ErrorKind, Field, LogicalType, OpenOptions, Retriever, Search,
    SearchError, Segment,
};
use crate::error::CliError;
use crate::open_segment::OpenSegment;
use crate::segments::{Segments, files_named};
use crate::text::print_value::Printer;
use crate::text::quoting::shell_word;
use crate::text::stored_ref::StoredRef;
use crate::text::text_format::TextFormat;
use crate::text::words::{closest, meant};

thread_local! {
    /// Whether `--any-docs` was given.
    pub(crate) static ANY_DOCS: cell::Cell<bool> = const { cell::Cell::new(false) };
    /// Whether `--no-mmap` was given.
    pub(crate) static NO_MMAP: cell::Cell<bool> = const { cell::Cell::new(false) };
    /// The commit of stores, if `--commit` was given.
    pub(crate) static COMMIT: cell::Cell<Option<u64>> = const { cell::Cell::new(None) };
}

/// The number of documents to read at a time.
pub(crate) const CHUNK: usize = 4096;

/// The options of segments, which may come from anyone.
pub(crate) fn open_options() -> OpenOptions {
    let access = if NO_MMAP.get() { Access::Read } else { Access::Map };
    let options = OpenOptions::new().access(access);
    if ANY_DOCS.get() { options } else { options.untrusted() }
}

/// Opens a store at the newest commit, or at that of `--commit`.
pub(crate) fn open_store(path: &Path) -> Result<Snapshot, CliError> {
    let reader = match COMMIT.get() {
        None => StoreReader::open(path, open_options()),
        Some(commit) => StoreReader::open_commit(path, commit, open_options()),
    };
    Ok(reader?.snapshot())
}

/// Opens a segment. Fails for `-`, which cannot be mapped.
pub(crate) fn open(path: &Path) -> Result<Segment, CliError> {
    if COMMIT.get().is_some() {
        let message = format!("--commit: expected the folder of a store, found \"{}\"", path.display());
        return Err(CliError::usage(message));
    }
    if path.as_os_str() == "-" {
        return Err(
            CliError::usage("a segment cannot be read from standard input").hint("give the name of a file")
        );
    }
    Segment::open_with(path, open_options()).map_err(|error| {
        let failure = CliError::from(error);
        if ANY_DOCS.get() {
            return failure;
        }
        match Segment::open_with(path, OpenOptions { untrusted: false, ..open_options() }) {
            Ok(_) => {
                failure.hint("a small file with so many documents may be made to use up memory; --any-docs opens it anyway")
            }
            Err(_) => failure,
        }
    })
}

/// The text of a file or of standard input, and its name in messages; an error gets `hint`.
pub(crate) fn text<'a>(path: &'a str, hint: &str) -> Result<(&'a str, String), CliError> {
    let (name, text) = match path {
        "-" => ("<stdin>", io::read_to_string(io::stdin().lock())),
        path => (path, fs::read_to_string(path)),
    };
    let text = text.map_err(|error| CliError::file(name, &error).hint(hint))?;
    Ok((name, text))
}

/// The fields of a segment in the order of the input. Fields without a rank come last, by name.
fn fields_in_order(segment: &OpenSegment) -> Result<Vec<Field>, CliError> {
    let mut fields = segment.source.fields()?;
    fields.sort_by_key(order_of);
    Ok(fields)
}

/// The rank of a field in the input.
pub(crate) fn order_of(field: &Field) -> u32 {
    field.format.as_deref().and_then(|format| TextFormat::parse(format).order).unwrap_or(u32::MAX)
}

/// The fields that the user named, in that order, or all fields. Fields of several segments are united by name; the
/// first segment with a field describes it.
///
/// Named fields are looked up one by one, without reading the rest of the directory.
pub(crate) fn select(segments: &[OpenSegment], columns: &[String]) -> Result<Vec<Field>, CliError> {
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

fn unite(segments: &[OpenSegment]) -> Result<Vec<Field>, CliError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for segment in segments {
        fields.extend(fields_in_order(segment)?.into_iter().filter(|field| names.insert(field.name.clone())));
    }
    Ok(fields)
}

/// The field of this name in the first segment that has it.
pub(crate) fn find(segments: &[OpenSegment], name: &str) -> Result<Option<Field>, CliError> {
    let mut fields = segments.iter().map(|segment| segment.field(name).map_err(CliError::from));
    fields.find_map(Result::transpose).transpose()
}

/// The error for an unknown column, with the closest name as a hint.
pub(crate) fn unknown_column(segments: &[OpenSegment], name: &str) -> Result<CliError, CliError> {
    let fields = unite(segments)?;
    let failure = CliError::failed(format!("{}: no column {name:?}", files_named(segments)));
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

/// A reader of some columns of a segment or of several, with the values of the current chunk of documents.
pub(crate) struct Records {
    columns: Vec<RecordColumn>,
    retriever: Retriever,
}

/// The printer of a column, and its index in the retriever.
struct RecordColumn {
    printer: Printer,
    /// `None` if the segment does not have the column.
    place: Option<usize>,
}

/// A column, and its values in the current chunk.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) printer: &'a Printer,
    values: Option<ChunkColumn<'a>>,
}

impl Records {
    /// The columns of a segment with the names of these fields; their types may differ.
    pub(crate) fn open(segment: &OpenSegment, fields: &[Field]) -> Result<Records, CliError> {
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for field in fields {
            let own = segment.field(&field.name)?;
            let place = own.is_some().then_some(names.len());
            let own = own.as_ref().unwrap_or(field);
            let printer = Printer::new(own.logical, own.kind.is_multi_valued(), own.format.as_deref());
            names.extend(place.map(|_| &field.name));
            columns.push(RecordColumn { printer, place });
        }
        Ok(Records { columns, retriever: Search::new(&*segment.source).retriever(&names)? })
    }

    /// These columns of segments that are searched together; `None` for a column without values.
    pub(crate) fn over<'f>(
        segments: &Segments,
        fields: impl IntoIterator<Item = Option<&'f Field>>,
    ) -> Result<Records, CliError> {
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for field in fields {
            let printer = match field {
                Some(field) => {
                    Printer::new(field.logical, field.kind.is_multi_valued(), field.format.as_deref())
                }
                None => Printer::new(LogicalType::Utf8, false, None),
            };
            columns.push(RecordColumn { printer, place: field.map(|_| names.len()) });
            names.extend(field.map(|field| field.name.as_str()));
        }
        let retriever = segments.search().retriever(&names).map_err(|error| segments.failure(error))?;
        Ok(Records { columns, retriever })
    }

    /// Reads the values of these documents, in any order.
    pub(crate) fn load<D: Copy + Into<DocAddress>>(&mut self, docs: &[D]) -> Result<(), CliError> {
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
    /// Calls `each` with the values of the document at index `at` of the chunk.
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
