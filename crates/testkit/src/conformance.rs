//! Every rule that the documentation of the read traits states, as checks that panic.
//!
//! [`check_source`] is the one to call: it compares a source of columns with a [`MemSource`] that was
//! filled from the same values, column by column. The `check_…` of a kind compare one column with
//! another. A panic's text names the column, the operation, and the document or term.
//!
//! | file | rules of |
//! | --- | --- |
//! | `subject.rs` | what the five kinds have in common, so that a rule is written once |
//! | `kinds.rs` | how each kind is asked, what it must leave behind in outputs, which filters |
//! | `documents.rs` | `get`, `gather`, `gather_or`, `scan`, `docs_with_value` |
//! | `filters.rs` | `filter`, `exists` |
//! | `terms.rs` | the dictionary |
//! | `contract.rs` | panics, which only [`check_panics`] provokes |
//!
//! The model is believed for `get` and `term` alone; all other answers are worked out from these, so
//! that a model in other hands is checked as much as a column.
//!
//! What the traits leave open is not checked: the sizes of batches, the bits of `present` behind the
//! last document asked for, where an empty range of ords lies.

mod contract;
mod documents;
mod filters;
mod kinds;
mod subject;
mod terms;

use docvalues_column::{
    AnyColumn, BinaryColumn, ColumnSource, ErrorKind, NumericColumn, SortedColumn, SortedNumericColumn,
    SortedSetColumn,
};

pub use contract::check_panics;

use crate::model::MemSource;
use kinds::{Binary, Numeric, Sorted, SortedNumeric, SortedSet};
use subject::{Expected, Subject};

/// Checks that `source` has the columns of `model`, and that each keeps every rule.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_source(source: &dyn ColumnSource, model: &MemSource) {
    assert_eq!(source.docs(), model.docs(), "documents of the source");
    let names = source.names().unwrap_or_else(|error| panic!("names: {error}"));
    assert_eq!(names, model.names().unwrap(), "names of the columns");
    for name in &names {
        let column = source.column(name).unwrap_or_else(|error| panic!("column `{name}`: {error}"));
        check_column(&column, &model.column(name).unwrap());
        check_absent(source, &names, &format!("{name}\0"));
        check_absent(source, &names, &name[..name.floor_char_boundary(name.len() - 1)]);
    }
    check_absent(source, &names, "");
    check_absent(source, &names, "\u{10FFFF}");
}

/// Checks that a name which is none is refused by its name.
fn check_absent(source: &dyn ColumnSource, names: &[String], absent: &str) {
    if names.iter().any(|name| name == absent) {
        return;
    }
    match source.column(absent) {
        Ok(column) => panic!("column {absent:?}: found {column:?}, but there is none"),
        Err(error) => {
            let named = matches!(error.kind(), ErrorKind::NoSuchColumn { field, .. } if field == absent);
            assert!(named, "column {absent:?}: NoSuchColumn expected, not {error:?}");
        }
    }
}

/// Checks a column of any kind against a model of the same kind.
///
/// # Panics
///
/// At the first rule that is broken, or if the kinds differ.
pub fn check_column(column: &AnyColumn, model: &AnyColumn) {
    match (column, model) {
        (AnyColumn::Numeric(column), AnyColumn::Numeric(model)) => check_numeric(&**column, &**model),
        (AnyColumn::Binary(column), AnyColumn::Binary(model)) => check_binary(&**column, &**model),
        (AnyColumn::Sorted(column), AnyColumn::Sorted(model)) => check_sorted(&**column, &**model),
        (AnyColumn::SortedNumeric(column), AnyColumn::SortedNumeric(model)) => {
            check_sorted_numeric(&**column, &**model);
        }
        (AnyColumn::SortedSet(column), AnyColumn::SortedSet(model)) => check_sorted_set(&**column, &**model),
        _ => panic!("{model:?} expected, found {column:?}"),
    }
}

/// Checks a numeric column against a model.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_numeric(column: &dyn NumericColumn, model: &dyn NumericColumn) {
    let expected = check(&Numeric(column), &Numeric(model));
    let bounds = kinds::bounds(expected.slots.iter().flatten());
    assert_eq!(column.bounds(), bounds, "column `{}`: bounds", expected.name);
}

/// Checks a binary column against a model.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_binary(column: &dyn BinaryColumn, model: &dyn BinaryColumn) {
    check(&Binary(column), &Binary(model));
}

/// Checks a sorted column against a model: its ords and its dictionary.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_sorted(column: &dyn SortedColumn, model: &dyn SortedColumn) {
    terms::check(&column.field().name, column, model);
    check(&Sorted(column), &Sorted(model));
}

/// Checks a sorted-numeric column against a model.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_sorted_numeric(column: &dyn SortedNumericColumn, model: &dyn SortedNumericColumn) {
    let expected = check(&SortedNumeric(column), &SortedNumeric(model));
    let values = || expected.slots.iter().flatten().flatten();
    assert_eq!(column.bounds(), kinds::bounds(values()), "column `{}`: bounds", expected.name);
    let count = values().count() as u64;
    assert_eq!(column.value_count(), count, "column `{}`: value_count", expected.name);
}

/// Checks a sorted-set column against a model: its ords and its dictionary.
///
/// # Panics
///
/// At the first rule that is broken.
pub fn check_sorted_set(column: &dyn SortedSetColumn, model: &dyn SortedSetColumn) {
    terms::check(&column.field().name, column, model);
    let expected = check(&SortedSet(column), &SortedSet(model));
    let count = expected.slots.iter().flatten().flatten().count() as u64;
    assert_eq!(column.value_count(), count, "column `{}`: value_count", expected.name);
}

/// The rules that hold for every kind. Returns the values that the model has.
fn check<S: Subject>(column: &S, model: &S) -> Expected<S::Value> {
    let name = &model.column().field().name;
    assert_eq!(column.column().field(), model.column().field(), "column `{name}`: field");
    assert_eq!(column.column().docs(), model.column().docs(), "column `{name}`: docs");
    let expected = Expected::of(model);
    documents::check(column, &expected);
    filters::check(column, &expected);
    expected
}

#[cfg(test)]
mod tests;
