//! Fine zones: the finest level of the skip index, with approximate bounds of every 512 values in two bytes.
//!
//! In a top-k search, most zones of 4,096 values have a competitive value, but most fine zones have none. The fine
//! zones of ten million values occupy 40 kB, which stay in the cache.
//!
//! # Layout
//!
//! An entry for every 512 values, `ceil(count / 512)` of them:
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `low` | u8: the code of the distance of the smallest value from the zone's smallest |
//! | 1 | 1 | `high` | u8: the code of the distance of the largest value from the zone's largest |
//!
//! Distances are measured from the bounds of the [zone](super::zone) that contains the fine zone. A code stores the
//! position of the highest bit and the two bits below it, rounded down: a distance exceeds its decoded code by less
//! than a quarter. Small distances are the most precise, and they are the common ones: of random values, the largest
//! of 512 mostly lies in the highest 256th.
//!
//! # Drawing
//!
//! The first zone of the values 0, 1, 2, ... is 0 to 4,095, and its eight fine zones have these codes:
//!
//! ```text
//! fine zone   values          low   distance of the smallest   high   distance of the largest
//!         0      0 ..=  511   00        0                        2b   3584 = 4095 - 511
//!         1    512 ..= 1023   20      512                        2a   3072
//!         2   1024 ..= 1535   24     1024                        29   2560
//!       ...
//!         7   3584 ..= 4095   2b     3584                        00      0
//!
//! code 2a = 001010 10    power 1010 and bits 10: distances from 3072 = 2^11 + 2^10 up to, not including, 3584
//! ```
//!
//! A code has six bits of power and two bits of mantissa, like a tiny floating-point number without a sign.
//!
//! # Where they are
//!
//! Fine zones are found through an extension of the root, [`FINE_ZONES_TAG`], which earlier releases ignore. Its body
//! has an entry for each column with a zone map, ascending:
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 4 | `column` | u32: the column's number, in the order of the directory |
//! | 4 | 20 | `section` | reference to its fine zones |

use std::ops::{Range, RangeInclusive};

use super::Numeric;
use super::value_stats;
use super::zone::{self, ZONE};
use crate::bits;
use crate::cursor::{Cursor, Put};
use crate::error::Result;
use crate::granule::SectionRef;
use crate::source::SectionBytes;

/// Values in a fine zone.
pub const FINE_ZONE: u64 = value_stats::FINE_ZONE as u64;

/// Bytes of a fine zone.
pub const FINE_ZONE_LEN: usize = 2;

/// An entry: the code of the lower bound, then that of the upper bound.
pub(super) type Codes = [u8; FINE_ZONE_LEN];

/// The tag of the extension that has the fine zones of all columns.
pub const FINE_ZONES_TAG: u32 = 3;

/// Fine zones in a zone: as many as a byte has bits.
pub(super) const PER_ZONE: usize = 8;

const _: () = assert!(PER_ZONE as u64 * FINE_ZONE == ZONE);

// If every document has a value, groups of documents coincide with fine zones.
const _: () = assert!(bits::retain::DOCS_PER_GROUP as usize == value_stats::FINE_ZONE);

/// The extension's entry for one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FineZones {
    /// The column's number, in the order of the directory.
    pub column: u32,
    /// The section of its fine zones.
    pub section: SectionRef,
}

impl FineZones {
    /// Encodes the body of the extension. Columns must ascend.
    pub fn encode_all(columns: &[FineZones]) -> Vec<u8> {
        let mut body = Vec::with_capacity(columns.len() * (size_of::<u32>() + SectionRef::ENCODED_LEN));
        for FineZones { column, section } in columns {
            body.put_u32(*column);
            section.encode(&mut body);
        }
        body
    }

    /// Reads the body of the extension, in a segment of this many `columns`. Its sections must lie in `sections`.
    ///
    /// # Errors
    ///
    /// When columns do not ascend or do not exist, when sections overlap or lie elsewhere, or when there are no
    /// entries.
    pub fn decode_all(
        cursor: &mut Cursor<'_>,
        columns: u32,
        sections: &Range<u64>,
    ) -> Result<Vec<FineZones>> {
        let (mut all, mut at) = (Vec::<FineZones>::new(), sections.start);
        while all.is_empty() || cursor.left() > 0 {
            let (column, section) = (cursor.u32()?, SectionRef::decode(cursor)?);
            let ascends = all.last().is_none_or(|before| before.column < column);
            cursor.rule(ascends, "columns with fine zones do not ascend")?;
            let what = "column with fine zones, counted from 1";
            cursor.at_most(what, u64::from(column) + 1, columns.into())?;
            // Sections must follow each other, or one could belong to two columns.
            let end = section.end().filter(|&end| section.offset >= at && end <= sections.end);
            cursor.rule(end.is_some(), "a section of fine zones lies elsewhere")?;
            at = end.unwrap_or(at);
            all.push(FineZones { column, section });
        }
        Ok(all)
    }
}

/// The code of a distance: the distance itself up to 3, then four codes for each power of two.
fn code(distance: u64) -> u8 {
    let Some(power) = distance.checked_ilog2().filter(|power| *power >= 2) else {
        return u8::try_from(distance).unwrap_or(u8::MAX);
    };
    // At most 251.
    u8::try_from(u64::from(power - 1) << 2 | distance >> (power - 2) & 3).unwrap_or(u8::MAX)
}

/// The smallest distance with this code.
fn distance(code: u8) -> u64 {
    match code >> 2 {
        0 => code.into(),
        power => u64::from(4 | code & 3) << (power - 1),
    }
}

/// The largest codes of a fine zone of `zone` that may hold some of `values`. The two ranges must overlap.
pub(super) fn bounds(zone: &RangeInclusive<i64>, values: &RangeInclusive<i64>) -> Codes {
    let (first, last) = (*values.start().max(zone.start()), *values.end().min(zone.end()));
    [code(last.abs_diff(*zone.start())), code(first.abs_diff(*zone.end()))]
}

/// The bounds of the values of a fine zone of `zone`.
pub(super) fn values(zone: &RangeInclusive<i64>, [low, high]: Codes) -> RangeInclusive<i64> {
    // Codes of a damaged file may be arbitrary, so distances are limited to the zone.
    let span = zone.end().abs_diff(*zone.start());
    let [low, high] = [low, high].map(|code| distance(code).min(span));
    zone.start().wrapping_add_unsigned(low)..=zone.end().wrapping_sub_unsigned(high)
}

/// Bytes of the fine zones of `count` values.
pub(super) fn encoded_len(count: u64) -> u64 {
    count.div_ceil(FINE_ZONE).saturating_mul(FINE_ZONE_LEN as u64)
}

/// Encodes the fine zones that have these bounds (`ends`). The first one begins a zone.
pub(super) fn encode(ends: &[(i64, i64)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ends.len() * FINE_ZONE_LEN);
    for fine_zones in ends.chunks(PER_ZONE) {
        let zone = value_stats::min_max_of_all(fine_zones);
        let codes = |&(min, max): &(i64, i64)| [code(min.abs_diff(zone.0)), code(max.abs_diff(zone.1))];
        bytes.extend(fine_zones.iter().flat_map(codes));
    }
    bytes
}

/// Reads the fine zones of `zones`; none if the column has no fine zones.
pub(super) fn read_zones<B: SectionBytes>(column: &Numeric<B>, zones: Range<u64>) -> Result<&[Codes]> {
    let Some(fine_zones) = &column.fine_zones else { return Ok(&[]) };
    let place = |zone: u64| {
        let entry = encoded_len(column.count.min(zone.saturating_mul(ZONE)));
        zone::index_in(fine_zones, "offset of a fine zone", entry)
    };
    Ok(fine_zones.slice(place(zones.start)?..place(zones.end)?)?.as_chunks().0)
}

/// A bit for each fine zone of a zone whose codes are within these [`bounds`]. There are at most [`PER_ZONE`].
pub(super) fn within(fine_zones: &[Codes], bounds: Codes) -> u8 {
    // Four at once, in eight bytes: Warren, *Hacker's Delight*, 2-18.
    const TOP: u64 = 0x8080_8080_8080_8080;
    let [first, last] = fine_zones.as_flattened().as_chunks().0 else {
        return some_within(fine_zones, bounds);
    };
    let [low, high] = bounds.map(u64::from);
    let most = (low | high << 8).wrapping_mul(0x0001_0001_0001_0001);
    let four = |four: &[u8; 8]| {
        let codes = u64::from_le_bytes(*four);
        let is_less = (most & !codes | !(most ^ codes) & ((most | TOP) - (codes & !TOP))) & TOP;
        // Collects the top bits of the even bytes whose next byte has its top bit set as well.
        let both = is_less & is_less >> 8 & 0x0080_0080_0080_0080;
        both.wrapping_mul(1 << 53 | 1 << 38 | 1 << 23 | 1 << 8) >> 60
    };
    u8::try_from(four(first) | four(last) << 4).unwrap_or(u8::MAX)
}

/// As [`within`], one by one, for fewer than [`PER_ZONE`].
fn some_within(fine_zones: &[Codes], bounds: Codes) -> u8 {
    let is_open = |[low, high]: Codes| u8::from(low <= bounds[0]) & u8::from(high <= bounds[1]);
    fine_zones.iter().take(PER_ZONE).enumerate().fold(0, |open, (i, &codes)| open | is_open(codes) << i)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_decodes_to_the_least_distance() {
        let mut last = None;
        for at in 0..=251 {
            let least = distance(at);
            assert_eq!(code(least), at);
            if let Some(before) = least.checked_sub(1) {
                assert_eq!(Some(code(before)), last);
            }
            last = Some(at);
        }
        assert_eq!(code(u64::MAX), 251);
    }

    proptest! {
        #[test]
        fn distances_have_codes_in_their_order(a: u64, b: u64, shift in 0_u32..64) {
            let (a, b) = (a >> shift, b >> shift);
            prop_assert!(a > b || code(a) <= code(b));
            prop_assert!(distance(code(a)) <= a && a - distance(code(a)) <= a / 5 + 1);
        }

        #[test]
        fn eight_at_once_are_as_one_by_one(
            fine_zones in prop::collection::vec(any::<[u8; 2]>(), 0..=PER_ZONE),
            bounds: [u8; 2],
            equal in 0..=PER_ZONE,
        ) {
            let mut fine_zones = fine_zones;
            fine_zones.iter_mut().skip(equal).for_each(|codes| codes[equal % 2] = bounds[equal % 2]);
            prop_assert_eq!(within(&fine_zones, bounds), some_within(&fine_zones, bounds));
        }
    }
}
