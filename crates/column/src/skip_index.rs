//! The [`SkipIndex`] trait: minimum and maximum of zones of documents, so that searches skip zones.

use std::ops::RangeInclusive;

use crate::{DocRange, Pruning, Result, bits};

/// The smallest and the largest number of each zone of documents, as in Lucene's `DocValuesSkipper`.
///
/// Each level divides the documents into zones of equal size, starting at document 0. A segment keeps zones of values,
/// not of documents: where documents have gaps or several values, the zones may be unknown by document, and the column
/// has no levels.
///
/// # Examples
///
/// ```
/// use docvalues_column::{DocRange, Result, SkipIndex, Zone};
///
/// struct Zones(Vec<Zone>);
///
/// impl SkipIndex for Zones {
///     fn levels(&self) -> &[u32] {
///         &[64]
///     }
///
///     fn zones(&self, _level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
///         let (first, end) = (docs.start as usize / 64, (docs.end as usize).div_ceil(64));
///         out.clear();
///         out.extend_from_slice(&self.0[first..end]);
///         Ok(())
///     }
/// }
///
/// let zone = |min, max| Zone { min, max, all_present: true };
/// let index = Zones(vec![zone(1, 9), zone(8, 70), zone(100, 200)]);
/// let mut open = [0];
/// index.may_hold(0, DocRange::new(0, 192), &(9..=10), &mut open, &mut Default::default())?;
/// assert_eq!(open, [0b011]); // the third zone is skipped
/// # Ok::<(), docvalues_column::Error>(())
/// ```
pub trait SkipIndex: Send + Sync {
    /// The number of documents in a zone of each level: powers of two, at least 64, coarsest first.
    fn levels(&self) -> &[u32];

    /// Replaces `out` by the zones of `docs`, which lie in the source and begin at a zone of the coarsest level. The
    /// last zone may reach past the end of `docs`; it describes all of its documents.
    ///
    /// # Errors
    ///
    /// If bytes of the index are damaged.
    ///
    /// # Panics
    ///
    /// May panic if there is no such level, or if `docs` begin elsewhere.
    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()>;

    /// Sets bit *i* for the *i*-th of the [`zones`](Self::zones) of `docs`, if that zone may hold a number in `wanted`.
    /// Clears no bit, and sets none past the last zone. Adds the numbers of kept and skipped zones to `pruned`. A finer
    /// level may check the coarser ones first. The default reads all zones.
    ///
    /// # Errors
    ///
    /// If bytes of the index are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` is too short. May panic if there is no such level, or if `docs` begin elsewhere.
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

    /// Estimates the `n`-th greatest value of the column, or the `n`-th smallest. `None`, the default, if the index has
    /// no cheap estimate.
    ///
    /// Top-k searches use it as a first lower bound, and search again without it if it was too tight.
    ///
    /// # Errors
    ///
    /// If bytes of the index are damaged.
    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let _ = (n, greatest);
        Ok(None)
    }
}

/// The bounds of a zone: consecutive documents of a [`SkipIndex`].
///
/// ```
/// use docvalues_column::Zone;
///
/// let zone = Zone { min: 70, max: 512, all_present: true };
/// assert!(zone.may_hold(&(500..=600)) && !zone.may_hold(&(0..=69)));
/// let empty = Zone { min: i64::MAX, max: i64::MIN, all_present: false };
/// assert!(!empty.may_hold(&(i64::MIN..=i64::MAX)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// A lower bound of the zone's numbers; above [`max`](Self::max) if it has none.
    pub min: i64,
    /// An upper bound of the zone's numbers.
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
