//! `dv merge`: several segments into one.

use crate::args::{JumpTables, MergeArgs};
use crate::cmd::info::Info;
use crate::console::Console;
use crate::destination::{followed, refuse_input};
use crate::failure::{Exit, Failure};
use crate::ids::{self, Wanted};
use crate::output::summary::columns;
use crate::output::text::{printable, thousands};
use crate::progress::Progress;
use crate::read;
use crate::sort;
use crate::spelling::Spelling;
use crate::store::writer::{MergeProgress, Merger, WriterOptions};
use crate::store::{LogicalType, Segment, SortKey};

pub(crate) fn run(args: &MergeArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    refuse_input(&args.files, &args.output)?;
    let segments = args.files.iter().map(|file| read::open(file)).collect::<Result<Vec<_>, _>>()?;
    let options = WriterOptions {
        jump_tables: args.jump_tables == JumpTables::Baked,
        zones: !args.no_zone_maps,
        budget: args.memory,
        threads: args.threads,
    };
    let (ids, note) = Wanted::of_merge(args, &segments)?;
    let mut progress = Progress::new(console.err_is_terminal && !args.quiet, None);
    let merged = merge(args, &segments, ids.as_ref(), options, &mut progress, console);
    progress.clear(console.err);
    merged?;
    if !args.quiet {
        report(args, &segments, console)?;
        note.into_iter().for_each(|note| console.note(&note));
    }
    Ok(Exit::Ok)
}

fn merge(
    args: &MergeArgs,
    segments: &[Segment],
    ids: Option<&Wanted>,
    options: WriterOptions,
    progress: &mut Progress,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let watch = |at: MergeProgress<'_>| {
        progress.show_part(&format!("column {}", printable(at.column)), at.done, at.columns, console.err);
    };
    let mut merger = Merger::new(options).spelling(spelling).watch(watch);
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
        let advice = "--no-ids merges without an index of ids; else export one segment without the document, \
                      and build it anew";
        ids::refused(error, logical, documents, advice)
    })?;
    Ok(())
}

/// Where the document is that is number `doc` of all.
fn place_of(mut doc: u32, segments: &[Segment]) -> String {
    for segment in segments {
        match doc.checked_sub(segment.docs()) {
            None => return format!("document {doc} of {}", segment.file()),
            Some(behind) => doc = behind,
        }
    }
    format!("document {doc}")
}

/// What the documents are to be sorted by.
fn sort_keys(arguments: &[String], segments: &[Segment]) -> Result<Vec<SortKey>, Failure> {
    let fields = read::select(segments, &[])?;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let keys = sort::keys("--sort-by", arguments, &names)?;
    let several = |key: &&SortKey| fields.iter().any(|f| f.name == key.column && f.kind.is_multi_valued());
    match keys.iter().find(several) {
        None => Ok(keys),
        Some(key) => Err(sort::by_several(&key.column)),
    }
}

/// How the values of several segments are spelled, if these do it so.
fn spelling(formats: &[Option<&str>]) -> Option<String> {
    let spellings = formats.iter().map(|format| Spelling::parse(format.unwrap_or_default()));
    spellings.reduce(Spelling::common).and_then(|spelling| spelling.to_format())
}

fn report(args: &MergeArgs, segments: &[Segment], console: &mut Console<'_>) -> Result<(), Failure> {
    let segment = Segment::open(&args.output)?;
    let mut stats = segment.stats()?;
    stats.columns.sort_by_key(|column| read::order_of(&column.field));
    if args.json {
        let text = serde_json::to_string_pretty(&Info::new(&segment, &stats)?).unwrap_or_default();
        writeln!(console.out, "{text}")?;
        return Ok(());
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
    console.out.flush()?;
    Ok(())
}
