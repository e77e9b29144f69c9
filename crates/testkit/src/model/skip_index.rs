//! A skip index in memory.

use std::ops::RangeInclusive;

use docvalues_column::{DocRange, Pruning, Result, SkipIndex, Zone, bits};

/// The smallest and the largest number of every zone, computed from all numbers.
#[derive(Clone, Debug)]
pub struct MemSkipIndex {
    numbers: Vec<i64>,
    levels: [Vec<Zone>; LEVELS.len()],
}

/// Documents in a zone: sizes that differ from those of segments, so that no code relies on them.
const LEVELS: [u32; 2] = [256, 64];

impl MemSkipIndex {
    /// The skip index of `docs` documents with these numbers. Documents past the last slot have no number.
    pub fn new(docs: u32, slots: &[Option<i64>]) -> MemSkipIndex {
        let number = |doc: u32| slots.get(doc as usize).copied().flatten();
        let zone = |docs: DocRange| {
            let numbers = || (docs.start..docs.end).filter_map(number);
            Zone {
                min: numbers().min().unwrap_or(i64::MAX),
                max: numbers().max().unwrap_or(i64::MIN),
                all_present: numbers().count() == docs.len(),
            }
        };
        let levels = LEVELS.map(|len| DocRange::new(0, docs).chunks(len as usize).map(zone).collect());
        MemSkipIndex { numbers: slots.iter().flatten().copied().collect(), levels }
    }

    /// The zones that have a document of `docs`.
    fn zones_of(&self, level: usize, docs: DocRange) -> &[Zone] {
        let len = LEVELS[level];
        assert!(docs.start.is_multiple_of(len), "{docs:?} begin within a zone of {len}");
        let zones = &self.levels[level];
        let end = zones.len().min(docs.end.div_ceil(len) as usize);
        &zones[end.min((docs.start / len) as usize)..end]
    }
}

impl SkipIndex for MemSkipIndex {
    fn levels(&self) -> &[u32] {
        &LEVELS
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        *out = self.zones_of(level, docs).to_vec();
        Ok(())
    }

    fn may_hold(
        &self,
        level: usize,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let zones = self.zones_of(level, docs);
        assert!(bits.len() >= zones.len().div_ceil(64), "{} words for {} zones", bits.len(), zones.len());
        for (at, zone) in zones.iter().enumerate() {
            let is_open = !wanted.is_empty() && zone.min <= *wanted.end() && *wanted.start() <= zone.max;
            let decided = if level == 0 { &mut pruned.zones } else { &mut pruned.fine_zones };
            decided.open += u64::from(is_open);
            decided.none += u64::from(!is_open);
            if is_open {
                bits::set(bits, at);
            }
        }
        Ok(())
    }

    /// Returns any of the numbers: no code may rely on an estimate.
    fn estimate_nth(&self, n: u64, _greatest: bool) -> Result<Option<i64>> {
        let place = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).checked_rem(self.numbers.len() as u64);
        Ok(place.map(|place| self.numbers[place as usize]))
    }
}
