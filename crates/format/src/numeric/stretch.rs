//! Stretches: below the zone map, the smallest and the largest of every few values, in a byte each.
//!
//! Among the thousands of values of a zone there mostly is one that a search for the greatest could want; among a few
//! hundred there mostly is none. A column of ten million values has stretches of 40 kB, which stay in a cache.
//!
//! # Layout
//!
//! An entry for every 512 values, `ceil(count / 512)` of them:
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `low` | u8: `(smallest value - min) >> shift` |
//! | 1 | 1 | `high` | u8: `(largest value - min) >> shift` |
//!
//! `min` and `max` are those of the [zone](super::zone) that the stretch lies in, and `shift` is what the bits of their
//! difference have more than a byte. So values of the stretch are from `min + (low << shift)` to `min + ((high + 1) <<
//! shift) - 1`, and none of them is above `max`.
//!
//! # Where they are
//!
//! In an extra of the root, [`STRETCHES_TAG`], of which earlier releases know nothing. Its body has for each column with a
//! zone map, ascending:
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 4 | `column` | u32: the column's number, in the order of the directory |
//! | 4 | 20 | `section` | reference to its stretches |

use std::ops::{Range, RangeInclusive};

use super::Numeric;
use super::survey;
use super::zone::ZONE;
use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Result};
use crate::granule::SectionRef;
use crate::source::SectionBytes;

/// Values in a stretch.
pub const STRETCH: u64 = survey::STRETCH as u64;

/// Bytes of a stretch.
pub const STRETCH_LEN: usize = 2;

/// The tag of the extra that has the stretches of all columns.
pub const STRETCHES_TAG: u32 = 3;

/// Stretches of a zone: as many as a byte has bits.
pub(super) const PER_ZONE: usize = 8;

const _: () = assert!(PER_ZONE as u64 * STRETCH == ZONE);

/// What the extra says of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// The column's number, in the order of the directory.
    pub column: u32,
    /// Where its stretches are.
    pub section: SectionRef,
}

impl Stretches {
    /// The body of the extra, of columns in ascending order.
    pub fn encode_all(columns: &[Stretches]) -> Vec<u8> {
        let mut body = Vec::with_capacity(columns.len() * (size_of::<u32>() + SectionRef::ENCODED_LEN));
        for Stretches { column, section } in columns {
            body.put_u32(*column);
            section.encode(&mut body);
        }
        body
    }

    /// Reads the body of the extra, in a segment of so many columns; its sections are to lie in `sections`.
    ///
    /// # Errors
    ///
    /// When columns do not ascend, or there are not so many; when sections overlap or lie elsewhere; when there is none.
    pub fn decode_all(
        cursor: &mut Cursor<'_>,
        columns: u32,
        sections: &Range<u64>,
    ) -> Result<Vec<Stretches>> {
        let (mut all, mut at) = (Vec::<Stretches>::new(), sections.start);
        while all.is_empty() || cursor.left() > 0 {
            let (column, section) = (cursor.u32()?, SectionRef::decode(cursor)?);
            if all.last().is_some_and(|before| before.column >= column) {
                return Err(cursor.refuse(ErrorKind::Broken("columns with stretches do not ascend")));
            }
            cursor.at_most(
                "number of a column with stretches, and one",
                u64::from(column) + 1,
                columns.into(),
            )?;
            // One behind the other, or a section could be of two columns.
            let end = section.end().filter(|&end| section.offset >= at && end <= sections.end);
            at =
                end.ok_or_else(|| cursor.refuse(ErrorKind::Broken("a section of stretches lies elsewhere")))?;
            all.push(Stretches { column, section });
        }
        Ok(all)
    }
}

/// How values of a zone become bytes.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    min: i64,
    /// How far the largest value is from the smallest.
    span: u64,
    shift: u32,
}

impl Scale {
    /// That of a zone with these ends.
    pub(super) fn of(zone: &RangeInclusive<i64>) -> Scale {
        let (min, span) = (*zone.start(), zone.end().abs_diff(*zone.start()));
        Scale { min, span, shift: (u64::BITS - span.leading_zeros()).saturating_sub(u8::BITS) }
    }

    /// The byte of a value in the zone.
    fn byte(self, value: i64) -> u8 {
        u8::try_from(value.abs_diff(self.min) >> self.shift).unwrap_or(u8::MAX)
    }

    /// The bytes of those of `values` that lie in `zone`, if some do.
    pub(super) fn bytes(
        self,
        zone: &RangeInclusive<i64>,
        values: &RangeInclusive<i64>,
    ) -> RangeInclusive<u8> {
        self.byte(*values.start().max(zone.start()))..=self.byte(*values.end().min(zone.end()))
    }

    /// Between which values those of a stretch lie.
    pub(super) fn values(self, [low, high]: [u8; STRETCH_LEN]) -> RangeInclusive<i64> {
        // Neither leaves 64 bits: a shift of 56 is the greatest.
        let low = u64::from(low) << self.shift;
        let high = u64::from(high) << self.shift | ((1 << self.shift) - 1);
        let [low, high] = [low, high].map(|far| self.min.wrapping_add_unsigned(far.min(self.span)));
        low..=high
    }
}

/// Bytes of the stretches of `count` values.
pub(super) fn encoded_len(count: u64) -> u64 {
    count.div_ceil(STRETCH).saturating_mul(STRETCH_LEN as u64)
}

/// The stretches that have these `ends`, from the first one of a zone on.
pub(super) fn encode(ends: &[(i64, i64)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ends.len() * STRETCH_LEN);
    for stretches in ends.chunks(PER_ZONE) {
        let zone = stretches
            .iter()
            .fold((i64::MAX, i64::MIN), |zone, ends| (zone.0.min(ends.0), zone.1.max(ends.1)));
        let scale = Scale::of(&(zone.0..=zone.1));
        bytes.extend(stretches.iter().flat_map(|&(min, max)| [scale.byte(min), scale.byte(max)]));
    }
    bytes
}

/// The stretches of the zones `zones`.
pub(super) fn read_zones<'a, B: SectionBytes>(
    column: &Numeric<B>,
    stretches: &'a B,
    zones: Range<u64>,
) -> Result<&'a [[u8; STRETCH_LEN]]> {
    let place = |zone: u64| {
        let entry = encoded_len(column.count.min(zone.saturating_mul(ZONE)));
        usize::try_from(entry).map_err(|_| {
            let (found, max) = (entry, stretches.len() as u64);
            Error::at(stretches.place(), 0, ErrorKind::OutOfRange { what: "offset of a stretch", found, max })
        })
    };
    Ok(stretches.slice(place(zones.start)?..place(zones.end)?)?.as_chunks().0)
}

/// Which of the stretches of a zone, up to [`PER_ZONE`], may hold values whose bytes are `wanted`: a bit for each.
pub(super) fn may_hold(stretches: &[[u8; STRETCH_LEN]], wanted: &RangeInclusive<u8>) -> u8 {
    let (first, last) = (*wanted.start(), *wanted.end());
    let is_open = |[low, high]: [u8; STRETCH_LEN]| u8::from(low <= last) & u8::from(first <= high);
    stretches.iter().take(PER_ZONE).enumerate().fold(0, |open, (i, &ends)| open | is_open(ends) << i)
}
