//! Zone maps: the coarse levels of the skip index.
//!
//! # Layout
//!
//! A *zone* holds the smallest and the largest of a run of values. There are two levels, the lower one first:
//!
//! | entries | of |
//! | --- | --- |
//! | `ceil(count / 4096)` | 4,096 values each |
//! | `ceil(count / 262144)` | 64 zones of the lower level each |
//!
//! and an entry is
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 8 | `min` | i64: smallest value |
//! | 8 | 8 | `max` | i64: largest value |
//!
//! A column of one zone has no zone map, as the directory has its smallest and largest value. Zones are independent
//! of blocks. A zone is 16 bytes, a three-hundredth of 4,096 values of 10 bits, and 300 million values have an
//! upper level of 18 KiB.
//!
//! # Drawing
//!
//! The zone map of the values 0, 1, 2, ... 4,999:
//!
//! ```text
//! offset   min    max     level   values
//!      0     0   4095     lower        0 ..= 4095
//!     16  4096   4999     lower     4096 ..= 4999     the last zone is shorter
//!     32     0   4999     upper        0 ..= 4999     64 zones of the lower level, or as many as there are
//! ```
//!
//! A filter tests the upper level first, and descends only into zones that overlap its range without lying in it.
//! Levels are fixed-size arrays, so zone *i* is one load, without pointers. The idea is Moerkotte's *Small Materialized
//! Aggregates* (VLDB 1998); Lucene has it since 10.0 as `DocValuesSkipper` (LUCENE-10396 proposed it), with 4,096
//! documents at its lowest level.

use std::ops::{Range, RangeInclusive};

use super::Numeric;
use super::value_stats::{FINE_ZONE, min_max_of_all};
use crate::cursor::Put;
use crate::error::{Error, ErrorKind, Result};
use crate::source::SectionBytes;

/// Values in a zone of the lower level.
pub const ZONE: u64 = 1 << 12;

/// Zones of the lower level in one of the upper level.
pub const ZONES_PER_ZONE: u64 = 1 << 6;

/// Bytes of a zone.
pub const ZONE_LEN: usize = 2 * size_of::<i64>();

/// The two levels of a zone map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Lower,
    Upper,
}

impl Level {
    /// Values in a zone.
    pub(super) const fn values(self) -> u64 {
        match self {
            Level::Lower => ZONE,
            Level::Upper => ZONE * ZONES_PER_ZONE,
        }
    }
}

/// The numbers of the upper zones of `positions`, with the positions in each.
pub(super) fn upper_zones(positions: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    let len = Level::Upper.values();
    (positions.start / len..positions.end.div_ceil(len))
        .map(move |zone| (zone, positions.start.max(zone * len)..positions.end.min((zone + 1) * len)))
}

/// Bytes of the zone map of `count` values: both levels.
pub(super) fn encoded_len(count: u64) -> u64 {
    let entries = count.div_ceil(Level::Lower.values()) + count.div_ceil(Level::Upper.values());
    entries.saturating_mul(ZONE_LEN as u64)
}

/// Encodes the zone map of values whose fine zones have these bounds (`ends`); `None` if they fit one zone.
pub(super) fn encode(ends: &[(i64, i64)]) -> Option<Vec<u8>> {
    let count = ends.len() as u64 * FINE_ZONE as u64;
    if count <= ZONE {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(encoded_len(count)).ok()?);
    for level in [Level::Lower, Level::Upper] {
        for ends in ends.chunks(usize::try_from(level.values()).ok()? / FINE_ZONE) {
            let ends = min_max_of_all(ends);
            bytes.put_i64(ends.0);
            bytes.put_i64(ends.1);
        }
    }
    Some(bytes)
}

/// Reads zone `index` of a level.
pub(super) fn read<B: SectionBytes>(
    column: &Numeric<B>,
    zones: &B,
    level: Level,
    index: u64,
) -> Result<RangeInclusive<i64>> {
    let at = place(column, zones, level, index)?;
    Ok(zone(zones.array(at)?))
}

/// Reads the zones `indices` of a level.
pub(super) fn read_all<'a, B: SectionBytes>(
    column: &Numeric<B>,
    zones: &'a B,
    level: Level,
    indices: Range<u64>,
) -> Result<impl Iterator<Item = RangeInclusive<i64>> + 'a> {
    let [from, to] = [indices.start, indices.end].map(|index| place(column, zones, level, index));
    Ok(zones.slice(from?..to?)?.as_chunks().0.iter().map(zone))
}

/// The offset of zone `index` of a level.
fn place<B: SectionBytes>(column: &Numeric<B>, zones: &B, level: Level, index: u64) -> Result<usize> {
    let before = match level {
        Level::Lower => 0,
        Level::Upper => column.count.div_ceil(Level::Lower.values()),
    };
    let entry = before.saturating_add(index).saturating_mul(ZONE_LEN as u64);
    index_in(zones, "offset of a zone", entry)
}

/// Byte `at` of `section` as an index; `what` names it in errors.
pub(super) fn index_in(section: &impl SectionBytes, what: &'static str, at: u64) -> Result<usize> {
    usize::try_from(at).map_err(|_| {
        let (found, max) = (at, section.len() as u64);
        Error::at(section.place(), 0, ErrorKind::OutOfRange { what, found, max })
    })
}

/// Decodes an entry.
fn zone(entry: &[u8; ZONE_LEN]) -> RangeInclusive<i64> {
    let [min, max] = [0, 1].map(|field| entry.as_chunks().0[field]).map(i64::from_le_bytes);
    min..=max
}
