//! Skips segments by their least and greatest ids.
//!
//! Ids that ascend with time are new to most segments because they are greater than all of theirs. Random ids never
//! are, and comparing them would be wasted. So the bounds estimate whether they skip enough segments to pay.
//!
//! Packed ids are compared: eight bytes after the prefix that all segments of a scheme share.

use docvalues_format::strings::{leading, shared_len};

use crate::ids::MAX_BOUND;

/// The longest shared prefix: it leaves eight bytes of a stored bound to compare.
const MOST_SHARED: usize = MAX_BOUND - 8;

/// Segments that are tested at once: the bits of a word.
pub(super) const GROUP: usize = 64;

/// The least and the greatest id of a segment, packed.
type Ends<'a> = (&'a [u8], &'a [u8]);

/// The bounds of all segments.
pub(super) struct Bounds {
    /// For each segment, its scheme and eight bytes of its least and its greatest id. The range of an empty segment
    /// is empty.
    ranges: Vec<(u32, u64, u64)>,
    /// For each scheme, the common prefix of all its bounds.
    shared: Vec<Box<[u8]>>,
    useful: bool,
}

impl Bounds {
    /// The bounds of segments, given by their scheme and their least and greatest ids.
    pub(super) fn of<'a>(schemes: usize, segments: &[(u32, Option<Ends<'a>>)]) -> Bounds {
        let mut shared: Vec<Option<&[u8]>> = vec![None; schemes];
        for &(scheme, bounds) in segments {
            let (Some(shared), Some((least, greatest))) = (shared.get_mut(scheme as usize), bounds) else {
                continue;
            };
            let so_far = shared.unwrap_or(least);
            let so_far = so_far.get(..MOST_SHARED).unwrap_or(so_far);
            *shared = Some(&so_far[..shared_len(so_far, least).min(shared_len(so_far, greatest))]);
        }
        let shared: Vec<Box<[u8]>> =
            shared.into_iter().map(|shared| shared.unwrap_or_default().into()).collect();
        let range = |&(scheme, bounds): &(u32, Option<Ends>)| {
            let skip = shared.get(scheme as usize).map_or(0, |shared| shared.len());
            let key = |id: &[u8]| leading(id.get(skip..).unwrap_or_default());
            bounds.map_or((scheme, u64::MAX, 0), |(least, greatest)| (scheme, key(least), key(greatest)))
        };
        let ranges = segments.iter().map(range).collect::<Vec<_>>();
        let useful = useful(&ranges);
        Bounds { ranges, shared, useful }
    }

    /// Whether the bounds skip enough segments to pay.
    #[inline]
    pub(super) fn are_useful(&self) -> bool {
        self.useful
    }

    /// The eight bytes of a packed id to compare with the bounds; `None` if no segment of this scheme can have the
    /// id.
    #[inline]
    pub(super) fn key(&self, scheme: u32, packed: &[u8]) -> Option<u64> {
        Some(leading(packed.strip_prefix(&**self.shared.get(scheme as usize)?)?))
    }

    /// A bit for each of the [`GROUP`] segments from `first` on whose bounds enclose the id, given the id's key for
    /// each scheme. Bits after the last segment are 0.
    #[inline]
    pub(super) fn around(&self, first: usize, key: impl Fn(u32) -> Option<u64>) -> u64 {
        let group = self.ranges.get(first..).unwrap_or_default();
        let group = group.get(..GROUP).unwrap_or(group);
        if !self.useful {
            return if group.len() == GROUP { u64::MAX } else { (1 << group.len()) - 1 };
        }
        let inside = |&(scheme, least, greatest): &(u32, u64, u64)| {
            key(scheme).is_some_and(|key| (least <= key) & (key <= greatest))
        };
        group.iter().enumerate().fold(0, |bits, (i, range)| bits | u64::from(inside(range)) << i)
    }
}

/// Whether the midpoint of a segment lies within fewer than 7 of 8 segments of its scheme on average. Samples up to
/// 16 segments, evenly spaced.
fn useful(ranges: &[(u32, u64, u64)]) -> bool {
    const SOME: usize = 16;
    let step = ranges.len().div_ceil(SOME).max(1);
    let (mut asked, mut held) = (0, 0);
    for &(scheme, least, greatest) in ranges.iter().step_by(step).filter(|range| range.1 <= range.2) {
        let middle = least / 2 + greatest / 2;
        asked += ranges.len();
        held +=
            ranges.iter().filter(|range| range.0 == scheme && range.1 <= middle && middle <= range.2).count();
    }
    held * 8 < asked * 7
}
