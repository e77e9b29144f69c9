//! What several threads do side by side.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::pass::{Collector, Pass, Worker};

/// Fewer are sorted, or copied, by one thread.
#[cfg(feature = "rayon")]
const FEW: usize = 1 << 14;

/// A pass: threads take the parts one after the other, each with a collector of its own; these are merged in the end.
pub(crate) fn run<C: Collector>(pass: &Pass<'_>, parts: Range<u32>, mut first: C) -> Result<C> {
    let next = AtomicU32::new(parts.start);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let mut others: Vec<C> = (1..pass.threads.min(parts.len())).map(|_| first.fork()).collect();
    let work = |collector: &mut C| {
        let mut worker = Worker::default();
        let mut part = next.fetch_add(1, Ordering::Relaxed);
        while part < parts.end {
            if let Err(error) = worker.part(pass, part, collector) {
                // The others stop at their next part.
                next.store(parts.end, Ordering::Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            part = next.fetch_add(1, Ordering::Relaxed);
        }
    };
    side_by_side(std::iter::once(&mut first).chain(&mut others).collect(), work);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => {
            others.into_iter().for_each(|other| first.merge(other));
            Ok(first)
        }
    }
}

/// Does `work` to all items: threads, one for each of `states`, take one after the other. Which thread gets which items is
/// not known before; if some fail, the error of one of them is returned, and not all of the others may have been seen.
pub(crate) fn share<S: Send, I: Send>(
    states: &mut [S],
    mut items: impl Iterator<Item = I> + Send,
    work: impl Fn(&mut S, I) -> Result<()> + Sync,
) -> Result<()> {
    if let [state] = states {
        return items.try_for_each(|item| work(state, item));
    }
    let items = Mutex::new(items.fuse());
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let locked = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |state: &mut S| {
        // The others stop at their next item.
        while let Some(item) = next().filter(|_| locked().is_none()) {
            if let Err(error) = work(state, item) {
                locked().get_or_insert(error);
            }
        }
    };
    side_by_side(states.iter_mut().collect(), work);
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(feature = "rayon")]
fn side_by_side<C: Send>(collectors: Vec<&mut C>, work: impl Fn(&mut C) + Sync) {
    rayon::scope(|scope| {
        for collector in collectors {
            scope.spawn(|_| work(collector));
        }
    });
}

/// The first does it all.
#[cfg(not(feature = "rayon"))]
fn side_by_side<C>(collectors: Vec<&mut C>, work: impl Fn(&mut C)) {
    collectors.into_iter().for_each(work);
}

/// What `work` makes of so many stretches of `items`, in order.
#[cfg(feature = "rayon")]
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&[T]) -> R + Sync + Send,
) -> Vec<R> {
    items.par_chunks(items.len().div_ceil(threads).max(1)).map(work).collect()
}

/// What `work` makes of all items.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map<T, R>(items: &[T], _threads: usize, work: impl Fn(&[T]) -> R) -> Vec<R> {
    vec![work(items)]
}

/// Sorts, each half of the items by half of the threads: by the standard library, as one thread alone does.
#[cfg(feature = "rayon")]
pub(crate) fn sort<T: Ord + Send>(items: &mut [T], threads: usize) {
    if threads > 1 && items.len() >= FEW {
        let (less, _, greater) = items.select_nth_unstable(items.len() / 2);
        rayon::join(|| sort(less, threads / 2), || sort(greater, threads - threads / 2));
    } else {
        items.sort_unstable();
    }
}

/// Sorts.
#[cfg(not(feature = "rayon"))]
pub(crate) fn sort<T: Ord>(items: &mut [T], _threads: usize) {
    items.sort_unstable();
}

/// Fills the front of `to` with what `get` makes of `from`; returns the rest.
#[cfg(feature = "rayon")]
pub(crate) fn copy<'t, T: Send, F: Sync>(
    to: &'t mut [T],
    from: &[F],
    threads: usize,
    get: impl Fn(&F) -> T + Sync + Send,
) -> &'t mut [T] {
    let (to, rest) = to.split_at_mut(from.len());
    let fill = |(to, from): (&mut [T], &[F])| to.iter_mut().zip(from).for_each(|(to, from)| *to = get(from));
    if threads > 1 && from.len() >= FEW {
        let some = from.len().div_ceil(threads);
        to.par_chunks_mut(some).zip(from.par_chunks(some)).for_each(fill);
    } else {
        fill((to, from));
    }
    rest
}

/// Fills the front of `to` with what `get` makes of `from`; returns the rest.
#[cfg(not(feature = "rayon"))]
pub(crate) fn copy<'t, T, F>(
    to: &'t mut [T],
    from: &[F],
    _threads: usize,
    get: impl Fn(&F) -> T,
) -> &'t mut [T] {
    let (to, rest) = to.split_at_mut(from.len());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = get(from));
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_done_once_by_any_number_of_threads() {
        for threads in [1, 2, 8] {
            let mut bits = vec![0_u64; 1_000];
            let mut sums = vec![0; threads];
            share(&mut sums, (1..).zip(bits.iter_mut()), |sum, (at, bit)| {
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
            let failed = share(&mut done, 0..1_000_000, |done, item| {
                *done += 1;
                if item % 10 == 9 { Err(Error::Request(item.to_string())) } else { Ok(()) }
            });
            let Err(Error::Request(item)) = failed else { panic!("{failed:?}") };
            assert!(item.ends_with('9'), "{item}");
            assert!(done.iter().sum::<u64>() < 1_000, "{done:?}");
        }
    }
}
