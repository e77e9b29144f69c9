//! Skip indexes: the least and greatest numbers of intervals of documents.
//!
//! Lucene 10 stores intervals of at least 4,096 documents with a value, but for the last one, with coarser levels between them.
//! They become zones of a fixed number of documents, which searches expect. Without them, blocks of numbers are zones, if every
//! document has one number.

use std::sync::{Arc, OnceLock};

use docvalues_column::{Bounds, DocRange, Zone};

use crate::cursor::Cursor;
use crate::error::Result;
use crate::file::Body;
use crate::numeric::Numbers;

/// Documents of a zone that is made of intervals.
const ZONE: u32 = 1 << 12;

/// Bytes of a level of an interval.
const LEVEL_LEN: usize = 28;

/// The most levels of an interval.
const MAX_LEVELS: u8 = 4;

/// The entry of a skip index in metadata.
#[derive(Clone, Debug)]
pub(crate) struct SkipEntry {
    place: (i64, i64),
    max: i64,
    min: i64,
}

impl SkipEntry {
    /// Reads an entry of doc values of this version.
    pub(crate) fn read(cursor: &mut Cursor<'_>, version: i32) -> Result<SkipEntry> {
        let place = (cursor.i64()?, cursor.i64()?);
        let (max, min) = (cursor.i64()?, cursor.i64()?);
        let (_docs, _last) = (cursor.i32()?, cursor.i32()?);
        if version >= 2 {
            let _most_values = cursor.i32()?;
        }
        Ok(SkipEntry { place, max, min })
    }

    /// Bytes of the intervals, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.place.1
    }

    /// The bounds of the column.
    pub(crate) fn bounds(&self) -> Bounds {
        if self.min <= self.max { Bounds::Exact(self.min..=self.max) } else { Bounds::NONE }
    }
}

/// The zones of a column, which are read at first use.
#[derive(Debug)]
pub(crate) struct Zones {
    docs: u32,
    /// Documents of a zone.
    levels: [u32; 1],
    zones: OnceLock<Vec<Zone>>,
    origin: Origin,
}

/// What zones are made of.
#[derive(Debug)]
enum Origin {
    Intervals(SkipEntry, Arc<Body>),
    Blocks,
}

impl Zones {
    /// Those of intervals in `body`.
    pub(crate) fn of_intervals(entry: &SkipEntry, docs: u32, body: &Arc<Body>) -> Result<Zones> {
        body.region(entry.place.0, entry.place.1)?;
        let origin = Origin::Intervals(entry.clone(), Arc::clone(body));
        Ok(Zones { docs, levels: [ZONE], zones: OnceLock::new(), origin })
    }

    /// Those of blocks of `numbers`, of which each document has one; `None` if there are no blocks.
    pub(crate) fn of_blocks(numbers: &Numbers, docs: u32) -> Option<Zones> {
        let len = u32::try_from(numbers.block_len()?).ok().filter(|len| *len >= 64)?;
        Some(Zones { docs, levels: [len], zones: OnceLock::new(), origin: Origin::Blocks })
    }

    /// The number of documents of a zone.
    pub(crate) fn len(&self) -> u32 {
        self.levels[0]
    }

    /// All zones. O(zones) at the first call, and O(1) later.
    pub(crate) fn all(&self, numbers: &Numbers) -> Result<&[Zone]> {
        if let Some(zones) = self.zones.get() {
            return Ok(zones);
        }
        let zones = match &self.origin {
            Origin::Intervals(entry, body) => self.intervals(entry, body)?,
            Origin::Blocks => {
                let mut zones = Vec::new();
                for start in (0..self.docs).step_by(self.len() as usize) {
                    let (min, max) = numbers.bounds_at(start.into())?.range().into_inner();
                    zones.push(Zone { min, max, all_present: true });
                }
                zones
            }
        };
        Ok(self.zones.get_or_init(|| zones))
    }

    /// Reads the zones from intervals.
    fn intervals(&self, entry: &SkipEntry, body: &Body) -> Result<Vec<Zone>> {
        let empty = Zone { min: i64::MAX, max: i64::MIN, all_present: false };
        let mut zones = vec![empty; self.docs.div_ceil(ZONE) as usize];
        // Documents of each zone that have a value for certain.
        let mut present = vec![0; zones.len()];
        let (mut cursor, region) = (Cursor::new(body), body.region(entry.place.0, entry.place.1)?);
        cursor.seek(region.start);
        let mut next = 0;
        while cursor.position() < region.end {
            let levels = cursor.u8()?;
            cursor.within("levels of an interval", levels.into(), 1, MAX_LEVELS.into())?;
            cursor.take(LEVEL_LEN * usize::from(levels - 1))?;
            let (last, first) = (cursor.i32()?, cursor.i32()?);
            let (max, min, docs) = (cursor.i64()?, cursor.i64()?, cursor.i32()?);
            cursor.within("first document of an interval", first.into(), next, i64::from(self.docs) - 1)?;
            cursor.within(
                "last document of an interval",
                last.into(),
                first.into(),
                i64::from(self.docs) - 1,
            )?;
            next = i64::from(last) + 1;
            let (first, last) = (first.unsigned_abs(), last.unsigned_abs());
            let is_full = docs.unsigned_abs() == last - first + 1;
            for at in first / ZONE..=last / ZONE {
                let (zone, there) = (&mut zones[at as usize], &mut present[at as usize]);
                (zone.min, zone.max) = (zone.min.min(min), zone.max.max(max));
                if is_full {
                    let end = (at + 1).saturating_mul(ZONE).min(last + 1);
                    *there += end - first.max(at * ZONE);
                }
            }
        }
        for ((zone, there), start) in zones.iter_mut().zip(present).zip((0..).step_by(ZONE as usize)) {
            zone.all_present = there == (self.docs - start).min(ZONE);
        }
        Ok(zones)
    }

    /// Whether they are made of intervals, and so are finer than blocks.
    pub(crate) fn are_intervals(&self) -> bool {
        matches!(self.origin, Origin::Intervals(..))
    }

    /// The numbers of documents of a zone of each level.
    pub(crate) fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// The zones of documents that begin with one.
    pub(crate) fn of(&self, docs: DocRange, numbers: &Numbers) -> Result<&[Zone]> {
        let docs = docs.clip(self.docs);
        let start = (docs.start / self.len()) as usize;
        let zones = self.all(numbers)?.get(start..).unwrap_or_default();
        Ok(&zones[..zones.len().min(docs.len().div_ceil(self.len() as usize))])
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests {
    use super::*;
    use crate::order::Order;
    use crate::testing::{Encoder, body};

    /// Appends the entry of a skip index over rows of numbers, and its intervals of `len` documents with a value.
    pub(crate) fn encode(
        meta: &mut Encoder,
        data: &mut Encoder,
        rows: &[Vec<i64>],
        len: usize,
        version: i32,
    ) {
        let start = data.offset();
        let with_value: Vec<usize> = (0..rows.len()).filter(|doc| !rows[*doc].is_empty()).collect();
        let of = |docs: &[usize]| {
            let all = || docs.iter().flat_map(|doc| &rows[*doc]);
            (all().max().copied().unwrap_or(i64::MIN), all().min().copied().unwrap_or(i64::MAX))
        };
        for (number, docs) in with_value.chunks(len).enumerate() {
            // Some intervals have a coarser level, of which readers need only the length.
            let levels = if number % 8 == 0 { 2 } else { 1 };
            data.u8(levels);
            if levels == 2 {
                data.bytes(&[0xEE; LEVEL_LEN]);
            }
            let (max, min) = of(docs);
            data.i32(docs[docs.len() - 1] as i32)
                .i32(docs[0] as i32)
                .i64(max)
                .i64(min)
                .i32(docs.len() as i32);
        }
        let (max, min) = of(&with_value);
        meta.i64(start).i64(data.offset() - start).i64(max).i64(min).i32(with_value.len() as i32);
        meta.i32(with_value.last().map_or(-1, |doc| *doc as i32));
        if version >= 2 {
            meta.i32(1);
        }
    }

    fn open(rows: &[Vec<i64>], len: usize, version: i32) -> (SkipEntry, Arc<Body>) {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, rows, len, version);
        let meta = body(meta);
        let mut cursor = Cursor::new(&meta);
        let entry = SkipEntry::read(&mut cursor, version).unwrap();
        cursor.end().unwrap();
        (entry, Arc::new(body(data)))
    }

    #[test]
    fn intervals_become_zones() {
        let docs = 3 * ZONE as usize + 70;
        // Documents of the second zone have gaps, those of the third one two numbers.
        let row = |doc: usize| match doc / ZONE as usize {
            1 if doc.is_multiple_of(3) => vec![],
            2 => vec![doc as i64, 2 * doc as i64],
            _ => vec![doc as i64],
        };
        let rows: Vec<Vec<i64>> = (0..docs).map(row).collect();
        for (len, version) in [(4_096, 0), (4_096, 2), (1_000, 3), (10_000, 2), (1, 1)] {
            let (entry, body) = open(&rows, len, version);
            assert_eq!(entry.bounds(), Bounds::Exact(0..=2 * (3 * i64::from(ZONE) - 1)));
            let zones = Zones::of_intervals(&entry, docs as u32, &body).unwrap();
            let zones = zones.intervals(&entry, &body).unwrap();
            assert_eq!(zones.len(), 4);
            for (zone, rows) in zones.iter().zip(rows.chunks(ZONE as usize)) {
                let inside = |number: &i64| zone.min <= *number && *number <= zone.max;
                assert!(rows.iter().flatten().all(inside), "{zone:?}, intervals of {len}");
                assert!(!zone.all_present || rows.iter().all(|row| !row.is_empty()));
            }
            if len == 1 {
                assert!(zones[0].all_present && !zones[1].all_present && zones[3].all_present);
                assert_eq!((zones[0].min, zones[0].max), (0, i64::from(ZONE) - 1));
            }
        }
        let (empty, _) = open(&[vec![], vec![]], 9, 2);
        assert_eq!(empty.bounds(), Bounds::NONE);
    }

    #[test]
    fn hostile_intervals_are_errors_or_other_zones() {
        let rows: Vec<Vec<i64>> = (0..100).map(|doc| vec![doc]).collect();
        let (entry, body) = open(&rows, 30, 2);
        let place = body.place.clone();
        for at in place.clone() {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut damaged = Encoder::new(Order::Little);
                damaged.bytes(&body.bytes()[place.clone()]);
                damaged.out[at - place.start] = byte;
                let damaged = Arc::new(crate::testing::body(damaged));
                let zones = Zones::of_intervals(&entry, 100, &damaged).unwrap();
                let _ = zones.intervals(&entry, &damaged);
            }
        }
        let past = SkipEntry { place: (i64::MAX, i64::MAX), ..entry };
        assert!(Zones::of_intervals(&past, 100, &body).is_err());
    }
}
