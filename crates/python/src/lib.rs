//! The native part of the Python package `docvalues`: segments and stores, with Arrow in and out.
//!
//! | module | subject |
//! | --- | --- |
//! | `segment` `scan` `store` `write` | what Python calls |
//! | `store_options` | options of a store |
//! | `opened` | files and stores, with the numbers of documents over all of them |
//! | `rows` | documents as record batches |
//! | `answers` | facets, groups, histograms and statistics as tables |
//! | `arguments` | names of columns, sort keys, conditions, document numbers and ids |
//! | `table` | rows and schemas in memory |
//! | `python_values` | Python's lists as Arrow arrays, and back |
//! | `text` | IP addresses and UUIDs as text and as objects of Python, and back |
//! | `capsules` | Arrow's C data interface |
//! | `interrupt` | work without the GIL, Ctrl-C, forks |
//! | `errors` | exceptions |

mod answers;
mod arguments;
mod capsules;
mod errors;
mod interrupt;
mod opened;
mod python_values;
mod rows;
mod scan;
mod segment;
mod store;
mod store_options;
mod table;
mod text;
mod write;

use std::ffi::OsString;
use std::io::{BufWriter, stderr, stdout};

use docvalues_cli::Console;
use pyo3::prelude::*;

#[pymodule]
mod _docvalues {
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use crate::interrupt::_forked;
    #[pymodule_export]
    use crate::scan::Scan;
    #[pymodule_export]
    use crate::segment::{Segment, open};
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::table::{Schema, Table};
    #[pymodule_export]
    use crate::write::write;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command `dv`, whose name is the first argument, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> PyResult<u8> {
    interrupt::refuse_fork()?;
    Ok(py.detach(|| {
        let mut out = BufWriter::with_capacity(64 * 1024, stdout().lock());
        let mut err = stderr().lock();
        docvalues_cli::run(args, &mut Console::of_process(&mut out, &mut err)) as u8
    }))
}
