//! `dv man`: pages of the manual.

#[cfg(feature = "man")]
mod pages;

use crate::args::shell::ManArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};

#[cfg(feature = "man")]
pub(crate) fn run(args: &ManArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    pages::run(args, console)
}

#[cfg(not(feature = "man"))]
pub(crate) fn run(_: &ManArgs, _: &mut Console<'_>) -> Result<Exit, CliError> {
    Err(CliError::failed("this dv was built without pages of the manual; --help has the same text")
        .hint("install it from a checkout: cargo install --path crates/cli --features man"))
}
