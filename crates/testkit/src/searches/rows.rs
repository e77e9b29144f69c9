//! The values of each document, for expected results.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use docvalues_column::{DocId, Field, Value};

use crate::model::ModelColumn;
use crate::shapes::Dataset;

/// All columns of a source.
pub(super) struct Rows {
    pub(super) columns: Vec<RowColumn>,
    pub(super) docs: u32,
    /// All documents in each order that was asked for.
    pub(super) orders: RefCell<BTreeMap<String, Rc<[DocId]>>>,
}

/// A column: the values of each document, ascending.
pub(super) struct RowColumn {
    pub(super) field: Field,
    slots: Vec<Vec<Value>>,
}

impl Rows {
    pub(super) fn of(dataset: &Dataset) -> Rows {
        Rows::of_some(dataset, |_| true)
    }

    /// Those of some of the columns.
    pub(super) fn of_some(dataset: &Dataset, is_wanted: impl Fn(&Field) -> bool) -> Rows {
        let columns = dataset.columns.iter().filter(|(field, _)| is_wanted(field)).map(|(field, column)| {
            let slots = match column {
                ModelColumn::Numeric(slots) => {
                    slots.iter().map(|slot| numbers(field, slot.as_slice())).collect()
                }
                ModelColumn::Binary(slots) | ModelColumn::Sorted(slots) => {
                    slots.iter().map(|slot| slot.iter().cloned().map(Value::Bytes).collect()).collect()
                }
                ModelColumn::SortedNumeric(slots) => slots.iter().map(|slot| numbers(field, slot)).collect(),
                ModelColumn::SortedSet(slots) => {
                    slots.iter().map(|slot| slot.iter().cloned().map(Value::Bytes).collect()).collect()
                }
            };
            RowColumn { field: field.clone(), slots }
        });
        Rows { columns: columns.collect(), docs: dataset.docs, orders: RefCell::default() }
    }
}

fn numbers(field: &Field, slot: &[i64]) -> Vec<Value> {
    let mut numbers = slot.to_vec();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| Value::of(field.logical, number)).collect()
}

impl RowColumn {
    /// The values of a document.
    pub(super) fn of(&self, doc: DocId) -> &[Value] {
        self.slots.get(doc.get() as usize).map_or(&[], Vec::as_slice)
    }

    /// The different values of a document that counts see: 0.0 for -0.0.
    pub(super) fn counted(&self, doc: DocId) -> BTreeSet<Value> {
        let one_zero = |value: &Value| match value {
            Value::F64(number) if *number == 0.0 => Value::F64(0.0),
            value => value.clone(),
        };
        self.of(doc).iter().map(one_zero).collect()
    }

    /// All numbers of a numeric column, without NaNs.
    pub(super) fn all_numbers(&self) -> Vec<i64> {
        let values = self.slots.iter().flatten().filter(|value| !self.is_nan(value));
        values.filter_map(Value::stored).collect()
    }

    pub(super) fn is_nan(&self, value: &Value) -> bool {
        matches!(value, Value::F64(number) if number.is_nan())
    }
}
