//! The processes of a cluster.

use std::net::SocketAddr;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::Result;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;

use crate::{logical_codec, physical_codec};

/// Executors ask for tasks. If the scheduler of Ballista 55.0 pushes them, and an executor dies, it counts CPUs of the others as
/// busy for ever, and jobs wait for them.
const POLICY: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// Runs a scheduler at `address`, with the codecs of this crate, until the process ends.
///
/// # Errors
///
/// If the configuration contradicts itself, or the address is taken.
pub async fn run_scheduler(address: SocketAddr, config: SchedulerConfig) -> Result<()> {
    let config = SchedulerConfig {
        scheduling_policy: POLICY,
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        ..config
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, address, Arc::new(config)).await
}

/// Runs an executor with the codecs of this crate, until the process receives a signal to end, or loses the scheduler.
///
/// # Errors
///
/// If the configuration contradicts itself, a port is taken, or there is no scheduler.
pub async fn run_executor(config: ExecutorProcessConfig) -> Result<()> {
    start_executor_process(Arc::new(ExecutorProcessConfig {
        task_scheduling_policy: POLICY,
        override_logical_codec: Some(logical_codec()),
        override_physical_codec: Some(physical_codec()),
        ..config
    }))
    .await
}
