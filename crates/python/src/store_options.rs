//! Options of a store.

use std::time::Duration;

use docvalues::WriterOptions;
use docvalues::store::{Durability, KeepCommits, StoreOptions};
use pyo3::prelude::*;

use crate::errors::{Result, argument, wrong_type};

/// When changes are on disk: "batch", "commit", or within so many seconds.
pub(crate) enum OnDisk {
    Name(String),
    Within(f64),
}

impl<'py> FromPyObject<'_, 'py> for OnDisk {
    type Error = PyErr;

    fn extract(when: Borrowed<'_, 'py, PyAny>) -> PyResult<OnDisk> {
        if let Ok(name) = when.extract::<String>() {
            return Ok(OnDisk::Name(name));
        }
        let expected = "the durability batch, commit or a number of seconds";
        when.extract::<f64>().map(OnDisk::Within).map_err(|_| wrong_type(expected, &when))
    }
}

/// The options of a store that creates or opens it.
pub(crate) fn options(
    on_disk: &OnDisk,
    keep_commits: Option<usize>,
    buffer: Option<usize>,
) -> Result<StoreOptions> {
    let durability = match on_disk {
        OnDisk::Name(name) if name == "commit" => Durability::OnCommit,
        OnDisk::Name(name) if name == "batch" => Durability::EachBatch,
        OnDisk::Within(seconds) if *seconds > 0.0 => {
            let span = Duration::try_from_secs_f64(*seconds);
            Durability::Within(span.map_err(|error| argument(format!("durability: {error}")))?)
        }
        _ => return Err(argument("expected the durability batch, commit or a number of seconds")),
    };
    let mut options = StoreOptions::new().durability(durability).writer(WriterOptions::new().threads(0));
    options.keep_commits = keep_commits.map(KeepCommits::Newest);
    options.buffer_bytes = buffer.unwrap_or(options.buffer_bytes);
    Ok(options)
}
