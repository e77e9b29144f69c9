use super::*;
use jiff::fmt::temporal::Pieces;
use proptest::prelude::*;

fn print(format: &TimeFormat, moment: Moment) -> String {
    let mut out = String::new();
    assert!(format.print(moment, &mut out));
    out
}

fn moment(text: &str) -> Option<(i64, i32)> {
    Rfc3339::parse(text).map(|t| (t.moment.as_secs(), t.moment.subsec_nanos()))
}

#[test]
fn units_count_from_1970_and_refuse_what_lies_between() {
    let count = |secs, nanos, logical| to_units(SignedDuration::new(secs, nanos), logical);
    assert_eq!(count(-1, 999_000_000, LogicalType::TimestampMillis), Some(-1));
    assert_eq!(count(0, 1_000, LogicalType::TimestampMillis), None);
    assert_eq!(count(0, 1_000, LogicalType::TimestampMicros), Some(1));
    assert_eq!(count(i64::MAX / 10, 0, LogicalType::TimestampNanos), None);
    assert_eq!(count(0, 0, LogicalType::Date), None);
    assert_eq!(from_units(0, LogicalType::Date), None);
    for units in [i64::MIN, -1, 0, 1, i64::MAX] {
        for logical in LogicalType::ALL.into_iter().filter(|logical| is_timestamp(*logical)) {
            assert_eq!(to_units(from_units(units, logical).unwrap(), logical), Some(units));
        }
    }
    assert_eq!(
        [0, 3, 4, 6, 7, 9].map(|digits| unit_name(timestamp_for(digits))),
        ["ms", "ms", "us", "us", "ns", "ns"]
    );
}

#[test]
fn dates_are_strict() {
    assert_eq!(parse_date("1970-01-02"), Some(1));
    assert_eq!(parse_date("2000-02-29"), Some(11_016));
    assert_eq!(parse_date("0000-01-01"), Some(-719_528));
    for wrong in ["1900-02-29", "2001-13-01", "2001-1-01", "2001-01-01 ", "20010101", "01-01-2001", "é-é-é-é"]
    {
        assert_eq!(parse_date(wrong), None, "{wrong:?}");
    }
}

#[test]
fn offsets_fractions_and_separators() {
    assert_eq!(moment("1970-01-01T00:00:00Z"), Some((0, 0)));
    assert_eq!(moment("1970-01-01 01:00:00.5+01:00"), Some((0, 500_000_000)));
    assert_eq!(moment("1969-12-31t23:59:59.999999999z"), Some((0, -1)));
    assert_eq!(moment("2013-01-01T06:00:00-00:30"), Some((1_357_021_800, 0)));
    assert_eq!(moment("9999-12-31T23:59:59Z"), Some((253_402_300_799, 0)));
    let local = Rfc3339::parse("2013-01-01T06:00:00.120").unwrap();
    assert_eq!((local.separator, local.digits, local.shortest, local.suffix), ('T', 3, false, ""));
}

proptest! {
    /// Whatever is taken, jiff reads alike.
    #[test]
    fn moments_are_those_of_jiff(
        text in "[0-9]{3}[0-9]-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,10})?(|Z|z|[+-][0-2][0-9]:[0-6][0-9])",
    ) {
        let pieces = Pieces::parse(&text).ok().filter(|_| text.as_bytes()[17] != b'6');
        let expected = pieces.and_then(|pieces| {
            let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
            Some(since_epoch(pieces.date().to_datetime(pieces.time()?), offset))
        });
        prop_assert_eq!(Rfc3339::parse(&text).map(|parsed| parsed.moment), expected);
    }
}

#[test]
fn what_cannot_come_out_as_it_went_in_is_refused() {
    for wrong in [
        "2013-01-01",
        "2013-01-01T06:00Z",
        "2013-01-01T06:00:60Z",
        "2013-01-01T24:00:00Z",
        "2013-02-29T06:00:00Z",
        "2013-01-01T6:000:00Z",
        "2013-01-01T06:00:00.Z",
        "2013-01-01T06:00:00.0123456789Z",
        "2013-01-01T06:00:00+010",
        "2013-01-01T06:00:00+01 00",
        "2013-01-01T06:00:00  +01:00",
        "2013-01-01T06:00:00 UT",
        "2013-01-01T06:00:00UTC",
        "+9999-01-01T06:00:00Z",
        "+012013-01-01T06:00:00Z",
        "-0000-01-01T06:00:00Z",
        "-00044-01-01T06:00:00Z",
        "-044-01-01T06:00:00Z",
        "+-12013-01-01T06:00:00Z",
        "+99999999999999999-01-01T06:00:00Z",
        "2013-01-01T06:00:00+01:60",
        "2013-01-01T06:00:00 Z",
        "2013-01-01T06:00:00%Y",
        "2013-01-01x06:00:00Z",
        "2013-01-01T06:00:00Zé",
        "2013-01-01T06:00:0é",
    ] {
        assert_eq!(Rfc3339::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_format_prints_what_it_reads() {
    for (format, text) in [
        ("%Y-%m-%d", "2013-01-31"),
        ("%d.%m.%y", "31.01.13"),
        ("%-m/%-d/%Y %-H:%M", "1/31/2013 0:05"),
        ("%a, %d %b %Y %I:%M %p", "Thu, 31 Jan 2013 10:05 AM"),
        ("%d/%b/%Y:%T %z", "31/Jan/2013:10:05:09 +0200"),
        ("%FT%T%.3fZ", "2013-01-31T10:05:09.120Z"),
        ("%F %T%.f%:z", "2013-01-31 23:05:09.12-05:30"),
        ("100%% %Y%j", "100% 2013031"),
        ("%s", "-1359590400"),
    ] {
        let parsed = TimeFormat::parse(format).unwrap();
        let (moment, offset) = parsed.read(text).unwrap_or_else(|| panic!("{format} does not read {text}"));
        assert!(parsed.round_trips(moment, offset, text), "{format} does not print {text}");
        assert_eq!(parsed.is_date(), !text.contains(':') && format != "%s", "{format}");
    }
    let any = TimeFormat::parse("%Y-%m-%d %H:%M%:z").unwrap();
    assert_eq!(any.read("1970-01-01 01:00+01:00").unwrap().0, Moment::ZERO);
    assert_eq!(any.read("1970-01-01 00:00"), None);
    // A column has offsets, not the names of zones.
    let (named, text) = (TimeFormat::parse("%F %H:%M %:Q").unwrap(), "1970-07-01 01:00 America/New_York");
    let (moment, offset) = named.read(text).unwrap();
    assert_eq!(moment, any.read("1970-07-01 01:00-04:00").unwrap().0);
    assert!(named.round_trips(moment, offset, "1970-07-01 01:00 -04:00"));
    assert!(!named.round_trips(moment, offset, text) && named.read_local(text).is_none());
    assert_eq!(named.read("1970-07-01 01:00 Atlantis"), None);
}

#[test]
fn unknown_directives_and_half_dates_are_refused() {
    for wrong in ["%Y-%m-%d %q", "%Y-%m-%d %!", "%H:%M", "%Y-%m", "%", "31", "%x", "%C%m%d"] {
        let error = TimeFormat::parse(wrong).unwrap_err();
        assert!(error.contains("invalid date format"), "{error}");
    }
}

#[test]
fn years_beyond_four_digits_have_a_sign_in_iso_dates() {
    let mut out = "x".to_owned();
    let german = TimeFormat::parse("%d.%m.%Y").unwrap();
    assert!(
        !german.print(SignedDuration::from_millis(i64::MAX), &mut out)
            && !german.print_day(i64::MIN, &mut out)
    );
    assert_eq!(out, "x");
    for (text, days) in [
        ("0000-01-01", -719_528),
        ("-0001-12-31", -719_529),
        ("-9999-01-01", -4_371_587),
        ("-10000-12-31", -4_371_588),
        ("9999-12-31", 2_932_896),
        ("+10000-01-01", 2_932_897),
        ("-25252734927764585-06-07", i64::MIN),
        ("+25252734927768524-07-27", i64::MAX),
    ] {
        let mut out = String::new();
        assert!(TimeFormat::iso_date().print_day(days, &mut out));
        assert_eq!((out.as_str(), parse_date(text)), (text, Some(days)));
    }
    assert_eq!(parse_date("+25252734927768524-07-28"), None);
    let format = TimeFormat::rfc3339(' ', 3, "+02").unwrap();
    assert_eq!(print(&format, SignedDuration::from_millis(i64::MAX)), "+292278994-08-17 09:12:55.807+02");
}

proptest! {
    #[test]
    fn all_years_come_back(
        count in prop_oneof![any::<i64>(), -10_000_000_000_000_000..10_000_000_000_000_000_i64, -800_000..800_000_i64],
        suffix in prop::sample::select(vec!["Z", "", "+02", " -0930"]),
    ) {
        for moment in LogicalType::ALL.into_iter().filter_map(|logical| from_units(count, logical)) {
            let text = print(&TimeFormat::rfc3339('T', Rfc3339::SHORTEST, suffix).unwrap(), moment);
            let parsed = Rfc3339::parse(&text);
            prop_assert_eq!(parsed.map(|parsed| parsed.moment), Some(moment), "{}", text);
        }
        let mut text = String::new();
        prop_assert!(TimeFormat::iso_date().print_day(count, &mut text));
        prop_assert_eq!(parse_date(&text), Some(count), "{}", text);
    }

    #[test]
    fn rfc3339_spellings_come_back(
        seconds in -62_167_132_800i64..253_402_214_400,
        nanos in 0i32..1_000_000_000,
        digits in 0u8..=9,
        separator in prop::sample::select(vec!['T', 't', ' ']),
        suffix in prop::sample::select(vec!["Z", "z", "", "+00:00", "-00:00", "+05:45", "-11:00", " UTC", "+02", " +0200", "-0930", " -01:00", "+00", " +0000"]),
    ) {
        let scale = 10i32.pow(u32::from(9 - digits));
        let moment = SignedDuration::from_secs(seconds) + SignedDuration::new(0, nanos / scale * scale);
        let format = TimeFormat::rfc3339(separator, digits, suffix).unwrap();
        let text = print(&format, moment);
        let parsed = Rfc3339::parse(&text).unwrap();
        prop_assert_eq!(parsed.moment, moment);
        prop_assert_eq!((parsed.separator, parsed.digits, parsed.suffix), (separator, digits, suffix));
        let again = TimeFormat::parse(&format.pattern).unwrap();
        prop_assert_eq!(again.read(&text).unwrap().0, moment);
        if parsed.shortest {
            let shortest = TimeFormat::rfc3339(separator, Rfc3339::SHORTEST, suffix).unwrap();
            prop_assert_eq!(print(&shortest, moment), text);
        }
    }

    #[test]
    fn what_is_read_comes_out_as_it_went_in(
        digits in 0usize..=10,
        changes in prop::collection::vec((0usize..36, prop::sample::select(b"06 :-+.,TzZ[]".to_vec())), 0..3),
        suffix in prop::sample::select(vec!["Z", "", "+00:00", "-05:30", "+0530", "+05", " +05", " UTC", "+05:30:10", "[UTC]"]),
    ) {
        let point = if digits > 0 { "." } else { "" };
        let mut bytes = format!("2012-02-29T15:47:09{point}{:.digits$}{suffix}", "1234567890").into_bytes();
        for (at, byte) in changes {
            if let Some(changed) = bytes.get_mut(at) {
                *changed = byte;
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        if let Some(parsed) = Rfc3339::parse(&text) {
            let format = TimeFormat::rfc3339(parsed.separator, parsed.digits, parsed.suffix).unwrap();
            prop_assert_eq!(print(&format, parsed.moment), text);
        }
    }
}
