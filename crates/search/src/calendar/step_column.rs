//! A virtual column of the calendar steps that the times of another column are in: the first number of each or, if they
//! recur, hours of the day and weekdays.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::promotion::per_second;
use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, DocRange, Each, Field, Gathered, LogicalType,
    Result as ColumnResult, Rows, Values, scan_by_gather,
};

use super::steps::{LastRun, Steps};
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
struct StepOf {
    /// Steps or, if they recur, periods between changes of clocks.
    runs: Steps,
    /// The value of each: the first number of a step, or the seconds by which clocks are ahead of UTC.
    values: Vec<i64>,
    /// Steps that recur, and the numbers of the column in a second, or 0 if it has days.
    recurs: Option<(Unit, i64)>,
}

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
        return Err(Error::kind(&info.field, cannot));
    }
    let (field, bounds) = (step.field(&info.field), info.bounds.range());
    let step_of = Arc::new(StepOf::new(step, &info.field, bounds)?);
    let bounds = step_of.bounds();
    let part = |inner: &Arc<dyn Column>| {
        let info = inner.info().clone();
        let info = ColumnInfo { field: field.clone(), bounds: bounds.clone(), sum: None, ..info };
        let (inner, step_of) = (Arc::clone(inner), Arc::clone(&step_of));
        Arc::new(StepColumn { inner, info, step_of }) as Arc<dyn Column>
    };
    Ok(ColumnSet::new(field.clone(), set.parts.iter().map(part).collect()))
}

impl StepOf {
    fn new(step: &CalendarStep, field: &Field, bounds: RangeInclusive<i64>) -> Result<StepOf> {
        let (low, high) = if bounds.is_empty() { (0, 0) } else { bounds.into_inner() };
        if !step.recurs() {
            let runs = step.between(field, low, high, MAX_STEPS)?;
            return Ok(StepOf { values: runs.starts().to_vec(), runs, recurs: None });
        }
        step.check(field)?;
        let per = per_second(field.logical);
        let zone = step.zone.as_ref().zip(per);
        let periods = zone.map_or_else(Vec::new, |(zone, per)| {
            let stored = |second: i128| i64::try_from(second * i128::from(per)).unwrap_or(i64::MIN);
            let periods = zone.periods(low.div_euclid(per).into(), high.div_euclid(per).into());
            let seconds = |offset: i128| i64::try_from(offset).unwrap_or_default();
            periods.into_iter().map(|(from, offset)| (stored(from), seconds(offset))).collect()
        });
        let (runs, values) = periods.into_iter().unzip();
        Ok(StepOf { runs: Steps::whole(runs), values, recurs: Some((step.unit, per.unwrap_or(0))) })
    }

    /// The bounds of all steps.
    fn bounds(&self) -> Bounds {
        match (self.recurs, self.values.first().zip(self.values.last())) {
            (Some((Unit::HourOfDay, _)), _) => Bounds::Within(0..=23),
            (Some(_), _) => Bounds::Within(1..=7),
            (None, ends) => ends.map_or(Bounds::NONE, |(first, last)| Bounds::Within(*first..=*last)),
        }
    }

    #[inline]
    fn step(&self, number: i64, last: &mut LastRun) -> i64 {
        let value = self.runs.find(number, last).and_then(|run| self.values.get(run).copied());
        let Some((unit, per_second)) = self.recurs else { return value.unwrap_or(number) };
        let second = number.checked_div_euclid(per_second).map(|second| second + value.unwrap_or(0));
        match (unit, second) {
            (Unit::HourOfDay, second) => second.unwrap_or(0).rem_euclid(86_400) / 3_600,
            // 1970-01-01 was a Thursday.
            (_, second) => {
                (second.map_or(number, |second| second.div_euclid(86_400)).rem_euclid(7) + 3) % 7 + 1
            }
        }
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
        let mut last = LastRun::default();
        for (at, to) in steps.iter_mut().enumerate() {
            let step = own.value(at).map(|number| self.step_of.step(number, &mut last));
            *to = step.unwrap_or(fill);
            presence.mark(at, step.is_some());
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> ColumnResult<()> {
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }
}
