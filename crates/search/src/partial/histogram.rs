//! Partial histograms.

use super::column::PartialColumn;
use super::facet::{ValueCounts, all_values};
use super::{check_same, measure};
use crate::engine::{DocsByPart, Request, Search, memory};
use crate::error::{Error, Result};
use crate::histogram::{Bucket, BucketCounter, Buckets, Histogram, HistogramCounts};
use crate::metrics::{Measure, MeasureState, merge_sorted};

/// A histogram over some parts: the buckets with values. See [the module](super).
///
/// It takes about 100 bytes a bucket, and 32 for each metric; for a facet, 32 for each value in each bucket, and the
/// bytes of terms.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::histogram::{Histogram, Step};
/// use docvalues_search::{Docs, Parts, Search};
///
/// # let of = |sizes: &[i64]| {
/// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// #     let sizes: Vec<_> = sizes.iter().copied().map(Some).collect();
/// #     Parts::new([Part::new(MemSource::new(sizes.len() as u32, [(field, ModelColumn::Numeric(sizes))]))])
/// # };
/// # let (here, there) = (of(&[7, 8]), of(&[25, 8]));
/// // The sizes are 7 and 8 here, 25 and 8 there.
/// let histogram = Histogram::of("size", Step::Whole(10));
/// let here = Search::over(&here).partial_histogram(Docs::All, &histogram)?;
/// let there = Search::over(&there).partial_histogram(Docs::All, &histogram)?;
/// let found = here.merge(there)?.finish()?;
/// let buckets: Vec<_> = found.buckets.iter().map(|bucket| (bucket.from, bucket.count)).collect();
/// assert_eq!(buckets, [(0, 3), (10, 0), (20, 1)]);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct PartialHistogram {
    histogram: Histogram,
    column: PartialColumn,
    /// The columns of the metrics.
    metrics: Vec<PartialColumn>,
    /// The column of the facet.
    facet: Option<PartialColumn>,
    /// The buckets with values, ascending.
    buckets: Vec<PartialBucket>,
    docs: u64,
    missing: u64,
    outside: u64,
}

/// A bucket with values.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PartialBucket {
    from: i64,
    count: u64,
    measures: Vec<Option<MeasureState>>,
    facet: Option<ValueCounts>,
}

impl PartialHistogram {
    /// [`Search::partial_histogram`].
    pub(super) fn of(
        search: &Search<'_>,
        docs: DocsByPart<'_>,
        histogram: &Histogram,
    ) -> Result<PartialHistogram> {
        let column = |name: &str| PartialColumn::open(search, name);
        let mut request = Request::open(search, docs)?;
        let mut partial = PartialHistogram {
            histogram: histogram.clone(),
            column: column(&histogram.column)?.of_step(histogram.step.recurring()),
            metrics: histogram.metrics.iter().map(|metric| column(metric.column())).collect::<Result<_>>()?,
            facet: histogram.facet.as_ref().map(|facet| column(&facet.column)).transpose()?,
            buckets: Vec::new(),
            docs: request.hits(),
            missing: request.hits(),
            outside: 0,
        };
        // The step need not fit the type that is assumed for the column.
        if partial.column.is_absent() {
            return Ok(partial);
        }
        let mut left = search.pass_memory();
        let facet = histogram.facet.as_ref().map(|facet| all_values(facet, left));
        let counter = BucketCounter::new(&mut request, &Histogram { facet, ..histogram.clone() }, left)?;
        let buckets = &mut partial.buckets;
        let rest = request.run(counter)?.each_found(&request, |from, count, measures, facet| {
            let bytes = size_of::<PartialBucket>() + size_of_val(measures.as_slice());
            memory::limit(bytes, left)?;
            left -= bytes;
            let facet = facet.map(|facet| ValueCounts::new(facet, &mut left)).transpose()?;
            buckets.push(PartialBucket { from, count, measures, facet });
            Ok(())
        })?;
        [partial.docs, partial.missing, partial.outside] = rest;
        Ok(partial)
    }

    /// The histogram of the documents of both. O(buckets), and O(values) of their facets.
    ///
    /// # Errors
    ///
    /// If the requests differ, or the kinds or types of a column.
    pub fn merge(self, other: PartialHistogram) -> Result<PartialHistogram> {
        let PartialHistogram { histogram, column, metrics, facet, buckets, docs, missing, outside } = self;
        check_same(&histogram.column, &histogram, &other.histogram)?;
        Ok(PartialHistogram {
            column: column.merge(other.column)?,
            metrics: PartialColumn::merge_all(metrics, other.metrics)?,
            facet: facet.zip(other.facet).map(|(a, b)| a.merge(b)).transpose()?,
            buckets: merge_sorted(buckets, other.buckets, |bucket| &bucket.from, PartialBucket::merge),
            docs: docs.saturating_add(other.docs),
            missing: missing.saturating_add(other.missing),
            outside: outside.saturating_add(other.outside),
            histogram,
        })
    }

    /// The answer, with empty buckets between the first and the last one with values. O(buckets).
    ///
    /// # Errors
    ///
    /// If there are more than [`MAX_BUCKETS`](crate::histogram::MAX_BUCKETS) buckets, they would take more than 256 MiB
    /// if they were empty, or the step is not one for the column's type.
    pub fn finish(mut self) -> Result<HistogramCounts> {
        let field = self.column.field.clone();
        let found = std::mem::take(&mut self.buckets);
        let ends = found.first().zip(found.last()).map(|(first, last)| first.from..=last.from);
        let first = ends.as_ref().map(|ends| *ends.start());
        let all = Buckets::new(&self.histogram.step, &field, ends)?;
        // Where clocks go back over midnight, numbers from the first on may be in the step before.
        let after =
            first.map_or(all.starts().len(), |first| all.starts().partition_point(|from| *from < first));
        let shown = if all.is_given { all.starts() } else { &all.starts()[after..] };
        memory::limit(shown.len().saturating_mul(self.bucket_bytes()), memory::DEFAULT)?;
        let (mut buckets, mut found) = (Vec::with_capacity(shown.len()), found.into_iter().peekable());
        for &from in shown {
            let empty = || PartialBucket { from, ..PartialBucket::default() };
            let bucket = found.next_if(|bucket| bucket.from == from).unwrap_or_else(empty);
            buckets.push(self.bucket(bucket));
        }
        if let Some(other) = found.next() {
            let from = other.from;
            let why = format!("column \"{}\": expected the start of a bucket, found {from}", field.name);
            return Err(Error::Request(why));
        }
        let PartialHistogram { docs, missing, outside, .. } = self;
        Ok(HistogramCounts { field, buckets, docs, missing, outside })
    }

    /// The bytes of an empty bucket. There may be many of them between two others.
    fn bucket_bytes(&self) -> usize {
        let of_field = |PartialColumn { field, .. }: &PartialColumn| {
            field.name.len().saturating_add(field.format.as_ref().map_or(0, String::len))
        };
        let metrics = self.metrics.len().saturating_mul(size_of::<Option<Measure>>());
        let facet = self.facet.as_ref().map_or(0, of_field);
        size_of::<Bucket>().saturating_add(metrics).saturating_add(facet)
    }

    fn bucket(&self, found: PartialBucket) -> Bucket {
        let metrics = measure::finish(&found.measures, &self.histogram.metrics, &self.metrics);
        let facet = self.histogram.facet.as_ref().zip(self.facet.as_ref());
        let counts = found.facet.unwrap_or_default();
        let facet = facet.map(|(facet, column)| counts.finish(facet, column.field.clone()));
        Bucket { from: found.from, count: found.count, metrics, facet }
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self) -> Result<()> {
        let PartialHistogram { histogram, column, metrics, facet, buckets, .. } = self;
        let name = &column.field.name;
        let is_number = !column.field.kind.is_bytes() && (!column.is_absent() || buckets.is_empty());
        super::check(name, is_number, "a column of numbers")?;
        let has_columns =
            metrics.len() == histogram.metrics.len() && facet.is_some() == histogram.facet.is_some();
        super::check(name, has_columns, "a column for each metric and facet")?;
        super::check(name, buckets.is_sorted_by(|a, b| a.from < b.from), "ascending buckets")?;
        for bucket in buckets {
            let fit = measure::fit(&bucket.measures, &histogram.metrics, metrics);
            super::check(name, fit, "measures of the requested metrics")?;
            super::check(name, bucket.facet.is_some() == facet.is_some(), "a facet of each bucket")?;
            if let Some((counts, column)) = bucket.facet.as_ref().zip(facet.as_ref()) {
                counts.check(column)?;
            }
        }
        Ok(())
    }
}

impl PartialBucket {
    fn merge(self, other: PartialBucket) -> PartialBucket {
        PartialBucket {
            from: self.from,
            count: self.count.saturating_add(other.count),
            measures: MeasureState::merge_all(self.measures, other.measures),
            facet: self.facet.zip(other.facet).map(|(a, b)| a.merge(b)),
        }
    }
}
