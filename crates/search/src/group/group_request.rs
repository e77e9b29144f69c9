//! [`Group`]: a request to group documents.

use docvalues_column::SortKey;

use crate::calendar::CalendarStep;
use crate::error::{Error, Result};
use crate::metrics::{Metric, check_percentile};
use crate::query::Query;

/// A request to group documents by the values of a column.
///
/// ```
/// use docvalues_column::SortKey;
/// use docvalues_search::group::{Group, GroupOrder, Metric};
///
/// // The ten hosts that sent most, with the three largest requests of each.
/// let group = Group::of("host")
///     .metric(Metric::Sum("size".into()))
///     .order(GroupOrder::Metric(0))
///     .sort([SortKey::of("size").descending()])
///     .docs(3);
/// assert_eq!(group.top, 10);
/// ```
#[doc(alias = "GroupingSearch")]
#[doc(alias = "collapse")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[must_use]
pub struct Group {
    /// The columns, one or more: numeric, sorted or binary.
    pub by: Vec<String>,
    /// Calendar steps of dates and timestamps to group by instead of their values, each with the index in
    /// [`by`](Self::by) of its column.
    pub steps: Vec<(usize, CalendarStep)>,
    /// A condition on the groups to return, if any: on `count`, and on the [metrics](Self::metrics) by their
    /// [names](Metric::name), such as `sum(size)`.
    #[cfg_attr(feature = "serde", serde(with = "crate::query::serial"))]
    pub having: Option<Query>,
    /// The most groups to return.
    pub top: usize,
    /// The order of the groups, which decides which are returned.
    pub order: GroupOrder,
    /// The most documents to return for each group.
    pub docs: usize,
    /// The order of the documents in a group. Ties are ordered by document id.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::sort_keys"))]
    pub sort: Vec<SortKey>,
    /// Metrics to compute for each group.
    pub metrics: Vec<Metric>,
    /// Whether documents without a value in a column are grouped, too, as if that were a value after all others.
    pub with_missing: bool,
}

/// The order of groups: [`Group::order`]. Ties are ordered by ascending value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum GroupOrder {
    /// By descending count.
    #[default]
    Count,
    /// By ascending value.
    Value,
    /// By the best document of each group in the order of [`Group::sort`].
    Best,
    /// By a descending metric, given by its index in [`Group::metrics`]. Groups without a metric come last, and those with
    /// a string.
    Metric(usize),
}

impl Group {
    /// Requests the ten most frequent values of `column`.
    pub fn of(column: impl Into<String>) -> Group {
        Group {
            by: vec![column.into()],
            steps: Vec::new(),
            having: None,
            top: 10,
            order: GroupOrder::Count,
            docs: 0,
            sort: Vec::new(),
            metrics: Vec::new(),
            with_missing: false,
        }
    }

    /// Groups by another column as well: documents of a group have equal values in all columns.
    pub fn and(mut self, column: impl Into<String>) -> Group {
        self.by.push(column.into());
        self
    }

    /// Groups by calendar steps of the last column instead of its values: a group has the first moment of its step as
    /// value or, of hours of the day and weekdays, their number. There are at most 2^20 steps between the least and the
    /// greatest value of the column.
    ///
    /// ```
    /// # use docvalues_column::{Field, Kind, LogicalType};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// # let at = Field::new("at", Kind::Numeric, LogicalType::TimestampMillis);
    /// # let times = [1_711_839_600_000_i64, 1_711_846_800_000, 1_711_926_000_000]; // 00:00, 03:00; the next day, 01:00
    /// # let source = MemSource::new(3, [(at, ModelColumn::Numeric(times.map(Some).to_vec()))]);
    /// use docvalues_search::calendar::{CalendarStep, TimeZone, Unit};
    /// use docvalues_search::group::Group;
    /// use docvalues_search::{Docs, Search, Value};
    ///
    /// // On 2024-03-31, clocks in Berlin went from 2:00 to 3:00.
    /// let day = CalendarStep::of(Unit::Day).zone(TimeZone::get("Europe/Berlin")?);
    /// let found = Search::new(&source).group(Docs::All, &Group::of("at").every(day))?;
    /// let groups: Vec<_> = found.groups.iter().map(|group| (group.values[0].clone(), group.count)).collect();
    /// let start = |millis| Some(Value::of(LogicalType::TimestampMillis, millis));
    /// assert_eq!(groups, [(start(1_711_839_600_000), 2), (start(1_711_922_400_000), 1)]);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn every(mut self, step: impl Into<CalendarStep>) -> Group {
        self.steps.push((self.by.len().saturating_sub(1), step.into()));
        self
    }

    /// The calendar step of the column at index `at`.
    pub(crate) fn step(&self, at: usize) -> Option<&CalendarStep> {
        self.steps.iter().find(|(of, _)| *of == at).map(|(_, step)| step)
    }

    /// Groups documents without a value in a column, too, as if that were a value after all others.
    ///
    /// ```
    /// # use docvalues_column::{Field, Kind, LogicalType};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// # let status = Field::new("status", Kind::Numeric, LogicalType::I64);
    /// # let statuses = ModelColumn::Numeric(vec![Some(200), None, Some(200), None, None]);
    /// # let source = MemSource::new(5, [(status, statuses)]);
    /// use docvalues_search::group::Group;
    /// use docvalues_search::{Docs, Search, Value};
    ///
    /// let found = Search::new(&source).group(Docs::All, &Group::of("status").with_missing())?;
    /// let groups: Vec<_> = found.groups.iter().map(|group| (&group.values[0], group.count)).collect();
    /// assert_eq!(groups, [(&None, 3), (&Some(Value::I64(200)), 2)]);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn with_missing(self) -> Group {
        Group { with_missing: true, ..self }
    }

    /// Sets the condition on the groups to return.
    ///
    /// ```
    /// use docvalues_search::Query;
    /// use docvalues_search::group::{Group, Metric};
    ///
    /// let many = Query::parse("count >= 10 and sum(size) > 1MB")?;
    /// let group = Group::of("host").metric(Metric::Sum("size".into())).having(many);
    /// # assert!(group.having.is_some());
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn having(self, condition: Query) -> Group {
        Group { having: Some(condition), ..self }
    }

    /// Sets the most groups to return.
    pub fn top(self, top: usize) -> Group {
        Group { top, ..self }
    }

    /// Sets the order of the groups.
    pub fn order(self, order: GroupOrder) -> Group {
        Group { order, ..self }
    }

    /// Sets the most documents to return for each group.
    pub fn docs(self, docs: usize) -> Group {
        Group { docs, ..self }
    }

    /// Sets the order of the documents in a group.
    pub fn sort(self, keys: impl IntoIterator<Item = SortKey>) -> Group {
        Group { sort: keys.into_iter().collect(), ..self }
    }

    /// Adds a metric.
    pub fn metric(mut self, metric: Metric) -> Group {
        self.metrics.push(metric);
        self
    }
}

/// Validates a request: there is a column to group by, the order's metric exists, percentiles are from 0 to 100, and
/// neither they nor a condition nor distinct values are combined with the order of best documents.
pub(crate) fn validate(group: &Group) -> Result<()> {
    let mut needs_all = group.having.as_ref().map(|_| "a condition on groups");
    for metric in &group.metrics {
        needs_all = needs_all.or(match metric {
            Metric::Distinct(_) => Some("distinct values in groups"),
            Metric::Percentile(_, p) => check_percentile(*p).map(|()| Some("percentiles of groups"))?,
            _ => None,
        });
    }
    let wrong = match (group.order, needs_all) {
        (GroupOrder::Best, Some(what)) => {
            format!("expected order count, value or metric with {what}, found best")
        }
        _ if group.by.is_empty() => "expected a column to group by, found none".into(),
        _ if group.steps.iter().any(|(at, _)| *at >= group.by.len()) => {
            "expected calendar steps of columns to group by".into()
        }
        (GroupOrder::Metric(metric), _) if metric >= group.metrics.len() => {
            let metrics = group.metrics.len();
            format!("expected one of {metrics} metrics as order of groups, found metric {metric}")
        }
        _ => return Ok(()),
    };
    Err(Error::Request(wrong))
}
