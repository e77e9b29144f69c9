//! The segments of a command that searches: one, or several that are searched as if all documents were in one.

use std::collections::HashSet;
use std::error::Error as _;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::api::search::{MixedTypes, Parts};
use crate::api::{
    ColumnSource as _, DocAddress, DocId, Field, LogicalType, MAGIC, Part, Search, SearchError, Segment,
    promotion,
};
use crate::args::WhereArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::number::FloatStyle;
use crate::output::json::Json;
use crate::read;
use crate::text_format::TextFormat;

/// The most files that a message names.
const MAX_NAMED: usize = 3;

/// Open segments, in the order of the command line.
pub(crate) struct Segments {
    segments: Vec<Segment>,
    parts: Parts,
    /// Whether the command line names several.
    are_several: bool,
}

impl Segments {
    /// Opens the files of [`expand`]. With `--skip-damaged`, those that cannot be opened are named on standard error
    /// and left out, if another can be opened.
    pub(crate) fn open(
        files: &[PathBuf],
        args: &WhereArgs,
        console: &mut Console<'_>,
    ) -> Result<Segments, CliError> {
        let files = expand(files)?;
        let (mut segments, mut left_out) = (Vec::new(), None);
        for file in &files {
            match read::open(file).and_then(|segment| with_columns(segment, args.skip_damaged)) {
                Ok(segment) => segments.push(segment),
                Err(error) if args.skip_damaged => {
                    console.note(&format!("dv: left out: {}", error.message));
                    left_out = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (segments.is_empty(), left_out) {
            return Err(error);
        }
        let parts = Parts::new(segments.iter().cloned().map(Part::new));
        Ok(Segments { segments, parts, are_several: files.len() > 1 })
    }

    /// A search over all of them. Columns of different kinds or types are read in those that they have in common.
    pub(crate) fn search(&self) -> Search<'static> {
        Search::over(&self.parts).mixed_types(MixedTypes::Promote)
    }

    pub(crate) fn all(&self) -> &[Segment] {
        &self.segments
    }

    /// The segment, if the command line names only one.
    pub(crate) fn only(&self) -> Option<&Segment> {
        self.segments.first().filter(|_| !self.are_several)
    }

    /// The number of documents of all segments.
    pub(crate) fn docs(&self) -> u64 {
        self.parts.docs()
    }

    /// All documents, in the order of the segments.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = DocAddress> {
        let parts = (0..).zip(&self.segments);
        parts.flat_map(|(part, segment)| {
            (0..segment.docs()).map(move |doc| DocAddress { part, doc: DocId::new(doc) })
        })
    }

    /// The files, if there are several.
    pub(crate) fn files(&self) -> Option<impl Iterator<Item = &str>> {
        self.only().is_none().then(|| self.segments.iter().map(Segment::file))
    }

    /// A document for messages: its number, after its file if there are several.
    pub(crate) fn place(&self, DocAddress { part, doc }: DocAddress) -> String {
        match (self.only(), self.segments.get(part as usize)) {
            (None, Some(segment)) => format!("{}:{doc}", segment.file()),
            _ => doc.to_string(),
        }
    }

    /// The files as an entry of a JSON object.
    pub(crate) fn json(&self) -> (&'static str, Json) {
        match self.only() {
            Some(segment) => ("file", segment.file().into()),
            None => ("files", self.segments.iter().map(|segment| segment.file().into()).collect()),
        }
    }

    /// The fields that the user named, in that order, or all fields: see [`read::select`]. Each has the kind, the type
    /// and the text format of all segments together.
    pub(crate) fn select(&self, columns: &[String]) -> Result<Vec<Field>, CliError> {
        let fields = read::select(&self.segments, columns)?;
        if self.only().is_some() {
            return Ok(fields);
        }
        fields.iter().map(|field| self.field(&field.name)).collect()
    }

    /// As [`select`](Self::select), for one column whose name may contain commas.
    pub(crate) fn field(&self, name: &str) -> Result<Field, CliError> {
        if let Some(segment) = self.only() {
            return Ok(segment.column(name)?.info().field.clone());
        }
        let opened = self.search().retriever(&[name]).map_err(|error| self.failure(error))?;
        let Some(field) = opened.fields().next() else {
            return Err(read::unknown_column(&self.segments, name)?);
        };
        let mut field = field.clone();
        self.describe(&mut field)?;
        Ok(field)
    }

    /// Gives a field of an answer the text format that all segments have in common.
    pub(crate) fn describe(&self, field: &mut Field) -> Result<(), CliError> {
        if self.only().is_some() {
            return Ok(());
        }
        let mut own: Vec<Field> = Vec::new();
        for segment in &self.segments {
            own.extend(read::column(segment, &field.name)?.map(|column| column.info().field.clone()));
        }
        field.format = TextFormat::in_common(own.iter().map(|field| field.format.as_deref()));
        if own.iter().any(|own| own.logical != field.logical) && field.logical == LogicalType::F64 {
            // Some files have integers, which are printed as their files print them.
            let format = TextFormat::parse(field.format.as_deref().unwrap_or_default());
            field.format = TextFormat { float: Some(FloatStyle::Shortest), ..format }.to_format();
        }
        Ok(())
    }

    /// The names of all columns.
    pub(crate) fn names(&self) -> Result<Vec<String>, CliError> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        for segment in &self.segments {
            let fields = segment.fields()?.into_iter();
            names.extend(fields.map(|field| field.name).filter(|name| known.insert(name.clone())));
        }
        Ok(names)
    }

    /// The error of a search. Files are named instead of parts, and an unknown column gets the closest name as a hint.
    pub(crate) fn failure(&self, error: SearchError) -> CliError {
        self.mixed(&error).unwrap_or_else(|| read::search_failure(&self.segments, error))
    }

    /// The error for a column that the files cannot be searched by together.
    fn mixed(&self, error: &SearchError) -> Option<CliError> {
        // A query has it as the cause of an error in a column.
        let nested = || error.source().and_then(|source| source.downcast_ref::<SearchError>());
        let is_mixed = |error: &&SearchError| matches!(error, SearchError::MixedTypes { .. });
        let error = Some(error).filter(is_mixed).or_else(|| nested().filter(is_mixed))?;
        let SearchError::MixedTypes { column, parts, kinds, types } = error else { return None };
        let [a, b] = [0, 1].map(|i| {
            let file = self.segments.get(parts[i]).map_or("", Segment::file);
            format!("{} of type {} in {file}", kinds[i].name(), types[i].name())
        });
        let hint = match promotion::common(types[0], types[1]) {
            None => "build the files with the same --type for this column, or search them one by one",
            Some(_) => "build the files with the same kind for this column, or search them one by one",
        };
        Some(CliError::failed(format!("column {column:?}: {a}, {b}")).hint(hint))
    }
}

/// The segment, if `all` after a check that each of its columns can be opened.
fn with_columns(segment: Segment, all: bool) -> Result<Segment, CliError> {
    if all {
        segment.fields()?.iter().try_for_each(|field| segment.column(&field.name).map(drop))?;
    }
    Ok(segment)
}

/// The files for messages: all of them, or the first and their number.
pub(crate) fn files_named(segments: &[Segment]) -> String {
    let named = segments.iter().take(MAX_NAMED).map(Segment::file).collect::<Vec<_>>().join(", ");
    match segments.len().checked_sub(MAX_NAMED) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}

/// Replaces patterns by the files that match them, in alphabetical order. An existing file is not a pattern.
pub(crate) fn expand(files: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut expanded = Vec::with_capacity(files.len());
    for file in files {
        match pattern(file) {
            None => expanded.push(file.clone()),
            Some(pattern) => expanded.extend(matches(pattern)?),
        }
    }
    Ok(expanded)
}

/// The text of a path that is a pattern.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists())
}

/// The files that match a pattern, at least one.
fn matches(pattern: &str) -> Result<Vec<PathBuf>, CliError> {
    // As in a shell: `*` and `?` match neither `/` nor a dot at the beginning of a name.
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options);
    let found = found.map_err(|error| {
        CliError::usage(format!("{pattern}: expected a file or a pattern, found one with {}", error.msg))
    })?;
    let found = found.collect::<Result<Vec<_>, _>>();
    let mut found = found.map_err(|error| CliError::file(error.path().display(), error.error()))?;
    if found.is_empty() {
        return Err(CliError::new(Exit::Unreadable, format!("{pattern}: no file matches this pattern")));
    }
    found.sort();
    Ok(found)
}

/// Splits arguments into files and the columns after them: the first argument, and those after it that end in `.dv`, are
/// segments, or match a segment as a pattern, are files.
pub(crate) fn split(arguments: &[OsString]) -> (Vec<PathBuf>, Vec<String>) {
    let is_file = |argument: &OsString| {
        let path = Path::new(argument);
        let is_match =
            |pattern| matches(pattern).is_ok_and(|found| found.iter().all(|file| is_segment(file)));
        path.extension().is_some_and(|e| e == "dv") || is_segment(path) || pattern(path).is_some_and(is_match)
    };
    let more = arguments.iter().skip(1).take_while(|argument| is_file(argument)).count();
    let (files, columns) = arguments.split_at(arguments.len().min(1 + more));
    let columns = columns.iter().map(|column| column.to_string_lossy().into_owned());
    (files.iter().map(PathBuf::from).collect(), columns.collect())
}

/// Whether a file begins like a segment.
fn is_segment(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && magic == MAGIC)
}
