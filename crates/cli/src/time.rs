//! Parses and prints dates and timestamps: `strftime` patterns (with `jiff`), and RFC 3339.
//!
//! A column of timestamps stores moments. Their [`TimeFormat`] is stored with the column, so that export reproduces the
//! text of the input.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, datetime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

#[cfg(test)]
mod tests;

/// A moment: the time since 1970-01-01T00:00:00Z, without leap seconds.
pub(crate) type Moment = SignedDuration;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

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
        let (all, nanos) = (moment.as_nanos(), i128::from(self.nanos()));
        (all % nanos == 0).then(|| i64::try_from(all / nanos).ok())?
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

/// Parses `YYYY-MM-DD` as days since 1970.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    // jiff accepts all of ISO 8601, including date-times.
    let date: Date = (text.len() == 10 && text.as_bytes()[4] == b'-').then(|| text.parse().ok())??;
    Some(days(since_epoch(date.to_datetime(Time::midnight()), Offset::UTC)))
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

    fn new(pattern: impl Into<String>) -> TimeFormat {
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
        // The pattern has the spelling of UTC as literal text.
        let (suffix, offset) = match suffix {
            "" | "Z" | "z" | "+00:00" | "-00:00" => (suffix, Offset::UTC),
            offset => ("%:z", parse_offset(offset)?),
        };
        Some(TimeFormat { pattern: format!("%Y-%m-%d{separator}%H:%M:%S{fraction}{suffix}"), offset })
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

    /// Appends `moment` to `out`. Returns `false` and appends nothing if the year is not between -9999 and 9999.
    #[must_use]
    pub(crate) fn print(&self, moment: Moment, out: &mut String) -> bool {
        self.print_at(self.offset, moment, out)
    }

    fn print_at(&self, offset: Offset, moment: Moment, out: &mut String) -> bool {
        let start = out.len();
        let shift = SignedDuration::from_secs(offset.seconds().into());
        let printed =
            moment.checked_add(shift).and_then(|local| EPOCH.checked_add(local).ok()).map(|local| {
                let mut broken = BrokenDownTime::from(local);
                broken.set_offset(Some(offset));
                broken.format(&self.pattern, &mut *out)
            });
        let done = matches!(printed, Some(Ok(())));
        if !done {
            out.truncate(start);
        }
        done
    }

    /// Whether `moment` is printed as `text` at this offset.
    pub(crate) fn round_trips(&self, moment: Moment, offset: Offset, text: &str) -> bool {
        let mut printed = String::with_capacity(text.len());
        self.print_at(offset, moment, &mut printed) && printed == text
    }
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
    /// `Z`, `z`, an offset such as `+02:00`, or nothing.
    pub(crate) suffix: &'a str,
}

impl Rfc3339<'_> {
    /// A number of digits that stands for as many as needed.
    pub(crate) const SHORTEST: u8 = 10;

    /// Parses `YYYY-MM-DD` `T`|blank `HH:MM:SS` [`.` 1 to 9 digits] and an offset, which may be absent
    /// (RFC 3339 wants one; the caller looks at `suffix` and decides).
    ///
    /// `None` for everything else, and for what a column could not give back, such as leap seconds.
    pub(crate) fn parse(text: &str) -> Option<Rfc3339<'_>> {
        let head = text.as_bytes().first_chunk::<19>()?;
        let [.., b'-', _, _, b'-', _, _, separator @ (b'T' | b't' | b' '), _, _, b':', _, _, b':', _, _] =
            head
        else {
            return None;
        };
        let rest = text.get(head.len()..)?;
        let fraction = rest.strip_prefix('.').unwrap_or_default();
        let end = fraction.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(fraction.len());
        let (fraction, suffix) = if end == 0 { ("", rest) } else { fraction.split_at(end) };
        let digits = u8::try_from(fraction.len()).ok().filter(|digits| *digits <= 9)?;
        let nanos = number(fraction.as_bytes())? * 10_i32.pow(9 - u32::from(digits));
        let pair = |at: usize| i8::try_from(number(head.get(at..at + 2)?)?).ok();
        let year = i16::try_from(number(&head[..4])?).ok()?;
        let date = Date::new(year, pair(5)?, pair(8)?).ok()?;
        let time = Time::new(pair(11)?, pair(14)?, pair(17)?, nanos).ok()?;
        let moment = since_epoch(date.to_datetime(time), offset(suffix)?);
        let shortest = !fraction.ends_with('0');
        Some(Rfc3339 { moment, separator: char::from(*separator), digits, shortest, suffix })
    }
}

/// The number that ASCII digits write, of which there are at most nine.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |number, b| b.is_ascii_digit().then(|| number * 10 + i32::from(b - b'0')))
}

/// The offset of a suffix of RFC 3339; UTC if it is empty.
fn offset(suffix: &str) -> Option<Offset> {
    let (sign, rest) = match suffix.as_bytes() {
        [] | [b'Z' | b'z'] => return Some(Offset::UTC),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let [hours @ .., b':', a, b] = rest else { return None };
    let (hours, minutes) = (number(hours).filter(|_| hours.len() == 2)?, number(&[*a, *b])?);
    let is_offset = minutes < 60;
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok().filter(|_| is_offset)
}

/// The moment at which clocks of this offset show `local`.
fn since_epoch(local: DateTime, offset: Offset) -> Moment {
    local.duration_since(EPOCH) - SignedDuration::from_secs(offset.seconds().into())
}
