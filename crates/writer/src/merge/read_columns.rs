//! Reads a column of all sources, one after the other, into one buffer.

use std::ops::{ControlFlow, Range};

use docvalues_column::{
    Batch, BatchDocs, DocRange, Element, Kind, Lists, LogicalType, Rows, Slices, Terms, Values, View,
    promotion,
};
use docvalues_storage::Spill;

use super::dictionaries::OrdMaps;
use super::plan::{MISFIT, MergedColumn, SourceColumn};
use crate::buffer::{self, FieldBuffer, MemoryBudget};
use crate::encode::OrdValues;
use crate::error::ErrorKind;
use crate::file::prepared_column::PreparedColumn;
use crate::index::index;
use crate::input::{Bytes, InputColumn as _, check_bytes, check_number};
use crate::schema::BytesKind;

impl MergedColumn<'_> {
    /// Reads the column of all sources, and merges their dictionaries.
    pub(super) fn read(
        &self,
        jump_tables: bool,
        budget: usize,
        spill: Option<&Spill>,
    ) -> Result<PreparedColumn, ErrorKind> {
        let (buffer, memory) = (FieldBuffer::new(&self.spec), MemoryBudget::new(budget));
        let mut target = MergedBuffer { buffer, memory, spill, live: Vec::new() };
        let mut ordinals = OrdMaps::default();
        self.reserve(&mut target)?;
        for part in &self.parts {
            self.read_part(part, &mut target, &mut ordinals).map_err(|kind| match kind {
                // These name the source already, or concern none.
                ErrorKind::Read(_) | ErrorKind::Budget { .. } | ErrorKind::Storage(_) => kind,
                _ => kind.of_source(part.source),
            })?;
        }
        Ok(match target.buffer {
            FieldBuffer { presence, values: buffer::Values::Terms { ids: mut ords, .. }, .. }
                if !self.is_mixed() =>
            {
                let (terms, mut merged) =
                    ordinals.merge(self, jump_tables, target.memory.spill_target(), spill)?;
                // The map of ords is monotonic, so sets stay sorted.
                ords.values.change_each(|ords| merged.replace(ords))?;
                PreparedColumn::Ords(presence, Box::new(OrdValues::of(ords, terms)))
            }
            buffer => PreparedColumn::Buffered(buffer),
        })
    }

    /// Whether terms are read as byte strings: if only some sources have a dictionary, the better encoding is chosen
    /// anew; and an id field never has one.
    pub(super) fn is_mixed(&self) -> bool {
        self.spec.bytes_kind() != BytesKind::Sorted
            && !self.spec.is_multi_valued()
            && self.spec.logical().is_bytes()
    }

    /// Reserves memory for the values of a single-valued column, up to the size at which a spill would stop.
    fn reserve(&self, target: &mut MergedBuffer<'_>) -> Result<(), ErrorKind> {
        if self.spec.is_multi_valued() {
            return Ok(());
        }
        let most = target.memory.spill_target() / size_of::<i64>();
        let values = self.parts.iter().map(|part| index(part.values())).sum::<usize>().min(most);
        target.buffer.reserve(values, values, &mut target.memory)
    }

    fn read_part(
        &self,
        part: &SourceColumn<'_>,
        target: &mut MergedBuffer<'_>,
        ordinals: &mut OrdMaps,
    ) -> Result<(), ErrorKind> {
        let logical = self.spec.logical();
        let (mut offsets, mut strings) = (Vec::new(), Lists::new());
        match (part.column.values(), part.column.info().kind()) {
            (Values::Numbers(rows), Kind::Numeric | Kind::SortedNumeric) => {
                let types = [part.field().logical, logical];
                target.scan(part, rows, |rows, buffer, memory| push_numbers(rows, types, buffer, memory))
            }
            (Values::Bytes(rows), Kind::Binary) => target.scan(part, rows, |rows, buffer, memory| {
                let strings = rows.many().ok_or(MISFIT)?;
                push_strings(strings, &mut offsets, logical, buffer, memory)
            }),
            (Values::Ords(rows, terms), Kind::Sorted) if self.is_mixed() => {
                target.scan(part, rows, |rows, buffer, memory| {
                    terms.gather_terms(rows.one().ok_or(MISFIT)?, &mut strings)?;
                    push_strings(strings.slices(), &mut offsets, logical, buffer, memory)
                })
            }
            (Values::Ords(rows, terms), Kind::Sorted | Kind::SortedSet) => {
                let used = ordinals.begin(terms.term_count(), &mut target.memory)?;
                target.scan(part, rows, |rows, buffer, memory| used.push(rows, buffer, memory))
            }
            _ => Err(MISFIT),
        }
    }

    /// Estimates the memory of the values, in bytes. The length of byte strings is unknown; lists are assumed to have
    /// two values.
    pub(super) fn needs(&self) -> usize {
        let part = |part: &SourceColumn<'_>| {
            let each = match part.column.info().kind() {
                Kind::Numeric => 8,
                Kind::SortedNumeric => 24,
                Kind::Binary => 40,
                Kind::Sorted => 4,
                Kind::SortedSet => 16,
            };
            let terms = part.column.values().terms().map_or(0, Terms::term_count);
            index(part.values()).saturating_mul(each) + index(terms) * size_of::<u32>()
        };
        self.parts.iter().map(part).fold(0, usize::saturating_add)
    }
}

/// The buffer of a merged column, while sources are read.
struct MergedBuffer<'a> {
    buffer: FieldBuffer,
    memory: MemoryBudget,
    /// The temporary file, if there is one.
    spill: Option<&'a Spill>,
    /// The live documents of the current batch, as ranges of indices.
    live: Vec<Range<usize>>,
}

impl MergedBuffer<'_> {
    /// Scans all documents of a source. `push` appends the rows of consecutive live documents to the buffer.
    fn scan<T: Element>(
        &mut self,
        part: &SourceColumn<'_>,
        rows: &dyn Rows<T>,
        mut push: impl FnMut(View<'_, T>, &mut FieldBuffer, &mut MemoryBudget) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let docs = DocRange::new(0, part.live.docs());
        let (mut left, mut outcome) = (docs, Ok(()));
        rows.scan(docs, &mut |Batch { docs, values }| {
            outcome = self.add_documents(part, &mut left, &docs, values.len()).and_then(|()| {
                let MergedBuffer { buffer, memory, live, .. } = self;
                live.iter().try_for_each(|run| push(values.part(run.clone()), buffer, memory))?;
                self.spill_if_tight()
            });
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome
    }

    /// Adds the live documents of a batch to the presence. They must lie in `left`, the part not scanned yet.
    fn add_documents(
        &mut self,
        part: &SourceColumn<'_>,
        left: &mut DocRange,
        docs: &BatchDocs<'_>,
        rows: usize,
    ) -> Result<(), ErrorKind> {
        let span = span(docs, *left).filter(|_| docs.len() == rows);
        let span = span.ok_or(ErrorKind::Disorder("documents of a scan"))?;
        left.start = span.end;
        let SourceColumn { live, first, .. } = *part;
        live.runs(docs, &mut self.live);
        let new = first + live.rank(span.start)..first + live.rank(span.end);
        let count: usize = self.live.iter().map(Range::len).sum();
        let presence = &mut self.buffer.presence;
        // There never are more documents than fit.
        presence.reserve(new.clone(), u32::try_from(count).unwrap_or(u32::MAX), &mut self.memory)?;
        match docs {
            BatchDocs::List(docs) if count < new.len() => {
                for doc in self.live.iter().flat_map(|run| &docs[run.clone()]) {
                    presence.insert(first + live.rank(doc.get()));
                }
            }
            _ => presence.extend_run(new),
        }
        Ok(())
    }

    fn spill_if_tight(&mut self) -> Result<(), ErrorKind> {
        if let Some(spill) = self.spill.filter(|_| self.memory.is_tight()) {
            self.buffer.spill(spill, &mut self.memory)?;
            self.memory.after_spill();
        }
        Ok(())
    }
}

/// The range that some documents span, if they ascend and lie in `left`.
fn span(docs: &BatchDocs<'_>, left: DocRange) -> Option<DocRange> {
    let span = match docs {
        BatchDocs::Run(docs) => *docs,
        BatchDocs::List(docs) => {
            let ascend = docs.windows(2).fold(true, |all, pair| all & (pair[0] < pair[1]));
            let (first, last) = (docs.first()?, docs.last().filter(|_| ascend)?);
            DocRange::new(first.get(), last.get().checked_add(1)?)
        }
    };
    (left.start <= span.start && span.start <= span.end && span.end <= left.end).then_some(span)
}

/// Appends numbers of the first of two types as the second.
fn push_numbers(
    rows: View<'_, i64>,
    types: [LogicalType; 2],
    buffer: &mut FieldBuffer,
    memory: &mut MemoryBudget,
) -> Result<(), ErrorKind> {
    buffer.reserve(rows.len(), rows.items().len(), memory)?;
    let buffer::Values::Numbers(numbers) = &mut buffer.values else { return Err(MISFIT) };
    let ([from, to], target) = (types, &mut numbers.values.in_memory);
    if from == to {
        if to == LogicalType::Bool {
            rows.items().iter().try_for_each(|&number| check_number(to, number))?;
        }
        target.extend_from_slice(rows.items());
    } else {
        for &stored in rows.items() {
            let converted = promotion::convert(stored, from, to);
            let value = promotion::integer(stored, from);
            target.push(converted.ok_or(ErrorKind::Inexact { value, types })?);
        }
    }
    numbers.end_rows(&rows).ok_or(MISFIT)
}

/// Appends byte strings; `offsets` is scratch.
fn push_strings(
    strings: Slices<'_, u8>,
    offsets: &mut Vec<u64>,
    logical: LogicalType,
    buffer: &mut FieldBuffer,
    memory: &mut MemoryBudget,
) -> Result<(), ErrorKind> {
    offsets.clear();
    offsets.push(0);
    offsets.extend(strings.lens().scan(0, |end, len| {
        *end += len as u64;
        Some(*end)
    }));
    let (column, places) = (Bytes { offsets, data: strings.items() }, 0..strings.len());
    if !column.all_fit(&places, logical) {
        strings.iter().try_for_each(|string| check_bytes(logical, string, false))?;
    }
    buffer.reserve(places.len(), places.len(), memory)?;
    column.append(places, &mut buffer.values, memory).map_err(|(_, kind)| kind)
}
