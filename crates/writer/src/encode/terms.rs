//! Sorts the terms of a field, and chooses between a dictionary and a binary column.

use bitvec::vec::BitVec;
use docvalues_format::binary::{self, InMemory};
use docvalues_format::dictionary::{self, Dictionary};

use super::term_ords::{self, Ords};
use super::unsorted_terms::UnsortedTerms;
use super::{Encoded, Encoder, Frame};
use crate::buffer::{ByteStrings, Interner, Items, Payload, SpillVec, Strings, TermRun, payloads, sorted};
use crate::error::ErrorKind;
use crate::index::index;

impl Encoder<'_> {
    /// Sorts the `terms` of a field, and maps the `ids` of documents to ords. Keeps the terms by id, too, if their
    /// dictionary is `optional`.
    pub(crate) fn sort_terms(
        &self,
        mut ids: Items<u32>,
        terms: Interner,
        optional: bool,
    ) -> Result<OrdValues, ErrorKind> {
        let (terms, mut ords, mut strings) = self.sort(terms, ids.values.len(), optional)?;
        if let TermsById::OnDisk(unsorted) = &mut strings {
            ids.values.flush(Some(&unsorted.spill))?;
            unsorted.ids = ids.values.clone();
        }
        ids.replace(|ids| ords.replace(ids))?;
        Ok(OrdValues { ords: ids, terms, strings })
    }

    /// Encodes byte strings with a dictionary, or, if the field may choose, without one if that is smaller.
    pub(crate) fn terms(&self, column: Frame<'_>, values: OrdValues) -> Result<Encoded, ErrorKind> {
        let OrdValues { ords, terms, strings } = values;
        let ords = column.items(ords)?;
        if let TermsById::None = strings {
            return self.ords(column, &ords, terms);
        }
        let (spec, presence, compression) = (column.spec, column.presence.clone(), column.spec.compressed());
        let sorted = self.ords(Frame { spec, presence, permutation: None }, &ords, terms)?;
        let ords = ords.values;
        match strings {
            TermsById::None => Ok(sorted),
            TermsById::InMemory(strings, order) => {
                let value = |&ord: &u32| strings.get(index(order[index(ord)]));
                let mut len = 0;
                ords.for_each(&mut |ords| {
                    len += ords.iter().map(|ord| value(ord).len() as u64).sum::<u64>()
                })?;
                let (bytes, ends) = strings.parts();
                let Ok(least) = binary::estimate_min_len(len, &InMemory { bytes, ends }, compression);
                self.smaller(sorted, column, least, |_| {
                    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(usize::MAX));
                    let mut offsets = SpillVec::default();
                    offsets.in_memory.reserve_exact(ords.len() + 1);
                    offsets.in_memory.push(0);
                    ords.for_each(&mut |ords| {
                        for ord in ords {
                            bytes.extend_from_slice(value(ord));
                            offsets.in_memory.push((bytes.len() as u64).cast_signed());
                        }
                    })?;
                    Ok(ByteStrings { bytes: bytes.into(), offsets })
                })
            }
            TermsById::OnDisk(unsorted) => {
                let (len, distinct) = (unsorted.total_len()?, unsorted.distinct()?);
                let least = binary::estimate_min_len(len, &distinct, compression)?;
                self.smaller(sorted, column, least, |column| column.strings(unsorted.values()?))
            }
        }
    }

    /// Returns `sorted` or a binary column of the same `values`, whichever is smaller. The binary column takes at least
    /// `least` bytes, so it is not built if `sorted` is not larger.
    fn smaller(
        &self,
        sorted: Encoded,
        column: Frame<'_>,
        least: u64,
        values: impl FnOnce(&Frame<'_>) -> Result<ByteStrings, ErrorKind>,
    ) -> Result<Encoded, ErrorKind> {
        let weight = sorted.weight();
        if weight <= least {
            return Ok(sorted); // A binary column cannot be smaller.
        }
        let strings = values(&column)?;
        let binary = self.strings(column, strings)?;
        Ok(if binary.weight() < weight { binary } else { sorted })
    }

    /// The dictionary of `terms`, to which documents have `ids` references; the ords of these; and the terms by id, if
    /// the dictionary is `optional`.
    fn sort(
        &self,
        mut terms: Interner,
        ids: usize,
        optional: bool,
    ) -> Result<(Dictionary<Payload>, Ords, TermsById), ErrorKind> {
        terms.end_runs(ids)?;
        let (runs, strings) = terms.into_parts();
        if let Some(spill) = runs.first().map(|run| run.terms.spill().clone()) {
            let unseen = |run: &TermRun| BitVec::repeat(false, index(run.count));
            let mut new: Vec<BitVec> = runs.iter().filter(|_| optional).map(unseen).collect();
            let (terms, ords) = term_ords::merge(&runs, &spill, self.jump_tables, |run, id| {
                new.get_mut(run).into_iter().for_each(|new| new.set(index(id), true));
            })?;
            let unsorted = optional.then_some(UnsortedTerms { spill, runs, new, ids: SpillVec::default() });
            return Ok((terms, ords, unsorted.map_or(TermsById::None, TermsById::OnDisk)));
        }
        let order = sorted(&strings);
        let in_order = order.iter().map(|&id| strings.get(index(id)));
        let Ok(terms) = dictionary::encode(in_order, self.jump_tables)?.try_map(&mut payloads(None));
        let ords = Ords::in_memory([(ids, ord_of(&order))]);
        Ok((terms, ords, if optional { TermsById::InMemory(strings, order) } else { TermsById::None }))
    }
}

/// The distinct byte strings of a field, by id.
#[derive(Debug)]
enum TermsById {
    /// Not kept: the field has a dictionary in any case.
    None,
    /// The strings, and the id of each ord.
    InMemory(Strings, Vec<u32>),
    /// The runs.
    OnDisk(UnsortedTerms),
}

/// The values of a field of byte strings, as ords into sorted terms.
#[derive(Debug)]
pub(crate) struct OrdValues {
    /// The ords of each document that has a value.
    pub(crate) ords: Items<u32>,
    terms: Dictionary<Payload>,
    strings: TermsById,
}

impl OrdValues {
    /// Values that have their ords into `terms`.
    pub(crate) fn of(ords: Items<u32>, terms: Dictionary<Payload>) -> OrdValues {
        OrdValues { ords, terms, strings: TermsById::None }
    }
}

/// The ord of each id; `order` has the ids in order of their ords.
fn ord_of(order: &[u32]) -> Vec<u32> {
    let mut ord_of = vec![0; order.len()];
    (0..).zip(order).for_each(|(ord, &id)| ord_of[index(id)] = ord);
    ord_of
}
