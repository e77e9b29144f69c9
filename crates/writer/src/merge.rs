//! [`Merger`]: builds one segment from several sources.
//!
//! ```text
//! sources       groups columns by name, checks kinds and types,        plan
//!   |           or promotes numbers
//!   |
//! live          the documents to take, and their new numbers           crate::live_set
//!   |
//! values        scans the sources into one buffer a column             read_columns
//! terms         merges dictionaries; maps the ords of each source      dictionaries, loser_tree
//!   |
//! index sort    the order of the documents, if there are sort keys     plan, crate::sort
//!   |
//! encode, file  as for any other segment                              write
//! ```
//!
//! A merge reads sources through the traits of `docvalues_column`, so it takes any source. It gives the encoders the
//! same buffers that a [`SegmentWriter`](crate::SegmentWriter) would build from the same documents, so the bytes are
//! the same.

mod dictionaries;
mod loser_tree;
mod plan;
mod read_columns;
mod write;

use std::fmt;
use std::io;
use std::path::Path;

use docvalues_column::{ColumnSource, LiveDocs};
use docvalues_format::binary::Compression;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_storage::{AtomicFile, Spill};
use docvalues_terms::build::IdOptions;

use crate::error::{ErrorKind, Result};
use crate::live_set::LiveSet;
use crate::options::WriterOptions;
use crate::summary::Summary;
use crate::target::{Stream, Target};

/// Merges segments, or other sources of columns, into one segment.
///
/// - Documents are the live documents of the sources, in the order in which these were added. If the sources are
///   [sorted](ColumnSource::sort), the merged segment is, too: see [`sort_by`](Self::sort_by).
/// - A column that a source lacks has no values there, unless [`same_columns`](Self::same_columns) refuses it.
/// - Columns of one name must have one kind and one type, unless [`promote`](Self::promote) converts numbers.
/// - If only some sources have a dictionary for a column, the smaller encoding is chosen, as by
///   [`BytesKind::Auto`](crate::BytesKind::Auto).
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use docvalues_column::{Column, ColumnSource, Field, Result};
/// # struct Opened;
/// # impl ColumnSource for Opened {
/// #     fn docs(&self) -> u32 { 3 }
/// #     fn fields(&self) -> Result<Vec<Field>> { Ok(vec![]) }
/// #     fn column(&self, _: &str) -> Result<Arc<dyn Column>> { unreachable!() }
/// # }
/// # let (january, february) = (Opened, Opened);
/// use docvalues_column::{DocId, LiveDocs};
/// use docvalues_writer::{Merger, WriterOptions};
///
/// let mut live = LiveDocs::all(february.docs());
/// live.delete(DocId::new(1));
///
/// let mut merger = Merger::new(WriterOptions::default());
/// merger.add("january.dv", &january);
/// merger.add_live("february.dv", &february, &live)?;
/// let (bytes, summary) = merger.finish_bytes()?;
///
/// assert_eq!(summary.docs, 5);
/// # assert_eq!(summary.bytes, bytes.len() as u64);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
///
/// # Cost
///
/// One column is in memory at a time, or several that share the budget: eight bytes a number, four bytes an ord, the
/// bytes of byte strings, and four bytes for each term of each source. Values beyond [`WriterOptions::budget`] go to a
/// temporary file beside the target, except the maps of terms. A merge in memory has no temporary file.
#[must_use]
pub struct Merger<'a> {
    sources: Vec<Source<'a>>,
    options: MergeOptions<'a>,
}

/// A source, its name in errors, and its live documents.
struct Source<'a> {
    name: String,
    columns: &'a dyn ColumnSource,
    live: LiveSet,
}

struct MergeOptions<'a> {
    writer: WriterOptions,
    /// The sort keys; `None` for those that the sources have in common.
    sort: Option<Vec<SortKey>>,
    /// The name of the id field, and the options of its index.
    ids: Option<(String, IdOptions)>,
    compression: Compression,
    /// Whether to convert numbers if types differ.
    promote: bool,
    /// Whether to refuse a column that a source lacks.
    same_columns: bool,
    spelling: Spelling<'a>,
    watch: Box<dyn FnMut(MergeProgress<'_>) + 'a>,
    moved: Option<OnRenumber<'a>>,
}

/// The callback of [`Merger::moved`]: index of the source, old number, new number.
type OnRenumber<'a> = Box<dyn FnMut(usize, DocId, DocId) + 'a>;

/// Chooses the format of a column from the formats in the sources.
type Spelling<'a> = Box<dyn Fn(&[Option<&str>]) -> Option<String> + 'a>;

/// The progress of a merge.
///
/// ```
/// use docvalues_writer::{Merger, WriterOptions};
///
/// let merger = Merger::new(WriterOptions::default()).watch(|progress| {
///     eprintln!("{} of {}: {}", progress.done + 1, progress.columns, progress.column);
/// });
/// let (file, summary) = merger.finish_bytes()?;
/// assert_eq!((file.len() as u64, summary.docs), (summary.bytes, 0));
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeProgress<'a> {
    /// The next column.
    pub column: &'a str,
    /// The number of columns that are done.
    pub done: usize,
    /// The number of all columns.
    pub columns: usize,
}

impl fmt::Debug for Merger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(|source| &source.name)).finish()
    }
}

impl<'a> Merger<'a> {
    /// A merge without sources.
    pub fn new(options: WriterOptions) -> Merger<'a> {
        let options = MergeOptions {
            writer: options,
            sort: None,
            ids: None,
            compression: Compression::Auto,
            promote: false,
            same_columns: false,
            spelling: Box::new(all_alike),
            watch: Box::new(|_| {}),
            moved: None,
        };
        Merger { sources: Vec::new(), options }
    }

    /// Sets the compression of binary columns, whatever it is in the sources.
    pub fn compression(mut self, compression: Compression) -> Merger<'a> {
        self.options.compression = compression;
        self
    }

    /// Sets the index sort, as [`SegmentWriter::sort_by`](crate::SegmentWriter::sort_by). The sources need not be
    /// sorted. The sort is stable: of equal documents, those of earlier sources come first. With no keys, documents
    /// stay in the order of the sources.
    ///
    /// The default is the longest common prefix of the sort keys of all sources that have documents.
    ///
    /// The sort columns are read twice.
    ///
    /// ```
    /// use docvalues_writer::{Merger, SortKey, WriterOptions};
    ///
    /// let by_time = Merger::new(WriterOptions::default()).sort_by([SortKey::of("time").descending()]);
    /// let in_order_of_sources = Merger::new(WriterOptions::default()).sort_by([]);
    /// ```
    pub fn sort_by(mut self, keys: impl IntoIterator<Item = SortKey>) -> Merger<'a> {
        self.options.sort = Some(keys.into_iter().collect());
        self
    }

    /// Builds an id index over the column `name`, as [`SegmentWriter::id_field`](crate::SegmentWriter::id_field),
    /// whether the sources have one or not. The column becomes binary, and is read twice. If two live documents have
    /// the same id, the merge fails, or drops the older one, which reads the column once more:
    /// [`IdOptions::duplicates`].
    pub fn id_field(mut self, name: impl Into<String>, options: IdOptions) -> Merger<'a> {
        self.options.ids = Some((name.into(), options));
        self
    }

    /// Sets whether columns of numbers are promoted if their types differ between sources: `i64` and `u64` beside
    /// `f64` to `f64`, and `u64` beside `i64` to `i64`. Off by default: then such columns are refused
    /// ([`ErrorKind::Differ`](crate::ErrorKind::Differ)).
    ///
    /// Every value stays the same number. If a value of a live document is not exact in the new type, such as 2^53 + 1
    /// as a double, the merge fails with an error that names the source, column and value
    /// ([`ErrorKind::Inexact`](crate::ErrorKind::Inexact)). A conversion takes a few nanoseconds a value.
    ///
    /// ```
    /// use docvalues_column::{ColumnSource, LiveDocs};
    /// use docvalues_writer::{Merger, Result, Summary, WriterOptions};
    ///
    /// /// Merges segments in which a price may be an integer or a double.
    /// fn merge_prices(segments: &[&dyn ColumnSource], path: &str) -> Result<Summary> {
    ///     let mut merger = Merger::new(WriterOptions::default()).promote(true);
    ///     for (i, segment) in segments.iter().enumerate() {
    ///         merger.add(format!("segment {i}"), *segment);
    ///     }
    ///     merger.finish(path)
    /// }
    /// ```
    pub fn promote(mut self, promote: bool) -> Merger<'a> {
        self.options.promote = promote;
        self
    }

    /// Sets whether all sources must have the same columns. If set, a column that a source lacks fails the merge,
    /// before anything is written, with an error that names both
    /// ([`ErrorKind::MissingColumn`](crate::ErrorKind::MissingColumn)). By default it has no values there.
    pub fn same_columns(mut self, same: bool) -> Merger<'a> {
        self.options.same_columns = same;
        self
    }

    /// Sets how the [`format`](crate::FieldSpec::format) of a column is chosen from the formats of the sources that
    /// have values of it. By default it is kept if all are equal.
    pub fn spelling(mut self, spelling: impl Fn(&[Option<&str>]) -> Option<String> + 'a) -> Merger<'a> {
        self.options.spelling = Box::new(spelling);
        self
    }

    /// Sets a callback for progress, called before each column.
    pub fn watch(mut self, watch: impl FnMut(MergeProgress<'_>) + 'a) -> Merger<'a> {
        self.options.watch = Box::new(watch);
        self
    }

    /// Sets a callback for the new numbers of documents, called before the segment is written. Its arguments are the
    /// index of the source, the document's number there, and its number in the merged segment. It is called for all
    /// live documents, source by source, and takes no memory for them.
    ///
    /// ```
    /// # use docvalues_column::{AbsentColumn, Column, ColumnSource, Field};
    /// use docvalues_column::{DocId, LiveDocs};
    /// use docvalues_writer::{Merger, WriterOptions};
    ///
    /// # struct Docs(u32);
    /// # impl ColumnSource for Docs {
    /// #     fn docs(&self) -> u32 { self.0 }
    /// #     fn fields(&self) -> docvalues_column::Result<Vec<Field>> { Ok(Vec::new()) }
    /// #     fn column(&self, name: &str) -> docvalues_column::Result<std::sync::Arc<dyn Column>> {
    /// #         Ok(std::sync::Arc::new(AbsentColumn::new(name, self.0)))
    /// #     }
    /// # }
    /// # let (first, second) = (Docs(2), Docs(3));
    /// // `first` has two documents, `second` has three, of which the first one is deleted.
    /// let mut live = LiveDocs::all(3);
    /// live.delete(DocId::new(0));
    ///
    /// let mut new_numbers = Vec::new();
    /// let mut merger = Merger::new(WriterOptions::default())
    ///     .moved(|source, old, new| new_numbers.push((source, old.get(), new.get())));
    /// merger.add("first", &first).add_live("second", &second, &live)?;
    /// let (_, summary) = merger.finish_bytes()?;
    /// assert_eq!(summary.docs, 4);
    /// assert_eq!(new_numbers, [(0, 0, 0), (0, 1, 1), (1, 1, 2), (1, 2, 3)]);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    pub fn moved(mut self, moved: impl FnMut(usize, DocId, DocId) + 'a) -> Merger<'a> {
        self.options.moved = Some(Box::new(moved));
        self
    }

    /// Adds all documents of a source. Errors name it `name`.
    pub fn add(&mut self, name: impl Into<String>, columns: &'a dyn ColumnSource) -> &mut Self {
        self.sources.push(Source { name: name.into(), columns, live: LiveSet::all(columns.docs()) });
        self
    }

    /// Adds the documents of a source that are `live`.
    ///
    /// O(documents / 64), in time and memory.
    ///
    /// # Errors
    ///
    /// If `live` is of another number of documents than the source.
    pub fn add_live(
        &mut self,
        name: impl Into<String>,
        columns: &'a dyn ColumnSource,
        live: &LiveDocs,
    ) -> Result<&mut Self> {
        let (expected, found) = (columns.docs(), live.docs());
        if found != expected {
            return Err(ErrorKind::LiveDocs { found, expected }.into());
        }
        self.sources.push(Source { name: name.into(), columns, live: live.into() });
        Ok(self)
    }

    /// Merges into the file `path`. The file appears once it is complete, and replaces an existing one, which should
    /// not be one of the sources.
    ///
    /// # Errors
    ///
    /// If a source cannot be read or holds invalid values; if columns differ in kind or type, or cannot be sort keys;
    /// if there are too many documents, columns or terms; if the budget is used up; and as
    /// [`SegmentWriter::finish`](crate::SegmentWriter::finish).
    pub fn finish(self, path: impl AsRef<Path>) -> Result<Summary> {
        self.finish_to(AtomicFile::create(path)?)
    }

    /// As [`finish`](Self::finish), with a file that was already created.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_to(self, file: AtomicFile) -> Result<Summary> {
        let spill = file.spill();
        self.finish_into(file, Some(spill))
    }

    /// Merges into memory. The bytes are the same as in a file.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), except errors of files.
    pub fn finish_bytes(self) -> Result<(Vec<u8>, Summary)> {
        self.finish_into(Vec::new(), None)
    }

    /// Merges into `out`, such as a pipe or an upload, sequentially. Values beyond the budget go to `spill`, if given.
    /// If the merge fails, `out` may have received a part of the segment.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_writer<W: io::Write>(self, out: W, spill: Option<Spill>) -> Result<(W, Summary)> {
        self.finish_into(Stream(out), spill)
    }

    /// Merges into any `target`, such as a [`NewFile`](crate::NewFile). Values beyond the budget go to `spill`, if
    /// given.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_into<T: Target>(self, mut target: T, spill: Option<Spill>) -> Result<T::Finished> {
        let summary = self.write_all(&mut |bytes| target.append(bytes), spill.as_ref())?;
        // Closes the temporary file before the next build of this file can begin.
        drop(spill);
        target.finish(summary)
    }
}

/// The common format; `None` if they differ.
fn all_alike(spellings: &[Option<&str>]) -> Option<String> {
    let (first, rest) = spellings.split_first()?;
    first.filter(|_| rest.iter().all(|spelling| spelling == first)).map(str::to_owned)
}

impl ErrorKind {
    /// Adds the name of the source.
    fn of_source(self, source: &str) -> ErrorKind {
        ErrorKind::Source { name: source.to_owned(), kind: Box::new(self) }
    }
}
