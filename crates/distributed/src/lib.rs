//! Scans of [docvalues](https://docs.rs/docvalues) on several workers, with
//! [datafusion-distributed](https://docs.rs/datafusion-distributed).
//!
//! ```text
//! your program     plans, joins the results      Workers::session
//!   |
//! workers          open the files and scan       serve
//! ```
//!
//! There is no scheduler. The program plans a query, and gives a task of it to each worker: the files that the worker
//! [reads](Workers::with_place). All processes see all files under the same paths, and check that they are the ones that the
//! program meant. A file that is gone, damaged or replaced is an error, and so is a worker that is lost.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use docvalues::store::Dataset;
//! use docvalues_datafusion::DocvaluesTable;
//! use docvalues_distributed::Workers;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let workers = Workers::new(["http://one.example:50060", "http://two.example:50060"])?;
//! let context = workers.session()?;
//! let table = DocvaluesTable::of_dataset(Dataset::of_files(["/shared/a.dv", "/shared/b.dv"])?)?;
//! context.register_table("hits", Arc::new(table))?;
//! context.sql("select host, count(*) from hits where status = 404 group by host").await?.show().await?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod serve;
mod tasks;
mod workers;

use std::sync::Arc;

use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use docvalues_datafusion::DocvaluesCodec;

pub use serve::{run_worker, serve, worker};
pub use tasks::TablePart;
pub use workers::Workers;

/// The codec of both sides. It keeps the datasets open that it decoded last.
fn codec() -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(DocvaluesCodec::default())
}

/// The code of the README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
