//! What several threads do side by side.

use std::ops::Range;
#[cfg(feature = "rayon")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::collector::Collector;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pass::{Pass, Worker};

/// Fewer are sorted, or copied, by one thread.
const FEW: usize = 1 << 14;

/// Fewer are sorted at once: a millisecond.
const SORTED: usize = 1 << 13;

/// Items that are copied, or counted, between two questions whether to stop.
pub(crate) const TOGETHER: usize = 1 << 16;

/// A pass: threads take chunks one after the other, each with a collector of its own; these are merged in the end.
pub(crate) fn run<C: Collector>(
    pass: &Pass<'_>,
    chunks: Range<u32>,
    threads: usize,
    mut first: C,
) -> Result<C> {
    let mut others: Vec<C> = (1..threads.min(chunks.len())).map(|_| first.fork()).collect();
    let collectors = std::iter::once(&mut first).chain(&mut others);
    let mut workers: Vec<_> = collectors.map(|collector| (collector, Worker::default())).collect();
    each(chunks, &mut workers, |(collector, worker), chunk| worker.chunk(pass, chunk, *collector))?;
    for other in others {
        first.merge(other, pass.stop)?;
    }
    Ok(first)
}

/// Threads, as many as there are `states`, take the items one after the other. Which gets which is not known before; if
/// some fail, the error of one of them is returned, and not all of the others may have been seen.
#[cfg(feature = "rayon")]
pub(crate) fn each<T: Send, S: Send>(
    items: impl Iterator<Item = T> + Send,
    states: &mut [S],
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    // No item once one of the threads has failed.
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

/// The first does it all.
#[cfg(not(feature = "rayon"))]
pub(crate) fn each<T, S>(
    mut items: impl Iterator<Item = T>,
    states: &mut [S],
    work: impl Fn(&mut S, T) -> Result<()>,
) -> Result<()> {
    let Some(state) = states.first_mut() else { return Ok(()) };
    items.try_for_each(|item| work(state, item))
}

/// What `work` makes of each of `works`, side by side.
#[cfg(feature = "rayon")]
pub(crate) fn map<T: Send, R: Send>(works: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if works.len() < 2 {
        return works.into_iter().map(work).collect();
    }
    works.into_par_iter().with_max_len(1).map(work).collect()
}

/// What `work` makes of each of `works`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map<T, R>(works: Vec<T>, work: impl Fn(T) -> R) -> Vec<R> {
    works.into_iter().map(work).collect()
}

/// Sorts, each half of the items by half of the threads: by the standard library, as one thread alone does.
///
/// # Errors
///
/// When the search is interrupted.
pub(crate) fn sort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt) -> Result<()> {
    if stop.is_possible() {
        return quicksort(items, threads, stop, 2 * items.len().max(1).ilog2());
    }
    sort_at_once(items, threads);
    Ok(())
}

#[cfg(feature = "rayon")]
fn sort_at_once<T: Ord + Send>(items: &mut [T], threads: usize) {
    if threads > 1 && items.len() >= FEW {
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

/// Sorts, and stops in the middle. Items that no pivot of `depth` parts are left to the standard library.
fn quicksort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt, depth: u32) -> Result<()> {
    stop.check()?;
    if items.len() < SORTED || depth == 0 {
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

/// Does both, side by side.
#[cfg(feature = "rayon")]
fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

/// Does both.
#[cfg(not(feature = "rayon"))]
fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// Puts an item about in the middle of the order at the place that is returned, none that is greater before it, and none
/// that is less after it (Hoare 1961).
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
        // One that is left equals the pivot.
        if low + 1 >= high {
            break;
        }
        rest.swap(low, high - 1);
        (low, high) = (low + 1, high - 1);
    }
    items.swap(0, low);
    Ok(low)
}

/// Writes what `get` makes of `from` to `to`.
///
/// # Errors
///
/// When the search is interrupted.
pub(crate) fn copy<T: Send, F: Sync>(
    to: &mut [T],
    from: &[F],
    threads: usize,
    stop: &Interrupt,
    get: impl Fn(&F) -> T + Sync + Send,
) -> Result<()> {
    let each = from.len().div_ceil(threads).max(FEW);
    let copied = map(to.chunks_mut(each).zip(from.chunks(each)).collect(), |(to, from)| {
        for (to, from) in to.chunks_mut(TOGETHER).zip(from.chunks(TOGETHER)) {
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
    fn each_item_is_done_once_by_any_number_of_threads() {
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
    fn of_several_errors_one_is_told_and_few_items_follow() {
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
    fn sorting_is_the_standard_librarys_and_may_be_interrupted() {
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
