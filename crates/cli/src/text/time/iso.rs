//! Parses ISO dates, and date-times of RFC 3339.

use jiff::SignedDuration;
use jiff::tz::Offset;

use super::{ERA, Moment};

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
pub(super) fn offset(suffix: &str) -> Option<Offset> {
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
