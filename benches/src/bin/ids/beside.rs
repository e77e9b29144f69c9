//! Work beside look-ups.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use docvalues::store::{Outcome as Applied, Store, StoreOptions};
use docvalues_benches::ingest::{IngestDoc, batch, store_schema};

use super::grid::Pace;
use super::serve::{A_SECOND, BULK};
use crate::Outcome;

/// A thread that works until this is dropped.
struct Worker {
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn start(work: impl FnOnce(&AtomicBool) + Send + 'static) -> Worker {
        let is_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_ended);
        Worker { is_ended, thread: Some(std::thread::spawn(move || work(&ended))) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(
            std::thread::panicking() || matches!(joined, None | Some(Ok(()))),
            "work beside look-ups failed"
        );
    }
}

/// A thread that adds documents with new ids to a store, in bulks, and makes them visible each second.
pub(crate) struct Ingest {
    count: Arc<AtomicU64>,
    _worker: Worker,
    _folder: tempfile::TempDir,
}

impl Ingest {
    pub(crate) fn start(folder: &Path, pace: Pace) -> Outcome<Ingest> {
        let folder = tempfile::tempdir_in(folder)?;
        let options = StoreOptions::new().refresh_every(Duration::from_secs(1));
        let store = Store::create(folder.path().join("beside"), store_schema(true), options)?;
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let worker = Worker::start(move |ended| {
            let start = Instant::now();
            for bulk in 0.. {
                if pace == Pace::Paced {
                    let due = Duration::from_secs(1) * bulk / A_SECOND;
                    std::thread::sleep(due.saturating_sub(start.elapsed()));
                }
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let docs = bulk * BULK..(bulk + 1) * BULK;
                let docs: Vec<_> =
                    docs.map(|doc| (IngestDoc::new(doc), IngestDoc::id(doc), i64::from(doc))).collect();
                let applied = store.apply(batch(&store, &docs, true)).expect("a disk with room");
                assert!(applied.outcomes.iter().all(|outcome| *outcome == Applied::Added), "another outcome");
                counted.fetch_add(BULK.into(), Ordering::Relaxed);
            }
        });
        Ok(Ingest { count, _worker: worker, _folder: folder })
    }

    /// The number of documents so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// The number of floats of a vector.
const DIMENSIONS: usize = 768;

/// Threads that search the nearest of 64 MiB of vectors, each again and again, by reading them all.
pub(crate) struct Searches {
    count: Arc<AtomicU64>,
    _workers: Vec<Worker>,
}

impl Searches {
    pub(crate) fn start(vectors: &Arc<Vec<f32>>, threads: u32) -> Searches {
        let count = Arc::new(AtomicU64::new(0));
        let workers = (0..threads).map(|thread| {
            let (vectors, count) = (Arc::clone(vectors), Arc::clone(&count));
            Worker::start(move |ended| {
                let query: Vec<f32> = (0..DIMENSIONS).map(|at| (at as f32 + thread as f32).sin()).collect();
                while !ended.load(Ordering::Relaxed) {
                    black_box(nearest(&vectors, &query));
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let workers = workers.collect();
        Searches { count, _workers: workers }
    }

    /// The number of searches so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// 64 MiB of vectors.
pub(crate) fn vectors() -> Vec<f32> {
    let count = (64 << 20) / size_of::<f32>() / DIMENSIONS;
    (0..count * DIMENSIONS).map(|at| ((at % 1_009) as f32 / 1_009.0) - 0.5).collect()
}

/// The greatest dot product of the query and a vector.
pub(crate) fn nearest(vectors: &[f32], query: &[f32]) -> f32 {
    vectors.chunks_exact(DIMENSIONS).map(|vector| dot(vector, query)).fold(f32::MIN, f32::max)
}

/// In sixteen sums, so that the compiler uses vectors.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 16];
    let ((a, _), (b, _)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_vector_is_found() {
        let query: Vec<f32> = (0..DIMENSIONS).map(|at| (at % 7) as f32).collect();
        let length: f32 = query.iter().map(|x| x * x).sum();
        let mut vectors = vec![0.0; 3 * DIMENSIONS];
        vectors[DIMENSIONS..2 * DIMENSIONS].copy_from_slice(&query);
        assert!((nearest(&vectors, &query) - length).abs() < 1.0);
        assert_eq!(super::vectors().len() % DIMENSIONS, 0);
    }

    #[test]
    fn ingest_adds_documents() {
        let folder = tempfile::tempdir().unwrap();
        let ingest = Ingest::start(folder.path(), Pace::Unpaced).unwrap();
        let start = Instant::now();
        while ingest.count() < 1_000 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(ingest.count() >= 1_000);
    }
}
