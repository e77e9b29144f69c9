//! The workloads of the posts.

use std::io::Write;

use clap::ValueEnum;
use docvalues::column::{LogicalType, Value};
use docvalues::search::export::{Cell, Row};
use docvalues::search::facet::Facet;
use docvalues::search::group::{Group, GroupOrder};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, Search};
use docvalues::{Binary, ColumnSource, DocId, Kind, Numeric, Segment, SortKey, Sorted};
use docvalues_testkit::rng::SplitMix64;

use crate::Outcome;

/// Documents of a page of results.
pub(crate) const PAGE: usize = 20;

const FACETS: [&str; 6] =
    ["domain", "crawl_year", "public_suffix", "content_type_norm", "status_code", "host"];

pub(crate) const RETRIEVED: [&str; 9] = [
    "id",
    "source_file",
    "url_norm",
    "host",
    "domain",
    "content_type_served",
    "content_length",
    "crawl_date",
    "content_language",
];

/// The exported fields of the posts, and replacements for segments without some of them.
const EXPORTED: [[&str; 4]; 2] = [
    ["content_type_ext", "content_type_served", "crawl_date", "content_length"],
    ["url_norm", "host", "crawl_date", "content_length"],
];

/// The sort key of the export.
const KEY: &str = "id";

/// The requested fields that the segments have.
pub(crate) struct Asked {
    fields: Vec<&'static str>,
    facets: Vec<&'static str>,
    exported: [&'static str; 4],
}

impl Asked {
    pub(crate) fn of(fields: &[&'static str]) -> Asked {
        let has = |name: &&str| fields.contains(name);
        let [first, other] = EXPORTED;
        let exported = if first.iter().all(has) { first } else { other };
        Asked { fields: fields.to_vec(), facets: FACETS.into_iter().filter(has).collect(), exported }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains(&name)
    }

    pub(crate) fn fields(&self) -> &[&'static str] {
        &self.fields
    }

    pub(crate) fn facets(&self) -> &[&'static str] {
        &self.facets
    }

    pub(crate) fn exported(&self) -> [&'static str; 4] {
        self.exported
    }
}

/// The workloads of a production request.
pub(crate) const PARTS: [Work; 4] = [Work::Facets, Work::Groups, Work::Distinct, Work::Retrieval];

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// Four fields of many documents in random order, as CSV.
    Export,
    /// The 20 most frequent values of six fields.
    Facets,
    /// One document for each page, of the first 20.
    Groups,
    /// The 20 longest documents.
    Sort,
    /// Nine fields of 20 documents.
    Retrieval,
    /// The number of distinct domains.
    Distinct,
    /// Facets, groups, distinct values and retrieval.
    Production,
}

impl Work {
    pub(crate) const ALL: [Work; 7] = [
        Work::Export,
        Work::Facets,
        Work::Groups,
        Work::Sort,
        Work::Retrieval,
        Work::Distinct,
        Work::Production,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Export => "export",
            Work::Facets => "facets",
            Work::Groups => "groups",
            Work::Sort => "sort",
            Work::Retrieval => "retrieval",
            Work::Distinct => "distinct",
            Work::Production => "production",
        }
    }

    /// Whether the segments have its fields.
    pub(crate) fn is_for(self, asked: &Asked) -> bool {
        let needed: &[&str] = match self {
            Work::Export => &asked.exported,
            Work::Facets => return !asked.facets.is_empty(),
            Work::Groups => &["url_norm"],
            Work::Sort => &["content_length"],
            Work::Distinct => &["domain"],
            Work::Retrieval | Work::Production => &RETRIEVED,
        };
        needed.iter().all(|name| asked.has(name))
    }

    /// Runs the workload, and returns a checksum of the result.
    pub(crate) fn run(
        self,
        source: &(dyn ColumnSource + Sync),
        asked: &Asked,
        hits: &[DocId],
    ) -> Outcome<u64> {
        let search = Search::new(source).threads(1);
        // Checks that all of them ascend, which a page of results has no need of.
        let docs = || Docs::list(hits);
        Ok(match self {
            Work::Export => return Err("an export is measured by its own steps".into()),
            Work::Facets => facets(&search, asked, docs()?)?,
            Work::Groups => groups(&search, docs()?)?,
            Work::Sort => {
                let top = search.top(docs()?, &[SortKey::of("content_length").descending()], PAGE)?;
                top.iter().fold(0, |sum, found| add(sum, found.doc.get().into()))
            }
            Work::Retrieval => retrieve(&search, &page(hits, PAGE))?,
            Work::Distinct => distinct(&search, docs()?)?,
            Work::Production => production(&search, asked, hits)?,
        })
    }
}

pub(crate) fn add(sum: u64, next: u64) -> u64 {
    sum.wrapping_mul(31).wrapping_add(next)
}

/// Facets, groups, distinct values, and a page of documents.
fn production(search: &Search<'_>, asked: &Asked, hits: &[DocId]) -> Outcome<u64> {
    let docs = Docs::list(hits)?;
    let parts = [
        facets(search, asked, docs)?,
        groups(search, docs)?,
        distinct(search, docs)?,
        retrieve(search, &page(hits, PAGE))?,
    ];
    Ok(parts.into_iter().fold(0, add))
}

fn distinct(search: &Search<'_>, docs: Docs<'_>) -> Outcome<u64> {
    let distinct = search.stats(docs, &Stats::of("domain").distinct())?.distinct.ok_or("not counted")?;
    Ok(distinct.get())
}

/// The most frequent values of each field.
fn facets(search: &Search<'_>, asked: &Asked, docs: Docs<'_>) -> Outcome<u64> {
    let facets: Vec<_> = asked.facets.iter().map(|name| Facet::of(*name).top(PAGE)).collect();
    let facets = search.facets(docs, &facets)?;
    let counts = facets.iter().flat_map(|facet| facet.values.iter().map(|(_, count)| *count));
    Ok(counts.fold(0, add))
}

/// The first pages, each with a document and the number of its harvests.
fn groups(search: &Search<'_>, docs: Docs<'_>) -> Outcome<u64> {
    let group = Group::of("url_norm").order(GroupOrder::Best).top(PAGE).docs(1);
    let found = search.group(docs, &group)?;
    Ok(found.groups.iter().fold(0, |sum, group| {
        let first = group.docs.first().map_or(0, |found| found.doc.get().into());
        add(add(sum, first), group.count)
    }))
}

/// Documents from all over the hits, the last one first, because relevance has no document order.
pub(crate) fn page(hits: &[DocId], rows: usize) -> Vec<DocId> {
    hits.iter().rev().step_by((hits.len() / rows).max(1)).take(rows).copied().collect()
}

fn retrieve(search: &Search<'_>, page: &[DocId]) -> Outcome<u64> {
    let mut retriever = search.retriever(&RETRIEVED)?;
    let types: Vec<LogicalType> = retriever.fields().map(|field| field.logical).collect();
    let chunk = retriever.retrieve(page)?;
    let cells = chunk.rows().flat_map(|row| row.values().zip(&types).collect::<Vec<_>>());
    Ok(cells.fold(0, |sum, (cell, logical)| {
        add(
            sum,
            match cell {
                Cell::Number(stored) => number_of(stored, *logical),
                Cell::Bytes(bytes) => bytes.iter().fold(0, |sum, &byte| add(sum, byte.into())),
                _ => 1,
            },
        )
    }))
}

/// The bits of the number that is stored as `stored`, which other libraries know.
pub(crate) fn number_of(stored: i64, logical: LogicalType) -> u64 {
    match Value::of(logical, stored) {
        Value::U64(number) => number,
        _ => stored.cast_unsigned(),
    }
}

/// The lines of CSV of a page of results.
pub(crate) fn retrieve_rows(search: &Search<'_>, page: &[DocId], out: &mut Vec<u8>) -> Outcome {
    let mut retriever = search.retriever(&RETRIEVED)?;
    let types: Vec<LogicalType> = retriever.fields().map(|field| field.logical).collect();
    out.clear();
    Ok(retriever.retrieve(page)?.rows().try_for_each(|row| write_row(&row, &types, out))?)
}

/// The documents by `id`, descending, or in random order without ids.
pub(crate) fn sorted(segment: &Segment, asked: &Asked, hits: &[DocId]) -> Outcome<Vec<DocId>> {
    if !asked.has(KEY) {
        let mut docs = hits.to_vec();
        SplitMix64::new(1).shuffle(&mut docs);
        return Ok(docs);
    }
    let search = Search::new(segment).threads(1);
    let sorted = search.sorted(Docs::list(hits)?, &[SortKey::of(KEY).descending()])?;
    Ok(sorted.into_iter().map(|found| found.doc).collect())
}

/// The lines of CSV of `docs`, in their order, as docvalues exports them: column by column of thousands of documents.
pub(crate) fn export(
    source: &(dyn ColumnSource + Sync),
    asked: &Asked,
    docs: &[DocId],
    out: &mut Vec<u8>,
) -> Outcome {
    let search = Search::new(source).threads(1);
    let mut export = search.export(docs, &asked.exported)?;
    let types: Vec<LogicalType> = export.fields().map(|field| field.logical).collect();
    out.clear();
    while let Some(chunk) = export.next_chunk()? {
        chunk.rows().try_for_each(|row| write_row(&row, &types, out))?;
    }
    Ok(())
}

/// The same lines, by a request for each document.
pub(crate) fn export_row_by_row(
    source: &(dyn ColumnSource + Sync),
    asked: &Asked,
    docs: &[DocId],
    out: &mut Vec<u8>,
) -> Outcome {
    let search = Search::new(source).threads(1);
    let mut retriever = search.retriever(&asked.exported)?;
    let types: Vec<LogicalType> = retriever.fields().map(|field| field.logical).collect();
    out.clear();
    for doc in docs {
        retriever.retrieve(&[*doc])?.rows().try_for_each(|row| write_row(&row, &types, out))?;
    }
    Ok(())
}

fn write_row(row: &Row<'_>, types: &[LogicalType], out: &mut Vec<u8>) -> std::io::Result<()> {
    for (at, (cell, logical)) in row.values().zip(types).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match cell {
            Cell::Number(stored) => write_number(stored, *logical, out)?,
            Cell::Bytes(bytes) => out.extend_from_slice(bytes),
            _ => {}
        }
    }
    out.push(b'\n');
    Ok(())
}

pub(crate) fn write_number(stored: i64, logical: LogicalType, out: &mut Vec<u8>) -> std::io::Result<()> {
    match Value::of(logical, stored) {
        Value::I64(number) => write!(out, "{number}"),
        Value::U64(number) => write!(out, "{number}"),
        _ => write!(out, "{stored}"),
    }
}

/// A column for single lookups.
pub(crate) enum Cells {
    Terms(Sorted),
    Bytes(Binary),
    Numbers(Numeric, LogicalType),
}

impl Cells {
    pub(crate) fn open(segment: &Segment, name: &str) -> Outcome<Cells> {
        let field = segment.fields()?.into_iter().find(|field| field.name == name).ok_or("no such column")?;
        Ok(match field.kind {
            Kind::Sorted => Cells::Terms(segment.sorted(name)?),
            Kind::Binary => Cells::Bytes(segment.binary(name)?),
            _ => Cells::Numbers(segment.stored(name)?, field.logical),
        })
    }

    pub(crate) fn write(&self, doc: DocId, buffer: &mut Vec<u8>, out: &mut Vec<u8>) -> Outcome {
        match self {
            Cells::Terms(column) => {
                if let Some(ord) = column.ord(doc)? {
                    column.terms().term(ord, buffer)?;
                    out.extend_from_slice(buffer);
                }
            }
            Cells::Bytes(column) => {
                if let Some(bytes) = column.get(doc, buffer)? {
                    out.extend_from_slice(bytes);
                }
            }
            Cells::Numbers(column, logical) => {
                if let Some(stored) = column.get(doc)? {
                    write_number(stored, *logical, out)?;
                }
            }
        }
        Ok(())
    }
}

/// The same lines, one document and one value after the other, as in Solr 7.
pub(crate) fn export_one_by_one(
    segment: &Segment,
    asked: &Asked,
    docs: &[DocId],
    out: &mut Vec<u8>,
) -> Outcome {
    let columns = asked.exported.map(|name| Cells::open(segment, name));
    let columns = columns.into_iter().collect::<Outcome<Vec<_>>>()?;
    let mut buffer = Vec::new();
    out.clear();
    for &doc in docs {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            column.write(doc, &mut buffer, out)?;
        }
        out.push(b'\n');
    }
    Ok(())
}
