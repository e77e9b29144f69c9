//! The buffered values of one column of a chunk.

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Gathered, Kind, Lists, Rows, Slices, TermOrd, Terms, Values,
};

use super::chunk::{ChunkColumn, NumberLists, StringLists, Strings};
use crate::engine::dedup::{Dedup, NOWHERE};
use crate::engine::{NO_ORD, Numbers, SHORT_WINDOW, len_u32};
use crate::error::Result;

/// About how many bytes of strings or lists to read at once: they stay in cache until they are copied.
const BATCH_BYTES: usize = 1 << 18;

/// Documents to read at once before the size of their values is known.
const FIRST_BATCH: usize = 64;

/// The values of a column, for rows in any order.
///
/// Numbers and ords are gathered in the order of the rows: they are so close together that sorting the documents
/// would cost more than it saves. Strings and lists are read once each, in file order, and not moved; each row has
/// the position of its own.
#[derive(Debug)]
pub(super) struct ChunkBuffer {
    kind: Kind,
    /// The numbers of all rows, or the lists of the documents that were read last.
    numbers: Gathered<i64>,
    /// The same for ords; [`NO_ORD`] for rows without a value.
    row_ords: Gathered<TermOrd>,
    /// The byte strings of the documents that were read last.
    strings: Gathered<u8>,
    terms: Lists<u8>,
    /// The number of lists to read at once.
    part: usize,
    /// The position of each row's string or list; [`NOWHERE`] if it has none.
    places: Vec<u32>,
    bytes: Lists<u8>,
    number_lists: Lists<i64>,
    ord_lists: Lists<TermOrd>,
    ords: Dedup<TermOrd>,
}

impl ChunkBuffer {
    pub(super) fn new(kind: Kind) -> ChunkBuffer {
        ChunkBuffer {
            kind,
            numbers: Gathered::new(),
            row_ords: Gathered::filled(NO_ORD),
            strings: Gathered::new(),
            terms: Lists::new(),
            part: FIRST_BATCH,
            places: Vec::new(),
            bytes: Lists::new(),
            number_lists: Lists::new(),
            ord_lists: Lists::new(),
            ords: Dedup::default(),
        }
    }

    /// Reads the values of the rows' documents; `distinct` has these in file order. Takes their bytes from `memory`.
    /// Returns false if that is exhausted; the values are then unspecified.
    pub(super) fn fill(
        &mut self,
        column: &dyn Column,
        rows: &[DocId],
        distinct: &Dedup<DocId>,
        memory: &mut usize,
    ) -> Result<bool> {
        let is_many = column.info().is_multi_valued();
        match column.values() {
            Values::Numbers(numbers) if !is_many => {
                numbers.gather(run_or_list(rows), &mut self.numbers)?;
                Ok(true)
            }
            Values::Numbers(numbers) => {
                self.number_lists.clear();
                self.places.clone_from(&distinct.places);
                in_parts(&distinct.values, &mut self.part, memory, &mut self.number_lists, |docs, out| {
                    numbers.gather(run_or_list(docs), &mut self.numbers)?;
                    Ok(append(out, self.numbers.lists()))
                })
            }
            Values::Ords(ords, terms) if !is_many => {
                ords.gather(run_or_list(rows), &mut self.row_ords)?;
                self.ords.find(self.row_ords.values().iter().map(|ord| ord.get()), TermOrd::new);
                self.places.clone_from(&self.ords.places);
                self.fill_terms(terms, memory)
            }
            Values::Ords(ords, terms) => {
                self.ord_lists.clear();
                self.places.clone_from(&distinct.places);
                let all =
                    in_parts(&distinct.values, &mut self.part, memory, &mut self.ord_lists, |docs, out| {
                        ords.gather(run_or_list(docs), &mut self.row_ords)?;
                        Ok(append(out, self.row_ords.lists()))
                    })?;
                let ords = self.ord_lists.slices().items();
                self.ords.find(ords.iter().map(|ord| ord.get()), TermOrd::new);
                Ok(all && self.fill_terms(terms, memory)?)
            }
            Values::Bytes(strings) => self.fill_bytes(strings, distinct, memory),
        }
    }

    fn fill_bytes(
        &mut self,
        rows: &dyn Rows<u8>,
        distinct: &Dedup<DocId>,
        memory: &mut usize,
    ) -> Result<bool> {
        self.bytes.clear();
        let (read, places) = (&mut self.strings, &mut self.ords.places);
        places.clear();
        let all = in_parts(&distinct.values, &mut self.part, memory, &mut self.bytes, |docs, out| {
            rows.gather(run_or_list(docs), read)?;
            let first = len_u32(out.len());
            let place = |(to, at)| if read.row(at).is_some() { to } else { NOWHERE };
            places.extend((first..).zip(0..docs.len()).map(place));
            Ok(append(out, read.lists()))
        })?;
        // NOWHERE lies beyond the end of any list.
        let place = |at: &u32| places.get(*at as usize).copied().unwrap_or(NOWHERE);
        self.places.clear();
        self.places.extend(distinct.places.iter().map(place));
        Ok(all)
    }

    /// Reads the terms of all different ords.
    fn fill_terms(&mut self, terms: &dyn Terms, memory: &mut usize) -> Result<bool> {
        self.bytes.clear();
        in_parts(&self.ords.values, &mut self.part, memory, &mut self.bytes, |ords, out| {
            terms.gather_terms(ords, &mut self.terms)?;
            Ok(append(out, self.terms.slices()))
        })
    }

    /// Begins `rows` rows, which [`append`](Self::append) fills part by part.
    pub(super) fn begin(&mut self, rows: usize) {
        self.numbers.begin_one(if self.kind == Kind::Numeric { rows } else { 0 });
        self.places.clear();
        self.places.resize(rows, NOWHERE);
        self.bytes.clear();
        self.number_lists.clear();
        self.ord_lists.clear();
        self.ords.places.clear();
    }

    /// Marks the rows at `rows` as having no value.
    pub(super) fn leave_out(&mut self, rows: &[u32]) {
        if self.kind == Kind::Numeric {
            rows.iter().for_each(|row| self.numbers.set(*row as usize, None));
        }
    }

    /// Fills the rows at `rows` with those of `from`, which has read the documents of one part.
    pub(super) fn append(&mut self, from: &ChunkBuffer, rows: &[u32]) {
        let after = |first: usize| {
            move |place: &u32| if *place == NOWHERE { NOWHERE } else { len_u32(first) + place }
        };
        let strings = self.bytes.len();
        let lists = match self.kind {
            Kind::Numeric => {
                for (at, &row) in rows.iter().enumerate() {
                    self.numbers.set(row as usize, from.numbers.value(at));
                }
                return;
            }
            Kind::SortedNumeric => {
                let lists = self.number_lists.len();
                self.number_lists.extend_from(from.number_lists.slices());
                lists
            }
            Kind::SortedSet => {
                let lists = self.ord_lists.len();
                self.ord_lists.extend_from(from.ord_lists.slices());
                self.ords.places.extend(from.ords.places.iter().map(after(strings)));
                self.bytes.extend_from(from.bytes.slices());
                lists
            }
            Kind::Binary | Kind::Sorted => {
                self.bytes.extend_from(from.bytes.slices());
                strings
            }
        };
        let places = from.places.iter().map(after(lists));
        rows.iter().zip(places).for_each(|(&row, place)| self.places[row as usize] = place);
    }

    /// The values, as a column of the chunk.
    pub(super) fn column(&self) -> ChunkColumn<'_> {
        let places = self.places.as_slice();
        match self.kind {
            Kind::Numeric => {
                let (values, present) = (self.numbers.values(), self.numbers.present());
                ChunkColumn::Numbers(Numbers { values, present })
            }
            Kind::Binary | Kind::Sorted => {
                ChunkColumn::Strings(Strings { places, strings: self.bytes.slices() })
            }
            Kind::SortedNumeric => {
                ChunkColumn::NumberLists(NumberLists { places, lists: self.number_lists.slices() })
            }
            Kind::SortedSet => {
                let (lists, terms) = (self.ord_lists.slices(), self.bytes.slices());
                ChunkColumn::StringLists(StringLists { places, lists: lists.over(&self.ords.places), terms })
            }
        }
    }
}

/// Represents consecutive documents as a run.
fn run_or_list(docs: &[DocId]) -> BatchDocs<'_> {
    let follows = |pair: &[DocId]| pair[0].get().checked_add(1) == Some(pair[1].get());
    match docs {
        [first, .., last] if last.get() < u32::MAX && docs.windows(2).all(follows) => {
            BatchDocs::Run(DocRange::new(first.get(), last.get() + 1))
        }
        _ => BatchDocs::List(docs),
    }
}

/// Appends lists, and returns their size in bytes.
fn append<T: Copy>(out: &mut Lists<T>, lists: Slices<'_, T>) -> usize {
    out.extend_from(lists);
    size_of_val(lists.items()) + lists.len() * size_of::<u64>()
}

/// Reads the lists of `all` in batches of about [`BATCH_BYTES`], so that an excess is noticed early. Returns false if
/// memory is exhausted.
fn in_parts<K, T>(
    all: &[K],
    part: &mut usize,
    memory: &mut usize,
    out: &mut Lists<T>,
    mut read: impl FnMut(&[K], &mut Lists<T>) -> Result<usize>,
) -> Result<bool> {
    let mut left = all;
    while !left.is_empty() {
        let (now, later) = left.split_at(left.len().min(*part));
        let bytes = read(now, out)?;
        let Some(rest) = memory.checked_sub(bytes) else { return Ok(false) };
        *memory = rest;
        *part =
            (BATCH_BYTES * now.len() / bytes.max(1)).clamp(1, SHORT_WINDOW.min(now.len().saturating_mul(8)));
        left = later;
    }
    Ok(true)
}
