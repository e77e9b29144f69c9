//! [`StoreStats`]: the contents of a store, and the time of its work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::log::LogStats;
use crate::store::Store;
use crate::trace;

/// How often something was done, and the time that it took altogether.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often.
    pub count: u64,
    /// The time, of all threads together.
    pub time: Duration,
}

/// The contents of a store, and the time of its work since it was opened: [`Store::stats`].
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
    /// What was written to the log; nothing without one.
    pub log: LogStats,
}

/// Counts something that is done by several threads.
#[derive(Debug)]
pub(crate) struct Counter {
    /// A verb.
    work: &'static str,
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

    fn of(work: &'static str) -> Counter {
        Counter { work, count: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) }
    }

    fn work(&self) -> Work {
        let time = Duration::from_nanos(self.nanoseconds.load(Relaxed));
        Work { count: self.count.load(Relaxed), time }
    }
}

/// The counters of a store.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) applied: Counter,
    pub(crate) waited: Counter,
    pub(crate) refreshes: Counter,
    pub(crate) flushes: Counter,
    pub(crate) merges: Counter,
    pub(crate) commits: Counter,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            applied: Counter::of("apply"),
            waited: Counter::of("wait"),
            refreshes: Counter::of("refresh"),
            flushes: Counter::of("flush"),
            merges: Counter::of("merge"),
            commits: Counter::of("commit"),
        }
    }
}

impl Store {
    /// Counts work that began at `since` and is done.
    pub(crate) fn note_done(&self, counter: &Counter, since: Instant) {
        counter.add(since);
        trace::done(self.directory.path(), counter.work, since);
    }

    /// The contents of the store now, and the time of its work since it was opened. O(segments).
    ///
    /// # Errors
    ///
    /// If the store cannot be written any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// batch.upsert().finish()?;
    /// store.apply(batch)?;
    /// let stats = store.stats()?;
    /// assert_eq!((stats.buffered_docs, stats.unpublished, stats.uncommitted), (1, 1, 1));
    /// assert_eq!((stats.applied.count, stats.docs), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Result<StoreStats> {
        let published = self.snapshot();
        let counters = &self.counters;
        self.change_quietly(|writer| {
            let (mut docs, mut buffered_docs, mut updates_bytes) = (0, 0, 0);
            for state in &writer.segments {
                docs += u64::from(state.now.live.count());
                updates_bytes += state.now.heap();
            }
            for block in writer.blocks() {
                docs += u64::from(block.live.count());
                buffered_docs += u64::from(block.docs.docs());
            }
            Ok(StoreStats {
                segments: writer.segments.len(),
                docs,
                buffered_docs,
                buffer_bytes: writer.buffer.bytes(),
                sealed_bytes: writer.sealed_bytes(),
                updates_bytes,
                table_bytes: self.ids.table_bytes(),
                remembered_deletes: writer.tombstones.len(),
                unpublished: writer.sequence - published.sequence(),
                uncommitted: writer.sequence - writer.committed.sequence,
                applied: counters.applied.work(),
                waited: counters.waited.work().time,
                refreshes: counters.refreshes.work(),
                flushes: counters.flushes.work(),
                merges: counters.merges.work(),
                commits: counters.commits.work(),
                log: self.log.as_ref().map(|log| log.stats()).unwrap_or_default(),
            })
        })
    }
}
