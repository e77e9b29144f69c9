//! Parallel execution: distribution of work, sorting and copying.
//!
//! All of it ends in [`in_parallel`], which takes a trait object: the code of `rayon` is compiled once.

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::interrupt::Interrupt;
use crate::error::Result;

/// The fewest items to sort or copy on several threads.
const MIN_PARALLEL: usize = 1 << 14;

/// The most items to sort without a poll of the interrupt flag: a millisecond.
const MAX_UNPOLLED_SORT: usize = 1 << 13;

/// Items to copy or count between two polls of the interrupt flag.
pub(crate) const POLL_EVERY: usize = 1 << 16;

/// Calls `work` this many times, in parallel.
fn in_parallel(times: usize, work: &(dyn Fn() + Sync)) {
    #[cfg(feature = "rayon")]
    if times > 1 {
        return rayon::scope(|scope| (0..times).for_each(|_| scope.spawn(|_| work())));
    }
    (0..times).for_each(|_| work());
}

/// Locks a mutex. A thread that panicked while it held the lock left what it guards unchanged.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Distributes items to threads, one for each of `states`. The assignment is not deterministic. If `work` fails, one
/// of the errors is returned, and the remaining items may be skipped.
pub(crate) fn each<T: Send, S: Send>(
    items: impl Iterator<Item = T> + Send,
    states: &mut [S],
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    // No more items after a failure.
    let (left, threads) = (Mutex::new(Ok(items.fuse())), states.len());
    let next = || lock(&left).as_mut().ok().and_then(Iterator::next);
    let idle = Mutex::new(states.iter_mut());
    in_parallel(threads, &|| {
        let Some(state) = lock(&idle).next() else { return };
        while let Some(item) = next() {
            if let Err(error) = work(state, item) {
                let mut left = lock(&left);
                if left.is_ok() {
                    *left = Err(error);
                }
            }
        }
    });
    left.into_inner().unwrap_or_else(PoisonError::into_inner).map(drop)
}

/// Maps `works` in parallel.
pub(crate) fn map<T: Send, R: Send>(works: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let mut results: Vec<Option<R>> = works.iter().map(|_| None).collect();
    let mut threads = vec![(); works.len()];
    // The work cannot fail.
    let _ = each(works.into_iter().zip(&mut results), &mut threads, |(), (item, result)| {
        *result = Some(work(item));
        Ok(())
    });
    results.into_iter().flatten().collect()
}

/// Sorts in parallel; with one thread and no interrupt flag, by the standard library alone.
///
/// # Errors
///
/// If the search is interrupted.
pub(crate) fn sort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt) -> Result<()> {
    quicksort(items, threads, stop, 2 * items.len().max(1).ilog2())
}

/// Quicksort that polls the interrupt flag. The standard library sorts the rest if that takes at most a millisecond, if
/// there is neither a flag nor a thread left, and after `depth` bad pivots.
fn quicksort<T: Ord + Send>(items: &mut [T], threads: usize, stop: &Interrupt, depth: u32) -> Result<()> {
    stop.check()?;
    let most = match (stop.is_possible(), threads) {
        (true, _) => MAX_UNPOLLED_SORT,
        (false, 0 | 1) => usize::MAX,
        (false, _) => MIN_PARALLEL,
    };
    if items.len() < most || depth == 0 {
        items.sort_unstable();
        return Ok(());
    }
    let at = partition(items, stop)?;
    let (less, greater) = items.split_at_mut(at);
    let (fewer, more) = (threads / 2, threads - threads / 2);
    let mut less = || quicksort(less, fewer, stop, depth - 1);
    let mut greater = || quicksort(&mut greater[1..], more, stop, depth - 1);
    let halves: Vec<&mut (dyn FnMut() -> Result<()> + Send)> = vec![&mut less, &mut greater];
    if threads > 1 {
        return map(halves, |half| half()).into_iter().collect();
    }
    halves.into_iter().try_for_each(|half| half())
}

/// Hoare's partition (1961): moves an item near the median to the returned position, lesser items before it and
/// greater ones after.
fn partition<T: Ord>(items: &mut [T], stop: &Interrupt) -> Result<usize> {
    const SAMPLE: usize = 31;
    let mut sample: Vec<usize> = (0..SAMPLE).map(|at| at * (items.len() - 1) / (SAMPLE - 1)).collect();
    sort_indices(&mut sample, &|a, b| items[a].cmp(&items[b]));
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

/// Sorts indices by a comparison. Not generic: sorts are long, and this one is short of work.
fn sort_indices(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_unstable_by(|a, b| compare(*a, *b));
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
    if from.len() <= MIN_PARALLEL {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = get(from));
        return Ok(());
    }
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
        let process = |threads: usize| {
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
        };
        for threads in [1, 2, 8] {
            process(threads);
        }
        // One after the other, as without `rayon`.
        #[cfg(feature = "rayon")]
        rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| process(8));
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
