//! Stages that Ballista runs a second time.
//!
//! When an executor dies while a stage runs that reads results of others, Ballista 55.0 begins the stage again, but keeps those
//! results of the first attempt that are on other executors. So later stages read some rows twice. An error is better: a
//! second attempt to read results fails, and with it the query. Scans, whose results are replaced as they should be, run
//! again.

use std::fmt;
use std::sync::Arc;

use ballista_core::execution_plans::{RangeShuffleReaderExec, ShuffleReaderExec};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// A node of a task, or one that fails in its place if it reads results in a second attempt.
pub(crate) fn refuse(node: Arc<dyn ExecutionPlan>, context: &TaskContext) -> Arc<dyn ExecutionPlan> {
    let is_reader = node.is::<ShuffleReaderExec>() || node.is::<RangeShuffleReaderExec>();
    match is_reader && context.task_id().is_some_and(|task| !is_first(&task)) {
        true => Arc::new(SecondAttempt { properties: Arc::clone(node.properties()) }),
        false => node,
    }
}

/// Whether a task such as `TID 038GRP50HR000/2.0/6.0` is one of the first attempt at its stage.
fn is_first(task: &str) -> bool {
    let attempt = task.split('/').nth(1).and_then(|stage| stage.split_once('.'));
    attempt.is_some_and(|(_, attempt)| attempt == "0")
}

/// Fails when it runs.
#[derive(Debug)]
struct SecondAttempt {
    properties: Arc<PlanProperties>,
}

impl DisplayAs for SecondAttempt {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecondAttempt")
    }
}

impl ExecutionPlan for SecondAttempt {
    fn name(&self) -> &str {
        "SecondAttempt"
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

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let lost = "expected all executors until the end of the query, found that one was lost: run it again";
        Err(DataFusionError::Execution(lost.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_told_by_the_names_of_tasks() {
        assert!(is_first("TID 038GRP50HR000/2.0/6.0") && is_first("TID job/12.0/6.3"));
        for task in ["TID 038GRP50HR000/2.1/6.0", "TID job/2.10/0.0", "TID job/2/0", "job", ""] {
            assert!(!is_first(task), "{task}");
        }
    }
}
