//! Columns of which all documents with a value have the same: their descriptions say all there is to know.

use docvalues_column::{Column, Values};

use crate::columns::{Slot, bounds};
use crate::search::Request;

/// The values that the documents of a request have in a column, if there is at most one different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantColumn {
    /// The number, or the ord as a number; `None` if no document has a value.
    pub(crate) value: Option<i64>,
    pub(crate) docs: u64,
    pub(crate) with_value: u64,
    /// Values of all documents together.
    pub(crate) values: u64,
}

impl Request<'_> {
    /// What the description of a column says of the documents, if that is all.
    pub(crate) fn constant(&self, slot: Slot) -> Option<ConstantColumn> {
        let column = self.columns().get(slot);
        let (info, docs) = (column.info(), u64::from(self.hits()));
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

/// The only number or ord of a column that has some.
fn only_value(column: &dyn Column) -> Option<i64> {
    let all = match column.values() {
        Values::Numbers(_) => column.info().bounds.exact()?.clone(),
        Values::Ords(..) => bounds(column)?,
        Values::Bytes(_) => return None,
    };
    (all.start() == all.end()).then_some(*all.start())
}

/// Whether all documents are equal by a column: each has the same value, or none has one.
pub(crate) fn is_constant(column: &dyn Column) -> bool {
    let info = column.info();
    info.with_value.exact() == Some(0) || info.all_present() && only_value(column).is_some()
}
