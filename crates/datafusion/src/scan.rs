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
use crate::open_parts::Bound;
use crate::partitions::{cut, each};
use crate::places::Places;
use crate::reader::Reader;
use crate::table_data::TableData;
use crate::terms::ORDS;

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
    pub(crate) data: Arc<TableData>,
    pub(crate) wanted: Wanted,
    /// The query of `wanted`; `None` for objects, to which each reader binds it: a plan would keep their memory.
    pub(crate) bound: Option<Arc<Bound>>,
    pub(crate) dynamic: DynamicFilters,
    pub(crate) columns: Vec<usize>,
    /// Those of these that are read as ords.
    pub(crate) ords: Vec<usize>,
    pub(crate) limit: Option<usize>,
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
            data,
            wanted,
            bound,
            dynamic,
            columns,
            ords,
            limit,
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
        DocvaluesScan { dynamic, ..self.copy() }
    }

    /// This scan with the ords of some columns of the table instead of their strings.
    pub(crate) fn with_ords(&self, ords: Vec<usize>) -> DocvaluesScan {
        let field = |(field, column): (&FieldRef, &usize)| match ords.contains(column) {
            true => Arc::new(field.as_ref().clone().with_data_type(ORDS)),
            false => Arc::clone(field),
        };
        let schema = self.schema();
        let fields: Vec<FieldRef> = schema.fields().iter().zip(&self.columns).map(field).collect();
        let properties = properties(Arc::new(Schema::new(fields)), self.partitions.len());
        DocvaluesScan { ords, properties, ..self.copy() }
    }

    /// The number of rows of a scan without columns, if it is cheap to count them: then `count(*)` needs no scan.
    fn quick_count(&self) -> Option<usize> {
        if !self.columns.is_empty() || self.wanted.places.is_some() || !self.dynamic.0.is_empty() {
            return None;
        }
        // The scan returns the error of a damaged column.
        let count =
            || self.bound.as_ref()?.query.quick_count().ok()?.and_then(|count| usize::try_from(count).ok());
        *self.quick_count.get_or_init(count)
    }

    fn copy(&self) -> DocvaluesScan {
        DocvaluesScan {
            data: Arc::clone(&self.data),
            wanted: self.wanted.clone(),
            bound: self.bound.clone(),
            dynamic: self.dynamic.clone(),
            columns: self.columns.clone(),
            ords: self.ords.clone(),
            limit: self.limit,
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
        f.debug_struct("DocvaluesScan").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl DisplayAs for DocvaluesScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let name = |(field, column): (&FieldRef, &usize)| match self.ords.contains(column) {
            true => format!("ords of {}", field.name()),
            false => field.name().clone(),
        };
        let names: Vec<String> = schema.fields().iter().zip(&self.columns).map(name).collect();
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
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters = result.parent_filters.iter().map(|parent| &parent.filter);
        // The table was asked for the others before.
        let filters: Vec<_> = filters.filter(|filter| snapshot_generation(filter) != 0).cloned().collect();
        let unsupported = FilterPushdownPropagation::all_unsupported(result);
        // Those that DataFusion makes of `min` and `max` can be false for rows that others of these functions want.
        let are_right = !config.optimizer.enable_aggregate_dynamic_filter_pushdown;
        // A filter before the limit would let other rows through.
        if filters.is_empty() || self.limit.is_some() || !are_right {
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
        let reader = Reader::new(self, partition, ranges, context.session_config().batch_size().max(1));
        Ok(match self.data.open.are_objects() {
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
        let statistics = self.data.statistics.clone().project(Some(&self.columns));
        let is_whole = self.limit.is_none() && args.partition().is_none();
        if is_whole && self.wanted.is_all() {
            return Ok(Arc::new(statistics));
        }
        let statistics = statistics.to_inexact();
        if let Some(rows) = is_whole.then(|| self.quick_count()).flatten() {
            return Ok(Arc::new(Statistics { num_rows: Precision::Exact(rows), ..statistics }));
        }
        let most = self.limit.map_or(Precision::Absent, Precision::Inexact);
        let num_rows =
            if self.limit.is_some() { statistics.num_rows.min(&most) } else { statistics.num_rows };
        Ok(Arc::new(Statistics { num_rows, ..statistics }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }
}
