//! Dates and times in ISO 8601, parsed by `jiff`.

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time, datetime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

use crate::calendar::TimeZone;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// The nanoseconds of a day.
pub(super) const DAY: i128 = 86_400_000_000_000;

/// A day or a moment, in nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateOrTime {
    /// A day, as its first moment and that of the next day.
    Day(i128, i128),
    /// A moment.
    Moment(i128),
}

impl DateOrTime {
    /// Parses a day, or a day and a time, in the zone that follows in brackets. Without an offset or a zone, it is in UTC;
    /// an offset goes before a zone.
    pub(super) fn parse(text: &str) -> Option<DateOrTime> {
        let pieces = Pieces::parse(text).ok()?;
        let zone = pieces.to_time_zone().ok()?.map(TimeZone::of);
        let offset = pieces.to_numeric_offset();
        let midnight = pieces.time().is_none();
        if midnight && offset.is_some() {
            return None;
        }
        let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
        if let (Some(zone), None) = (zone, offset) {
            let next = || zone.first_moment(pieces.date().tomorrow().ok()?);
            return match midnight {
                true => {
                    zone.first_moment(pieces.date()).zip(next()).map(|(day, next)| DateOrTime::Day(day, next))
                }
                false => zone.moment(local).map(DateOrTime::Moment),
            };
        }
        let seconds = offset.unwrap_or(Offset::UTC).seconds();
        let nanos = local.duration_since(EPOCH).as_nanos() - i128::from(seconds) * 1_000_000_000;
        Some(if midnight { DateOrTime::Day(nanos, nanos + DAY) } else { DateOrTime::Moment(nanos) })
    }

    /// The moment, or the first moment of the day.
    pub(super) fn start(self) -> i128 {
        match self {
            DateOrTime::Day(nanos, _) | DateOrTime::Moment(nanos) => nanos,
        }
    }
}

/// Formats a moment, or only its day.
pub(super) fn print_nanos(nanos: i128, is_day: bool) -> String {
    let moment = i64::try_from(nanos.div_euclid(1_000_000_000)).ok().and_then(|seconds| {
        let rest = i32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
        EPOCH.checked_add(SignedDuration::new(seconds, rest)).ok()
    });
    match moment {
        Some(moment) if is_day => moment.date().to_string(),
        Some(moment) => format!("{moment}Z"),
        None if nanos < 0 => "before the year -9999".into(),
        None => "after the year 9999".into(),
    }
}
