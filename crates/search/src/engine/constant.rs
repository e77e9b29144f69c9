//! Columns with a single value, answered from their descriptions without reading them.

use super::columns::{ColumnView, Elements, Slot};
use super::open_request::Request;
use super::value;

/// A column in which the documents of a request have at most one different value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantColumn {
    /// The number, or the ord as a number; `None` if no document has a value.
    pub(crate) value: Option<i64>,
    pub(crate) docs: u64,
    pub(crate) with_value: u64,
    /// The number of values of all documents.
    pub(crate) values: u64,
}

impl Request<'_> {
    /// The column as a constant, if its description suffices for the documents of the request.
    pub(crate) fn constant(&self, slot: Slot) -> Option<ConstantColumn> {
        let column = self.columns().get(slot);
        let (info, docs) = (column.info(), self.hits());
        let some = |value, with_value, values| Some(ConstantColumn { value, docs, with_value, values });
        if docs == 0 || info.with_value.exact() == Some(0) {
            return some(None, 0, 0);
        }
        let value = only_value(column)?;
        if self.is_all() {
            some(Some(value), info.with_value.exact()?, info.value_count.exact()?)
        } else {
            (info.all_present() && !info.is_multi_valued()).then_some(())?;
            some(Some(value), docs, docs)
        }
    }
}

impl ConstantColumn {
    /// The constant as counts and groups see it: with 0.0 instead of -0.0.
    pub(crate) fn with_one_zero(mut self, column: ColumnView<'_>) -> ConstantColumn {
        if value::has_negative_zero(column.info()) {
            self.value = self.value.map(value::one_zero);
        }
        self
    }
}

/// The only number or ord of a column that has some.
fn only_value(column: ColumnView<'_>) -> Option<i64> {
    let all = match column.elements() {
        Elements::Numbers => column.info().bounds.exact()?.clone(),
        Elements::Ords => column.bounds()?,
        Elements::Bytes => return None,
    };
    (all.start() == all.end()).then_some(*all.start())
}

/// Whether all documents are equal by a column: all have the same value, or none has one.
pub(crate) fn is_constant(column: ColumnView<'_>) -> bool {
    let info = column.info();
    info.with_value.exact() == Some(0) || info.all_present() && only_value(column).is_some()
}
