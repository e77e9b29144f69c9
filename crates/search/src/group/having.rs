//! Conditions on the counts and metrics of groups, as SQL's `having`.

use docvalues_column::LogicalType;

use crate::error::{Error, Result};
use crate::metrics::{Layout, Measure, Metric, is_time};
use crate::query::{Condition, NumberTest, Query};

/// The name of the number of documents in a group.
const COUNT: &str = "count";

/// A condition, bound to the metrics of a request.
#[derive(Debug)]
pub(crate) enum Having {
    Constant(bool),
    /// A test of the count, or of the metric of this index.
    Test(Option<usize>, NumberTest),
    All(Vec<Having>),
    Any(Vec<Having>),
    Not(Box<Having>),
}

impl Having {
    /// Binds a condition. The types are those of the columns of the metrics; `None` if no part has the column.
    ///
    /// # Errors
    ///
    /// If it has a column that is not `count` and none of the metrics, or a test of something else than numbers.
    pub(crate) fn new(query: &Query, metrics: &[Metric], logicals: &[Option<LogicalType>]) -> Result<Having> {
        let all = |parts: &[Query]| {
            parts.iter().map(|part| Having::new(part, metrics, logicals)).collect::<Result<Vec<_>>>()
        };
        Ok(match query {
            Query::All => Having::Constant(true),
            Query::None => Having::Constant(false),
            Query::Condition(condition) => Having::test(condition, metrics, logicals)?,
            Query::And(parts) => Having::All(all(parts)?),
            Query::Or(parts) => Having::Any(all(parts)?),
            Query::Not(part) => Having::Not(Box::new(Having::new(part, metrics, logicals)?)),
            Query::Docs(_) | Query::Hits(_) => {
                return Err(Error::Request(
                    "expected a condition on counts and metrics, found a set of documents".into(),
                ));
            }
        })
    }

    fn test(condition: &Condition, metrics: &[Metric], logicals: &[Option<LogicalType>]) -> Result<Having> {
        let name = condition.column();
        if name == COUNT {
            return Ok(Having::Test(None, NumberTest::new(condition, None)?));
        }
        let at = metrics.iter().position(|metric| metric.name() == name);
        let Some((at, logical)) = at.and_then(|at| Some((at, *logicals.get(at)?))) else {
            let known: Vec<String> = metrics.iter().map(|metric| format!("`{}`", metric.name())).collect();
            let known = match known.as_slice() {
                [] => format!("`{COUNT}` or a metric such as `sum(size)`"),
                known => format!("`{COUNT}`, {}", known.join(", ")),
            };
            return Err(Error::Query(condition.refuse(format!("expected {known}, found `{name}`"))));
        };
        let logical = match (&metrics[at], logical) {
            (Metric::Distinct(_), _) => None,
            // Nothing is known of the literals' type.
            (_, None) => return Ok(Having::Test(Some(at), NumberTest::of_missing(condition))),
            (Metric::First(..) | Metric::Last(..), Some(logical)) if logical.is_bytes() => {
                let what = format!("expected a metric that is a number, found `{name}`");
                return Err(Error::Query(condition.refuse(what)));
            }
            (Metric::Sum(_), logical) => logical.filter(|logical| *logical == LogicalType::F64),
            (Metric::Mean(_), Some(logical)) if !is_time(logical) => Some(LogicalType::F64),
            (_, logical) => logical,
        };
        Ok(Having::Test(Some(at), NumberTest::new(condition, logical)?))
    }

    /// Whether the group of a row passes.
    pub(super) fn passes_row(&self, layout: &Layout, row: &[u64]) -> bool {
        self.passes(row[0], &|metric| layout.measure(row, metric, &[]))
    }

    /// Whether a group passes.
    pub(crate) fn passes(&self, count: u64, measure: &dyn Fn(usize) -> Option<Measure>) -> bool {
        match self {
            Having::Constant(passes) => *passes,
            Having::Test(None, test) => test.passes(Some(count.into())),
            Having::Test(Some(metric), test) => {
                test.passes(measure(*metric).and_then(|measure| measure.number()))
            }
            Having::All(parts) => parts.iter().all(|part| part.passes(count, measure)),
            Having::Any(parts) => parts.iter().any(|part| part.passes(count, measure)),
            Having::Not(part) => !part.passes(count, measure),
        }
    }
}
