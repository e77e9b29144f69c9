//! Skip indexes: the documents that may hold a number, without a look at any value.

use std::ops::RangeInclusive;

use crate::{DocRange, Pruning, Result, bits};

/// The smallest and the largest number of zones of documents, as Lucene's `DocValuesSkipper` has them.
///
/// A level cuts the documents into zones of equal size, the first one at document 0. Zones of a column whose documents
/// have gaps or lists may not be known by document: such a column has no levels.
pub trait SkipIndex: Send + Sync {
    /// Documents in a zone of each level: powers of two from 64 up, the coarsest first.
    fn levels(&self) -> &[u32];

    /// Replaces `out` by the zones of `docs`, which lie in the source and begin with a zone of the coarsest level. The last zone
    /// may reach past their end, and tells of all its documents.
    ///
    /// # Errors
    ///
    /// When bytes of the index are damaged.
    ///
    /// # Panics
    ///
    /// Perhaps, if there is no such level or `docs` begin elsewhere.
    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()>;

    /// Adds to `bits` every zone of `docs` that may hold a number in `wanted`, bit *i* for the *i*-th of the
    /// [`zones`](Self::zones); clears no bit, and sets none past the last zone. Adds what was decided to `pruned`. A finer
    /// level may ask the coarser ones first. By default it reads the zones.
    ///
    /// # Errors
    ///
    /// When bytes of the index are damaged.
    ///
    /// # Panics
    ///
    /// If there are too few bits; perhaps, if there is no such level or `docs` begin elsewhere.
    fn may_hold(
        &self,
        level: usize,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let mut zones = Vec::new();
        self.zones(level, docs, &mut zones)?;
        let decided = if level == 0 { &mut pruned.zones } else { &mut pruned.fine_zones };
        for (at, zone) in zones.iter().enumerate() {
            if zone.may_hold(wanted) {
                bits::set(bits, at);
                decided.open += 1;
            } else {
                decided.none += 1;
            }
        }
        Ok(())
    }

    /// A number that about `n` values of the column reach or surpass, if `greatest`; else one that about `n` are not
    /// above. `None`, as by default, if the index cannot tell at once.
    ///
    /// It is an estimate: a search for the first documents begins with good ones, and begins anew where it was wrong.
    ///
    /// # Errors
    ///
    /// When bytes of the index are damaged.
    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let _ = (n, greatest);
        Ok(None)
    }
}

/// Consecutive documents, as a skip index describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// No number of the zone is smaller; above [`max`](Self::max) if the zone has none.
    pub min: i64,
    /// No number of the zone is larger.
    pub max: i64,
    /// Whether every document of the zone is known to have a number.
    pub all_present: bool,
}

impl Zone {
    /// Whether a document of the zone may have a number in `wanted`.
    pub fn may_hold(&self, wanted: &RangeInclusive<i64>) -> bool {
        self.min.max(*wanted.start()) <= self.max.min(*wanted.end())
    }
}
