//! A column of a chunk, while it is filled and afterwards.

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Gathered, Kind, Lists, Rows, Slices, TermOrd, Terms, Values,
};

use super::dedup::{Dedup, NOWHERE};
use crate::docs::len_u32;
use crate::error::Result;
use crate::window::{NO_ORD, SHORT_WINDOW};

/// Bytes of strings or lists that are read together, about: what stays in a cache until it is copied.
const BATCH_BYTES: usize = 1 << 18;

/// Documents that are read together when nothing is known of their values.
const FIRST_BATCH: usize = 64;

/// The values of a column, for rows that need not be in the order of documents.
///
/// Numbers and ords are gathered in the order of rows: they lie so close that sorting the documents would take longer
/// than it saves. Strings and lists are read in the order of the file, each once, and stay where they are then; each
/// row says where.
#[derive(Debug)]
pub(super) struct ChunkBuffer {
    kind: Kind,
    /// Numbers of all rows; lists of those documents that were read last.
    numbers: Gathered<i64>,
    /// The same of ords, [`NO_ORD`] where there is none.
    row_ords: Gathered<TermOrd>,
    /// Byte strings of those documents that were read last, or terms.
    strings: Gathered<u8>,
    terms: Lists<u8>,
    /// How many lists are read together.
    part: usize,
    /// For each row the place of its string or list; [`NOWHERE`] if it has none.
    places: Vec<u32>,
    bytes: Lists<u8>,
    number_lists: Lists<i64>,
    ord_lists: Lists<TermOrd>,
    ords: Dedup<TermOrd>,
}

/// Memory that values may still take; nobody goes on once it is used up.
#[derive(Debug)]
pub(super) struct Allowance(pub(super) usize);

impl Allowance {
    /// Takes so many bytes; whether there were as many.
    fn take(&mut self, bytes: usize) -> bool {
        let enough = self.0.checked_sub(bytes);
        self.0 = enough.unwrap_or(0);
        enough.is_some()
    }
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

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Reads what the documents of the rows have; `distinct` has these in the order of the file. `false` if that takes
    /// more memory than there is: what is there then is unspecified.
    pub(super) fn fill(
        &mut self,
        column: &dyn Column,
        rows: &[DocId],
        distinct: &Dedup<DocId>,
        memory: &mut Allowance,
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
        memory: &mut Allowance,
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
        self.places.clear();
        self.places.extend(follow(&distinct.places, places));
        Ok(all)
    }

    /// Reads the terms of all different ords.
    fn fill_terms(&mut self, terms: &dyn Terms, memory: &mut Allowance) -> Result<bool> {
        self.bytes.clear();
        in_parts(&self.ords.values, &mut self.part, memory, &mut self.bytes, |ords, out| {
            terms.gather_terms(ords, &mut self.terms)?;
            Ok(append(out, self.terms.slices()))
        })
    }

    pub(super) fn numbers(&self) -> super::Numbers<'_> {
        super::Numbers { values: self.numbers.values(), present: self.numbers.present() }
    }

    /// Of each row the place of its string, and these.
    pub(super) fn strings(&self) -> (&[u32], Slices<'_, u8>) {
        (&self.places, self.bytes.slices())
    }

    /// Of each row the place of its list, and these.
    pub(super) fn number_lists(&self) -> (&[u32], Slices<'_, i64>) {
        (&self.places, self.number_lists.slices())
    }

    /// Of each row the place of its list, the lists of places of terms, and the terms.
    pub(super) fn string_lists(&self) -> (&[u32], Slices<'_, u32>, Slices<'_, u8>) {
        (&self.places, self.ord_lists.slices().over(&self.ords.places), self.bytes.slices())
    }
}

/// Documents that follow one another are a run, if numbers go on behind it.
fn run_or_list(docs: &[DocId]) -> BatchDocs<'_> {
    let follows = |pair: &[DocId]| pair[0].get().checked_add(1) == Some(pair[1].get());
    match docs {
        [first, .., last] if last.get() < u32::MAX && docs.windows(2).all(follows) => {
            BatchDocs::Run(DocRange::new(first.get(), last.get() + 1))
        }
        _ => BatchDocs::List(docs),
    }
}

/// Where the places lead that `first` leads to.
fn follow<'a>(first: &'a [u32], then: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    // NOWHERE lies past the end of any list.
    first.iter().map(|at| then.get(*at as usize).copied().unwrap_or(NOWHERE))
}

/// Appends lists, and says how many bytes they take.
fn append<T: Copy>(out: &mut Lists<T>, lists: Slices<'_, T>) -> usize {
    out.extend_from(lists);
    size_of_val(lists.items()) + lists.len() * size_of::<u64>()
}

/// Reads the lists of `all`, some at a time: as many as take about [`BATCH_BYTES`], so that what is too much is noticed
/// before it is there. `false` if it was too much.
fn in_parts<K, T>(
    all: &[K],
    part: &mut usize,
    memory: &mut Allowance,
    out: &mut Lists<T>,
    mut read: impl FnMut(&[K], &mut Lists<T>) -> Result<usize>,
) -> Result<bool> {
    let mut left = all;
    while !left.is_empty() {
        let (now, later) = left.split_at(left.len().min(*part));
        let bytes = read(now, out)?;
        if !memory.take(bytes) {
            return Ok(false);
        }
        *part =
            (BATCH_BYTES * now.len() / bytes.max(1)).clamp(1, SHORT_WINDOW.min(now.len().saturating_mul(8)));
        left = later;
    }
    Ok(true)
}
