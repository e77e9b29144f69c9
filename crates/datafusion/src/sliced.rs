//! [`SlicedScan`]: a scan whose partitions a child lists, for engines that give each task a slice of them.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray as _, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema, UInt32Type};
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{Result, Statistics, internal_datafusion_err, internal_err};
use datafusion_datasource::memory::MemorySourceConfig;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_plan::metrics::MetricsSet;
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::scan::DocvaluesScan;

/// Runs those partitions of a scan whose numbers its child returns.
#[derive(Debug)]
pub(crate) struct SlicedScan {
    scan: Arc<dyn ExecutionPlan>,
    /// One column of numbers.
    numbers: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl SlicedScan {
    /// All partitions of `scan`.
    pub(crate) fn all(scan: DocvaluesScan) -> Result<SlicedScan> {
        let count = scan.properties().partitioning.partition_count();
        SlicedScan::of(scan, &(0..count).map(|number| vec![number]).collect::<Vec<_>>())
    }

    /// A partition for each list of numbers of partitions of `scan`.
    pub(crate) fn of(scan: DocvaluesScan, numbers: &[Vec<usize>]) -> Result<SlicedScan> {
        let schema = Arc::new(Schema::new(vec![Field::new("partition", DataType::UInt32, false)]));
        let rows = |numbers: &Vec<usize>| {
            let numbers = numbers.iter().map(|number| u32::try_from(*number));
            let numbers = numbers.collect::<std::result::Result<Vec<_>, _>>();
            let numbers = numbers.map_err(|error| internal_datafusion_err!("{error}"))?;
            let column = Arc::new(UInt32Array::from(numbers));
            Ok(vec![RecordBatch::try_new(Arc::clone(&schema), vec![column])?])
        };
        let rows = numbers.iter().map(rows).collect::<Result<Vec<_>>>()?;
        let numbers = MemorySourceConfig::try_new_exec(&rows, schema, None)?;
        SlicedScan::try_new(Arc::new(scan), numbers)
    }

    /// The partitions of `scan` whose numbers `numbers` returns.
    pub(crate) fn try_new(
        scan: Arc<dyn ExecutionPlan>,
        numbers: Arc<dyn ExecutionPlan>,
    ) -> Result<SlicedScan> {
        let schema = numbers.schema();
        match schema.fields().iter().as_slice() {
            [field] if *field.data_type() == DataType::UInt32 => {}
            fields => return internal_err!("expected one column of numbers, found {fields:?}"),
        }
        let count = numbers.properties().partitioning.partition_count();
        let properties = scan.properties().as_ref().clone();
        let properties = properties.with_partitioning(Partitioning::UnknownPartitioning(count));
        Ok(SlicedScan { scan, numbers, properties: Arc::new(properties) })
    }

    /// The scan, if its files could be opened.
    pub(crate) fn scan(&self) -> Result<&DocvaluesScan> {
        self.scan
            .downcast_ref()
            .ok_or_else(|| internal_datafusion_err!("expected a scan, found {:?}", self.scan))
    }
}

impl DisplayAs for SlicedScan {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlicedScan: {} of ", self.properties.partitioning.partition_count())?;
        self.scan.fmt_as(format, f)
    }
}

impl ExecutionPlan for SlicedScan {
    fn name(&self) -> &str {
        "SlicedScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.numbers]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [numbers] = &children[..] else {
            return internal_err!("expected one child, found {}", children.len());
        };
        Ok(Arc::new(SlicedScan::try_new(Arc::clone(&self.scan), Arc::clone(numbers))?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (scan, numbers) =
            (Arc::clone(&self.scan), self.numbers.execute(partition, Arc::clone(&context))?);
        let batches = numbers.map(move |numbers| {
            let numbers = numbers?;
            let numbers = numbers.column(0).as_primitive::<UInt32Type>().values();
            let streams = numbers.iter().map(|number| scan.execute(*number as usize, Arc::clone(&context)));
            let streams = streams.collect::<Result<Vec<_>>>()?;
            Ok::<_, datafusion_common::DataFusionError>(futures::stream::iter(streams).flatten())
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches.try_flatten())))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.scan.metrics()
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let statistics = self.scan.statistics_from_inputs(&[], args)?;
        let count = |properties: &PlanProperties| properties.partitioning.partition_count();
        // A slice has fewer rows, and so may lists of parts have.
        let is_by_part = self.scan().is_ok_and(|scan| scan.target_partitions == 0);
        let is_all = !is_by_part && count(&self.properties) == count(self.scan.properties());
        Ok(if is_all { statistics } else { Arc::new(statistics.as_ref().clone().to_inexact()) })
    }
}
