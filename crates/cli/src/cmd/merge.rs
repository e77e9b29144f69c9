//! `dv merge`: merges several segments into one.

use super::info::{info, stats};
use crate::api::writer::{MergeProgress, Merger};
use crate::api::{LogicalType, Segment, SortKey};
use crate::args::MergeArgs;
use crate::console::Console;
use crate::destination::{followed, refuse_input};
use crate::error::{CliError, Exit};
use crate::id_index::{self, IdIndexPlan};
use crate::output::json::Json;
use crate::output::text::thousands;
use crate::output::usage_tables::columns;
use crate::progress::Progress;
use crate::read;
use crate::sort;
use crate::text_format::TextFormat;

pub(crate) fn run(args: &MergeArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_input(&args.files, &args.output)?;
    let segments = args.files.iter().map(|file| read::open(file)).collect::<Result<Vec<_>, _>>()?;
    let (ids, note) = IdIndexPlan::of_merge(args, &segments)?;
    let mut progress = Progress::new(console.err_is_terminal && !args.write.quiet, None);
    let merged = merge(args, &segments, ids.as_ref(), &mut progress, console);
    progress.clear(console.err);
    merged?;
    if !args.write.quiet {
        report(args, &segments, console)?;
        note.into_iter().for_each(|note| console.note(&note));
    }
    Ok(Exit::Ok)
}

fn merge(
    args: &MergeArgs,
    segments: &[Segment],
    ids: Option<&IdIndexPlan>,
    progress: &mut Progress,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let watch = |at: MergeProgress<'_>| {
        progress.show_part(&format!("column {:?}", at.column), at.done, at.columns, console.err);
    };
    let mut merger = Merger::new(args.write.options(args.memory)).spelling(text_format).watch(watch);
    merger = merger.promote(args.promote).same_columns(args.same_columns);
    if args.no_sort || !args.sort_by.is_empty() {
        merger = merger.sort_by(sort_keys(&args.sort_by, segments)?);
    }
    if let Some(ids) = ids {
        merger = merger.id_field(&ids.column, ids.options);
    }
    for segment in segments {
        merger.add(segment.file(), segment);
    }
    merger.finish(followed(&args.output)?).map_err(|error| {
        let column = ids.and_then(|ids| read::find(segments, &ids.column).ok().flatten());
        let logical = column.map_or(LogicalType::Utf8, |field| field.logical);
        let documents = |docs: [u32; 2]| docs.map(|doc| place_of(doc, segments)).join(" and ");
        let hint = "--no-ids merges without an index of ids; or export one segment without the document, \
                      and build it again";
        id_index::refused(error, logical, documents, hint)
    })?;
    Ok(())
}

/// The segment and number of document `doc` of the merged segment, for messages.
fn place_of(mut doc: u32, segments: &[Segment]) -> String {
    for segment in segments {
        match doc.checked_sub(segment.docs()) {
            None => return format!("document {doc} of \"{}\"", segment.file()),
            Some(rest) => doc = rest,
        }
    }
    format!("document {doc}")
}

/// The keys of the index sort.
fn sort_keys(arguments: &[String], segments: &[Segment]) -> Result<Vec<SortKey>, CliError> {
    let fields = read::select(segments, &[])?;
    let columns = fields.iter().map(|field| (field.name.as_str(), field.kind.is_multi_valued()));
    sort::keys_to_write(arguments, &columns.collect::<Vec<_>>())
}

/// The text format that several segments have in common.
fn text_format(formats: &[Option<&str>]) -> Option<String> {
    TextFormat::in_common(formats.iter().copied())
}

fn report(args: &MergeArgs, segments: &[Segment], console: &mut Console<'_>) -> Result<(), CliError> {
    let segment = Segment::open(&args.output)?;
    let stats = stats(&segment)?;
    if args.write.json {
        return Ok(console.json(&Json::object(info(&segment, &stats)?))?);
    }
    write!(console.out, "{}", columns(&stats, segment.docs(), console.out_width))?;
    let before = segments.iter().map(Segment::len).sum();
    writeln!(
        console.out,
        "\n{}: {} bytes, of {} segments with {} bytes",
        args.output.display(),
        thousands(stats.bytes),
        segments.len(),
        thousands(before)
    )?;
    Ok(console.out.flush()?)
}
