//! Single values of one field in many segments.

use docvalues_column::{DocId, Result};
use docvalues_format::numeric::Direct;
use docvalues_terms::lookup::Hit;

use crate::Numeric;

/// One thread's way to the numbers of documents that lie anywhere in many segments, such as the versions of those that were
/// found by their ids.
///
/// A [`Numeric`] keeps what leads to its values in about a dozen lines of memory. Whoever reads one value of it, and the next
/// one of another column, finds none of them in the cache. Here an array has, for each column that can be read so, the little
/// that a value takes in one line of memory: a column that is one block, or constant, in which every document has a value, and
/// of which all bytes were checked by now. Columns become so as they are read; the others are asked as they are.
///
/// # Complexity
///
/// O(columns) to make, 64 bytes for each; a value O(1), as in the column. Keep it as long as the columns.
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
///     let (lookup, mut versions) = (IdLookup::new(readers), NumericSeeker::new(&columns));
///     let (mut seeker, mut hits, mut found) = (lookup.seeker(), Vec::new(), Vec::new());
///     seeker.find_many(ids, &mut hits)?;
///     versions.gather(&hits, &mut found)?;
///     Ok(found)
/// }
/// # assert!(versions(&[], &[b"a"])?.iter().all(Option::is_none));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NumericSeeker<'a> {
    lines: Vec<Line<'a>>,
    columns: Vec<&'a Numeric>,
}

/// So many values are asked for ahead.
const AHEAD: usize = 64;

/// A column in a line of memory of its own, without values if it is not known in this way.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line<'a>(Direct<'a>);

impl<'a> NumericSeeker<'a> {
    /// For columns of the same field in segments, in the order of these: for what an
    /// [`IdLookup`](docvalues_terms::lookup::IdLookup) finds, from the newest to the oldest.
    ///
    /// O(columns); reads no values.
    pub fn new(columns: impl IntoIterator<Item = &'a Numeric>) -> NumericSeeker<'a> {
        let columns: Vec<_> = columns.into_iter().collect();
        let lines = columns.iter().map(|column| Line(column.column.direct().unwrap_or_default())).collect();
        NumericSeeker { lines, columns }
    }

    /// How many columns there are.
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
    pub fn get(&mut self, place: usize, doc: DocId) -> Result<Option<i64>> {
        match self.lines.get(place).and_then(|line| line.0.get(doc.get().into())) {
            Some(value) => Ok(Some(value)),
            None => self.ask(place, doc),
        }
    }

    /// The same of the column itself.
    #[inline(never)]
    fn ask(&mut self, place: usize, doc: DocId) -> Result<Option<i64>> {
        let column = self.columns[place];
        let value = column.get(doc);
        // All of it may have been checked by now.
        if let Some(direct) = column.column.direct() {
            self.lines[place] = Line(direct);
        }
        value
    }

    /// The values of documents that were found, in `out`, which is cleared first; `None` for what was not found, too.
    ///
    /// The lines of all values come side by side. Allocates nothing once `out` is as long as the longest `hits`.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); `out` is then filled in part.
    ///
    /// # Panics
    ///
    /// If there is no column for one of them.
    pub fn gather(&mut self, hits: &[Option<Hit>], out: &mut Vec<Option<i64>>) -> Result<()> {
        out.clear();
        for hits in hits.chunks(AHEAD) {
            for hit in hits.iter().flatten() {
                if let Some(line) = self.lines.get(hit.segment) {
                    line.0.prefetch(hit.doc.get().into());
                }
            }
            for hit in hits {
                out.push(match hit {
                    Some(hit) => self.get(hit.segment, hit.doc)?,
                    None => None,
                });
            }
        }
        Ok(())
    }
}
