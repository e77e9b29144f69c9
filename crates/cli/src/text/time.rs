//! Parses and prints dates and timestamps: `strftime` patterns (with `jiff`), and RFC 3339.
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

#[cfg(test)]
mod tests;

/// A moment: the time since 1970-01-01T00:00:00Z, without leap seconds.
pub(crate) type Moment = SignedDuration;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// The days of an era.
const ERA: i64 = 146_097;

const NANOS_PER_ERA: i128 = 146_097 * 86_400 * 1_000_000_000;

/// The unit of a timestamp column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    /// The coarsest unit that holds this many fractional digits, if one does.
    pub(crate) fn for_digits(digits: u8) -> Option<Unit> {
        match digits {
            0..=3 => Some(Unit::Millis),
            4..=6 => Some(Unit::Micros),
            7..=9 => Some(Unit::Nanos),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Millis => "ms",
            Unit::Micros => "us",
            Unit::Nanos => "ns",
        }
    }

    /// The moment as a number of units. `None` if it is not a whole number or does not fit `i64`.
    pub(crate) fn count(self, moment: Moment) -> Option<i64> {
        // Seconds and nanoseconds have the same sign, so their units overflow only if the sum does.
        let (nanos, fraction) = (self.nanos(), i64::from(moment.subsec_nanos()));
        let whole = || moment.as_secs().checked_mul(1_000_000_000 / nanos)?.checked_add(fraction / nanos);
        (fraction % nanos == 0).then(whole)?
    }

    /// The unit in nanoseconds.
    pub(crate) fn nanos(self) -> i64 {
        match self {
            Unit::Millis => 1_000_000,
            Unit::Micros => 1_000,
            Unit::Nanos => 1,
        }
    }

    /// The moment `count` units after 1970.
    pub(crate) fn moment(self, count: i64) -> Moment {
        match self {
            Unit::Millis => SignedDuration::from_millis(count),
            Unit::Micros => SignedDuration::from_micros(count),
            Unit::Nanos => SignedDuration::from_nanos(count),
        }
    }
}

/// The unit of a timestamp type.
pub(crate) fn unit_of(logical: LogicalType) -> Option<Unit> {
    match logical {
        LogicalType::TimestampMillis => Some(Unit::Millis),
        LogicalType::TimestampMicros => Some(Unit::Micros),
        LogicalType::TimestampNanos => Some(Unit::Nanos),
        _ => None,
    }
}

/// The timestamp type of a unit.
pub(crate) fn timestamp(unit: Unit) -> LogicalType {
    let of_unit = LogicalType::ALL.into_iter().find(|logical| unit_of(*logical) == Some(unit));
    of_unit.unwrap_or(LogicalType::TimestampNanos)
}

/// Parses `YYYY-MM-DD` as days since 1970.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (day, rest) = parse_day(text)?;
    i64::try_from(day).ok().filter(|_| rest.is_empty())
}

/// Parses the date at the start of a text as days since 1970. Returns the rest of the text, too.
#[inline]
fn parse_day(text: &str) -> Option<(i128, &str)> {
    let (year, rest) = match text.as_bytes() {
        [sign @ (b'+' | b'-'), digits @ ..] => {
            let len = digits.iter().position(|b| *b == b'-').filter(|len| (4..18).contains(len))?;
            let (digits, rest) = text.get(1..)?.split_at_checked(len)?;
            let year = digits.parse::<i64>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
            match sign {
                b'+' => (Some(year).filter(|year| *year > 9_999 && !digits.starts_with('0'))?, rest),
                _ => (-Some(year).filter(|year| *year > 0 && (len == 4 || !digits.starts_with('0')))?, rest),
            }
        }
        digits => (number(digits.get(..4)?)?.into(), text.get(4..)?),
    };
    let [b'-', m, n, b'-', d, e, ..] = rest.as_bytes() else { return None };
    let (month, day) = (number(&[*m, *n])?, number(&[*d, *e])?);
    Some((day_of(year, month, day)?, rest.get(6..)?))
}

/// The day of a date, in days since 1970. `None` if there is no such date.
#[inline]
fn day_of(year: i64, month: i32, day: i32) -> Option<i128> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    // With years that begin in March, the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = i64::from((153 * month + 2) / 5 + day - 1);
    // From March 1 of the year 0 to 1970, there are 719,468 days.
    let day = 365 * year + year / 4 - year / 100 + day - 719_468;
    Some(i128::from(era) * i128::from(ERA) + i128::from(day))
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

    fn try_read(&self, text: &str) -> Result<(Moment, Offset), jiff::Error> {
        let broken = BrokenDownTime::parse(&self.pattern, text)?;
        if let Some(timestamp) = broken.timestamp() {
            return Ok((timestamp.as_duration(), self.offset));
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

/// A parsed RFC 3339 date-time, with the details of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rfc3339<'a> {
    pub(crate) moment: Moment,
    /// The separator of date and time: `T`, `t` or a blank.
    pub(crate) separator: char,
    /// Fractional digits of the second, 0 when there is no point.
    pub(crate) digits: u8,
    /// Whether the fraction has no trailing zeros.
    pub(crate) shortest: bool,
    /// `Z`, `z`, ` UTC`, an offset such as `+02:00`, `+0200` or `+02`, also after a blank, or nothing.
    pub(crate) suffix: &'a str,
    /// UTC without a suffix.
    pub(crate) offset: Offset,
}

impl Rfc3339<'_> {
    /// A number of digits that stands for as many as needed.
    pub(crate) const SHORTEST: u8 = 10;

    /// The longest suffix, in bytes.
    pub(crate) const MAX_SUFFIX: usize = 7;

    /// Parses `YYYY-MM-DD` `T`|blank `HH:MM:SS` [`.` 1 to 9 digits] and an offset, which may be absent, and is also taken as
    /// PostgreSQL, DuckDB, Ruby and others write it (RFC 3339 wants one; the caller looks at `suffix` and decides).
    ///
    /// `None` for everything else, and for what a column could not give back, such as leap seconds.
    pub(crate) fn parse(text: &str) -> Option<Rfc3339<'_>> {
        let (day, rest) = parse_day(text)?;
        let [separator @ (b'T' | b't' | b' '), h, i, b':', m, n, b':', s, t, ..] = rest.as_bytes() else {
            return None;
        };
        let [hour, minute, second] = [number(&[*h, *i])?, number(&[*m, *n])?, number(&[*s, *t])?];
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let rest = rest.get(9..)?;
        let fraction = rest.strip_prefix('.').unwrap_or_default();
        let end = fraction.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(fraction.len());
        let (fraction, suffix) = if end == 0 { ("", rest) } else { fraction.split_at(end) };
        let digits = u8::try_from(fraction.len()).ok().filter(|digits| *digits <= 9)?;
        let nanos = number(fraction.as_bytes())? * 10_i32.pow(9 - u32::from(digits));
        let offset = offset(suffix)?;
        let of_day = hour * 3_600 + minute * 60 + second - offset.seconds();
        let moment = SignedDuration::new(i64::try_from(day * 86_400 + i128::from(of_day)).ok()?, nanos);
        let shortest = !fraction.ends_with('0');
        Some(Rfc3339 { moment, separator: char::from(*separator), digits, shortest, suffix, offset })
    }
}

/// The number that ASCII digits write, of which there are at most nine.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |number, b| b.is_ascii_digit().then(|| number * 10 + i32::from(b - b'0')))
}

/// The offset of a suffix; UTC if it is empty.
fn offset(suffix: &str) -> Option<Offset> {
    if matches!(suffix, "" | "Z" | "z" | " UTC") {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match suffix.strip_prefix(' ').unwrap_or(suffix).as_bytes() {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [a, b] => ([*a, *b], [b'0', b'0']),
        [a, b, c, d] | [a, b, b':', c, d] => ([*a, *b], [*c, *d]),
        _ => return None,
    };
    let (hours, minutes) = (number(&hours)?, number(&minutes)?);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok().filter(|_| minutes < 60)
}

/// The moment at which clocks of this offset show `local`.
fn since_epoch(local: DateTime, offset: Offset) -> Moment {
    local.duration_since(EPOCH) - SignedDuration::from_secs(offset.seconds().into())
}
