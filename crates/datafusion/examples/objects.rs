//! Runs a query over segments in an object store, which it calls `t`:
//!
//! `cargo run --features s3 --example objects -- 'select count(*) from t' s3://logs/2026/a.dv s3://logs/2026/b.dv`
//!
//! The environment says who asks, such as `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`. Without the feature
//! `s3`, there are `file:` URLs.

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
    let query = arguments.next().ok_or("expected a query and URLs")?;
    let context = SessionContext::new();
    let objects = Objects::new(context.runtime_env());
    let table = objects.table(objects.dataset(arguments)?)?;
    context.register_table("t", Arc::new(table))?;
    context.sql(&query).await?.show().await?;
    Ok(())
}
