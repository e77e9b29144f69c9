//! Some documents of a set, and what columns hold for them: read once, used by all that ask.
//!
//! A window is what stays in the second-level cache: up to [`WINDOW`] documents of the set, and for each column that
//! somebody asked for, their values side by side. A run of documents is scanned, any others are gathered.

use std::ops::{ControlFlow, Range};

use docvalues_column::{AnyColumn, Batch, BatchDocs, DocId, Lists, Result, Slices, TermOrd, bits};

use crate::columns::{Columns, Slot};
use crate::docs::len_u32;

/// The most documents of a window.
///
/// A loop that counts or adds where it has not been lately is slow to begin and slow to end: reads and writes that
/// are on their way have to arrive first. Windows of 4,096 take a third more of a facet's time.
pub(crate) const WINDOW: usize = 32_768;

/// The most documents of a window with columns whose documents have any number of bytes or values.
pub(crate) const SHORT_WINDOW: usize = 4_096;

/// The ord of a document without a value.
pub(crate) const NO_ORD: TermOrd = TermOrd::new(u32::MAX);

/// Some documents and the columns that are read of them.
pub(crate) struct Window<'a> {
    docs: BatchDocs<'a>,
    columns: &'a Columns,
    room: &'a mut Room,
}

/// Where windows put what they read: memory that is used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct Room {
    read: Vec<Read>,
}

/// What was read of a column.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Whether it was, in this window.
    is_there: bool,
    /// Whether all documents have a value; otherwise `present` tells.
    pub(crate) all_present: bool,
    pub(crate) present: Vec<u64>,
    pub(crate) numbers: Vec<i64>,
    pub(crate) ords: Vec<TermOrd>,
    pub(crate) number_lists: Lists<i64>,
    pub(crate) ord_lists: Lists<TermOrd>,
    pub(crate) bytes: Lists<u8>,
}

/// The numbers of a window's documents, one each.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    /// As many as there are documents; whatever stands where there is none.
    pub(crate) values: &'a [i64],
    /// Which documents have one; absent where all do.
    pub(crate) present: Option<&'a [u64]>,
}

impl Numbers<'_> {
    /// The number of the window's document `at`.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<i64> {
        self.present.is_none_or(|bits| bits::get(bits, at)).then(|| self.values[at])
    }

    /// Shows `each` the numbers that there are, and the places of their documents.
    #[inline]
    pub(crate) fn each(&self, mut each: impl FnMut(usize, i64)) {
        match self.present {
            None => self.values.iter().enumerate().for_each(|(at, &value)| each(at, value)),
            Some(present) => bits::ones(present).for_each(|at| each(at, self.values[at])),
        }
    }
}

impl<'a> Window<'a> {
    pub(crate) fn new(docs: BatchDocs<'a>, columns: &'a Columns, room: &'a mut Room) -> Window<'a> {
        room.read.resize_with(columns.len(), Read::default);
        room.read.iter_mut().for_each(|read| read.is_there = false);
        Window { docs, columns, room }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }

    /// The document at this place.
    pub(crate) fn doc(&self, at: usize) -> DocId {
        match self.docs {
            BatchDocs::Run { first, .. } => DocId::new(first.get() + len_u32(at)),
            BatchDocs::List(docs) => docs[at],
        }
    }

    /// A window of some of the documents.
    pub(crate) fn part<'p>(&self, docs: &'p [DocId], room: &'p mut Room) -> Window<'p>
    where
        'a: 'p,
    {
        Window::new(crate::pass::compact(docs), self.columns, room)
    }

    /// Reads a column, if nobody has before.
    pub(crate) fn read(&mut self, slot: Slot) -> Result<()> {
        let read = &mut self.room.read[slot.index()];
        if !read.is_there {
            let column = self.columns.get(slot);
            // The documents of a window ascend.
            let known = match self.docs {
                BatchDocs::Run { .. } => true,
                BatchDocs::List(docs) => {
                    docs.last().is_none_or(|last| last.get() < column.as_column().docs())
                }
            };
            read.read_known(column, self.docs, known)?;
            read.is_there = true;
        }
        Ok(())
    }

    /// A column.
    pub(crate) fn column(&self, slot: Slot) -> &'a AnyColumn {
        self.columns.get(slot)
    }

    /// Whether all documents have a value of a column that was read; false if nobody knows.
    pub(crate) fn has_all(&self, slot: Slot) -> bool {
        self.there(slot).all_present
    }

    /// The numbers of a numeric column that was read.
    pub(crate) fn numbers(&self, slot: Slot) -> Numbers<'_> {
        let read = self.there(slot);
        Numbers { values: &read.numbers, present: (!read.all_present).then_some(&read.present) }
    }

    /// The ords of a sorted column that was read, [`NO_ORD`] where there is none.
    pub(crate) fn ords(&self, slot: Slot) -> &[TermOrd] {
        &self.there(slot).ords
    }

    /// The numbers of a sorted-numeric column that was read.
    pub(crate) fn number_lists(&self, slot: Slot) -> Slices<'_, i64> {
        self.there(slot).number_lists.slices()
    }

    /// The ords of a sorted-set column that was read.
    pub(crate) fn ord_lists(&self, slot: Slot) -> Slices<'_, TermOrd> {
        self.there(slot).ord_lists.slices()
    }

    /// The byte string of document `at` of a binary column that was read.
    pub(crate) fn bytes(&self, slot: Slot, at: usize) -> Option<&[u8]> {
        let read = self.there(slot);
        (read.all_present || bits::get(&read.present, at)).then(|| read.bytes.get(at))
    }

    fn there(&self, slot: Slot) -> &Read {
        let read = &self.room.read[slot.index()];
        debug_assert!(read.is_there, "a column is read before it is looked at");
        read
    }
}

impl Read {
    /// Reads the values of any number of documents, in any order, known to the column or not.
    pub(crate) fn read(&mut self, column: &AnyColumn, docs: BatchDocs<'_>) -> Result<()> {
        let known = match docs {
            BatchDocs::Run { .. } => true,
            BatchDocs::List(docs) => docvalues_format::bits::all_below(docs, column.as_column().docs()),
        };
        self.read_known(column, docs, known)
    }

    /// The same; whether all documents of a list are `known` was looked at.
    fn read_known(&mut self, column: &AnyColumn, docs: BatchDocs<'_>, known: bool) -> Result<()> {
        let about = column.as_column();
        let total = about.docs();
        let known = match docs {
            BatchDocs::Run { first, len } => first.get() as usize + len <= total as usize,
            BatchDocs::List(_) => known,
        };
        // Of a column that every document has, nobody asks which have.
        self.all_present = about.docs_with_value() == total && known;
        self.present.clear();
        self.present.resize(docs.len().div_ceil(64), 0);
        match docs {
            BatchDocs::Run { first, len } => self.scan(column, first.get()..first.get() + len_u32(len)),
            BatchDocs::List(docs) => self.gather(column, docs),
        }
    }

    fn gather(&mut self, column: &AnyColumn, docs: &[DocId]) -> Result<()> {
        match column {
            AnyColumn::Numeric(column) => {
                self.numbers.resize(docs.len(), 0);
                if self.all_present {
                    column.gather_or(docs, &mut self.numbers, 0)
                } else {
                    column.gather(docs, &mut self.numbers, &mut self.present)
                }
            }
            AnyColumn::Sorted(column) => {
                self.ords.resize(docs.len(), NO_ORD);
                column.gather_or(docs, &mut self.ords, NO_ORD)
            }
            AnyColumn::Binary(column) => column.gather(docs, &mut self.bytes, &mut self.present),
            AnyColumn::SortedNumeric(column) => column.gather(docs, &mut self.number_lists),
            AnyColumn::SortedSet(column) => column.gather(docs, &mut self.ord_lists),
        }
    }

    fn scan(&mut self, column: &AnyColumn, docs: Range<u32>) -> Result<()> {
        let Read { present, numbers, ords, number_lists, ord_lists, bytes, all_present, .. } = self;
        let present = (!*all_present).then_some(present.as_mut_slice());
        match column {
            AnyColumn::Numeric(column) => {
                numbers.resize(docs.len(), 0);
                let mut places = Places { start: docs.start, values: numbers, present };
                column.scan(docs, &mut |batch| places.put(batch))
            }
            AnyColumn::Sorted(column) => {
                ords.resize(docs.len(), NO_ORD);
                if present.is_some() {
                    ords.fill(NO_ORD);
                }
                let mut places = Places { start: docs.start, values: ords, present: None };
                column.scan(docs, &mut |batch| places.put(batch))
            }
            AnyColumn::Binary(column) => {
                let mut rows = Rows::new(docs.start, bytes, present);
                column.scan(docs.clone(), &mut |batch| rows.put(batch))?;
                rows.pad(docs.end);
                Ok(())
            }
            AnyColumn::SortedNumeric(column) => {
                let mut rows = Rows::new(docs.start, number_lists, present);
                column.scan(docs.clone(), &mut |batch| rows.put(batch))?;
                rows.pad(docs.end);
                Ok(())
            }
            AnyColumn::SortedSet(column) => {
                let mut rows = Rows::new(docs.start, ord_lists, present);
                column.scan(docs.clone(), &mut |batch| rows.put(batch))?;
                rows.pad(docs.end);
                Ok(())
            }
        }
    }
}

/// Where a scan's values go: to the places of their documents.
struct Places<'a, T> {
    start: u32,
    values: &'a mut [T],
    present: Option<&'a mut [u64]>,
}

impl<T: Copy> Places<'_, T> {
    fn put(&mut self, batch: Batch<'_, &[T]>) -> ControlFlow<()> {
        match batch.docs {
            BatchDocs::Run { first, len } => {
                let at = (first.get() - self.start) as usize;
                self.values[at..at + len].copy_from_slice(batch.values);
            }
            BatchDocs::List(docs) => {
                for (doc, &value) in docs.iter().zip(batch.values) {
                    self.values[(doc.get() - self.start) as usize] = value;
                }
            }
        }
        mark(&mut self.present, self.start, batch.docs)
    }
}

/// Where a scan's lists go: one behind the other, with empty ones for the documents between.
struct Rows<'a, T> {
    start: u32,
    lists: &'a mut Lists<T>,
    present: Option<&'a mut [u64]>,
}

impl<'a, T: Copy> Rows<'a, T> {
    fn new(start: u32, lists: &'a mut Lists<T>, present: Option<&'a mut [u64]>) -> Rows<'a, T> {
        lists.clear();
        Rows { start, lists, present }
    }

    fn put(&mut self, batch: Batch<'_, Slices<'_, T>>) -> ControlFlow<()> {
        match batch.docs {
            BatchDocs::Run { first, .. } => {
                self.pad(first.get());
                let lens = batch.values.lens().map(|len| len as u64);
                let all: Result<(), std::convert::Infallible> = self.lists.extend_with(lens, |items| {
                    items.extend_from_slice(batch.values.items());
                    Ok(())
                });
                let Ok(()) = all;
            }
            BatchDocs::List(docs) => {
                for (doc, list) in docs.iter().zip(batch.values.iter()) {
                    self.pad(doc.get());
                    self.lists.push(list);
                }
            }
        }
        mark(&mut self.present, self.start, batch.docs)
    }

    /// Empty lists for the documents up to this one.
    fn pad(&mut self, doc: u32) {
        while len_u32(self.lists.len()) < doc - self.start {
            self.lists.push(&[]);
        }
    }
}

/// Sets the bits of documents that have a value.
fn mark(present: &mut Option<&mut [u64]>, start: u32, docs: BatchDocs<'_>) -> ControlFlow<()> {
    if let Some(present) = present {
        docs.iter().for_each(|doc| bits::set(present, (doc.get() - start) as usize));
    }
    ControlFlow::Continue(())
}
