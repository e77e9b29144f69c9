//! The skip index of an overlay: the zones of the column below, extended by the new numbers.

use std::ops::RangeInclusive;

use super::Overlay;
use crate::{DocRange, Pruning, Result, SkipIndex, Zone, bits};

impl Overlay<i64> {
    fn index(&self) -> Option<&dyn SkipIndex> {
        self.base.skip_index()
    }

    /// The zones of `docs` with changes, and the new rows: zones may repeat.
    fn zone_changes(&self, level: usize, docs: DocRange) -> impl Iterator<Item = (usize, Option<&[i64]>)> {
        let len = self.levels()[level];
        let docs = DocRange::new(docs.start, docs.end.div_ceil(len).saturating_mul(len));
        self.changes.rows(docs).map(move |(doc, row)| (docs.place(doc) / len as usize, row))
    }
}

impl SkipIndex for Overlay<i64> {
    fn levels(&self) -> &[u32] {
        self.index().map_or(&[], SkipIndex::levels)
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        self.index().map_or(Ok(()), |index| index.zones(level, docs, out))?;
        for (at, row) in self.zone_changes(level, docs) {
            let zone = &mut out[at];
            match row {
                Some(row) => {
                    zone.min = row.iter().fold(zone.min, |min, number| min.min(*number));
                    zone.max = row.iter().fold(zone.max, |max, number| max.max(*number));
                }
                None => zone.all_present = false,
            }
        }
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
        let zones = docs.len().div_ceil(self.levels()[level] as usize);
        let mut open = vec![0; zones.div_ceil(64)];
        let mut below = Pruning::default();
        self.index().map_or(Ok(()), |index| index.may_hold(level, docs, wanted, &mut open, &mut below))?;
        let decided = if level == 0 { &mut below.zones } else { &mut below.fine_zones };
        for (at, row) in self.zone_changes(level, docs) {
            let is_wanted = |row: &[i64]| row.iter().any(|number| wanted.contains(number));
            if !bits::get(&open, at) && row.is_some_and(is_wanted) {
                bits::set(&mut open, at);
                decided.none = decided.none.saturating_sub(1);
                decided.open += 1;
            }
        }
        *pruned += below;
        bits.iter_mut().zip(open).for_each(|(word, open)| *word |= open);
        Ok(())
    }

    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        self.index().map_or(Ok(None), |index| index.estimate_nth(n, greatest))
    }
}
