//! Overlays: a column with changed rows equals one that was written with them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues::column::{
    AbsentColumn, Batch, BatchDocs, Changes, ColumnChanges, ColumnInfo, Count, Each, Element,
    Error as ReadError, ErrorKind as ReadErrorKind, Gathered, Lists, NewTerms, Overlay, OverlaySource,
    Pruning, TermOverlay, Values, bits,
};
use docvalues::format::file::kind::from_f64;
use docvalues::{
    Column, ColumnSource as _, DocId, DocRange, Field, OpenOptions, OrdRange, Rows, Segment, TermOrd, Terms,
    WriterOptions,
};
use docvalues_testkit::concat::Concat;
use docvalues_testkit::conformance::{check_column, check_panics};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::searches::check_searches;
use docvalues_testkit::shapes::{self, Dataset};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, by_document};

/// The columns of a segment of these documents.
fn columns(dataset: &Dataset) -> Vec<Arc<dyn Column>> {
    let file = by_document(dataset, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let open = |field: &Field| {
        let absent = || Arc::new(AbsentColumn::of(field.clone(), dataset.docs)) as Arc<dyn Column>;
        segment.column(&field.name).unwrap_or_else(|_| absent())
    };
    dataset.columns.iter().map(|(field, _)| open(field)).collect()
}

/// `slots` with those of `docs` from `other`.
fn changed<S: Clone + Default>(slots: &[S], other: &[S], docs: &[u32]) -> Vec<S> {
    let mut slots = slots.to_vec();
    for doc in docs.iter().map(|doc| *doc as usize) {
        let len = slots.len().max(doc + 1);
        slots.resize(len, S::default());
        slots[doc] = other.get(doc).cloned().unwrap_or_default();
    }
    slots
}

/// Sets the rows of `docs`, in two steps, and checks that the second one is known from the first.
fn set<'r, T: Element>(
    all: u32,
    is_many: bool,
    docs: &[u32],
    row: impl Fn(u32) -> Option<&'r [T]>,
) -> Changes<T> {
    let mut changes = Changes::new(all, is_many);
    let some: Vec<u32> = docs.iter().copied().filter(|doc| doc % 3 != 0).collect();
    // Some of the first rows are others.
    let first = |doc: &u32| (DocId::new(*doc), if doc.is_multiple_of(2) { None } else { row(*doc) });
    changes.set(some.iter().map(first));
    let before = changes.clone();
    let mut marked = changes.clone();
    marked.mark();
    for changes in [&mut changes, &mut marked] {
        changes.set(docs.iter().map(|doc| (DocId::new(*doc), row(*doc))));
    }

    let row = |doc: &u32| row(*doc).filter(|row| T::EMPTY_IS_VALUE || !row.is_empty());
    let now: BTreeMap<DocId, Option<&[T]>> = docs.iter().map(|doc| (DocId::new(*doc), row(doc))).collect();
    assert!(changes.rows((0..all).into()).eq(now.iter().map(|(doc, row)| (*doc, *row))));
    assert_eq!(changes.len() as usize, now.len());
    for doc in (0..all.min(2_000)).map(DocId::new) {
        assert_eq!(changes.get(doc), now.get(&doc).copied(), "document {doc}");
    }
    let is_new = |doc: &u32| doc.is_multiple_of(3) || doc.is_multiple_of(2) && row(doc).is_some();
    let new: Vec<_> = docs.iter().filter(|doc| is_new(doc)).map(|doc| (DocId::new(*doc), row(doc))).collect();
    assert!(changes.since(&before).eq(new.iter().copied()), "new rows");
    assert!(marked.since(&before).eq(new), "new rows since a mark");
    let older = Changes::new(all, is_many);
    assert!(marked.since(&older).eq(marked.rows((0..all).into())), "new rows since before the mark");
    assert_eq!(changes.since(&changes.clone()).count(), 0);
    assert_eq!(marked.since(&marked.clone()).count(), 0);
    changes
}

/// Sets the rows of `docs` to terms, some of them new, in two steps.
fn with_terms<'r>(base: &dyn Column, docs: &[u32], row: impl Fn(u32) -> Vec<&'r [u8]>) -> ColumnChanges {
    let (mut new, mut rows) = (NewTerms::default(), BTreeMap::new());
    let dictionary = base.values().terms().unwrap();
    for step in [1, 0] {
        let some = || docs.iter().filter(|doc| **doc % 2 == step);
        let terms: Vec<&[u8]> = some().flat_map(|doc| row(*doc)).collect();
        let before = new.clone();
        let mut ords = new.add(dictionary, &terms).unwrap().into_iter();
        for doc in some() {
            let mut ords: Vec<TermOrd> = ords.by_ref().take(row(*doc).len()).collect();
            ords.sort_unstable();
            rows.insert(*doc, ords);
        }
        assert_eq!(new.add(dictionary, &terms).unwrap().len(), terms.len());
        assert!(before.len() <= new.len());
    }
    let is_many = base.info().is_multi_valued();
    let row = |doc| rows.get(&doc).map(Vec::as_slice).filter(|row: &&[TermOrd]| !row.is_empty());
    let changes = set(base.info().docs, is_many, docs, row);
    ColumnChanges::Ords(changes, new)
}

/// The terms of a column.
fn terms(column: &dyn Column) -> Vec<Vec<u8>> {
    let (mut all, terms) = (Vec::new(), column.values().terms());
    let each = &mut |_, term: &[u8]| {
        all.push(term.to_vec());
        ControlFlow::Continue(())
    };
    if let Some(terms) = terms {
        terms.each_term(OrdRange::new(0, terms.term_count()), each).unwrap();
    }
    all
}

/// The changes that give a column the slots of `docs` from `other`, and the model of the column then.
fn changes(
    slots: &ModelColumn,
    base: &dyn Column,
    other: &ModelColumn,
    docs: &[u32],
) -> (ColumnChanges, ModelColumn) {
    let all = base.info().docs;
    match (slots, other) {
        (ModelColumn::Numeric(slots), ModelColumn::Numeric(other)) => {
            let row = |doc| other.get(doc as usize)?.as_ref().map(std::slice::from_ref);
            (
                ColumnChanges::Numbers(set(all, false, docs, row)),
                ModelColumn::Numeric(changed(slots, other, docs)),
            )
        }
        (ModelColumn::SortedNumeric(slots), ModelColumn::SortedNumeric(other)) => {
            let mut sorted = other.clone();
            sorted.iter_mut().for_each(|row| row.sort_unstable());
            let row = |doc| sorted.get(doc as usize).map(Vec::as_slice);
            (
                ColumnChanges::Numbers(set(all, true, docs, row)),
                ModelColumn::SortedNumeric(changed(slots, other, docs)),
            )
        }
        (ModelColumn::Binary(slots), ModelColumn::Binary(other)) => {
            let row = |doc| other.get(doc as usize)?.as_deref();
            (
                ColumnChanges::Bytes(set(all, true, docs, row)),
                ModelColumn::Binary(changed(slots, other, docs)),
            )
        }
        (ModelColumn::Sorted(slots), ModelColumn::Sorted(other)) => {
            let row = |doc: u32| other.get(doc as usize).into_iter().flatten().map(Vec::as_slice).collect();
            (with_terms(base, docs, row), ModelColumn::Sorted(changed(slots, other, docs)))
        }
        (ModelColumn::SortedSet(slots), ModelColumn::SortedSet(other)) => {
            let row = |doc: u32| other.get(doc as usize).into_iter().flatten().map(Vec::as_slice).collect();
            (with_terms(base, docs, row), ModelColumn::SortedSet(changed(slots, other, docs)))
        }
        _ => panic!("columns of two kinds"),
    }
}

/// Checks all columns of `dataset` in which the rows of `docs` are those of `other`, and then changed again.
fn check(dataset: &Dataset, other: &Dataset, docs: &[u32]) {
    for (((field, slots), base), (_, other)) in
        dataset.columns.iter().zip(columns(dataset)).zip(&other.columns)
    {
        let mut dictionary = terms(&*base);
        let (changed, model) = changes(slots, &*base, other, docs);
        let column = changed.over(base);
        dictionary.extend(terms(&*other_terms(field, other, dataset.docs, docs)));
        let open = |model: &ModelColumn| model.open_with_terms(field.clone(), dataset.docs, &dictionary);
        check_column(&*column, &*open(&model));
        check_panics(&*column);
        // An overlay over it.
        let some: Vec<u32> = docs.iter().copied().step_by(2).collect();
        let (changed, model) = changes(&model, &*column, slots, &some);
        let again = changed.over(column);
        check_column(&*again, &*open(&model));
    }
}

/// The column of the slots of `docs` alone.
fn other_terms(field: &Field, other: &ModelColumn, all: u32, docs: &[u32]) -> Arc<dyn Column> {
    let only = match other {
        ModelColumn::Sorted(slots) => ModelColumn::Sorted(changed(&[], slots, docs)),
        ModelColumn::SortedSet(slots) => ModelColumn::SortedSet(changed(&[], slots, docs)),
        other => other.clone(),
    };
    only.open(field.clone(), all)
}

/// `dataset` with other values: those of the documents before, and among terms also new ones.
fn shifted(dataset: &Dataset, by: u32) -> Dataset {
    fn shift<S: Clone + Default>(slots: &[S], by: u32) -> Vec<S> {
        let mut shifted = vec![S::default(); by as usize];
        shifted.extend_from_slice(slots);
        shifted.truncate(slots.len());
        shifted
    }
    // Before and after all terms, and between them.
    let renamed = |(at, term): (usize, Vec<u8>)| match at % 4 {
        1 => [b"\0new ", &term[..]].concat(),
        2 => [&[0xff], &term[..]].concat(),
        3 => [&term[..], b"~"].concat(),
        _ => term,
    };
    let column = |column: &ModelColumn| match column {
        ModelColumn::Numeric(slots) => ModelColumn::Numeric(shift(slots, by)),
        ModelColumn::SortedNumeric(slots) => ModelColumn::SortedNumeric(shift(slots, by)),
        ModelColumn::Binary(slots) => ModelColumn::Binary(shift(slots, by)),
        ModelColumn::Sorted(slots) => {
            let slots = shift(slots, by).into_iter().enumerate();
            ModelColumn::Sorted(slots.map(|(at, term)| Some(renamed((at, term?)))).collect())
        }
        ModelColumn::SortedSet(slots) => {
            let set = |set: BTreeSet<_>| set.into_iter().enumerate().map(renamed).collect();
            ModelColumn::SortedSet(shift(slots, by).into_iter().map(set).collect())
        }
    };
    let columns = dataset.columns.iter().map(|(field, slots)| (field.clone(), column(slots)));
    Dataset { docs: dataset.docs, columns: columns.collect() }
}

#[test]
fn columns_of_every_kind_with_changed_rows() {
    let dataset = &EVERY_KIND.0;
    let other = shifted(dataset, 1_001);
    let last = dataset.docs - 1;
    let edges = [0, 63, 64, 511, 512, 513, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, last];
    for (i, docs) in [edges.to_vec(), (0..dataset.docs).step_by(7).collect()].into_iter().enumerate() {
        // Columns take turns, but for the full sweep.
        let some = |dataset: &Dataset| {
            let columns = dataset.columns.iter().skip(cases(i, 0)).step_by(cases(5, 1));
            Dataset { docs: dataset.docs, columns: columns.cloned().collect() }
        };
        check(&some(dataset), &some(&other), &docs);
    }
}

/// The order of new terms is another than that in which they came.
#[test]
fn sets_with_new_terms_before_others() {
    let set = |doc: u8| [b"a", b"b", b"c", b"d"].map(|term| [&term[..], &[doc % 3]].concat()).into();
    let field = Field::new("tags", docvalues::Kind::SortedSet, docvalues::LogicalType::Bytes);
    let columns = vec![(field, ModelColumn::SortedSet((0..130).map(set).collect()))];
    let dataset = Dataset { docs: 130, columns };
    check(&dataset, &shifted(&dataset, 1), &(0..130).collect::<Vec<_>>());
    check(&dataset, &shifted(&dataset, 1), &[0, 3, 4, 63, 64, 129]);
}

/// Two columns at a time, and some of all, to bound the time.
#[test]
fn searches_of_changed_columns() {
    let Dataset { docs, columns } = &EVERY_KIND.0;
    let (docs, other) = (*docs, shifted(&EVERY_KIND.0, 1_001));
    let some: BTreeSet<u32> = (0..docs).step_by(9).chain([docs - 1]).collect();
    let some: Vec<u32> = some.into_iter().collect();
    for (columns, other) in columns.chunks(2).zip(other.columns.chunks(2)).step_by(cases(13, 3)) {
        let dataset = |columns: &[_]| Dataset { docs, columns: columns.to_vec() };
        check_searches_of(&dataset(columns), &dataset(other), &some);
    }
}

/// Checks the searches of a source in which the rows of `docs` are those of `other`.
fn check_searches_of(dataset: &Dataset, other: &Dataset, docs: &[u32]) {
    let file = by_document(dataset, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let (mut changed, mut model) = (Vec::new(), Vec::new());
    for (((field, slots), base), (_, other)) in
        dataset.columns.iter().zip(columns(dataset)).zip(&other.columns)
    {
        let (changes, slots) = changes(slots, &*base, other, docs);
        changed.push((field.clone(), changes));
        model.push((field.clone(), slots));
    }
    let source = OverlaySource::new(Arc::new(segment), changed);
    check_searches(&source, &Dataset { docs: dataset.docs, columns: model });
}

#[test]
fn changed_rows_of_parts() {
    let slots: Vec<Option<i64>> = (0..300).map(|doc| (doc % 4 > 0).then_some(doc * 10)).collect();
    let field = Field::new("size", docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    let open =
        |slots: &[Option<i64>]| ModelColumn::Numeric(slots.to_vec()).open(field.clone(), slots.len() as u32);
    for borders in [vec![0, 100, 300], vec![0, 0, 64, 65, 256, 300]] {
        let without = |border: &[usize]| -> Arc<dyn Column> {
            let mut changes = Changes::new((border[1] - border[0]) as u32, false);
            changes.set((0..changes.docs()).step_by(2).map(|doc| (DocId::new(doc), None)));
            Arc::new(Overlay::<i64>::new(open(&slots[border[0]..border[1]]), changes))
        };
        let mut changed = slots.clone();
        for border in borders.windows(2) {
            changed[border[0]..border[1]].iter_mut().step_by(2).for_each(|slot| *slot = None);
        }
        let concat = Concat::new(borders.windows(2).map(without).collect());
        check_column(&concat, &*open(&changed));
        assert!(concat.info().with_value.exact().is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(5, 40)))]

    #[test]
    fn columns_with_changed_rows(
        (dataset, docs) in shapes::any_dataset(3).prop_flat_map(|dataset| {
            let doc = 0..dataset.docs.max(1);
            let some = prop_oneof![
                prop::collection::btree_set(doc.clone(), 0..20),
                prop::collection::btree_set(doc.clone(), 0..2_000),
                doc.prop_map(|first| (first..first + 5_000).collect()),
            ];
            (Just(dataset), some)
        }),
        by in 1..300_u32,
    ) {
        let docs: Vec<u32> = docs.into_iter().filter(|doc| *doc < dataset.docs).collect();
        check(&dataset, &shifted(&dataset, by), &docs);
        // Those of several blocks in the full sweep.
        if dataset.docs <= cases(3_000, u32::MAX) {
            check_searches_of(&dataset, &shifted(&dataset, by), &docs);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24, 100)))]

    /// Scans and gathers of ranges and lists, of a column in which each document had a value before some of these went.
    #[test]
    fn ranges_and_lists_of_changed_numbers(
        docs in prop::sample::select(vec![1_u32, 511, 512, 513, 65_535, 65_536, 65_537]),
        // All documents, or one.
        first in prop_oneof![Just(0_u32), 0..70_000_u32],
        step in prop::sample::select(vec![1_usize, 9, 100, 5_000, 70_000]),
        removed in prop::sample::select(vec![7_u32, 1_000, u32::MAX]),
        borders in prop::collection::vec(0..70_000_u32, 3),
    ) {
        let mut slots: Vec<Option<i64>> = (0..docs).map(|doc| Some(i64::from(doc % 1_000))).collect();
        let new = |doc: u32| (doc % removed != removed - 1).then(|| 1_000_000 + i64::from(doc));
        let some: Vec<(u32, Option<i64>)> =
            (first % docs..docs).step_by(step).map(|doc| (doc, new(doc))).collect();
        let mut changes = Changes::new(docs, false);
        let rows = some.iter().map(|(doc, row)| (DocId::new(*doc), row.as_ref().map(std::slice::from_ref)));
        changes.set(rows);
        let (_, column) = numbers(slots.clone(), changes);
        some.iter().for_each(|(doc, row)| slots[*doc as usize] = *row);

        let rows = column.values().numbers().unwrap();
        let slot = |doc: DocId| slots.get(doc.get() as usize).copied().flatten();
        let mut gathered = Gathered::new();
        for end in [docs, borders[0], borders[1] % docs, borders[2] % docs + 1] {
            let range = DocRange::new(borders[1].min(end), end);
            let (mut found, mut calls) = (Vec::new(), 0);
            let each = &mut |batch: Batch<'_, i64>| {
                found.extend(batch.docs.iter().zip(batch.values.items().iter().copied()));
                ControlFlow::Continue(())
            };
            rows.scan(range, each).unwrap();
            let expected: Vec<_> = range.iter().filter_map(|doc| Some((doc, slot(doc)?))).collect();
            prop_assert!(found == expected, "scan of {:?}", range);
            let first = &mut |_: Batch<'_, i64>| {
                calls += 1;
                ControlFlow::Break(())
            };
            rows.scan(range, first).unwrap();
            prop_assert_eq!(calls, i32::from(!expected.is_empty()));

            let list: Vec<DocId> = range.iter().map(|doc| DocId::new(doc.get() * 7_919 % 70_001)).collect();
            for docs in [BatchDocs::Run(range), BatchDocs::List(&list)] {
                rows.gather(docs, &mut gathered).unwrap();
                prop_assert_eq!(gathered.len(), docs.len());
                for (at, doc) in docs.iter().enumerate() {
                    prop_assert_eq!(gathered.value(at), slot(doc), "{} of {:?}", doc, range);
                }
            }
        }
    }
}

/// A change in the last zone of a range, though past the end of the range.
#[test]
fn zones_reach_past_the_end_of_a_range() {
    let field = Field::new("size", docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    let base = ModelColumn::Numeric(vec![Some(7); 700]).open(field, 700);
    let mut changes = Changes::new(700, false);
    changes.set([(DocId::new(690), Some(&[1_000][..]))]);
    let column = Overlay::<i64>::new(base, changes);
    let (index, mut zones) = (column.skip_index().unwrap(), Vec::new());
    for (level, len) in index.levels().iter().enumerate() {
        let end = 690 / len * len + 1;
        index.zones(level, DocRange::new(0, end), &mut zones).unwrap();
        assert_eq!(zones.last().map(|zone| zone.max), Some(1_000), "zones of {len}");
        let (mut open, mut pruned) = (vec![0; zones.len().div_ceil(64)], Pruning::default());
        index.may_hold(level, DocRange::new(0, end), &(1_000..=1_000), &mut open, &mut pruned).unwrap();
        assert!(bits::ones(&open).eq([zones.len() - 1]));
        let decided = if level == 0 { pruned.zones } else { pruned.fine_zones };
        assert_eq!((decided.open, decided.none), (1, zones.len() as u64 - 1));
    }
}

/// A source of one column of a segment, in which the rows of some documents are others.
fn numbers(slots: Vec<Option<i64>>, changes: Changes<i64>) -> (OverlaySource, Arc<dyn Column>) {
    let field = Field::new("size", docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    let dataset =
        Dataset { docs: slots.len() as u32, columns: vec![(field.clone(), ModelColumn::Numeric(slots))] };
    let file = by_document(&dataset, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let source = OverlaySource::new(Arc::new(segment), [(field, ColumnChanges::Numbers(changes))]);
    let column = source.column("size").unwrap();
    (source, column)
}

/// Zeros of both signs, NaN, infinities and gaps among ascending doubles, of which zones exclude most.
#[test]
fn doubles_that_changed() {
    const DOCS: u32 = 9_000;
    let field = Field::new("price", docvalues::Kind::Numeric, docvalues::LogicalType::F64);
    let new = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 0.5].map(|price| Some(from_f64(price)));
    let dataset = |slots| Dataset { docs: DOCS, columns: vec![(field.clone(), ModelColumn::Numeric(slots))] };
    let old = dataset((0..DOCS).map(|doc| Some(from_f64(f64::from(doc) - 4_000.5))).collect());
    let other = dataset((0..DOCS as usize).map(|doc| new.get(doc % 7).copied().flatten()).collect());
    for step in [3, 50] {
        let docs: Vec<u32> = (0..DOCS).step_by(step).collect();
        check(&old, &other, &docs);
        check_searches_of(&old, &other, &docs);
    }
}

/// Few and many changes, around the borders of their zones and of a block, and ranges that begin anywhere.
#[test]
fn filters_of_changed_rows_at_borders() {
    const DOCS: u32 = 70_000;
    let new = [None, Some(i64::MIN), Some(i64::MAX), Some(600), Some(-1), Some(10_000)];
    for (count, step) in [1, 62, 64, 65, 66, 128, 3_000].into_iter().flat_map(|n| [(n, 1), (n, 43)]) {
        let first = 65_536 - count * step / 2;
        let docs: Vec<u32> = (first..DOCS).step_by(step as usize).take(count as usize).collect();
        let row = |doc: u32| new[doc as usize % new.len()].as_ref().map(std::slice::from_ref);
        let changes = set(DOCS, false, &docs, row);
        let mut slots: Vec<_> = (0..DOCS).map(|doc| Some(i64::from(doc % 1_000))).collect();
        let (_, column) = numbers(slots.clone(), changes);
        docs.iter().for_each(|doc| slots[*doc as usize] = new[*doc as usize % new.len()]);
        let rows = column.values().numbers().unwrap();
        for docs in
            [(0, DOCS + 9), (1, DOCS), (65_472, 65_600), (65_535, 65_537)].map(|(a, b)| DocRange::new(a, b))
        {
            // All, most, some or none of the new rows.
            let empty = std::ops::RangeInclusive::new(i64::MAX, i64::MIN);
            for wanted in
                [i64::MIN..=i64::MAX, 0..=i64::MAX, 500..=700, 10_000..=20_000, 20_000..=30_000, empty]
            {
                let matches =
                    |doc: usize| slots.get(doc).is_some_and(|slot| slot.is_some_and(|n| wanted.contains(&n)));
                for before in [0, 1 << 5 | 1 << 40] {
                    let mut found = vec![before; docs.words()];
                    rows.filter(docs, &wanted, &mut found, &mut Pruning::default()).unwrap();
                    for (word, found) in found.into_iter().enumerate() {
                        let first = docs.start as usize + 64 * word;
                        let bits =
                            (0..64).filter(|bit| first + bit < docs.end as usize && matches(first + bit));
                        let expected = bits.fold(before, |all, bit| all | 1 << bit);
                        assert_eq!(found, expected, "{count} by {step}: {wanted:?} of {docs:?} from {first}");
                    }
                }
            }
            let mut found = vec![0; docs.words()];
            column.exists(docs, &mut found).unwrap();
            let have = docs.clip(DOCS).iter().filter(|doc| slots[doc.get() as usize].is_some());
            assert!(
                bits::ones(&found).eq(have.map(|doc| docs.place(doc))),
                "{count} by {step}: {docs:?} exist"
            );
        }
    }
}

/// New values that are better than all old ones bound the first, and so do old ones beside a few new ones.
#[test]
fn the_first_of_a_changed_column_are_bounded() {
    const DOCS: u32 = 131_072;
    let keys = [docvalues::SortKey::of("size").descending()];
    let ascending = || -> Vec<Option<i64>> { (0..DOCS).map(|doc| Some(doc.into())).collect() };

    let mut better = Changes::new(DOCS, false);
    let values: Vec<i64> = (0..DOCS).map(|doc| 1_000_000 + i64::from(doc) * 7_919 % 10_007).collect();
    let some = (0..DOCS).step_by(10).map(|doc| (DocId::new(doc), Some(&values[doc as usize..][..1])));
    better.set(some);
    let (_, column) = numbers(ascending(), better);
    let index = column.skip_index().unwrap();
    assert!(index.estimate_nth(40, true).unwrap().is_some_and(|number| number >= 1_000_000));
    assert!(index.estimate_nth(40, false).unwrap().is_none_or(|number| number < 1_000_000));

    let mut one = Changes::new(DOCS, false);
    one.set([(DocId::new(7), Some(&[9][..]))]);
    let (source, _) = numbers(ascending(), one);
    let search = docvalues::search::Search::new(&source).threads(1);
    let (first, profile) = search.top_explained(docvalues::search::Docs::All, &keys, 20).unwrap();
    assert!(first.iter().map(|found| found.doc.get()).eq((DOCS - 20..DOCS).rev()));
    assert!(profile.visited < 10_000, "{profile}");
}

/// Neither some removed values among new ones nor removed values alone are estimated.
#[test]
fn removed_values_do_not_bound_the_first() {
    const DOCS: u32 = 131_072;
    for sign in [1, -1] {
        let numbers_from = |first: i64| (0..DOCS).map(move |doc| sign * (first + i64::from(doc)));
        let values: Vec<i64> = numbers_from(2_000_000).collect();
        let row = |doc: u32| {
            let has = doc < DOCS / 2 && doc.is_multiple_of(2);
            has.then(|| &values[doc as usize..][..1])
        };
        let mut changes = Changes::new(DOCS, false);
        changes.set((0..DOCS).map(|doc| (DocId::new(doc), row(doc))));
        let (_, column) = numbers(numbers_from(1_000_000).map(Some).collect(), changes);
        let index = column.skip_index().unwrap();
        for n in [1, 40, 1_000] {
            let nth = index.estimate_nth(n, sign < 0).unwrap();
            assert!(nth.is_some_and(|nth| nth * sign > 0), "{n}: {nth:?}");
        }
    }
}

/// A source that fails.
struct Failing(ColumnInfo);

impl Column for Failing {
    fn info(&self) -> &ColumnInfo {
        &self.0
    }

    fn exists(&self, _: DocRange, _: &mut [u64]) -> Result<(), ReadError> {
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        Values::Ords(self, self)
    }
}

impl Terms for Failing {
    fn term_count(&self) -> u32 {
        0
    }

    fn gather_terms(&self, _: &[TermOrd], _: &mut Lists<u8>) -> Result<(), ReadError> {
        Ok(())
    }

    fn seek_ceil(&self, _: &[u8]) -> Result<TermOrd, ReadError> {
        Ok(TermOrd::new(0))
    }
}

impl Rows<TermOrd> for Failing {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<TermOrd>) -> Result<(), ReadError> {
        out.begin_one(docs.len()).0.fill(TermOrd::new(u32::MAX - 1));
        Err(ReadErrorKind::NoSuchOrd { field: "host".into(), ord: 9, len: 0 }.into())
    }

    fn scan(&self, _: DocRange, _: &mut Each<'_, TermOrd>) -> Result<(), ReadError> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_column_below_is_returned() {
    let field = Field::new("host", docvalues::Kind::Sorted, docvalues::LogicalType::Utf8);
    let base = Arc::new(Failing(AbsentColumn::of(field, 3).info().clone()));
    let mut new = NewTerms::default();
    let ords = new.add(&*base, &[b"b", b"a"]).unwrap();
    let mut changes = Changes::new(3, false);
    changes.set([(DocId::new(0), Some(&ords[..1]))]);
    let column = TermOverlay::new(base, changes, new);
    let outcome = Rows::gather(&column, DocRange::new(0, 3).into(), &mut Gathered::new());
    assert!(outcome.unwrap_err().to_string().contains("ord 9"));
    let outcome = column.gather_terms(&[TermOrd::new(2)], &mut Lists::new());
    assert_eq!(outcome.unwrap_err().to_string(), "column \"host\": ord 2 of a dictionary with 2 terms");
}

#[test]
fn without_changes_nothing_is_unknown() {
    let field = Field::new("size", docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    let base = ModelColumn::Numeric(vec![Some(7), None, Some(9)]).open(field, 3);
    let mut changes = Changes::new(3, false);
    assert_eq!(Overlay::<i64>::new(base.clone(), changes.clone()).info(), base.info());
    for _ in 0..3 {
        changes.set([(DocId::new(0), Some(&[8][..]))]);
    }
    let column = Overlay::<i64>::new(base, changes);
    assert_eq!(column.info().value_count, Count::AtMost(3));
}

#[test]
fn lists_are_sorted() {
    let mut changes = Changes::<i64>::new(3, true);
    changes.set([(DocId::new(0), Some(&[5, 3, 4][..])), (DocId::new(1), Some(&[][..]))]);
    assert_eq!(
        (changes.get(DocId::new(0)), changes.get(DocId::new(1))),
        (Some(Some(&[3, 4, 5][..])), Some(None))
    );
}

#[test]
#[should_panic(expected = "documents and kind of \"size\"")]
fn changes_fit_the_field() {
    let field = Field::new("size", docvalues::Kind::SortedNumeric, docvalues::LogicalType::I64);
    let base = MemSource::new(3, [(field.clone(), ModelColumn::SortedNumeric(vec![vec![1, 2]]))]);
    OverlaySource::new(Arc::new(base), [(field, ColumnChanges::Numbers(Changes::new(3, false)))]);
}

#[test]
#[should_panic(expected = "document 3 of 3")]
fn a_document_past_the_end_cannot_change() {
    Changes::<i64>::new(3, false).set([(DocId::new(3), None)]);
}

#[test]
#[should_panic(expected = "document 1 is out of order")]
fn documents_ascend() {
    // In two blocks.
    Changes::<i64>::new(70_000, false).set([69_999, 1].map(|doc| (DocId::new(doc), None)));
}

#[test]
#[should_panic(expected = "2 values of document 1")]
fn a_single_value_is_one() {
    Changes::new(3, false).set([(DocId::new(1), Some(&[1_i64, 2][..]))]);
}

#[test]
fn rows_since_a_mark_that_is_far_or_repeated() {
    let all = 100_000;
    let set = |changes: &mut Changes<i64>, docs: &mut dyn Iterator<Item = u32>, value: i64| {
        let value = [value];
        changes.set(docs.map(|doc| (DocId::new(doc), Some(&value[..]))));
    };
    let mut changes = Changes::<i64>::new(all, false);
    set(&mut changes, &mut [5, 70_000].into_iter(), 1);
    for len in [1, 16_383, 16_384, 16_385, 40_000] {
        changes.mark();
        let before = changes.clone();
        // Each document twice, in two blocks; one gets its value back.
        for value in [7, i64::from(len)] {
            let of_parity = |parity| (0..len).filter(move |i| i % 2 == parity);
            set(&mut changes, &mut of_parity(0).chain(of_parity(1).map(|i| 60_000 + i)), value);
        }
        let old = before.get(DocId::new(0)).flatten().map(<[i64]>::to_vec);
        changes.set([(DocId::new(0), old.as_deref())]);
        let expected = changes.rows((0..all).into()).filter(|(doc, row)| before.get(*doc) != Some(*row));
        assert!(changes.since(&before).eq(expected), "{len} documents");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(20, 200)))]

    /// Changes share what they copy on write at these edges.
    #[test]
    fn clones_keep_their_rows(steps in prop::collection::vec(some_rows(), 1..8)) {
        let mut changes = Changes::<i64>::new(ALL, false);
        let (mut model, mut clones) = (BTreeMap::new(), Vec::new());
        for step in steps {
            clones.push((changes.clone(), model.clone()));
            changes.mark();
            let row = |(doc, row): (&u32, &Option<i64>)| (DocId::new(*doc), *row);
            let rows: Vec<_> = step.iter().map(row).collect();
            changes.set(rows.iter().map(|(doc, row)| (*doc, row.as_ref().map(std::slice::from_ref))));
            model.extend(rows);
        }
        clones.push((changes, model));
        let owned = |(doc, row): (DocId, Option<&[i64]>)| (doc, row.map(|row| row[0]));
        for (at, (now, model)) in clones.iter().enumerate() {
            prop_assert!(now.rows((0..ALL).into()).map(owned).eq(model.iter().map(|(doc, row)| (*doc, *row))));
            prop_assert_eq!(now.len() as usize, model.len());
            for (before, old) in &clones[..at] {
                let differs = |(doc, row): &(&DocId, &Option<i64>)| old.get(*doc) != Some(*row);
                let new = model.iter().filter(differs).map(|(doc, row)| (*doc, *row));
                prop_assert!(now.since(before).map(owned).eq(new));
            }
        }
    }
}

/// The documents of a column.
const ALL: u32 = 140_000;

/// New rows of some documents, many of them at edges.
fn some_rows() -> impl Strategy<Value = BTreeMap<u32, Option<i64>>> {
    let edges = vec![0, 63, 64, 16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 81_919, 81_920, ALL - 1];
    let doc = prop_oneof![prop::sample::select(edges), 0..ALL];
    prop::collection::btree_map(doc, prop::option::of(0..3_i64), 0..6)
}
