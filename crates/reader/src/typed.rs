//! Typed handles: columns of a segment as people read them.
//!
//! Each kind of column has one. They own what they need: a handle outlives the [`Segment`] it came from, is cheap to clone
//! and can be read by any number of threads.

mod binary;
mod numeric;
mod sorted;

use std::sync::Arc;

use docvalues_column::{Column, ColumnInfo, DocId, DocRange, ErrorKind, Filter, Kind, Pruning, Result, Rows};
use docvalues_format::presence::Indices;

pub use self::binary::{Binary, Cursor};
pub use self::numeric::{Numeric, SortedNumeric};
pub use self::sorted::{Sorted, SortedSet};
use crate::column::present;
use crate::element::Stored;
use crate::segment::{OpenColumn, Segment};

// A macro, because the handles have nothing in common but these.
macro_rules! handle {
    ($($handle:ident $(<$t:ident>)?),*) => {$(
        impl $(<$t>)? $handle $(<$t>)? {
            /// The column's description. O(1).
            pub fn info(&self) -> &ColumnInfo {
                self.column.info()
            }

            /// The column as any other, for whatever takes the traits.
            pub fn column(&self) -> Arc<dyn Column> {
                self.column.clone()
            }
        }
    )*};
}

handle!(Numeric<T>, SortedNumeric<T>, Sorted, SortedSet, Binary);

impl Segment {
    fn of_kind(&self, name: &str, asked: Kind) -> Result<OpenColumn> {
        let column = self.opened(name)?;
        if column.kind() == asked { Ok(column) } else { self.wrong_kind(name, &column, asked) }
    }

    #[cold]
    fn wrong_kind<T>(&self, name: &str, found: &OpenColumn, asked: Kind) -> Result<T> {
        let (file, field, found) = (self.file().to_owned(), name.to_owned(), found.kind());
        Err(ErrorKind::WrongKind { file, field, found, asked }.into())
    }
}

/// Sets the bits of all of `docs`, clears those after them in the last word, and returns what clears those of a batch whose documents lack values.
///
/// # Panics
///
/// If `present` has too few words for `docs`.
fn presence_marker<'a>(docs: &[DocId], bits: &'a mut [u64]) -> impl FnMut(usize, Indices<'_>) + use<'a> {
    let words = docs.len().div_ceil(64);
    assert!(bits.len() >= words, "{} words for {} documents", bits.len(), docs.len());
    bits[..words].fill(u64::MAX);
    if let Some(last) = bits[..words].last_mut() {
        *last >>= words * 64 - docs.len();
    }
    |at, indices| bits[at / 64..].iter_mut().zip(present(indices)).for_each(|(to, from)| *to = from)
}

/// A filter of all documents, yet to be run.
fn filter<'c, T: Stored>(rows: &'c dyn Rows<T>, docs: u32, wanted: T::Range) -> Filter<'c> {
    Filter::new(DocRange::new(0, docs), move |docs, bits| {
        rows.filter(docs, &wanted, bits, &mut Pruning::default())
    })
}
