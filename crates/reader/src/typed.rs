//! Typed columns: one type for each kind of column, returned by [`Segment`].
//!
//! They wrap an `Arc` of an open column. So they are cheap to clone, usable by any number of threads, and stay usable
//! after the segment was dropped.

mod binary;
mod numeric;
mod sorted;
mod sorted_numeric;

use std::sync::Arc;

use docvalues_column::{
    Column, ColumnInfo, DocId, DocRange, Element, ErrorKind, Filter, Kind, Pruning, Result, Rows,
};
use docvalues_format::presence::Indices;

pub use self::binary::Binary;
pub use self::numeric::Numeric;
pub use self::sorted::{Sorted, SortedSet};
pub use self::sorted_numeric::SortedNumeric;
use crate::column::presence_words;
use crate::numeric_column::NumericColumn;
use crate::segment::{OpenColumn, Segment};

macro_rules! typed_column {
    ($($column:ident $(<$t:ident>)?),*) => {$(
        impl $(<$t>)? $column $(<$t>)? {
            /// The field, and statistics of the column: counts, bounds, sum. O(1).
            pub fn info(&self) -> &ColumnInfo {
                self.column.info()
            }

            /// The column as a trait object, for code that takes columns of any source.
            pub fn column(&self) -> Arc<dyn Column> {
                self.column.clone()
            }
        }
    )*};
}

typed_column!(Numeric<T>, SortedNumeric<T>, Sorted, SortedSet, Binary);

impl Segment {
    /// The column of numbers or ords `name`, which must be of the kind `asked`.
    fn of_kind(&self, name: &str, asked: Kind) -> Result<Arc<NumericColumn>> {
        match self.opened(name)? {
            OpenColumn::Numeric(column) if column.core.info.kind() == asked => Ok(column),
            other => self.wrong_kind(name, other.kind(), asked),
        }
    }

    #[cold]
    fn wrong_kind<T>(&self, name: &str, found: Kind, asked: Kind) -> Result<T> {
        let (file, field) = (self.file().to_owned(), name.to_owned());
        Err(ErrorKind::WrongKind { file, field, found, asked }.into())
    }
}

/// Sets the bits of all of `docs`, and returns a function that clears those of documents without a value, batch by
/// batch.
///
/// Bits of the last word after the last document are cleared.
///
/// # Panics
///
/// If `present` has too few words for `docs`.
fn presence_marker<'a>(docs: &[DocId], bits: &'a mut [u64]) -> impl FnMut(usize, Indices<'_>) + use<'a> {
    let words = docs.len().div_ceil(64);
    assert!(bits.len() >= words, "expected {words} words of presence, found {}", bits.len());
    bits[..words].fill(u64::MAX);
    if let Some(last) = bits[..words].last_mut() {
        *last >>= words * 64 - docs.len();
    }
    |at, indices| bits[at / 64..].iter_mut().zip(presence_words(indices)).for_each(|(to, from)| *to = from)
}

/// A filter over all documents for values in `wanted`.
fn filter<'c, T: Element>(rows: &'c dyn Rows<T>, docs: u32, wanted: T::Range) -> Filter<'c> {
    Filter::new(DocRange::new(0, docs), move |docs, bits| {
        rows.filter(docs, &wanted, bits, &mut Pruning::default())
    })
}
