//! Asking everything of a segment, and boiling each answer down to a number.
//!
//! The same [`Plan`] put to a good file and to a damaged one gives answers that can be compared: an
//! answer of the damaged file is the good file's, or an error.

use std::hash::{Hash, Hasher};
use std::ops::{Bound, ControlFlow, Range, RangeInclusive};

use docvalues::{
    AnyColumn, BatchDocs, BinaryColumn, Column, ColumnSource, DocId, FilterCounts, Lists, NumericColumn,
    Result, Slices, SortedColumn, SortedNumericColumn, SortedSetColumn, TermOrd, Terms, bits,
};

/// Which columns and documents are asked for.
#[derive(Clone, Debug)]
pub struct Plan {
    names: Vec<String>,
    ranges: Vec<Range<u32>>,
    docs: Vec<DocId>,
    /// How many of `docs` are also asked for alone.
    alone: usize,
}

impl Plan {
    /// A plan that reads every value by scan, and some hundreds by gather and one by one.
    ///
    /// # Errors
    ///
    /// When the names of the columns cannot be read.
    pub fn whole(source: &dyn ColumnSource) -> Result<Plan> {
        let docs = source.docs();
        // A stride that is prime to the length: every order but the easy one.
        let shuffled = |i| u32::try_from(u64::from(i) * 7_919 % u64::from(docs)).unwrap_or(0);
        Ok(Plan {
            names: source.names()?,
            ranges: vec![0..docs, docs / 3..docs / 2 + 1],
            docs: (0..docs.min(250)).map(|i| DocId::new(shuffled(i))).collect(),
            alone: 60,
        })
    }

    /// A plan for a file of which nothing is known: bounded, whatever it claims to hold.
    ///
    /// # Errors
    ///
    /// When the names of the columns cannot be read.
    pub fn small(source: &dyn ColumnSource) -> Result<Plan> {
        let docs = source.docs();
        let edges =
            [0, 1, 511, 512, 513, 4_095, 4_096, 65_535, 65_536, 65_537, docs / 2, docs.wrapping_sub(1), docs];
        let docs_asked = (0..64).chain(edges).chain([u32::MAX, 3, 2, 2]).map(DocId::new);
        let ranges =
            vec![0..docs.min(2_000), docs.saturating_sub(700)..docs.saturating_add(5), 65_500..65_600];
        let mut names = source.names()?;
        names.truncate(64);
        Ok(Plan { names, ranges, docs: docs_asked.collect(), alone: usize::MAX })
    }
}

pub(crate) type Sink<'a> = dyn FnMut(Result<u64>) + 'a;

/// Puts `plan` to `source` and hands every answer to `sink`, in an order that depends on the plan and
/// on the kinds of the columns alone.
pub fn exercise(plan: &Plan, source: &dyn ColumnSource, sink: &mut Sink<'_>) {
    for name in &plan.names {
        match source.column(name) {
            Ok(AnyColumn::Numeric(column)) => numeric(plan, &*column, sink),
            Ok(AnyColumn::Binary(column)) => binary(plan, &*column, sink),
            Ok(AnyColumn::Sorted(column)) => sorted(plan, &*column, sink),
            Ok(AnyColumn::SortedNumeric(column)) => sorted_numeric(plan, &*column, sink),
            Ok(AnyColumn::SortedSet(column)) => sorted_set(plan, &*column, sink),
            Err(error) => sink(Err(error)),
        }
    }
}

/// Multiply and rotate, eight bytes at a time, as rustc's own hasher: millions of values go through it.
#[derive(Default)]
struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        rest.iter().for_each(|&byte| self.mix(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = Mixer::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Hashes what a scan hands out; `each` hashes a batch.
fn scanned(scan: impl FnOnce(&mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<()>) -> Result<u64> {
    let mut hasher = Mixer::default();
    scan(&mut |batch| {
        batch.hash(&mut hasher);
        ControlFlow::Continue(())
    })?;
    Ok(hasher.finish())
}

/// The documents of a batch, in as few numbers as name them.
fn run_or_list<'a>(docs: &BatchDocs<'a>) -> (u32, usize, &'a [DocId]) {
    match *docs {
        BatchDocs::Run { first, len } => (first.get(), len, &[]),
        BatchDocs::List(docs) => (0, docs.len(), docs),
    }
}

/// The lists of a batch: how long each is, and all items end to end.
fn lists_of<T>(lists: Slices<'_, T>) -> (u64, &[T]) {
    (hash(lists.iter().map(<[T]>::len).collect::<Vec<_>>()), lists.items())
}

/// Hashes the bits that a filter over `docs` sets.
fn filtered(docs: &Range<u32>, filter: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<u64> {
    let mut found = vec![0; bits::words(docs.clone())];
    filter(&mut found).map(|()| hash(found))
}

fn column(plan: &Plan, column: &dyn Column, sink: &mut Sink<'_>) {
    sink(Ok(hash((column.field(), column.docs(), column.docs_with_value()))));
    for docs in &plan.ranges {
        sink(filtered(docs, |bits| column.exists(docs.clone(), bits)));
    }
}

fn numeric(plan: &Plan, numbers: &dyn NumericColumn, sink: &mut Sink<'_>) {
    column(plan, numbers, sink);
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(numbers.get(doc).map(hash));
    }
    let (mut out, mut present) = (vec![0; plan.docs.len()], vec![0; plan.docs.len().div_ceil(64)]);
    sink(numbers.gather(&plan.docs, &mut out, &mut present).map(|()| hash((&out, &present))));
    sink(numbers.gather_or(&plan.docs, &mut out, -1).map(|()| hash(&out)));
    for docs in &plan.ranges {
        sink(scanned(|each| {
            numbers.scan(docs.clone(), &mut |batch| each(hash((run_or_list(&batch.docs), batch.values))))
        }));
        for values in ranges_of(numbers.bounds()) {
            sink(filtered(docs, |bits| numbers.filter(docs.clone(), values.clone(), bits)));
            for finely in [true, false] {
                sink(open_stretches(numbers, docs, values.clone(), finely));
            }
        }
    }
    for (n, greatest) in [(1, true), (1, false), (100, true)] {
        sink(numbers.guess_nth(n, greatest).map(hash));
    }
}

/// Hashes the bits of stretches, from the zone on in which `docs` begin.
fn open_stretches(
    numbers: &dyn NumericColumn,
    docs: &Range<u32>,
    values: RangeInclusive<i64>,
    finely: bool,
) -> Result<u64> {
    let docs = docs.start - docs.start % 4_096..docs.end;
    let mut open = vec![0; docs.len().div_ceil(64 * 512)];
    let mut counts = FilterCounts::default();
    numbers
        .open_stretches(docs, values, finely, &mut counts, &mut open)
        .map(|()| hash((open, counts.zones.total())))
}

/// Ranges that hold all, none, a part and one of the numbers between `bounds`.
fn ranges_of(bounds: Option<RangeInclusive<i64>>) -> [RangeInclusive<i64>; 4] {
    let (low, high) = bounds.map_or((0, 0), RangeInclusive::into_inner);
    let mid = low.midpoint(high);
    [i64::MIN..=i64::MAX, low..=mid, mid..=mid.saturating_add(high.wrapping_sub(low) / 8), low..=low]
}

fn binary(plan: &Plan, strings: &dyn BinaryColumn, sink: &mut Sink<'_>) {
    column(plan, strings, sink);
    let mut buffer = Vec::new();
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(strings.get(doc, &mut buffer).map(hash));
    }
    let (mut lists, mut present) = (Lists::new(), vec![0; plan.docs.len().div_ceil(64)]);
    let few = &plan.docs[..plan.docs.len().min(300)];
    let all = |lists: &Lists<u8>| hash(lists.slices().iter().collect::<Vec<_>>());
    sink(strings.gather(few, &mut lists, &mut present).map(|()| hash((all(&lists), &present))));
    sink(strings.gather_or(few, &mut lists, b"none").map(|()| all(&lists)));
    for docs in &plan.ranges {
        sink(scanned(|each| {
            strings.scan(docs.clone(), &mut |batch| {
                each(hash((run_or_list(&batch.docs), lists_of(batch.values))))
            })
        }));
        sink(filtered(docs, |bits| {
            strings.filter(docs.clone(), Bound::Included(b"a"), Bound::Excluded(b"m"), bits)
        }));
    }
}

fn terms(terms: &dyn Terms, sink: &mut Sink<'_>) {
    let len = terms.term_count();
    sink(Ok(hash(len)));
    let mut term = Vec::new();
    assert!(terms.term(TermOrd::new(len), &mut term).is_err(), "a term past the end");
    for ord in (0..len.min(40)).chain(len.saturating_sub(8)..len) {
        // One answer: what is sought is what was read.
        sink(terms.term(TermOrd::new(ord), &mut term).and_then(|()| {
            let exact = terms.seek_exact(&term)?;
            term.push(b'!');
            Ok(hash((&term, exact, terms.seek_ceil(&term)?)))
        }));
    }
    for prefix in [b"".as_slice(), b"a", b"tag1", b"\xff\xff"] {
        sink(terms.prefix(prefix).map(hash));
        sink(terms.term_range(Bound::Excluded(prefix), Bound::Included(b"t")).map(hash));
    }
    sink(scanned(|each| terms.each_term(0..len.min(5_000), &mut |ord, term| each(hash((ord, term))))));
}

/// Ranges that hold all, none, a part and one of `len` ords.
fn ords_of(len: u32) -> [Range<u32>; 4] {
    [0..len, 0..0, len / 3..len / 2 + 1, 0..1]
}

fn sorted(plan: &Plan, ords: &dyn SortedColumn, sink: &mut Sink<'_>) {
    column(plan, ords, sink);
    terms(ords, sink);
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(ords.ord(doc).map(hash));
    }
    let (mut out, mut present) =
        (vec![TermOrd::new(0); plan.docs.len()], vec![0; plan.docs.len().div_ceil(64)]);
    sink(ords.gather(&plan.docs, &mut out, &mut present).map(|()| hash((&out, &present))));
    sink(ords.gather_or(&plan.docs, &mut out, TermOrd::new(u32::MAX)).map(|()| hash(&out)));
    for docs in &plan.ranges {
        sink(scanned(|each| {
            ords.scan(docs.clone(), &mut |batch| each(hash((run_or_list(&batch.docs), batch.values))))
        }));
        for range in ords_of(ords.term_count()) {
            sink(filtered(docs, |bits| ords.filter(docs.clone(), range, bits)));
        }
    }
}

fn sorted_numeric(plan: &Plan, numbers: &dyn SortedNumericColumn, sink: &mut Sink<'_>) {
    column(plan, numbers, sink);
    sink(Ok(hash(numbers.value_count())));
    let mut out = Vec::new();
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(numbers.get(doc, &mut out).map(|()| hash(&out)));
    }
    let mut lists = Lists::new();
    // A list may have four million values for no bytes at all: few at once.
    for docs in plan.docs.chunks(4).take(100) {
        sink(numbers.gather(docs, &mut lists).map(|()| hash(lists.slices().iter().collect::<Vec<_>>())));
    }
    for docs in &plan.ranges {
        sink(scanned(|each| {
            numbers.scan(docs.clone(), &mut |batch| {
                each(hash((run_or_list(&batch.docs), lists_of(batch.values))))
            })
        }));
        for values in ranges_of(numbers.bounds()) {
            sink(filtered(docs, |bits| numbers.filter(docs.clone(), values, bits)));
        }
    }
}

fn sorted_set(plan: &Plan, ords: &dyn SortedSetColumn, sink: &mut Sink<'_>) {
    column(plan, ords, sink);
    terms(ords, sink);
    sink(Ok(hash(ords.value_count())));
    let mut out = Vec::new();
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(ords.ords(doc, &mut out).map(|()| hash(&out)));
    }
    let mut lists = Lists::new();
    for docs in plan.docs.chunks(4).take(100) {
        sink(ords.gather(docs, &mut lists).map(|()| hash(lists.slices().iter().collect::<Vec<_>>())));
    }
    for docs in &plan.ranges {
        sink(scanned(|each| {
            ords.scan(docs.clone(), &mut |batch| {
                each(hash((run_or_list(&batch.docs), lists_of(batch.values))))
            })
        }));
        for range in ords_of(ords.term_count()) {
            sink(filtered(docs, |bits| ords.filter(docs.clone(), range, bits)));
        }
    }
}
