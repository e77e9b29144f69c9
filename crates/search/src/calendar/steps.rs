//! The steps of the calendar between two numbers of a column.

use docvalues_column::{Field, LogicalType};

use super::CalendarStep;
use super::days::{first_day, unit_of};
use crate::error::{Error, Result};

const DAY: i128 = 86_400;

/// Longer than clocks are apart anywhere, at any time.
const MAX_SHIFT: i128 = 4 * DAY;

/// Steps, and the runs of adjacent numbers that are in one: the last has no end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The first number of each run, ascending.
    pub(crate) runs: Vec<i64>,
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

    /// The step of run `run`.
    #[inline]
    pub(crate) fn of_run(&self, run: usize) -> usize {
        self.ids.get(run).map_or(run, |id| *id as usize)
    }
}

/// The error for more than `most` steps.
pub(crate) fn too_many(field: &Field, most: usize) -> Error {
    let name = &field.name;
    Error::Request(format!("column \"{name}\" would need more than {most} buckets: choose a greater width"))
}

/// The numbers of a column per second; `None` for days.
pub(super) fn per_second(step: &CalendarStep, field: &Field) -> Result<Option<i64>> {
    let (name, ty) = (&field.name, field.logical.name());
    let per_second = match field.logical {
        LogicalType::Date => None,
        LogicalType::TimestampMillis => Some(1_000),
        LogicalType::TimestampMicros => Some(1_000_000),
        LogicalType::TimestampNanos => Some(1_000_000_000),
        _ => {
            return Err(Error::Request(format!(
                "column \"{name}\" is {ty}: expected a date or a timestamp for calendar units"
            )));
        }
    };
    if per_second.is_none() && (step.unit.seconds().is_some() || step.unit == super::Unit::HourOfDay) {
        return Err(Error::Request(format!("column \"{name}\" has days: expected a unit of at least a day")));
    }
    if step.count == 0 {
        return Err(Error::Request(format!(
            "column \"{name}\": expected a step of at least 1 unit, found 0"
        )));
    }
    Ok(per_second)
}

impl CalendarStep {
    /// The number of the step that contains a second on the clocks of the zone. Adjacent steps have adjacent numbers.
    fn number_of(&self, clock: i128) -> i128 {
        let unit = match self.unit.seconds() {
            Some(seconds) => clock.div_euclid(seconds),
            None => unit_of(self.unit, clock.div_euclid(DAY)),
        };
        unit.div_euclid(self.count.into())
    }

    /// The first second, on the clocks of the zone, of the step with this number.
    fn first_of(&self, number: i128) -> i128 {
        let unit = number * i128::from(self.count);
        self.unit.seconds().map_or_else(|| first_day(self.unit, unit) * DAY, |seconds| unit * seconds)
    }

    /// The steps from the one of `low` to the one of `high`, numbers of `field`; at most `most`.
    ///
    /// # Errors
    ///
    /// If there are more, or the column has no such steps.
    pub(crate) fn between(&self, field: &Field, low: i64, high: i64, most: usize) -> Result<Steps> {
        let per_second = per_second(self, field)?;
        let second = |stored: i64| match per_second {
            Some(per_second) => i128::from(stored).div_euclid(per_second.into()),
            None => i128::from(stored) * DAY,
        };
        // The first step may begin below all numbers of the type.
        let stored = |second: i128| {
            let number =
                per_second.map_or(second.div_euclid(DAY), |per_second| second * i128::from(per_second));
            i64::try_from(number).unwrap_or(i64::MIN)
        };
        let (low, high) = (second(low), second(high));
        if self.number_of(high) - self.number_of(low) > 2 * most as i128 {
            return Err(too_many(field, most));
        }
        // Begins before the step of `low`, so that each step begins where it does.
        let begin = self.first_of(self.number_of(low) - 1) - MAX_SHIFT;
        let periods = match (&self.zone, per_second) {
            (Some(zone), Some(_)) => zone.periods(begin, high),
            _ => vec![(begin, 0)],
        };
        let ends = periods[1..].iter().map(|(from, _)| *from).chain([high + 1]);
        let periods: Vec<_> = periods.iter().copied().zip(ends).collect();
        let (runs, starts) = self.runs(low, &periods);
        // From the first step that has numbers from `low` on.
        let first_run = runs.partition_point(|(from, _)| *from <= low).saturating_sub(1);
        let runs = &runs[first_run..];
        let first = runs.iter().map(|(_, step)| *step).min().unwrap_or_default();
        let starts: Vec<i64> = starts[first..].iter().map(|start| stored(*start)).collect();
        if starts.len() > most {
            return Err(too_many(field, most));
        }
        let ids = runs.iter().map(|(_, step)| u32::try_from(step - first).unwrap_or(u32::MAX));
        let runs: Vec<i64> = runs.iter().map(|(from, _)| stored(*from)).collect();
        if runs == starts {
            return Ok(Steps::whole(runs));
        }
        Ok(Steps { runs, ids: ids.collect(), starts })
    }

    /// The runs of seconds in one step, with its index, and the first second of each step. `periods` are those between
    /// changes of clocks, with their ends. Steps that have no second from `low` on may be left out.
    fn runs(&self, low: i128, periods: &[((i128, i128), i128)]) -> (Vec<(i128, usize)>, Vec<i128>) {
        let later = periods.iter().filter(|(_, until)| *until > low);
        let least = later.map(|((from, offset), _)| self.number_of(low.max(*from) + offset)).min();
        let (mut runs, mut steps): (Vec<(i128, usize)>, Vec<(i128, i128)>) = (Vec::new(), Vec::new());
        for &((from, offset), until) in periods {
            let first = self.number_of(from + offset).max(least.unwrap_or_default());
            for number in first..=self.number_of(until - 1 + offset) {
                let start = self.first_of(number) - offset;
                // A step of days goes on even where clocks show its beginning again.
                let goes_on = start < from || self.unit.seconds().is_none();
                let mut last = steps.iter().rposition(|(other, _)| *other <= number).filter(|_| goes_on);
                last = last.filter(|at| steps[*at].0 == number);
                let step = last.unwrap_or_else(|| {
                    steps.push((number, start.max(from)));
                    steps.len() - 1
                });
                if runs.last().is_none_or(|(_, before)| *before != step) {
                    runs.push((start.max(from), step));
                }
            }
        }
        (runs, steps.into_iter().map(|(_, start)| start).collect())
    }
}
