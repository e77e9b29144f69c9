//! Runs a query over the table `t` of segments in an object store:
//!
//! `cargo run --features s3 --example objects -- 'select count(*) from t' s3://logs/2026/a.dv s3://logs/2026/b.dv`
//!
//! Set credentials and region in environment variables such as `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`.
//! Without the feature `s3`, only `file:` URLs work.

use std::process::ExitCode;
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use docvalues_datafusion::Objects;

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("objects: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn std::error::Error>> {
    let query = arguments.next().ok_or(
        "expected a query and URLs, found no arguments: try 'select count(*) from t' s3://logs/2026/a.dv",
    )?;
    let context = SessionContext::new();
    let objects = Objects::new(context.runtime_env());
    let table = objects.table(objects.dataset(arguments).await?).await?;
    context.register_table("t", Arc::new(table))?;
    context.sql(&query).await?.show().await?;
    Ok(())
}
