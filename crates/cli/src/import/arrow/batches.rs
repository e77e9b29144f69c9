//! The rows of a file, in batches.

use std::iter;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use super::{ArrowFile, Kind, guarded};
use crate::api::{Leaf, leaves};
use crate::import::error::Result;

/// The maximum number of rows in a batch.
const ROWS: usize = 8_192;

/// The rows of a file, in order.
pub(crate) struct Batches {
    name: Arc<str>,
    rows: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
    /// The wanted columns.
    leaves: Vec<Leaf>,
    /// The current record batch, and the number of its rows that were returned.
    batch: Option<(RecordBatch, usize)>,
}

impl ArrowFile {
    /// The rows, with the columns that `wanted` accepts, in batches of about `bytes`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(crate) fn batches(self, wanted: impl Fn(&Leaf) -> bool, bytes: usize) -> Result<Batches> {
        let ArrowFile { name, schema, kind } = self;
        let mut wanted_leaves = leaves(&schema);
        wanted_leaves.retain(&wanted);
        let (rows, schema): (Box<dyn Iterator<Item = _>>, _) = match kind {
            Kind::Ipc(mut ipc) => (Box::new(iter::from_fn(move || ipc.next().transpose())), schema),
            Kind::Parquet(file) => {
                let roots = wanted_leaves.iter().filter_map(|leaf| leaf.path.first().copied());
                let rows = guarded(&name, || file.rows(roots, ROWS, bytes))?;
                let schema = rows.schema();
                (Box::new(rows), schema)
            }
        };
        // Columns without a wanted leaf are not read, so the columns after them have other indexes.
        let mut leaves = leaves(&schema);
        leaves.retain(&wanted);
        Ok(Batches { name, rows, leaves, batch: None })
    }
}

impl Batches {
    /// The columns of the batches.
    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The next batch: its number of rows, and an array for each column. `None` after the last.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is damaged.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, Vec<ArrayRef>)>> {
        let Batches { name, rows, leaves, batch } = self;
        guarded(name, || {
            loop {
                let (whole, from) = match batch.take() {
                    Some(batch) => batch,
                    None => match rows.next().transpose()? {
                        Some(next) => (next, 0),
                        None => return Ok(None),
                    },
                };
                let len = ROWS.min(whole.num_rows() - from);
                if len > 0 {
                    let rows = whole.slice(from, len);
                    let arrays = leaves.iter().map(|leaf| leaf.array(&rows)).collect::<Result<_, _>>()?;
                    *batch = Some((whole, from + len));
                    return Ok(Some((len, arrays)));
                }
            }
        })
    }
}
