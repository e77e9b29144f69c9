//! A query in a cluster: `query df://localhost:50050 "select count(*) from hits" hits=/shared/hits`.
//!
//! Each table is a name and the folder of a store, or a name and segment files with commas between them.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use docvalues::store::Dataset;
use docvalues_datafusion::DocvaluesTable;

#[tokio::main]
async fn main() -> ExitCode {
    match query().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("query: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn query() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(sql)) = (arguments.next(), arguments.next()) else {
        return Err("usage: query df://HOST:PORT SQL NAME=STORE NAME=FILE,FILE ...".into());
    };
    let context = docvalues_ballista::connect(&url).await?;
    for table in arguments {
        let (name, paths) = table.split_once('=').ok_or("expected NAME=PATH")?;
        let dataset = match Path::new(paths).is_dir() {
            true => Dataset::of_store(paths)?,
            false => Dataset::of_files(paths.split(','))?,
        };
        context.register_table(name, Arc::new(DocvaluesTable::of_dataset(dataset)?))?;
    }
    Ok(context.sql(&sql).await?.show().await?)
}
