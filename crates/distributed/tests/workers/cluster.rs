//! Workers of this process, which note the parts that they read.

use std::sync::{Arc, Mutex};

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::UInt32Type;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::datasource::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_distributed::{DistributedExt as _, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse};
use docvalues_distributed::{Workers, serve, worker};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub(crate) struct Cluster {
    workers: Vec<RunningWorker>,
}

struct RunningWorker {
    url: String,
    /// The parts of all scans that it received.
    parts: Arc<Mutex<Vec<u32>>>,
    /// Its tasks and connections.
    runtime: Option<Runtime>,
}

impl Cluster {
    /// As many workers, at free ports.
    pub(crate) async fn start(workers: usize) -> Cluster {
        Cluster { workers: (0..workers).map(|_| RunningWorker::start()).collect() }
    }

    pub(crate) fn urls(&self) -> Vec<&str> {
        self.workers.iter().map(|worker| worker.url.as_str()).collect()
    }

    pub(crate) fn workers(&self) -> Workers {
        Workers::new(self.urls()).unwrap()
    }

    /// The parts that a worker was sent to read, sorted.
    pub(crate) fn parts(&self, worker: usize) -> Vec<u32> {
        let mut parts = self.workers[worker].parts.lock().unwrap().clone();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    pub(crate) fn forget(&self) {
        self.workers.iter().for_each(|worker| worker.parts.lock().unwrap().clear());
    }

    /// Ends a worker and its connections.
    pub(crate) async fn stop(&mut self, worker: usize) {
        self.workers[worker].runtime.take().unwrap().shutdown_background();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

impl RunningWorker {
    fn start() -> RunningWorker {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let parts = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&parts);
        let worker = worker(move |session| {
            let noted = Arc::clone(&noted);
            session.with_distributed_worker_plan_rewrite_handler(move |event: WorkerPlanRewriteEvent<'_>| {
                noted.lock().unwrap().extend(parts_of(&event.plan));
                Ok(WorkerPlanRewriteEventResponse::new(event.plan))
            })
        });
        runtime.spawn(async move { serve(TcpListener::from_std(listener).unwrap(), worker).await.unwrap() });
        RunningWorker { url, parts, runtime: Some(runtime) }
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The parts that the scans of a plan read.
fn parts_of(plan: &Arc<dyn ExecutionPlan>) -> Vec<u32> {
    let mut parts = Vec::new();
    plan.apply(|node| {
        assert_ne!(node.name(), "DocvaluesScan");
        if node.name() == "SlicedScan" {
            let numbers = node.children()[0].downcast_ref::<DataSourceExec>().unwrap();
            let rows: &MemorySourceConfig = numbers.data_source().downcast_ref().unwrap();
            for batch in rows.partitions().iter().flatten() {
                parts.extend(batch.column(0).as_primitive::<UInt32Type>().values());
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .unwrap();
    parts
}
