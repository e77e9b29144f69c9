//! Single values of one field across many segments.

use docvalues_column::{DocId, Result};
use docvalues_format::numeric::Direct;

use crate::Numeric;
use crate::numeric_column::NumericColumn;

/// Reads single numbers of one field across many segments, such as the versions of documents that were found by id.
///
/// [`Numeric::get`] reads about a dozen cache lines on the way to a value. A loop over one column keeps them in the
/// cache; a loop over hundreds of columns does not. A seeker keeps one cache line per column that it can read directly:
/// a column that is constant or a single block, in which every document has a value, and whose bytes are all verified.
/// It reads other columns as `Numeric::get` does.
///
/// A seeker does not notice when the bytes of a column are verified later; make a new one.
///
/// # Complexity
///
/// O(columns) and 72 bytes per column to make. A value is O(1).
///
/// # Examples
///
/// ```
/// # use docvalues_column::DocId;
/// # use docvalues_reader::{IdReader, Numeric, NumericSeeker, Segment};
/// # use docvalues_terms::lookup::{Hit, IdLookup};
/// # use std::sync::Arc;
/// /// The newest version of each id, if it has one. `segments`: the newest first.
/// fn versions(segments: &[Segment], ids: &[&[u8]]) -> Result<Vec<Option<i64>>, Box<dyn std::error::Error>> {
///     let mut readers = Vec::new();
///     for segment in segments {
///         readers.push(segment.ids()?.ok_or("no index of ids")?.reader().clone());
///     }
///     let columns = segments.iter().map(|segment| segment.numeric("_version")).collect::<Result<Vec<_>, _>>()?;
///
///     let (lookup, versions) = (IdLookup::new(readers), NumericSeeker::new(&columns));
///     let mut hits = Vec::new();
///     lookup.seeker().find_many(ids, &mut hits)?;
///     let version = |hit: &Option<Hit>| match hit {
///         Some(hit) => versions.get(hit.segment, hit.doc),
///         None => Ok(None),
///     };
///     Ok(hits.iter().map(version).collect::<Result<_, _>>()?)
/// }
/// # assert!(versions(&[], &[b"a"])?.iter().all(Option::is_none));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NumericSeeker<'a> {
    /// The columns that are not read directly. They are apart from the lines, so that reading them does not touch a
    /// line.
    columns: Vec<Option<&'a NumericColumn>>,
    lines: Vec<Line<'a>>,
}

/// The parameters of a column in a cache line of its own. `direct` is empty if the column is not read directly.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line<'a> {
    direct: Direct<'a>,
    column: &'a NumericColumn,
}

const _: () = assert!(size_of::<Line<'_>>() == 64, "a column takes one cache line");

impl<'a> NumericSeeker<'a> {
    /// A seeker over the columns of one field, one per segment, in the order of the segments of an
    /// [`IdLookup`](docvalues_terms::lookup::IdLookup).
    ///
    /// O(columns). It reads no values.
    pub fn new(columns: impl IntoIterator<Item = &'a Numeric>) -> NumericSeeker<'a> {
        let line = |column: &'a Numeric| {
            let column = &*column.column;
            let direct = column.direct();
            (direct.is_none().then_some(column), Line { direct: direct.unwrap_or_default(), column })
        };
        let (columns, lines) = columns.into_iter().map(line).unzip();
        NumericSeeker { columns, lines }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The value of `doc` in the column of `segment`; `None` if it has none or is past the last document.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `segment` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, segment: usize, doc: DocId) -> Result<Option<i64>> {
        if let Some(column) = self.columns[segment] {
            return column.core.named(column.read(doc));
        }
        let Line { direct, column } = &self.lines[segment];
        match direct.get(doc.get().into()) {
            Some(value) => Ok(Some(value)),
            None => get_past(column, doc),
        }
    }
}

/// `None` for a document past the last one, or the error of a damaged column.
#[cold]
fn get_past(column: &NumericColumn, doc: DocId) -> Result<Option<i64>> {
    column.core.named(column.read(doc))
}
