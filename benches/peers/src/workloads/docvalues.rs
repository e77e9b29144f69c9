//! docvalues, through `docvalues::search`, on one thread.

use std::path::Path;

use docvalues::column::bits;
use docvalues::search::export::ChunkColumn;
use docvalues::search::facet::Facet;
use docvalues::search::group::{Group, GroupFound, GroupOrder, Measure, Metric};
use docvalues::search::stats::Sum;
use docvalues::search::{Docs, Query, Search, Value};
use docvalues::writer::Compression;
use docvalues::{
    BytesKind, DocId, DocRange, FieldSpec, LogicalType, Schema, Segment, SegmentWriter, SortKey,
    WriterOptions,
};

use super::checksum::{Columns, then, then_term};
use super::process::Process;
use super::{EXPORTED, NUMBERS, Row, SORTED, STRINGS, TOP, Task};
use crate::peer::in_place;
use crate::task::{Column, Values};

pub fn run(process: &Process, row: Option<Row>) {
    let Some(row) = row else { return process.build(|path| build(process.docs, path)) };
    let segment = Segment::open(&process.file).expect("a good segment");
    measure(process, row, &Search::new(&segment).threads(1));
    if let Task::Range(column) = row.task() {
        filter(process, row, &segment, column);
    }
}

/// Measures a row on the index of Lucene.
pub fn in_place(process: &Process, row: Row) {
    let parts = in_place::open(&process.file, process.peer).parts();
    measure(process, row, &Search::part(&parts[0]).threads(1));
}

fn measure(process: &Process, row: Row, search: &Search<'_>) {
    match row.task() {
        Task::Facet(share) => {
            let (hits, facet) = (process.hits(share), Facet::of(Column::Host.name()).top(TOP));
            process.measure(row, "Search::facet", || {
                let found = search.facet(docs(hits.as_deref()), &facet).expect("good bytes");
                found
                    .values
                    .iter()
                    .fold(0, |sum, (host, count)| then_term(sum, bytes(host), count.cast_signed()))
            });
        }
        Task::Top(share) => {
            let (hits, key) = (process.hits(share), [SortKey::of(Column::Size.name()).descending()]);
            process.measure(row, "Search::top", || {
                let found = search.top(docs(hits.as_deref()), &key, SORTED).expect("good bytes");
                found.iter().fold(0, |sum, found| then(sum, found.doc.get().into()))
            });
        }
        Task::Group(share) => {
            let (hits, sum) = (process.hits(share), Metric::Sum(Column::Size.name().to_owned()));
            let group = Group::of(Column::Host.name()).top(TOP).metric(sum).order(GroupOrder::Metric(0));
            process.measure(row, "Search::group", || {
                let found = search.group(docs(hits.as_deref()), &group).expect("good bytes");
                found.groups.iter().fold(0, |all, group| {
                    then_term(all, bytes(group.values[0].as_ref().expect("a host")), sum_of(group))
                })
            });
        }
        Task::Range(column) => {
            let range = column.range(process.docs).expect("a column that is filtered");
            let query = Query::range(column.name(), range);
            process.measure(row, "Query::range, count", || {
                search.count(&query).expect("good bytes").cast_signed()
            });
        }
        Task::Export { sorted } => {
            let docs = process.exported(sorted);
            process.measure(row, "Search::export", || export(search, &docs));
        }
    }
}

fn docs(hits: Option<&[DocId]>) -> Docs<'_> {
    hits.map_or(Docs::All, |hits| Docs::list(hits).expect("ascending"))
}

fn bytes(value: &Value) -> &[u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        other => panic!("a string, not {other:?}"),
    }
}

fn sum_of(group: &GroupFound) -> i64 {
    match group.metrics[..] {
        [Some(Measure::Sum(Sum::Integer(sum)))] => i64::try_from(sum).expect("sizes are small"),
        ref other => panic!("a sum of integers, not {other:?}"),
    }
}

fn filter(process: &Process, row: Row, segment: &Segment, column: Column) {
    let range = column.range(process.docs).expect("a column that is filtered");
    let column = segment.numeric(column.name()).expect("a column");
    process.measure(row, "filter into a bitset", || {
        let mut found = vec![0; DocRange::new(0, process.docs).words()];
        column.range(range.clone()).collect_into(&mut found).expect("good bytes");
        bits::count(&found) as i64
    });
}

fn export(search: &Search<'_>, docs: &[DocId]) -> i64 {
    let mut export = search.export(docs, &EXPORTED.map(Column::name)).expect("columns");
    let mut sums = Columns::default();
    while let Some(chunk) = export.next_chunk().expect("good bytes") {
        for at in 0..chunk.width() {
            match chunk.column(at) {
                ChunkColumn::Numbers(column) => {
                    column.values.iter().for_each(|&value| sums.number(at, value));
                }
                ChunkColumn::Strings(column) => {
                    (0..chunk.len()).for_each(|row| sums.string(at, column.get(row).expect("a value")));
                }
                _ => panic!("one value a document"),
            }
        }
    }
    sums.sum()
}

fn build(docs: u32, path: &Path) {
    let mut schema = Schema::new();
    let field = |spec| schema.add(spec).expect("a new field");
    let specs =
        [Column::Ts, Column::Size, Column::Uni24, Column::Host, Column::Url].map(|column| match column {
            Column::Host => FieldSpec::new(column.name(), LogicalType::Utf8).kind(BytesKind::Sorted),
            Column::Url => FieldSpec::new(column.name(), LogicalType::Utf8)
                .kind(BytesKind::Binary)
                .compression(Compression::None),
            _ => FieldSpec::new(column.name(), LogicalType::I64),
        });
    let fields = specs.map(field);
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::create(path, schema, options).expect("a folder to write into");
    let values: Vec<Values> = NUMBERS.into_iter().chain(STRINGS).map(|column| column.values(docs)).collect();
    let step = 1 << 16;
    for start in (0..docs as usize).step_by(step) {
        let end = (docs as usize).min(start + step);
        let mut batch = writer.batch((end - start) as u32).expect("few documents");
        for (&field, values) in fields.iter().zip(&values) {
            match values {
                Values::Numbers(numbers) => batch.i64(field, &numbers.values[start..end], None),
                Values::Strings(strings) => {
                    batch.bytes(field, &strings.offsets[start..=end], &strings.bytes, None)
                }
                Values::Tags(_) => unreachable!("no tags here"),
            }
            .expect("good values");
        }
        batch.finish();
    }
    writer.finish().expect("the disk has room");
}
