//! A step that makes about 40 buckets.

use std::ops::RangeInclusive;

use docvalues_column::{Field, LogicalType};
use docvalues_format::file::kind::{to_f64, to_u64};

use super::Step;
use crate::calendar::{CalendarStep, TimeZone};
use crate::engine::value;

/// The most buckets of a step that is chosen. Each step is up to four times as wide as the one before.
const MOST: u8 = 60;

/// Steps of times, each of a number that divides the next longer unit.
const STEPS: [&str; 24] = [
    "1s", "5s", "15s", "1min", "5min", "15min", "1h", "3h", "6h", "1d", "2d", "1w", "2w", "month", "quarter",
    "1y", "2y", "5y", "10y", "20y", "50y", "100y", "200y", "500y",
];

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
        let steps = STEPS.iter().filter_map(|text| CalendarStep::parse(text).ok());
        let mut steps = steps.filter(|step| step.check(field).is_ok());
        if let Some(step) = steps.find(|step| step.count_between(field, low, high) <= MOST.into()) {
            return Step::Every(step.zone(zone));
        }
        #[expect(clippy::cast_precision_loss, reason = "a rough number will do")]
        let span = match field.logical {
            LogicalType::F64 => to_f64(high) - to_f64(low),
            LogicalType::U64 => to_u64(high) as f64 - to_u64(low) as f64,
            _ => high as f64 - low as f64,
        };
        let least = span / f64::from(MOST);
        if field.logical == LogicalType::F64 {
            return Step::Width(Some(rounded(least)).filter(|width| width.is_finite()).unwrap_or(1.0));
        }
        Step::Whole(value::whole(rounded(least.max(1.0))))
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn rounded(least: f64) -> f64 {
    let power = least.log10().floor();
    // As decimals, so that widths are what their digits say.
    let times = |digit: u8| format!("{digit}e{power}").parse().unwrap_or(f64::INFINITY);
    [1, 2, 5].map(times).into_iter().find(|width| *width >= least).unwrap_or_else(|| times(10))
}
