//! Calls every method of the read traits on every column of a source, and hashes each answer.
//!
//! Answers of the same [`Plan`] are comparable between a good file and a damaged one: each answer of the damaged file
//! must equal that of the good one, or be an error.

use std::hash::{Hash, Hasher};
use std::ops::{Bound, ControlFlow, RangeInclusive};

use docvalues::column::{
    BatchDocs, Bounds, ColumnInfo, Element, Gathered, Lists, Pruning, Result, SkipIndex, Slices, Values, View,
};
use docvalues::{Column, ColumnSource, DocId, DocRange, OrdRange, Rows, TermOrd, Terms};

/// The columns and documents to read.
#[derive(Clone, Debug)]
pub struct Plan {
    names: Vec<String>,
    ranges: Vec<DocRange>,
    docs: Vec<DocId>,
    /// The number of `docs` that are also read one by one.
    alone: usize,
}

impl Plan {
    /// A plan that scans every value, and reads some hundreds in batches and one by one.
    ///
    /// # Errors
    ///
    /// If the names of the columns cannot be read.
    pub fn whole(source: &dyn ColumnSource) -> Result<Plan> {
        let docs = source.docs();
        // The stride is coprime to the length: every document once, out of order.
        let shuffled = |i| u32::try_from(u64::from(i) * 7_919 % u64::from(docs)).unwrap_or(0);
        Ok(Plan {
            names: names(source)?,
            ranges: vec![DocRange::new(0, docs), DocRange::new(docs / 3, docs / 2 + 1)],
            docs: (0..docs.min(250)).map(|i| DocId::new(shuffled(i))).collect(),
            alone: 60,
        })
    }

    /// A bounded plan for a file that may claim any size.
    ///
    /// # Errors
    ///
    /// If the names of the columns cannot be read.
    pub fn small(source: &dyn ColumnSource) -> Result<Plan> {
        let docs = source.docs();
        let edges =
            [0, 1, 511, 512, 513, 4_095, 4_096, 65_535, 65_536, 65_537, docs / 2, docs.wrapping_sub(1), docs];
        let docs_asked = (0..64).chain(edges).chain([u32::MAX, 3, 2, 2]).map(DocId::new);
        let ranges = [0..docs.min(2_000), docs.saturating_sub(700)..docs.saturating_add(5), 65_500..65_600];
        let mut names = names(source)?;
        names.truncate(64);
        let ranges = ranges.map(DocRange::from).into();
        Ok(Plan { names, ranges, docs: docs_asked.collect(), alone: usize::MAX })
    }
}

fn names(source: &dyn ColumnSource) -> Result<Vec<String>> {
    Ok(source.fields()?.into_iter().map(|field| field.name).collect())
}

pub(crate) type Sink<'a> = dyn FnMut(Result<u64>) + 'a;

/// Runs `plan` on `source` and passes every answer to `sink`, in an order that depends only on the plan and on the
/// kinds of the columns.
pub fn exercise(plan: &Plan, source: &dyn ColumnSource, sink: &mut Sink<'_>) {
    for name in &plan.names {
        match source.column(name) {
            Ok(column) => exercise_column(plan, &*column, sink),
            Err(error) => sink(Err(error)),
        }
    }
}

fn exercise_column(plan: &Plan, column: &dyn Column, sink: &mut Sink<'_>) {
    let info = column.info();
    let counts = (info.docs, info.with_value.most(), info.value_count.most(), info.all_present());
    sink(Ok(hash((&info.field, counts, info.bounds.range(), info.sum))));
    for &docs in &plan.ranges {
        sink(found(docs, |bits| column.exists(docs, bits)));
    }
    match column.values() {
        Values::Numbers(numbers) => {
            let wanted = ranges_of(&info.bounds);
            exercise_rows(plan, info, numbers, -1, &wanted, sink);
            if let Some(index) = column.skip_index() {
                exercise_skip_index(plan, info.docs, index, &wanted, sink);
            }
        }
        Values::Ords(ords, terms) => {
            exercise_terms(terms, sink);
            exercise_rows(plan, info, ords, TermOrd::new(u32::MAX), &ords_of(terms.term_count()), sink);
        }
        Values::Bytes(strings) => {
            let wanted = (Bound::Included(b"a".to_vec()), Bound::Excluded(b"m".to_vec()));
            exercise_rows(plan, info, strings, 0, &[wanted], sink);
        }
    }
}

fn exercise_rows<T: Element + Hash>(
    plan: &Plan,
    info: &ColumnInfo,
    rows: &dyn Rows<T>,
    fill: T,
    wanted: &[T::Range],
    sink: &mut Sink<'_>,
) {
    let mut row = Vec::new();
    for &doc in plan.docs.iter().take(plan.alone) {
        sink(rows.get(doc, &mut row).map(|is_present| hash((is_present, &row))));
    }
    drop(row);
    // A list may have four million values in no bytes: read few at a time.
    let (together, outs) = match info.is_multi_valued() {
        true => (4, vec![Gathered::new()]),
        false => (300, vec![Gathered::new(), Gathered::filled(fill)]),
    };
    for mut out in outs {
        let lists = plan.docs.chunks(together as usize).map(BatchDocs::List);
        let runs = plan
            .ranges
            .iter()
            .map(|docs| DocRange::new(docs.start.max(docs.end.saturating_sub(together)), docs.end));
        for docs in lists.chain(runs.map(BatchDocs::Run)) {
            sink(rows.gather(docs, &mut out).map(|()| {
                assert_eq!(out.len(), docs.len(), "rows of a gather");
                rows_of(&out)
            }));
        }
    }
    for &docs in &plan.ranges {
        sink(scanned(|each| {
            let mut next = docs.start;
            rows.scan(docs, &mut |batch| {
                for doc in batch.docs.iter().map(|doc| doc.get()) {
                    assert!(next <= doc && doc < docs.end, "document {doc} of a scan of {docs:?}");
                    next = doc + 1;
                }
                each(hash((run_or_list(batch.docs), hash_of(batch.values))))
            })
        }));
        for wanted in wanted {
            sink(found(docs, |bits| rows.filter(docs, wanted, bits, &mut Pruning::default())));
        }
    }
}

fn exercise_skip_index(
    plan: &Plan,
    docs: u32,
    index: &dyn SkipIndex,
    wanted: &[RangeInclusive<i64>],
    sink: &mut Sink<'_>,
) {
    let (mut zones, levels) = (Vec::new(), index.levels());
    for (level, &len) in levels.iter().enumerate() {
        for range in &plan.ranges {
            // They begin with a coarse zone: a finer level may consult the coarse one first.
            let DocRange { start, end } = range.clip(docs);
            let docs = DocRange::new(start - start % levels[0], end);
            sink(index.zones(level, docs, &mut zones).map(|()| {
                hash(zones.iter().map(|zone| (zone.min, zone.max, zone.all_present)).collect::<Vec<_>>())
            }));
            let count = docs.len().div_ceil(len as usize);
            for wanted in wanted {
                let (mut open, mut pruned) = (vec![0; count.div_ceil(64)], Pruning::default());
                let requested = index.may_hold(level, docs, wanted, &mut open, &mut pruned);
                sink(requested.map(|()| hash((open, pruned.zones.total()))));
            }
        }
    }
    for (n, greatest) in [(1, true), (1, false), (100, true)] {
        sink(index.estimate_nth(n, greatest).map(hash));
    }
}

fn exercise_terms(terms: &dyn Terms, sink: &mut Sink<'_>) {
    let len = terms.term_count();
    sink(Ok(hash(len)));
    let mut term = Vec::new();
    assert!(terms.term(TermOrd::new(len), &mut term).is_err(), "a term past the end");
    for ord in (0..len.min(40)).chain(len.saturating_sub(8)..len) {
        // One answer: the term to find is the one that was read.
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
    let (ords, mut list) = (OrdRange::new(0, len.min(5_000)), Lists::new());
    sink(scanned(|each| terms.each_term(ords, &mut |ord, term| each(hash((ord, term))))));
    let ords: Vec<TermOrd> = ords.clip(300).iter().rev().collect();
    sink(terms.gather_terms(&ords, &mut list).map(|()| hash(lists_of(list.slices()))));
    let past = [TermOrd::new(len)];
    assert!(terms.gather_terms(&past, &mut list).is_err(), "a term past the end");
}

/// Ranges with all, none, some and one of the numbers between `bounds`.
fn ranges_of(bounds: &Bounds) -> [RangeInclusive<i64>; 4] {
    let (low, high) = bounds.range().into_inner();
    let mid = low.midpoint(high);
    [i64::MIN..=i64::MAX, low..=mid, mid..=mid.saturating_add(high.wrapping_sub(low) / 8), low..=low]
}

/// Ranges with all, none, some and one of `len` ords.
fn ords_of(len: u32) -> [OrdRange; 4] {
    [0..len, 0..0, len / 3..len / 2 + 1, 0..1].map(OrdRange::from)
}

/// Multiply and rotate, eight bytes at a time, as in rustc's hasher: it hashes millions of values.
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

/// Hashes the batches of a scan; `each` hashes one batch.
fn scanned(scan: impl FnOnce(&mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<()>) -> Result<u64> {
    let mut hasher = Mixer::default();
    scan(&mut |batch| {
        batch.hash(&mut hasher);
        ControlFlow::Continue(())
    })?;
    Ok(hasher.finish())
}

/// Hashes the bits that are set for `docs`.
fn found(docs: DocRange, set: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<u64> {
    let mut found = vec![0; docs.words()];
    set(&mut found).map(|()| hash(found))
}

/// Hashes gathered rows and their presence.
fn rows_of<T: Element + Hash>(out: &Gathered<T>) -> u64 {
    let all = vec![u64::MAX; out.len().div_ceil(64)];
    let mut present = out.present().map_or(all, <[u64]>::to_vec);
    if let (Some(last), past @ 1..) = (present.last_mut(), out.len() % 64) {
        *last &= (1 << past) - 1;
    }
    hash((hash_of(out.view()), present))
}

/// Hashes rows.
fn hash_of<T: Hash>(rows: View<'_, T>) -> u64 {
    match rows {
        View::One(values) => hash(values),
        View::Many(lists) => hash(lists_of(lists)),
    }
}

/// The documents of a batch, as few numbers.
fn run_or_list(docs: BatchDocs<'_>) -> (u32, usize, &[DocId]) {
    match docs {
        BatchDocs::Run(docs) => (docs.start, docs.len(), &[]),
        BatchDocs::List(docs) => (0, docs.len(), docs),
    }
}

/// Lists: their lengths, then all items.
fn lists_of<T>(lists: Slices<'_, T>) -> (u64, &[T]) {
    (hash(lists.lens().collect::<Vec<_>>()), lists.items())
}
