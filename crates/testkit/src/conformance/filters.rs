//! Filters add exactly the bits of the documents that match, and touch no other.

use super::subject::{Expected, Subject, good, short};
use std::ops::Range;

use docvalues_column::{Result, bits};

use crate::rng::SplitMix64;

pub(super) fn check<S: Subject>(column: &S, expected: &Expected<S::Value>) {
    let with_value = matching(expected, |_| true);
    for docs in ranges(expected.docs(), &mut SplitMix64::named(&expected.name)) {
        for before in Before::ALL {
            let run = |bits: &mut [u64]| column.column().exists(docs.clone(), bits);
            one(&expected.name, "exists", &docs, before, &with_value, run);
        }
    }
    for (number, query) in column.queries(expected).iter().enumerate() {
        let matched = matching(expected, |value| S::matches(query, value));
        let name = format!("filter {}", short(query));
        let ranges = ranges(expected.docs(), &mut SplitMix64::new(number as u64));
        for (i, docs) in ranges.iter().enumerate() {
            // The first two queries in full, others over all documents and over every third range:
            // in the end each range has met several queries, and each query all kinds of bits.
            if number >= 2 && i > 0 && (i + number) % 3 > 0 {
                continue;
            }
            let befores =
                if number < 2 { &Before::ALL[..] } else { &Before::ALL[(i + number) / 3 % 3..][..1] };
            for &before in befores {
                let run = |bits: &mut [u64]| column.filter(docs.clone(), query, bits);
                one(&expected.name, &name, docs, before, &matched, run);
            }
            candidates(column, docs, query, (&name, &expected.name), &matched);
            open_stretches(column, docs, query, (&name, &expected.name), &matched);
        }
    }
}

/// Whether the stretches of `docs` that may match ascend, lie among these, and hold all that do match.
fn candidates<S: Subject>(
    column: &S,
    docs: &Range<u32>,
    query: &S::Query,
    (name, column_name): (&str, &str),
    matched: &[u64],
) {
    let found = good(column.candidates(docs.clone(), query), column_name, name);
    let fails = |why: &str| panic!("column `{column_name}`: {name}: candidates {found:?} of {docs:?} {why}");
    if found.iter().any(|some| some.start < docs.start || docs.end < some.end) {
        fails("lie outside");
    }
    if !found.is_sorted_by(|a, b| a.end <= b.start) {
        fails("do not ascend");
    }
    let is_there = |doc: &u32| bits::get(matched, *doc as usize);
    if let Some(doc) = docs.clone().filter(is_there).find(|doc| !found.iter().any(|some| some.contains(doc)))
    {
        fails(&format!("are without {doc}"));
    }
}

/// Whether the bits of stretches, from the zone on that `docs` begin in, are set where documents match.
fn open_stretches<S: Subject>(
    column: &S,
    docs: &Range<u32>,
    query: &S::Query,
    (name, column_name): (&str, &str),
    matched: &[u64],
) {
    let docs = docs.start - docs.start % 4_096..docs.end;
    for finely in [true, false] {
        let mut open = vec![0; docs.len().div_ceil(64 * 512)];
        good(column.open_stretches(docs.clone(), query, finely, &mut open), column_name, name);
        let is_missed = |doc: &u32| {
            bits::get(matched, *doc as usize) && !bits::get(&open, (doc - docs.start) as usize / 512)
        };
        if let Some(doc) = docs.clone().find(is_missed) {
            panic!("column `{column_name}`: {name}: open stretches of {docs:?} are without that of {doc}");
        }
    }
}

/// The documents that `wanted` wants, as bits.
fn matching<V: Clone>(expected: &Expected<V>, wanted: impl Fn(&V) -> bool) -> Vec<u64> {
    let mut matched = vec![0; bits::words(0..expected.docs())];
    for (doc, value) in expected.within(0..expected.docs()) {
        if wanted(value) {
            bits::set(&mut matched, doc as usize);
        }
    }
    matched
}

/// Ranges of documents with starts inside words, over edges, past the end, empty, backwards.
fn ranges(docs: u32, rng: &mut SplitMix64) -> Vec<Range<u32>> {
    let mut ranges = vec![
        0..docs,
        0..0,
        docs..docs,
        1..docs.max(1),
        docs.saturating_sub(70)..docs + 70,
        docs + 5..docs + 200,
        u32::MAX - 100..u32::MAX,
        Range { start: 90, end: 20 },
        0..docs + 1,
    ];
    for edge in [63, 64, 511, 4095, 65_535, 65_536, 131_072_u32].into_iter().filter(|edge| *edge < docs) {
        let (before, behind) = (rng.below_u32(130), rng.below_u32(130));
        ranges.extend([edge..edge + 2, edge.saturating_sub(before)..edge + behind]);
    }
    for _ in 0..4 {
        let (a, b) = (rng.below_u32(docs), rng.below_u32(docs));
        ranges.push(a.min(b)..a.max(b));
    }
    ranges
}

/// What bits hold before a filter adds to them.
#[derive(Clone, Copy, Debug)]
enum Before {
    Clear,
    Set,
    Random,
}

impl Before {
    const ALL: [Before; 3] = [Before::Clear, Before::Set, Before::Random];

    /// As many words as `docs` take; of those that are not clear, one more.
    fn bits(self, docs: &Range<u32>) -> Vec<u64> {
        let words = bits::words(docs.clone());
        let mut rng = SplitMix64::new(u64::from(docs.start));
        match self {
            Before::Clear => vec![0; words],
            Before::Set => vec![u64::MAX; words + 1],
            Before::Random => (0..=words).map(|_| rng.next_u64()).collect(),
        }
    }
}

/// Runs a filter over `docs` into some bits, and looks at every one of them.
fn one(
    name: &str,
    query: &str,
    docs: &Range<u32>,
    before: Before,
    matched: &[u64],
    run: impl Fn(&mut [u64]) -> Result<()>,
) {
    let operation = || format!("{query} over {docs:?} into bits that were {before:?}");
    let bits = before.bits(docs);
    let mut after = bits.clone();
    good(run(&mut after), name, &operation());
    for (w, (&before, &after)) in bits.iter().zip(&after).enumerate() {
        let added = matched_word(matched, docs, w);
        if after != before | added {
            let bit = (after ^ (before | added)).trailing_zeros();
            let doc = u64::from(docs.start) + (w * 64) as u64 + u64::from(bit);
            let what = if after >> bit & 1 == 0 { "missing" } else { "set" };
            panic!("column `{name}`: {}: the bit of document {doc} is {what}", operation());
        }
    }
}

/// Word `w` of what a filter over `docs` adds.
fn matched_word(matched: &[u64], docs: &Range<u32>, w: usize) -> u64 {
    // Behind the last document there may be no place.
    let first = (docs.start as usize).saturating_add(w * 64);
    let len = (docs.end as usize).saturating_sub(first).min(64);
    // The words that hold 64 bits from `first` on; what lies past the last document is clear.
    let at = |word: usize| matched.get(word).copied().unwrap_or(0);
    let shift = first % 64;
    let high = if shift == 0 { 0 } else { at(first / 64 + 1) << (64 - shift) };
    let all = at(first / 64) >> shift | high;
    if len == 64 { all } else { all & ((1 << len) - 1) }
}
