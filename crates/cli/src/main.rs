//! The process around [`docvalues_cli::run`].

use std::io::{BufWriter, stderr, stdout};
use std::process::ExitCode;

use docvalues_cli::{Console, run};

fn main() -> ExitCode {
    let mut out = BufWriter::with_capacity(64 * 1024, stdout().lock());
    let mut err = stderr().lock();
    let exit = run(std::env::args_os(), &mut Console::of_process(&mut out, &mut err));
    ExitCode::from(exit as u8)
}
