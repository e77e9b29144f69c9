//! The segments of a command that reads: of a file, of a store, or of several that are read as if all documents were in
//! one.

use std::collections::{HashMap, HashSet};
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::columns;
use super::files::expand;
use super::opened::{Opened, open};
use super::opener::Opener;
use super::segment::OpenSegment;
use crate::api::search::calendar::TimeZone;
use crate::api::search::query::Literal;
use crate::api::search::{MixedTypes, Parts, Query};
use crate::api::{DocAddress, DocId, Field, LogicalType, Search, SearchError, Segment, SortKey, promotion};
use crate::console::Console;
use crate::error::{CliError, Result};
use crate::text::number::FloatStyle;
use crate::text::query_time::convert;
use crate::text::quoting::{NAMED, first_few};
use crate::text::text_format::TextFormat;
use crate::text::time::{is_time, is_timestamp};
use crate::text::{Json, sort_keys, thousands};

/// Open segments, in the order of the command line.
pub(crate) struct Segments {
    segments: Vec<OpenSegment>,
    parts: Parts,
    /// The files and stores that were opened.
    names: Vec<String>,
    /// Whether the command line names several.
    are_several: bool,
    /// The fields of the first store or index of Lucene, if there is one, in its order.
    order: Option<Vec<Field>>,
    /// The zone in which timestamps are printed, and read if they say none.
    zone: Option<TimeZone>,
}

impl Segments {
    /// Opens the files of [`expand`]. With `skip_damaged`, those that cannot be opened are named on standard error
    /// and left out, if another can be opened.
    pub(crate) fn open(
        opener: &Opener,
        files: &[PathBuf],
        skip_damaged: bool,
        console: &mut Console<'_>,
    ) -> Result<Segments> {
        let files = expand(files)?;
        let (mut opened, mut left_out) = (Vec::new(), None);
        for file in &files {
            match open(opener, file).and_then(|found| found.with_columns(skip_damaged)) {
                Ok(found) => opened.push((file.as_path(), found)),
                Err(error) if skip_damaged => {
                    console.note(&format!("dv: left out: {}", error.message));
                    left_out = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match left_out.filter(|_| opened.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Segments::of(opened, files.len() > 1)),
        }
    }

    /// Opens these files and stores.
    pub(crate) fn open_all<'p>(
        opener: &Opener,
        files: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Result<Segments> {
        let open = |file: &'p PathBuf| Ok((file.as_path(), open(opener, file)?));
        let opened = files.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        let are_several = opened.len() > 1;
        Ok(Segments::of(opened, are_several))
    }

    /// The segments of an index of Lucene, in all of which a column has the same kind.
    #[cfg(feature = "lucene")]
    pub(crate) fn of_lucene(opener: &Opener, folder: &Path) -> Result<Segments> {
        let segments = super::lucene::segments(opener, folder, true)?;
        Ok(Segments::of(vec![(folder, Opened { segments, order: None })], false))
    }

    /// A segment in memory, whose documents are of `file`.
    pub(crate) fn in_memory(opener: &Opener, file: &Path, bytes: Vec<u8>) -> Result<Segments> {
        let segment = Segment::from_reader(Arc::new(bytes), file, opener.options())?;
        Ok(Segments::of(vec![(file, Opened::of(segment))], false))
    }

    fn of(opened: Vec<(&Path, Opened)>, are_several: bool) -> Segments {
        let names = opened.iter().map(|(file, _)| file.to_string_lossy().into_owned()).collect();
        let order = opened.iter().find_map(|(_, found)| found.order.clone());
        let segments: Vec<OpenSegment> = opened.into_iter().flat_map(|(_, found)| found.segments).collect();
        let parts = Parts::new(segments.iter().map(OpenSegment::part));
        Segments { segments, parts, names, are_several, order, zone: None }
    }

    /// The same, with timestamps in `zone`; `None` for UTC, and for what their text formats say.
    pub(crate) fn in_zone(self, zone: &Option<TimeZone>) -> Segments {
        Segments { zone: zone.clone(), ..self }
    }

    pub(crate) fn zone(&self) -> Option<&TimeZone> {
        self.zone.as_ref()
    }

    /// A search over all of them. Columns of different kinds or types are read in those that they have in common.
    pub(crate) fn search(&self) -> Search<'static> {
        Search::over(&self.parts).mixed_types(MixedTypes::Promote)
    }

    /// All of them as the parts of a search, with the fields of the first store.
    #[cfg(feature = "sql")]
    pub(crate) fn parts(&self) -> Parts {
        self.parts.clone().with_fields(self.order.clone().unwrap_or_default())
    }

    pub(crate) fn all(&self) -> &[OpenSegment] {
        &self.segments
    }

    /// Whether a document is not deleted.
    pub(crate) fn is_live(&self, part: usize, doc: DocId) -> bool {
        self.segments.get(part).is_some_and(|segment| segment.live.contains(doc))
    }

    /// The segment, if the command line names only one file.
    pub(crate) fn only(&self) -> Option<&OpenSegment> {
        self.segments.first().filter(|_| self.order.is_none() && !self.are_several)
    }

    /// The files and stores of the command line, for messages.
    pub(crate) fn named(&self) -> String {
        first_few(self.names.iter().cloned(), NAMED)
    }

    /// The number of documents of all segments that are not deleted.
    pub(crate) fn docs(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.live.count())).sum()
    }

    /// All documents that are not deleted, in the order of the segments.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = DocAddress> {
        (0..).zip(&self.segments).flat_map(|(part, segment)| {
            segment.live_docs().map(move |doc| DocAddress { part, doc: DocId::new(doc) })
        })
    }

    /// The documents at these places of [`addresses`](Self::addresses); `None` if there are not so many.
    pub(crate) fn at(&self, places: impl Iterator<Item = u64>) -> Vec<Option<DocAddress>> {
        let mut end = 0;
        let ends = self.segments.iter().map(|segment| {
            end += u64::from(segment.live.count());
            end
        });
        let ends: Vec<u64> = ends.collect();
        let mut listed: Vec<Option<Vec<u32>>> = vec![None; ends.len()];
        let address = |place: u64| {
            let part = ends.partition_point(|end| *end <= place);
            let segment = self.segments.get(part)?;
            let at = u32::try_from(place + u64::from(segment.live.count()) - ends[part]).ok()?;
            let doc = if segment.live.are_all() {
                at
            } else {
                let docs = listed[part].get_or_insert_with(|| segment.live_docs().collect());
                *docs.get(at as usize)?
            };
            Some(DocAddress { part: u32::try_from(part).ok()?, doc: DocId::new(doc) })
        };
        places.map(address).collect()
    }

    /// Fails if one of `docs` was not found.
    pub(crate) fn require(&self, docs: &[u32], found: &[Option<DocAddress>]) -> Result<()> {
        let absent = docs.iter().zip(found).filter(|(_, found)| found.is_none());
        match absent.map(|(doc, _)| *doc).collect::<Vec<u32>>().as_slice() {
            [] => Ok(()),
            absent => Err(self.no_such_documents(absent)),
        }
    }

    /// The error for document numbers out of range.
    pub(crate) fn no_such_documents(&self, absent: &[u32]) -> CliError {
        let listed = first_few(absent.iter().map(u32::to_string), 5);
        let message = format!("{}: no document {listed}", self.named());
        let failure = CliError::failed(message);
        match self.docs().checked_sub(1) {
            None if self.only().is_none() => failure.hint("there are no documents"),
            None => failure.hint("the segment has no documents"),
            Some(last) => {
                failure.hint(format!("there are {}, numbered from 0 to {last}", thousands(self.docs())))
            }
        }
    }

    /// The files, if there are several.
    pub(crate) fn files(&self) -> Option<impl Iterator<Item = &str>> {
        self.only().is_none().then(|| self.segments.iter().map(OpenSegment::file))
    }

    /// A document for messages: its number, after its file if there are several.
    pub(crate) fn place(&self, DocAddress { part, doc }: DocAddress) -> String {
        match (self.only(), self.segments.get(part as usize)) {
            (None, Some(segment)) => format!("{}:{doc}", segment.file()),
            _ => doc.to_string(),
        }
    }

    /// The document that [`place`](Self::place) returns this for.
    pub(crate) fn at_place(&self, place: &str) -> Option<DocAddress> {
        let (file, doc) = match self.only() {
            Some(only) => (only.file(), place),
            None => place.rsplit_once(':')?,
        };
        let part = self.segments.iter().position(|segment| segment.file() == file)?;
        Some(DocAddress { part: u32::try_from(part).ok()?, doc: DocId::new(doc.parse().ok()?) })
    }

    /// The files and stores as an entry of a JSON object.
    pub(crate) fn json(&self) -> (&'static str, Json) {
        match self.names.as_slice() {
            [file] if !self.are_several => ("file", file.as_str().into()),
            files => ("files", files.into()),
        }
    }

    /// The fields that the user named, in that order, or all fields: see [`columns::select`]. Each has the kind, the type
    /// and the text format of all segments together.
    pub(crate) fn select(&self, columns: &[String]) -> Result<Vec<Field>> {
        let mut fields = self.in_order(columns::select(&self.segments, columns)?, columns);
        if self.only().is_some() {
            fields.iter_mut().try_for_each(|field| self.describe(field))?;
            return Ok(fields);
        }
        fields.iter().map(|field| self.field(&field.name)).collect()
    }

    /// Fields in the order of the store, if there is one and the user did not name `columns`.
    pub(crate) fn in_order(&self, mut fields: Vec<Field>, columns: &[String]) -> Vec<Field> {
        if let Some(order) = self.order.as_ref().filter(|_| columns.is_empty()) {
            let places: HashMap<&str, usize> =
                order.iter().map(|field| field.name.as_str()).zip(0..).collect();
            fields.sort_by_key(|field| places.get(field.name.as_str()).copied().unwrap_or(usize::MAX));
        }
        fields
    }

    /// As [`select`](Self::select), for one column whose name may contain commas.
    pub(crate) fn field(&self, name: &str) -> Result<Field> {
        let opened = self.search().retriever(&[name]).map_err(|error| self.failure(error))?;
        let Some(field) = opened.fields().next() else {
            return Err(columns::unknown_column(&self.segments, name)?);
        };
        let mut field = field.clone();
        self.describe(&mut field)?;
        Ok(field)
    }

    /// As [`field`](Self::field), if there is one.
    pub(crate) fn find_field(&self, name: &str) -> Result<Option<Field>> {
        let is_there = columns::find(&self.segments, name)?.is_some();
        is_there.then(|| self.field(name)).transpose()
    }

    /// Converts dates and times of a query, of whose names `column_of` returns the columns: see
    /// [`query_time`](crate::text::query_time).
    pub(crate) fn read_times(&self, query: &mut Query, column_of: impl Fn(&str) -> String) {
        let mut fields: HashMap<String, Option<Field>> = HashMap::new();
        query.map_literals(&mut |name, literal| {
            if let Literal::Text(_) = literal {
                let column = column_of(name);
                let field = fields.entry(column.clone()).or_insert_with(|| self.time_field(&column));
                if let Some(field) = field {
                    convert(field, self.zone(), literal);
                }
            }
        });
    }

    /// The column of dates or timestamps of this name, in the text format that all segments have in common, whatever the zone.
    /// The search finds out about columns that cannot be opened.
    pub(crate) fn time_field(&self, name: &str) -> Option<Field> {
        let mut field = columns::find(&self.segments, name).ok()?.filter(|field| is_time(field.logical))?;
        self.in_common(&mut field).ok()?;
        Some(field)
    }

    /// Gives a field of an answer the text format that all segments have in common, or that of the zone.
    pub(crate) fn describe(&self, field: &mut Field) -> Result<()> {
        self.in_common(field)?;
        if let Some(zone) = self.zone.as_ref().filter(|_| is_timestamp(field.logical)) {
            let format = TextFormat::parse(field.format.as_deref().unwrap_or_default());
            field.format = Some(format.in_zone(zone).to_string());
        }
        Ok(())
    }

    /// Gives a field the text format that all segments have in common.
    fn in_common(&self, field: &mut Field) -> Result<()> {
        if self.only().is_some() {
            return Ok(());
        }
        let mut own: Vec<Field> = Vec::new();
        for segment in &self.segments {
            own.extend(segment.field(&field.name)?);
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
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        for segment in &self.segments {
            let fields = segment.source.fields()?.into_iter();
            names.extend(fields.map(|field| field.name).filter(|name| known.insert(name.clone())));
        }
        Ok(names)
    }

    /// Parses the `arguments` of an `option` as sort keys.
    pub(crate) fn sort_keys(&self, option: &str, arguments: &[String]) -> Result<Vec<SortKey>> {
        let names = self.names()?;
        sort_keys::keys(option, arguments, &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The error of a search. Files are named instead of parts, and an unknown column gets the closest name as a hint.
    pub(crate) fn failure(&self, error: SearchError) -> CliError {
        self.mixed(&error).unwrap_or_else(|| columns::search_failure(&self.segments, error))
    }

    /// The error for a column that the files cannot be searched by together.
    fn mixed(&self, error: &SearchError) -> Option<CliError> {
        // A query has it as the cause of an error in a column.
        let nested = || error.source().and_then(|source| source.downcast_ref::<SearchError>());
        let is_mixed = |error: &&SearchError| matches!(error, SearchError::MixedTypes { .. });
        let error = Some(error).filter(is_mixed).or_else(|| nested().filter(is_mixed))?;
        let SearchError::MixedTypes { column, parts, kinds, types } = error else { return None };
        let [a, b] = [0, 1].map(|i| {
            let file = self.segments.get(parts[i]).map_or("", OpenSegment::file);
            format!("{} of type {} in {file}", kinds[i].name(), types[i].name())
        });
        let hint = match promotion::common(types[0], types[1]) {
            None => "build the files with the same --type for this column, or search them one by one",
            Some(_) => "build the files with the same kind for this column, or search them one by one",
        };
        Some(CliError::failed(format!("column {column:?}: {a}, {b}")).hint(hint))
    }
}
