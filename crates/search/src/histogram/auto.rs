//! A step that makes about 40 buckets.

use std::ops::RangeInclusive;

use docvalues_column::{Field, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};

use super::Step;
use crate::calendar::{CalendarStep, TimeZone, Unit};

/// The most buckets of a step that is chosen. Steps are up to four times as wide as the next smaller one.
const MOST: f64 = 60.0;

/// Steps of times, with the seconds of one, or nearly.
const STEPS: [(u32, Unit, f64); 18] = [
    (1, Unit::Second, 1.0),
    (5, Unit::Second, 5.0),
    (15, Unit::Second, 15.0),
    (1, Unit::Minute, 60.0),
    (5, Unit::Minute, 300.0),
    (15, Unit::Minute, 900.0),
    (1, Unit::Hour, 3_600.0),
    (3, Unit::Hour, 10_800.0),
    (6, Unit::Hour, 21_600.0),
    (1, Unit::Day, 86_400.0),
    (2, Unit::Day, 172_800.0),
    (1, Unit::Week, 604_800.0),
    (2, Unit::Week, 1_209_600.0),
    (1, Unit::Month, 2_629_746.0),
    (1, Unit::Quarter, 7_889_238.0),
    (1, Unit::Year, YEAR),
    (2, Unit::Year, 2.0 * YEAR),
    (5, Unit::Year, 5.0 * YEAR),
];

const YEAR: f64 = 31_556_952.0;

impl Step {
    /// A round step that divides `bounds`, stored numbers of `field`, into about 40 buckets: 15 to 60 if they are far
    /// enough apart. Times are divided by calendar steps in `zone`, by default in UTC. For several machines, choose the
    /// step once.
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::calendar::Unit;
    /// use docvalues_search::histogram::Step;
    ///
    /// let day = Field::new("day", Kind::Numeric, LogicalType::Date);
    /// assert_eq!(Step::auto(&day, 0..=365, None), Step::every(Unit::Week));
    /// let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    /// assert_eq!(Step::auto(&size, 0..=1_000, None), Step::Whole(20));
    /// ```
    pub fn auto(field: &Field, bounds: RangeInclusive<i64>, zone: Option<TimeZone>) -> Step {
        let (low, high) = bounds.into_inner();
        #[expect(clippy::cast_precision_loss, reason = "a rough number will do")]
        let span = match field.logical {
            LogicalType::F64 => to_f64(high) - to_f64(low),
            LogicalType::U64 => to_u64(high) as f64 - to_u64(low) as f64,
            _ => high as f64 - low as f64,
        };
        let per_second = match field.logical {
            LogicalType::Date => 1.0 / 86_400.0,
            LogicalType::TimestampMillis => 1e3,
            LogicalType::TimestampMicros => 1e6,
            LogicalType::TimestampNanos => 1e9,
            logical => return of_numbers(span / MOST, logical == LogicalType::F64),
        };
        let least = span / per_second / MOST;
        let is_fine = |(_, unit, _): &&(u32, Unit, f64)| {
            field.logical != LogicalType::Date || !matches!(unit, Unit::Second | Unit::Minute | Unit::Hour)
        };
        let found = STEPS.iter().filter(is_fine).find(|(_, _, seconds)| *seconds >= least);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let (count, unit) = found
            .map_or_else(|| (rounded(least / YEAR) as u32, Unit::Year), |(count, unit, _)| (*count, *unit));
        Step::Every(CalendarStep::of(unit).times(count).zone(zone))
    }
}

/// The least round step of numbers of at least `least`.
fn of_numbers(least: f64, are_doubles: bool) -> Step {
    if are_doubles {
        return Step::Width(Some(rounded(least)).filter(|width| width.is_finite()).unwrap_or(1.0));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    Step::Whole(rounded(least.max(1.0)) as u64)
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn rounded(least: f64) -> f64 {
    let power = least.log10().floor();
    // As decimals, so that widths are what their digits say.
    let times = |digit: u8| format!("{digit}e{power}").parse().unwrap_or(f64::INFINITY);
    [1, 2, 5].map(times).into_iter().find(|width| *width >= least).unwrap_or_else(|| times(10))
}
