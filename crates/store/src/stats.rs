//! [`StoreStats`]: the contents of a store, and the time of its work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::log::LogStats;

/// A number of operations, and the time that they took altogether: see [`StoreStats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The number of operations.
    pub count: u64,
    /// The time, of all threads together.
    pub time: Duration,
}

/// The contents of a store, and the time of its work since it was opened: [`Store::stats`](crate::Store::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// The number of segments, at most 32,767.
    pub segments: usize,
    /// The number of live documents.
    pub docs: u64,
    /// The number of documents in memory that are in no segment, live or not.
    pub buffered_docs: u64,
    /// The memory of the buffer, in bytes. Above half of [`buffer_bytes`](crate::StoreOptions::buffer_bytes), it is written.
    pub buffer_bytes: usize,
    /// The memory of what is being written to a segment, in bytes.
    pub sealed_bytes: usize,
    /// The memory of new values of documents in segments, in bytes. A merge of these segments frees it.
    pub updates_bytes: usize,
    /// The memory of the table of all ids, in bytes, without that of a larger one that is being prepared; 0 as long as ids are looked up by the filters of the segments.
    pub table_bytes: usize,
    /// The number of deletions that are remembered with their versions.
    pub remembered_deletes: usize,
    /// The batches that no snapshot has yet.
    pub unpublished: u64,
    /// The batches that no commit has yet.
    pub uncommitted: u64,
    /// Batches applied.
    pub applied: Work,
    /// The time that batches waited for each other to be put into the buffer.
    pub waited: Duration,
    /// Snapshots published.
    pub refreshes: Work,
    /// Buffers written to segments.
    pub flushes: Work,
    /// Merges.
    pub merges: Work,
    /// Commits.
    pub commits: Work,
    /// The counts of the log; zeros without one.
    pub log: LogStats,
}

/// Counts something that is done by several threads.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Counter {
    /// Counts what began at `since` and is done.
    pub(crate) fn add(&self, since: Instant) {
        let elapsed = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(elapsed, Relaxed);
    }

    /// How often, and for how long.
    pub(crate) fn work(&self) -> Work {
        let time = Duration::from_nanos(self.nanoseconds.load(Relaxed));
        Work { count: self.count.load(Relaxed), time }
    }
}

/// The counters of a store.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) applied: Counter,
    pub(crate) waited: Counter,
    pub(crate) refreshes: Counter,
    pub(crate) flushes: Counter,
    pub(crate) merges: Counter,
    pub(crate) commits: Counter,
}
