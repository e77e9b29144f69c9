//! The values of all parts of a column, one part after the other.

use std::ops::{ControlFlow, Range};

use docvalues_column::{
    AnyColumn, BatchDocs, BinaryColumn, Lists, NumericColumn, Slices, SortedColumn, SortedNumericColumn,
    SortedSetColumn,
};
use docvalues_format::file::kind::LogicalType;
use docvalues_storage::Spill;

use super::live::Live;
use super::plan::{Merged, Part};
use super::terms::Ordinals;
use crate::buffer::{FieldBuffer, Memory, PresenceBuffer, Values};
use crate::column::{ByteStrings, Column as _};
use crate::encode::{Encoded, Encoder};
use crate::error::ErrorKind;
use crate::fields::check_number;
use crate::intern::index;
use crate::rows::Rows;
use crate::schema::BytesKind;

impl Merged<'_> {
    /// Reads the column's parts, and encodes what they are together.
    pub(super) fn encode(
        &self,
        encoder: &Encoder<'_>,
        budget: usize,
        spill: Option<&Spill>,
    ) -> Result<Encoded, ErrorKind> {
        let Gathered { presence, values, mut ordinals, most } = self.gather(budget, spill)?;
        match values {
            Values::Terms { ids: mut ords, .. } if !self.is_mixed() => {
                let terms = ordinals.merge(self, encoder.jump_tables, most, spill)?;
                ords.change_each(|ords| ordinals.replace(ords))?;
                let column = encoder.frame(&self.spec, presence)?;
                let ords = column.numbers(ords)?;
                encoder.ords(column, &ords, terms)
            }
            Values::TermSets { ids: mut sets, .. } => {
                let terms = ordinals.merge(self, encoder.jump_tables, most, spill)?;
                // They ascend, as those that they were do.
                sets.change_each(|set| ordinals.replace(set).map(|()| set.len()))?;
                let column = encoder.frame(&self.spec, presence)?;
                let sets = column.lists(sets)?;
                encoder.ord_sets(column, sets, terms)
            }
            values => encoder.column(&self.spec, FieldBuffer { presence, values }),
        }
    }

    /// Reads the column's parts.
    pub(super) fn gather(&self, budget: usize, spill: Option<&Spill>) -> Result<Gathered, ErrorKind> {
        let buffer = FieldBuffer::new(&self.spec);
        let mut target = Target { buffer, memory: Memory::new(budget), spill, logical: self.spec.logical() };
        let mut ordinals = Ordinals::default();
        self.reserve(&mut target)?;
        self.each(|part| match &part.column {
            AnyColumn::Numeric(column) => target.numbers(part, &**column),
            AnyColumn::SortedNumeric(column) => target.number_lists(part, &**column),
            AnyColumn::Binary(column) => target.strings(part, &**column),
            AnyColumn::Sorted(column) if self.is_mixed() => target.terms(part, &**column),
            AnyColumn::Sorted(column) => target.ords(part, &**column, &mut ordinals),
            AnyColumn::SortedSet(column) => target.ord_sets(part, &**column, &mut ordinals),
        })?;
        let Target { buffer: FieldBuffer { presence, values }, memory, .. } = target;
        Ok(Gathered { presence, values, ordinals, most: memory.wanted() })
    }

    /// Whether byte strings that have a dictionary in some parts lose it: because others have none, so that it is found
    /// out anew which is better, or because ids have none.
    pub(super) fn is_mixed(&self) -> bool {
        self.spec.bytes_kind() != BytesKind::Sorted
            && !self.spec.is_multi_valued()
            && self.spec.logical().is_bytes()
    }

    /// Makes room for values of which documents have one at most; not for more than may stay in memory.
    fn reserve(&self, target: &mut Target<'_>) -> Result<(), ErrorKind> {
        let most = target.memory.wanted() / size_of::<i64>();
        let Target { buffer, memory, .. } = target;
        match &mut buffer.values {
            Values::Numbers(numbers) => memory.reserve(&mut numbers.near, self.most_values().min(most)),
            Values::Terms { ids, .. } => memory.reserve(&mut ids.near, self.most_values().min(most)),
            Values::NumberLists(_) | Values::Strings(_) | Values::TermSets { .. } => Ok(()),
        }
    }

    fn each(&self, mut read: impl FnMut(&Part<'_>) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        self.parts.iter().try_for_each(|part| {
            read(part).map_err(|kind| match kind {
                // They name the source, or are not about one.
                ErrorKind::Read(_) | ErrorKind::Budget { .. } | ErrorKind::Storage(_) => kind,
                _ => kind.of_source(part.source),
            })
        })
    }

    /// About how many bytes of memory its values take. How long byte strings are, and how many values a document has,
    /// no column tells.
    pub(super) fn needs(&self) -> usize {
        let part = |part: &Part<'_>| {
            let (each, terms) = match &part.column {
                AnyColumn::Numeric(_) => (8, 0),
                AnyColumn::SortedNumeric(_) => (24, 0),
                AnyColumn::Binary(_) => (40, 0),
                AnyColumn::Sorted(column) => (4, column.term_count()),
                AnyColumn::SortedSet(column) => (16, column.term_count()),
            };
            index(part.values()).saturating_mul(each) + index(terms) * size_of::<u32>()
        };
        self.parts.iter().map(part).fold(0, usize::saturating_add)
    }

    /// The most values there are, if documents have one at most.
    fn most_values(&self) -> usize {
        self.parts.iter().map(|part| index(part.values())).sum()
    }
}

/// What the parts of a column are together.
pub(super) struct Gathered {
    pub(super) presence: PresenceBuffer,
    /// Of byte strings in dictionaries the ords that they have there, unless the column is mixed.
    pub(super) values: Values,
    /// What becomes of these ords.
    pub(super) ordinals: Ordinals,
    /// Bytes of memory that a dictionary may take.
    pub(super) most: usize,
}

/// A column while its values come in.
struct Target<'a> {
    buffer: FieldBuffer,
    memory: Memory,
    /// Where what has no room in memory goes, if it may.
    spill: Option<&'a Spill>,
    logical: LogicalType,
}

impl Target<'_> {
    fn numbers(&mut self, part: &Part<'_>, column: &dyn NumericColumn) -> Result<(), ErrorKind> {
        let logical = self.logical;
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        let Values::Numbers(numbers) = values else { return Ok(()) };
                        push_numbers(&batch.values[places], logical, &mut numbers.near, memory)
                    })
                })
            })
        })
    }

    fn number_lists(&mut self, part: &Part<'_>, column: &dyn SortedNumericColumn) -> Result<(), ErrorKind> {
        let logical = self.logical;
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        let Values::NumberLists(lists) = values else { return Ok(()) };
                        let more = batch.values.part(places);
                        memory.reserve(&mut lists.offsets.near, more.len() + 1)?;
                        push_numbers(more.items(), logical, &mut lists.values.near, memory)?;
                        lists.end(more.lens());
                        Ok(())
                    })
                })
            })
        })
    }

    fn strings(&mut self, part: &Part<'_>, column: &dyn BinaryColumn) -> Result<(), ErrorKind> {
        let (logical, mut offsets) = (self.logical, Vec::new());
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        push_strings(batch.values.part(places), &mut offsets, logical, values, memory)
                    })
                })
            })
        })
    }

    /// The terms of a column that has a dictionary, as if it had none.
    fn terms(&mut self, part: &Part<'_>, column: &dyn SortedColumn) -> Result<(), ErrorKind> {
        let (logical, mut offsets, mut terms) = (self.logical, Vec::new(), Lists::new());
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        column.gather_terms(&batch.values[places], &mut terms)?;
                        push_strings(terms.slices(), &mut offsets, logical, values, memory)
                    })
                })
            })
        })
    }

    fn ords(
        &mut self,
        part: &Part<'_>,
        column: &dyn SortedColumn,
        ordinals: &mut Ordinals,
    ) -> Result<(), ErrorKind> {
        let mut used = ordinals.begin(column.term_count(), &mut self.memory)?;
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        let Values::Terms { ids, .. } = values else { return Ok(()) };
                        memory.reserve(&mut ids.near, places.len())?;
                        used.push(&batch.values[places], &mut ids.near)
                    })
                })
            })
        })
    }

    fn ord_sets(
        &mut self,
        part: &Part<'_>,
        column: &dyn SortedSetColumn,
        ordinals: &mut Ordinals,
    ) -> Result<(), ErrorKind> {
        let mut used = ordinals.begin(column.term_count(), &mut self.memory)?;
        part.read(|docs, steps| {
            column.scan(docs, &mut |batch| {
                steps.next(|seen| {
                    self.add(part, seen, &batch.docs, batch.values.len(), |places, values, memory| {
                        let Values::TermSets { ids: sets, .. } = values else { return Ok(()) };
                        let more = batch.values.part(places);
                        if !more.iter().all(|set| set.is_sorted_by(|a, b| a < b)) {
                            return Err(ErrorKind::Disorder("ords of a document"));
                        }
                        memory.reserve(&mut sets.offsets.near, more.len() + 1)?;
                        memory.reserve(&mut sets.values.near, more.items().len())?;
                        used.push(more.items(), &mut sets.values.near)?;
                        sets.end(more.lens());
                        Ok(())
                    })
                })
            })
        })
    }

    /// Adds the live ones of some documents, of which a scan says that they have a value each; has `take` add
    /// their values, of which it gets the places among these, stretch by stretch.
    fn add(
        &mut self,
        part: &Part<'_>,
        seen: &mut u32,
        docs: &BatchDocs<'_>,
        values: usize,
        mut take: impl FnMut(Range<usize>, &mut Values, &mut Memory) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let Some(docs_span) = span(docs, *seen, part.live.docs()).filter(|_| docs.len() == values) else {
            return Err(ErrorKind::Disorder("documents of a scan"));
        };
        *seen = docs_span.end;
        self.add_documents(part, docs, docs_span)?;
        let Target { buffer, memory, .. } = self;
        stretches(docs, part.live, |places| take(places, &mut buffer.values, memory))?;
        if let Some(spill) = self.spill.filter(|_| memory.is_tight()) {
            buffer.spill(spill, memory)?;
            memory.eased();
        }
        Ok(())
    }

    fn add_documents(
        &mut self,
        part: &Part<'_>,
        docs: &BatchDocs<'_>,
        span: Range<u32>,
    ) -> Result<(), ErrorKind> {
        let Part { live, first, .. } = *part;
        let (start, end) = (first + live.before(span.start), first + live.before(span.end));
        let count = match docs {
            BatchDocs::Run { .. } => end - start,
            BatchDocs::List(docs) if live.are_all() => count(docs.len()),
            BatchDocs::List(docs) => count(docs.iter().filter(|doc| live.has(doc.get())).count()),
        };
        let presence = &mut self.buffer.presence;
        presence.reserve(start..end, count, &mut self.memory)?;
        if count == end - start {
            let rows = Rows { docs: count, ..Rows::single(None) };
            presence.extend(start, &rows);
        } else {
            for doc in docs.iter().map(|doc| doc.get()).filter(|&doc| live.has(doc)) {
                presence.insert(first + live.before(doc));
            }
        }
        Ok(())
    }
}

/// What became of a scan so far.
struct Steps {
    /// The document behind the last one.
    seen: u32,
    outcome: Result<(), ErrorKind>,
}

impl Steps {
    fn next(&mut self, step: impl FnOnce(&mut u32) -> Result<(), ErrorKind>) -> ControlFlow<()> {
        self.outcome = step(&mut self.seen);
        match self.outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl Part<'_> {
    /// Has `scan` go through all documents, step by step.
    fn read(
        &self,
        scan: impl FnOnce(Range<u32>, &mut Steps) -> docvalues_column::Result<()>,
    ) -> Result<(), ErrorKind> {
        let mut steps = Steps { seen: 0, outcome: Ok(()) };
        scan(0..self.live.docs(), &mut steps)?;
        steps.outcome
    }
}

/// From the first of some documents to behind the last one, if they ascend from `seen` and stay below `end`.
fn span(docs: &BatchDocs<'_>, seen: u32, end: u32) -> Option<Range<u32>> {
    let span = match docs {
        BatchDocs::Run { first, len } => {
            let first = first.get();
            first..first.checked_add(u32::try_from(*len).ok()?)?
        }
        BatchDocs::List(docs) => {
            let ascend = docs.windows(2).fold(true, |all, pair| all & (pair[0] < pair[1]));
            let (first, last) = (docs.first()?, docs.last().filter(|_| ascend)?);
            first.get()..last.get().checked_add(1)?
        }
    };
    (span.start >= seen && span.end <= end).then_some(span)
}

/// Hands the places of documents that live to `take`, as far as they are neighbours together.
fn stretches(
    docs: &BatchDocs<'_>,
    live: &Live<'_>,
    mut take: impl FnMut(Range<usize>) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    if live.are_all() {
        return take(0..docs.len());
    }
    let mut start = 0;
    for (at, doc) in docs.iter().enumerate() {
        if !live.has(doc.get()) {
            if start < at {
                take(start..at)?;
            }
            start = at + 1;
        }
    }
    if start < docs.len() { take(start..docs.len()) } else { Ok(()) }
}

fn push_numbers(
    more: &[i64],
    logical: LogicalType,
    numbers: &mut Vec<i64>,
    memory: &mut Memory,
) -> Result<(), ErrorKind> {
    if logical == LogicalType::Bool {
        more.iter().try_for_each(|&number| check_number(logical, number))?;
    }
    memory.reserve(numbers, more.len())?;
    numbers.extend_from_slice(more);
    Ok(())
}

/// Appends byte strings; `offsets` is room to work in.
fn push_strings(
    more: Slices<'_, u8>,
    offsets: &mut Vec<u64>,
    logical: LogicalType,
    values: &mut Values,
    memory: &mut Memory,
) -> Result<(), ErrorKind> {
    offsets.clear();
    offsets.push(0);
    offsets.extend(ends(&more));
    check_strings(offsets, more.items(), logical)?;
    match values {
        Values::Strings(strings) => strings.extend(offsets, more.items(), memory),
        Values::Terms { ids, terms } => {
            memory.reserve(&mut ids.near, more.len())?;
            more.iter().try_for_each(|term| {
                ids.near.push(terms.intern(term, memory)?);
                Ok(())
            })
        }
        Values::Numbers(_) | Values::NumberLists(_) | Values::TermSets { .. } => Ok(()),
    }
}

/// Refuses strings that a column of this type cannot hold.
fn check_strings(offsets: &[u64], data: &[u8], logical: LogicalType) -> Result<(), ErrorKind> {
    let strings = offsets.len() - 1;
    let rows = Rows { docs: count(strings), values: strings, ..Rows::single(None) };
    ByteStrings { offsets, data }.check(&rows, &(0..rows.docs), logical).map_err(|(_, kind)| kind)
}

/// Where lists end that lie end to end.
fn ends<T>(lists: &Slices<'_, T>) -> impl Iterator<Item = u64> {
    lists.lens().scan(0, |end, len| {
        *end += len as u64;
        Some(*end)
    })
}

/// A number of documents; there never are more than fit.
fn count(documents: usize) -> u32 {
    u32::try_from(documents).unwrap_or(u32::MAX)
}
