//! Parses and prints dates and timestamps: `strftime` patterns (with `jiff`), and in `iso` RFC 3339.
//!
//! Years before 0 and after 9999, which `jiff` has not or RFC 3339 has not, have a sign: `-0044-03-15`, `+12000-01-01`.
//! The calendar repeats after an era of 400 years, so that such a date is one of `jiff`'s in another era.
//!
//! A column of timestamps stores moments. Their [`TimeFormat`] is stored with the column, so that export reproduces the
//! text of the input.

use std::fmt::Write as _;

use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

use crate::api::LogicalType;
use crate::api::promotion::per_second;
use crate::api::search::calendar::TimeZone;

mod iso;
#[cfg(test)]
mod tests;

use iso::offset;
pub(crate) use iso::{Rfc3339, parse_date};

/// A moment: the time since 1970-01-01T00:00:00Z, without leap seconds.
pub(crate) type Moment = SignedDuration;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// The days of an era.
const ERA: i64 = 146_097;

const NANOS_PER_ERA: i128 = 146_097 * 86_400 * 1_000_000_000;

/// Whether a type is a timestamp, which counts units since 1970.
pub(crate) fn is_timestamp(logical: LogicalType) -> bool {
    per_second(logical).is_some()
}

/// Whether a type is a date or a timestamp.
pub(crate) fn is_time(logical: LogicalType) -> bool {
    logical == LogicalType::Date || is_timestamp(logical)
}

/// The timestamp with the coarsest unit that holds this many fractional digits.
pub(crate) fn timestamp_for(digits: u8) -> LogicalType {
    match digits {
        0..=3 => LogicalType::TimestampMillis,
        4..=6 => LogicalType::TimestampMicros,
        _ => LogicalType::TimestampNanos,
    }
}

/// The unit of a timestamp, such as `ms`.
pub(crate) fn unit_name(logical: LogicalType) -> &'static str {
    logical.name().trim_start_matches("timestamp[").trim_end_matches(']')
}

/// A moment in units of a timestamp. `None` if that is not a whole number or does not fit `i64`, and for other types.
pub(crate) fn to_units(moment: Moment, logical: LogicalType) -> Option<i64> {
    let per_second = per_second(logical)?;
    // Seconds and nanoseconds have the same sign, so their units overflow only if the sum does.
    let (nanos, fraction) = (1_000_000_000 / per_second, i64::from(moment.subsec_nanos()));
    let whole = || moment.as_secs().checked_mul(per_second)?.checked_add(fraction / nanos);
    (fraction % nanos == 0).then(whole)?
}

/// The moment so many units of a timestamp after 1970; `None` for other types.
pub(crate) fn from_units(units: i64, logical: LogicalType) -> Option<Moment> {
    match logical {
        LogicalType::TimestampMillis => Some(SignedDuration::from_millis(units)),
        LogicalType::TimestampMicros => Some(SignedDuration::from_micros(units)),
        LogicalType::TimestampNanos => Some(SignedDuration::from_nanos(units)),
        _ => None,
    }
}

/// The day of a moment, in days since 1970.
pub(crate) fn days(moment: Moment) -> i64 {
    moment.as_secs().div_euclid(86_400)
}

/// The start of a day.
pub(crate) fn day(days: i64) -> Moment {
    SignedDuration::from_secs(days.saturating_mul(86_400))
}

/// The text format of a column's dates or timestamps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeFormat {
    /// A pattern of [`jiff::fmt::strtime`].
    pub(crate) pattern: String,
    /// The offset in which moments are printed, and the offset of text without one.
    pub(crate) offset: Offset,
}

impl TimeFormat {
    /// Checks a pattern of the user or of a segment. The offset is UTC.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid, cannot parse its own output, or has no full date.
    pub(crate) fn parse(pattern: &str) -> Result<TimeFormat, String> {
        let format = TimeFormat::new(pattern);
        let noon = datetime(2013, 1, 31, 12, 0, 0, 0);
        let mut broken = BrokenDownTime::from(noon);
        broken.set_offset(Some(Offset::UTC));
        let refuse = |error: jiff::Error| format!("invalid date format {pattern:?}: {error}");
        let printed = broken.to_string(pattern).map_err(refuse)?;
        let (moment, _) = format.try_read(&printed).map_err(refuse)?;
        if days(moment) != days(noon.duration_since(EPOCH)) {
            return Err(format!("invalid date format {pattern:?}: it has no full date"));
        }
        Ok(format)
    }

    /// A pattern that is known to be valid. The offset is UTC.
    pub(crate) fn new(pattern: impl Into<String>) -> TimeFormat {
        TimeFormat { pattern: pattern.into(), offset: Offset::UTC }
    }

    /// `YYYY-MM-DD`.
    pub(crate) fn iso_date() -> TimeFormat {
        TimeFormat::new("%Y-%m-%d")
    }

    /// An RFC 3339 date-time in UTC with as many fractional digits as needed.
    pub(crate) fn canonical() -> TimeFormat {
        TimeFormat::new("%Y-%m-%dT%H:%M:%S%.fZ")
    }

    /// An RFC 3339 date-time with a fraction of so many digits, or as many as needed
    /// ([`Rfc3339::SHORTEST`]).
    pub(crate) fn rfc3339(separator: char, digits: u8, suffix: &str) -> Option<TimeFormat> {
        let fraction = match digits {
            0 => String::new(),
            Rfc3339::SHORTEST => "%.f".to_owned(),
            digits => format!("%.{digits}f"),
        };
        let offset = offset(suffix)?;
        let digits = suffix.trim_start_matches(' ');
        let blank = if digits.len() < suffix.len() { " " } else { "" };
        let zone = match digits.len() {
            // The pattern has the spelling of UTC as literal text.
            _ if offset == Offset::UTC => digits,
            3 => "%:::z",
            5 => "%z",
            _ => "%:z",
        };
        let pattern = format!("%Y-%m-%d{separator}%H:%M:%S{fraction}{blank}{zone}");
        Some(TimeFormat { pattern, offset })
    }

    /// Whether the format has no time of day.
    pub(crate) fn is_date(&self) -> bool {
        let at = |hour, nano| {
            let mut out = String::new();
            let moment = datetime(2013, 1, 31, hour, 0, 0, nano).duration_since(EPOCH);
            self.print(moment, &mut out).then_some(out)
        };
        at(0, 0) == at(13, 0) && at(0, 0) == at(0, 1)
    }

    /// Parses `text` in this format; returns the moment and its offset.
    pub(crate) fn read(&self, text: &str) -> Option<(Moment, Offset)> {
        self.try_read(text).ok()
    }

    /// Parses `text` in this format, and prints it as ISO 8601 without an offset. `None` if the text or the format has an offset
    /// or a zone, or no time of day.
    pub(crate) fn read_local(&self, text: &str) -> Option<String> {
        let broken = BrokenDownTime::parse(&self.pattern, text).ok()?;
        // UTC is literal text, such as `+00:00`.
        let end = self.pattern.trim_end_matches(['0', ':']);
        let is_utc = end.ends_with(['Z', 'z', '+', '-']) || end.ends_with("UTC") || end.ends_with("GMT");
        let has_zone = is_utc || broken.offset().is_some() || broken.iana_time_zone().is_some();
        let is_local_time = !has_zone && broken.timestamp().is_none() && broken.hour().is_some();
        is_local_time.then(|| broken.to_datetime().ok())?.map(|local| local.to_string())
    }

    fn try_read(&self, text: &str) -> Result<(Moment, Offset), jiff::Error> {
        let broken = BrokenDownTime::parse(&self.pattern, text)?;
        if let Some(timestamp) = broken.timestamp() {
            return Ok((timestamp.as_duration(), self.offset));
        }
        if broken.iana_time_zone().is_some() {
            let zoned = broken.to_zoned()?;
            return Ok((zoned.timestamp().as_duration(), zoned.offset()));
        }
        let offset = broken.offset().unwrap_or(self.offset);
        Ok((since_epoch(broken.to_datetime()?, offset), offset))
    }

    /// Appends `moment` to `out`. Returns `false` and appends nothing if the pattern does not begin with an ISO date, and
    /// the year is not between -9999 and 9999.
    #[must_use]
    pub(crate) fn print(&self, moment: Moment, out: &mut String) -> bool {
        self.print_at(self.offset, moment, out)
    }

    /// [`print`](TimeFormat::print), with the offset of `zone` at this moment.
    #[must_use]
    pub(crate) fn print_in(&self, zone: &TimeZone, moment: Moment, out: &mut String) -> bool {
        let second = moment.as_secs() - i64::from(moment.subsec_nanos() < 0);
        let offset = Offset::from_seconds(zone.offset_at(second)).unwrap_or(Offset::UTC);
        self.print_at(offset, moment, out)
    }

    /// [`print`](TimeFormat::print), for the start of a day, in days since 1970.
    #[must_use]
    pub(crate) fn print_day(&self, days: i64, out: &mut String) -> bool {
        let (eras, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        // Beyond these eras, a moment does not hold the day.
        match eras {
            -1_000..1_000 => self.print(day(days), out),
            _ => self.print_in_era(eras, day(of_era), self.offset, out),
        }
    }

    fn print_at(&self, offset: Offset, moment: Moment, out: &mut String) -> bool {
        let Some(local) = moment.checked_add(SignedDuration::from_secs(offset.seconds().into())) else {
            return false;
        };
        if let Ok(local) = EPOCH.checked_add(local)
            && (local.year() >= 0 || self.after_year().is_none())
        {
            return print_pattern(&self.pattern, local, offset, out);
        }
        let (eras, nanos) =
            (local.as_nanos().div_euclid(NANOS_PER_ERA), local.as_nanos().rem_euclid(NANOS_PER_ERA));
        let eras = i64::try_from(eras).unwrap_or(i64::MAX);
        self.print_in_era(eras, SignedDuration::from_nanos_i128(nanos), offset, out)
    }

    /// Appends the moment so many eras after `local`, with a year that has a sign.
    fn print_in_era(&self, eras: i64, local: Moment, offset: Offset, out: &mut String) -> bool {
        let (Some(rest), Ok(local)) = (self.after_year(), EPOCH.checked_add(local)) else { return false };
        let year = i64::from(local.year()) + 400 * eras;
        let sign = match year {
            ..0 => "-",
            0..10_000 => "",
            _ => "+",
        };
        let start = out.len();
        // Writing to a string cannot fail.
        let _ = write!(out, "{sign}{:04}", year.unsigned_abs());
        let done = print_pattern(rest, local, offset, out);
        if !done {
            out.truncate(start);
        }
        done
    }

    /// The pattern after the year, if it begins with an ISO date.
    fn after_year(&self) -> Option<&str> {
        self.pattern.strip_prefix("%Y").filter(|rest| rest.starts_with("-%m-%d"))
    }

    /// Whether `moment` is printed as `text` at this offset.
    pub(crate) fn round_trips(&self, moment: Moment, offset: Offset, text: &str) -> bool {
        let mut printed = String::with_capacity(text.len());
        self.print_at(offset, moment, &mut printed) && printed == text
    }
}

/// Appends a local time; returns `false` and appends nothing if the pattern cannot print it.
fn print_pattern(pattern: &str, local: DateTime, offset: Offset, out: &mut String) -> bool {
    let start = out.len();
    let mut broken = BrokenDownTime::from(local);
    broken.set_offset(Some(offset));
    let done = broken.format(pattern, &mut *out).is_ok();
    if !done {
        out.truncate(start);
    }
    done
}

/// Parses an offset such as `+02:00`.
pub(crate) fn parse_offset(text: &str) -> Option<Offset> {
    BrokenDownTime::parse("%:z", text).ok()?.offset()
}

/// Prints an offset for [`parse_offset`].
pub(crate) fn print_offset(offset: Offset) -> String {
    let mut broken = BrokenDownTime::default();
    broken.set_offset(Some(offset));
    broken.to_string("%:z").unwrap_or_default()
}

/// The moment at which clocks of this offset show `local`.
fn since_epoch(local: DateTime, offset: Offset) -> Moment {
    local.duration_since(EPOCH) - SignedDuration::from_secs(offset.seconds().into())
}
