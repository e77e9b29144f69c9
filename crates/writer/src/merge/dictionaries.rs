//! Merges the dictionaries of a column, and maps the ords of each source to ords of the merged one.

use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use docvalues_column::{LogicalType, OrdRange, TermOrd, Terms, View};
use docvalues_format::dictionary::Dictionary;
use docvalues_storage::Spill;

use super::loser_tree::{LoserTree, OffsetValueCode};
use super::plan::{MISFIT, MergedColumn, SourceColumn};
use crate::buffer::{CHUNK_LEN, FieldBuffer, MemoryBudget, Payload, Scratch, Values};
use crate::encode::{DictionaryWriter, Ords};
use crate::error::ErrorKind;
use crate::index::index;
use crate::input::check_bytes;

/// The ord map of each source. (Lucene: `OrdinalMap`.)
#[derive(Debug, Default)]
pub(super) struct OrdMaps {
    maps: Vec<OrdMap>,
}

/// The ord map of a source.
#[derive(Debug, Default)]
pub(super) struct OrdMap {
    /// For each ord its new one. Until the dictionaries are merged: [`USED`] or [`UNUSED`].
    ords: Vec<u32>,
    /// The number of ords of all live documents.
    count: usize,
}

/// No live document has this term.
const UNUSED: u32 = 0;
/// A live document has this term.
const USED: u32 = 1;

impl OrdMap {
    /// Appends the ords of documents to `buffer`, and marks their terms as used.
    pub(super) fn push(
        &mut self,
        rows: View<'_, TermOrd>,
        buffer: &mut FieldBuffer,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        let (OrdMap { ords: map, count }, more) = (self, rows.items());
        buffer.reserve(rows.len(), more.len(), memory)?;
        let Values::Terms { ids, .. } = &mut buffer.values else { return Err(MISFIT) };
        if let View::Many(sets) = &rows
            && !sets.iter().all(|set| set.is_sorted_by(|a, b| a < b))
        {
            return Err(ErrorKind::Disorder("ords of a document"));
        }
        if more.iter().fold(false, |past, ord| past | (index(ord.get()) >= map.len())) {
            return Err(ErrorKind::Disorder("ords"));
        }
        more.iter().for_each(|ord| map[index(ord.get())] = USED);
        ids.values.in_memory.extend(more.iter().map(|ord| ord.get()));
        *count += more.len();
        ids.end_rows(&rows).ok_or(MISFIT)
    }
}

impl OrdMaps {
    /// Begins a source with this many terms.
    pub(super) fn begin(&mut self, terms: u32, memory: &mut MemoryBudget) -> Result<&mut OrdMap, ErrorKind> {
        let mut ords = Vec::new();
        memory.reserve(&mut ords, index(terms))?;
        ords.resize(index(terms), UNUSED);
        self.maps.push(OrdMap { ords, count: 0 });
        let last = self.maps.len() - 1;
        Ok(&mut self.maps[last])
    }

    /// Merges the dictionaries of all sources. Returns the merged one, and the maps of ords. With a `spill`, at most
    /// `most` bytes of the dictionary stay in memory.
    pub(super) fn merge(
        mut self,
        column: &MergedColumn<'_>,
        jump_tables: bool,
        most: usize,
        spill: Option<&Spill>,
    ) -> Result<(Dictionary<Payload>, Ords), ErrorKind> {
        let on_disk = spill.map(|spill| Scratch::new(spill.clone()));
        let mut terms = DictionaryWriter::new(on_disk, most.max(CHUNK_LEN));
        let streams = column.parts.iter().zip(&mut self.maps);
        let streams = streams.filter_map(|(part, map)| TermStream::new(part, &mut map.ords));
        merge(streams.collect(), column.spec.logical(), &mut terms)?;
        let ords = Ords::in_memory(self.maps.into_iter().map(|map| (map.count, map.ords)));
        Ok((terms.finish(jump_tables), ords))
    }
}

/// Merges the used terms, and replaces each mark by the new ord.
fn merge(
    mut streams: Vec<TermStream<'_>>,
    logical: LogicalType,
    terms: &mut DictionaryWriter,
) -> Result<(), ErrorKind> {
    streams.iter_mut().try_for_each(TermStream::fill)?;
    let codes: Vec<_> = streams.iter().map(TermStream::code).collect();
    let mut tree = LoserTree::new(&codes, |i| streams[i].term());
    let mut last = None;
    while let Some((winner, code)) = tree.winner() {
        let head = &mut streams[winner];
        let term = head.term();
        // Otherwise it equals the previous term, from another source.
        if code != OffsetValueCode::SAME || last != Some(term.len()) {
            check_bytes(logical, term, false).map_err(|kind| kind.of_source(head.source))?;
            terms.push(term)?;
            last = Some(term.len());
        }
        head.map[index(head.read[head.at].ord)] = terms.builder.len() - 1;
        head.advance()?;
        tree.replay(streams[winner].code(), |i| streams[i].term());
    }
    Ok(())
}

/// Reads the used terms of a source in order, in batches.
struct TermStream<'a> {
    source: &'a str,
    terms: &'a dyn Terms,
    map: &'a mut [u32],
    /// The ords whose terms are not read yet.
    left: OrdRange,
    /// The terms of the batch.
    read: Vec<ReadTerm>,
    bytes: Vec<u8>,
    /// The index of the current term in the batch.
    at: usize,
}

/// A term of a batch.
#[derive(Clone, Copy)]
struct ReadTerm {
    /// Its code relative to the previous term.
    code: OffsetValueCode,
    ord: u32,
    len: u32,
    start: usize,
}

impl ReadTerm {
    fn place(&self) -> Range<usize> {
        self.start..self.start + index(self.len)
    }
}

impl<'a> TermStream<'a> {
    /// A stream before its first term.
    fn new(part: &'a SourceColumn<'_>, map: &'a mut [u32]) -> Option<TermStream<'a>> {
        let terms = part.column.values().terms()?;
        let (left, read, bytes) = (OrdRange::new(0, terms.term_count()), Vec::new(), Vec::new());
        Some(TermStream { source: part.source, terms, map, left, read, bytes, at: 0 })
    }

    fn term(&self) -> &[u8] {
        &self.bytes[self.read[self.at].place()]
    }

    /// The code of the current term, relative to the previous one.
    fn code(&self) -> OffsetValueCode {
        self.read.get(self.at).map_or(OffsetValueCode::NONE, |read| read.code)
    }

    /// Goes to the next term.
    fn advance(&mut self) -> Result<(), ErrorKind> {
        self.at += 1;
        if self.at < self.read.len() { Ok(()) } else { self.fill() }
    }

    /// Reads the next batch of used terms, if there are any.
    fn fill(&mut self) -> Result<(), ErrorKind> {
        /// Bytes of terms in a batch: small, so that the batches of many sources fit the cache.
        const READ_LEN: usize = 1 << 13;
        let TermStream { map, left, read, bytes, .. } = self;
        let mut last = read.last().copied();
        if let Some(last) = &mut last {
            bytes.drain(..last.start);
            last.start = 0;
        }
        read.clear();
        self.at = 0;
        let mut ascend = true;
        // A small dictionary takes no reallocations.
        let few = index(left.end - left.start).min(64);
        read.reserve(few);
        bytes.reserve(16 * few);
        // What is left if the callback never breaks.
        let ords = std::mem::replace(left, OrdRange::new(left.end, left.end));
        self.terms.each_term(ords, &mut |ord, term| {
            let ord = ord.get();
            if map.get(index(ord)).is_none_or(|&used| used != USED) {
                return ControlFlow::Continue(());
            }
            let len = u32::try_from(term.len()).unwrap_or(u32::MAX);
            let code =
                match last.map(|last: ReadTerm| OffsetValueCode::compare(&bytes[last.place()], term, 0)) {
                    None => OffsetValueCode::first(term),
                    Some((Ordering::Less, code)) => code,
                    Some(_) => {
                        ascend = false;
                        return ControlFlow::Break(());
                    }
                };
            let new = ReadTerm { code, ord, len, start: bytes.len() };
            bytes.extend_from_slice(term);
            read.push(new);
            last = Some(new);
            if bytes.len() < READ_LEN {
                return ControlFlow::Continue(());
            }
            *left = OrdRange::new(ord + 1, ords.end);
            ControlFlow::Break(())
        })?;
        if ascend { Ok(()) } else { Err(ErrorKind::Disorder("terms").of_source(self.source)) }
    }
}
