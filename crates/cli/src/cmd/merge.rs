//! `dv merge`: merges several segments into one, or those of a store.

pub(super) mod ids;

use std::io::Write;
use std::path::Path;

use self::ids::IdIndexPlan;
use crate::answer::commit_info::{commit_line, print_json};
use crate::answer::segment_info;
use crate::api::store::MergePolicy;
use crate::api::writer::{self, Merger, Spill, Summary};
use crate::api::{DocAddress, LogicalType, SortKey};
use crate::args::merge::MergeArgs;
use crate::console::Console;
use crate::console::destination::{followed, is_stdout, refuse_no_segment};
use crate::console::progress::Progress;
use crate::error::{CliError, Exit, Result};
use crate::import::ids::refused;
use crate::open::store::commit;
use crate::open::{OpenSegment, Opener, Segments, columns};
use crate::process::unfinished_files;
use crate::text::sort_keys::keys_to_write;
use crate::text::text_format::TextFormat;
use crate::text::{counted, thousands};

pub(crate) fn run(args: &MergeArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    match (&args.output, args.files.as_slice()) {
        (Some(output), _) => merge_files(args, output, opener, console),
        (None, [folder]) if folder.is_dir() => merge_store(args, folder, opener, console),
        (None, _) => Err(CliError::usage("expected a file to write, found none")
            .hint("name it with -o, or name the folder of one store to merge its segments")),
    }
}

/// Merges the segments of a store.
fn merge_store(args: &MergeArgs, folder: &Path, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let is_of_files = args.promote || args.no_ids;
    if is_of_files || !args.sort_by.is_empty() || args.id_field.is_some() {
        return Err(CliError::usage("a store has its own columns, order and ids")
            .hint("these options are for -o; --to, --purge, --memory and --threads are for a store"));
    }
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(folder, how, args.write.options(args.memory))?;
    let before = store.snapshot().segments().len();
    match args.to {
        Some(segments) => store.merge_to(segments)?,
        None if args.purge => {}
        None => store.merge(&MergePolicy::default()).map(drop)?,
    }
    let left = if args.purge { store.purge()?.left } else { Vec::new() };
    commit(&store, console)?;
    if args.write.json {
        let more = [("segments_before", before.into())];
        let more = more.into_iter().chain(args.purge.then(|| ("left", left.as_slice().into())));
        print_json(folder, &store, more, console)?;
    } else if !args.write.quiet {
        let line = commit_line(&store);
        console.line(format_args!("{}: {line}, of {} before", folder.display(), thousands(before as u64)))?;
    }
    if left.is_empty() {
        return Ok(Exit::Ok);
    }
    console.out.flush()?;
    let message =
        format!("{}: expected to remove older files, found in use: {}", folder.display(), left.join(", "));
    Err(CliError::new(Exit::Unreadable, message)
        .hint("run the command again when nobody reads an older commit"))
}

/// Merges segments into the file `output`.
fn merge_files(args: &MergeArgs, output: &Path, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    refuse_no_segment(output, args.write.json, console)?;
    let to_stdout = is_stdout(output);
    let segments = Segments::open_all(opener, &args.files)?;
    let (ids, note) = ids::plan(args, segments.all())?;
    let mut progress = Progress::new(console.err_width.is_some() && !args.write.quiet, None);
    let stream: Option<&mut dyn Write> = if to_stdout { Some(&mut *console.out) } else { None };
    let merged = merge(args, (output, stream), &segments, ids.as_ref(), &mut progress);
    progress.clear();
    let bytes = merged?.bytes;
    console.done = (!to_stdout).then(|| format!("{} is complete", output.display()));
    if args.write.quiet {
        return Ok(Exit::Ok);
    }
    if to_stdout {
        console.note(&format!("<stdout>: {}", against_segments(bytes, segments.all())));
    } else {
        let line = |bytes| against_segments(bytes, segments.all());
        segment_info::report(output, [], line, args.write.json, console)?;
    }
    note.into_iter().for_each(|note| console.note(&note));
    Ok(Exit::Ok)
}

/// Merges segments into a file, or into a stream if there is one.
fn merge(
    args: &MergeArgs,
    (output, stream): (&Path, Option<&mut dyn Write>),
    segments: &Segments,
    ids: Option<&IdIndexPlan>,
    progress: &mut Progress,
) -> Result<Summary> {
    let merger = Merger::new(args.write.options(args.memory)).promote(args.promote);
    let mut merger = merger.spelling(|formats| TextFormat::in_common(formats.iter().copied()));
    merger = merger.watch(|at| progress.show_merge(at));
    if !args.sort_by.is_empty() {
        merger = merger.sort_by(sort_keys(&args.sort_by, segments.all())?);
    }
    let merger = add(merger, segments, ids)?;
    let merged = match stream {
        Some(stream) => {
            let spill = Spill::in_folder(std::env::temp_dir());
            merger.finish_writer(stream, Some(spill)).map(|(_, summary)| summary)
        }
        None => {
            unfinished_files::remove_at_end()?;
            merger.finish(followed(output)?)
        }
    };
    let hint = "--no-ids merges without an index of ids; or export one segment without the document, and build it \
                again";
    merged.map_err(|error| failure(error, segments, ids, hint))
}

/// Adds the live documents of segments to a merger, and an index of ids.
pub(super) fn add<'m>(
    mut merger: Merger<'m>,
    segments: &'m Segments,
    ids: Option<&IdIndexPlan>,
) -> Result<Merger<'m>> {
    if let Some(ids) = ids {
        merger = merger.id_field(&ids.column, ids.options);
    }
    for segment in segments.all() {
        merger.add_live(segment.file(), &*segment.source, &segment.live)?;
    }
    Ok(merger)
}

/// The error of a merge, with a hint on ids.
pub(super) fn failure(
    error: writer::Error,
    segments: &Segments,
    ids: Option<&IdIndexPlan>,
    hint: &str,
) -> CliError {
    let column = ids.and_then(|ids| columns::find(segments.all(), &ids.column).ok().flatten());
    let logical = column.map_or(LogicalType::Utf8, |field| field.logical);
    let documents = |docs: [u32; 2]| docs.map(|doc| place_of(doc, segments)).join(" and ");
    refused(error, logical, documents, hint)
}

/// The segment and number of document `doc` of the merged segment, for messages.
fn place_of(doc: u32, segments: &Segments) -> String {
    match segments.at(std::iter::once(doc.into())).first() {
        Some(Some(DocAddress { part, doc })) => {
            let file = segments.all().get(*part as usize).map_or("", OpenSegment::file);
            format!("document {doc} of \"{file}\"")
        }
        _ => format!("document {doc}"),
    }
}

/// The keys of the index sort.
pub(super) fn sort_keys(arguments: &[String], segments: &[OpenSegment]) -> Result<Vec<SortKey>> {
    let fields = columns::select(segments, &[])?;
    let columns = fields.iter().map(|field| (field.name.as_str(), field.kind.is_multi_valued()));
    keys_to_write(arguments, &columns.collect::<Vec<_>>())
}

/// Compares the size of the merged segment with those of its parts.
fn against_segments(bytes: u64, segments: &[OpenSegment]) -> String {
    let before = segments.iter().map(OpenSegment::bytes).sum();
    let segments = counted(segments.len() as u64, "segment", "segments");
    format!("{} bytes, of {segments} with {} bytes", thousands(bytes), thousands(before))
}
