//! Columns that documents are sorted by, read for that alone.

use docvalues_format::file::sort::SortKey;

use super::plan::Merged;
use super::values::MergedValues;
use crate::buffer::{PresenceBuffer, Tape, Values};
use crate::encode::Encoder;
use crate::error::ErrorKind;
use crate::order::{Key, Numbers, Room};
use crate::sort::{compared, ords_of};

/// What documents are compared by: the numbers of those that have a value.
pub(super) struct Compared {
    presence: PresenceBuffer,
    numbers: Owned,
}

enum Owned {
    Stored(Tape<i64>),
    Ords(Tape<u32>),
}

impl Compared {
    /// Reads the parts of `column`.
    pub(super) fn read(
        column: &Merged<'_>,
        encoder: &Encoder<'_>,
        budget: usize,
        room: &Room,
    ) -> Result<Compared, ErrorKind> {
        let MergedValues { presence, values, mut ordinals, most } = column.read(budget, room.spill())?;
        let mut numbers = match values {
            Values::Numbers(numbers) => Owned::Stored(numbers),
            Values::Terms { ids, terms } if column.is_mixed() => {
                Owned::Ords(encoder.in_order(ids, terms)?.ords)
            }
            Values::Terms { ids: mut ords, .. } => {
                ordinals.merge(column, false, most, room.spill())?;
                ords.change_each(|ords| ordinals.replace(ords))?;
                Owned::Ords(ords)
            }
            Values::Strings(strings) => Owned::Ords(ords_of(strings.laid(), encoder, room)?),
            Values::NumberLists(_) | Values::TermSets { .. } => return Err(ErrorKind::SortBySeveral),
        };
        // The next key's values want the memory, too.
        match (&mut numbers, room.spill()) {
            (_, None) => {}
            (Owned::Stored(numbers), Some(spill)) => numbers.settle(spill)?,
            (Owned::Ords(ords), Some(spill)) => ords.settle(spill)?,
        }
        Ok(Compared { presence, numbers })
    }

    pub(super) fn key<'a>(&'a self, key: &SortKey) -> Key<'a> {
        let numbers = match &self.numbers {
            Owned::Stored(numbers) => Numbers::Stored(numbers),
            Owned::Ords(ords) => Numbers::Ords(ords),
        };
        compared(key, &self.presence, numbers)
    }
}
