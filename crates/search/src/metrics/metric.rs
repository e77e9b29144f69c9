//! Metrics of documents, and their values.

use std::fmt::{self, Display};

use docvalues_column::{LogicalType, Value, promotion};
use docvalues_format::file::kind::from_f64;

use super::sum::Sum;

/// A metric of the documents of each group, over a column with at most one number a document.
///
/// NaN and documents without a value do not count; NaN is one of the [distinct](Self::Distinct) values, and may be that of
/// the [first](Self::First) document.
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_search::group::{Group, Measure, Metric};
/// use docvalues_search::{Docs, Search};
///
/// let group = Group::of("host").metric(Metric::Mean("size".into())).metric(Metric::Max("size".into()));
/// let found = Search::new(&source).group(Docs::All, &group)?;
/// let [mean, max] = &found.groups[0].metrics[..] else { panic!("two metrics") };
/// assert_eq!((mean, max), (&Some(Measure::Mean(291.0)), &Some(Measure::Value(512_i64.into()))));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Metric {
    /// The sum: exact for integers, compensated for doubles.
    Sum(String),
    /// The least number.
    Min(String),
    /// The greatest number.
    Max(String),
    /// The mean. That of dates or timestamps is one, too, rounded down.
    Mean(String),
    /// The exact number of distinct values, of a column of any kind. -0.0 and 0.0 are one value. Takes 20 to 40 bytes
    /// for each distinct pair of group and value.
    Distinct(String),
    /// A percentile from 0 to 100: the least number such that at least that share of the numbers is not greater. Exact;
    /// takes 12 to 24 bytes for each document with a number.
    ///
    /// ```
    /// # use docvalues_column::{Field, Kind, LogicalType};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// # let numbers = |name: &str, numbers: [i64; 5]| {
    /// #     let field = Field::new(name, Kind::Numeric, LogicalType::I64);
    /// #     (field, ModelColumn::Numeric(numbers.map(Some).to_vec()))
    /// # };
    /// # let source = MemSource::new(5, [numbers("host", [1; 5]), numbers("ms", [30, 10, 40, 20, 99])]);
    /// use docvalues_search::group::{Group, Metric};
    /// use docvalues_search::{Docs, Search};
    ///
    /// let group = Group::of("host").metric(Metric::Percentile("ms".into(), 50.0));
    /// let found = Search::new(&source).group(Docs::All, &group)?;
    /// let median = found.groups[0].metrics[0].as_ref().and_then(|median| median.value());
    /// assert_eq!(median, Some(&30_i64.into()));
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    Percentile(String, #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))] f64),
    /// The value of a column in the first document by another one, the key: of the documents with a value in both, that with
    /// the least key, and the first of several. The column has at most one value a document, and the key at most one number.
    First(String, String),
    /// The value of a column in the last document by a key: as [`First`](Self::First), with the greatest key, and of several
    /// documents the last.
    Last(String, String),
}

/// The value of a [`Metric`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// A [`Metric::Min`], [`Metric::Max`], [`Metric::Percentile`], [`Metric::First`] or [`Metric::Last`], or a
    /// [`Metric::Mean`] of dates or timestamps.
    Value(Value),
    /// A [`Metric::Sum`] of the stored numbers, as in [`stats`](crate::stats).
    Sum(Sum),
    /// A [`Metric::Mean`] of numbers.
    Mean(f64),
    /// A [`Metric::Distinct`].
    Distinct(u64),
}

impl Measure {
    /// The value of a metric that is one of the column's values, such as [`Metric::Min`] or [`Metric::Percentile`].
    pub fn value(&self) -> Option<&Value> {
        if let Measure::Value(value) = self { Some(value) } else { None }
    }

    /// The value of a [`Metric::Sum`].
    pub fn sum(&self) -> Option<Sum> {
        if let Measure::Sum(sum) = self { Some(*sum) } else { None }
    }

    /// The nearest double; `None` of a value that is no integer or double, such as a date.
    ///
    /// ```
    /// use docvalues_search::group::Measure;
    ///
    /// let (greatest, count) = (Measure::Value(512_i64.into()), Measure::Distinct(3));
    /// assert_eq!((greatest.to_f64(), count.to_f64()), (Some(512.0), Some(3.0)));
    /// assert_eq!(greatest.to_string(), "512");
    /// ```
    #[expect(clippy::cast_precision_loss, reason = "that is what is asked for")]
    pub fn to_f64(&self) -> Option<f64> {
        match *self {
            Measure::Value(Value::I64(value)) => Some(value as f64),
            Measure::Value(Value::U64(value)) | Measure::Distinct(value) => Some(value as f64),
            Measure::Value(Value::F64(value)) | Measure::Mean(value) => Some(value),
            Measure::Sum(sum) => Some(sum.to_f64()),
            Measure::Value(_) => None,
        }
    }

    /// A number in the order of the measures of a metric: an integer, or a double as it is stored. −0.0 counts as 0.0.
    pub(crate) fn number(&self) -> Option<i128> {
        Some(match *self {
            Measure::Value(ref value) => value.stored()?.into(),
            Measure::Sum(Sum::Integer(sum)) => sum,
            // Adding 0.0 turns −0.0 into 0.0.
            Measure::Sum(Sum::Double(number)) | Measure::Mean(number) => from_f64(number + 0.0).into(),
            Measure::Distinct(count) => count.into(),
        })
    }

    /// The [`number`](Self::number) by which groups are ordered: greater ones come first, and `None`, also for NaN, last.
    pub(crate) fn order(&self) -> Option<i128> {
        match self {
            Measure::Sum(Sum::Double(number)) | Measure::Mean(number) if number.is_nan() => None,
            _ => self.number(),
        }
    }
}

/// Whether values of a type are dates or timestamps, so that their mean is one, too.
pub(crate) fn is_time(logical: LogicalType) -> bool {
    logical == LogicalType::Date || promotion::per_second(logical).is_some()
}

impl Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Value(value) => value.fmt(f),
            Measure::Sum(sum) => sum.fmt(f),
            Measure::Mean(mean) => mean.fmt(f),
            Measure::Distinct(count) => count.fmt(f),
        }
    }
}

impl Metric {
    /// The column that the metric is computed from.
    pub fn column(&self) -> &str {
        match self {
            Metric::Sum(column)
            | Metric::Min(column)
            | Metric::Max(column)
            | Metric::Mean(column)
            | Metric::Distinct(column)
            | Metric::Percentile(column, _)
            | Metric::First(column, _)
            | Metric::Last(column, _) => column,
        }
    }

    /// The column of the key of a [`First`](Self::First) or [`Last`](Self::Last).
    pub fn key(&self) -> Option<&str> {
        if let Metric::First(_, key) | Metric::Last(_, key) = self { Some(key) } else { None }
    }

    /// The name of the metric: `sum(size)`, `p99(size)`, `first(url by time)`.
    ///
    /// ```
    /// use docvalues_search::group::Metric;
    ///
    /// let metric = Metric::Percentile("size".into(), 99.9);
    /// assert_eq!(metric.name(), "p99.9(size)");
    /// assert_eq!(Metric::from_name("p99.9(size)"), Some(metric));
    /// let metric = Metric::Last("status".into(), "time".into());
    /// assert_eq!(metric.name(), "last(status by time)");
    /// ```
    pub fn name(&self) -> String {
        let column = self.column();
        match self {
            Metric::Sum(_) => format!("sum({column})"),
            Metric::Min(_) => format!("min({column})"),
            Metric::Max(_) => format!("max({column})"),
            Metric::Mean(_) => format!("mean({column})"),
            Metric::Distinct(_) => format!("distinct({column})"),
            Metric::Percentile(_, percentile) => format!("p{percentile}({column})"),
            Metric::First(_, key) => format!("first({column} by {key})"),
            Metric::Last(_, key) => format!("last({column} by {key})"),
        }
    }

    /// The metric of this [name](Self::name), if there is one.
    pub fn from_name(name: &str) -> Option<Metric> {
        let (function, of) = name.strip_suffix(')')?.split_once('(')?;
        let (column, key) = match function {
            "first" | "last" => of.rsplit_once(" by ")?,
            _ => (of, ""),
        };
        let (column, key) = (column.to_owned(), key.to_owned());
        Some(match function {
            "sum" => Metric::Sum(column),
            "min" => Metric::Min(column),
            "max" => Metric::Max(column),
            "mean" => Metric::Mean(column),
            "distinct" => Metric::Distinct(column),
            "first" => Metric::First(column, key),
            "last" => Metric::Last(column, key),
            _ => Metric::Percentile(column, percentile(function)?),
        })
    }

    /// Whether a word, in any case, names a metric of a column before a parenthesis.
    pub(crate) fn is_function(word: &str) -> bool {
        let names = ["sum", "min", "max", "mean", "distinct", "first", "last"];
        names.iter().any(|name| name.eq_ignore_ascii_case(word)) || percentile(word).is_some()
    }

    /// The index of the metric that has the state of metric `at` in partial results: the first of equal metrics, and of
    /// percentiles of a column.
    pub(crate) fn state_of(metrics: &[Metric], at: usize) -> usize {
        let shares = |other: &Metric| match (other, &metrics[at]) {
            (Metric::Percentile(column, _), Metric::Percentile(of, _)) => column == of,
            (other, metric) => other == metric,
        };
        metrics[..at].iter().position(shares).unwrap_or(at)
    }
}

/// The percentile of a function such as `p99.9`, if it is written in the one way that a [name](Metric::name) has.
fn percentile(function: &str) -> Option<f64> {
    let digits = function.strip_prefix(['p', 'P'])?;
    let percentile = digits.parse::<f64>().ok()?;
    ((0.0..=100.0).contains(&percentile) && percentile.to_string() == digits).then_some(percentile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_one_name() {
        for metric in [
            Metric::Distinct("a b".into()),
            Metric::Percentile("a(b)".into(), 99.99),
            Metric::Percentile("a".into(), 0.0),
            Metric::Percentile("a".into(), 100.0),
            Metric::First("a by b".into(), "c".into()),
            Metric::Last("a".into(), "b".into()),
        ] {
            let name = metric.name();
            assert!(Metric::is_function(name.split('(').next().unwrap()), "{name}");
            assert_eq!(Metric::from_name(&name), Some(metric), "{name}");
        }
        for name in
            ["p(a)", "p101(a)", "p-1(a)", "p1e1(a)", "p050(a)", "p5.0(a)", "pinf(a)", "first(a)", "p5"]
        {
            assert_eq!(Metric::from_name(name), None, "{name}");
        }
    }
}
