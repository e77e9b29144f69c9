//! Stages that Ballista runs a second time.
//!
//! When an executor dies while a stage runs that reads results of others, Ballista 55.0 begins the stage again, but keeps those
//! results of the first attempt that are on other executors. So later stages read some rows twice. An error is better: a
//! second attempt to read results fails, and with it the query. Scans, whose results are replaced as they should be, run
//! again.

use std::sync::Arc;

use ballista_core::execution_plans::{RangeShuffleReaderExec, ShuffleReaderExec};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use docvalues_datafusion::FailedExec;

/// A node of a task, or one that fails in its place if it reads results in a second attempt.
pub(crate) fn refuse(node: Arc<dyn ExecutionPlan>, context: &TaskContext) -> Arc<dyn ExecutionPlan> {
    let is_reader = node.is::<ShuffleReaderExec>() || node.is::<RangeShuffleReaderExec>();
    match is_reader && context.task_id().is_some_and(|task| !is_first(&task)) {
        true => {
            let lost =
                "expected all executors until the end of the query, found that one was lost: run it again";
            Arc::new(FailedExec::new(
                DataFusionError::Execution(lost.to_owned()),
                Arc::clone(node.properties()),
            ))
        }
        false => node,
    }
}

/// Whether a task such as `TID 038GRP50HR000/2.0/6.0` is one of the first attempt at its stage.
fn is_first(task: &str) -> bool {
    let attempt = task.split('/').nth(1).and_then(|stage| stage.split_once('.'));
    attempt.is_some_and(|(_, attempt)| attempt == "0")
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
