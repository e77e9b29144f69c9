//! [`PreparedColumn`]: a field before it is encoded. The values of a sort key become numbers to compare.

use docvalues_format::file::sort::SortKey;

use super::sorted_ids::{self, OrderedIds};
use crate::buffer::{
    ByteStrings, FieldBuffer, MemoryBudget, PresenceBuffer, Repeats, SpillBudget, SpillVec, Values,
};
use crate::encode::{Encoded, Encoder, OrdValues, sample};
use crate::error::{Error, ErrorKind, Result};
use crate::index::index;
use crate::live_set::LiveSet;
use crate::schema::FieldSpec;
use crate::sort::{DocMap, KeyColumn, KeyValues};

/// A field before it is encoded.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all fields are the large one, on 64 bits")]
pub(crate) enum PreparedColumn {
    /// The buffered values.
    Buffered(FieldBuffer),
    /// The ords of byte strings, whose terms were sorted already because the field is a sort key.
    Ords(PresenceBuffer, Box<OrdValues>),
}

impl PreparedColumn {
    /// Sorts the terms of the field, if its byte strings are interned.
    pub(crate) fn sort_terms(
        self,
        spec: &FieldSpec,
        encoder: &Encoder<'_>,
    ) -> Result<PreparedColumn, ErrorKind> {
        let PreparedColumn::Buffered(buffer) = self else { return Ok(self) };
        let buffer = sample::settle(buffer, spec)?;
        match buffer.values {
            Values::Terms { ids, terms } => {
                let optional = buffer.repeats != Repeats::Declared;
                let ords = encoder.sort_terms(ids, terms, optional)?;
                Ok(PreparedColumn::Ords(buffer.presence, Box::new(ords)))
            }
            _ => Ok(PreparedColumn::Buffered(buffer)),
        }
    }

    /// Keeps only the numbers to compare, on disk if there is a temporary file.
    pub(crate) fn into_numbers(
        self,
        spec: &FieldSpec,
        encoder: &Encoder<'_>,
        spill_budget: &SpillBudget,
    ) -> Result<(PresenceBuffer, Box<dyn KeyValues>), ErrorKind> {
        let (presence, mut ords) = match self.sort_terms(spec, encoder)? {
            PreparedColumn::Ords(presence, values) => (presence, values.ords.values),
            PreparedColumn::Buffered(FieldBuffer {
                presence, values: Values::Numbers(mut numbers), ..
            }) => {
                numbers.values.flush(spill_budget.spill.as_ref())?;
                return Ok((presence, Box::new(numbers.values)));
            }
            PreparedColumn::Buffered(FieldBuffer { presence, values: Values::Strings(strings), .. }) => {
                (presence, ords_of(&strings.strings, encoder, spill_budget)?)
            }
            PreparedColumn::Buffered(_) => return Err(ErrorKind::SortBySeveral),
        };
        ords.flush(spill_budget.spill.as_ref())?;
        Ok((presence, Box::new(ords)))
    }

    /// Its values as ids: see [`sorted_ids::sort`].
    pub(crate) fn ids(
        &self,
        live: &LiveSet,
        doc_map: Option<&DocMap>,
        spill_budget: &SpillBudget,
        older: Option<&mut Vec<u32>>,
    ) -> Result<OrderedIds, ErrorKind> {
        match self {
            PreparedColumn::Buffered(field) => sorted_ids::sort(field, live, doc_map, spill_budget, older),
            PreparedColumn::Ords(..) => {
                Err(ErrorKind::NoIdField("a document may have several of its values"))
            }
        }
    }

    /// An estimate of the cost of encoding, relative to other fields.
    pub(crate) fn weight(&self) -> usize {
        match self {
            PreparedColumn::Buffered(buffer) => buffer.weight(),
            PreparedColumn::Ords(presence, _) => index(presence.count()).saturating_mul(size_of::<i64>()),
        }
    }

    pub(crate) fn encode(self, spec: &FieldSpec, encoder: &Encoder<'_>) -> Result<Encoded, ErrorKind> {
        match self {
            PreparedColumn::Buffered(buffer) => encoder.column(spec, sample::settle(buffer, spec)?),
            PreparedColumn::Ords(presence, values) => encoder.terms(encoder.frame(spec, presence)?, *values),
        }
    }
}

/// Sorts the documents of `columns` by `keys`, which have been checked.
pub(crate) fn doc_map(
    columns: &[(FieldSpec, PreparedColumn)],
    keys: &[SortKey],
    encoder: &Encoder<'_>,
    spill_budget: &SpillBudget,
) -> Result<Option<DocMap>> {
    let columns = keys.iter().filter_map(|key| {
        let (_, column) = columns.iter().find(|(spec, _)| spec.name() == key.column)?;
        Some((key, column))
    });
    // Ords of binary columns, which have no dictionary.
    let mut ords = Vec::new();
    for (key, column) in columns.clone() {
        ords.push(match column {
            PreparedColumn::Buffered(FieldBuffer { values: Values::Strings(strings), .. }) => {
                ords_of(&strings.strings, encoder, spill_budget)
                    .map_err(|kind| Error::new(kind).of(&key.column))?
            }
            _ => SpillVec::default(),
        });
    }
    let keys = columns.zip(&ords).filter_map(|((key, column), ords)| match column {
        PreparedColumn::Ords(presence, values) => {
            Some(KeyColumn { presence, numbers: &values.ords.values, sort: key })
        }
        PreparedColumn::Buffered(FieldBuffer { presence, values, .. }) => match values {
            Values::Numbers(numbers) => Some(KeyColumn { presence, numbers: &numbers.values, sort: key }),
            Values::Strings(_) => Some(KeyColumn { presence, numbers: ords, sort: key }),
            // `sort_terms` has replaced these by ords.
            Values::Terms { .. } => None,
        },
    });
    Ok(DocMap::new(encoder.docs, &keys.collect::<Vec<_>>(), spill_budget)?)
}

/// The ords of byte strings in a dictionary that is built only to compare them.
fn ords_of(
    strings: &ByteStrings,
    encoder: &Encoder<'_>,
    spill_budget: &SpillBudget,
) -> Result<SpillVec<u32>, ErrorKind> {
    let mut memory = MemoryBudget::new(usize::MAX);
    let (ids, terms) = sample::intern(strings, spill_budget.spill.as_ref(), spill_budget.bytes, &mut memory)?;
    Ok(encoder.sort_terms(ids, terms, false)?.ords.values)
}
