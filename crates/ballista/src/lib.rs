//! Tables of [docvalues](https://docs.rs/docvalues) in a cluster of [Ballista](https://datafusion.apache.org/ballista).
//!
//! ```text
//! client        SQL and the names of files      connect
//!   |
//! scheduler     plans, cuts, hands out tasks    docvalues-scheduler
//!   |
//! executors     open the files and scan         docvalues-executor
//! ```
//!
//! All three link this crate: Ballista loads no plug-ins, so its own binaries know no tables of docvalues. All of them open the
//! files under the same paths. A table is one commit of a store, or some segment files
//! ([`Dataset`](https://docs.rs/docvalues-store/latest/docvalues_store/struct.Dataset.html)). Each process checks that they
//! are the ones that the client meant: a file that is gone or was replaced is an error.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use docvalues::store::Dataset;
//! use docvalues_datafusion::DocvaluesTable;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = docvalues_ballista::connect("df://scheduler.example:50050").await?;
//! let table = DocvaluesTable::of_dataset(Dataset::of_files(["/shared/a.dv", "/shared/b.dv"])?)?;
//! context.register_table("hits", Arc::new(table))?;
//! context.sql("select host, count(*) from hits where status = 404 group by host").await?.show().await?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod second_attempts;
mod serve;

use std::sync::Arc;

use ballista::prelude::{SessionConfigExt, SessionContextExt as _};
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use docvalues_datafusion::{DocvaluesCodec, DocvaluesLogicalCodec};

pub use serve::{run_executor, run_scheduler};

/// Ballista's codec of logical plans, with tables of docvalues.
pub fn logical_codec() -> Arc<dyn LogicalExtensionCodec> {
    around_logical(Arc::new(BallistaLogicalExtensionCodec::default()))
}

/// Ballista's codec of physical plans, with scans of docvalues.
///
/// A stage that reads results of others fails when it runs a second time, after an executor was lost: Ballista 55.0 would read
/// some of the results of its first attempt twice.
pub fn physical_codec() -> Arc<dyn PhysicalExtensionCodec> {
    around_physical(Arc::new(BallistaPhysicalExtensionCodec::default()))
}

/// Adds the codecs of docvalues to a configuration, and turns off Ballista's adaptive planner.
///
/// With that planner, Ballista 55.0 loses a job if an executor dies, and its client waits forever.
pub fn with_tables(config: SessionConfig) -> SessionConfig {
    let logical = around_logical(config.ballista_logical_extension_codec());
    let physical = around_physical(config.ballista_physical_extension_codec());
    let config = config.with_ballista_logical_extension_codec(logical);
    config.with_ballista_physical_extension_codec(physical).with_ballista_adaptive_query_planner(false)
}

/// A session whose queries run in a cluster, with the configuration of [`with_tables`]. The [crate](crate) has an example.
///
/// # Errors
///
/// If `url` is not of the form `df://host:port`. A missing scheduler is an error of the first query, not of this call.
pub async fn connect(url: &str) -> Result<SessionContext> {
    let config = with_tables(SessionConfig::new_with_ballista());
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    SessionContext::remote_with_state(url, state).await
}

fn around_logical(inner: Arc<dyn LogicalExtensionCodec>) -> Arc<dyn LogicalExtensionCodec> {
    Arc::new(DocvaluesLogicalCodec::new(inner).sliced())
}

fn around_physical(inner: Arc<dyn PhysicalExtensionCodec>) -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(DocvaluesCodec::new(inner).sliced().with_decoded(second_attempts::refuse))
}

/// The code of the README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_adaptive_planner_is_off() {
        let config = SessionConfig::new_with_ballista();
        assert!(config.ballista_adaptive_query_planner_enabled(), "Ballista's default");
        assert!(!with_tables(config).ballista_adaptive_query_planner_enabled());
        let context = connect("df://localhost:50050").await.unwrap();
        assert!(!context.copied_config().ballista_adaptive_query_planner_enabled());
    }
}
