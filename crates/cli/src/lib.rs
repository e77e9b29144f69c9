//! `dv`: docvalues segments from the shell.
#![allow(dead_code, unused_imports, reason = "the subcommands that use the input side come with the writer")]

mod input;
mod number;
mod output;
mod spelling;
mod store;
mod time;
