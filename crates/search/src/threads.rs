//! Parallel execution: passes, sorting and copying.

#[cfg(feature = "rayon")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::collector::Collector;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pass::{Pass, Worker};

/// The fewest items to sort or copy on several threads.
const MIN_PARALLEL: usize = 1 << 14;

/// The most items to sort without a poll of the interrupt flag: a millisecond.
const MAX_UNPOLLED_SORT: usize = 1 << 13;

/// Items to copy or count between two polls of the interrupt flag.
pub(crate) const POLL_EVERY: usize = 1 << 16;

/// Runs a pass: threads take the next free chunk, each with its own collector. The collectors are merged at the end.
pub(crate) fn run<C: Collector>(pass: &Pass<'_>, threads: usize, mut first: C) -> Result<C> {
    let chunks = pass.chunks().take(threads).count();
    let mut others: Vec<C> = (1..chunks).map(|_| first.fork()).collect();
    let collectors = std::iter::once(&mut first).chain(&mut others);
    let mut workers: Vec<_> = collectors.map(|collector| (collector, Worker::default())).collect();
    each(pass.chunks(), &mut workers, |(collector, worker), chunk| worker.chunk(pass, chunk, *collector))?;
    workers.into_iter().try_for_each(|(collector, mut worker)| worker.finish(pass, collector))?;
    for other in others {
        first.merge(other, pass.stop)?;
    }
    Ok(first)
}

/// Distributes items to threads, one for each of `states`. The assignment is not deterministic. If `work` fails, one
/// of the errors is returned, and the remaining items may be skipped.
#[cfg(feature = "rayon")]
pub(crate) fn each<T: Send, S: Send>(
    items: impl Iterator<Item = T> + Send,
    states: &mut [S],
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    // No more items after a failure.
    let left = Mutex::new(Ok(items.fuse()));
    let lock = || left.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || lock().as_mut().ok().and_then(Iterator::next);
    let all = |state: &mut S| {
        while let Some(item) = next() {
            if let Err(error) = work(state, item) {
                let mut left = lock();
                if left.is_ok() {
                    *left = Err(error);
                }
            }
        }
    };
    match states {
        [state] => all(state),
        states => rayon::scope(|scope| states.iter_mut().for_each(|state| scope.spawn(|_| all(state)))),
    }
    left.into_inner().unwrap_or_else(PoisonError::into_inner).map(drop)
}

/// Processes all items with the first state.
#[cfg(not(feature = "rayon"))]
pub(crate) fn each<T, S>(
    mut items: impl Iterator<Item = T>,
    states: &mut [S],
    work: impl Fn(&mut S, T) -> Result<()>,
) -> Result<()> {
    let Some(state) = states.first_mut() else { return Ok(()) };
    items.try_for_each(|item| work(state, item))
}

/// Maps `works` in parallel.
#[cfg(feature = "rayon")]
pub(crate) fn map<T: Send, R: Send>(works: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if works.len() < 2 {
        return works.into_iter().map(work).collect();
    }
    works.into_par_iter().with_max_len(1).map(work).collect()
}

/// Maps `works`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map<T, R>(works: Vec<T>, work: impl Fn(T) -> R) -> Vec<R> {
    works.into_iter().map(work).collect()
}

/// Sorts in parallel; with one thread, by the standard library alone.
///
/// # Errors
///
/// If the search is interrupted.
pub(crate) fn sort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt) -> Result<()> {
    if stop.is_possible() {
        return quicksort(items, threads, stop, 2 * items.len().max(1).ilog2());
    }
    sort_at_once(items, threads);
    Ok(())
}

#[cfg(feature = "rayon")]
fn sort_at_once<T: Ord + Send>(items: &mut [T], threads: usize) {
    if threads > 1 && items.len() >= MIN_PARALLEL {
        let (less, _, greater) = items.select_nth_unstable(items.len() / 2);
        rayon::join(|| sort_at_once(less, threads / 2), || sort_at_once(greater, threads - threads / 2));
    } else {
        items.sort_unstable();
    }
}

#[cfg(not(feature = "rayon"))]
fn sort_at_once<T: Ord>(items: &mut [T], _threads: usize) {
    items.sort_unstable();
}

/// Quicksort that polls the interrupt flag. After `depth` bad pivots, the standard library takes over.
fn quicksort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt, depth: u32) -> Result<()> {
    stop.check()?;
    if items.len() < MAX_UNPOLLED_SORT || depth == 0 {
        items.sort_unstable();
        return Ok(());
    }
    let at = partition(items, stop)?;
    let (less, greater) = items.split_at_mut(at);
    let (fewer, more) = (threads / 2, threads - threads / 2);
    let mut less = || quicksort(less, fewer, stop, depth - 1);
    let mut greater = || quicksort(&mut greater[1..], more, stop, depth - 1);
    if threads > 1 {
        let (less, greater) = join(less, greater);
        return less.and(greater);
    }
    less()?;
    greater()
}

/// Runs both in parallel.
#[cfg(feature = "rayon")]
fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

/// Runs both.
#[cfg(not(feature = "rayon"))]
fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// Hoare's partition (1961): moves an item near the median to the returned position, lesser items before it and
/// greater ones after.
fn partition<T: Ord>(items: &mut [T], stop: &Interrupt) -> Result<usize> {
    const SAMPLE: usize = 31;
    let mut sample: Vec<usize> = (0..SAMPLE).map(|at| at * (items.len() - 1) / (SAMPLE - 1)).collect();
    sample.sort_unstable_by(|a, b| items[*a].cmp(&items[*b]));
    items.swap(0, sample[SAMPLE / 2]);
    let Some((pivot, rest)) = items.split_first_mut() else { return Ok(0) };
    let (mut low, mut high, mut pace) = (0, rest.len(), stop.pace());
    loop {
        while low < high && rest[low] < *pivot {
            pace.step()?;
            low += 1;
        }
        while low < high && rest[high - 1] > *pivot {
            pace.step()?;
            high -= 1;
        }
        // A single remaining item equals the pivot.
        if low + 1 >= high {
            break;
        }
        rest.swap(low, high - 1);
        (low, high) = (low + 1, high - 1);
    }
    items.swap(0, low);
    Ok(low)
}

/// Writes `get` of each item of `from` to `to`, in parallel.
///
/// # Errors
///
/// If the search is interrupted.
pub(crate) fn copy<T: Send, F: Sync>(
    to: &mut [T],
    from: &[F],
    threads: usize,
    stop: &Interrupt,
    get: impl Fn(&F) -> T + Sync + Send,
) -> Result<()> {
    let each = from.len().div_ceil(threads).max(MIN_PARALLEL);
    let copied = map(to.chunks_mut(each).zip(from.chunks(each)).collect(), |(to, from)| {
        for (to, from) in to.chunks_mut(POLL_EVERY).zip(from.chunks(POLL_EVERY)) {
            stop.check()?;
            to.iter_mut().zip(from).for_each(|(to, from)| *to = get(from));
        }
        Ok(())
    });
    copied.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn each_item_is_processed_once_by_any_number_of_threads() {
        for threads in [1, 2, 8] {
            let mut bits = vec![0_u64; 1_000];
            let mut sums = vec![0; threads];
            each((1..).zip(bits.iter_mut()), &mut sums, |sum, (at, bit)| {
                *bit += 1;
                *sum += at;
                Ok(())
            })
            .unwrap();
            assert_eq!(sums.iter().sum::<u64>(), 500_500, "{threads} threads");
            assert!(bits.iter().all(|bit| *bit == 1));
        }
    }

    #[test]
    fn one_of_several_errors_is_returned_and_work_stops_soon() {
        for threads in [1, 2, 8] {
            let mut done = vec![0; threads];
            let failed = each(0..1_000_000, &mut done, |done, item| {
                *done += 1;
                if item % 10 == 9 { Err(Error::Request(item.to_string())) } else { Ok(()) }
            });
            let Err(Error::Request(item)) = failed else { panic!("{failed:?}") };
            assert!(item.ends_with('9'), "{item}");
            assert!(done.iter().sum::<u64>() < 1_000, "{done:?}");
        }
    }

    #[test]
    fn sorts_like_the_standard_library_and_can_be_interrupted() {
        let mut random = docvalues_testkit::rng::SplitMix64::new(7);
        let shapes: [fn(u32, u32) -> u32; 5] =
            [|_, random| random, |at, _| at, |at, _| u32::MAX - at, |at, _| at % 3, |_, _| 7];
        for (shape, threads) in shapes.iter().flat_map(|shape| [(shape, 1), (shape, 8)]) {
            let items: Vec<u32> = (0..100_000).map(|at| shape(at, random.below_u32(u32::MAX))).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            for stop in [Interrupt::default(), Interrupt::new(|| false)] {
                let mut sorted = items.clone();
                sort(&mut sorted, threads, &stop).unwrap();
                assert!(sorted == expected, "{threads} threads");
            }
            let mut stopped = items.clone();
            assert!(matches!(sort(&mut stopped, threads, &Interrupt::new(|| true)), Err(Error::Interrupted)));
            let asked = std::sync::atomic::AtomicUsize::new(0);
            let later = Interrupt::new(move || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 20);
            assert!(matches!(sort(&mut stopped, threads, &later), Err(Error::Interrupted)));
            stopped.sort_unstable();
            assert!(stopped == expected, "nothing is lost");
        }
    }
}
