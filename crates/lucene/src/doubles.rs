//! Doubles and floats, which Lucene stores in another form than docvalues.

use std::ops::RangeInclusive;

use docvalues_column::Bounds;
use docvalues_format::file::kind::from_f64;

use crate::types::Form;

impl Form {
    /// Whether docvalues stores the numbers in another form.
    pub(crate) fn is_other(self) -> bool {
        !matches!(self, Form::Same | Form::Flags)
    }

    /// The number of docvalues for a stored one.
    #[inline]
    pub(crate) fn number(self, stored: i64) -> i64 {
        match self {
            Form::Same | Form::Flags => stored,
            Form::Doubles => from_f64(f64::from_bits(stored.cast_unsigned())),
            Form::Floats => of_float(low_bits(stored)),
            Form::SortableFloats => {
                let bits = low_bits(stored).cast_signed();
                of_float((bits ^ ((bits >> 31) & i32::MAX)).cast_unsigned())
            }
        }
    }

    /// The bounds of docvalues' numbers, from those of the stored ones.
    pub(crate) fn bounds(self, stored: &Bounds) -> Bounds {
        // Positive doubles are stored as their bits.
        let is_same = self == Form::Doubles && *stored.range().start() >= 0;
        if is_same || !self.is_other() || *stored == Bounds::NONE { stored.clone() } else { Bounds::Unknown }
    }

    /// The ranges of stored numbers for a range of docvalues' numbers; `None` if these are in another order.
    pub(crate) fn stored(self, wanted: RangeInclusive<i64>) -> Option<[Option<RangeInclusive<i64>>; 2]> {
        let (start, end) = (*wanted.start(), *wanted.end());
        match self {
            Form::Same | Form::Flags => Some([Some(wanted), None]),
            Form::Doubles => {
                // Bits of positive doubles are their numbers. Those of negative ones are in the opposite order.
                let positive = start.max(0)..=end;
                let negative = (end.min(-1) ^ i64::MAX)..=(start ^ i64::MAX);
                let has_negative = start <= end && start < 0;
                Some([(!positive.is_empty()).then_some(positive), has_negative.then_some(negative)])
            }
            Form::Floats | Form::SortableFloats => None,
        }
    }
}

/// The lower 32 bits: a float is stored with its sign extended.
fn low_bits(stored: i64) -> u32 {
    u32::try_from(stored & 0xFFFF_FFFF).unwrap_or(0)
}

fn of_float(bits: u32) -> i64 {
    from_f64(f32::from_bits(bits).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_doubles_are_ranges_of_their_bits() {
        let bits = |double: f64| double.to_bits().cast_signed();
        let of = |start, end| Form::Doubles.stored(from_f64(start)..=from_f64(end)).unwrap();
        assert_eq!(of(1.5, 8.0), [Some(bits(1.5)..=bits(8.0)), None]);
        assert_eq!(of(-2.0, -0.5), [None, Some(bits(-0.5)..=bits(-2.0))]);
        assert_eq!(of(-2.0, 8.0), [Some(bits(0.0)..=bits(8.0)), Some(bits(-0.0)..=bits(-2.0))]);
        // Converted to a double, a float has other bits.
        assert_eq!([Form::Floats, Form::SortableFloats].map(|form| form.stored(0..=1)), [None, None]);
    }
}
