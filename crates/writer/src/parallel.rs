//! [`map_in_order`]: encodes columns, or groups of strings, in parallel, and returns the results in order.
//!
//! ```text
//! columns by name   a b c d e | f g ...     some are started ahead of the next one to return,
//!                     |   |                 the heaviest first, so that none is left for the end
//! threads             b   d
//!                   |
//! caller's thread   a, as soon as it is done; then f is started
//! ```
//!
//! A result that is done early waits where it was encoded: in memory, where it replaces its larger values, or in the
//! temporary file if these were spilled. So waiting takes no additional memory, and nothing is written twice.
//!
//! The groups of a column are jobs of the thread that encodes it, and of threads that have no column left.

/// The threads besides the caller's.
#[cfg(feature = "rayon")]
pub(crate) use rayon::ThreadPool as Pool;

/// The threads besides the caller's, of which there are none.
#[cfg(not(feature = "rayon"))]
#[derive(Debug)]
pub(crate) enum Pool {}

/// The most threads. rayon starts up to 65,535, which no machine has room for.
const MOST: usize = 1_024;

/// The number of threads for the option `threads`; 0 is the available parallelism of this machine.
pub(crate) fn count(threads: usize) -> usize {
    match threads {
        _ if cfg!(not(feature = "rayon")) => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads.min(MOST),
    }
}

/// Starts threads. `None` for one thread, which is the caller's, and if they cannot be started. `None` also for a caller that is a
/// thread of another pool: while it waits for these threads, it would do other work of that pool, and wait forever if the work
/// needs a lock that it has.
#[cfg(feature = "rayon")]
pub(crate) fn pool(threads: usize) -> Option<Pool> {
    if threads <= 1 || rayon::current_thread_index().is_some() {
        return None;
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()
}

/// Starts no threads.
#[cfg(not(feature = "rayon"))]
pub(crate) fn pool(_threads: usize) -> Option<Pool> {
    None
}

/// Calls `done` with the result of `encode` for each job, in order.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map_in_order<J, E, X>(
    _pool: Option<&Pool>,
    _ahead: usize,
    jobs: impl Iterator<Item = J>,
    _weight: impl Fn(&J) -> usize,
    encode: impl Fn(J) -> E,
    mut done: impl FnMut(E) -> Result<(), X>,
) -> Result<(), X> {
    jobs.map(encode).try_for_each(&mut done)
}

/// Calls `done` with the result of `encode` for each job, in order. For each thread of `pool`, at most `ahead` jobs are
/// started and not returned.
#[cfg(feature = "rayon")]
pub(crate) fn map_in_order<J: Send, E: Send, X>(
    pool: Option<&Pool>,
    ahead: usize,
    mut jobs: impl Iterator<Item = J>,
    weight: impl Fn(&J) -> usize,
    encode: impl Fn(J) -> E + Sync,
    mut done: impl FnMut(E) -> Result<(), X>,
) -> Result<(), X> {
    use std::collections::VecDeque;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
    use std::sync::{Mutex, PoisonError};

    let Some(pool) = pool else { return jobs.map(encode).try_for_each(done) };
    let ahead = ahead * pool.current_num_threads();
    let begun: Mutex<Vec<(usize, J, SyncSender<E>)>> = Mutex::default();
    let failed = AtomicBool::new(false);
    let next = || {
        let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
        let heaviest = (0..begun.len()).max_by_key(|&i| begun[i].0)?;
        Some(begun.swap_remove(heaviest))
    };
    let wait = |receiver: Receiver<E>| loop {
        match receiver.try_recv() {
            // A thread of the pool does jobs itself until another thread has the last of those that it waits for.
            Err(TryRecvError::Empty) if pool.yield_local() == Some(rayon::Yield::Executed) => {}
            Err(TryRecvError::Empty) => return receiver.recv().ok(),
            received => return received.ok(),
        }
    };
    pool.in_place_scope(|scope| {
        let mut waiting = VecDeque::new();
        loop {
            while waiting.len() < ahead
                && let Some(job) = jobs.next()
            {
                let (sender, receiver) = sync_channel(1);
                begun.lock().unwrap_or_else(PoisonError::into_inner).push((weight(&job), job, sender));
                waiting.push_back(receiver);
                scope.spawn(|_| {
                    if let Some((_, job, sender)) = next().filter(|_| !failed.load(Ordering::Relaxed)) {
                        let _ = sender.send(encode(job));
                    }
                });
            }
            // A job that panics sends nothing; the scope propagates its panic.
            let Some(encoded) = waiting.pop_front().and_then(wait) else { return Ok(()) };
            done(encoded).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
    })
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn threads_are_not_too_many() {
        assert_eq!([1, 8, MOST, usize::MAX].map(count), [1, 8, MOST, MOST]);
    }

    #[test]
    fn jobs_are_handed_over_in_their_order_and_few_at_a_time() {
        for (threads, ahead) in [(1, 1), (2, 1), (2, 2), (3, 33), (8, 2)] {
            let (begun, mut handed_over) = (AtomicUsize::new(0), Vec::new());
            let encode = |job: usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                if job.is_multiple_of(7) {
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
                job
            };
            map_in_order(
                pool(threads).as_ref(),
                ahead,
                0..200,
                |job| job % 5,
                encode,
                |job| {
                    assert!(begun.load(Ordering::SeqCst) - handed_over.len() <= ahead * threads);
                    handed_over.push(job);
                    Ok::<(), Error>(())
                },
            )
            .unwrap();
            assert_eq!(handed_over, (0..200).collect::<Vec<_>>());
        }
    }

    /// The jobs of jobs have no threads of their own.
    #[test]
    fn jobs_of_jobs_share_the_threads() {
        for threads in [1, 2, 3, 8] {
            let (pool, running) = (pool(threads), AtomicUsize::new(0));
            let inner = |job: usize| {
                assert!(running.fetch_add(1, Ordering::SeqCst) < threads);
                std::thread::sleep(std::time::Duration::from_micros(50));
                running.fetch_sub(1, Ordering::SeqCst);
                job
            };
            let outer = |job: usize| {
                let mut found = Vec::new();
                map_in_order(
                    pool.as_ref(),
                    2,
                    job * 100..job * 101,
                    |job| usize::MAX - job,
                    inner,
                    |job| {
                        found.push(job);
                        Ok::<(), Error>(())
                    },
                )
                .map(|()| found)
            };
            let mut found = Vec::new();
            map_in_order(
                pool.as_ref(),
                4,
                0..40,
                |job| *job,
                outer,
                |jobs| {
                    found.extend(jobs?);
                    Ok::<(), Error>(())
                },
            )
            .unwrap();
            assert_eq!(found, (0..40).flat_map(|job| job * 100..job * 101).collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_an_error_nothing_is_begun() {
        let begun = AtomicUsize::new(0);
        let encode = |job: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            job
        };
        let refused = map_in_order(
            pool(2).as_ref(),
            2,
            0..1_000,
            |_| 0,
            encode,
            |job| match job {
                10 => Err(Error::new(ErrorKind::UnknownField)),
                _ => Ok(()),
            },
        );
        assert!(refused.is_err());
        assert!(begun.into_inner() <= 15);
    }

    /// Such as work that needs a lock of the caller.
    #[test]
    fn a_thread_of_another_pool_does_no_other_work_meanwhile() {
        let begun = AtomicUsize::new(0);
        let other = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let meanwhile = other.scope(|scope| {
            scope.spawn(|_| {
                begun.fetch_add(1, Ordering::SeqCst);
            });
            let encode = |job: u64| std::thread::sleep(std::time::Duration::from_millis(20 * job));
            // The first job fails, while the second runs.
            let done = |()| Err(Error::new(ErrorKind::UnknownField));
            map_in_order(pool(2).as_ref(), 2, 0..3, |_| 0, encode, done).unwrap_err();
            begun.load(Ordering::SeqCst)
        });
        assert_eq!((meanwhile, begun.into_inner()), (0, 1));
    }

    #[test]
    #[should_panic(expected = "job 7")]
    fn a_panic_goes_on() {
        let encode = |job: usize| assert!(job != 7, "job {job}");
        map_in_order(pool(2).as_ref(), 2, 0..20, |_| 0, encode, |()| Ok::<(), Error>(())).unwrap();
    }
}
