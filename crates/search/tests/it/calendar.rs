//! Calendar steps in time zones, compared with what `jiff` says of each time.

use std::collections::BTreeMap;

use docvalues_column::{Field, Kind, LogicalType, Part};
use docvalues_search::calendar::{CalendarStep, TimeZone, Unit};
use docvalues_search::group::Group;
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::{Docs, Parts, Query, Search, Value};
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use jiff::civil::{Date, DateTime, datetime};
use jiff::tz::{AmbiguousOffset, Offset};
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;

/// Units with counts that divide the next longer one, and the seconds of a step, or nearly.
const STEPS: [(Unit, u32, i64); 16] = [
    (Unit::Second, 1, 1),
    (Unit::Second, 15, 15),
    (Unit::Minute, 1, 60),
    (Unit::Minute, 15, 900),
    (Unit::Hour, 1, 3_600),
    (Unit::Hour, 2, 7_200),
    (Unit::Hour, 6, 21_600),
    (Unit::Hour, 12, 43_200),
    (Unit::Day, 1, 86_400),
    (Unit::Day, 3, 259_200),
    (Unit::Week, 1, 604_800),
    (Unit::Week, 2, 1_209_600),
    (Unit::Month, 1, 2_629_746),
    (Unit::Quarter, 1, 7_889_238),
    (Unit::Year, 1, 31_556_952),
    (Unit::Year, 5, 157_784_760),
];

const UNITS: [(LogicalType, i64); 3] = [
    (LogicalType::TimestampMillis, 1_000),
    (LogicalType::TimestampMicros, 1_000_000),
    (LogicalType::TimestampNanos, 1_000_000_000),
];

fn zones() -> Vec<String> {
    let names = jiff::tz::db().available().map(|name| name.as_str().to_owned());
    let is_place = |name: &String| name.contains('/') && name.starts_with(char::is_uppercase);
    let names: Vec<String> = names.filter(is_place).collect();
    assert!(names.iter().any(|name| name == "Europe/Berlin"), "there is no time zone database");
    names
}

fn epoch() -> DateTime {
    datetime(1970, 1, 1, 0, 0, 0, 0)
}

/// The first moment from `local` on: in `own`, if clocks of this offset show it; else the first time that they do, or the
/// change that skips it.
fn moment(zone: &jiff::tz::TimeZone, local: DateTime, own: Option<Offset>) -> i64 {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    let compatible = ambiguous.compatible().unwrap();
    match ambiguous.offset() {
        AmbiguousOffset::Fold { after, .. } if own == Some(after) => {
            after.to_timestamp(local).unwrap().as_second()
        }
        AmbiguousOffset::Gap { .. } => {
            zone.preceding(compatible + 1.second()).next().unwrap().timestamp().as_second()
        }
        _ => compatible.as_second(),
    }
}

/// The first second of the step of a time.
fn start(zone: &jiff::tz::TimeZone, (unit, count): (Unit, u32), second: i64) -> i64 {
    let time = Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
    let count = i64::from(count);
    let seconds = match unit {
        Unit::Second => count,
        Unit::Minute => 60 * count,
        Unit::Hour => 3_600 * count,
        unit => return moment(zone, first_day(unit, count, time.date()).at(0, 0, 0, 0), None),
    };
    let local = time.datetime().duration_since(epoch()).as_secs();
    let step = epoch() + local.div_euclid(seconds).checked_mul(seconds).unwrap().seconds();
    moment(zone, step, Some(time.offset()))
}

fn first_day(unit: Unit, count: i64, date: Date) -> Date {
    let days = |from: Date, length: i64| {
        let since = date.duration_since(from).as_hours() / 24;
        from + (since.div_euclid(length) * length).days()
    };
    let months = |length: i64| {
        let month = (i64::from(date.year()) * 12 + i64::from(date.month()) - 1).div_euclid(length) * length;
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        Date::new(year.try_into().unwrap(), month.try_into().unwrap(), 1).unwrap()
    };
    match unit {
        Unit::Day => days(epoch().date(), count),
        Unit::Week => days(jiff::civil::date(1969, 12, 29), 7 * count),
        Unit::Month => months(count),
        Unit::Quarter => months(3 * count),
        Unit::Year => months(12 * count),
        unit => panic!("no expected result for {unit:?}"),
    }
}

fn part(logical: LogicalType, numbers: &[i64]) -> Part {
    let column = ModelColumn::Numeric(numbers.iter().copied().map(Some).collect());
    let docs = u32::try_from(numbers.len()).unwrap();
    Part::new(MemSource::new(docs, [(Field::new("at", Kind::Numeric, logical), column)]))
}

/// The starts and counts of the buckets with values.
fn counted(buckets: &[docvalues_search::histogram::Bucket]) -> BTreeMap<i64, u64> {
    assert!(buckets.is_sorted_by(|a, b| a.from < b.from), "{buckets:?}");
    let counted = buckets.iter().filter(|bucket| bucket.count > 0);
    counted.map(|bucket| (bucket.from, bucket.count)).collect()
}

/// Compares histograms, groups and merged partial results of the numbers with the expected steps.
fn check(logical: LogicalType, numbers: &[i64], step: &CalendarStep, steps: &[i64]) {
    let mut expected: BTreeMap<i64, u64> = BTreeMap::new();
    steps.iter().for_each(|step| *expected.entry(*step).or_default() += 1);
    let (first, second) = numbers.split_at(numbers.len() / 2);
    let halves = [first, second].map(|half| Parts::new([part(logical, half)]));
    let parts = Parts::new([part(logical, first), part(logical, second)]);
    let search = Search::over(&parts);

    let histogram = Histogram::of("at", Step::every(step.clone()));
    let found = search.histogram(Docs::All, &histogram).unwrap();
    assert_eq!((counted(&found.buckets), found.outside), (expected.clone(), 0), "{step:?} {numbers:?}");
    let [here, there] =
        halves.each_ref().map(|half| Search::over(half).partial_histogram(Docs::All, &histogram).unwrap());
    assert_eq!(here.merge(there).unwrap().finish().unwrap(), found, "{step:?} {numbers:?}");

    let group = Group::of("at").every(step.clone()).top(usize::MAX);
    let found = search.group(Docs::All, &group).unwrap();
    let stored = |value: &Option<Value>| value.as_ref().and_then(Value::stored).unwrap();
    let groups = found.groups.iter().map(|group| (stored(&group.values[0]), group.count));
    assert_eq!(groups.collect::<BTreeMap<_, _>>(), expected, "{step:?} {numbers:?}");
    let [here, there] =
        halves.each_ref().map(|half| Search::over(half).partial_group(Docs::All, &group).unwrap());
    assert_eq!(here.merge(there).unwrap().finish(), found, "{step:?} {numbers:?}");
}

/// Times within about 50 steps of one from 1900 to 2100, or of a change of clocks near it.
fn times(zone: &jiff::tz::TimeZone, seconds: i64, rng: &mut SplitMix64) -> Vec<i64> {
    let mut around = i64::try_from(rng.below(6_311_433_600)).unwrap() - 2_208_988_800;
    if let Some(change) = zone.following(Timestamp::from_second(around).unwrap()).next()
        && rng.chance(3, 4)
    {
        around = change.timestamp().as_second();
    }
    let mut near = |width: i64| {
        let width = width.unsigned_abs();
        around + i64::try_from(rng.below(2 * width)).unwrap() - i64::try_from(width).unwrap()
    };
    let mut times = vec![around - 1, around, around + 1];
    times.extend((0..20).map(|_| near(25 * seconds)));
    times.extend((0..20).map(|_| near(7_200.min(25 * seconds))));
    times.retain(|time| (-2_208_988_800..4_102_444_800).contains(time));
    times
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn steps_are_those_of_jiff(seed: u64, zone in prop::sample::select(zones()), step in 0..STEPS.len(), ty in 0_usize..3) {
        let mut rng = SplitMix64::new(seed);
        let (unit, count, seconds) = STEPS[step];
        let (logical, per_second) = UNITS[ty];
        let tz = jiff::tz::TimeZone::get(&zone).unwrap();
        let times = times(&tz, seconds, &mut rng);
        prop_assume!(!times.is_empty());
        let zone = TimeZone::get(&zone).unwrap();
        // Fractions change nothing.
        let numbers: Vec<i64> = times.iter().map(|time| time * per_second + per_second / 3).collect();
        let calendar = CalendarStep::of(unit).times(count).zone(zone.clone());
        let steps: Vec<i64> =
            times.iter().map(|time| start(&tz, (unit, count), *time) * per_second).collect();
        check(logical, &numbers, &calendar, &steps);

        let zoned = |time: &i64| Timestamp::from_second(*time).unwrap().to_zoned(tz.clone());
        let hours: Vec<i64> = times.iter().map(|time| zoned(time).hour().into()).collect();
        check(logical, &numbers, &CalendarStep::of(Unit::HourOfDay).zone(zone.clone()), &hours);
        let weekday = |time: &i64| zoned(time).weekday().to_monday_one_offset().into();
        let weekdays: Vec<i64> = times.iter().map(weekday).collect();
        check(logical, &numbers, &CalendarStep::of(Unit::Weekday).zone(zone.clone()), &weekdays);

        // A day of a query has the times with its date.
        let parts = Parts::new([part(logical, &numbers)]);
        let date = zoned(&times[0]).date();
        let of_day = times.iter().filter(|time| zoned(time).date() == date).count();
        let day = Query::eq("at", format!("{date}[{zone}]"));
        // A date that clocks show, leave and show again is one run of times.
        let runs = times.iter().filter(|time| {
            let second = |date: Date| moment(&tz, date.at(0, 0, 0, 0), None);
            (second(date)..second(date.tomorrow().unwrap())).contains(*time)
        });
        let (count, runs) = (Search::over(&parts).count(&day).unwrap(), runs.count() as u64);
        prop_assert_eq!(count, runs);
        prop_assert!(count == of_day as u64 || is_left(&tz, date), "{} {}", zone, date);
    }
}

/// Whether clocks leave a day that they have shown.
fn is_left(zone: &jiff::tz::TimeZone, date: Date) -> bool {
    let begin = Timestamp::from_second(moment(zone, date.at(0, 0, 0, 0), None)).unwrap();
    let mut changes = zone.following(begin - 24.hours()).take(4);
    changes.any(|change| {
        let date = |time: Timestamp| time.to_zoned(zone.clone()).date();
        date(change.timestamp()) < date(change.timestamp() - 1.second())
    })
}

/// The starts and counts of buckets, in hours after 2024-03-30T23:00:00Z, the first moment of 2024-03-31 in Berlin.
fn hours(step: &str, zone: &str, numbers: &[i64]) -> Vec<(i64, u64)> {
    let base = 1_711_839_600_000;
    let numbers: Vec<i64> = numbers.iter().map(|hour| base + hour * 3_600_000).collect();
    let step = CalendarStep::parse(step).unwrap().zone(TimeZone::get(zone).unwrap());
    let parts = Parts::new([part(LogicalType::TimestampMillis, &numbers)]);
    let found = Search::over(&parts).histogram(Docs::All, &Histogram::of("at", Step::every(step))).unwrap();
    let buckets = found.buckets.iter();
    buckets.map(|bucket| ((bucket.from - base) / 3_600_000, bucket.count)).collect()
}

#[test]
fn a_day_of_23_hours_and_its_parts() {
    let all: Vec<i64> = (0..30).collect();
    assert_eq!(hours("day", "Europe/Berlin", &all), [(0, 23), (23, 7)]);
    assert_eq!(hours("6h", "Europe/Berlin", &all), [(0, 5), (5, 6), (11, 6), (17, 6), (23, 6), (29, 1)]);
    assert_eq!(hours("day", "UTC", &all), [(-23, 1), (1, 24), (25, 5)]);
    // On 2024-10-27, clocks show 2:00 twice.
    let autumn = 210 * 24 - 1;
    let all: Vec<i64> = (autumn..autumn + 5).collect();
    let each: Vec<(i64, u64)> = all.iter().map(|hour| (*hour, 1)).collect();
    assert_eq!(hours("hour", "Europe/Berlin", &all), each);
    let day: Vec<i64> = (autumn..autumn + 26).collect();
    assert_eq!(hours("6h", "Europe/Berlin", &day)[..2], [(autumn, 7), (autumn + 7, 6)]);
}

#[test]
fn dates_have_weeks_and_weekdays() {
    // 2024-01-01 was a Monday.
    let days = [19_723, 19_729, 19_730, 19_737];
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    check(LogicalType::Date, &days, &CalendarStep::from(Unit::Weekday).zone(zone.clone()), &[1, 7, 1, 1]);
    check(
        LogicalType::Date,
        &days,
        &CalendarStep::from(Unit::Week).zone(zone),
        &[19_723, 19_723, 19_730, 19_737],
    );
    let parts = Parts::new([part(LogicalType::Date, &days)]);
    let hours = Histogram::of("at", Step::every(Unit::HourOfDay));
    let error = Search::over(&parts).histogram(Docs::All, &hours).unwrap_err().to_string();
    assert!(error.contains("expected a unit of at least a day"), "{error}");
}

#[test]
fn steps_are_parsed() {
    let parsed = |text: &str| CalendarStep::parse(text).map(|step| (step.count, step.unit));
    for (text, expected) in [
        ("day", (1, Unit::Day)),
        ("15min", (15, Unit::Minute)),
        ("6h", (6, Unit::Hour)),
        ("2 weeks", (2, Unit::Week)),
        ("30 s", (30, Unit::Second)),
        ("10 years", (10, Unit::Year)),
        ("hour-of-day", (1, Unit::HourOfDay)),
        ("weekday", (1, Unit::Weekday)),
    ] {
        assert_eq!(parsed(text).unwrap(), expected, "{text}");
        let printed = CalendarStep::parse(text).unwrap().to_string();
        assert_eq!(parsed(&printed).unwrap(), expected, "{printed}");
    }
    for text in ["", "0 days", "5", "2 weekdays", "3 hours of day", "fortnight", "99999999999 days", "m"] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn times_far_from_the_calendar_have_steps() {
    let zone = TimeZone::get("America/New_York").unwrap();
    for number in [i64::MIN, -4_371_588 * 86_400_000, 0, 253_402_300_800_000, i64::MAX] {
        for unit in
            [Unit::Second, Unit::Hour, Unit::Day, Unit::Week, Unit::Year, Unit::HourOfDay, Unit::Weekday]
        {
            let step = CalendarStep::of(unit).zone(zone.clone());
            let parts = Parts::new([part(LogicalType::TimestampMillis, &[number])]);
            let found = Search::over(&parts).histogram(Docs::All, &Histogram::of("at", Step::every(step)));
            let found = found.unwrap();
            assert_eq!((found.buckets.len(), found.buckets[0].count), (1, 1), "{unit:?} {number}");
        }
    }
}

#[test]
fn steps_are_chosen_for_about_40_buckets() {
    let at = Field::new("at", Kind::Numeric, LogicalType::TimestampMillis);
    let of_span = |seconds: i64| match Step::auto(&at, 0..=seconds * 1_000, None) {
        Step::Every(step) => step.to_string(),
        step => panic!("{step:?}"),
    };
    let steps = [(30, "second"), (3_600, "minute"), (86_400, "1 hour"), (7 * 86_400, "3 hours")];
    for (seconds, step) in steps {
        assert_eq!(of_span(seconds), step.trim_start_matches("1 "), "{seconds}");
    }
    assert_eq!([of_span(365 * 86_400), of_span(3_155_695_200), of_span(0)], ["week", "2 years", "second"]);
    let number = |logical, bounds| Step::auto(&Field::new("n", Kind::Numeric, logical), bounds, None);
    assert_eq!(number(LogicalType::I64, 5..=5), Step::Whole(1));
    assert_eq!(number(LogicalType::I64, i64::MIN..=i64::MAX), Step::Whole(500_000_000_000_000_000));
    let doubles = [0.0, 3.0].map(docvalues_format::file::kind::from_f64);
    assert_eq!(number(LogicalType::F64, doubles[0]..=doubles[1]), Step::Width(0.05));
}

#[cfg(feature = "serde")]
#[test]
fn a_zone_is_sent_by_name() {
    let day = CalendarStep::of(Unit::Day).zone(TimeZone::get("Europe/Berlin").unwrap());
    let histogram = Histogram::of("at", Step::every(day));
    let bytes = postcard::to_stdvec(&histogram).unwrap();
    assert!(bytes.windows(13).any(|bytes| bytes == b"Europe/Berlin"));
    assert_eq!(postcard::from_bytes::<Histogram>(&bytes).unwrap(), histogram);
    let at = bytes.windows(6).position(|bytes| bytes == b"Berlin").unwrap();
    let unknown = [&bytes[..at], b"Nowher", &bytes[at + 6..]].concat();
    assert!(postcard::from_bytes::<Histogram>(&unknown).is_err());
}
