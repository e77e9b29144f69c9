//! The skip index of an overlay: the zones of the column below, and the new numbers beside them.

use std::ops::RangeInclusive;

use docvalues_format::id::DocId;

use super::{Overlay, block};
use crate::batch::View;
use crate::rows::Element as _;
use crate::{DocRange, Pruning, Result, SkipIndex, Zone, bits};

impl Overlay<i64> {
    fn index(&self) -> Option<&dyn SkipIndex> {
        self.base.skip_index()
    }
}

impl SkipIndex for Overlay<i64> {
    fn levels(&self) -> &[u32] {
        self.index().map_or(&[], SkipIndex::levels)
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        self.index().map_or(Ok(()), |index| index.zones(level, docs, out))?;
        let len = self.levels()[level];
        for (doc, row) in self.changes.rows(whole_zones(docs, len)) {
            let zone = &mut out[docs.place(doc) / len as usize];
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
        let len = self.levels()[level];
        let zones = docs.len().div_ceil(len as usize);
        let (mut open, mut below) = (vec![0; zones.div_ceil(64)], Pruning::default());
        self.index().map_or(Ok(()), |index| index.may_hold(level, docs, wanted, &mut open, &mut below))?;
        let decided = if level == 0 { &mut below.zones } else { &mut below.fine_zones };
        // The new numbers of zones that the column excludes, in blocks that have any.
        let matches = |rows: View<'_, i64>, bounds| i64::matching(rows, bounds, wanted);
        let blocks = whole_zones(docs, len).chunks(block::DOCS);
        let blocks = blocks.filter(|block| self.changes.any(*block, &matches));
        for zone in blocks.flat_map(|block| block.chunks(len as usize)) {
            let at = docs.place(DocId::new(zone.start)) / len as usize;
            if !bits::get(&open, at) && self.changes.any(zone, &matches) {
                bits::set(&mut open, at);
                decided.none = decided.none.saturating_sub(1);
                decided.open += 1;
            }
        }
        *pruned += below;
        bits[..open.len()].iter_mut().zip(open).for_each(|(word, open)| *word |= open);
        Ok(())
    }

    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let below = self.index().map_or(Ok(None), |index| index.estimate_nth(n, greatest))?;
        // Negated, so that the greatest come first. As many zones of new numbers as there are values have one that is as good.
        let end = |(low, high): (i64, i64)| if greatest { !high } else { low };
        let mut ends: Vec<i64> = self.changes.zones().map(end).collect();
        let place = usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
        let new = (place < ends.len()).then(|| *ends.select_nth_unstable(place).1);
        let best = below.map(|below| if greatest { !below } else { below }).into_iter().chain(new).min();
        Ok(best.map(|best| if greatest { !best } else { best }))
    }
}

/// `docs` up to the end of their last zone.
fn whole_zones(docs: DocRange, len: u32) -> DocRange {
    DocRange::new(docs.start, docs.end.div_ceil(len).saturating_mul(len))
}
