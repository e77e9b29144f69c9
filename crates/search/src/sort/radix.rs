//! Documents in the order of ranks of 32 bits, both in one number: `rank << 32 | document`.
//!
//! A thread sorts by one digit of the ranks after the other, the least significant one first. What is equal by a digit stays
//! in order, and documents come in ascending order, so they are never compared. Each of several threads does so with its
//! part; parts are merged two by two, by all threads: where a stretch of the result begins in either part is found by a
//! binary search (Odeh, Green, Mwassi, Shmueli and Birk, "Merge Path", 2012).

use docvalues_column::DocId;

use crate::threads::join;

/// Fewer are compared.
const FEW: usize = 1 << 10;

/// Fewer are sorted, or merged, by one thread.
const FEW_FOR_THREADS: usize = 1 << 14;

/// The most bits of a digit: with more of them, there are more pages written to by turns than a CPU knows where they are.
const DIGIT: u32 = 10;

/// As many as a rank has.
const DIGITS: usize = u32::BITS.div_ceil(DIGIT) as usize;

pub(super) fn item(rank: u32, doc: DocId) -> u64 {
    u64::from(rank) << 32 | u64::from(doc.get())
}

pub(super) fn rank(item: u64) -> u32 {
    halves(item).0
}

pub(super) fn doc(item: u64) -> DocId {
    DocId::new(halves(item).1)
}

#[expect(clippy::cast_possible_truncation, reason = "one half, and the other")]
fn halves(item: u64) -> (u32, u32) {
    ((item >> 32) as u32, item as u32)
}

/// Sorts by the low `bits` bits of the ranks; true if what is sorted lies in `spare` then.
pub(super) fn sort(items: &mut [u64], spare: &mut [u64], bits: u32, threads: usize) -> bool {
    match sort_parts(items, spare, bits, threads) {
        (in_spare, None) => in_spare,
        (in_spare, Some(middle)) => {
            let (from, to) = if in_spare { (spare, items) } else { (items, spare) };
            merge(from.split_at(middle), to, threads, |item| item);
            !in_spare
        }
    }
}

/// The same, and puts the documents where they belong.
pub(super) fn sort_into(docs: &mut [DocId], items: &mut [u64], spare: &mut [u64], bits: u32, threads: usize) {
    let (in_spare, middle) = sort_parts(items, spare, bits, threads);
    let sorted = if in_spare { spare } else { items };
    merge(sorted.split_at(middle.unwrap_or(sorted.len())), docs, threads, doc);
}

/// Sorts all, or both parts if there are two: where the second one begins, and whether they lie in `spare` then.
fn sort_parts(items: &mut [u64], spare: &mut [u64], bits: u32, threads: usize) -> (bool, Option<usize>) {
    if threads < 2 || items.len() < FEW_FOR_THREADS {
        return (sort_alone(items, spare, bits), None);
    }
    let (few, many) = (threads / 2, threads - threads / 2);
    let middle = items.len() / threads * few;
    let (a, b) = items.split_at_mut(middle);
    let (spare_a, spare_b) = spare.split_at_mut(middle);
    let (a_is_there, b_is_there) = join(|| sort(a, spare_a, bits, few), || sort(b, spare_b, bits, many));
    // Of one part a digit may all be the same, and of the other not.
    match (a_is_there, b_is_there) {
        (true, false) => a.copy_from_slice(spare_a),
        (false, true) => spare_a.copy_from_slice(a),
        _ => {}
    }
    (b_is_there, Some(middle))
}

fn sort_alone(items: &mut [u64], spare: &mut [u64], bits: u32) -> bool {
    if items.len() < FEW {
        items.sort_unstable();
        return false;
    }
    let digits = bits.div_ceil(DIGIT);
    let width = bits.div_ceil(digits.max(1));
    let digit = |item: u64, at: u32| (rank(item) >> (at * width) & ((1 << width) - 1)) as usize;
    let mut counts = [[0_u32; 1 << DIGIT]; DIGITS];
    for &item in &*items {
        for (at, counts) in (0..digits).zip(&mut counts) {
            counts[digit(item, at)] += 1;
        }
    }
    let (mut from, mut to, mut in_spare) = (items, spare, false);
    for (at, counts) in (0..digits).zip(&mut counts) {
        if counts[digit(from[0], at)] as usize == from.len() {
            continue;
        }
        let mut before = 0;
        for count in &mut *counts {
            before += std::mem::replace(count, before);
        }
        for &item in &*from {
            let place = &mut counts[digit(item, at)];
            to[*place as usize] = item;
            *place += 1;
        }
        (from, to, in_spare) = (to, from, !in_spare);
    }
    in_spare
}

/// What `get` makes of the items of both parts, in order.
fn merge<T: Send>(
    (a, b): (&[u64], &[u64]),
    out: &mut [T],
    threads: usize,
    get: impl Fn(u64) -> T + Copy + Send + Sync,
) {
    if threads < 2 || out.len() < FEW_FOR_THREADS {
        return merge_alone(a, b, out, get);
    }
    let few = threads / 2;
    let (front, back, out_front, out_back) = cut(a, b, out, out.len() / threads * few);
    join(|| merge(front, out_front, few, get), || merge(back, out_back, threads - few, get));
}

/// Both parts cut where the front of the result ends, and this.
#[expect(clippy::type_complexity, reason = "three slices in two")]
fn cut<'a, 't, T>(
    a: &'a [u64],
    b: &'a [u64],
    out: &'t mut [T],
    len: usize,
) -> ((&'a [u64], &'a [u64]), (&'a [u64], &'a [u64]), &'t mut [T], &'t mut [T]) {
    let (mut low, mut high) = (len.saturating_sub(b.len()), len.min(a.len()));
    while low < high {
        let middle = low.midpoint(high);
        if a[middle] < b[len - middle - 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let ((a, a_back), (b, b_back)) = (a.split_at(low), b.split_at(len - low));
    let (out, out_back) = out.split_at_mut(len);
    ((a, b), (a_back, b_back), out, out_back)
}

/// Front and back by turns: where the next one comes from waits for the one before, and the other does not.
fn merge_alone<T>(a: &[u64], b: &[u64], out: &mut [T], get: impl Fn(u64) -> T + Copy) {
    let len = out.len() / 2;
    let (front, back, out_front, out_back) = cut(a, b, out, len);
    let (mut front, mut back) = (Merge::new(front), Merge::new(back));
    let mut done = 0;
    for (out_front, out_back) in out_front.iter_mut().zip(&mut *out_back) {
        if front.is_one_over() || back.is_one_over() {
            break;
        }
        *out_front = get(front.next());
        *out_back = get(back.next());
        done += 1;
    }
    front.rest(&mut out_front[done..], get);
    back.rest(&mut out_back[done..], get);
}

/// Two parts, and how far each is merged.
struct Merge<'a> {
    a: &'a [u64],
    b: &'a [u64],
    a_next: usize,
    b_next: usize,
}

impl<'a> Merge<'a> {
    fn new((a, b): (&'a [u64], &'a [u64])) -> Merge<'a> {
        Merge { a, b, a_next: 0, b_next: 0 }
    }

    #[inline]
    fn is_one_over(&self) -> bool {
        self.a_next >= self.a.len() || self.b_next >= self.b.len()
    }

    /// The least one, while none is over.
    #[inline]
    fn next(&mut self) -> u64 {
        let (a, b) = (self.a[self.a_next], self.b[self.b_next]);
        // Nothing that a CPU would have to guess.
        self.a_next += usize::from(a < b);
        self.b_next += usize::from(a >= b);
        a.min(b)
    }

    fn rest<T>(mut self, out: &mut [T], get: impl Fn(u64) -> T) {
        let mut out = out.iter_mut();
        while !self.is_one_over() {
            let Some(out) = out.next() else { return };
            *out = get(self.next());
        }
        let rest = self.a[self.a_next..].iter().chain(&self.b[self.b_next..]);
        out.zip(rest).for_each(|(out, item)| *out = get(*item));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(ranks: &[u32], bits: u32, threads: usize) {
        let items: Vec<u64> = (0..).zip(ranks).map(|(at, rank)| item(*rank, DocId::new(3 * at))).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        let (mut a, mut b) = (items.clone(), vec![7; items.len()]);
        let sorted = if sort(&mut a, &mut b, bits, threads) { b } else { a };
        assert!(sorted == expected, "{} of {bits} bits, {threads} threads", ranks.len());
        let (mut items, mut spare, mut docs) = (items.clone(), items, vec![DocId::new(0); ranks.len()]);
        sort_into(&mut docs, &mut items, &mut spare, bits, threads);
        assert!(docs.iter().copied().eq(expected.into_iter().map(doc)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn sorting_is_comparing(
            seed: u64,
            bits in 0..=32_u32,
            len in prop_oneof![0..40_usize, FEW - 2..FEW + 3, 2 * FEW_FOR_THREADS - 3..2 * FEW_FOR_THREADS + 4, 0..100_000_usize],
            low in 0..32_u32,
            threads in 1..9_usize,
        ) {
            let mut random = docvalues_testkit::rng::SplitMix64::new(seed);
            let mask = u32::MAX.checked_shr(32 - bits).unwrap_or(0);
            // Of those below, some digits are all the same; of the first third, others are than of the rest.
            let mut ranks: Vec<u32> = (0..len).map(|_| random.below_u32(u32::MAX) << low & mask).collect();
            check(&ranks, bits, threads);
            ranks[..len / 3].fill(mask);
            check(&ranks, bits, threads);
            ranks[len / 3..].sort_unstable();
            check(&ranks, bits, threads);
        }
    }
}
