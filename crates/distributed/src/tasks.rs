//! The tasks of a scan: which reads which parts, and where it runs.

use std::sync::Arc;

use datafusion::common::tree_node::TreeNode as _;
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_distributed::{
    DistributedLeafExec, RouteTasksEvent, RouteTasksEventResponse, ScaleUpLeafNodeEvent,
    ScaleUpLeafNodeEventResponse,
};
use docvalues_datafusion::ScanParts;
use url::Url;

/// A part of a table: a file, or a segment of a commit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TablePart<'t> {
    /// From 0 on, in the order of the table.
    pub number: usize,
    /// The number of documents, deleted or not.
    pub docs: u32,
    /// The absolute path of the file; `None` in a commit of a store.
    pub file: Option<&'t str>,
}

type Place = dyn Fn(&TablePart<'_>, usize) -> usize + Send + Sync;

/// Task `i` runs on worker `i`.
#[derive(Clone)]
pub(crate) struct Tasks {
    pub(crate) urls: Arc<[Url]>,
    /// The worker of a part, of as many.
    pub(crate) place: Arc<Place>,
}

impl Tasks {
    /// A scan of some parts for each task, in the place of one of all parts.
    pub(crate) fn scale_up(
        &self,
        event: ScaleUpLeafNodeEvent<'_>,
    ) -> Option<Result<ScaleUpLeafNodeEventResponse>> {
        let parts = ScanParts::of(event.plan)?;
        let partitions = event.session_config.target_partitions();
        let leaf = self.assign(&parts, event.task_count).and_then(|tasks| {
            let scans = lists(&tasks, partitions)
                .iter()
                .map(|lists| parts.read(lists))
                .collect::<Result<Vec<_>>>()?;
            DistributedLeafExec::try_new(Arc::clone(event.plan), scans)
        });
        Some(leaf.map(|leaf| ScaleUpLeafNodeEventResponse::new(Arc::new(leaf))))
    }

    /// The workers of the tasks of a stage that has such a scan.
    pub(crate) fn route(&self, event: &RouteTasksEvent<'_>) -> Option<Result<RouteTasksEventResponse>> {
        let find =
            |is_wanted: fn(&Arc<dyn ExecutionPlan>) -> bool| event.plan.exists(|node| Ok(is_wanted(node)));
        match (find(is_local), find(is_leaf)) {
            (Ok(false), Ok(false)) => None,
            (Ok(false), Ok(true)) => {
                let urls = self.urls.iter().cycle().take(event.task_count).cloned().collect();
                Some(Ok(RouteTasksEventResponse::new(urls)))
            }
            (Ok(true), _) => Some(plan_err!(
                "expected tables that can be sent to workers, found another: make it by `DocvaluesTable::of_dataset`, and leave out `with_places` and `GroupByOrds`"
            )),
            (Err(error), _) | (_, Err(error)) => Some(Err(error)),
        }
    }

    /// The parts of each of `count` tasks.
    fn assign(&self, parts: &ScanParts<'_>, count: usize) -> Result<Vec<Vec<usize>>> {
        let mut tasks = vec![Vec::new(); count];
        for (number, docs) in parts.docs().iter().enumerate() {
            let part = TablePart { number, docs: *docs, file: parts.dataset().file(number) };
            let worker = (self.place)(&part, self.urls.len());
            if worker >= self.urls.len() {
                return exec_err!("expected a worker below {} for {part:?}, found {worker}", self.urls.len());
            }
            if let Some(task) = tasks.get_mut(worker % count.max(1)) {
                task.push(number);
            }
        }
        Ok(tasks)
    }
}

fn is_leaf(node: &Arc<dyn ExecutionPlan>) -> bool {
    let leaf: Option<&DistributedLeafExec> = node.downcast_ref();
    leaf.is_some_and(|leaf| ScanParts::of(leaf.original()).is_some())
}

/// Whether a node is a scan that cannot be sent.
fn is_local(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.name() == "DocvaluesScan" && ScanParts::of(node).is_none()
}

/// The parts of each partition of each task: for all tasks as many partitions, at most `most`.
fn lists(tasks: &[Vec<usize>], most: usize) -> Vec<Vec<Vec<usize>>> {
    let longest = tasks.iter().map(Vec::len).max().unwrap_or(0);
    let partitions = longest.min(most).max(1);
    let spread = |parts: &Vec<usize>| {
        let list = |first| parts.iter().skip(first).step_by(partitions).copied().collect();
        (0..partitions).map(list).collect()
    };
    tasks.iter().map(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_as_many_partitions() {
        let tasks = [vec![0, 2, 4, 5, 6], vec![1], vec![]];
        let found = lists(&tasks, 2);
        assert_eq!(found, [[vec![0, 4, 6], vec![2, 5]], [vec![1], vec![]], [vec![], vec![]]]);
        assert_eq!(lists(&[vec![], vec![]], 8), [[[0; 0]], [[0; 0]]]);
    }
}
