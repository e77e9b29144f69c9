//! The conformance suite: a check of every rule that the documentation of the read traits states. Checks panic.
//!
//! Call [`check_source`]. It compares a source of columns with a [`MemSource`] of the same values, column by column.
//! [`check_column`] compares one column with another, and [`check_stand_in`] one for a missing column with no values. The
//! message of a panic names the column, the operation, and the document or term.
//!
//! | file | rules of |
//! | --- | --- |
//! | `expected.rs` | the expected rows, generic over the element, so that each rule is written once |
//! | `info.rs` | `ColumnInfo`: counts, bounds, sum |
//! | `documents.rs` | `get`, `gather`, `scan` |
//! | `filters.rs` | `filter`, `exists` |
//! | `skip_index.rs` | zones |
//! | `terms.rs` | the dictionary |
//! | `sort.rs` | the index sort of a source |
//! | `contract.rs` | panics, which only [`check_panics`] provokes |
//!
//! Of the model, only `get` and `term` are used. All other expected results are computed from these, so the suite also
//! checks the model.
//!
//! The suite does not check what the traits leave open: the sizes of batches, the start of an empty range of ords, and
//! the counts of `pruned`, except that they do not shrink.

mod contract;
mod documents;
mod expected;
mod filters;
mod info;
mod skip_index;
mod sort;
mod terms;

use docvalues_column::{Column, ColumnSource, ErrorKind, Kind, Rows, Values};

pub use contract::check_panics;

use crate::model::{MemSource, ModelColumn};
use expected::{Expected, Probe};

/// Checks that `source` has the columns of `model`, and that each follows every rule.
///
/// # Panics
///
/// If a rule is broken.
pub fn check_source(source: &dyn ColumnSource, model: &MemSource) {
    let touched = source.bytes_touched();
    assert_eq!(source.docs(), model.docs(), "documents of the source");
    let fields = source.fields().unwrap_or_else(|error| panic!("fields: {error}"));
    assert_eq!(fields, model.fields().unwrap(), "fields of the columns");
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    for name in &names {
        let column = source.column(name).unwrap_or_else(|error| panic!("column \"{name}\": {error}"));
        check_column(&*column, &*model.column(name).unwrap());
        check_absent(source, &names, &format!("{name}\0"));
        let mut shorter = name.chars();
        shorter.next_back();
        check_absent(source, &names, shorter.as_str());
    }
    check_absent(source, &names, "");
    check_absent(source, &names, "\u{10FFFF}");
    sort::check(source.sort(), model);
    let then = source.bytes_touched();
    assert!(then >= touched, "fewer bytes touched than before: {then} after {touched}");
}

/// Checks that a source returns `NoSuchColumn` for a name that none of its columns has.
fn check_absent(source: &dyn ColumnSource, names: &[&str], absent: &str) {
    if names.contains(&absent) {
        return;
    }
    match source.column(absent) {
        Ok(column) => panic!("column {absent:?}: expected NoSuchColumn, found a column: {column:?}"),
        Err(error) => {
            let named = matches!(error.kind(), ErrorKind::NoSuchColumn { field, .. } if field == absent);
            assert!(named, "column {absent:?}: expected NoSuchColumn, found another error: {error:?}");
        }
    }
}

/// Checks a column of any kind against a model of the same kind.
///
/// # Panics
///
/// If a rule is broken, or the kinds differ.
pub fn check_column(column: &dyn Column, model: &dyn Column) {
    let name = &model.info().field.name;
    assert!(!column.is_absent(), "column \"{name}\": is_absent, but the source has it");
    check_values(column, model);
}

/// Checks a column of any kind that stands in for one that its source lacks: it has no values.
///
/// # Panics
///
/// If a rule is broken.
pub fn check_stand_in(column: &dyn Column) {
    let info = column.info();
    assert!(column.is_absent(), "column \"{}\": expected is_absent", info.field.name);
    let nothing = match info.kind() {
        Kind::Numeric => ModelColumn::Numeric(Vec::new()),
        Kind::Binary => ModelColumn::Binary(Vec::new()),
        Kind::Sorted => ModelColumn::Sorted(Vec::new()),
        Kind::SortedNumeric => ModelColumn::SortedNumeric(Vec::new()),
        Kind::SortedSet => ModelColumn::SortedSet(Vec::new()),
    };
    check_values(column, &*nothing.open(info.field.clone(), info.docs));
}

fn check_values(column: &dyn Column, model: &dyn Column) {
    let name = &model.info().field.name;
    assert_eq!(column.info().field, model.info().field, "column \"{name}\": field");
    assert_eq!(column.info().docs, model.info().docs, "column \"{name}\": docs");
    match (column.values(), model.values()) {
        (Values::Numbers(rows), Values::Numbers(model_rows)) => {
            let expected = check_rows(column, rows, model_rows);
            if let Some(index) = column.skip_index() {
                skip_index::check(index, &expected);
            }
            return;
        }
        (Values::Ords(rows, terms), Values::Ords(model_rows, model_terms)) => {
            terms::check(name, terms, model_terms);
            check_rows(column, rows, model_rows);
        }
        (Values::Bytes(rows), Values::Bytes(model_rows)) => {
            check_rows(column, rows, model_rows);
        }
        _ => panic!("column \"{name}\": expected values of kind {:?}, found others", model.info().kind()),
    }
    assert!(
        column.skip_index().is_none(),
        "column \"{name}\": skip_index: expected none, the column is not numeric"
    );
}

/// Checks the rules of every kind. Returns the rows of the model.
fn check_rows<T: Probe>(column: &dyn Column, rows: &dyn Rows<T>, model: &dyn Rows<T>) -> Expected<T> {
    let info = column.info();
    let is_many = info.is_multi_valued() || T::EMPTY_IS_VALUE;
    let expected = Expected::of(&info.field.name, info.docs, is_many, model);
    info::check(info, &expected);
    documents::check(rows, &expected);
    filters::check(column, rows, &expected);
    expected
}

#[cfg(test)]
mod tests;
