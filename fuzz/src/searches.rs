//! Runs every search over columns, and a merge of them, and hashes each answer.

use std::sync::Arc;

use docvalues::column::{ErrorKind as ReadErrorKind, Part, Result};
use docvalues::search::facet::{Facet, FacetOrder};
use docvalues::search::group::{Group, Metric};
use docvalues::search::histogram::{Histogram, Step};
use docvalues::search::stats::Stats;
use docvalues::search::{Docs, DocsByPart, Error, Parts, Query, Search};
use docvalues::writer::ErrorKind as WriteErrorKind;
use docvalues::{ColumnSource, Merger, SortKey, WriterOptions};

use crate::exercise::{Sink, hash};

/// Limits of documents and columns that are searched.
const DOCS: u32 = 100_000;
const COLUMNS: usize = 64;

/// Limit of documents that are merged.
const MERGED: u32 = 1 << 20;

/// Limit of documents that are sorted and exported, whose comparison is slow.
const FEW: u32 = 1_000;

/// The memory budget of a search or a merge.
const BUDGET: usize = 4 << 20;

/// Runs every search over the columns of `source`, and passes every answer to `sink`, in an order that depends only on
/// the names of the columns.
pub fn exercise_searches(source: &(dyn ColumnSource + Sync), sink: &mut Sink<'_>) {
    exercise_search(Search::new(source), source, 1, sink);
}

/// As [`exercise_searches`], over two parts that are both `source`.
pub fn exercise_parts(source: Arc<dyn ColumnSource + Send + Sync>, sink: &mut Sink<'_>) {
    let part = || Part { source: source.clone(), live: None };
    exercise_search(Search::over(&Parts::new([part(), part()])), &*source, 2, sink);
}

/// Runs every search over some `parts` that are all `source`.
fn exercise_search(search: Search<'_>, source: &dyn ColumnSource, parts: usize, sink: &mut Sink<'_>) {
    let fields = match source.fields() {
        Ok(fields) => fields,
        Err(error) => return sink(Err(error)),
    };
    // On a thread whose memory is counted.
    let search = search.threads(1).memory(BUDGET);
    let docs = vec![Docs::Range(0, source.docs().min(DOCS)); parts];
    let few = vec![Docs::Range(0, source.docs().min(FEW)); parts];
    let (docs, few) = (docs.as_slice(), few.as_slice());
    for field in fields.iter().take(COLUMNS) {
        let name = &field.name;
        let mut say = |answer: Result<String, Error>| sink(answer.map(hash).or_else(described));
        say(search.facet(docs, &Facet::of(name)).map(|facet| format!("{facet:?}")));
        let least = Facet::of(name).top(5).order(FacetOrder::Value).min_count(2);
        say(search.facet(docs, &least).map(|facet| format!("{facet:?}")));
        let stats = Stats::of(name).spread().percentiles([5.0, 50.0]).distinct();
        say(search.stats(docs, &stats).map(|stats| format!("{stats:?}")));
        let histogram = Histogram::of(name.clone(), Step::Whole(1 << 58));
        say(search.histogram(docs, &histogram).map(|counts| format!("{counts:?}")));
        let more = histogram.facet(Facet::of(name).top(3)).metric(Metric::Sum(name.clone()));
        say(search.histogram(docs, &more).map(|counts| format!("{counts:?}")));
        let group = Group::of(name).top(3).docs(2).metric(Metric::Sum(name.clone()));
        say(search.group(docs, &group).map(|groups| format!("{groups:?}")));
        let group = Group::of(name).top(3).sort([SortKey::of(name).descending()]);
        say(search.group(docs, &group).map(|groups| format!("{groups:?}")));
        for key in [SortKey::of(name), SortKey::of(name).descending().missing_first()] {
            say(search.top(docs, std::slice::from_ref(&key), 7).map(|top| format!("{top:?}")));
            say(search.sorted(few, &[key]).map(|docs| format!("{docs:?}")));
        }
        let queries =
            [Query::exists(name), Query::missing(name).or(Query::ne(name, 1_i64)), Query::eq(name, "a")];
        for query in queries {
            say(search.filter(&query).map(|set| format!("{set:?}")));
        }
        let exported = search.export(DocsByPart::from(few), &[name]).and_then(|mut export| {
            let mut seen = Vec::new();
            while let Some(chunk) = export.next_chunk()? {
                seen.push(hash(format!("{:?}", chunk.column(0))));
            }
            Ok(format!("{seen:?}"))
        });
        say(exported);
    }
}

/// The error of a column. Any other error of a search is an answer.
fn described(error: Error) -> Result<u64> {
    match error {
        Error::Column(error) if !matches!(error.kind(), ReadErrorKind::WrongKind { .. }) => Err(error),
        Error::Part(error) => {
            Err(ReadErrorKind::Source { name: format!("part {}", error.part()), source: error }.into())
        }
        other => Ok(hash(other.to_string())),
    }
}

/// Merges `source` with itself, unless it has very many documents, and passes the answer to `sink`.
pub fn exercise_merge(source: &dyn ColumnSource, sink: &mut Sink<'_>) {
    if source.docs() > MERGED {
        return;
    }
    let mut merger = Merger::new(WriterOptions::new().budget(BUDGET));
    merger.add("once", source).add("twice", source);
    sink(merger.finish_bytes().map(|(bytes, _)| hash(bytes)).or_else(|error| {
        let mut kind = error.into_kind();
        while let WriteErrorKind::Source { kind: inner, .. } = kind {
            kind = *inner;
        }
        match kind {
            WriteErrorKind::Read(error) => Err(error),
            kind => Ok(hash(kind.to_string())),
        }
    }));
}
