//! Identities of terms across parts: an id for each different term of a column, by first sight.
//!
//! ```text
//! part 0   ord 0 1 2 3     id 0 1 2 3      a cat dog owl      the ords of the first part are its ids
//! part 1   ord 0 1 2       id 4 1 5        bee cat fox        a map for each other part
//! ```
//!
//! Ids tell terms apart and do not order them, unlike Lucene's `OrdinalMap`, so an id never changes: adding a part
//! looks up its terms and those of no other part. The table is shared by all sets of parts that were made from one
//! another. Its hashes are keyed at random, since terms may be hostile.

use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use docvalues_column::{Column, ErrorKind, Lists, OrdRange, Result as ColumnResult, TermOrd, Terms, bits};
use hashbrown::{DefaultHashBuilder, HashTable};
use smallvec::SmallVec;

use super::docs::len_u32;
use super::interrupt::Interrupt;
use crate::error::{Error, Result};

/// Terms to look up at once, so that their cache misses overlap.
const BATCH: usize = 128;

/// Not an id: a term that was not known.
const NEW: TermOrd = TermOrd::new(u32::MAX);

/// The terms of a column and their ids, of all parts that were ever searched together.
#[derive(Default)]
pub(crate) struct TermTable {
    terms: RwLock<KnownTerms>,
}

/// The ids of one part's terms; `None` if its ords are the ids.
pub(crate) type PartIds = Option<Arc<Vec<TermOrd>>>;

/// The ids of the terms of a column in some parts.
pub(crate) struct TermIds {
    field: String,
    table: Arc<TermTable>,
    /// The number of ids when this was made; later ones belong to other parts.
    len: u32,
    parts: Vec<PartIds>,
}

/// Terms by their ids.
pub(crate) type TermReader<'a> = RwLockReadGuard<'a, KnownTerms>;

/// Terms in the order of their ids.
#[derive(Default)]
pub(crate) struct KnownTerms {
    hasher: DefaultHashBuilder,
    /// The upper half of each term's hash, and its id.
    ids: HashTable<(u32, TermOrd)>,
    bytes: Vec<u8>,
    /// Term `i` is `bytes[ends[i - 1]..ends[i]]`.
    ends: Vec<u64>,
}

impl TermTable {
    /// The ids of the terms of a column, which are added to the table if they are new. O(terms).
    ///
    /// # Errors
    ///
    /// If the dictionary is damaged, or the search is interrupted.
    pub(crate) fn add(&self, column: &dyn Column, stop: &Interrupt) -> Result<PartIds> {
        let Some(terms) = column.values().terms() else { return Ok(None) };
        let all = OrdRange::new(0, terms.term_count());
        let mut known = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        let is_first = known.ends.is_empty();
        if is_first {
            let KnownTerms { hasher, ids, bytes, ends } = &mut *known;
            ends.reserve(all.len());
            ids.reserve(all.len(), |(_, id)| hasher.hash_one(term(bytes, ends, *id)));
        }
        let mut ids = Vec::with_capacity(all.len());
        let (mut batch, mut outcome) = (Lists::new(), Ok(()));
        terms.each_term(all, &mut |_, term| {
            batch.push(term);
            if batch.len() == BATCH {
                outcome = stop.check().and_then(|()| known.add(&batch, &mut ids));
                batch.clear();
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome?;
        known.add(&batch, &mut ids)?;
        let are_ords = is_first && (0..).zip(&ids).all(|(ord, id)| ord == id.get());
        Ok((!are_ords).then(|| Arc::new(ids)))
    }

    fn read(&self) -> TermReader<'_> {
        self.terms.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownTerms {
    /// The term of an id; empty if there is none.
    pub(crate) fn get(&self, id: TermOrd) -> &[u8] {
        term(&self.bytes, &self.ends, id)
    }

    /// Appends the ids of `wanted`, which are different. New terms are added.
    fn add(&mut self, wanted: &Lists<u8>, found: &mut Vec<TermOrd>) -> Result<()> {
        let KnownTerms { hasher, ids, bytes, ends } = self;
        let (wanted, first) = (wanted.slices(), found.len());
        let hashes: SmallVec<[u64; BATCH]> = wanted.iter().map(|term| hasher.hash_one(term)).collect();
        // First by hashes alone, then by terms, so that cache misses of the table and of terms overlap.
        let known =
            |&hash: &u64| ids.find(hash, |(other, _)| *other == high(hash)).map_or(NEW, |(_, id)| *id);
        found.extend(hashes.iter().map(known));
        for ((id, wanted), &hash) in found[first..].iter_mut().zip(wanted.iter()).zip(&hashes) {
            if *id != NEW && term(bytes, ends, *id) != wanted {
                let same =
                    |(other, id): &(u32, TermOrd)| *other == high(hash) && term(bytes, ends, *id) == wanted;
                *id = ids.find(hash, same).map_or(NEW, |(_, id)| *id);
            }
        }
        for ((id, wanted), hash) in found[first..].iter_mut().zip(wanted.iter()).zip(hashes) {
            if *id == NEW {
                let next = u32::try_from(ends.len()).ok().map(TermOrd::new).filter(|id| *id != NEW);
                *id =
                    next.ok_or_else(|| Error::Request(format!("more than {} different terms", u32::MAX)))?;
                bytes.extend_from_slice(wanted);
                ends.push(bytes.len() as u64);
                ids.insert_unique(hash, (high(hash), *id), |(_, id)| hasher.hash_one(term(bytes, ends, *id)));
            }
        }
        Ok(())
    }
}

fn high(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The term of an id; empty if there is none.
#[inline]
fn term<'b>(bytes: &'b [u8], ends: &[u64], id: TermOrd) -> &'b [u8] {
    let at = id.get() as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    // Offsets of a slice fit `usize`.
    let place = |end: u64| usize::try_from(end).unwrap_or(usize::MAX);
    ends.get(at).and_then(|&end| bytes.get(place(start)..place(end))).unwrap_or_default()
}

impl TermIds {
    /// The ids of a column's terms in some parts, of which all were added to `table`.
    pub(crate) fn new(field: &str, table: Arc<TermTable>, parts: Vec<PartIds>) -> TermIds {
        let len = len_u32(table.read().ends.len());
        TermIds { field: field.to_owned(), table, len, parts }
    }

    /// The number of ids. They include terms of parts that are no longer searched.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The id of each term of a part; `None` if ords are ids.
    pub(crate) fn of_part(&self, part: usize) -> Option<&[TermOrd]> {
        self.parts[part].as_deref().map(Vec::as_slice)
    }

    /// A bit for each id that is used in these parts. O(terms of all parts).
    pub(crate) fn used(&self, columns: &[Arc<dyn Column>]) -> Vec<u64> {
        let mut used = vec![0_u64; (self.len as usize).div_ceil(64)];
        for (ids, column) in self.parts.iter().zip(columns) {
            match ids {
                Some(ids) => ids.iter().for_each(|id| bits::set(&mut used, id.get() as usize)),
                None => {
                    let terms = column.values().terms().map_or(0, Terms::term_count);
                    bits::set_range(&mut used, 0..terms.min(self.len) as usize);
                }
            }
        }
        used
    }

    /// Reads terms until the result is dropped; meanwhile no part can be added.
    pub(crate) fn read(&self) -> TermReader<'_> {
        self.table.read()
    }

    /// Replaces `out` by the terms of `ids`.
    pub(crate) fn gather(&self, ids: &[TermOrd], out: &mut Lists<u8>) -> ColumnResult<()> {
        out.clear();
        let known = self.read();
        for &id in ids {
            if id.get() >= self.len {
                let field = self.field.clone();
                return Err(ErrorKind::NoSuchOrd { field, ord: id.get(), len: self.len }.into());
            }
            out.push(known.get(id));
        }
        Ok(())
    }

    /// The bytes of memory: those of the table, which is shared, and those of the maps of all parts.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let known = self.table.read();
        let table =
            known.ids.allocation_size() + known.bytes.capacity() + known.ends.capacity() * size_of::<u64>();
        let maps = self.parts.iter().flatten().map(|ids| size_of_val(ids.as_slice())).sum();
        (table, maps)
    }
}
