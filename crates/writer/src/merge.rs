//! Several segments become one.
//!
//! ```text
//! sources       columns of one name belong together; kinds and types agree,  plan
//!   |             or are promoted                                            promote
//!   |
//! live          which documents are taken, and their new numbers             crate::live
//!   |
//! values        scanned batch by batch into one column's buffer             values
//! terms         merged into one dictionary; every source's ords into its     terms
//!   |
//! order         where documents go, if they are sorted                       plan, order
//!   |
//! encode, file  as for any other segment
//! ```
//!
//! Nothing here knows what a segment is: values come through the traits of `docvalues_column`, so that a
//! merge takes whatever can be read. What it hands to the encoders is what a
//! [`SegmentWriter`](crate::SegmentWriter) would, given the same documents: so the bytes are the same, too.

mod dictionaries;
mod loser_tree;
mod plan;
mod read_columns;
pub(crate) mod type_promotion;

use std::fmt;
use std::io;
use std::path::Path;

use docvalues_column::ColumnSource;
use docvalues_format::binary::Compression;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_storage::{AtomicFile, Spill};
use docvalues_terms::build::IdOptions;

use crate::buffer::SpillBudget;
use crate::encode::Encoder;
use crate::error::{ErrorKind, Result};
use crate::file_writer::FileWriter;
use crate::index_sort::DocMap;
use crate::live_set::LiveSet;
use crate::parallel;
use crate::segment_writer::WriterOptions;
use crate::sorted_ids;
use crate::summary::Summary;
use crate::target::{Stream, Target};

use plan::{MergedColumn, Plan};

/// What a column that is merged beside others should have of the budget: with less, more time goes to the temporary
/// file than is won.
const SHARE: usize = 32 << 20;

/// Merges segments, or other sources of columns, into one segment.
///
/// Its documents are those of the sources in the order in which these were added, without the ones that are
/// not live; but if the sources are [sorted](ColumnSource::sort), they are merged as [`sort_by`](Self::sort_by)
/// says. A column that a source does not have has no values there, unless [`same_columns`](Self::same_columns) refuses it.
/// Columns of one name must be of one kind and one type, unless [`promote`](Self::promote) converts numbers. A column with
/// a dictionary in some sources and without in others has one if that is smaller, as
/// [`BytesKind::Auto`](crate::BytesKind::Auto) has it.
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
/// use docvalues_writer::{Merger, WriterOptions};
///
/// let mut merger = Merger::new(WriterOptions::default());
/// merger.add("january.dv", &january);
/// merger.add_live("february.dv", &february, &[0b101])?; // the second document was deleted
/// let (bytes, summary) = merger.finish_bytes()?;
///
/// assert_eq!(summary.docs, 5);
/// # assert_eq!(summary.bytes, bytes.len() as u64);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
///
/// # Cost
///
/// One column is in memory at a time, or some that share the budget: eight bytes a number, four an ord, the bytes of
/// byte strings; and four bytes for each term of each source. [`WriterOptions::budget`] limits it: what has no room goes to a temporary
/// file beside the target, but for those of terms, and in memory, where there is none.
pub struct Merger<'a> {
    sources: Vec<Source<'a>>,
    options: MergeOptions<'a>,
}

/// What is merged, and what to call it.
struct Source<'a> {
    name: String,
    columns: &'a dyn ColumnSource,
    live: LiveSet<'a>,
}

struct MergeOptions<'a> {
    writer: WriterOptions,
    /// Without, what the sources have in common.
    sort: Option<Vec<SortKey>>,
    /// The name of the field of ids, and how they are indexed.
    ids: Option<(String, IdOptions)>,
    compression: Compression,
    /// Whether numbers are converted where types differ.
    promote: bool,
    /// Whether a column that a source lacks is refused.
    same_columns: bool,
    spelling: Spelling<'a>,
    watch: Box<dyn FnMut(MergeProgress<'_>) + 'a>,
    moved: Option<OnRenumber<'a>>,
}

/// Who is told where documents go: from which source, which document, to which number.
type OnRenumber<'a> = Box<dyn FnMut(usize, DocId, DocId) + 'a>;

/// The spelling that a column gets whose parts have these.
type Spelling<'a> = Box<dyn Fn(&[Option<&str>]) -> Option<String> + 'a>;

/// How far a merge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeProgress<'a> {
    /// The column that is merged next.
    pub column: &'a str,
    /// How many are done.
    pub done: usize,
    /// How many there are.
    pub columns: usize,
}

impl fmt::Debug for Merger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sources.iter().map(|source| &source.name)).finish()
    }
}

impl<'a> Merger<'a> {
    /// A merge of nothing yet, to be written as `options` say.
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

    /// Says how byte strings of binary columns are compressed, however they were.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Merger<'a> {
        self.options.compression = compression;
        self
    }

    /// Has the documents sorted by `keys`, as [`SegmentWriter::sort_by`](crate::SegmentWriter::sort_by) does, in
    /// whatever order they are in the sources; of equal ones, those of earlier sources come first. Without keys,
    /// documents stay in the order of the sources.
    ///
    /// If nothing is said, what all sources that have documents are sorted by stays so: the keys that they
    /// have in common, from the first one on.
    ///
    /// The columns to sort by are read twice.
    #[must_use]
    pub fn sort_by(mut self, keys: impl IntoIterator<Item = SortKey>) -> Merger<'a> {
        self.options.sort = Some(keys.into_iter().collect());
        self
    }

    /// Has an index of the ids that documents have in the column `name`, as
    /// [`SegmentWriter::id_field`](crate::SegmentWriter::id_field) does, whether the sources have one or not. The column
    /// is read twice, and is binary then. Two live documents with one id are refused, or the older one is left out, which
    /// reads the column once more: [`IdOptions::duplicates`].
    #[must_use]
    pub fn id_field(mut self, name: impl Into<String>, options: IdOptions) -> Merger<'a> {
        self.options.ids = Some((name.into(), options));
        self
    }

    /// Sets whether columns of numbers are promoted if the sources disagree about their type: `i64` and `u64` beside
    /// `f64` to `f64`, and `u64` beside `i64` to `i64`. Off by default: then such columns are refused
    /// ([`ErrorKind::Differ`](crate::ErrorKind::Differ)).
    ///
    /// Every value stays exactly the number that it is, and so does the order of values. A value of a live
    /// document that the new type does not have, such as 2^53 + 1 as a double, fails the merge with an error that
    /// names source, column and value ([`ErrorKind::Inexact`](crate::ErrorKind::Inexact)). Takes a few nanoseconds for
    /// each value that is converted.
    ///
    /// ```
    /// use docvalues_column::ColumnSource;
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
    #[must_use]
    pub fn promote(mut self, promote: bool) -> Merger<'a> {
        self.options.promote = promote;
        self
    }

    /// Sets whether all sources must have the same columns. Off by default: then a column that a source lacks has no
    /// values there. On, such a column fails the merge with an error that names it and the source
    /// ([`ErrorKind::MissingColumn`](crate::ErrorKind::MissingColumn)), before anything is written.
    #[must_use]
    pub fn same_columns(mut self, same: bool) -> Merger<'a> {
        self.options.same_columns = same;
        self
    }

    /// Says what the [`format`](crate::FieldSpec::format) of a column is, given those of the sources that have
    /// values of it. Without, it is kept where they are all the same.
    #[must_use]
    pub fn spelling(mut self, spelling: impl Fn(&[Option<&str>]) -> Option<String> + 'a) -> Merger<'a> {
        self.options.spelling = Box::new(spelling);
        self
    }

    /// Has `watch` told of every column before it is merged, or waited for while others are.
    #[must_use]
    pub fn watch(mut self, watch: impl FnMut(MergeProgress<'_>) + 'a) -> Merger<'a> {
        self.options.watch = Box::new(watch);
        self
    }

    /// Has `moved` told where the live documents go, before the segment is written: the place of the source among those
    /// that were added, a document's number there, and its number in the merged segment; source by source, document by
    /// document. Takes no memory for documents.
    #[must_use]
    pub fn moved(mut self, moved: impl FnMut(usize, DocId, DocId) + 'a) -> Merger<'a> {
        self.options.moved = Some(Box::new(moved));
        self
    }

    /// Adds all documents of a source; errors call it `name`.
    pub fn add(&mut self, name: impl Into<String>, columns: &'a dyn ColumnSource) -> &mut Self {
        self.sources.push(Source { name: name.into(), columns, live: LiveSet::all(columns.docs()) });
        self
    }

    /// Adds those documents of a source whose bit is set: document *i* if bit *i* % 64 of word *i* / 64 is.
    /// Bits behind the last document are ignored.
    ///
    /// # Errors
    ///
    /// When there are fewer bits than documents.
    pub fn add_live(
        &mut self,
        name: impl Into<String>,
        columns: &'a dyn ColumnSource,
        live: &'a [u64],
    ) -> Result<&mut Self> {
        let live = LiveSet::some(columns.docs(), live)?;
        self.sources.push(Source { name: name.into(), columns, live });
        Ok(self)
    }

    /// Merges into the file that is to stand at `path`, which may stand there already, but should not be one of
    /// the sources: it appears when it is whole, or not at all.
    ///
    /// # Errors
    ///
    /// When a source cannot be read or holds what no segment may, columns do not fit together or cannot be sorted
    /// by, there are too many documents, columns or terms, or the budget is used up; and as
    /// [`SegmentWriter::finish`](crate::SegmentWriter::finish).
    pub fn finish(self, path: impl AsRef<Path>) -> Result<Summary> {
        self.finish_to(AtomicFile::create(path)?)
    }

    /// As [`finish`](Self::finish), to a file that was begun.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_to(self, file: AtomicFile) -> Result<Summary> {
        let spill = file.spill();
        self.write(file, Some(spill))
    }

    /// Merges into memory. The bytes are those that a file would have.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), but for those of files.
    pub fn finish_bytes(self) -> Result<(Vec<u8>, Summary)> {
        self.write(Vec::new(), None)
    }

    /// Merges into `out`, front to back: a pipe, an upload. What has no room in memory goes to `spill`, if there is one. Of a
    /// merge that fails, `out` has a part.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_writer<W: io::Write>(self, out: W, spill: Option<Spill>) -> Result<(W, Summary)> {
        self.write(Stream(out), spill)
    }

    fn write<T: Target>(self, mut target: T, spill: Option<Spill>) -> Result<T::Finished> {
        let summary = self.write_all(&mut target, spill.as_ref())?;
        // Before the next build may begin.
        drop(spill);
        target.finish(summary)
    }

    fn write_all(self, out: &mut impl Target, spill: Option<&Spill>) -> Result<Summary> {
        let Merger { mut sources, mut options } = self;
        if let Some(spill) = spill {
            spill.limit(options.writer.spill_limit);
        }
        plan::keep_last(&mut sources, &options, spill)?;
        let plan = Plan::new(&sources, &options)?;
        let WriterOptions { jump_tables, zones, budget, threads, .. } = options.writer;
        let encoder = Encoder { docs: plan.docs, doc_map: None, jump_tables, zones };
        // Each column that is at work, or waits for its turn, has a share. In memory, all is for one.
        let most = if spill.is_some() { budget / (2 * SHARE) } else { 1 };
        let mut threads = parallel::count(threads).clamp(1, most.max(1));
        let spill_budget = SpillBudget::new(budget / threads, spill);
        let doc_map = plan.doc_map(&encoder, budget, &spill_budget)?;
        if let Some(moved) = &mut options.moved {
            let sources = sources.iter().enumerate();
            let mut docs = sources.flat_map(|(at, source)| source.live.iter().map(move |doc| (at, doc)));
            DocMap::each_place(doc_map.as_ref(), plan.docs, |_, place| {
                docs.next().into_iter().for_each(|(source, doc)| moved(source, doc, DocId::new(place)));
            })?;
        }
        let encoder = Encoder { doc_map: doc_map.as_ref(), ..encoder };
        let sorted = |(name, options): (String, IdOptions)| {
            plan.ids(&name, doc_map.as_ref(), budget, &spill_budget, None).map(|ids| (name, ids, options))
        };
        let ids = options.ids.map(sorted).transpose()?;

        let mut file = FileWriter::begin(out)?;
        let mut watch = |done: usize| {
            if let Some(MergedColumn { spec, .. }) = plan.columns.get(done) {
                let columns = plan.columns.len();
                (options.watch)(MergeProgress { column: spec.name(), done, columns });
            }
        };
        watch(0);
        while let Some(left @ [_, ..]) = plan.columns.get(file.columns.len()..) {
            let (ahead, share) = (2 * threads, budget / (2 * threads));
            // Side by side, as long as each stays in memory; a larger one has all of the budget, alone.
            let few = left.iter().take_while(|column| threads > 1 && column.needs() <= share / 2).count();
            let (columns, threads_now, budget_now) = match few {
                0 | 1 => (&left[..1], 1, budget),
                _ => (&left[..few], threads, share),
            };
            let mut waited_for = columns.iter();
            let merged = parallel::map_in_order(
                threads_now,
                ahead,
                columns.iter(),
                |column| column.needs(),
                |column| column.read(jump_tables, budget_now, spill)?.encode(&column.spec, &encoder),
                |encoded| {
                    let Some(column) = waited_for.next() else { return Ok(()) };
                    let encoded = encoded.map_err(|kind| column.refuse(kind))?;
                    file.column(encoded).map_err(|error| column.refuse(error.into()))?;
                    watch(file.columns.len());
                    Ok(())
                },
            );
            match merged {
                // Byte strings were longer than was thought: from there on, each column has all of the budget.
                Err(error) if threads_now > 1 && matches!(error.kind(), ErrorKind::Budget { .. }) => {
                    threads = 1
                }
                merged => merged?,
            }
        }
        sorted_ids::finish(file, plan.docs, &plan.sort, ids)
    }
}

/// The spelling that all have; none if they differ.
fn all_alike(spellings: &[Option<&str>]) -> Option<String> {
    let (first, rest) = spellings.split_first()?;
    first.filter(|_| rest.iter().all(|spelling| spelling == first)).map(str::to_owned)
}

impl ErrorKind {
    /// What is wrong with `source`, if anything there is.
    fn of_source(self, source: &str) -> ErrorKind {
        ErrorKind::Source { name: source.to_owned(), kind: Box::new(self) }
    }
}
