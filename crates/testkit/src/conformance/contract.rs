//! Contract violations: an output that is too short panics, as slices do, and is never filled in part.

use std::panic::{AssertUnwindSafe, catch_unwind};

use docvalues_column::{Column, DocRange, Pruning, Result, Values};

use super::expected::Probe;
use crate::rng::SplitMix64;

/// Checks that every operation of a column panics if its output is too short.
///
/// It is not part of [`check_source`](super::check_source): a panic is printed even if it is caught, and a fuzzer
/// reports it as a crash.
///
/// # Panics
///
/// If an operation does not panic.
pub fn check_panics(column: &dyn Column) {
    // Two words are needed.
    let docs = DocRange::new(0, 65);
    must_panic(column, "exists", || column.exists(docs, &mut [0]));
    match column.values() {
        Values::Numbers(_) => filter::<i64>(column, docs),
        Values::Ords(..) => filter::<docvalues_column::TermOrd>(column, docs),
        Values::Bytes(_) => filter::<u8>(column, docs),
    }
    let info = column.info();
    if let Some(index) = column.skip_index().filter(|_| info.with_value.exact().is_some_and(|some| some > 0))
    {
        let (docs, all) = (DocRange::new(0, info.docs), i64::MIN..=i64::MAX);
        for level in 0..index.levels().len() {
            let mut pruned = Pruning::default();
            must_panic(column, "may_hold", || index.may_hold(level, docs, &all, &mut [], &mut pruned));
        }
    }
}

fn filter<T: Probe>(column: &dyn Column, docs: DocRange) {
    let rows = T::rows(column.values()).expect("rows of the column's own kind");
    for wanted in T::queries(&[], &mut SplitMix64::new(0)) {
        must_panic(column, "filter", || rows.filter(docs, &wanted, &mut [0], &mut Pruning::default()));
    }
}

fn must_panic(column: &dyn Column, operation: &str, run: impl FnOnce() -> Result<()>) {
    let name = &column.info().field.name;
    let outcome = catch_unwind(AssertUnwindSafe(run));
    assert!(
        outcome.is_err(),
        "column \"{name}\": {operation}: expected a panic, because the output is too short"
    );
}
