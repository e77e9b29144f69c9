//! Byte strings: put in order, and kept with a dictionary or without one.

use docvalues_format::binary::{self, InMemory};
use docvalues_format::dictionary::{self, Dictionary};

use super::{Encoded, Encoder, Frame};
use crate::buffer::{ByteStrings, Items, Payload, SpillVec, payloads};
use crate::error::ErrorKind;
use crate::external_sort::term_runs::{self, Ords};
use crate::external_sort::unsorted_terms::UnsortedTerms;
use crate::intern::{Interner, Strings, index, sorted};

impl Encoder<'_> {
    /// The `terms` of a field in order, and for each document the ords of those that have its numbers in `ids`.
    pub(crate) fn sort_terms(&self, mut ids: Items<u32>, terms: Interner) -> Result<OrdValues, ErrorKind> {
        let (terms, mut ords, strings) = self.sort(terms, ids.values.len())?;
        let mut before = SpillVec::default();
        if let TermsById::OnDisk(unsorted) = &strings {
            ids.values.flush(Some(unsorted.scratch.spill()))?;
            before = ids.values.clone();
        }
        ids.replace(|ids| ords.replace(ids))?;
        Ok(OrdValues { ords: ids, terms, ids: before, strings })
    }

    /// A column of byte strings that have a dictionary, or may have one.
    pub(crate) fn terms(&self, column: Frame<'_>, values: OrdValues) -> Result<Encoded, ErrorKind> {
        let OrdValues { ords, terms, ids, strings } = values;
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
                ords.for_each(|ords| len += ords.iter().map(|ord| value(ord).len() as u64).sum::<u64>())?;
                let (bytes, ends) = strings.parts();
                let Ok(least) = binary::estimate_min_len(len, &InMemory { bytes, ends }, compression);
                self.smaller(sorted, column, least, |_| {
                    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(usize::MAX));
                    let mut offsets = SpillVec::default();
                    offsets.in_memory.reserve_exact(ords.len() + 1);
                    offsets.in_memory.push(0);
                    ords.for_each(|ords| {
                        for ord in ords {
                            bytes.extend_from_slice(value(ord));
                            offsets.in_memory.push((bytes.len() as u64).cast_signed());
                        }
                    })?;
                    Ok(ByteStrings { bytes: bytes.into(), offsets })
                })
            }
            TermsById::OnDisk(unsorted) => {
                let (len, distinct) = (unsorted.total_len(&ids)?, unsorted.distinct()?);
                let least = binary::estimate_min_len(len, &distinct, compression)?;
                self.smaller(sorted, column, least, |column| column.strings(unsorted.values(&ids)?))
            }
        }
    }

    /// `sorted`, or the same `values`, which take `least` bytes at least, as a binary column if that is the
    /// lighter one.
    fn smaller(
        &self,
        sorted: Encoded,
        column: Frame<'_>,
        least: u64,
        values: impl FnOnce(&Frame<'_>) -> Result<ByteStrings, ErrorKind>,
    ) -> Result<Encoded, ErrorKind> {
        let weight = sorted.weight();
        if weight <= least {
            return Ok(sorted); // The bytes of a binary column alone take as much.
        }
        let strings = values(&column)?;
        let binary = self.strings(column, strings)?;
        Ok(if binary.weight() < weight { binary } else { sorted })
    }

    /// The dictionary of `terms`, of which `ids` numbers were asked for; the ords of these numbers; and the terms in the
    /// order in which they were met, if somebody asks for them.
    fn sort(
        &self,
        mut terms: Interner,
        ids: usize,
    ) -> Result<(Dictionary<Payload>, Ords, TermsById), ErrorKind> {
        terms.end_runs(ids)?;
        let (runs, strings, unsorted) = terms.into_parts();
        if !runs.is_empty() {
            let (terms, ords, unsorted) = term_runs::merge(runs, self.jump_tables)?;
            return Ok((terms, ords, unsorted.map_or(TermsById::None, TermsById::OnDisk)));
        }
        let order = sorted(&strings);
        let in_order = order.iter().map(|&id| strings.get(index(id)));
        let Ok(terms) = dictionary::encode(in_order, self.jump_tables)?.try_map(&mut payloads(None));
        let ords = Ords::in_memory([(ids, ord_of(&order))]);
        Ok((terms, ords, if unsorted { TermsById::InMemory(strings, order) } else { TermsById::None }))
    }
}

/// The distinct byte strings of a field in the order in which they were met.
#[derive(Debug)]
enum TermsById {
    /// Nobody asks for them.
    None,
    /// The strings, and the number of each ord.
    InMemory(Strings, Vec<u32>),
    /// The strings of each run.
    OnDisk(UnsortedTerms),
}

/// The values of a field of byte strings, by ord.
#[derive(Debug)]
pub(crate) struct OrdValues {
    /// The ords of each document that has a value.
    pub(crate) ords: Items<u32>,
    terms: Dictionary<Payload>,
    /// The numbers that the documents had before, if `strings` are in a file.
    ids: SpillVec<u32>,
    strings: TermsById,
}

impl OrdValues {
    /// Values that have their ords into `terms`.
    pub(crate) fn of(ords: Items<u32>, terms: Dictionary<Payload>) -> OrdValues {
        OrdValues { ords, terms, ids: SpillVec::default(), strings: TermsById::None }
    }
}

/// The ord of each number, of which `order` has the numbers.
fn ord_of(order: &[u32]) -> Vec<u32> {
    let mut ord_of = vec![0; order.len()];
    (0..).zip(order).for_each(|(ord, &id)| ord_of[index(id)] = ord);
    ord_of
}
