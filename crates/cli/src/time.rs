//! Dates and moments as text: the proleptic Gregorian calendar, RFC 3339, and formats.
//!
//! A column of timestamps stores moments; how they were spelled is kept beside them as a
//! [`TimeFormat`], so that they come out again as they went in.

mod format;
pub(crate) mod rfc3339;

pub(crate) use format::{Fraction, TimeFormat};

/// Seconds in a day; leap seconds are no part of this time scale.
const DAY: i64 = 86_400;

/// A moment of UTC, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub(crate) seconds: i64,
    /// Nanoseconds of that second, below 1,000,000,000.
    pub(crate) nanos: u32,
}

/// What a timestamp column counts.
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

    /// Nanoseconds in one of these.
    fn nanos(self) -> u32 {
        match self {
            Unit::Millis => 1_000_000,
            Unit::Micros => 1_000,
            Unit::Nanos => 1,
        }
    }
}

impl Moment {
    /// Units since 1970. `None` when the moment lies between two units or outside of `i64`.
    pub(crate) fn to_units(self, unit: Unit) -> Option<i64> {
        if !self.nanos.is_multiple_of(unit.nanos()) {
            return None;
        }
        let units = i128::from(self.seconds) * i128::from(1_000_000_000 / unit.nanos())
            + i128::from(self.nanos / unit.nanos());
        i64::try_from(units).ok()
    }

    /// The moment that `units` since 1970 are.
    pub(crate) fn from_units(units: i64, unit: Unit) -> Moment {
        let per_second = i64::from(1_000_000_000 / unit.nanos());
        let rest = u32::try_from(units.rem_euclid(per_second)).unwrap_or(0);
        Moment { seconds: units.div_euclid(per_second), nanos: rest * unit.nanos() }
    }
}

/// A day of the calendar with a time of day, as a clock at some offset shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
}

impl Civil {
    /// Whether such a day and time exist. Second 60 does not: a column could not give it back.
    pub(crate) fn is_valid(&self) -> bool {
        (1..=12).contains(&self.month)
            && self.day >= 1
            && self.day <= days_in_month(self.year, self.month)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
    }

    pub(crate) fn days(&self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }

    /// Seconds since 1970 on a clock that is `offset` minutes ahead of UTC.
    pub(crate) fn seconds(&self, offset: i16) -> i64 {
        let time = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        self.days() * DAY + time - i64::from(offset) * 60
    }

    pub(crate) fn from_days(days: i64) -> Civil {
        let (year, month, day) = civil_from_days(days);
        Civil { year, month, day, hour: 0, minute: 0, second: 0 }
    }

    /// What a clock `offset` minutes ahead of UTC shows.
    pub(crate) fn from_seconds(seconds: i64, offset: i16) -> Civil {
        // An i64 of milliseconds is far from the ends of an i64 of seconds: nothing saturates.
        let local = seconds.saturating_add(i64::from(offset) * 60);
        let time = local.rem_euclid(DAY);
        let part = |value: i64| u8::try_from(value).unwrap_or(0);
        Civil {
            hour: part(time / 3600),
            minute: part(time / 60 % 60),
            second: part(time % 60),
            ..Civil::from_days(local.div_euclid(DAY))
        }
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, by Howard Hinnant's `days_from_civil`: years begin in March, so that the
/// leap day is the last one, in eras of 400 years.
fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let from_march = (i64::from(month) + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, u8, u8) {
    // Any number may stand in a file; the ends of i64 are years that nobody reads.
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let part = |value: i64| u8::try_from(value).unwrap_or(0);
    (era * 400 + year_of_era + i64::from(month <= 2), part(month), part(day))
}

/// The day that `YYYY-MM-DD` names, in days since 1970.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let civil = rfc3339::date(text.as_bytes())?;
    civil.is_valid().then(|| civil.days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_ten_thousand_years_is_one_after_the_day_before() {
        let mut days = days_from_civil(0, 1, 1);
        assert_eq!(days, -719_528);
        for year in 0..10_000 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    assert_eq!(days_from_civil(year, month, day), days);
                    assert_eq!(civil_from_days(days), (year, month, day));
                    days += 1;
                }
            }
        }
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days, days_from_civil(10_000, 1, 1));
    }

    #[test]
    fn units_count_from_1970_and_refuse_what_lies_between() {
        let moment = Moment { seconds: -1, nanos: 999_000_000 };
        assert_eq!(moment.to_units(Unit::Millis), Some(-1));
        assert_eq!(Moment::from_units(-1, Unit::Millis), moment);
        assert_eq!(Moment { seconds: 0, nanos: 1_000 }.to_units(Unit::Millis), None);
        assert_eq!(Moment { seconds: 0, nanos: 1_000 }.to_units(Unit::Micros), Some(1));
        assert_eq!(Moment { seconds: i64::MAX / 10, nanos: 0 }.to_units(Unit::Nanos), None);
        for units in [i64::MIN, -1, 0, 1, i64::MAX] {
            for unit in [Unit::Millis, Unit::Micros, Unit::Nanos] {
                assert_eq!(Moment::from_units(units, unit).to_units(unit), Some(units));
            }
        }
    }

    #[test]
    fn dates_are_strict() {
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("2000-02-29"), Some(11_016));
        for wrong in ["1900-02-29", "2001-13-01", "2001-00-01", "2001-1-01", "2001-01-01 ", "01-01-2001", ""]
        {
            assert_eq!(parse_date(wrong), None, "{wrong:?}");
        }
    }
}
