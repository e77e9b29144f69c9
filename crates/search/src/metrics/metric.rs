//! Metrics of documents, and their values.

use std::fmt::{self, Display};

use docvalues_column::Value;

use super::sum::Sum;

/// A metric of the documents of each group, over a column with at most one number a document.
///
/// NaN and documents without a value do not count; NaN is one of the [distinct](Self::Distinct) values.
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Metric {
    /// The sum: exact for integers, compensated for doubles.
    Sum(String),
    /// The least number.
    Min(String),
    /// The greatest number.
    Max(String),
    /// The mean.
    Mean(String),
    /// The exact number of distinct values, of a column of any kind. -0.0 and 0.0 are one value. Takes 20 to 40 bytes
    /// for each distinct pair of group and value.
    Distinct(String),
}

/// The value of a [`Metric`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// A [`Metric::Min`] or [`Metric::Max`].
    Value(Value),
    /// A [`Metric::Sum`] of the stored numbers, as in [`stats`](crate::stats).
    Sum(Sum),
    /// A [`Metric::Mean`].
    Mean(f64),
    /// A [`Metric::Distinct`].
    Distinct(u64),
}

impl Measure {
    /// The value of a [`Metric::Min`] or [`Metric::Max`].
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
            | Metric::Distinct(column) => column,
        }
    }

    /// The name of the metric: `sum(size)`.
    ///
    /// ```
    /// use docvalues_search::group::Metric;
    ///
    /// let metric = Metric::Sum("size".into());
    /// assert_eq!(metric.name(), "sum(size)");
    /// assert_eq!(Metric::from_name("sum(size)"), Some(metric));
    /// ```
    pub fn name(&self) -> String {
        let function = match self {
            Metric::Sum(_) => "sum",
            Metric::Min(_) => "min",
            Metric::Max(_) => "max",
            Metric::Mean(_) => "mean",
            Metric::Distinct(_) => "distinct",
        };
        format!("{function}({})", self.column())
    }

    /// The metric of this [name](Self::name), if there is one.
    pub fn from_name(name: &str) -> Option<Metric> {
        let (function, column) = name.strip_suffix(')')?.split_once('(')?;
        let of: fn(String) -> Metric = match function {
            "sum" => Metric::Sum,
            "min" => Metric::Min,
            "max" => Metric::Max,
            "mean" => Metric::Mean,
            "distinct" => Metric::Distinct,
            _ => return None,
        };
        Some(of(column.to_owned()))
    }
}
