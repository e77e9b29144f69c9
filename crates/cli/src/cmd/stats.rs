//! `dv stats`: statistics of columns.

use std::collections::HashMap;

use super::request::{answer, open};
use crate::answer::statistics::{Column, print};
use crate::answer::usage_tables::distinct;
use crate::api::search::SearchRequest;
use crate::api::search::stats::{ColumnStats, Distinct, Stats};
use crate::api::{ColumnUsage, Field};
use crate::args::inspect::StatsArgs;
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::open::{OpenSegment, Opener, files};

pub(crate) fn run(args: &StatsArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let (files, mut columns) = files::split(&args.arguments);
    columns.extend_from_slice(&args.columns);
    let segments = open(&files, &args.filter, opener, console)?;
    let fields = segments.select(&columns)?;
    let stats = fields.iter().map(|field| asked(field, args, !columns.is_empty()));
    let request = SearchRequest::new().stats(stats);
    let mut answer = answer(&segments, (&args.filter, None), request)?;
    let usage = segments.all().iter().map(OpenSegment::usage).collect::<Result<Vec<_>, _>>()?;
    let mut by_field: HashMap<&str, Vec<&ColumnUsage>> = HashMap::new();
    for column in usage.iter().flatten().flat_map(|usage| &usage.columns) {
        by_field.entry(&column.field.name).or_default().push(column);
    }
    let of_field = |name: &str| by_field.get(name).map_or(&[][..], Vec::as_slice);
    let is_all = answer.found.hits == segments.docs();
    for stats in &mut answer.found.stats {
        // The directory of the only segment may have the number for all documents.
        if let ([column], Some(_), true) = (of_field(&stats.field.name), segments.only(), is_all) {
            stats.distinct = stats.distinct.or(distinct(column).map(Distinct::Exact));
        }
    }
    let bytes = |stats: &ColumnStats| {
        let name = &stats.field.name;
        let of_lucene = segments.all().iter().filter_map(|part| part.bytes_of(name));
        of_field(name).iter().map(|column| column.bytes()).chain(of_lucene).sum::<u64>()
    };
    let columns = answer.found.stats.iter().map(|stats| Column::new(stats, bytes(stats)));
    let columns: Vec<Column<'_>> = columns.collect();
    if args.json {
        answer.print_json([("columns", columns.iter().map(Column::to_json).collect())], console)?;
    } else {
        print(&columns, console)?;
    }
    answer.explain(false, &[("values summed up", answer.found.times.pass)], console);
    Ok(Exit::Ok)
}

/// The statistics to compute. Byte strings have no percentiles; that is an error only for columns that were named.
fn asked(field: &Field, args: &StatsArgs, is_named: bool) -> Stats {
    let mut stats = Stats::of(&field.name);
    stats.distinct = args.distinct;
    if !field.kind.is_bytes() || is_named {
        stats.spread = args.spread;
        stats.percentiles = args.percentiles.clone();
    }
    stats
}
