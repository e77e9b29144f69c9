//! [`FailedExec`]: an error in place of rows.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{DataFusionError, Result, internal_err};
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::scan::properties;

/// A node that fails when it runs. Ballista shows the error of a task that ran, but not that of a plan that could not be
/// decoded.
#[derive(Debug)]
pub struct FailedExec {
    error: Arc<DataFusionError>,
    properties: Arc<PlanProperties>,
}

impl FailedExec {
    /// A node with the schema and the partitions of another, each of which fails with `error`.
    pub fn new(error: DataFusionError, properties: Arc<PlanProperties>) -> FailedExec {
        FailedExec { error: Arc::new(error), properties }
    }

    /// As [`new`](Self::new), for rows of a schema in one partition.
    pub(crate) fn of_schema(error: DataFusionError, schema: SchemaRef) -> FailedExec {
        FailedExec::new(error, properties(schema, 1))
    }
}

impl DisplayAs for FailedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailedExec: {}", self.error)
    }
}

impl ExecutionPlan for FailedExec {
    fn name(&self) -> &str {
        "FailedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
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
        if children.is_empty() { Ok(self) } else { internal_err!("a FailedExec has no children") }
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        Err(DataFusionError::Shared(Arc::clone(&self.error)))
    }
}
