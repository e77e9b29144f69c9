//! The value by which a document is grouped.

use crate::engine::{Cells, NO_ORD, Slot, Stored, Window};

/// The value of document `at` of the window; a term is its ord, as a number.
pub(super) fn of(window: &Window<'_>, by: Slot, at: usize) -> Option<Stored> {
    match window.cells(by) {
        Cells::Numbers(numbers) => numbers.get(at).map(Stored::Number),
        Cells::Ords(ords) => (ords[at] != NO_ORD).then(|| Stored::Number(ords[at].get().into())),
        Cells::Bytes(strings) => strings.get(at).map(|bytes| Stored::Bytes(bytes.to_vec())),
        Cells::NumberLists(_) | Cells::OrdLists(_) => None,
    }
}

/// The number of documents of the window without a value.
pub(super) fn missing(window: &Window<'_>, by: Slot) -> u64 {
    if window.column(by).info().all_present() { 0 } else { window.cells(by).missing() }
}
