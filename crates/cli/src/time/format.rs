//! Formats of dates and timestamps, in the style of `strftime`.

use std::fmt;

use super::{Civil, Moment, rfc3339};

/// How a column's dates or timestamps are spelled, for reading and for printing.
///
/// | directive | stands for |
/// | --- | --- |
/// | `%Y` | year, four digits |
/// | `%m` `%d` `%H` `%M` `%S` | month, day, hour, minute, second, two digits |
/// | `%-m` `%-d` `%-H` | the same without a leading zero |
/// | `%b` | month, three English letters (`Jan`) |
/// | `%.3f` | a point and so many digits (1 to 9) of the second |
/// | `%.f` | a point and as many digits as needed, or nothing |
/// | `%.{3}f` | the same, by groups of so many digits |
/// | `Z` or `+02:00` at the end | the offset of every value; without one, UTC |
/// | `%z` at the end | any offset when reading, `Z` when printing |
/// | `%%` | a percent sign |
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeFormat {
    items: Vec<Item>,
    /// Minutes ahead of UTC.
    offset: i16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Literal(String),
    Year,
    Two(Part),
    Short(Part),
    MonthName,
    Fraction(Fraction),
    /// The text of the format's own offset.
    Offset(String),
    AnyOffset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// How the part of a second is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fraction {
    /// A point and exactly so many digits; 0: no point.
    Fixed(u8),
    /// As few digits as needed, by groups of so many.
    Groups(u8),
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl TimeFormat {
    /// `YYYY-MM-DD`.
    pub(crate) fn iso_date() -> TimeFormat {
        use Item::{Literal, Two, Year};
        let dash = || Literal("-".to_owned());
        let items = vec![Year, dash(), Two(Part::Month), dash(), Two(Part::Day)];
        TimeFormat { items, offset: 0 }
    }

    /// An RFC 3339 date-time; `suffix` is what [`rfc3339::parse`] found, or empty.
    pub(crate) fn rfc3339(separator: char, fraction: Fraction, suffix: &str) -> TimeFormat {
        let colon = || Item::Literal(":".to_owned());
        let mut items = TimeFormat::iso_date().items;
        items.push(Item::Literal(separator.to_string()));
        items.extend([Item::Two(Part::Hour), colon(), Item::Two(Part::Minute), colon()]);
        items.push(Item::Two(Part::Second));
        if fraction != Fraction::Fixed(0) {
            items.push(Item::Fraction(fraction));
        }
        if !suffix.is_empty() {
            items.push(Item::Offset(suffix.to_owned()));
        }
        TimeFormat { items, offset: rfc3339::offset(suffix).unwrap_or(0) }
    }

    /// Reads a format as [`fmt::Display`] prints it and as schemas spell it.
    ///
    /// # Errors
    ///
    /// A sentence that names the directive that is unknown or missing.
    pub(crate) fn parse(text: &str) -> Result<TimeFormat, String> {
        let (text, suffix) = split_offset(text);
        let mut items = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            literal(&mut items, &rest[..at]);
            let (item, len) = directive(&rest[at..]).ok_or_else(|| unknown_directive(&rest[at..]))?;
            match item {
                Item::Literal(percent) => literal(&mut items, &percent),
                item => items.push(item),
            }
            rest = &rest[at + len..];
        }
        literal(&mut items, rest);
        let mut offset = 0;
        if !suffix.is_empty() {
            offset = rfc3339::offset(suffix).unwrap_or(0);
            items.push(Item::Offset(suffix.to_owned()));
        }
        let has = |wanted: &dyn Fn(&Item) -> bool| items.iter().any(wanted);
        let month =
            |item: &Item| matches!(item, Item::Two(Part::Month) | Item::Short(Part::Month) | Item::MonthName);
        let day = |item: &Item| matches!(item, Item::Two(Part::Day) | Item::Short(Part::Day));
        if has(&|item| *item == Item::Year) && has(&month) && has(&day) {
            Ok(TimeFormat { items, offset })
        } else {
            Err("the format names no full date: it needs %Y, %m or %b, and %d".to_owned())
        }
    }

    /// Whether the format has no place for a time of day.
    pub(crate) fn is_date(&self) -> bool {
        !self.items.iter().any(|item| match item {
            Item::Two(part) | Item::Short(part) => !matches!(part, Part::Month | Part::Day),
            Item::Fraction(_) | Item::Offset(_) | Item::AnyOffset => true,
            Item::Literal(_) | Item::Year | Item::MonthName => false,
        })
    }

    /// The moment that `text` names in this format; `None` if it is spelled otherwise.
    pub(crate) fn read(&self, text: &str) -> Option<Moment> {
        let mut civil = Civil { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
        let (mut nanos, mut offset, mut rest) = (0, self.offset, text);
        for item in &self.items {
            let taken = match item {
                Item::Literal(literal) | Item::Offset(literal) => {
                    rest.starts_with(literal.as_str()).then_some(literal.len())?
                }
                Item::Year => {
                    let bytes = rest.as_bytes();
                    let century = rfc3339::two(bytes, 0)?;
                    civil.year = i64::from(century) * 100 + i64::from(rfc3339::two(bytes, 2)?);
                    4
                }
                Item::Two(part) => {
                    *part.of(&mut civil) = rfc3339::two(rest.as_bytes(), 0)?;
                    2
                }
                Item::Short(part) => {
                    let (value, len) = short(rest.as_bytes())?;
                    *part.of(&mut civil) = value;
                    len
                }
                Item::MonthName => {
                    let index = MONTHS.iter().position(|name| rest.starts_with(name))?;
                    civil.month = u8::try_from(index + 1).ok()?;
                    3
                }
                Item::Fraction(fraction) => {
                    let (value, digits) = rfc3339::fraction(rest.as_bytes())?;
                    nanos = value;
                    if matches!(fraction, Fraction::Fixed(n) if *n != digits) {
                        return None;
                    }
                    if digits == 0 { 0 } else { usize::from(digits) + 1 }
                }
                Item::AnyOffset => {
                    offset = any_offset(rest)?;
                    rest.len()
                }
            };
            rest = rest.get(taken..)?;
        }
        (rest.is_empty() && civil.is_valid()).then(|| Moment { seconds: civil.seconds(offset), nanos })
    }

    /// Appends `moment` to `out`.
    pub(crate) fn print(&self, moment: Moment, out: &mut String) {
        use fmt::Write as _;
        let civil = &mut Civil::from_seconds(moment.seconds, self.offset);
        for item in &self.items {
            // Writing to a string cannot fail.
            let _ = match item {
                Item::Literal(text) | Item::Offset(text) => out.write_str(text),
                Item::Year => write!(out, "{:04}", civil.year),
                Item::Two(part) => write!(out, "{:02}", part.of(civil)),
                Item::Short(part) => write!(out, "{}", part.of(civil)),
                Item::MonthName => {
                    let index = usize::from(civil.month).saturating_sub(1);
                    out.write_str(MONTHS.get(index).copied().unwrap_or("???"))
                }
                Item::Fraction(fraction) => {
                    fraction.print(moment.nanos, out);
                    Ok(())
                }
                Item::AnyOffset => out.write_str("Z"),
            };
        }
    }
}

impl Part {
    fn of(self, civil: &mut Civil) -> &mut u8 {
        match self {
            Part::Month => &mut civil.month,
            Part::Day => &mut civil.day,
            Part::Hour => &mut civil.hour,
            Part::Minute => &mut civil.minute,
            Part::Second => &mut civil.second,
        }
    }

    fn letter(self) -> char {
        match self {
            Part::Month => 'm',
            Part::Day => 'd',
            Part::Hour => 'H',
            Part::Minute => 'M',
            Part::Second => 'S',
        }
    }
}

impl Fraction {
    /// The number of digits in which `nanos` is spelled.
    pub(crate) fn digits(self, nanos: u32) -> usize {
        match self {
            Fraction::Fixed(digits) => usize::from(digits),
            Fraction::Groups(_) if nanos == 0 => 0,
            Fraction::Groups(group) => {
                let zeros = (1..9).take_while(|n| nanos.is_multiple_of(10u32.pow(*n))).count();
                (9 - zeros).next_multiple_of(usize::from(group.max(1)))
            }
        }
    }

    /// Appends a point and the digits, or nothing.
    fn print(self, nanos: u32, out: &mut String) {
        let digits = self.digits(nanos);
        if digits > 0 {
            let all = format!(".{nanos:09}");
            out.push_str(all.get(..=digits.min(9)).unwrap_or(&all));
        }
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            match item {
                Item::Literal(text) => f.write_str(&text.replace('%', "%%"))?,
                Item::Offset(text) => f.write_str(text)?,
                Item::Year => f.write_str("%Y")?,
                Item::Two(part) => write!(f, "%{}", part.letter())?,
                Item::Short(part) => write!(f, "%-{}", part.letter())?,
                Item::MonthName => f.write_str("%b")?,
                Item::Fraction(Fraction::Fixed(digits)) => write!(f, "%.{digits}f")?,
                Item::Fraction(Fraction::Groups(1)) => f.write_str("%.f")?,
                Item::Fraction(Fraction::Groups(group)) => write!(f, "%.{{{group}}}f")?,
                Item::AnyOffset => f.write_str("%z")?,
            }
        }
        Ok(())
    }
}

/// Splits a literal offset from the end of a format that has a time of day.
fn split_offset(text: &str) -> (&str, &str) {
    let timed = ["%H", "%-H"].iter().any(|hour| text.contains(hour));
    for len in [6, 1] {
        let Some(at) = text.len().checked_sub(len) else { continue };
        let Some(suffix) = text.get(at..) else { continue };
        // `%z` ends in the letter of an offset and is a directive.
        if timed && rfc3339::offset(suffix).is_some() && !text[..at].ends_with('%') {
            return (&text[..at], suffix);
        }
    }
    (text, "")
}

/// The directive at the beginning of `text`, and its length.
fn directive(text: &str) -> Option<(Item, usize)> {
    let bytes = text.as_bytes();
    let part = |letter: &u8| match letter {
        b'm' => Some(Part::Month),
        b'd' => Some(Part::Day),
        b'H' => Some(Part::Hour),
        b'M' => Some(Part::Minute),
        b'S' => Some(Part::Second),
        _ => None,
    };
    let fixed = |digit: &u8| digit - b'0';
    Some(match bytes {
        [b'%', b'Y', ..] => (Item::Year, 2),
        [b'%', b'b', ..] => (Item::MonthName, 2),
        [b'%', b'%', ..] => (Item::Literal("%".to_owned()), 2),
        [b'%', b'z'] => (Item::AnyOffset, 2),
        [b'%', b'.', b'f', ..] => (Item::Fraction(Fraction::Groups(1)), 3),
        [b'%', b'.', n @ b'1'..=b'9', b'f', ..] => (Item::Fraction(Fraction::Fixed(fixed(n))), 4),
        [b'%', b'.', b'{', n @ b'1'..=b'9', b'}', b'f', ..] => {
            (Item::Fraction(Fraction::Groups(fixed(n))), 6)
        }
        [b'%', b'-', letter @ (b'm' | b'd' | b'H'), ..] => (Item::Short(part(letter)?), 3),
        [b'%', letter, ..] => (Item::Two(part(letter)?), 2),
        _ => return None,
    })
}

fn unknown_directive(text: &str) -> String {
    let shown: String = text.chars().take(2).collect();
    if shown == "%z" {
        return "%z stands at the end of a format".to_owned();
    }
    format!("{shown} is no directive: there are %Y %m %d %H %M %S %-m %-d %-H %b %.3f %.f %z %%")
}

/// Appends a literal to the items, to the last one if that is a literal as well.
fn literal(items: &mut Vec<Item>, text: &str) {
    match items.last_mut() {
        _ if text.is_empty() => {}
        Some(Item::Literal(last)) => last.push_str(text),
        _ => items.push(Item::Literal(text.to_owned())),
    }
}

/// A number of one or two digits without a leading zero.
fn short(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes {
        [b'1'..=b'9', b'0'..=b'9', ..] => Some((rfc3339::two(bytes, 0)?, 2)),
        [digit @ b'0'..=b'9', ..] => Some((digit - b'0', 1)),
        _ => None,
    }
}

/// `Z`, `+02:00` or `+0200`.
fn any_offset(text: &str) -> Option<i16> {
    match text.as_bytes() {
        [] => None,
        [b'+' | b'-', rest @ ..] if rest.len() == 4 => {
            rfc3339::offset(&format!("{}:{}", text.get(..3)?, text.get(3..)?))
        }
        _ => rfc3339::offset(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn print(format: &str, seconds: i64, nanos: u32) -> String {
        let mut out = String::new();
        TimeFormat::parse(format).unwrap().print(Moment { seconds, nanos }, &mut out);
        out
    }

    #[test]
    fn a_format_prints_what_it_reads() {
        for (format, text) in [
            ("%Y-%m-%d", "2013-01-31"),
            ("%d.%m.%Y", "31.01.2013"),
            ("%-m/%-d/%Y %-H:%M", "1/31/2013 0:05"),
            ("%d/%b/%Y:%H:%M:%S +02:00", "31/Jan/2013:10:05:09 +02:00"),
            ("%Y-%m-%dT%H:%M:%S%.3fZ", "2013-01-31T10:05:09.120Z"),
            ("%Y-%m-%d %H:%M:%S%.f-05:30", "2013-01-31 23:05:09.12-05:30"),
            ("%Y-%m-%dT%H:%M:%S%.{6}f", "2013-01-31T10:05:09.120000"),
            ("100%% %Y%m%d", "100% 20130131"),
            ("%Y-%m-%dT%H:%M:%S%z", "2013-01-31T10:05:09Z"),
        ] {
            let parsed = TimeFormat::parse(format).unwrap();
            assert_eq!(parsed.to_string(), format);
            let moment = parsed.read(text).unwrap_or_else(|| panic!("{format} does not read {text}"));
            assert_eq!(print(format, moment.seconds, moment.nanos), text);
            assert_eq!(parsed.is_date(), !format.contains('H'), "{format}");
        }
    }

    #[test]
    fn fractions_show_as_many_digits_as_asked() {
        let at = |format: &str, nanos| print(&format!("%Y%m%d{format}"), 0, nanos)[8..].to_owned();
        assert_eq!(at("%.f", 0), "");
        assert_eq!(at("%.f", 120_000_000), ".12");
        assert_eq!(at("%.{3}f", 120_000_000), ".120");
        assert_eq!(at("%.{3}f", 1_000), ".000001");
        assert_eq!(at("%.{6}f", 1), ".000000001");
        assert_eq!(at("%.2f", 129_000_000), ".12");
    }

    #[test]
    fn other_offsets_are_read_as_such() {
        let any = TimeFormat::parse("%Y-%m-%d %H:%M%z").unwrap();
        let seconds = |text: &str| any.read(text).map(|m| m.seconds);
        assert_eq!(seconds("1970-01-01 01:00+0100"), Some(0));
        assert_eq!(seconds("1970-01-01 01:00+01:00"), Some(0));
        assert_eq!(seconds("1970-01-01 00:00"), None);
    }

    #[test]
    fn unknown_directives_and_half_dates_are_refused() {
        assert!(TimeFormat::parse("%Y-%m-%d %p").unwrap_err().starts_with("%p is no directive"));
        assert!(TimeFormat::parse("%H:%M").unwrap_err().contains("no full date"));
        assert!(TimeFormat::parse("%z %Y%m%d").unwrap_err().contains("at the end"));
        assert!(TimeFormat::parse("%").is_err());
    }

    proptest! {
        #[test]
        fn rfc3339_spellings_come_back(
            seconds in -62_167_219_200i64..253_402_300_800,
            nanos in 0u32..1_000_000_000,
            digits in 0u8..=9,
            separator in prop::sample::select(vec!['T', 't', ' ']),
            suffix in prop::sample::select(vec!["Z", "z", "", "+00:00", "-00:00", "+05:45", "-11:00"]),
        ) {
            let scale = 10u32.pow(u32::from(9 - digits));
            let moment = Moment { seconds, nanos: nanos / scale * scale };
            let format = TimeFormat::rfc3339(separator, Fraction::Fixed(digits), suffix);
            let mut text = String::new();
            format.print(moment, &mut text);
            // Near the ends, an offset moves the year out of its four digits.
            if let Some(parsed) = rfc3339::parse(&text) {
                prop_assert_eq!(parsed.moment, moment);
                prop_assert_eq!((parsed.separator, parsed.digits, parsed.suffix), (separator, digits, suffix));
                let again = TimeFormat::parse(&format.to_string()).unwrap();
                prop_assert_eq!(again.read(&text), Some(moment));
            } else {
                prop_assert!(text.len() > 19 && !(-62_167_000_000..=253_402_200_000).contains(&seconds));
            }
        }
    }
}
