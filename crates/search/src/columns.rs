//! The columns of a request.

use docvalues_column::{AnyColumn, ColumnSource};

use crate::error::Result;
use crate::window::{SHORT_WINDOW, WINDOW};

/// The columns of a request: each is opened once, and read once a window, whoever asks for it.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    columns: Vec<AnyColumn>,
}

/// The place of a column in [`Columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(usize);

impl Columns {
    /// The place of column `name`, which is opened if nobody has asked for it before.
    pub(crate) fn slot(&mut self, source: &dyn ColumnSource, name: &str) -> Result<Slot> {
        let known = self.columns.iter().position(|column| column.as_column().field().name == name);
        let at = match known {
            Some(at) => at,
            None => {
                self.columns.push(source.column(name)?);
                self.columns.len() - 1
            }
        };
        Ok(Slot(at))
    }

    pub(crate) fn get(&self, slot: Slot) -> &AnyColumn {
        &self.columns[slot.0]
    }

    /// How many documents are read at once.
    pub(crate) fn window(&self) -> usize {
        let is_one = |column: &AnyColumn| matches!(column, AnyColumn::Numeric(_) | AnyColumn::Sorted(_));
        if self.columns.iter().all(is_one) { WINDOW } else { SHORT_WINDOW }
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
