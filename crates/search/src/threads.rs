//! What several threads do side by side.

use std::ops::Range;
#[cfg(feature = "rayon")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::collector::Collector;
use crate::error::Result;
use crate::pass::{Pass, Worker};

/// Fewer are sorted, or copied, by one thread.
const FEW: usize = 1 << 14;

/// A pass: threads take the parts one after the other, each with a collector of its own; these are merged in the end.
pub(crate) fn run<C: Collector>(pass: &Pass<'_>, parts: Range<u32>, mut first: C) -> Result<C> {
    let mut others: Vec<C> = (1..pass.threads.min(parts.len())).map(|_| first.fork()).collect();
    let collectors = std::iter::once(&mut first).chain(&mut others);
    let mut workers: Vec<_> = collectors.map(|collector| (collector, Worker::default())).collect();
    each(parts, &mut workers, |(collector, worker), part| worker.part(pass, part, *collector))?;
    others.into_iter().for_each(|other| first.merge(other));
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

/// Writes what `get` makes of `from` to `to`.
pub(crate) fn copy<T: Send, F: Sync>(
    to: &mut [T],
    from: &[F],
    threads: usize,
    get: impl Fn(&F) -> T + Sync + Send,
) {
    let each = from.len().div_ceil(threads).max(FEW);
    map(to.chunks_mut(each).zip(from.chunks(each)).collect(), |(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = get(from));
    });
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
}
