//! Filters set the bits of exactly the documents that match, and change no other bit.

use docvalues_column::{Column, DocRange, PruneCounts, Pruning, Result, Rows, bits};

use super::expected::{Expected, Probe, good, short};
use crate::rng::SplitMix64;

pub(super) fn check<T: Probe>(column: &dyn Column, rows: &dyn Rows<T>, expected: &Expected<T>) {
    let (name, docs) = (&expected.name, expected.docs());
    let with_value = matching(expected, |_| true);
    for docs in ranges(docs, &mut SplitMix64::named(name)) {
        for before in Before::ALL {
            one(name, "exists", docs, before, &with_value, |bits| column.exists(docs, bits));
        }
    }
    let queries = T::queries(&expected.all(), &mut SplitMix64::named(name));
    for (number, query) in queries.iter().enumerate() {
        let matched = matching(expected, |row| T::matches(row, query));
        let operation = format!("filter {}", short(query));
        let ranges = ranges(docs, &mut SplitMix64::new(number as u64));
        for (i, docs) in ranges.into_iter().enumerate() {
            // The first two queries over all ranges, the others over all documents and every third range. So each range
            // is tested with several queries, and each query with all kinds of bits.
            if number >= 2 && i > 0 && (i + number) % 3 > 0 {
                continue;
            }
            let befores =
                if number < 2 { &Before::ALL[..] } else { &Before::ALL[(i + number) / 3 % 3..][..1] };
            for &before in befores {
                let mut pruned = PRUNED;
                let run = |bits: &mut [u64]| rows.filter(docs, query, bits, &mut pruned);
                one(name, &operation, docs, before, &matched, run);
                check_pruning(name, &operation, pruned);
            }
        }
    }
}

/// Counts that a filter adds to.
pub(super) const PRUNED: Pruning = {
    let decided = PruneCounts { none: 1, all: 2, open: 3 };
    Pruning {
        directory: 4,
        order: 5,
        missing: 6,
        zones: decided,
        fine_zones: decided,
        blocks: decided,
        read: 7,
    }
};

/// Panics if a count is smaller than before.
pub(super) fn check_pruning(name: &str, operation: &str, after: Pruning) {
    let counts = |pruned| {
        let Pruning { directory, order, missing, zones, fine_zones, blocks, read } = pruned;
        let decided = [zones, fine_zones, blocks].map(|decided| [decided.none, decided.all, decided.open]);
        [directory, order, missing, read].into_iter().chain(decided.into_iter().flatten())
    };
    let grows = counts(PRUNED).zip(counts(after)).all(|(before, after)| before <= after);
    assert!(grows, "column \"{name}\": {operation}: pruning shrinks from {PRUNED:?} to {after:?}");
}

/// The bits of the documents whose row is `wanted`.
fn matching<T: Probe>(expected: &Expected<T>, wanted: impl Fn(&[T]) -> bool) -> Vec<u64> {
    let docs = DocRange::new(0, expected.docs());
    let mut matched = vec![0; docs.words()];
    for (doc, row) in expected.within(docs) {
        if wanted(row) {
            bits::set(&mut matched, doc as usize);
        }
    }
    matched
}

/// Ranges of documents with starts inside words, over edges, past the end, empty, backwards.
fn ranges(docs: u32, rng: &mut SplitMix64) -> Vec<DocRange> {
    let mut ranges = vec![
        (0, docs),
        (0, 0),
        (docs, docs),
        (1, docs.max(1)),
        (docs.saturating_sub(70), docs + 70),
        (docs + 5, docs + 200),
        (u32::MAX - 100, u32::MAX),
        (90, 20),
        (0, docs + 1),
    ];
    for edge in [63, 64, 511, 4095, 65_535, 65_536, 131_072_u32].into_iter().filter(|edge| *edge < docs) {
        let (before, after) = (rng.below_u32(130), rng.below_u32(130));
        ranges.extend([(edge, edge + 2), (edge.saturating_sub(before), edge + after)]);
    }
    for _ in 0..4 {
        let (a, b) = (rng.below_u32(docs), rng.below_u32(docs));
        ranges.push((a.min(b), a.max(b)));
    }
    ranges.into_iter().map(|(start, end)| DocRange::new(start, end)).collect()
}

/// Contents of the bits before a filter adds to them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    Clear,
    Set,
    Random,
}

impl Before {
    pub(super) const ALL: [Before; 3] = [Before::Clear, Before::Set, Before::Random];

    /// A buffer of `words` words, and one more unless it is clear.
    pub(super) fn bits(self, words: usize) -> Vec<u64> {
        let mut rng = SplitMix64::new(words as u64);
        match self {
            Before::Clear => vec![0; words],
            Before::Set => vec![u64::MAX; words + 1],
            Before::Random => (0..=words).map(|_| rng.next_u64()).collect(),
        }
    }
}

/// Runs a filter over `docs` into `bits`, and checks every bit.
fn one(
    name: &str,
    query: &str,
    docs: DocRange,
    before: Before,
    matched: &[u64],
    run: impl FnOnce(&mut [u64]) -> Result<()>,
) {
    let operation = || format!("{query} over {docs:?} into bits that were {before:?}");
    let bits = before.bits(docs.words());
    let mut after = bits.clone();
    good(run(&mut after), name, &operation());
    for (w, (&before, &after)) in bits.iter().zip(&after).enumerate() {
        let added = matched_word(matched, docs, w);
        if after != before | added {
            let bit = (after ^ (before | added)).trailing_zeros();
            let doc = u64::from(docs.start) + (w * 64) as u64 + u64::from(bit);
            let what = if after >> bit & 1 == 0 { "missing" } else { "set" };
            panic!("column \"{name}\": {}: the bit of document {doc} is {what}", operation());
        }
    }
}

/// Word `w` of the bits that a filter over `docs` should add.
fn matched_word(matched: &[u64], docs: DocRange, w: usize) -> u64 {
    // There may be no words after the last document.
    let first = (docs.start as usize).saturating_add(w * 64);
    let len = (docs.end as usize).saturating_sub(first).min(64);
    // The words that hold 64 bits from `first` on; what lies past the last document is clear.
    let at = |word: usize| matched.get(word).copied().unwrap_or(0);
    let shift = first % 64;
    let high = if shift == 0 { 0 } else { at(first / 64 + 1) << (64 - shift) };
    let all = at(first / 64) >> shift | high;
    if len == 64 { all } else { all & ((1 << len) - 1) }
}
