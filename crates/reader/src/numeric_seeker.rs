//! Single values of one field in many segments.

use docvalues_column::{DocId, Result};
use docvalues_format::numeric::Direct;

use crate::Numeric;
use crate::numeric_column::NumericColumn;

/// Reads single numbers of one field from many segments, such as the versions of documents that were found by their ids.
///
/// From a [`Numeric`] to a value it is about a dozen lines of memory. A loop over one column keeps them in the cache; a loop
/// over hundreds of columns does not. A seeker has one line of memory for each column whose values it reads directly: a
/// column that is constant or one block, in which every document has a value, and of which all bytes are verified. It reads
/// other columns as [`Numeric::get`] does.
///
/// A column whose bytes are verified later is read directly by the next seeker.
///
/// # Complexity
///
/// O(columns) to make, 72 bytes for each; a value O(1), as in the column.
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
    /// The columns that are not read directly. Apart from the lines, which these columns leave alone.
    columns: Vec<Option<&'a NumericColumn>>,
    lines: Vec<Line<'a>>,
}

/// A column in a line of memory of its own; without values if it is not read directly.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line<'a> {
    direct: Direct<'a>,
    column: &'a NumericColumn,
}

const _: () = assert!(size_of::<Line<'_>>() == 64, "a line of memory");

impl<'a> NumericSeeker<'a> {
    /// A seeker of columns of the same field, one for each segment, in the order of the segments of an
    /// [`IdLookup`](docvalues_terms::lookup::IdLookup).
    ///
    /// O(columns); reads no values.
    pub fn new(columns: impl IntoIterator<Item = &'a Numeric>) -> NumericSeeker<'a> {
        let way = |column: &'a Numeric| {
            let column = &*column.column;
            let direct = column.direct();
            (direct.is_none().then_some(column), Line { direct: direct.unwrap_or_default(), column })
        };
        let (columns, lines) = columns.into_iter().map(way).unzip();
        NumericSeeker { columns, lines }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The value of `doc` in the column at `place`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[inline]
    pub fn get(&self, place: usize, doc: DocId) -> Result<Option<i64>> {
        if let Some(column) = self.columns[place] {
            return column.core.named(column.read(doc));
        }
        let Line { direct, column } = &self.lines[place];
        match direct.get(doc.get().into()) {
            Some(value) => Ok(Some(value)),
            None => past(column, doc),
        }
    }
}

/// The value of a document that lies past the last one, unless bytes of the column are damaged.
#[cold]
fn past(column: &NumericColumn, doc: DocId) -> Result<Option<i64>> {
    column.core.named(column.read(doc))
}
