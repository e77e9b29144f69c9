//! [`Reader`]: the batches of a partition.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use datafusion_common::{Result, internal_err};
use datafusion_physical_plan::ExecutionPlan as _;
use datafusion_physical_plan::metrics::{BaselineMetrics, Count, MetricBuilder, RecordOutput as _};
use docvalues::search::query::BoundParts;
use docvalues::search::{Docs, DocsByPart, Query};
use docvalues::{DocId, DocRange};

use crate::dynamic::DynamicFilters;
use crate::partitions::windows;
use crate::places::{self, Places};
use crate::scan::DocvaluesScan;
use crate::table::{TableData, external};

/// The documents of a part that were found, and are not read yet.
#[derive(Default)]
struct Found {
    part: usize,
    docs: FoundDocs,
}

enum FoundDocs {
    /// All of a range.
    Run(DocRange),
    /// The documents from a place on.
    List(Vec<DocId>, usize),
}

impl Default for FoundDocs {
    fn default() -> FoundDocs {
        FoundDocs::List(Vec::new(), 0)
    }
}

/// Documents of a batch.
#[derive(Clone, Copy)]
enum SomeDocs<'d> {
    Run(DocRange),
    List(&'d [DocId]),
}

impl<'d> SomeDocs<'d> {
    fn len(self) -> usize {
        match self {
            SomeDocs::Run(docs) => docs.len(),
            SomeDocs::List(docs) => docs.len(),
        }
    }

    fn docs(self) -> Result<Docs<'d>> {
        match self {
            SomeDocs::Run(docs) => Ok(Docs::Range(docs.start, docs.end)),
            SomeDocs::List(docs) => Docs::list(docs).map_err(external),
        }
    }

    /// The numbers of some of them, by place.
    fn numbers(self, places: Range<usize>) -> Int64Array {
        match self {
            SomeDocs::Run(docs) => docs.iter().skip(places.start).take(places.len()).map(number).collect(),
            SomeDocs::List(docs) => docs[places].iter().copied().map(number).collect(),
        }
    }
}

fn number(doc: DocId) -> i64 {
    doc.get().into()
}

/// Reads a partition.
pub(crate) struct Reader {
    data: Arc<TableData>,
    bound: Arc<BoundParts>,
    query: Query,
    dynamic: DynamicFilters,
    /// That of the dynamic filters that `bound` has; 0 if it has none.
    generation: u64,
    /// Places of the table's schema, and the names of those that segments have.
    columns: Vec<usize>,
    names: Vec<String>,
    schema: SchemaRef,
    /// The most rows of a batch.
    rows: usize,
    /// The rows that may still be returned.
    left: usize,
    /// The documents that are not filtered yet.
    windows: VecDeque<(usize, DocRange)>,
    places: Option<Places>,
    found: Found,
    /// Batches that are read, and not returned yet. Long strings take several.
    ready: VecDeque<RecordBatch>,
    metrics: BaselineMetrics,
    visited: Count,
    matched: Count,
}

impl Reader {
    /// Reads `ranges` of a scan, its partition `partition`, in batches of at most `rows`.
    pub(crate) fn new(
        scan: &DocvaluesScan,
        partition: usize,
        ranges: &[(usize, DocRange)],
        rows: usize,
    ) -> Reader {
        let names = scan.columns.iter().filter_map(|at| scan.data.fields.get(*at));
        let counter = |name| MetricBuilder::new(&scan.metrics).counter(name, partition);
        Reader {
            data: Arc::clone(&scan.data),
            bound: Arc::clone(&scan.bound),
            query: scan.wanted.query.clone(),
            dynamic: scan.dynamic.clone(),
            generation: 0,
            columns: scan.columns.clone(),
            names: names.map(|field| field.field.name.clone()).collect(),
            schema: scan.schema(),
            rows,
            left: scan.limit.unwrap_or(usize::MAX),
            windows: windows(ranges, !scan.dynamic.0.is_empty()),
            places: scan.wanted.places.clone(),
            found: Found::default(),
            ready: VecDeque::new(),
            metrics: BaselineMetrics::new(&scan.metrics, partition),
            visited: counter("docs_visited"),
            matched: counter("docs_matched"),
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            let rows = self.rows.min(self.left);
            if rows == 0 {
                return Ok(None);
            }
            let part = self.found.part;
            let batches = match &mut self.found.docs {
                FoundDocs::Run(docs) if !docs.is_empty() => {
                    let end =
                        docs.end.min(docs.start.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX)));
                    let some = DocRange::new(docs.start, end);
                    docs.start = end;
                    self.read(part, SomeDocs::Run(some))?
                }
                FoundDocs::List(docs, next) if *next < docs.len() => {
                    let (docs, from) = (std::mem::take(docs), *next);
                    let to = docs.len().min(from + rows);
                    let batches = self.read(part, SomeDocs::List(&docs[from..to]))?;
                    self.found.docs = FoundDocs::List(docs, to);
                    batches
                }
                _ => {
                    let Some((part, docs)) = self.windows.pop_front() else { return Ok(None) };
                    self.narrow()?;
                    self.found = Found { part, docs: self.matching(part, docs)? };
                    continue;
                }
            };
            self.left -= batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            self.ready.extend(batches);
        }
    }

    /// Takes what the dynamic filters are now.
    fn narrow(&mut self) -> Result<()> {
        let generation = self.dynamic.generation();
        if generation == self.generation {
            return Ok(());
        }
        self.generation = generation;
        if let Some(query) = self.dynamic.query(&self.data.fields)? {
            // One that is nested too deeply does not narrow.
            if let Ok(bound) = self.data.search.bind(&self.query.clone().and(query)) {
                self.bound = Arc::new(bound);
            }
        }
        Ok(())
    }

    /// The documents of each part, of which only one has some.
    fn only<'d>(&self, part: usize, docs: Docs<'d>) -> Vec<Docs<'d>> {
        let mut all = vec![Docs::Range(0, 0); self.data.docs.len()];
        all[part] = docs;
        all
    }

    /// The documents of a window that match.
    fn matching(&self, part: usize, docs: DocRange) -> Result<FoundDocs> {
        let ranges = self.places.as_ref().map_or(vec![docs], |places| places.within(part, docs));
        let found = match ranges[..] {
            [] => FoundDocs::default(),
            [docs] if self.bound.is_all() => FoundDocs::Run(docs),
            [docs] => self.collect(part, Docs::Range(docs.start, docs.end))?,
            _ if self.bound.is_all() => FoundDocs::List(places::listed(&ranges), 0),
            _ => {
                let docs = places::listed(&ranges);
                self.collect(part, Docs::list(&docs).map_err(external)?)?
            }
        };
        self.matched.add(match &found {
            FoundDocs::Run(docs) => docs.len(),
            FoundDocs::List(docs, _) => docs.len(),
        });
        Ok(found)
    }

    /// Those of some documents of a part that match.
    fn collect(&self, part: usize, docs: Docs<'_>) -> Result<FoundDocs> {
        self.visited.add(docs.count(self.data.docs[part]) as usize);
        let asked = self.only(part, docs);
        if self.columns.is_empty() {
            // Only their number is asked for; it is at most a `u32`.
            let count = self.bound.count(DocsByPart::Parts(&asked)).map_err(external)?;
            return Ok(FoundDocs::Run(DocRange::new(0, u32::try_from(count).unwrap_or(u32::MAX))));
        }
        let found = self.bound.collect(DocsByPart::Parts(&asked)).map_err(external)?;
        Ok(FoundDocs::List(found.of_part(part).to_vec(self.data.docs[part]), 0))
    }

    fn read(&self, part: usize, docs: SomeDocs<'_>) -> Result<Vec<RecordBatch>> {
        if self.names.is_empty() {
            return Ok(vec![self.batch(part, docs, &[], 0..docs.len())?]);
        }
        let asked = self.only(part, docs.docs()?);
        let export = self.data.search.export(DocsByPart::Parts(&asked), &self.names).map_err(external)?;
        let (batches, mut end) = (export.chunk_rows(docs.len()).batches(), 0);
        let batch = |batch: std::result::Result<RecordBatch, ArrowError>| {
            let batch = batch?;
            let start = end;
            end += batch.num_rows();
            self.batch(part, docs, batch.columns(), start..end)
        };
        batches.map(batch).collect()
    }

    /// A batch of some of `docs`, with the columns that were read of them.
    fn batch(
        &self,
        part: usize,
        docs: SomeDocs<'_>,
        read: &[ArrayRef],
        rows: Range<usize>,
    ) -> Result<RecordBatch> {
        let (mut read, first_place) = (read.iter().cloned(), self.data.fields.len());
        let count = rows.len();
        let column = |at: &usize| -> Option<ArrayRef> {
            match at.checked_sub(first_place) {
                None => read.next(),
                Some(0) => Some(Arc::new(Int64Array::from_value(i64::try_from(part).ok()?, count))),
                Some(_) => Some(Arc::new(docs.numbers(rows.clone()))),
            }
        };
        let columns = self.columns.iter().map(column).collect::<Option<Vec<ArrayRef>>>();
        let Some(columns) = columns else { return internal_err!("columns that were not read") };
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        let time = self.metrics.elapsed_compute().clone();
        let timer = time.timer();
        let next = self.next_batch();
        timer.done();
        if let Ok(Some(batch)) = &next {
            batch.record_output(&self.metrics);
        }
        if next.is_err() {
            self.left = 0;
        }
        next.transpose()
    }
}
