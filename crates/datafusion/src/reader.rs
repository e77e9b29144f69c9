//! [`Reader`]: the batches of a partition.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion_common::{Result, internal_err};
use datafusion_physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, RecordOutput as _};
use docvalues::column::BatchDocs;
use docvalues::search::arrow::StringLayout;
use docvalues::search::{Docs, DocsByPart, Query};
use docvalues::{DocId, DocRange};
use futures::Stream;
use tokio::task::spawn_blocking;

use crate::dynamic::DynamicFilters;
use crate::error::external;
use crate::metrics::{CountedBytes, ScanMetrics};
use crate::open_parts::Bound;
use crate::partitions::windows;
use crate::places::{self, Places};
use crate::selection::Selection;
use crate::table_data::TableData;
use crate::terms::ords_of;

/// Binding a query takes as long, for each part, as filtering about so many documents.
const DOCS_A_BIND: usize = 64;

/// The documents of a part that were found, and are not read yet.
enum FoundDocs {
    /// All of a range.
    Run(DocRange),
    /// The documents from a place on.
    List(Vec<DocId>, usize),
}

impl FoundDocs {
    /// The next documents, at most so many.
    fn first(&self, most: usize) -> BatchDocs<'_> {
        match self {
            FoundDocs::Run(docs) => {
                let end = docs.start.saturating_add(u32::try_from(most).unwrap_or(u32::MAX));
                BatchDocs::Run(DocRange::new(docs.start, docs.end.min(end)))
            }
            FoundDocs::List(docs, next) => {
                let left = docs.get(*next..).unwrap_or_default();
                BatchDocs::List(left.get(..most).unwrap_or(left))
            }
        }
    }

    /// Leaves out documents that were read, of those that are left.
    fn skip(&mut self, read: usize) {
        match self {
            // At most a `u32`.
            FoundDocs::Run(docs) => docs.start += u32::try_from(read).unwrap_or(0),
            FoundDocs::List(_, next) => *next += read,
        }
    }
}

/// The outcome of a step.
enum Step {
    Batch(RecordBatch),
    /// Documents were filtered.
    Filtered,
    End,
}

/// Reads a partition.
pub(crate) struct Reader {
    data: Arc<TableData>,
    /// `asked`, bound to the parts that were open when it was last needed.
    bound: Option<Arc<Bound>>,
    /// The query of the scan, without dynamic filters.
    query: Query,
    /// `query` and the dynamic filters of `generation`.
    asked: Query,
    dynamic: DynamicFilters,
    /// The generation of the dynamic filters in `asked`; 0 if it has none.
    generation: u64,
    /// The number of documents in the windows since `asked` was last bound to new filters.
    unbound: usize,
    /// Places of the table's schema, and the names of those that segments have.
    columns: Vec<usize>,
    /// Those that are read as ords.
    ords: Vec<usize>,
    names: Vec<String>,
    schema: SchemaRef,
    /// The most rows of a batch, and those that fit the memory for strings by what was read last.
    rows: usize,
    fitting: usize,
    /// The rows that may still be returned.
    left: usize,
    /// The documents that are not filtered yet.
    windows: VecDeque<(usize, DocRange)>,
    places: Option<Places>,
    /// The documents of `part` that were found.
    found: FoundDocs,
    part: usize,
    metrics: BaselineMetrics,
    counters: ScanMetrics,
}

impl Reader {
    /// Reads `ranges` of a selection, as partition `partition`, in batches of `schema` and of at most `rows`.
    pub(crate) fn new(
        selection: &Selection,
        schema: SchemaRef,
        (metrics, counted): (&ExecutionPlanMetricsSet, &CountedBytes),
        (partition, ranges): (usize, &[(usize, DocRange)]),
        rows: usize,
    ) -> Reader {
        let Selection { data, wanted, bound, dynamic, columns, ords, limit } = selection;
        let strings = columns.iter().filter(|at| !ords.contains(at));
        let names = strings.filter_map(|at| data.fields.get(*at));
        let counters = ScanMetrics::new(metrics, partition, &data.open.now().parts, counted);
        Reader {
            data: Arc::clone(data),
            bound: bound.clone(),
            query: wanted.query.clone(),
            asked: wanted.query.clone(),
            dynamic: dynamic.clone(),
            generation: 0,
            unbound: usize::MAX,
            columns: columns.clone(),
            ords: ords.clone(),
            names: names.map(|field| field.field.name.clone()).collect(),
            schema,
            rows,
            fitting: rows,
            left: limit.unwrap_or(usize::MAX),
            windows: windows(ranges, !dynamic.0.is_empty(), data.open.are_objects()),
            places: wanted.places.clone(),
            found: FoundDocs::Run(DocRange::default()),
            part: 0,
            metrics: BaselineMetrics::new(metrics, partition),
            counters,
        }
    }

    /// Reads the next rows, or filters the next window.
    fn step(&mut self) -> Result<Step> {
        let rows = self.rows.min(self.fitting).min(self.left);
        if rows == 0 {
            return Ok(Step::End);
        }
        if self.found.first(rows).is_empty() {
            let Some((part, docs)) = self.windows.pop_front() else { return Ok(Step::End) };
            self.narrow()?;
            self.unbound = self.unbound.saturating_add(docs.len());
            let bound = self.bound()?;
            (self.part, self.found) = (part, self.matching(&bound, part, docs)?);
            return Ok(Step::Filtered);
        }
        let (bound, asked) = (self.bound()?, self.found.first(rows));
        let batch = self.read(&bound, asked)?;
        let (asked, read) = (asked.len(), batch.num_rows());
        self.found.skip(read);
        self.left -= read;
        self.fitting = if read < asked { read } else { self.rows.min(2 * self.fitting) };
        Ok(Step::Batch(batch))
    }

    /// Takes what the dynamic filters are now.
    fn narrow(&mut self) -> Result<()> {
        let generation = self.dynamic.generation();
        if generation == self.generation || self.unbound < DOCS_A_BIND * self.data.docs.len() {
            return Ok(());
        }
        (self.generation, self.unbound) = (generation, 0);
        if let Some(query) = self.dynamic.query(&self.data.fields)? {
            let narrowed = self.query.clone().and(query);
            // One that is nested too deeply does not narrow.
            if let Ok(bound) = self.data.open.bind(&narrowed, &self.names) {
                (self.bound, self.asked) = (Some(bound), narrowed);
            }
        }
        Ok(())
    }

    /// The query, bound to the parts that are open now.
    fn bound(&mut self) -> Result<Arc<Bound>> {
        let open = self.data.open.now();
        // One before is dropped first: it keeps its memory.
        let bound = match self.bound.take().filter(|bound| Arc::ptr_eq(&bound.open, &open)) {
            Some(bound) => bound,
            None => self.data.open.bind(&self.asked, &self.names)?,
        };
        Ok(Arc::clone(self.bound.insert(bound)))
    }

    /// The documents of each part, of which only one has some.
    fn only<'d>(&self, part: usize, docs: Docs<'d>) -> Vec<Docs<'d>> {
        let mut all = vec![Docs::Range(0, 0); self.data.docs.len()];
        all[part] = docs;
        all
    }

    /// The documents of a window that match.
    fn matching(&self, bound: &Bound, part: usize, docs: DocRange) -> Result<FoundDocs> {
        let ranges = self.places.as_ref().map_or(vec![docs], |places| places.within(part, docs));
        let found = match ranges[..] {
            [] => FoundDocs::Run(DocRange::default()),
            [docs] if bound.query.is_all() => FoundDocs::Run(docs),
            [docs] => self.collect(bound, part, Docs::Range(docs.start, docs.end))?,
            _ if bound.query.is_all() => FoundDocs::List(places::listed(&ranges), 0),
            _ => {
                let docs = places::listed(&ranges);
                self.collect(bound, part, Docs::list(&docs).map_err(external)?)?
            }
        };
        self.counters.matched.add(match &found {
            FoundDocs::Run(docs) => docs.len(),
            FoundDocs::List(docs, _) => docs.len(),
        });
        Ok(found)
    }

    /// Those of some documents of a part that match.
    fn collect(&self, bound: &Bound, part: usize, docs: Docs<'_>) -> Result<FoundDocs> {
        self.counters.visited.add(docs.count(self.data.docs[part]) as usize);
        let asked = self.only(part, docs);
        if self.columns.is_empty() {
            // Only their number is asked for; it is at most a `u32`.
            let counted = bound.query.count_with_pruning(DocsByPart::Parts(&asked));
            let (count, pruned) = counted.map_err(external)?;
            self.counters.add_pruning(&pruned);
            return Ok(FoundDocs::Run(DocRange::new(0, u32::try_from(count).unwrap_or(u32::MAX))));
        }
        let found = bound.query.collect_with_pruning(DocsByPart::Parts(&asked));
        let (found, pruned) = found.map_err(external)?;
        self.counters.add_pruning(&pruned);
        Ok(FoundDocs::List(found.of_part(part).to_vec(self.data.docs[part]), 0))
    }

    /// Reads the first of some documents that were found: all of them, unless their strings take much memory.
    fn read(&self, bound: &Bound, docs: BatchDocs<'_>) -> Result<RecordBatch> {
        if self.names.is_empty() {
            return self.batch(docs, &[]);
        }
        let asked = match docs {
            BatchDocs::Run(docs) => Docs::Range(docs.start, docs.end),
            BatchDocs::List(docs) => Docs::list(docs).map_err(external)?,
        };
        let asked = self.only(self.part, asked);
        let export = bound.open.search.export(DocsByPart::Parts(&asked), &self.names).map_err(external)?;
        let mut batches = export.chunk_rows(docs.len()).batches().strings_as(StringLayout::Views);
        match batches.next().transpose()? {
            Some(batch) if batch.num_rows() > 0 => {
                self.batch(self.found.first(batch.num_rows()), batch.columns())
            }
            _ => internal_err!("documents that are not there"),
        }
    }

    /// A batch of some documents that were found, with the columns that were read of them.
    fn batch(&self, docs: BatchDocs<'_>, read: &[ArrayRef]) -> Result<RecordBatch> {
        let (mut read, first_place) = (read.iter().cloned(), self.data.fields.len());
        let (part, count) = (self.part, docs.len());
        let column = |at: &usize| -> Result<ArrayRef> {
            Ok(match at.checked_sub(first_place) {
                None if self.ords.contains(at) => ords_of(&self.data, part, *at, docs)?,
                None => match read.next() {
                    Some(column) => column,
                    None => return internal_err!("a column that was not read"),
                },
                Some(0) => Arc::new(Int64Array::from_value(i64::try_from(part).unwrap_or(i64::MAX), count)),
                Some(_) => Arc::new(docs.iter().map(|doc| i64::from(doc.get())).collect::<Int64Array>()),
            })
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

impl Reader {
    /// The same batches. As each step waits for requests, it runs where blocking is allowed, and only when it is asked for.
    pub(crate) fn blocking(self) -> impl Stream<Item = Result<RecordBatch>> {
        futures::stream::try_unfold(self, async |mut reader| {
            loop {
                let step = spawn_blocking(move || {
                    let step = reader.timed_step();
                    (reader, step)
                });
                let (back, step) = step.await.map_err(external)?;
                reader = back;
                match step? {
                    Step::Batch(batch) => return Ok(Some((batch.record_output(&reader.metrics), reader))),
                    Step::Filtered => {}
                    Step::End => return Ok(None),
                }
            }
        })
    }

    fn timed_step(&mut self) -> Result<Step> {
        let time = self.metrics.elapsed_compute().clone();
        let _timer = time.timer();
        let step = self.step();
        if let Some(bound) = &self.bound {
            self.counters.add_bytes(&bound.open.parts, self.part);
        }
        step
    }
}

impl Stream for Reader {
    type Item = Result<RecordBatch>;

    /// Does one step, so that others have their turn, and the query can be cancelled, while nothing is found.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        match self.timed_step() {
            Ok(Step::Batch(batch)) => Poll::Ready(Some(Ok(batch.record_output(&self.metrics)))),
            Ok(Step::Filtered) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(Step::End) => Poll::Ready(None),
            Err(error) => {
                self.left = 0;
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}
