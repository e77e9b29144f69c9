//! What a column of doc values can be asked, whatever stores it.
//!
//! A *column* holds the values of one field for every document of a segment. There are five kinds,
//! as in Lucene, and a trait for each:
//!
//! | kind | a document has | trait |
//! | --- | --- | --- |
//! | numeric | at most one 64-bit number | [`NumericColumn`] |
//! | binary | at most one byte string | [`BinaryColumn`] |
//! | sorted | at most one term of a dictionary | [`SortedColumn`] |
//! | sorted-numeric | any number of 64-bit numbers | [`SortedNumericColumn`] |
//! | sorted-set | a set of terms of a dictionary | [`SortedSetColumn`] |
//!
//! All of them work *batch first*: `gather` (these documents → these values, in any order, repeats
//! allowed), `scan` (this range → runs of values) and filters into a bitset. `get` is for one
//! document. Nothing needs to move forward, nothing has state: a column can be shared by any number
//! of threads.
//!
//! **Why traits here and enums in `format`:** sources of columns are open (a segment, memory, a
//! Lucene index), encodings are closed.
//!
//! # Bitsets
//!
//! A bitset over the documents `range` is a `&mut [u64]` of at least [`words`]`(range)` words: bit
//! `i % 64` of word `i / 64` is document `range.start + i`. Filters *add* bits; they clear none. It
//! is the memory of a `bitvec::slice::BitSlice<u64, Lsb0>`: see [`bits`].
//!
//! # Errors
//!
//! A column whose bytes are good never fails. After an error the contents of an output are
//! unspecified. Arguments that break a contract (an output that is too short) panic, as slices do.

mod any;
mod batch;
mod binary;
pub mod bits;
mod error;
mod filter;
mod numeric;
mod sorted;

use std::ops::Range;

pub use any::{AnyColumn, ColumnSource};
pub use batch::{Batch, BatchDocs, Lists, Slices};
pub use binary::BinaryColumn;
pub use bits::words;
pub use docvalues_format::file::field::Field;
pub use docvalues_format::file::kind::{Kind, LogicalType};
pub use docvalues_format::file::sort::SortKey;
pub use docvalues_format::id::{DocId, MAX_DOCS, TermOrd};
pub use docvalues_format::numeric::{Decided, FilterCounts};
pub use error::{Error, ErrorKind, Result};
pub use filter::Filter;
pub use numeric::{NumericColumn, SortedNumericColumn};
pub use sorted::{SortedColumn, SortedSetColumn, Terms};

/// What every column can tell, of whatever kind.
pub trait Column: Send + Sync {
    /// The column's name, kind and type.
    fn field(&self) -> &Field;

    /// Documents in the segment, with and without a value here. Document ids are below it.
    fn docs(&self) -> u32;

    /// Documents that have a value.
    fn docs_with_value(&self) -> u32;

    /// Adds to `bits` every document of `docs` that has a value.
    ///
    /// Documents past the last one have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`words`]`(docs)` words.
    fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()>;
}
