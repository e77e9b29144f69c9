//! A batch of documents and their column values, read once and shared by all collectors.
//!
//! A window fits the second-level cache: at most [`WINDOW`] documents of the set, and for each requested column an
//! array of their values.

use std::cell::OnceCell;

use docvalues_column::{
    BatchDocs, Column, DocAddress, DocId, DocRange, Element, Gathered, Result, Slices, TermOrd, Values, View,
    bits,
};

use super::cells::{Cells, Numbers, Strings};
use super::columns::{PartColumns, Slot};
use super::docs::len_u32;
use super::value::{self, NO_ORD};

/// The most documents in a window.
///
/// Each loop over cold memory has a startup and a drain cost, while its reads and writes are in flight. Windows of
/// 4,096 documents make a facet a third slower.
const WINDOW: usize = 32_768;

/// The most documents in a window if a column has byte strings or several values a document.
pub(crate) const SHORT_WINDOW: usize = 4_096;

/// The documents of a range for each one that is not in its window, if these are few.
const FEW_ONE_IN: usize = 4;

/// The most documents in a window over these columns.
pub(crate) fn max_window_docs(columns: PartColumns<'_>) -> usize {
    let is_short =
        |column: &dyn Column| column.info().is_multi_valued() || matches!(column.values(), Values::Bytes(_));
    if columns.iter().any(is_short) { SHORT_WINDOW } else { WINDOW }
}

/// A batch of documents and the columns read for them.
pub(crate) struct Window<'a> {
    docs: WindowDocs<'a>,
    columns: PartColumns<'a>,
    buffers: &'a mut WindowBuffers,
}

/// The documents of a window.
enum WindowDocs<'a> {
    /// A run or a list.
    Batch(BatchDocs<'a>),
    /// Most documents of a range: those whose bits are set. Columns are read as a run and reduced to them, because a
    /// list is gathered at less than half the speed.
    Bits {
        docs: DocRange,
        bits: &'a [u64],
        len: usize,
        /// The documents, listed when the first of them is asked for: few collectors do.
        list: OnceCell<Vec<DocId>>,
    },
}

/// Buffers that windows read into, reused from window to window.
#[derive(Debug, Default)]
pub(crate) struct WindowBuffers {
    /// For each column, its values and how many of them belong to the current window.
    read: Vec<(State, WindowColumn)>,
    /// For each column, the ids of its ords.
    ids: Vec<Vec<TermOrd>>,
    /// For each column that may have -0.0, its numbers with 0.0 instead.
    one_zero: Vec<Vec<i64>>,
}

/// The state of a column in the current window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    #[default]
    Nothing,
    /// The values of all documents that are gathered, of which the window may have only most.
    Gathered,
    /// Values as stored, with ords of the part.
    Values,
    /// Values, and what counts and groups use for them: the ids of ords, and 0.0 for -0.0.
    Keys,
}

/// The buffered values of one column.
#[derive(Debug)]
pub(crate) enum WindowColumn {
    Numbers(Gathered<i64>),
    /// Ords; [`NO_ORD`] for documents without a value.
    Ords(Gathered<TermOrd>),
    Bytes(Gathered<u8>),
}

impl<'a> Window<'a> {
    /// A window over documents of a part.
    pub(crate) fn new(
        docs: BatchDocs<'a>,
        columns: PartColumns<'a>,
        buffers: &'a mut WindowBuffers,
    ) -> Window<'a> {
        if buffers.read.len() != columns.len() {
            buffers.read = columns.iter().map(|column| (State::Nothing, WindowColumn::new(column))).collect();
            buffers.ids = vec![Vec::new(); columns.len()];
            buffers.one_zero = vec![Vec::new(); columns.len()];
        }
        buffers.read.iter_mut().for_each(|(state, _)| *state = State::Nothing);
        Window { docs: WindowDocs::Batch(docs), columns, buffers }
    }

    /// A window over the documents of a range whose bits are set, if these are most of them.
    pub(crate) fn of_bits(
        docs: DocRange,
        bits: &'a [u64],
        columns: PartColumns<'a>,
        buffers: &'a mut WindowBuffers,
    ) -> Window<'a> {
        let docs = WindowDocs::Bits { docs, bits, len: bits::count(bits), list: OnceCell::new() };
        Window { docs, ..Window::new(BatchDocs::List(&[]), columns, buffers) }
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        match &self.docs {
            WindowDocs::Batch(docs) => docs.len(),
            WindowDocs::Bits { len, .. } => *len,
        }
    }

    /// The address of the document at position `at`.
    pub(crate) fn address(&self, at: usize) -> DocAddress {
        DocAddress { part: len_u32(self.columns.part()), doc: self.doc(at) }
    }

    /// The document at position `at`.
    pub(crate) fn doc(&self, at: usize) -> DocId {
        match &self.docs {
            WindowDocs::Batch(BatchDocs::Run(docs)) => DocId::new(docs.start + len_u32(at)),
            WindowDocs::Batch(BatchDocs::List(docs)) => docs[at],
            WindowDocs::Bits { docs, bits, list, .. } => {
                let listed = || {
                    let mut list = Vec::new();
                    bits::push_docs(bits, docs.start, &mut list);
                    list
                };
                list.get_or_init(listed)[at]
            }
        }
    }

    /// Reads a column for counts and groups, unless this window has read it already. -0.0 becomes 0.0, and ords become
    /// ids if [`Columns::read_as_ids`] was called for the column.
    ///
    /// [`Columns::read_as_ids`]: super::columns::Columns::read_as_ids
    pub(crate) fn read(&mut self, slot: Slot) -> Result<()> {
        self.read_stored(slot)?;
        let (state, read) = &mut self.buffers.read[slot.0];
        if *state == State::Values {
            *state = State::Keys;
            match (read, self.columns.ids(slot)) {
                (WindowColumn::Ords(read), Some(of_ord)) => {
                    // No ord is the stand-in for a missing one, which lies past the end.
                    let id = |ord: TermOrd| of_ord.get(ord.get() as usize).copied().unwrap_or(NO_ORD);
                    convert(read, &mut self.buffers.ids[slot.0], id);
                }
                (WindowColumn::Numbers(read), _)
                    if value::has_negative_zero(self.columns.get(slot).info()) =>
                {
                    convert(read, &mut self.buffers.one_zero[slot.0], value::one_zero);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// As [`read`](Self::read), with the stored numbers and the part's own ords.
    pub(crate) fn read_stored(&mut self, slot: Slot) -> Result<()> {
        self.gather(slot)?;
        let (state, read) = &mut self.buffers.read[slot.0];
        if *state == State::Gathered {
            if let WindowDocs::Bits { bits, .. } = &self.docs {
                read.retain(bits);
            }
            *state = State::Values;
        }
        Ok(())
    }

    /// Gathers a column, unless this window has read it already.
    fn gather(&mut self, slot: Slot) -> Result<()> {
        let (state, read) = &mut self.buffers.read[slot.0];
        if *state == State::Nothing {
            let docs = match &self.docs {
                WindowDocs::Batch(docs) => *docs,
                WindowDocs::Bits { docs, .. } => BatchDocs::Run(*docs),
            };
            read.read(self.columns.get(slot), docs)?;
            *state = State::Gathered;
        }
        Ok(())
    }

    /// The lists of ords of a range of documents, with bits of those in the window: if these are all but a few, and the
    /// column is not read yet. Removing lists takes longer than looking at the few.
    pub(crate) fn lists_of_most(&mut self, slot: Slot) -> Result<Option<(Slices<'_, TermOrd>, &'a [u64])>> {
        let bits = match &self.docs {
            WindowDocs::Bits { docs, bits, len, .. } if (docs.len() - len) * FEW_ONE_IN <= docs.len() => {
                *bits
            }
            _ => return Ok(None),
        };
        if !self.column(slot).info().is_multi_valued() {
            return Ok(None);
        }
        self.gather(slot)?;
        Ok(match &self.buffers.read[slot.0] {
            (State::Gathered, WindowColumn::Ords(read)) if read.is_many() => Some((read.lists(), bits)),
            _ => None,
        })
    }

    /// The columns of the part.
    pub(crate) fn columns(&self) -> PartColumns<'a> {
        self.columns
    }

    /// The column of a slot.
    pub(crate) fn column(&self, slot: Slot) -> &'a dyn Column {
        self.columns.get(slot)
    }

    /// The number of documents without a value in a column that [`read`](Self::read) has read.
    pub(crate) fn missing(&self, slot: Slot) -> u64 {
        if self.column(slot).info().all_present() { 0 } else { self.cells(slot).missing() }
    }

    /// The values of a column that [`read`](Self::read) has read.
    pub(crate) fn cells(&self, slot: Slot) -> Cells<'_> {
        let cells = self.read_column(slot, State::Keys).cells();
        let ids = &self.buffers.ids[slot.0];
        let one_zero = &self.buffers.one_zero[slot.0];
        let has_negative_zero = value::has_negative_zero(self.column(slot).info());
        match cells {
            Cells::Numbers(numbers) if has_negative_zero => {
                Cells::Numbers(Numbers { values: one_zero, ..numbers })
            }
            Cells::NumberLists(lists) if has_negative_zero => Cells::NumberLists(lists.over(one_zero)),
            _ if self.columns.ids(slot).is_none() => cells,
            Cells::Ords(_) => Cells::Ords(ids),
            Cells::OrdLists(lists) => Cells::OrdLists(lists.over(ids)),
            cells => cells,
        }
    }

    /// The values of a column that [`read_stored`](Self::read_stored) has read: stored numbers, and ords of the part.
    pub(crate) fn stored_cells(&self, slot: Slot) -> Cells<'_> {
        self.read_column(slot, State::Values).cells()
    }

    /// The numbers of a numeric column. It must have been read.
    pub(crate) fn numbers(&self, slot: Slot) -> Numbers<'_> {
        match self.read_column(slot, State::Values) {
            WindowColumn::Numbers(read) => Numbers { values: read.values(), present: read.present() },
            WindowColumn::Ords(_) | WindowColumn::Bytes(_) => Numbers { values: &[], present: None },
        }
    }

    /// A column that has been read, at least to this state.
    fn read_column(&self, slot: Slot, least: State) -> &WindowColumn {
        let (state, read) = &self.buffers.read[slot.0];
        debug_assert!(*state >= least, "a column is read before it is looked at");
        read
    }
}

impl WindowColumn {
    /// Buffers for the values of `column`.
    pub(crate) fn new(column: &dyn Column) -> WindowColumn {
        match column.values() {
            Values::Numbers(_) => WindowColumn::Numbers(Gathered::new()),
            Values::Ords(..) => WindowColumn::Ords(Gathered::filled(NO_ORD)),
            Values::Bytes(_) => WindowColumn::Bytes(Gathered::new()),
        }
    }

    /// Reads the values of `docs`.
    pub(crate) fn read(&mut self, column: &dyn Column, docs: BatchDocs<'_>) -> Result<()> {
        match (self, column.values()) {
            (WindowColumn::Numbers(read), Values::Numbers(rows)) => rows.gather(docs, read),
            (WindowColumn::Ords(read), Values::Ords(rows, _)) => rows.gather(docs, read),
            (WindowColumn::Bytes(read), Values::Bytes(rows)) => rows.gather(docs, read),
            (read, _) => {
                *read = WindowColumn::new(column);
                read.read(column, docs)
            }
        }
    }

    /// Keeps only the rows whose bits are set.
    fn retain(&mut self, bits: &[u64]) {
        match self {
            WindowColumn::Numbers(read) => read.retain(bits),
            WindowColumn::Ords(read) => read.retain(bits),
            WindowColumn::Bytes(read) => read.retain(bits),
        }
    }

    /// The values that were read last.
    pub(crate) fn cells(&self) -> Cells<'_> {
        match self {
            WindowColumn::Numbers(read) => match read.view() {
                View::One(values) => Cells::Numbers(Numbers { values, present: read.present() }),
                View::Many(lists) => Cells::NumberLists(lists),
            },
            WindowColumn::Ords(read) => match read.view() {
                View::One(ords) => Cells::Ords(ords),
                View::Many(lists) => Cells::OrdLists(lists),
            },
            WindowColumn::Bytes(read) => {
                Cells::Bytes(Strings { values: read.lists(), present: read.present() })
            }
        }
    }
}

/// Writes each value that was read last, converted, in the order of rows and lists.
#[inline]
fn convert<T: Element>(read: &Gathered<T>, to: &mut Vec<T>, convert: impl Fn(T) -> T) {
    let values = if read.is_many() { read.lists().items() } else { read.values() };
    to.clear();
    to.extend(values.iter().map(|value| convert(*value)));
}

/// Represents documents without a gap as a run.
pub(crate) fn as_run_if_whole(docs: &[DocId]) -> BatchDocs<'_> {
    match docs {
        [first, .., last] if (last.get() - first.get()) as usize + 1 == docs.len() => {
            BatchDocs::Run(DocRange::new(first.get(), last.get() + 1))
        }
        _ => BatchDocs::List(docs),
    }
}
