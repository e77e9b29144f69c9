//! [`SegmentWriter::finish`]: from buffered values to a file.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;

use docvalues_format::id::DocId;
use docvalues_terms::build::{Duplicates, IdOptions};

use crate::buffer::SpillBudget;
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file::prepared_column::{self, PreparedColumn};
use crate::file::sorted_ids::{self, OrderedIds};
use crate::file::{Append, FileWriter, remove_deleted};
use crate::index::index;
use crate::input::FieldBuffers;
use crate::live_set::LiveSet;
use crate::options::WriterOptions;
use crate::parallel;
use crate::schema::FieldSpec;
use crate::segment_writer::{Documents, SegmentWriter};
use crate::sort::DocMap;
use crate::summary::Summary;
use crate::target::Target;

/// Columns, for each thread, that may be started before the next one to write is done. With 16, a large column is
/// started early; with more, encoded columns would pile up in memory.
const AHEAD: usize = 16;

/// The error of [`SegmentWriter::finish`], with the writer if it still has all values.
///
/// If two documents have the same id, for example, [delete](SegmentWriter::delete) one of them and finish again.
///
/// ```
/// use docvalues_writer::{DocId, ErrorKind, FieldSpec, IdOptions, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// writer.id_field(id, IdOptions::default())?;
/// for value in ["cow", "ant", "bee", "ant"] {
///     let mut doc = writer.document();
///     doc.str(id, value)?;
///     doc.finish()?;
/// }
/// let refused = writer.finish().unwrap_err();
/// assert_eq!(refused.to_string(), "field \"id\": documents 1 and 3 have the same id: \"ant\"");
/// let mut writer = refused.into_writer().expect("no column was encoded");
/// writer.delete(DocId::new(1))?;
/// assert_eq!(writer.finish()?.1.docs, 3);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
pub struct FinishError<T>(Box<(Error, Option<SegmentWriter<T>>)>);

impl<T> FinishError<T> {
    /// Returns the error.
    pub fn into_error(self) -> Error {
        self.0.0
    }

    /// Returns the unchanged writer; `None` if encoding or writing had begun.
    pub fn into_writer(self) -> Option<SegmentWriter<T>> {
        self.0.1
    }
}

/// Gives the [`Error`], with its kind, field and document.
impl<T> Deref for FinishError<T> {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.0.0
    }
}

impl<T> From<FinishError<T>> for Error {
    fn from(error: FinishError<T>) -> Error {
        error.into_error()
    }
}

impl<T> fmt::Debug for FinishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T> fmt::Display for FinishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T> std::error::Error for FinishError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (**self).source()
    }
}

/// The callback of `finish_moved`: old and new number of a document.
type OnRenumber<'m> = Option<&'m mut dyn FnMut(DocId, DocId)>;

impl<T: Target> SegmentWriter<T> {
    /// Encodes and writes all columns, and publishes the file.
    ///
    /// # Errors
    ///
    /// If two documents have the same id, if writing, syncing or renaming fails, or if a temporary file cannot be read.
    /// A file that already had the name is then unchanged. One exception:
    /// [`Step::SyncFolder`](docvalues_storage::Step::SyncFolder), after which the segment is in place and complete, but
    /// a loss of power may undo the renaming.
    pub fn finish(self) -> Result<T::Finished, FinishError<T>> {
        self.finish_with(None)
    }

    /// As [`finish`](Self::finish), but first calls `moved` with the old and the new number of every document that is
    /// not [deleted](Self::delete), in the order in which they were added. The two differ if documents are
    /// [sorted](Self::sort_by) or deleted.
    ///
    /// Use it to renumber data outside of the segment, such as postings. It takes no memory for documents. (Lucene:
    /// `Sorter.DocMap`.)
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.sort_by([SortKey::of("size")])?;
    /// for bytes in [512, 7, 70] {
    ///     let mut doc = writer.document();
    ///     doc.i64(size, bytes)?;
    ///     doc.finish()?;
    /// }
    /// let mut new = Vec::new();
    /// writer.finish_moved(|_, doc| new.push(doc.get()))?;
    /// assert_eq!(new, [2, 0, 1]);
    /// # Ok::<(), docvalues_writer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish). `moved` may have been called before.
    pub fn finish_moved(self, mut moved: impl FnMut(DocId, DocId)) -> Result<T::Finished, FinishError<T>> {
        self.finish_with(Some(&mut moved))
    }

    fn finish_with(mut self, moved: OnRenumber<'_>) -> Result<T::Finished, FinishError<T>> {
        match self.documents.prepare() {
            Ok(ids) => {
                let SegmentWriter { documents, mut target } = self;
                // Closes the temporary file before the next build of this file can begin.
                let written = documents.write(&mut |bytes| target.append(bytes), ids, moved);
                let finished = written.and_then(|summary| target.finish(summary));
                finished.map_err(|error| FinishError(Box::new((error, None))))
            }
            Err(error) => Err(FinishError(Box::new((error, Some(self))))),
        }
    }
}

impl SegmentWriter<Vec<u8>> {
    /// As [`finish`](Self::finish), but returns only the bytes.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_bytes(self) -> Result<Vec<u8>, FinishError<Vec<u8>>> {
        self.finish().map(|(bytes, _)| bytes)
    }
}

impl Documents {
    /// Sorts and checks the ids, numbered as if no document moved. After an error, the writer still has all values.
    fn prepare(&mut self) -> Result<Option<OrderedIds>> {
        // A leaked document (`mem::forget`) was not rolled back on drop.
        self.fields.roll_back();
        self.fields.spill_if_tight()?;
        let live = self.live();
        if !self.sort.is_empty() || self.ids.is_some() || !live.is_all() {
            self.fields.spill_largest()?; // The sort has the rest of the budget.
        }
        let Some((field, options)) = self.ids else { return Ok(None) };
        let (spill_budget, mut older) = (self.spill_budget(), Vec::new());
        let keep_last = (options.duplicates == Duplicates::KeepLast).then_some(&mut older);
        let ids =
            sorted_ids::sort(&self.fields.buffers[field.index()], &live, None, &spill_budget, keep_last);
        let named = |kind| {
            let name = self.fields.schema.get(field).map(FieldSpec::name);
            Error::from(kind).of(name.unwrap_or_default())
        };
        let ids = ids.map_err(named)?;
        older.into_iter().try_for_each(|doc| self.delete(DocId::new(doc)).map(drop))?;
        Ok(Some(ids))
    }

    fn spill_budget(&self) -> SpillBudget {
        SpillBudget::new(
            self.options.budget / parallel::count(self.options.threads),
            self.fields.spill.as_ref(),
        )
    }

    /// Writes all bytes of the file. `ids` have the numbers of documents before the sort.
    fn write(self, out: Append<'_>, ids: Option<OrderedIds>, moved: OnRenumber<'_>) -> Result<Summary> {
        let (live, spill_budget) = (self.live(), self.spill_budget());
        let Documents { fields, sort: keys, ids: id_field, options, .. } = self;
        let FieldBuffers { schema, buffers, .. } = fields;
        let WriterOptions { jump_tables, zones, threads, .. } = options;
        let id_field =
            id_field.and_then(|(field, options)| Some((schema.get(field)?.name().to_owned(), options)));
        let docs = live.count();
        let pool = parallel::pool(parallel::count(threads));
        let encoder = Encoder { docs, doc_map: None, jump_tables, zones, pool: pool.as_ref() };
        let mut columns = Vec::with_capacity(buffers.len());
        for (spec, mut buffer) in schema.into_fields().into_iter().zip(buffers) {
            let named = |kind| Error::from(kind).of(spec.name());
            if !live.is_all() {
                buffer = remove_deleted::retain(buffer, &spec, &live, &spill_budget).map_err(named)?;
            }
            let mut prepared = PreparedColumn::Buffered(buffer);
            if keys.iter().any(|key| key.column == spec.name()) {
                prepared = prepared.sort_terms(&spec, &encoder).map_err(named)?;
            }
            columns.push((spec, prepared));
        }
        columns.sort_unstable_by(|a, b| a.0.name().cmp(b.0.name()));
        let doc_map = prepared_column::doc_map(&columns, &keys, &encoder, &spill_budget)?;
        if let Some(moved) = moved {
            let mut old = live.iter();
            DocMap::each_place(doc_map.as_ref(), docs, |_, place| {
                old.next().into_iter().for_each(|doc| moved(doc, DocId::new(place)));
            })?;
        }
        let encoder = Encoder { doc_map: doc_map.as_ref(), ..encoder };
        let number = |doc| live.has(doc).then(|| live.rank(doc));
        let placed = |((name, options), ids): ((String, IdOptions), OrderedIds)| {
            let places = doc_map.as_ref().map(DocMap::in_memory);
            let placed = match places {
                None if live.is_all() => Ok(ids),
                // Looking up the new numbers one by one would read the temporary file for each id.
                Some(None) => {
                    drop(ids);
                    let column = columns.iter().find(|(spec, _)| *spec.name() == name);
                    // `prepare` found the field.
                    let (_, column) = column.ok_or(ErrorKind::UnknownField)?;
                    column.ids(&LiveSet::all(docs), doc_map.as_ref(), &spill_budget, None)
                }
                places => {
                    let place = |doc| places.flatten().map_or(doc, |places| places[index(doc)]);
                    ids.renumber(|doc| number(doc).map(place))
                }
            };
            let ids = placed.map_err(|kind| Error::from(kind).of(&name))?;
            Ok::<_, Error>((name, ids, options))
        };
        let ids = id_field.zip(ids).map(placed).transpose()?;

        let mut file = FileWriter::begin(out)?;
        let weight = |(_, column): &(FieldSpec, PreparedColumn)| column.weight();
        let mut names: VecDeque<_> = columns.iter().map(|(spec, _)| spec.name().to_owned()).collect();
        let encode = |(spec, column): (FieldSpec, PreparedColumn)| column.encode(&spec, &encoder);
        parallel::map_in_order(pool.as_ref(), AHEAD, columns.into_iter(), weight, encode, |encoded| {
            let name = names.pop_front().unwrap_or_default();
            let written = encoded.and_then(|encoded| Ok(file.column(encoded)?));
            written.map_err(|kind| Error::from(kind).of(&name))
        })?;
        sorted_ids::finish(file, docs, &keys, ids)
    }
}
