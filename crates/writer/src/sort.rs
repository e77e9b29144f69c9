//! What documents are to be sorted by: fields of a schema, and then numbers to compare.

use docvalues_format::binary::Values as _;
use docvalues_format::file::sort::{MAX_SORT_KEYS, SortKey};

use crate::buffer::{ByteStrings, FieldBuffer, Items, Memory, PresenceBuffer, Tape, Values};
use crate::encode::{Encoded, Encoder, InOrder};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{self, Ordered};
use crate::intern::{Interner, index};
use crate::live::Live;
use crate::order::{Key, Numbers, Order, Room};
use crate::schema::FieldSpec;

/// Refuses keys that documents cannot be sorted by, whose fields `spec` knows.
pub(crate) fn check<'s>(keys: &[SortKey], spec: impl Fn(&str) -> Option<&'s FieldSpec>) -> Result<()> {
    if keys.len() > MAX_SORT_KEYS {
        return Err(ErrorKind::TooManySortKeys { max: MAX_SORT_KEYS }.into());
    }
    for (i, key) in keys.iter().enumerate() {
        let refuse = |kind| Err(Error::new(kind).of(&key.column));
        match spec(&key.column) {
            None => return refuse(ErrorKind::SortByNothing),
            Some(spec) if spec.is_multi_valued() => return refuse(ErrorKind::SortBySeveral),
            Some(_) if keys[..i].iter().any(|before| before.column == key.column) => {
                return refuse(ErrorKind::SortTwice);
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A field that is to be encoded.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all fields are the large one, on 64 bits")]
pub(crate) enum Prepared {
    /// As its values came.
    Buffered(FieldBuffer),
    /// Byte strings that documents are sorted by, and that were put in order for that.
    InOrder(PresenceBuffer, Box<InOrder>),
}

impl Prepared {
    /// Puts its byte strings in order, if they are interned.
    pub(crate) fn in_order(self, encoder: &Encoder<'_>) -> Result<Prepared, ErrorKind> {
        match self {
            Prepared::Buffered(FieldBuffer { presence, values: Values::Terms { ids, terms } }) => {
                Ok(Prepared::InOrder(presence, Box::new(encoder.in_order(ids, terms)?)))
            }
            other => Ok(other),
        }
    }

    /// What documents are compared by, and nothing else: in the file, if there is one.
    pub(crate) fn into_numbers(
        self,
        encoder: &Encoder<'_>,
        room: &Room,
    ) -> Result<(PresenceBuffer, Box<dyn Numbers>), ErrorKind> {
        let (presence, mut ords) = match self.in_order(encoder)? {
            Prepared::InOrder(presence, values) => (presence, values.ords.values),
            Prepared::Buffered(FieldBuffer { presence, values: Values::Numbers(mut numbers) }) => {
                numbers.values.settle(room.spill())?;
                return Ok((presence, Box::new(numbers.values)));
            }
            Prepared::Buffered(FieldBuffer { presence, values: Values::Strings(strings) }) => {
                (presence, ords_of(&strings.strings, encoder, room)?)
            }
            Prepared::Buffered(_) => return Err(ErrorKind::SortBySeveral),
        };
        ords.settle(room.spill())?;
        Ok((presence, Box::new(ords)))
    }

    /// Its values as ids: see [`ids::in_order`].
    pub(crate) fn ids(
        &self,
        live: &Live<'_>,
        order: Option<&Order>,
        room: &Room,
        older: Option<&mut Vec<u32>>,
    ) -> Result<Ordered, ErrorKind> {
        match self {
            Prepared::Buffered(field) => ids::in_order(field, live, order, room, older),
            Prepared::InOrder(..) => Err(ErrorKind::NoIdField("a document may have several of its values")),
        }
    }

    /// About how much work encoding it is, beside that of others.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Prepared::Buffered(buffer) => buffer.weight(),
            Prepared::InOrder(presence, _) => index(presence.count()).saturating_mul(size_of::<i64>()),
        }
    }

    pub(crate) fn encode(self, spec: &FieldSpec, encoder: &Encoder<'_>) -> Result<Encoded, ErrorKind> {
        match self {
            Prepared::Buffered(buffer) => encoder.column(spec, buffer),
            Prepared::InOrder(presence, values) => encoder.terms(encoder.frame(spec, presence)?, *values),
        }
    }
}

/// Sorts the documents of `columns` by `keys`, which have been checked.
pub(crate) fn order(
    columns: &[(FieldSpec, Prepared)],
    keys: &[SortKey],
    encoder: &Encoder<'_>,
    room: &Room,
) -> Result<Option<Order>> {
    let columns = keys.iter().filter_map(|key| {
        let (_, column) = columns.iter().find(|(spec, _)| spec.name() == key.column)?;
        Some((key, column))
    });
    // The ords of byte strings that have none.
    let mut ords = Vec::new();
    for (key, column) in columns.clone() {
        ords.push(match column {
            Prepared::Buffered(FieldBuffer { values: Values::Strings(strings), .. }) => {
                ords_of(&strings.strings, encoder, room).map_err(|kind| Error::new(kind).of(&key.column))?
            }
            _ => Tape::default(),
        });
    }
    let keys = columns.zip(&ords).filter_map(|((key, column), ords)| match column {
        Prepared::InOrder(presence, values) => Some(compared(key, presence, &values.ords.values)),
        Prepared::Buffered(FieldBuffer { presence, values }) => match values {
            Values::Numbers(numbers) => Some(compared(key, presence, &numbers.values)),
            Values::Strings(_) => Some(compared(key, presence, ords)),
            // In order.
            Values::Terms { .. } => None,
        },
    });
    Ok(Order::new(encoder.docs, &keys.collect::<Vec<_>>(), room)?)
}

/// A key with what its values are compared by.
pub(crate) fn compared<'a>(key: &SortKey, presence: &'a PresenceBuffer, numbers: &'a dyn Numbers) -> Key<'a> {
    Key { presence, numbers, descending: key.descending, missing_first: key.missing_first }
}

/// For each of these byte strings its ord, if there was a dictionary of them.
fn ords_of(strings: &ByteStrings, encoder: &Encoder<'_>, room: &Room) -> Result<Tape<u32>, ErrorKind> {
    let (mut items, mut terms, mut memory) = (Items::singles(), Interner::default(), Memory::new(usize::MAX));
    let ids = &mut items.values;
    strings.for_each(|value| {
        ids.push(terms.intern(value, &mut memory)?, room.spill())?;
        match room.spill().filter(|_| memory.used() > room.bytes) {
            Some(spill) => terms.spill(ids.len(), spill, &mut memory),
            None => Ok(()),
        }
    })?;
    Ok(encoder.in_order(items, terms)?.ords.values)
}
