//! `dv sql`: answers a query in SQL.

#[cfg(feature = "sql")]
mod engine;
#[cfg(feature = "sql")]
mod hints;
#[cfg(feature = "sql")]
mod raw_files;

use crate::args::sql::SqlArgs;
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::open::Opener;

#[cfg(feature = "sql")]
pub(crate) fn run(args: &SqlArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    engine::run(args, opener, console)
}

#[cfg(not(feature = "sql"))]
pub(crate) fn run(_: &SqlArgs, _: &Opener, _: &mut Console<'_>) -> Result<Exit> {
    Err(crate::error::CliError::failed("this dv was built without support for SQL")
        .hint("install it from a checkout: cargo install --path crates/cli --features sql,parquet"))
}
