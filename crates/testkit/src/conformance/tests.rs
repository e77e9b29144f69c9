//! The suite accepts correct columns, and catches every fault of [`Faulty`] columns.

mod calls;
mod defaults;
mod faulty;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues_column::{AbsentColumn, Field, LogicalType, Result, SortKey};

use super::*;
use crate::rng::SplitMix64;
use faulty::{Fault, Faulty};

/// Documents of the tested columns: several words, the last one partial.
const DOCS: u32 = 300;

fn field(kind: Kind) -> Field {
    let logical = if kind.is_bytes() { LogicalType::Utf8 } else { LogicalType::I64 };
    Field::new("faulty", kind, logical)
}

/// Two of three documents have a value, among them [`faulty::DOC`]; the last ones have none.
fn slots<T>(mut value: impl FnMut(&mut SplitMix64) -> T) -> Vec<Option<T>> {
    let mut rng = SplitMix64::new(1);
    (0..DOCS - 5).map(|doc| (doc == faulty::DOC || doc % 3 != 0).then(|| value(&mut rng))).collect()
}

fn lists<T: Default>(value: impl FnMut(&mut SplitMix64) -> T) -> Vec<T> {
    slots(value).into_iter().map(Option::unwrap_or_default).collect()
}

fn term(rng: &mut SplitMix64) -> Vec<u8> {
    format!("term {}", rng.below(50)).into_bytes()
}

fn correct(kind: Kind) -> Arc<dyn Column> {
    let column = match kind {
        Kind::Numeric => ModelColumn::Numeric(slots(|rng| rng.below(1000) as i64 - 500)),
        Kind::Binary => ModelColumn::Binary(slots(term)),
        Kind::Sorted => ModelColumn::Sorted(slots(term)),
        Kind::SortedNumeric => {
            ModelColumn::SortedNumeric(lists(|rng| (0..1 + rng.below(4) as i64).map(|i| i * 10).collect()))
        }
        Kind::SortedSet => {
            ModelColumn::SortedSet(lists(|rng| (0..1 + rng.below(3)).map(|_| term(rng)).collect()))
        }
    };
    column.open(field(kind), DOCS)
}

/// Fails unless `check` panics with a message that has each of `words`.
#[track_caller]
fn caught(fault: impl std::fmt::Debug, words: &[&str], check: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(check)) else { panic!("{fault:?} was not caught") };
    let message = panic.downcast::<String>().expect("a formatted message");
    for word in words {
        assert!(message.contains(word), "{fault:?}: no \"{word}\" in: {message}");
    }
}

/// Faults that a column of any kind can have, and text that the message must contain.
const ANY_KIND: [(Fault, &str); 29] = [
    (Fault::IsAbsent, "is_absent, but"),
    (Fault::Field, "field"),
    (Fault::Docs, "docs"),
    (Fault::WithValue, "with_value: Exact"),
    (Fault::WithValueAtMost, "with_value: AtMost"),
    (Fault::ValueCount, "value_count"),
    (Fault::Bounds, "bounds: Exact"),
    (Fault::Sum, "sum: Some"),
    (Fault::Values, "expected values of kind"),
    (Fault::Exists, "exists"),
    (Fault::Get, "get: document 42 has"),
    (Fault::GetPastEnd, "get: document 300 has"),
    (Fault::GetAppends, "get: document"),
    (Fault::Gather, "ascending: document 42 has"),
    (Fault::GatherDescending, "gather, descending: document"),
    (Fault::GatherRun, "gather of 0..300: document 42 has"),
    (Fault::GatherTooMany, "rows for documents"),
    (Fault::GatherForm, "whether rows are lists"),
    (Fault::GatherStale, "is missing, but its row is"),
    (Fault::ScanValue, "scan of 0..300: document 42 has"),
    (Fault::ScanSkips, "scan of 0..300: missed document"),
    (Fault::ScanTwice, "scan of 0..300: found document"),
    (Fault::ScanEmptyBatch, "an empty batch"),
    (Fault::ScanGoesOn, "continued after the break"),
    (Fault::FilterBit, "document 42 is missing"),
    (Fault::FilterClears, "is missing"),
    (Fault::FilterBeyond, "is set"),
    (Fault::FilterForgets, "pruning shrinks"),
    (Fault::Fails, "failed on good bytes"),
];

const NUMBERS: [(Fault, &str); 1] = [(Fault::BoundsWithin, "bounds: Within")];
const ZONES: [(Fault, &str); 10] = [
    (Fault::Levels, "no powers of two"),
    (Fault::LevelsFineFirst, "not from coarse to fine"),
    (Fault::ZoneCount, "number of zones"),
    (Fault::ZoneNarrow, "zones of 0..300 in zones of 256 documents: zone 0"),
    (Fault::ZoneAllPresent, "lacks a value, but is all_present"),
    (Fault::MayHoldMisses, "misses zone 1"),
    (Fault::MayHoldClears, "is cleared"),
    (Fault::MayHoldBeyond, "past the last zone is set"),
    (Fault::MayHoldForgets, "pruning shrinks"),
    (Fault::Guess, "estimate_nth: failed"),
];
const NO_ZONES: [(Fault, &str); 1] = [(Fault::HasSkipIndex, "skip_index: expected none")];
const PRESENT: [(Fault, &str); 1] = [(Fault::GatherPresent, "is present")];
const FILL: [(Fault, &str); 1] = [(Fault::GatherFill, "filled with")];
const TERMS: [(Fault, &str); 12] = [
    (Fault::TermCount, "term_count"),
    (Fault::Term, "term of 3"),
    (Fault::TermAppends, "term of"),
    (Fault::TermPastEnd, "term of ord"),
    (Fault::SeekExact, "seek_exact"),
    (Fault::Place, "place"),
    (Fault::SeekCeil, "seek_ceil"),
    (Fault::Prefix, "prefix"),
    (Fault::TermRange, "term_range"),
    (Fault::GatherTerms, "gather_terms"),
    (Fault::EachTerm, "each_term"),
    (Fault::EachTermGoesOn, "continued after a break"),
];

/// Checks that each fault of a column of `kind` is caught.
fn faults(kind: Kind, faults: &[&[(Fault, &'static str)]]) {
    let correct = correct(kind);
    check_column(&Faulty::new(&correct, Fault::None), &*correct);
    check_column(&Faulty::new(&correct, Fault::Vague), &*correct);
    for (fault, words) in ANY_KIND.iter().chain(faults.iter().copied().flatten()) {
        let faulty = Faulty::new(&correct, *fault);
        caught(fault, &["\"faulty\"", words], || check_column(&faulty, &*correct));
    }
}

#[test]
fn faulty_numbers_are_caught() {
    faults(Kind::Numeric, &[&NUMBERS, &ZONES, &PRESENT, &FILL]);
}

#[test]
fn faulty_byte_strings_are_caught() {
    faults(Kind::Binary, &[&PRESENT, &NO_ZONES]);
}

#[test]
fn faulty_terms_are_caught() {
    faults(Kind::Sorted, &[&PRESENT, &FILL, &TERMS, &NO_ZONES]);
}

#[test]
fn faulty_lists_of_numbers_are_caught() {
    faults(Kind::SortedNumeric, &[&NUMBERS]);
}

#[test]
fn faulty_sets_of_terms_are_caught() {
    faults(Kind::SortedSet, &[&TERMS, &NO_ZONES]);
}

#[test]
fn a_stand_in_has_no_values() {
    for (kind, docs) in Kind::ALL.into_iter().flat_map(|kind| [(kind, 0), (kind, DOCS)]) {
        let absent = AbsentColumn::of(field(kind), docs);
        check_stand_in(&absent);
        check_panics(&absent);
    }
    for kind in Kind::ALL {
        let correct = correct(kind);
        caught(Fault::None, &["\"faulty\"", "expected is_absent"], || check_stand_in(&*correct));
        let is_absent = Faulty::new(&correct, Fault::IsAbsent);
        caught(Fault::IsAbsent, &["\"faulty\""], || check_stand_in(&is_absent));
    }
}

#[test]
fn outputs_that_are_too_short_panic() {
    for kind in Kind::ALL {
        let correct = correct(kind);
        check_panics(&*correct);
        let lenient = Faulty::new(&correct, Fault::Lenient);
        caught(Fault::Lenient, &["filter: expected a panic"], || check_panics(&lenient));
    }
}

/// A source with one fault, named by the message that it causes.
struct FaultySource(MemSource, &'static str, AtomicU64);

impl FaultySource {
    fn new(model: &MemSource, fault: &'static str) -> FaultySource {
        FaultySource(model.clone(), fault, AtomicU64::new(100))
    }
}

impl ColumnSource for FaultySource {
    fn docs(&self) -> u32 {
        self.0.docs() + u32::from(self.1 == "documents of the source")
    }

    fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = self.0.fields()?;
        if self.1 == "fields of the columns" {
            fields.reverse();
        }
        Ok(fields)
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        match self.1 {
            // The column with the next name, as a binary search would find.
            "found a column" => {
                let next = self.0.fields()?.into_iter().find(|next| next.name.as_str() >= name);
                self.0.column(&next.unwrap_or(field(Kind::Numeric)).name)
            }
            "field" if name == "faulty" => self.0.column("a"),
            "found another error" => self.0.column(name).map_err(|_| {
                ErrorKind::NoSuchColumn { file: "memory".into(), field: "another".into() }.into()
            }),
            _ => self.0.column(name),
        }
    }

    fn sort(&self) -> &[SortKey] {
        static KEYS: std::sync::LazyLock<[SortKey; 4]> = std::sync::LazyLock::new(|| {
            let keys = ["a", "faulty", "none", "many"].map(SortKey::of);
            keys.map(SortKey::missing_first)
        });
        match self.1 {
            "sort: document 3 belongs before document 2 by faulty" => &KEYS[1..2],
            "no column \"none\"" => &KEYS[..3],
            "several values a document" => &KEYS[3..],
            _ => &KEYS[..2],
        }
    }

    fn bytes_touched(&self) -> u64 {
        match self.1 {
            "fewer bytes touched than before" => self.2.fetch_sub(1, Ordering::Relaxed),
            _ => self.2.fetch_add(1, Ordering::Relaxed),
        }
    }
}

#[test]
fn faulty_sources_are_caught() {
    let named = |name: &str, kind| Field { name: name.into(), ..field(kind) };
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    let strings = vec![None, bytes("m"), bytes("x"), None, bytes("a"), bytes("b")];
    let columns = [
        (named("a", Kind::Numeric), ModelColumn::Numeric([0, 0, 0, 1, 1, 1].map(Some).to_vec())),
        (named("faulty", Kind::Binary), ModelColumn::Binary(strings)),
        (named("many", Kind::SortedNumeric), ModelColumn::SortedNumeric(vec![vec![1, 2]])),
    ];
    let model = MemSource::new(6, columns);
    check_source(&FaultySource::new(&model, "nothing"), &model);
    let faults = [
        "documents of the source",
        "fields of the columns",
        "found a column",
        "field",
        "found another error",
        "sort: document 3 belongs before document 2 by faulty",
        "no column \"none\"",
        "several values a document",
        "fewer bytes touched than before",
    ];
    for fault in faults {
        let source = FaultySource::new(&model, fault);
        caught(fault, &[fault], || check_source(&source, &model));
    }
}
