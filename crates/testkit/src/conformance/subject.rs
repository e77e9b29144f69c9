//! What the five kinds have in common: a document has a value or none, whatever a value is.

use std::fmt::{self, Debug};
use std::ops::{ControlFlow, Range};

use docvalues_column::{BatchDocs, Column, DocId, Result};

/// Fills, and what a `gather_or` with each wrote.
pub(super) type Filled<V> = Vec<(V, Vec<V>)>;

/// Who is handed the batches of a scan.
pub(super) type Each<'e, V> = dyn FnMut(BatchDocs<'_>, Vec<V>) -> ControlFlow<()> + 'e;

/// A column as the rules see it. For a multi-valued kind a *value* is a document's whole list.
pub(super) trait Subject {
    type Value: Clone + PartialEq + Debug;
    /// What a filter looks for.
    type Query: Debug;

    fn column(&self) -> &dyn Column;

    fn get(&self, doc: DocId) -> Result<Option<Self::Value>>;

    /// `gather` into outputs that hold something else before; `present` begins as `pattern`.
    /// Panics, naming the operation `as_called`, where an output is not what it must be for a document
    /// without a value.
    fn gather(&self, docs: &[DocId], pattern: u64, as_called: &str) -> Result<Vec<Option<Self::Value>>>;

    /// `gather_or` for each of some fills, with what it was filled by; nothing where the kind has
    /// no such operation.
    fn gather_or(&self, docs: &[DocId]) -> Result<Filled<Self::Value>>;

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, Self::Value>) -> Result<()>;

    /// Filters that are worth a try on a column with these values.
    fn queries(&self, expected: &Expected<Self::Value>) -> Vec<Self::Query>;

    fn matches(query: &Self::Query, value: &Self::Value) -> bool;

    fn filter(&self, docs: Range<u32>, query: &Self::Query, bits: &mut [u64]) -> Result<()>;

    /// The stretches of documents among which a filter finds all; of most kinds, nobody is asked.
    fn candidates(&self, docs: Range<u32>, _query: &Self::Query) -> Result<Vec<Range<u32>>> {
        Ok(vec![docs])
    }

    /// The same of `docs` that begin with a zone, as bits for every 512 of them.
    fn open_stretches(
        &self,
        _docs: Range<u32>,
        _query: &Self::Query,
        _finely: bool,
        bits: &mut [u64],
    ) -> Result<()> {
        bits.fill(u64::MAX);
        Ok(())
    }
}

/// What a column has to answer: a value or none for each document.
pub(super) struct Expected<V> {
    pub(super) name: String,
    pub(super) slots: Vec<Option<V>>,
}

impl<V: Clone> Expected<V> {
    pub(super) fn of(model: &impl Subject<Value = V>) -> Expected<V> {
        let name = model.column().field().name.clone();
        let slots = (0..model.column().docs()).map(|doc| model.get(DocId::new(doc)));
        Expected { slots: slots.map(|slot| good(slot, &name, "get of the model")).collect(), name }
    }

    pub(super) fn docs(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The value of `doc`; none past the last document.
    pub(super) fn get(&self, doc: u32) -> Option<&V> {
        self.slots.get(doc as usize).and_then(Option::as_ref)
    }

    /// The documents of `docs` that have a value, and their values.
    pub(super) fn within(&self, docs: Range<u32>) -> impl Iterator<Item = (u32, &V)> {
        let docs = docs.start..docs.end.min(self.docs());
        docs.filter_map(|doc| self.get(doc).map(|value| (doc, value)))
    }
}

/// The result of an operation that had no reason to fail.
pub(super) fn good<T>(result: Result<T>, name: &str, operation: &str) -> T {
    result.unwrap_or_else(|error| panic!("column `{name}`: {operation}: failed on good bytes: {error}"))
}

/// Where things that go wrong go wrong: the ends of words, of rank strides, of value blocks, of
/// presence blocks, and of the segment.
pub(super) fn edges(docs: u32) -> Vec<u32> {
    let steps = [64, 512, 4096, 1 << 14, 1 << 16, 1 << 17, 3 << 16, docs];
    let mut edges: Vec<u32> = steps.iter().flat_map(|&at: &u32| at.saturating_sub(2)..at + 2).collect();
    edges.extend([0, 1]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A value cut to what fits a line: some are 100 KB long.
pub(super) fn short(value: &impl Debug) -> String {
    let mut text = format!("{value:?}");
    if text.len() > 200 {
        text.truncate(text.floor_char_boundary(200));
        text.push('…');
    }
    text
}

/// A byte string that is shown as text: these are read in failing assertions.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub(super) struct Text(pub(super) Vec<u8>);

impl Text {
    /// The bytes; of an empty string, none of a place that exists.
    ///
    /// An empty vector points nowhere. Where `memcmp` is made of masked loads, to compare no bytes from
    /// there takes 200 ns, and a column of 200,000 empty strings takes seconds to check.
    pub(super) fn bytes(&self) -> &[u8] {
        static PLACE: [u8; 1] = [0];
        if self.0.is_empty() { &PLACE[..0] } else { &self.0 }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
