//! [`TimeZone`]: a time zone, and its changes of clocks.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::{self, AmbiguousOffset};

use crate::error::{Error, Result};

/// A time zone.
///
/// The rules of named zones come from the time zone database of the system or, with the feature `tzdb`, from one that is
/// built in if the system has none.
///
/// ```
/// use docvalues_search::calendar::TimeZone;
///
/// let berlin = TimeZone::get("Europe/Berlin")?;
/// assert_eq!((berlin.to_string(), berlin.offset_at(1_720_000_000)), ("Europe/Berlin".to_owned(), 7_200));
/// assert!(TimeZone::get("Europe/Atlantis").is_err());
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(tz::TimeZone);

impl TimeZone {
    /// The zone with a name of the IANA database such as `Europe/Berlin`, or with a fixed offset such as `+02:00`.
    ///
    /// # Errors
    ///
    /// If there is no such zone, or no database.
    pub fn get(name: &str) -> Result<TimeZone> {
        let found = tz::TimeZone::get(name).or_else(|error| {
            let offset = DateTimeParser::new().parse_time_zone(name);
            offset.map_err(|_| {
                Error::Request(format!(
                    "expected a time zone of the database, such as Europe/Berlin, or an offset such as +02:00, found {name:?}: \
                     {error}"
                ))
            })
        });
        found.map(TimeZone)
    }

    pub(crate) fn of(zone: tz::TimeZone) -> TimeZone {
        TimeZone(zone)
    }

    /// The seconds by which clocks are ahead of UTC, so many seconds after 1970-01-01T00:00:00Z.
    pub fn offset_at(&self, second: i64) -> i32 {
        self.0.to_offset(timestamp(second.into())).seconds()
    }

    /// The periods between changes of clocks, from one moment to another: the first second of each, and the seconds by
    /// which clocks are ahead of UTC. O(changes).
    pub(super) fn periods(&self, first: i128, last: i128) -> Vec<(i128, i128)> {
        let start = timestamp(first);
        let mut periods = vec![(first, i128::from(self.0.to_offset(start).seconds()))];
        for change in self.0.following(start) {
            let (second, offset) =
                (i128::from(change.timestamp().as_second()), i128::from(change.offset().seconds()));
            if second > last {
                break;
            }
            // A change of the name alone changes no clocks.
            if periods.last().is_some_and(|(_, before)| *before != offset) {
                periods.push((second, offset));
            }
        }
        periods
    }

    /// The moment, in nanoseconds since 1970, at which clocks show `local`: the first one; if they skip it, the one that
    /// they would show it at without the change. `None` near the ends of the calendar.
    pub(crate) fn moment(&self, local: DateTime) -> Option<i128> {
        self.0.to_ambiguous_timestamp(local).compatible().ok().map(Timestamp::as_nanosecond)
    }

    /// The first moment of a day, in nanoseconds since 1970.
    pub(crate) fn first_moment(&self, day: Date) -> Option<i128> {
        let midnight = self.0.to_ambiguous_timestamp(day.to_datetime(Time::midnight()));
        let is_skipped = matches!(midnight.offset(), AmbiguousOffset::Gap { .. });
        let moment = midnight.compatible().ok()?;
        if !is_skipped {
            return Some(moment.as_nanosecond());
        }
        // The last change before it skips midnight.
        let second = i128::from(moment.as_second());
        self.periods(second - 172_800, second).last().map(|(change, _)| change * 1_000_000_000)
    }
}

/// The moment so many seconds after 1970, or the nearest of the calendar.
fn timestamp(second: i128) -> Timestamp {
    let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(|end| i128::from(end.as_second()));
    let second = i64::try_from(second.clamp(first, last)).unwrap_or_default();
    Timestamp::from_second(second).unwrap_or_default()
}

/// The name that [`TimeZone::get`] reads.
impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A zone that was found has a name or an offset.
        f.write_str(&DateTimePrinter::new().time_zone_to_string(&self.0).unwrap_or_default())
    }
}

/// By name.
#[cfg(feature = "serde")]
impl serde::Serialize for TimeZone {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_string())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TimeZone {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<TimeZone, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(from)?;
        TimeZone::get(&name).map_err(serde::de::Error::custom)
    }
}
