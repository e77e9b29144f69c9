//! Distinct values of partial statistics.

use docvalues_column::{Field, Kind};

use crate::engine::Stored;
use crate::metrics::{Distinct, merge_sorted};
use crate::stats::{MAX_EXACT, Sketch, Sketched as _, is_dense};

/// The different values of a column, or a sketch of them if the answer is an estimate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PartialDistinct {
    /// The bounds of all numbers of the column, which decide whether the answer is an estimate.
    bounds: Option<(i64, i64)>,
    /// The most bytes of byte strings without a dictionary that are counted exactly.
    most: u64,
    seen: Seen,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Seen {
    /// Ascending.
    Values(Vec<Stored>),
    Sketch(#[cfg_attr(feature = "serde", serde(with = "super::serial::sketch"))] Sketch),
}

impl PartialDistinct {
    /// Different values in any order, or a sketch of them.
    pub(super) fn new(
        seen: Result<Vec<Stored>, Sketch>,
        bounds: Option<(i64, i64)>,
        most: usize,
    ) -> PartialDistinct {
        let seen = match seen {
            Ok(mut values) => {
                values.sort_unstable();
                Seen::Values(values)
            }
            Err(sketch) => Seen::Sketch(sketch),
        };
        PartialDistinct { bounds, most: most as u64, seen }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let Seen::Values(values) = &self.seen else { return 0 };
        values.iter().map(|value| size_of::<Stored>() + value.heap_bytes()).sum()
    }

    /// The values of both, of a column with this field.
    pub(super) fn merge(self, other: PartialDistinct, field: &Field) -> PartialDistinct {
        let both = |(low, high): (i64, i64), (least, most): (i64, i64)| (low.min(least), high.max(most));
        let bounds = self.bounds.into_iter().chain(other.bounds).reduce(both);
        let most = self.most.min(other.most);
        let seen = match (self.seen, other.seen) {
            (Seen::Values(a), Seen::Values(b)) => {
                Seen::Values(merge_sorted(a, b, |value| value, |value, _| value))
            }
            (Seen::Values(values), Seen::Sketch(sketch)) | (Seen::Sketch(sketch), Seen::Values(values)) => {
                Seen::Sketch(sketch.with(&values))
            }
            (Seen::Sketch(mut a), Seen::Sketch(b)) => {
                a.merge(&b);
                Seen::Sketch(a)
            }
        };
        PartialDistinct { bounds, most, seen }.limited(field)
    }

    /// With a sketch of the values if a search over them all has one.
    fn limited(self, field: &Field) -> PartialDistinct {
        let Seen::Values(values) = &self.seen else { return self };
        let held = |values: &[Stored]| values.iter().map(|value| value.held() as u64).sum::<u64>();
        let are_many = match field.kind {
            Kind::Sorted | Kind::SortedSet => false,
            Kind::Binary => values.len() > MAX_EXACT || held(values) > self.most,
            Kind::Numeric | Kind::SortedNumeric => {
                values.len() > MAX_EXACT && !self.bounds.is_some_and(|(low, high)| is_dense(low, high))
            }
        };
        let seen = if are_many { Seen::Sketch(Sketch::new().with(values)) } else { self.seen };
        PartialDistinct { seen, ..self }
    }

    pub(super) fn finish(self) -> Distinct {
        match self.seen {
            Seen::Values(values) => Distinct::Exact(values.len() as u64),
            Seen::Sketch(sketch) => sketch.count(),
        }
    }

    /// Whether values are those of a column, and ascend.
    #[cfg(feature = "serde")]
    pub(super) fn fits(&self, column: &super::column::PartialColumn) -> bool {
        let Seen::Values(values) = &self.seen else { return !column.is_absent() };
        let fit = values.iter().all(|value| !column.is_absent() && value.fits(&column.field));
        fit && values.is_sorted_by(|a, b| a < b)
    }
}
