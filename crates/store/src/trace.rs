//! Events for `tracing`, with the feature of that name; otherwise nothing.
//!
//! Some are emitted while the store is locked: a subscriber must not call it.

use std::path::Path;
use std::time::Instant;

use crate::error::Error;

/// Work that began at `since` and is done: batches at the level of traces, all other work at that of debugging.
#[inline]
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "without the feature"))]
pub(crate) fn done(folder: &Path, work: &str, since: Instant) {
    #[cfg(feature = "tracing")]
    {
        let (folder, elapsed) = (folder.display(), since.elapsed());
        match work {
            "apply" => tracing::trace!(work, %folder, ?elapsed, "done"),
            _ => tracing::debug!(work, %folder, ?elapsed, "done"),
        }
    }
}

/// Batches of a log that were applied when the store was opened.
#[inline]
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "without the feature"))]
pub(crate) fn replayed(folder: &Path, batches: u64) {
    #[cfg(feature = "tracing")]
    if batches > 0 {
        tracing::info!(folder = %folder.display(), batches, "applied the log");
    }
}

/// The failure of a background thread.
#[inline]
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "without the feature"))]
pub(crate) fn failed(folder: &Path, work: &str, error: &Error) {
    #[cfg(feature = "tracing")]
    tracing::error!(work, folder = %folder.display(), %error, "failed in the background");
}
