//! The rows of a file, some at a time.

use std::iter;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, GenericListViewArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, DataType};

use super::strings::for_each;
use super::types::{Leaf, leaves};
use super::{ArrowFile, Kind, guarded, lists};
use crate::input::error::Result;

/// Rows that are taken together.
const ROWS: usize = 8_192;

/// The rows of a file, in order.
pub(crate) struct Batches {
    name: Arc<str>,
    rows: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
    /// The wanted columns.
    leaves: Vec<Leaf>,
    /// What was read, and how many of its rows were handed out.
    batch: Option<(RecordBatch, usize)>,
}

impl ArrowFile {
    /// The rows, with the columns that are `wanted`; about `bytes` at a time.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
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
        // Columns of which no part is wanted are not read: those behind them stand elsewhere.
        let mut leaves = leaves(&schema);
        leaves.retain(&wanted);
        Ok(Batches { name, rows, leaves, batch: None })
    }
}

impl Batches {
    /// The columns of which there are arrays.
    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// An array for each column, of the next rows, and how many these are; `None` behind the last.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is damaged.
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
                    let arrays = leaves
                        .iter()
                        .map(|leaf| array(&whole.slice(from, len), leaf))
                        .collect::<Result<_, _>>()?;
                    *batch = Some((whole, from + len));
                    return Ok(Some((len, arrays)));
                }
            }
        })
    }
}

/// The column `leaf` of a batch, missing where a struct around it is.
fn array(batch: &RecordBatch, leaf: &Leaf) -> Result<ArrayRef, ArrowError> {
    let gone = || ArrowError::SchemaError(format!("a batch has no column {:?}", leaf.name));
    let mut path = leaf.path.iter();
    let mut array = path.next().and_then(|at| batch.columns().get(*at)).cloned().ok_or_else(gone)?;
    for at in path {
        let (_, fields) = array.as_struct_opt().ok_or_else(gone)?.flatten();
        array = fields.get(*at).cloned().ok_or_else(gone)?;
    }
    lists::plain(&array)
}

/// About how many bytes an array's values take once they are gathered.
pub(crate) fn weight(array: &dyn Array) -> usize {
    use DataType as D;
    let with = |bytes: usize| bytes.saturating_add(8 * array.len());
    match array.data_type() {
        D::Null => 0,
        D::List(_) => with(weight(&lists::between::<i32>(array).items)),
        D::LargeList(_) => with(weight(&lists::between::<i64>(array).items)),
        D::ListView(_) => with(of_views(array.as_list_view::<i32>())),
        D::LargeListView(_) => with(of_views(array.as_list_view::<i64>())),
        D::FixedSizeList(..) => with(weight(array.as_fixed_size_list().values())),
        _ => {
            // None but of byte strings.
            let mut bytes = 0_usize;
            for_each(array, |value| bytes = bytes.saturating_add(value.map_or(0, <[u8]>::len)));
            with(bytes)
        }
    }
}

/// An estimate of the bytes of all items of list views: views may share items, so each counts as an average one.
fn of_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> usize {
    let sizes = array.value_sizes().iter().map(|size| size.as_usize());
    let one = weight(array.values()).checked_div(array.values().len()).unwrap_or(0);
    sizes.fold(0, usize::saturating_add).saturating_mul(one.saturating_add(8))
}
