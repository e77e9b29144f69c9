//! Calendar units of any day, also beyond the years of a calendar library: the stored numbers of a column reach 300 million
//! years in milliseconds.
//!
//! The Gregorian calendar repeats after an era of 400 years. Years from March on have their leap day at the end, so that
//! the days before a month are a linear function of the month.

use super::Unit;

const DAYS_PER_ERA: i128 = 146_097;

/// The days from 0000-03-01 to 1970-01-01.
const EPOCH: i128 = 719_468;

/// The number of the unit that contains a day since 1970. Adjacent units have adjacent numbers.
pub(super) fn unit_of(unit: Unit, day: i128) -> i128 {
    match unit {
        // 1970-01-01 was a Thursday.
        Unit::Week => (day + 3).div_euclid(7),
        _ => months(unit).map_or(day, |months| month_of(day).div_euclid(months)),
    }
}

/// The first day of the unit with a number of [`unit_of`].
pub(super) fn first_day(unit: Unit, number: i128) -> i128 {
    match unit {
        Unit::Week => number * 7 - 3,
        _ => months(unit).map_or(number, |months| first_of_month(number * months)),
    }
}

/// The months of a unit; `None` for a day and less.
fn months(unit: Unit) -> Option<i128> {
    match unit {
        Unit::Month => Some(1),
        Unit::Quarter => Some(3),
        Unit::Year => Some(12),
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Day | Unit::Week => None,
        Unit::HourOfDay | Unit::Weekday => None,
    }
}

/// The month of a day, counted from January of the year 0.
fn month_of(day: i128) -> i128 {
    let (era, of_era) = ((day + EPOCH).div_euclid(DAYS_PER_ERA), (day + EPOCH).rem_euclid(DAYS_PER_ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    (era * 400 + year) * 12 + (5 * of_year + 2) / 153 + 2
}

/// The first day of a month.
fn first_of_month(month: i128) -> i128 {
    let (year, from_march) = ((month - 2).div_euclid(12), (month - 2).rem_euclid(12));
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days = of_era * 365 + of_era / 4 - of_era / 100 + (153 * from_march + 2) / 5;
    era * DAYS_PER_ERA + days - EPOCH
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Date, date};

    use super::*;

    fn day(date: Date) -> i128 {
        Date::constant(1970, 1, 1).duration_until(date).as_hours().div_euclid(24).into()
    }

    #[test]
    fn units_are_those_of_the_calendar() {
        let (first, last) = (date(-9999, 1, 1), date(9999, 12, 31));
        assert_eq!(first_day(Unit::Year, unit_of(Unit::Year, day(first))), day(first));
        assert_eq!(first_day(Unit::Month, unit_of(Unit::Month, day(last))), day(date(9999, 12, 1)));
        for year in -9999..=9999 {
            let of_year = day(date(year, 1, 1));
            for month in 1..=12 {
                let begin = date(year, month, 1);
                let quarter = day(date(year, (month - 1) / 3 * 3 + 1, 1));
                for day in [day(begin), day(begin.last_of_month())] {
                    let first = |unit| first_day(unit, unit_of(unit, day));
                    assert_eq!(first(Unit::Month), self::day(begin), "{begin}");
                    assert_eq!((first(Unit::Quarter), first(Unit::Year)), (quarter, of_year), "{begin}");
                }
                let monday = first_day(Unit::Week, unit_of(Unit::Week, day(begin)));
                assert_eq!(
                    day(begin) - monday,
                    i128::from(begin.weekday().to_monday_zero_offset()),
                    "{begin}"
                );
            }
        }
    }

    #[test]
    fn every_day_is_in_its_unit() {
        // Around the ends and the first day of the year 0, and two cycles of 400 years.
        let ends = [i128::from(i64::MIN), i128::from(i64::MAX), -719_528];
        let days =
            ends.into_iter().flat_map(|end| (-800..800).map(move |day| end + day)).chain(-150_000..150_000);
        for day in days {
            for unit in [Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year] {
                let number = unit_of(unit, day);
                assert!(
                    (first_day(unit, number)..first_day(unit, number + 1)).contains(&day),
                    "{unit:?} {day}"
                );
            }
        }
    }
}
