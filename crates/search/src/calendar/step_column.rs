//! A virtual column of the calendar steps that the times of another column are in: the first number of each or, if they
//! recur, hours of the day and weekdays.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, DocRange, Each, Field, Gathered, LogicalType,
    Result as ColumnResult, Rows, Values, bits, scan_by_gather,
};

use super::steps::{Steps, per_second};
use super::{CalendarStep, Unit};
use crate::engine::ColumnSet;
use crate::error::{Error, Result};

/// The most steps between the bounds of a column: 8 MiB.
const MAX_STEPS: usize = 1 << 20;

/// The steps of the times of a column.
struct StepColumn {
    inner: Arc<dyn Column>,
    info: ColumnInfo,
    step_of: Arc<StepOf>,
}

/// From a time to its step.
enum StepOf {
    /// Its first number.
    Start(Steps),
    /// The hour that clocks show.
    Hour(Clocks),
    /// The weekday.
    Weekday(Clocks),
}

/// The clocks of a zone, for the numbers of a column.
struct Clocks {
    /// Numbers per second; `None` for days.
    per_second: Option<i64>,
    /// The first number of each period between changes, ascending, and the seconds by which clocks are ahead of UTC.
    periods: Vec<(i64, i64)>,
}

/// Numbers that follow each other in time often have one step, or one period: its first number, the one after its last,
/// and the step, or the seconds.
type Last = (i64, i64, i64);

impl CalendarStep {
    /// The description of a column's steps.
    pub(crate) fn field(&self, field: &Field) -> Field {
        let name = format!("{self}({})", field.name);
        match self.recurs() {
            true => Field { name, logical: LogicalType::I64, format: None, ..field.clone() },
            false => Field { name, ..field.clone() },
        }
    }
}

/// The steps of the times of a column, in all parts.
///
/// # Errors
///
/// If a document may have several times, the column has no such steps, or there are more than [`MAX_STEPS`].
pub(crate) fn column_set(set: &ColumnSet, step: &CalendarStep) -> Result<ColumnSet> {
    let info = set.info();
    if set.is_absent() {
        return Ok(ColumnSet::new(info.field.clone(), set.parts.clone()));
    }
    if info.is_multi_valued() {
        let cannot = "may have several values a document, which may be in several steps";
        return Err(Error::Kind { field: info.field.name.clone(), kind: info.field.kind, cannot });
    }
    let (field, bounds) = (step.field(&info.field), info.bounds.range());
    let (step_of, bounds) = if bounds.is_empty() {
        (StepOf::Start(Steps::default()), Bounds::NONE)
    } else {
        StepOf::new(step, &info.field, *bounds.start(), *bounds.end())?
    };
    let step_of = Arc::new(step_of);
    let part = |inner: &Arc<dyn Column>| {
        let info = inner.info().clone();
        let info = ColumnInfo { field: field.clone(), bounds: bounds.clone(), sum: None, ..info };
        let (inner, step_of) = (Arc::clone(inner), Arc::clone(&step_of));
        Arc::new(StepColumn { inner, info, step_of }) as Arc<dyn Column>
    };
    Ok(ColumnSet::new(field.clone(), set.parts.iter().map(part).collect()))
}

impl StepOf {
    /// For numbers of `field` from `low` to `high`, with the bounds of their steps.
    fn new(step: &CalendarStep, field: &Field, low: i64, high: i64) -> Result<(StepOf, Bounds)> {
        if !step.recurs() {
            let steps = step.between(field, low, high, MAX_STEPS)?;
            let ends = steps.starts().first().zip(steps.starts().last());
            let bounds = ends.map_or(Bounds::NONE, |(first, last)| Bounds::Within(*first..=*last));
            return Ok((StepOf::Start(steps), bounds));
        }
        let clocks = Clocks::new(step, field, low, high)?;
        Ok(match step.unit {
            Unit::HourOfDay => (StepOf::Hour(clocks), Bounds::Within(0..=23)),
            _ => (StepOf::Weekday(clocks), Bounds::Within(1..=7)),
        })
    }

    #[inline]
    fn step(&self, number: i64, last: &mut Last) -> i64 {
        match self {
            StepOf::Start(steps) => {
                if !(last.0..last.1).contains(&number) {
                    let (run, (from, until)) = run_of(&steps.runs, number);
                    let start = steps.starts().get(steps.of_run(run)).copied();
                    *last = (from, until, start.unwrap_or(number));
                }
                last.2
            }
            StepOf::Hour(clocks) => clocks.show(number, last).1,
            // 1970-01-01 was a Thursday.
            StepOf::Weekday(clocks) => (clocks.show(number, last).0.rem_euclid(7) + 3) % 7 + 1,
        }
    }
}

/// The run of a number, of those that begin with `runs`; its first number and the one after its last.
fn run_of(runs: &[i64], number: i64) -> (usize, (i64, i64)) {
    let after = runs.partition_point(|from| *from <= number).max(1);
    let from = runs.get(after - 1).copied().unwrap_or(number);
    (after - 1, (from, runs.get(after).copied().unwrap_or(i64::MAX)))
}

impl Clocks {
    fn new(step: &CalendarStep, field: &Field, low: i64, high: i64) -> Result<Clocks> {
        let per_second = per_second(step, field)?;
        let periods = match (&step.zone, per_second) {
            (Some(zone), Some(per)) => {
                let found = zone.periods(low.div_euclid(per).into(), high.div_euclid(per).into()).into_iter();
                let stored = |second: i128| i64::try_from(second * i128::from(per)).unwrap_or(i64::MIN);
                found
                    .map(|(from, offset)| (stored(from), i64::try_from(offset).unwrap_or_default()))
                    .collect()
            }
            _ => vec![(low, 0)],
        };
        Ok(Clocks { per_second, periods })
    }

    /// The day since 1970 and the hour that clocks show.
    #[inline]
    fn show(&self, number: i64, last: &mut Last) -> (i64, i64) {
        let Some(per_second) = self.per_second else { return (number, 0) };
        if !(last.0..last.1).contains(&number) {
            let after = self.periods.partition_point(|(from, _)| *from <= number).max(1);
            let (from, offset) = self.periods.get(after - 1).copied().unwrap_or((number, 0));
            *last = (from, self.periods.get(after).map_or(i64::MAX, |(next, _)| *next), offset);
        }
        let second = number.div_euclid(per_second) + last.2;
        (second.div_euclid(86_400), second.rem_euclid(86_400) / 3_600)
    }
}

impl Column for StepColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> ColumnResult<()> {
        self.inner.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }

    fn is_absent(&self) -> bool {
        self.inner.is_absent()
    }
}

impl Rows<i64> for StepColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> ColumnResult<()> {
        let Some(rows) = self.inner.values().numbers() else { return Ok(()) };
        let mut own = Gathered::new();
        rows.gather(docs, &mut own)?;
        let fill = out.fill();
        let (steps, mut presence) = out.begin_one(docs.len());
        // Empty: the first number is looked up.
        let mut last = (0, 0, 0);
        for (at, step) in steps.iter_mut().enumerate() {
            match own.present() {
                Some(present) if !bits::get(present, at) => {
                    *step = fill;
                    presence.mark(at, false);
                }
                _ => *step = self.step_of.step(own.values()[at], &mut last),
            }
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> ColumnResult<()> {
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }
}
