//! The steps of the calendar between two numbers of a column.

use docvalues_column::promotion::per_second;
use docvalues_column::{Field, LogicalType};

use super::days::{first_day, unit_of};
use super::{CalendarStep, Unit};
use crate::error::{Error, Result};

const DAY: i128 = 86_400;

/// Longer than clocks are apart anywhere, at any time.
const MAX_SHIFT: i128 = 4 * DAY;

/// The last run that was found: its first number, the one after its last, and its step. Empty at first.
pub(crate) type LastRun = (i64, i64, usize);

/// Steps, and the runs of adjacent numbers that are in one: the last has no end.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// The first number of each run, ascending.
    runs: Vec<i64>,
    /// The step of each run; empty if each step is one run. A step has several where clocks go back over midnight.
    ids: Vec<u32>,
    /// The first number of each step, ascending; empty if each step is one run.
    starts: Vec<i64>,
}

impl Steps {
    /// Steps that are one run each.
    pub(crate) fn whole(runs: Vec<i64>) -> Steps {
        Steps { runs, ids: Vec::new(), starts: Vec::new() }
    }

    /// The first number of each step, ascending.
    pub(crate) fn starts(&self) -> &[i64] {
        if self.ids.is_empty() { &self.runs } else { &self.starts }
    }

    /// The step of a number; `None` below the first. `last` caches the last run.
    #[inline]
    pub(crate) fn find(&self, number: i64, last: &mut LastRun) -> Option<usize> {
        if (last.0..last.1).contains(&number) {
            return Some(last.2);
        }
        let after = self.runs.partition_point(|from| *from <= number);
        let run = after.checked_sub(1)?;
        let until = self.runs.get(after).copied().unwrap_or(number);
        *last = (self.runs[run], until, self.ids.get(run).map_or(run, |id| *id as usize));
        Some(last.2)
    }
}

/// The error for more than `most` steps.
pub(crate) fn too_many(field: &Field, most: usize) -> Error {
    let name = &field.name;
    Error::Request(format!("column \"{name}\" would need more than {most} buckets: choose a greater width"))
}

impl CalendarStep {
    /// Checks that a column has such steps.
    pub(crate) fn check(&self, field: &Field) -> Result<()> {
        let (name, ty) = (&field.name, field.logical.name());
        let is_of_days = self.unit.seconds().is_none() && self.unit != Unit::HourOfDay;
        let why = match per_second(field.logical) {
            None if field.logical != LogicalType::Date => {
                format!("is {ty}: expected a date or a timestamp for calendar units")
            }
            None if !is_of_days => "has days: expected a unit of at least a day".to_owned(),
            _ => return Ok(()),
        };
        Err(Error::Request(format!("column \"{name}\" {why}")))
    }

    /// The number of the step that contains a second on the clocks of the zone. Adjacent steps have adjacent numbers.
    fn number_of(&self, clock: i128) -> i128 {
        let unit = match self.unit.seconds() {
            Some(seconds) => clock.div_euclid(seconds),
            None => unit_of(self.unit, clock.div_euclid(DAY)),
        };
        unit.div_euclid(self.count.max(1).into())
    }

    /// The first second, on the clocks of the zone, of the step with this number.
    fn first_of(&self, number: i128) -> i128 {
        let unit = number * i128::from(self.count.max(1));
        self.unit.seconds().map_or_else(|| first_day(self.unit, unit) * DAY, |seconds| unit * seconds)
    }

    /// About the number of steps between two numbers of a column.
    pub(crate) fn count_between(&self, field: &Field, low: i64, high: i64) -> i128 {
        self.number_of(second(field, high)) - self.number_of(second(field, low))
    }

    /// The steps from the one of `low` to the one of `high`, numbers of `field`; at most `most`.
    ///
    /// # Errors
    ///
    /// If there are more, or the column has no such steps.
    pub(crate) fn between(&self, field: &Field, low: i64, high: i64, most: usize) -> Result<Steps> {
        self.check(field)?;
        if self.count_between(field, low, high) > 2 * most as i128 {
            return Err(too_many(field, most));
        }
        // The first step may begin below all numbers of the type.
        let stored = |second: i128| {
            let number =
                per_second(field.logical).map_or(second.div_euclid(DAY), |per| second * i128::from(per));
            i64::try_from(number).unwrap_or(i64::MIN)
        };
        let (low, high) = (second(field, low), second(field, high));
        let (runs, starts) = self.runs(low, high, field.logical == LogicalType::Date);
        // From the first step that has numbers from `low` on.
        let runs = &runs[runs.partition_point(|(from, _)| *from <= low).saturating_sub(1)..];
        let first = runs.iter().map(|(_, step)| *step).min().unwrap_or_default();
        let starts: Vec<i64> = starts[first..].iter().map(|start| stored(*start)).collect();
        if starts.len() > most {
            return Err(too_many(field, most));
        }
        let ids = runs.iter().map(|(_, step)| u32::try_from(step - first).unwrap_or(u32::MAX)).collect();
        let runs: Vec<i64> = runs.iter().map(|(from, _)| stored(*from)).collect();
        Ok(if runs == starts { Steps::whole(runs) } else { Steps { runs, ids, starts } })
    }

    /// The runs of seconds in one step, with its index, and the first second of each step, up to the second `high`. Steps
    /// that have no second from `low` on may be left out.
    fn runs(&self, low: i128, high: i128, are_dates: bool) -> (Vec<(i128, usize)>, Vec<i128>) {
        // Begins before the step of `low`, so that each step begins where it does.
        let begin = self.first_of(self.number_of(low) - 1) - MAX_SHIFT;
        let zone = self.zone.as_ref().filter(|_| !are_dates);
        let periods = zone.map_or_else(|| vec![(begin, 0)], |zone| zone.periods(begin, high));
        let ends = periods[1..].iter().map(|(from, _)| *from).chain([high + 1]);
        let periods: Vec<_> = periods.iter().zip(ends).collect();
        let later = periods.iter().filter(|(_, until)| *until > low);
        let least = later.map(|((from, offset), _)| self.number_of(low.max(*from) + offset)).min();
        let mut runs: Vec<(i128, usize)> = Vec::new();
        let mut steps: Vec<(i128, i128)> = Vec::new();
        for ((from, offset), until) in periods {
            let first = self.number_of(from + offset).max(least.unwrap_or_default());
            for number in first..=self.number_of(until - 1 + offset) {
                let start = self.first_of(number) - offset;
                // A step of days goes on even where clocks show its beginning again.
                let goes_on = start < *from || self.unit.seconds().is_none();
                let last = steps.iter().rposition(|(other, _)| *other <= number);
                let same = last.filter(|at| goes_on && steps[*at].0 == number);
                let step = same.unwrap_or(steps.len());
                if step == steps.len() {
                    steps.push((number, start.max(*from)));
                }
                if runs.last().is_none_or(|(_, before)| *before != step) {
                    runs.push((start.max(*from), step));
                }
            }
        }
        (runs, steps.into_iter().map(|(_, start)| start).collect())
    }
}

/// The second of a number of a column, since 1970.
fn second(field: &Field, stored: i64) -> i128 {
    let stored = i128::from(stored);
    per_second(field.logical).map_or(stored * DAY, |per_second| stored.div_euclid(per_second.into()))
}
