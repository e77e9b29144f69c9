//! The value of a document that it is grouped by.

use docvalues_column::{AnyColumn, bits};

use crate::columns::Slot;
use crate::value::Value;
use crate::window::{NO_ORD, Window};

/// The value of the window's document `at`; of a term its ord, as a number.
pub(super) fn of(window: &Window<'_>, by: Slot, at: usize) -> Option<Value> {
    match window.column(by) {
        AnyColumn::Numeric(_) => window.numbers(by).get(at).map(Value::Number),
        AnyColumn::Sorted(_) => {
            let ord = window.ords(by)[at];
            (ord != NO_ORD).then(|| Value::Number(ord.get().into()))
        }
        AnyColumn::Binary(_) => window.bytes(by, at).map(|bytes| Value::Bytes(bytes.to_vec())),
        AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_) => None,
    }
}

/// How many documents of the window have no value.
pub(super) fn missing(window: &Window<'_>, by: Slot) -> u64 {
    if window.has_all(by) {
        return 0;
    }
    let missing = match window.column(by) {
        AnyColumn::Numeric(_) => {
            window.numbers(by).present.map_or(0, |present| window.len() - bits::count(present))
        }
        AnyColumn::Sorted(_) => window.ords(by).iter().filter(|ord| **ord == NO_ORD).count(),
        AnyColumn::Binary(_) => (0..window.len()).filter(|&at| window.bytes(by, at).is_none()).count(),
        AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_) => 0,
    };
    missing as u64
}
