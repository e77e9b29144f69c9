//! Steps of the calendar in a time zone, for [histograms](crate::histogram) and [groups](crate::group).
//!
//! | step | begins | when clocks change |
//! | --- | --- | --- |
//! | days and longer units | with the first moment of its first day | it has all times with a date in it: a day has 23, 24 or 25 hours |
//! | shorter units | when clocks show a multiple of it | it goes on, unless clocks show such a multiple again: 2:00 twice begins two hours |
//! | [`Unit::HourOfDay`], [`Unit::Weekday`] | | each time is what clocks show |
//!
//! Changes of clocks are looked up once, for the bounds of a column: its times are compared with a table of steps. Beyond
//! the years -9999 to 9999, clocks do not change.

mod days;
mod step_column;
mod steps;
mod time_zone;

use std::fmt;

pub(crate) use step_column::column_set;
pub(crate) use steps::{LastRun, Steps, too_many};
pub use time_zone::TimeZone;

use crate::error::{Error, Result};

/// A unit of the calendar, for a [`CalendarStep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Unit {
    /// 1 s.
    Second,
    /// 60 s.
    Minute,
    /// 60 minutes.
    Hour,
    /// From midnight to midnight.
    Day,
    /// A week from Monday, as in ISO 8601.
    Week,
    /// A month from its first day.
    Month,
    /// A quarter from the first of January, April, July or October.
    Quarter,
    /// A year from the first of January.
    Year,
    /// The hour that clocks show, 0 to 23, on any day.
    HourOfDay,
    /// The day of the week, from 1 for Monday to 7 for Sunday.
    Weekday,
}

/// A number of calendar units in a time zone, such as 15 minutes or a day in Berlin.
///
/// ```
/// use docvalues_search::calendar::{CalendarStep, TimeZone, Unit};
///
/// let days = CalendarStep::of(Unit::Day).zone(TimeZone::get("Europe/Berlin")?);
/// assert_eq!(CalendarStep::parse("15min")?, CalendarStep::of(Unit::Minute).times(15));
/// assert_eq!(CalendarStep::parse("2 weeks")?.to_string(), "2 weeks");
/// assert_eq!(CalendarStep::parse("hour of day")?, CalendarStep::from(Unit::HourOfDay));
/// # drop(days);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CalendarStep {
    /// The number of units, at least 1; 1 for hours of the day and weekdays. Steps of several are counted from
    /// 1970-01-01T00:00 on the clocks of the zone, weeks from the Monday before; months and longer units from the year 0.
    pub count: u32,
    /// The unit.
    pub unit: Unit,
    /// The zone; `None` for UTC. Dates have no zone.
    pub zone: Option<TimeZone>,
}

/// The names of units; the first is printed. A plural has an "s".
const NAMES: [(Unit, &[&str]); 10] = [
    (Unit::Second, &["second", "sec", "s"]),
    (Unit::Minute, &["minute", "min"]),
    (Unit::Hour, &["hour", "h"]),
    (Unit::Day, &["day", "d"]),
    (Unit::Week, &["week", "w"]),
    (Unit::Month, &["month"]),
    (Unit::Quarter, &["quarter"]),
    (Unit::Year, &["year", "y"]),
    (Unit::HourOfDay, &["hour of day", "hour-of-day"]),
    (Unit::Weekday, &["weekday"]),
];

impl Unit {
    /// The seconds of a unit shorter than a day.
    fn seconds(self) -> Option<i128> {
        match self {
            Unit::Second => Some(1),
            Unit::Minute => Some(60),
            Unit::Hour => Some(3_600),
            _ => None,
        }
    }
}

impl CalendarStep {
    /// One unit, in UTC.
    pub fn of(unit: Unit) -> CalendarStep {
        CalendarStep { count: 1, unit, zone: None }
    }

    /// Sets the number of units.
    #[must_use]
    pub fn times(self, count: u32) -> CalendarStep {
        CalendarStep { count, ..self }
    }

    /// Sets the zone; `None` for UTC.
    #[must_use]
    pub fn zone(self, zone: impl Into<Option<TimeZone>>) -> CalendarStep {
        CalendarStep { zone: zone.into(), ..self }
    }

    /// Parses a unit, or a number of units: `day`, `15min`, `6h`, `2 weeks`, `hour of day`, `weekday`. The zone is UTC.
    ///
    /// # Errors
    ///
    /// If it is neither, or the number is 0 or too large.
    pub fn parse(text: &str) -> Result<CalendarStep> {
        let (count, name) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
        let name = name.trim();
        let of_name =
            |name: &str| NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(unit, _)| *unit);
        let unit = of_name(name).or_else(|| name.strip_suffix('s').and_then(of_name));
        let count = if count.is_empty() { Some(1) } else { count.parse().ok() };
        let step = unit.zip(count).map(|(unit, count)| CalendarStep::of(unit).times(count));
        step.filter(|step| step.count > 0 && (step.count == 1 || !step.recurs())).ok_or_else(|| {
            let units = NAMES.map(|(_, names)| names[0]).join(", ");
            Error::Request(format!("expected {units}, or a number of them such as `15min`, found {text:?}"))
        })
    }

    /// Whether times of different days are in one step, so that steps are numbers and no times.
    pub(crate) fn recurs(&self) -> bool {
        matches!(self.unit, Unit::HourOfDay | Unit::Weekday)
    }
}

impl From<Unit> for CalendarStep {
    fn from(unit: Unit) -> CalendarStep {
        CalendarStep::of(unit)
    }
}

/// The count, unless it is 1, and the unit.
impl fmt::Display for CalendarStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(unit, _)| *unit == self.unit).map_or("", |(_, names)| names[0]);
        if self.count == 1 { f.write_str(name) } else { write!(f, "{} {name}s", self.count) }
    }
}
