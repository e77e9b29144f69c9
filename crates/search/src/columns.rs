//! The open columns of a request.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::{Column, ColumnSource, DocRange, OrdRange, Pruning, Values};

use crate::error::Result;
use crate::window::{SHORT_WINDOW, WINDOW};

/// The columns of a request. Each is opened once, and read once per window, however many collectors use it.
#[derive(Default)]
pub(crate) struct Columns {
    columns: Vec<Arc<dyn Column>>,
}

/// The index of a column in [`Columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(usize);

impl Columns {
    /// The slot of column `name`, which is opened if necessary.
    pub(crate) fn slot(&mut self, source: &dyn ColumnSource, name: &str) -> Result<Slot> {
        let opened = self.columns.iter().position(|column| column.info().field.name == name);
        let at = match opened {
            Some(at) => at,
            None => {
                self.columns.push(source.column(name)?);
                self.columns.len() - 1
            }
        };
        Ok(Slot(at))
    }

    pub(crate) fn get(&self, slot: Slot) -> &dyn Column {
        &*self.columns[slot.0]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<dyn Column>> {
        self.columns.iter()
    }

    /// The number of documents in a window.
    pub(crate) fn window(&self) -> usize {
        let is_short = |column: &Arc<dyn Column>| {
            column.info().is_multi_valued() || matches!(column.values(), Values::Bytes(_))
        };
        if self.columns.iter().any(is_short) { SHORT_WINDOW } else { WINDOW }
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }
}

impl Slot {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// A range that contains all numbers of a column, or all ords as numbers; empty if there are none. `None` for byte
/// strings.
pub(crate) fn bounds(column: &dyn Column) -> Option<RangeInclusive<i64>> {
    match column.values() {
        Values::Numbers(_) => Some(column.info().bounds.range()),
        Values::Ords(_, terms) => Some(0..=i64::from(terms.term_count()) - 1),
        Values::Bytes(_) => None,
    }
}

/// Sets the bits of the documents with a number, or an ord as a number, in `wanted`.
pub(crate) fn filter(
    column: &dyn Column,
    docs: DocRange,
    wanted: &RangeInclusive<i64>,
    bits: &mut [u64],
    pruned: &mut Pruning,
) -> Result<()> {
    match column.values() {
        Values::Numbers(rows) => rows.filter(docs, wanted, bits, pruned)?,
        Values::Ords(rows, _) => rows.filter(docs, &ords(wanted), bits, pruned)?,
        Values::Bytes(_) => {}
    }
    Ok(())
}

/// The ords in a range of numbers.
fn ords(numbers: &RangeInclusive<i64>) -> OrdRange {
    let clip = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    let end = clip(numbers.end().saturating_add(1));
    OrdRange::new(clip(*numbers.start()).min(end), end)
}
