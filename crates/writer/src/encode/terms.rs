//! Byte strings that documents have one each of: put in order, and kept with a dictionary or without one.

use docvalues_format::binary::{self, InMemory};
use docvalues_format::dictionary::{self, Dictionary};

use super::{Encoded, Encoder, Frame, in_memory};
use crate::buffer::{Payload, Tape};
use crate::error::ErrorKind;
use crate::intern::{Interner, Strings, index, sorted};
use crate::runs::{self, Ords};
use crate::schema::BytesKind;
use crate::unsorted::{Lain, Unsorted};

impl Encoder<'_> {
    /// The `terms` of a field in order, and for each document the ord of the one that has the number in `ids`.
    pub(crate) fn in_order(&self, mut ids: Tape<u32>, terms: Interner) -> Result<InOrder, ErrorKind> {
        let Sorted { terms, mut ords, strings } = self.sort(terms, ids.len())?;
        let mut before = Tape::default();
        if let Met::InFile(unsorted) = &strings {
            ids.settle(unsorted.region.spill())?;
            before = ids.clone();
        }
        ids.change_each(|ids| ords.replace(ids))?;
        Ok(InOrder { ords: ids, terms, ids: before, strings })
    }

    /// A column of one byte string a document.
    pub(crate) fn terms(&self, column: Frame<'_>, values: InOrder) -> Result<Encoded, ErrorKind> {
        let InOrder { ords, terms, ids, strings } = values;
        let ords = column.numbers(ords)?;
        let (spec, presence) = (column.spec, column.presence.clone());
        let sorted = self.ords(Frame { spec, presence, moved: None }, &ords, terms)?;
        let compression = spec.compressed();
        match strings {
            _ if spec.bytes_kind() != BytesKind::Auto => Ok(sorted),
            Met::None => Ok(sorted),
            Met::InMemory(strings, order) => {
                let value = |&ord: &u32| strings.get(index(order[index(ord)]));
                let mut len = 0;
                ords.for_each(|ords| len += ords.iter().map(|ord| value(ord).len() as u64).sum::<u64>())?;
                let (bytes, ends) = strings.parts();
                let Ok(least) = binary::at_least(len, &InMemory { bytes, ends }, compression);
                self.lighter(sorted, column, least, |_| {
                    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(usize::MAX));
                    let mut offsets = Tape::default();
                    offsets.near.reserve_exact(ords.len() + 1);
                    offsets.near.push(0);
                    ords.for_each(|ords| {
                        for ord in ords {
                            bytes.extend_from_slice(value(ord));
                            offsets.near.push((bytes.len() as u64).cast_signed());
                        }
                    })?;
                    Ok((bytes.into(), offsets))
                })
            }
            Met::InFile(unsorted) => {
                let (len, distinct) = (unsorted.total_len(&ids)?, unsorted.distinct()?);
                let least = binary::at_least(len, &distinct.laid(), compression)?;
                self.lighter(sorted, column, least, |column| {
                    let Lain { bytes, offsets } = unsorted.values(&ids)?;
                    column.strings(bytes, offsets)
                })
            }
        }
    }

    /// `sorted`, or the same `values`, which take `least` bytes at least, as a binary column if that is the
    /// lighter one.
    fn lighter(
        &self,
        sorted: Encoded,
        column: Frame<'_>,
        least: u64,
        values: impl FnOnce(&Frame<'_>) -> Result<(Payload, Tape<i64>), ErrorKind>,
    ) -> Result<Encoded, ErrorKind> {
        let weight = sorted.weight();
        if weight <= least {
            return Ok(sorted); // The bytes of a binary column alone take as much.
        }
        let (bytes, offsets) = values(&column)?;
        let binary = self.strings(column, bytes, offsets)?;
        Ok(if binary.weight() < weight { binary } else { sorted })
    }

    /// The dictionary of `terms`, of which `ids` numbers were asked for.
    pub(super) fn sort(&self, mut terms: Interner, ids: usize) -> Result<Sorted, ErrorKind> {
        terms.end_runs(ids)?;
        let (runs, strings) = terms.into_parts();
        if !runs.is_empty() {
            let (terms, ords, unsorted) = runs::merge(runs, self.jump_tables)?;
            return Ok(Sorted { terms, ords, strings: unsorted.map_or(Met::None, Met::InFile) });
        }
        let order = sorted(&strings);
        let in_order = order.iter().map(|&id| strings.get(index(id)));
        let terms = dictionary::encode(in_order, self.jump_tables)?;
        let terms = in_memory(|f| terms.try_map(f));
        Ok(Sorted { terms, ords: Ords::new(ord_of(&order)), strings: Met::InMemory(strings, order) })
    }
}

/// The distinct byte strings of a field, in order.
pub(super) struct Sorted {
    /// The strings, by ord.
    pub(super) terms: Dictionary<Payload>,
    /// The ords of the numbers that they were interned under.
    pub(super) ords: Ords,
    strings: Met,
}

/// The distinct byte strings of a field in the order in which they were met.
#[derive(Debug)]
enum Met {
    /// Nobody asks for them.
    None,
    /// The strings, and the number of each ord.
    InMemory(Strings, Vec<u32>),
    /// The strings of each run.
    InFile(Unsorted),
}

/// The values of a field of one byte string a document, by ord.
#[derive(Debug)]
pub(crate) struct InOrder {
    /// The ord of each document that has a value.
    pub(crate) ords: Tape<u32>,
    terms: Dictionary<Payload>,
    /// The numbers that the documents had before, if `strings` are in a file.
    ids: Tape<u32>,
    strings: Met,
}

/// The ord of each number, of which `order` has the numbers.
fn ord_of(order: &[u32]) -> Vec<u32> {
    let mut ord_of = vec![0; order.len()];
    (0..).zip(order).for_each(|(ord, &id)| ord_of[index(id)] = ord);
    ord_of
}
