//! `dv group`: the groups of documents with one value.

use std::time::Instant;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::{GroupArgs, GroupBy, GroupSpec};
use crate::console::Console;
use crate::facts::{rounded, sum_of};
use crate::failure::{Exit, Failure};
use crate::hits::{self, Hits, Then};
use crate::output::records;
use crate::output::table::{Align, Table, fit};
use crate::output::text::{printable, thousands};
use crate::output::value::Printer;
use crate::store::search::group::{Group, GroupFound, GroupOrder, Groups, Measure, Metric};
use crate::store::{DocId, Field, Segment};
use crate::{read, sort};

/// Columns of a terminal that a value may take.
const CELL: usize = 40;

pub(crate) fn run(args: &GroupArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let one = std::slice::from_ref(&args.spec.column);
    // Names the column that was meant, where there is none.
    read::select(std::slice::from_ref(&segment), one)?;
    let hits = Hits::find(&segment, &args.hits)?;
    let group = group(&segment, &args.spec)?;
    let start = Instant::now();
    let found = hits::search(&segment, &args.hits).group(hits.docs(), &group)?;
    let took = start.elapsed();
    if args.json {
        let groups = GroupsJson::new(&segment, &found, &args.spec)?;
        let report =
            Report { file: segment.file(), documents: segment.docs(), matching: hits.count(), groups };
        writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
    } else {
        print(&found, &metrics(&segment, &args.spec)?, console)?;
    }
    hits.explain(&Then::new("groups found", took), args.json, console);
    Ok(Exit::Ok)
}

/// The metrics that were asked for, each with its heading and the column it is of.
fn metrics(segment: &Segment, args: &GroupSpec) -> Result<Vec<(String, Field)>, Failure> {
    let kinds = [("sum", &args.sum), ("min", &args.min), ("max", &args.max), ("mean", &args.mean)];
    let mut metrics = Vec::new();
    for (what, columns) in kinds {
        for field in fields(segment, columns)? {
            metrics.push((format!("{what} of {}", field.name), field));
        }
    }
    Ok(metrics)
}

/// The columns that were named; all of them is not what no name means here.
fn fields(segment: &Segment, columns: &[String]) -> Result<Vec<Field>, Failure> {
    if columns.is_empty() { Ok(Vec::new()) } else { read::select(std::slice::from_ref(segment), columns) }
}

pub(crate) fn group(segment: &Segment, args: &GroupSpec) -> Result<Group, Failure> {
    if args.docs == 0 && args.by != GroupBy::Best && !args.sort.is_empty() {
        let message = format!("group by {:?}: --sort is about the documents of groups", args.column);
        return Err(Failure::new(Exit::Usage, message)
            .advice("--docs COUNT shows some of each group, and --by best has the groups in their order"));
    }
    let mut group = Group::by(&args.column);
    group.top = if args.top == 0 { usize::MAX } else { args.top };
    group.docs = args.docs;
    group.sort = sort::keys_of("--sort", &args.sort, segment)?;
    group.metrics.extend(fields(segment, &args.sum)?.into_iter().map(|field| Metric::Sum(field.name)));
    group.metrics.extend(fields(segment, &args.min)?.into_iter().map(|field| Metric::Min(field.name)));
    group.metrics.extend(fields(segment, &args.max)?.into_iter().map(|field| Metric::Max(field.name)));
    group.metrics.extend(fields(segment, &args.mean)?.into_iter().map(|field| Metric::Mean(field.name)));
    group.order = match args.by {
        GroupBy::Count => GroupOrder::Count,
        GroupBy::Value => GroupOrder::Value,
        GroupBy::Best => GroupOrder::Best,
        GroupBy::Metric if group.metrics.is_empty() => {
            return Err(Failure::new(Exit::Usage, "--by metric, but there is none")
                .advice("name one, such as --sum COLUMN"));
        }
        GroupBy::Metric => GroupOrder::Metric(0),
    };
    Ok(group)
}

/// A metric as text; nothing where no document of the group has a number.
fn measure(found: &GroupFound, at: usize, field: &Field) -> Option<String> {
    let printer = Printer::new(field.logical, false, field.format.as_deref());
    Some(match found.metrics.get(at)?.as_ref()? {
        Measure::Value(value) => {
            let mut text = String::new();
            printer.text(value.into(), &mut text);
            text
        }
        Measure::Sum(sum) => sum_of(*sum),
        Measure::Mean(mean) => mean.to_string(),
    })
}

fn print(found: &Groups, metrics: &[(String, Field)], console: &mut Console<'_>) -> Result<(), Failure> {
    let printer = Printer::new(found.field.logical, false, found.field.format.as_deref());
    let name = printable(&found.field.name);
    let headings: Vec<String> = metrics.iter().map(|(heading, _)| printable(heading)).collect();
    let mut heading = vec![(name.as_str(), Align::Left), ("documents", Align::Right)];
    heading.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let has_docs = found.groups.iter().any(|group| !group.docs.is_empty());
    heading.extend(has_docs.then_some(("best", Align::Left)));
    let mut table = Table::new(&heading);
    for group in &found.groups {
        let mut value = String::new();
        printer.text((&group.value).into(), &mut value);
        let mut row = vec![fit(&printable(&value), CELL), thousands(group.count)];
        row.extend(
            metrics.iter().enumerate().map(|(at, (_, field))| {
                measure(group, at, field).as_deref().map(rounded).unwrap_or_default()
            }),
        );
        row.push(group.docs.iter().map(|doc| doc.to_string()).collect::<Vec<_>>().join(" "));
        table.row(row);
    }
    write!(console.out, "{table}")?;
    let groups =
        found.distinct.map_or_else(String::new, |distinct| format!("{} groups, ", thousands(distinct.get())));
    let [docs, missing] = [found.docs, found.missing].map(thousands);
    Ok(writeln!(console.out, "{groups}{docs} documents, {missing} without a value")?)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    documents: u32,
    matching: u32,
    #[serde(flatten)]
    groups: GroupsJson<'a>,
}

/// Groups, as JSON has them.
#[derive(Serialize)]
pub(crate) struct GroupsJson<'a> {
    column: &'a str,
    missing: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distinct: Option<u64>,
    groups: Vec<GroupJson>,
}

#[derive(Serialize)]
struct GroupJson {
    value: Box<RawValue>,
    count: u64,
    /// As text, so that no number loses digits on its way through a JSON reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<Option<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    documents: Vec<Box<RawValue>>,
}

impl<'a> GroupsJson<'a> {
    pub(crate) fn new(
        segment: &Segment,
        found: &'a Groups,
        spec: &GroupSpec,
    ) -> Result<GroupsJson<'a>, Failure> {
        let metrics = metrics(segment, spec)?;
        let printer = Printer::new(found.field.logical, false, found.field.format.as_deref());
        // All at once: columns are opened once, and read in the order of the file.
        let best: Vec<DocId> = found.groups.iter().flat_map(|group| group.docs.iter().copied()).collect();
        let mut best = records::json(segment, &best, &spec.columns)?.into_iter();
        let groups = found.groups.iter().map(|group| GroupJson {
            value: printer.json_value(&group.value),
            count: group.count,
            metrics: metrics.iter().enumerate().map(|(at, (_, field))| measure(group, at, field)).collect(),
            documents: best.by_ref().take(group.docs.len()).collect(),
        });
        let groups = groups.collect();
        let distinct = found.distinct.map(|distinct| distinct.get());
        Ok(GroupsJson { column: &found.field.name, missing: found.missing, distinct, groups })
    }
}
