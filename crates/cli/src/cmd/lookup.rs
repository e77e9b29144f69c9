//! `dv lookup`: finds documents by id in several segments.

#[cfg(feature = "lucene")]
mod of_lucene;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::answer::answer_rows::RowsOrLines;
use crate::answer::records::{Documents, EachDocument, print_documents};
use crate::answer::rows::usual_format;
use crate::api::{DocAddress, DocId, Field, IdIndex, IdLookup, LogicalType, SeekError, SegmentIds};
use crate::args::lookup::LookupArgs;
use crate::console::Console;
use crate::console::colours::styled;
use crate::error::{CliError, Exit, Result};
use crate::import::ids::{self, IdInput};
use crate::open::files::{is_lucene, is_store};
use crate::open::records::{CHUNK, Records};
use crate::open::{OpenSegment, Opener, Segments, columns, id_index};
use crate::text::printable;

/// The columns of the place of a document.
const PLACE: [&str; 3] = ["file", "doc", "id"];

pub(crate) fn run(args: &LookupArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let (files, ids) = split(args)?;
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    #[cfg(feature = "lucene")]
    if let [folder] = &files[..]
        && is_lucene(folder)
    {
        return of_lucene::run(args, &files, ids, opener, console);
    }
    let segments = Segments::open_all(opener, &files)?;
    let (indexes, logical) = open(segments.all())?;
    // Files are named from the oldest to the newest, and searched in reverse order.
    let lookup = IdLookup::new(indexes.iter().rev().map(|index| index.reader().clone()));
    let mut search = LookupRun {
        segments: &segments,
        indexes: &indexes,
        lookup: &lookup,
        logical,
        ids: &mut ids.into_iter().flat_map(IdInput::all),
        quiet: args.quiet,
        has_colours: console.err_colours,
        not_found: Vec::new(),
        found_all: true,
    };
    if args.doc {
        search.print_places(RowsOrLines::begin(&PLACE, args.records.format, console)?, console)?;
    } else {
        let fields = columns::select(segments.all(), &args.records.columns)?;
        let fields = segments.in_order(fields, &args.records.columns);
        print_documents(&fields, &mut search, &args.records.options(), usual_format(console), console)?;
    }
    // On a terminal, errors come after the documents.
    console.out.flush()?;
    search.tell_not_found(console.err);
    Ok(if search.found_all { Exit::Ok } else { Exit::Failed })
}

/// The files that the command reads; `-` is standard input.
pub(crate) fn inputs(args: &LookupArgs) -> Vec<PathBuf> {
    let (files, ids) = split(args).unwrap_or_default();
    let stdin = ids.iter().any(|id| matches!(id, IdInput::Lines)).then(|| PathBuf::from("-"));
    files.iter().map(PathBuf::from).chain(stdin).collect()
}

/// Splits the arguments into segments and ids.
fn split(args: &LookupArgs) -> Result<(&[OsString], Vec<IdInput>)> {
    let explicit = !args.ids.is_empty();
    let is_segment = |argument: &OsString| {
        let path = Path::new(argument);
        argument != "-"
            && (explicit
                || path.extension().is_some_and(|e| e == "dv")
                || path.is_file()
                || is_store(path)
                || is_lucene(path))
    };
    let files = args.arguments.iter().rposition(is_segment).map_or(1, |last| last + 1);
    let (files, after) = args.arguments.split_at_checked(files).unwrap_or_default();
    let mut ids: Vec<IdInput> = Vec::new();
    for id in after {
        ids.push(if id == "-" { IdInput::Lines } else { IdInput::Id(id.as_encoded_bytes().to_vec()) });
    }
    ids.extend(args.ids.iter().map(|id| IdInput::Id(id.as_bytes().to_vec())));
    if ids.is_empty() {
        return Err(CliError::usage("no id to look up").hint(
            "write ids after the segments, or `-` to read them from standard input; after `--`, all are ids",
        ));
    }
    Ok((files, ids))
}

/// The indexes of the segments, which must index the same column, and the type of the ids.
fn open(segments: &[OpenSegment]) -> Result<(Vec<IdIndex>, LogicalType)> {
    let mut indexes = Vec::with_capacity(segments.len());
    let mut first: Option<Field> = None;
    for segment in segments {
        let (index, field) = id_index::open(segment)?;
        indexes.push(index);
        let known = first.get_or_insert_with(|| field.clone());
        if (&known.name, known.logical) != (&field.name, field.logical) {
            let of = |field: &Field| format!("{:?} ({})", field.name, field.logical.name());
            let (one, other) = (segments.first().map_or("", OpenSegment::file), segment.file());
            let message =
                format!("\"{one}\" has ids in column {}, and \"{other}\" in {}", of(known), of(&field));
            return Err(CliError::failed(message).hint("run `dv lookup` once for each"));
        }
    }
    Ok((indexes, first.map_or(LogicalType::Utf8, |field| field.logical)))
}

/// The state of a lookup.
struct LookupRun<'a, S: SegmentIds> {
    segments: &'a Segments,
    indexes: &'a [IdIndex],
    /// The segments from the last to the first.
    lookup: &'a IdLookup<S>,
    logical: LogicalType,
    ids: &'a mut dyn Iterator<Item = Result<Vec<u8>>>,
    quiet: bool,
    /// Whether messages have colours.
    has_colours: bool,
    /// Messages on ids of the last chunk that were not found.
    not_found: Vec<String>,
    found_all: bool,
}

/// An id, the index of its segment, and its document.
struct Found {
    id: Vec<u8>,
    segment: usize,
    doc: DocId,
}

impl<S: SegmentIds> LookupRun<'_, S> {
    /// Looks up the next chunk of ids; `None` if there are no more.
    fn next_bulk(&mut self, err: &mut dyn Write) -> Result<Option<Vec<Found>>> {
        let ids = self.ids.take(CHUNK).collect::<Result<Vec<_>>>()?;
        if ids.is_empty() {
            return Ok(None);
        }
        self.tell_not_found(err);
        let parsed: Vec<_> = ids.iter().map(|id| ids::parse(id, self.logical)).collect();
        let known: Vec<&[u8]> = parsed.iter().flatten().map(Vec::as_slice).collect();
        let mut hits = Vec::with_capacity(known.len());
        // A new seeker for every chunk uses the filters that have been verified by now.
        let segments = self.segments;
        let place = |segment: usize| segments.all().len().saturating_sub(segment + 1);
        let live = |segment, doc| segments.is_live(place(segment), doc);
        let found = self.lookup.seeker().find_many_live(&known, &mut hits, live);
        found.map_err(|error| self.damaged(error))?;
        let (mut hits, mut found) = (hits.into_iter(), Vec::new());
        for (id, parsed) in ids.into_iter().zip(&parsed) {
            let hit = parsed.as_ref().ok().and_then(|_| hits.next().flatten());
            match hit {
                Some(hit) => {
                    found.push(Found { id, segment: place(hit.segment), doc: hit.doc });
                }
                None => self.lose(&id, parsed.as_ref().err()),
            }
        }
        Ok(Some(found))
    }

    fn lose(&mut self, id: &[u8], why: Option<&String>) {
        self.found_all = false;
        if !self.quiet {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let id = printable(&String::from_utf8_lossy(id));
            let line = format!("dv: no document has the id \"{id}\"{why}");
            self.not_found.push(if self.has_colours { styled(&line) } else { line });
        }
    }

    fn tell_not_found(&mut self, err: &mut dyn Write) {
        for line in self.not_found.drain(..) {
            // An error of writing the message is ignored.
            let _ = writeln!(err, "{line}");
        }
    }

    /// The error for a damaged index, with the file of the segment.
    fn damaged(&self, error: SeekError) -> CliError {
        let message = error.to_string();
        let index = self.indexes.iter().rev().nth(error.segment);
        match index.and_then(|index| index.with_context(Err::<(), _>(error.source)).err()) {
            Some(error) => id_index::damaged(&error, id_index::MEND),
            None => CliError::failed(message).hint(id_index::MEND),
        }
    }

    /// Prints the file, document number and id of each document.
    fn print_places(&mut self, mut places: RowsOrLines, console: &mut Console<'_>) -> Result<()> {
        while let Some(found) = self.next_bulk(console.err)? {
            for Found { id, segment, doc } in found {
                let id = String::from_utf8_lossy(&id);
                print_place(&id, (self.segments, segment, doc), &mut places, console)?;
            }
        }
        places.finish(console)
    }
}

/// Prints the file, the number and the id of a document.
fn print_place(
    id: &str,
    (segments, segment, doc): (&Segments, usize, DocId),
    places: &mut RowsOrLines,
    console: &mut Console<'_>,
) -> Result<()> {
    let file = segments.all().get(segment).map_or("", OpenSegment::file);
    let line = || format!("{}\t{doc}\t{}", printable(file), printable(id));
    places.print(|| vec![file.into(), doc.get().into(), id.into()], line, console)
}

impl<S: SegmentIds> Documents for LookupRun<'_, S> {
    fn files(&self) -> Option<Vec<String>> {
        Some(self.segments.files()?.map(str::to_owned).collect())
    }

    /// Reads the documents of a chunk segment by segment, and returns them in the order of the ids.
    fn each(&mut self, fields: &[Field], err: &mut dyn Write, each: &mut EachDocument<'_>) -> Result<()> {
        while let Some(found) = self.next_bulk(err)? {
            let mut docs: Vec<Vec<DocId>> = vec![Vec::new(); self.segments.all().len()];
            let mut places = Vec::with_capacity(found.len());
            for Found { segment, doc, .. } in &found {
                if let Some(docs) = docs.get_mut(*segment) {
                    places.push(docs.len());
                    docs.push(*doc);
                }
            }
            let read = |(segment, docs): (&OpenSegment, &Vec<DocId>)| {
                let mut records = Records::open(segment, if docs.is_empty() { &[] } else { fields })?;
                records.load(docs)?;
                Ok(records)
            };
            let records = self.segments.all().iter().zip(&docs).map(read).collect::<Result<Vec<_>>>()?;
            for (&Found { segment, doc, .. }, at) in found.iter().zip(places) {
                if let Some(records) = records.get(segment) {
                    let part = u32::try_from(segment).unwrap_or(u32::MAX);
                    each(records, DocAddress { part, doc }, at)?;
                }
            }
        }
        Ok(())
    }
}
