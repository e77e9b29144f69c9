//! RFC 3339 date-times, with how each was spelled.

use super::{Civil, Moment};

/// A parsed date-time and the choices its writer made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateTime<'a> {
    pub(crate) moment: Moment,
    /// What stands between date and time: `T`, `t` or a blank.
    pub(crate) separator: char,
    /// Fractional digits of the second, 0 when there is no point.
    pub(crate) digits: u8,
    /// `Z`, `z`, an offset such as `+02:00`, or nothing.
    pub(crate) suffix: &'a str,
}

/// Parses `YYYY-MM-DD` `T`|blank `HH:MM:SS` [`.` 1 to 9 digits] and an offset, which may be absent
/// (RFC 3339 wants one; the caller looks at `suffix` and decides).
///
/// `None` for everything else, for days that do not exist, and for leap seconds and more than nine
/// fractional digits, which a column could not give back.
pub(crate) fn parse(text: &str) -> Option<DateTime<'_>> {
    let bytes = text.as_bytes();
    let civil = Civil {
        hour: two(bytes, 11)?,
        minute: two(bytes, 14)?,
        second: two(bytes, 17)?,
        ..date(bytes.get(..10)?)?
    };
    let separator = char::from(bytes[10]);
    if !matches!(separator, 'T' | 't' | ' ') || bytes[13] != b':' || bytes[16] != b':' || !civil.is_valid() {
        return None;
    }
    let rest = text.get(19..)?;
    let (nanos, digits) = fraction(rest.as_bytes())?;
    let suffix = rest.get(if digits == 0 { 0 } else { usize::from(digits) + 1 }..)?;
    let moment = Moment { seconds: civil.seconds(offset(suffix)?), nanos };
    Some(DateTime { moment, separator, digits, suffix })
}

/// Parses `YYYY-MM-DD`, without a look at whether there is such a day.
pub(super) fn date(bytes: &[u8]) -> Option<Civil> {
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = i64::from(two(bytes, 0)?) * 100 + i64::from(two(bytes, 2)?);
    Some(Civil { year, month: two(bytes, 5)?, day: two(bytes, 8)?, hour: 0, minute: 0, second: 0 })
}

/// Two decimal digits at `at`.
pub(super) fn two(bytes: &[u8], at: usize) -> Option<u8> {
    match bytes.get(at..at.checked_add(2)?)? {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    }
}

/// The nanoseconds and the digits of `.ddd` at the beginning of `bytes`; (0, 0) when there is no point.
pub(super) fn fraction(bytes: &[u8]) -> Option<(u32, u8)> {
    let Some((b'.', rest)) = bytes.split_first() else { return Some((0, 0)) };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let count = u8::try_from(digits).ok().filter(|n| (1..=9).contains(n))?;
    let value = rest[..digits].iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    Some((value * 10u32.pow(u32::from(9 - count)), count))
}

/// Minutes ahead of UTC that `Z`, `±HH:MM` or nothing stands for.
pub(super) fn offset(suffix: &str) -> Option<i16> {
    let bytes = suffix.as_bytes();
    let sign = match bytes {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let (hours, minutes) = (two(bytes, 1)?, two(bytes, 4)?);
    (hours < 24 && minutes < 60).then(|| sign * (i16::from(hours) * 60 + i16::from(minutes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Option<(i64, u32)> {
        parse(text).map(|t| (t.moment.seconds, t.moment.nanos))
    }

    #[test]
    fn offsets_fractions_and_separators() {
        assert_eq!(moment("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(moment("1970-01-01 01:00:00.5+01:00"), Some((0, 500_000_000)));
        assert_eq!(moment("1969-12-31t23:59:59.999999999z"), Some((-1, 999_999_999)));
        assert_eq!(moment("2013-01-01T06:00:00-00:30"), Some((1_357_021_800, 0)));
        let local = parse("2013-01-01T06:00:00.120").unwrap();
        assert_eq!((local.separator, local.digits, local.suffix), ('T', 3, ""));
    }

    #[test]
    fn what_cannot_come_out_as_it_went_in_is_refused() {
        for wrong in [
            "2013-01-01",
            "2013-01-01T06:00Z",
            "2013-01-01T06:00:60Z",
            "2013-01-01T24:00:00Z",
            "2013-02-29T06:00:00Z",
            "2013-01-01T06:00:00.Z",
            "2013-01-01T06:00:00.0123456789Z",
            "2013-01-01T06:00:00+0100",
            "2013-01-01T06:00:00+24:00",
            "2013-01-01T06:00:00 Z",
            "2013-01-01x06:00:00Z",
            "2013-01-01T06:00:00Zé",
            "2013-01-01T06:00:0é",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
