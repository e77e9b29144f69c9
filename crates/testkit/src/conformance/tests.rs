//! The suite lets honest columns pass, and catches every kind of wrong one.

mod liar;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use docvalues_column::{Column, Field, Kind, LogicalType};

use super::*;
use crate::model::{MemBinary, MemNumeric, MemSorted, MemSortedNumeric, MemSortedSet, ModelColumn};
use crate::rng::SplitMix64;
use liar::{Liar, Lie};

/// Documents of the columns that are lied about: several words, the last one not full.
const DOCS: u32 = 300;

fn field(kind: Kind) -> Field {
    let logical = if kind.is_bytes() { LogicalType::Utf8 } else { LogicalType::I64 };
    Field::new("lied about", kind, logical)
}

/// Two of three documents have a value, among them [`liar::DOC`]; the last ones have none.
fn slots<T>(mut value: impl FnMut(&mut SplitMix64) -> T) -> Vec<Option<T>> {
    let mut rng = SplitMix64::new(1);
    (0..DOCS - 5).map(|doc| (doc == liar::DOC || doc % 3 != 0).then(|| value(&mut rng))).collect()
}

fn term(rng: &mut SplitMix64) -> Vec<u8> {
    format!("term {}", rng.below(50)).into_bytes()
}

/// Fails unless `check` panics with a message that names the column and `operation`.
#[track_caller]
fn caught(lie: Lie, operation: &str, check: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(check)) else { panic!("{lie:?} was not caught") };
    let message = panic.downcast::<String>().expect("a formatted message");
    assert!(message.contains("lied about"), "{lie:?}: no column in: {message}");
    assert!(message.contains(operation), "{lie:?}: no `{operation}` in: {message}");
}

/// Lies that can be told of any kind, and what the message must name.
const ANY_KIND: [(Lie, &str); 17] = [
    (Lie::Field, "field"),
    (Lie::Docs, "docs"),
    (Lie::DocsWithValue, "docs_with_value"),
    (Lie::Exists, "exists"),
    (Lie::Get, "get: document 42"),
    (Lie::GetPastEnd, "get: document"),
    (Lie::Gather, "document 42"),
    (Lie::GatherDescending, "gather, descending"),
    (Lie::ScanValue, "document 42|scan"),
    (Lie::ScanSkips, "scan"),
    (Lie::ScanTwice, "scan"),
    (Lie::ScanEmptyBatch, "an empty batch"),
    (Lie::ScanGoesOn, "went on"),
    (Lie::FilterBit, "document 42 is missing"),
    (Lie::FilterClears, "is missing"),
    (Lie::FilterBeyond, "is set"),
    (Lie::Fails, "failed on good bytes"),
];

const NUMBERS: [(Lie, &str); 1] = [(Lie::Bounds, "bounds")];
const ONE_NUMBER: [(Lie, &str); 2] = [(Lie::Candidates, "candidates"), (Lie::Stretches, "open stretches of")];
const MULTI: [(Lie, &str); 2] =
    [(Lie::ValueCount, "value_count"), (Lie::GatherAppends, "gather, |lists for")];
const SINGLE: [(Lie, &str); 3] = [
    (Lie::GatherPresent, "gather"),
    (Lie::GatherNotZero, "is not present, but"),
    (Lie::GatherOr, "gather_or"),
];
const TERMS: [(Lie, &str); 11] = [
    (Lie::TermCount, "term_count"),
    (Lie::Term, "term of 3"),
    (Lie::TermAppends, "term of"),
    (Lie::TermPastEnd, "term of ord"),
    (Lie::SeekExact, "seek_exact"),
    (Lie::SeekCeil, "seek_ceil"),
    (Lie::Prefix, "prefix"),
    (Lie::TermRange, "term_range"),
    (Lie::GatherTerms, "gather_terms"),
    (Lie::EachTerm, "each_term"),
    (Lie::EachTermGoesOn, "went on after a break"),
];

fn told<C>(honest: C, lies: &[&[(Lie, &'static str)]], check: impl Fn(&Liar<C>, &C))
where
    C: Clone + Column,
{
    check(&Liar::new(honest.clone(), Lie::None), &honest);
    for &(lie, operations) in lies.iter().copied().flatten() {
        let liar = Liar::new(honest.clone(), lie);
        for operation in operations.split('|') {
            caught(lie, operation, || check(&liar, &honest));
        }
    }
}

#[test]
fn lies_about_numbers_are_caught() {
    let honest = MemNumeric::new(field(Kind::Numeric), DOCS, slots(|rng| rng.below(1000) as i64 - 500));
    told(honest, &[&ANY_KIND, &NUMBERS, &ONE_NUMBER, &SINGLE], |liar, honest| check_numeric(liar, honest));
}

#[test]
fn lies_about_byte_strings_are_caught() {
    let honest = MemBinary::new(field(Kind::Binary), DOCS, slots(term));
    told(honest, &[&ANY_KIND, &SINGLE], |liar, honest| check_binary(liar, honest));
}

#[test]
fn lies_about_terms_are_caught() {
    let honest = MemSorted::from_terms(field(Kind::Sorted), DOCS, &slots(term));
    told(honest, &[&ANY_KIND, &SINGLE, &TERMS], |liar, honest| check_sorted(liar, honest));
}

#[test]
fn lies_about_lists_of_numbers_are_caught() {
    let lists = slots(|rng| (0..1 + rng.below(4) as i64).map(|i| i * 10).collect::<Vec<i64>>());
    let lists = lists.into_iter().map(Option::unwrap_or_default).collect();
    let honest = MemSortedNumeric::new(field(Kind::SortedNumeric), DOCS, lists);
    told(honest, &[&ANY_KIND, &NUMBERS, &MULTI], |liar, honest| check_sorted_numeric(liar, honest));
}

#[test]
fn lies_about_sets_of_terms_are_caught() {
    let sets = slots(|rng| (0..1 + rng.below(3)).map(|_| term(rng)).collect::<BTreeSet<_>>());
    let sets: Vec<_> = sets.into_iter().map(Option::unwrap_or_default).collect();
    let honest = MemSortedSet::from_terms(field(Kind::SortedSet), DOCS, &sets);
    told(honest, &[&ANY_KIND, &MULTI, &TERMS], |liar, honest| check_sorted_set(liar, honest));
}

#[test]
fn outputs_that_are_too_short_panic() {
    for kind in Kind::ALL {
        let slots = slots(term);
        let column = match kind {
            Kind::Numeric => ModelColumn::Numeric(vec![None, Some(7)]),
            Kind::Binary => ModelColumn::Binary(slots),
            Kind::Sorted => ModelColumn::Sorted(slots),
            Kind::SortedNumeric => ModelColumn::SortedNumeric(vec![vec![1, 2]]),
            Kind::SortedSet => ModelColumn::SortedSet(vec![BTreeSet::from([b"a".to_vec()])]),
        };
        check_panics(&column.open(field(kind), DOCS));
    }
    let honest = MemNumeric::new(field(Kind::Numeric), DOCS, vec![None, Some(7)]);
    let lenient = AnyColumn::Numeric(Arc::new(Liar::new(honest, Lie::Lenient)));
    caught(Lie::Lenient, "gather_or: an output that is too short", || check_panics(&lenient));
}

/// A source that is right but for one thing.
struct LiarSource(MemSource, &'static str);

impl ColumnSource for LiarSource {
    fn docs(&self) -> u32 {
        self.0.docs() + u32::from(self.1 == "documents of the source")
    }

    fn names(&self) -> docvalues_column::Result<Vec<String>> {
        let mut names = self.0.names()?;
        if self.1 == "names of the columns" {
            names.reverse();
        }
        Ok(names)
    }

    fn column(&self, name: &str) -> docvalues_column::Result<AnyColumn> {
        match self.1 {
            // The name that follows, as a search in a sorted list finds.
            "but there is none" => {
                let next = self.0.names()?.into_iter().find(|next| next.as_str() >= name);
                self.0.column(&next.unwrap_or_default())
            }
            "expected, found" if name == "lied about" => self.0.column("a"),
            "NoSuchColumn expected" => self.0.column(name).map_err(|_| {
                ErrorKind::NoSuchColumn { file: "memory".into(), field: "another".into() }.into()
            }),
            _ => self.0.column(name),
        }
    }
}

#[test]
fn lies_about_a_source_are_caught() {
    let named = |name: &str, kind| Field { name: name.into(), ..field(kind) };
    let columns = [
        (named("a", Kind::Numeric), ModelColumn::Numeric(vec![Some(1)])),
        (named("lied about", Kind::Binary), ModelColumn::Binary(vec![None, Some(b"x".to_vec())])),
    ];
    let model = MemSource::new(DOCS, columns);
    check_source(&LiarSource(model.clone(), "nothing"), &model);
    let lies = [
        "documents of the source",
        "names of the columns",
        "but there is none",
        "expected, found",
        "NoSuchColumn expected",
    ];
    for lie in lies {
        let source = LiarSource(model.clone(), lie);
        let panic = catch_unwind(AssertUnwindSafe(|| check_source(&source, &model))).unwrap_err();
        let message = panic.downcast::<String>().unwrap();
        assert!(message.contains(lie), "{lie}: {message}");
    }
}
