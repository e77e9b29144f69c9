//! [`DocvaluesScan`]: the plan that reads a table.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use datafusion_common::config::ConfigOptions;
use datafusion_common::stats::Precision;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{Result, Statistics, internal_err};
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion_physical_expr_common::physical_expr::snapshot_generation;
use datafusion_physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion_physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion_physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, RecordOutput as _,
};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use docvalues::search::query::BoundParts;
use docvalues::search::{Docs, DocsByPart, Query};
use docvalues::{DocId, DocRange};

use crate::dynamic::DynamicFilters;
use crate::places::{self, Places};
use crate::table::{TableData, external};

/// Documents that are filtered at once.
const WINDOW: usize = 1 << 19;

/// Documents at whose multiples partitions begin: filters run in windows of as many.
const CUT: usize = 1 << 16;

/// The documents that a scan returns: those that match a query, in some places.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) query: Query,
    /// `None` for all.
    pub(crate) places: Option<Places>,
}

impl Wanted {
    fn is_all(&self) -> bool {
        self.query == Query::All && self.places.is_none()
    }
}

/// Reads columns of the documents that match a query, in the order of parts and documents if no filter is dynamic.
pub(crate) struct DocvaluesScan {
    data: Arc<TableData>,
    wanted: Wanted,
    bound: Arc<BoundParts>,
    dynamic: DynamicFilters,
    columns: Vec<usize>,
    limit: Option<usize>,
    /// For each partition, documents of some parts.
    partitions: Vec<Vec<(usize, DocRange)>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl DocvaluesScan {
    pub(crate) fn new(
        data: Arc<TableData>,
        wanted: Wanted,
        columns: Vec<usize>,
        limit: Option<usize>,
        partitions: usize,
    ) -> Result<DocvaluesScan> {
        let bound = Arc::new(data.search.bind(&wanted.query).map_err(external)?);
        let schema = Arc::new(data.schema.project(&columns)?);
        let partitions = cut(&data.docs, partitions);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let (properties, metrics) = (Arc::new(properties), ExecutionPlanMetricsSet::new());
        let dynamic = DynamicFilters::default();
        Ok(DocvaluesScan { data, wanted, bound, dynamic, columns, limit, partitions, properties, metrics })
    }

    /// This scan without the rows for which `dynamic` is false.
    fn with_dynamic(&self, dynamic: DynamicFilters) -> DocvaluesScan {
        DocvaluesScan {
            data: Arc::clone(&self.data),
            wanted: self.wanted.clone(),
            bound: Arc::clone(&self.bound),
            dynamic,
            columns: self.columns.clone(),
            limit: self.limit,
            partitions: self.partitions.clone(),
            properties: Arc::clone(&self.properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

/// The documents of a partition in windows. Dynamic filters narrow while rows are read: then windows are short, and come in
/// an order in which each halves the distance between earlier ones. So those for which the filters narrow much come early,
/// also if values ascend or descend by document.
fn windows(ranges: &[(usize, DocRange)], is_dynamic: bool) -> VecDeque<(usize, DocRange)> {
    let len = if is_dynamic { CUT } else { WINDOW };
    let windows = ranges.iter().flat_map(|(part, docs)| docs.chunks(len).map(|docs| (*part, docs)));
    let mut windows: Vec<_> = windows.enumerate().collect();
    if is_dynamic {
        windows.sort_by_key(|(at, _)| at.reverse_bits());
    }
    windows.into_iter().map(|(_, window)| window).collect()
}

/// Cuts all documents into as many partitions, as equal as possible; at least one.
fn cut(docs: &[u32], partitions: usize) -> Vec<Vec<(usize, DocRange)>> {
    let total: u64 = docs.iter().map(|docs| u64::from(*docs)).sum();
    let share = total.div_ceil(partitions.max(1) as u64).next_multiple_of(CUT as u64).max(CUT as u64);
    let (mut cut, mut left) = (vec![Vec::new()], share);
    for (part, docs) in docs.iter().enumerate() {
        let mut start = 0;
        while start < *docs {
            if left == 0 {
                cut.push(Vec::new());
                left = share;
            }
            // At most a `u32`.
            let len = u32::try_from(left.min(u64::from(docs - start))).unwrap_or(u32::MAX);
            if let Some(last) = cut.last_mut() {
                last.push((part, DocRange::new(start, start + len)));
            }
            start += len;
            left -= u64::from(len);
        }
    }
    cut
}

impl fmt::Debug for DocvaluesScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocvaluesScan").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl DisplayAs for DocvaluesScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "DocvaluesScan: partitions={}, columns=[{}]", self.partitions.len(), names.join(", "))?;
        if self.wanted.query != Query::All {
            write!(f, ", filter={}", self.wanted.query)?;
        }
        if let Some(places) = &self.wanted.places {
            write!(f, ", places={places}")?;
        }
        for filter in &self.dynamic.0 {
            write!(f, ", dynamic={filter}")?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for DocvaluesScan {
    fn name(&self) -> &str {
        "DocvaluesScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let (mut filters, mut next) = (self.dynamic.0.iter(), TreeNodeRecursion::Continue);
        while let (Some(filter), TreeNodeRecursion::Continue) = (filters.next(), next) {
            next = each(filter)?;
        }
        Ok(next)
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters = result.parent_filters.iter().map(|parent| &parent.filter);
        // The table was asked for the others before.
        let filters: Vec<_> = filters.filter(|filter| snapshot_generation(filter) != 0).cloned().collect();
        let unsupported = FilterPushdownPropagation::all_unsupported(result);
        // A filter before the limit would let other rows through.
        if filters.is_empty() || self.limit.is_some() {
            return Ok(unsupported);
        }
        let dynamic = DynamicFilters([&self.dynamic.0[..], &filters[..]].concat());
        Ok(unsupported.with_updated_node(Arc::new(self.with_dynamic(dynamic))))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a DocvaluesScan has no children") }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(ranges) = self.partitions.get(partition) else {
            return internal_err!("partition {partition} of {}", self.partitions.len());
        };
        let names = self.columns.iter().filter_map(|at| self.data.fields.get(*at));
        let counter = |name| MetricBuilder::new(&self.metrics).counter(name, partition);
        let reader = Reader {
            data: Arc::clone(&self.data),
            bound: Arc::clone(&self.bound),
            query: self.wanted.query.clone(),
            dynamic: self.dynamic.clone(),
            generation: 0,
            columns: self.columns.clone(),
            names: names.map(|field| field.field.name.clone()).collect(),
            schema: self.schema(),
            rows: context.session_config().batch_size().max(1),
            left: self.limit.unwrap_or(usize::MAX),
            windows: windows(ranges, !self.dynamic.0.is_empty()),
            places: self.wanted.places.clone(),
            found: Found::default(),
            ready: VecDeque::new(),
            metrics: BaselineMetrics::new(&self.metrics, partition),
            visited: counter("docs_visited"),
            matched: counter("docs_matched"),
        };
        let batches = futures::stream::iter(reader);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let statistics = self.data.statistics.clone().project(Some(&self.columns));
        if self.wanted.is_all() && self.limit.is_none() && args.partition().is_none() {
            return Ok(Arc::new(statistics));
        }
        let statistics = statistics.to_inexact();
        let most = self.limit.map_or(Precision::Absent, Precision::Inexact);
        let num_rows =
            if self.limit.is_some() { statistics.num_rows.min(&most) } else { statistics.num_rows };
        Ok(Arc::new(Statistics { num_rows, ..statistics }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }
}

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
struct Reader {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_dynamic_filters_halve_the_distance() {
        let ranges = [(0, DocRange::new(65_536, 200_000)), (2, DocRange::new(0, 300_000))];
        let (in_order, halving) = (windows(&ranges, false), windows(&ranges, true));
        assert_eq!(in_order, ranges);
        let starts: Vec<_> = halving.iter().map(|(part, docs)| (*part, docs.start / 65_536)).collect();
        assert_eq!(starts, [(0, 1), (2, 1), (0, 3), (2, 3), (0, 2), (2, 2), (2, 0), (2, 4)]);
        let mut sorted: Vec<_> = halving.into_iter().collect();
        sorted.sort_by_key(|(part, docs)| (*part, docs.start));
        let docs =
            |part| sorted.iter().filter(move |window| window.0 == part).flat_map(|(_, docs)| docs.iter());
        assert!(docs(0).eq(ranges[0].1.iter()) && docs(2).eq(ranges[1].1.iter()));
    }

    #[test]
    fn partitions_have_each_document_once_and_in_order() {
        let sizes: [&[u32]; 5] =
            [&[], &[0, 3], &[65_535, 1, 65_536, 0, 7], &[65_537; 6], &[1_000_000, 70_000]];
        for docs in sizes {
            for partitions in 0..9 {
                let cut = cut(docs, partitions);
                assert!(
                    !cut.is_empty() && cut.len() <= partitions.max(1),
                    "{docs:?} in {partitions}: {cut:?}"
                );
                let mut covered = vec![0; docs.len()];
                let mut last = 0;
                for (part, range) in cut.iter().flatten() {
                    assert!(last <= *part && range.start == covered[*part] && !range.is_empty());
                    (covered[*part], last) = (range.end, *part);
                }
                assert_eq!(covered, docs);
            }
        }
        assert_eq!(cut(&[1_000_000, 70_000], 4).len(), 4);
    }
}
