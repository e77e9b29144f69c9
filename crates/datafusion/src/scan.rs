//! [`DocvaluesScan`]: the plan that reads a table.

use std::fmt;
use std::sync::{Arc, OnceLock};

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
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
use datafusion_physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use docvalues::DocRange;
use docvalues::search::Query;

use crate::dynamic::DynamicFilters;
use crate::metrics::CountedBytes;
use crate::partitions::{cut, each};
use crate::reader::Reader;
use crate::selection::{Selection, Wanted};
use crate::table_data::TableData;
use crate::terms::ORDS;

/// Reads columns of the documents that match a query, in the order of parts and documents if no filter is dynamic.
pub(crate) struct DocvaluesScan {
    pub(crate) selection: Selection,
    /// As many partitions were asked for; there may be fewer. 0 for one for each part.
    pub(crate) target_partitions: usize,
    /// For each partition, documents of some parts.
    partitions: Vec<Vec<(usize, DocRange)>>,
    properties: Arc<PlanProperties>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
    pub(crate) counted: CountedBytes,
    /// The number of rows, if it is cheap to count them, once a plan asks for it.
    quick_count: Arc<OnceLock<Option<usize>>>,
}

impl DocvaluesScan {
    pub(crate) fn new(
        data: Arc<TableData>,
        wanted: Wanted,
        columns: Vec<usize>,
        limit: Option<usize>,
        target_partitions: usize,
    ) -> Result<DocvaluesScan> {
        let bound = match data.open.are_objects() {
            true => None,
            false => Some(data.open.bind(&wanted.query, &[])?),
        };
        let schema = Arc::new(data.schema.project(&columns)?);
        let partitions = match target_partitions {
            0 => each(&data.docs),
            _ => cut(&data.docs, target_partitions),
        };
        let properties = properties(schema, partitions.len());
        let (dynamic, ords) = (DynamicFilters::default(), Vec::new());
        let (metrics, counted) = (ExecutionPlanMetricsSet::new(), CountedBytes::default());
        Ok(DocvaluesScan {
            selection: Selection { data, wanted, bound, dynamic, columns, ords, limit },
            target_partitions,
            partitions,
            properties,
            metrics,
            counted,
            quick_count: Arc::default(),
        })
    }

    /// This scan without the rows for which `dynamic` is false.
    fn with_dynamic(&self, dynamic: DynamicFilters) -> DocvaluesScan {
        self.with(Selection { dynamic, ..self.selection.clone() })
    }

    /// This scan with the ords of some columns of the table instead of their strings.
    pub(crate) fn with_ords(&self, ords: Vec<usize>) -> DocvaluesScan {
        let field = |(field, column): (&FieldRef, &usize)| match ords.contains(column) {
            true => Arc::new(field.as_ref().clone().with_data_type(ORDS)),
            false => Arc::clone(field),
        };
        let schema = self.schema();
        let fields: Vec<FieldRef> = schema.fields().iter().zip(&self.selection.columns).map(field).collect();
        let properties = properties(Arc::new(Schema::new(fields)), self.partitions.len());
        DocvaluesScan { properties, ..self.with(Selection { ords, ..self.selection.clone() }) }
    }

    /// The number of rows of a scan without columns, if it is cheap to count them: then `count(*)` needs no scan.
    fn quick_count(&self) -> Option<usize> {
        let Selection { wanted, bound, dynamic, columns, .. } = &self.selection;
        if !columns.is_empty() || wanted.places.is_some() || !dynamic.0.is_empty() {
            return None;
        }
        // The scan returns the error of a damaged column.
        let count =
            || bound.as_ref()?.query.quick_count().ok()?.and_then(|count| usize::try_from(count).ok());
        *self.quick_count.get_or_init(count)
    }

    /// A scan of `selection` in the same partitions.
    fn with(&self, selection: Selection) -> DocvaluesScan {
        DocvaluesScan {
            selection,
            target_partitions: self.target_partitions,
            partitions: self.partitions.clone(),
            properties: Arc::clone(&self.properties),
            metrics: ExecutionPlanMetricsSet::new(),
            counted: CountedBytes::default(),
            quick_count: Arc::clone(&self.quick_count),
        }
    }
}

/// The properties of rows that come as they are found.
pub(crate) fn properties(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

impl fmt::Debug for DocvaluesScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocvaluesScan").field("wanted", &self.selection.wanted).finish_non_exhaustive()
    }
}

impl DisplayAs for DocvaluesScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let Selection { wanted, dynamic, columns, ords, limit, .. } = &self.selection;
        let name = |(field, column): (&FieldRef, &usize)| match ords.contains(column) {
            true => format!("ords of {}", field.name()),
            false => field.name().clone(),
        };
        let names: Vec<String> = schema.fields().iter().zip(columns).map(name).collect();
        write!(f, "DocvaluesScan: partitions={}, columns=[{}]", self.partitions.len(), names.join(", "))?;
        if wanted.query != Query::All {
            write!(f, ", filter={}", wanted.query)?;
        }
        if let Some(places) = &wanted.places {
            write!(f, ", places={places}")?;
        }
        for filter in &dynamic.0 {
            write!(f, ", dynamic={filter}")?;
        }
        limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
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
        let (mut filters, mut next) = (self.selection.dynamic.0.iter(), TreeNodeRecursion::Continue);
        while let (Some(filter), TreeNodeRecursion::Continue) = (filters.next(), next) {
            next = each(filter)?;
        }
        Ok(next)
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters = result.parent_filters.iter().map(|parent| &parent.filter);
        // The table was asked for the others before.
        let filters: Vec<_> = filters.filter(|filter| snapshot_generation(filter) != 0).cloned().collect();
        let unsupported = FilterPushdownPropagation::all_unsupported(result);
        // Those that DataFusion makes of `min` and `max` can be false for rows that others of these functions want.
        let are_right = !config.optimizer.enable_aggregate_dynamic_filter_pushdown;
        // A filter before the limit would let other rows through.
        if filters.is_empty() || self.selection.limit.is_some() || !are_right {
            return Ok(unsupported);
        }
        let dynamic = DynamicFilters([&self.selection.dynamic.0[..], &filters[..]].concat());
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
        let rows = context.session_config().batch_size().max(1);
        let measures = (&self.metrics, &self.counted);
        let reader = Reader::new(&self.selection, self.schema(), measures, (partition, ranges), rows);
        Ok(match self.selection.data.open.are_objects() {
            false => Box::pin(RecordBatchStreamAdapter::new(self.schema(), reader)),
            true => Box::pin(RecordBatchStreamAdapter::new(self.schema(), reader.blocking())),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let Selection { data, wanted, columns, limit, .. } = &self.selection;
        let statistics = data.statistics.clone().project(Some(columns));
        let is_whole = limit.is_none() && args.partition().is_none();
        if is_whole && wanted.is_all() {
            return Ok(Arc::new(statistics));
        }
        let statistics = statistics.to_inexact();
        if let Some(rows) = is_whole.then(|| self.quick_count()).flatten() {
            return Ok(Arc::new(Statistics { num_rows: Precision::Exact(rows), ..statistics }));
        }
        let most = limit.map_or(Precision::Absent, Precision::Inexact);
        let num_rows = if limit.is_some() { statistics.num_rows.min(&most) } else { statistics.num_rows };
        Ok(Arc::new(Statistics { num_rows, ..statistics }))
    }

    fn fetch(&self) -> Option<usize> {
        self.selection.limit
    }
}
