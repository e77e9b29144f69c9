//! [`Segment`]: documents that do not change, of files or of a store.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use docvalues::search::facet::{Facet, FacetOrder};
use docvalues::search::group::{Group, GroupOrder, Metric};
use docvalues::search::histogram::Histogram;
use docvalues::search::stats::Stats;
use docvalues::search::{SearchAnswer, SearchRequest};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::answers::{self, only};
use crate::arguments::{self, Names, condition};
use crate::errors::{Result, argument};
use crate::interrupt::{Stop, interruptible, refuse_fork, tell};
use crate::opened::{Opened, key_text};
use crate::rows::{Columns, NOWHERE};
use crate::scan::{Plan, Scan};
use crate::table::{Schema, Table, escaped};

/// Documents that do not change.
///
///     >>> docs = dv.write("hits.dv", {"host": ["a", "b", "a"], "size": [5, 7, 9]})
///     >>> hits = dv.open("hits.dv")
///     >>> hits.top("-size", 1, where="host = 'a'").to_pydict()
///     {'host': ['a'], 'size': [9]}
///     >>> hits.take([2, 0], ["size"]).to_pydict()
///     {'size': [9, 5]}
#[pyclass(frozen, module = "docvalues")]
pub(crate) struct Segment(RwLock<Option<Arc<Opened>>>);

/// Opens a segment file, the newest commit of a store's folder, or several files and patterns as one.
///
///     >>> docs = dv.write("hits.dv", {"size": [512, 9_000]})
///     >>> dv.open("hits.dv").count("size > 1kB")
///     1
#[pyfunction]
#[pyo3(signature = (source, *, commit = None, untrusted = false))]
pub(crate) fn open(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::paths)] source: Vec<PathBuf>,
    #[pyo3(from_py_with = arguments::optional_count::<u64>)] commit: Option<u64>,
    untrusted: bool,
) -> Result<Segment> {
    refuse_fork()?;
    let opened = py.detach(|| Opened::open(&source, commit, untrusted))?;
    Ok(Segment::of(opened))
}

impl Segment {
    pub(crate) fn of(opened: Opened) -> Segment {
        Segment(RwLock::new(Some(Arc::new(opened))))
    }

    fn opened(&self) -> Result<Arc<Opened>> {
        refuse_fork()?;
        self.if_open().ok_or_else(|| PyValueError::new_err("the segment is closed").into())
    }

    fn if_open(&self) -> Option<Arc<Opened>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The table that `table` makes of the answer to a request for the documents of a condition.
    fn answer(
        &self,
        py: Python<'_>,
        condition_text: Option<&str>,
        request: SearchRequest,
        table: impl FnOnce(&Opened, SearchAnswer, &Stop) -> Result<Table> + Send + 'static,
    ) -> Result<Table> {
        let (opened, request) = (self.opened()?, request.query(condition(condition_text)?));
        interruptible(py, opened.docs(), move |stop| {
            table(&opened, opened.stoppable(stop).request(&request)?, stop)
        })
    }
}

/// Unmapping many or large files takes milliseconds, in which other threads run.
impl Drop for Segment {
    fn drop(&mut self) {
        Python::attach(|py| self.close(py));
    }
}

#[pymethods]
impl Segment {
    /// The names and types of all columns.
    #[getter]
    pub(crate) fn schema(&self, py: Python<'_>) -> Result<Schema> {
        let opened = self.opened()?;
        // It opens all columns of all files.
        py.detach(|| -> Result<Schema> {
            let columns = Columns::of(&opened, None, None, ("offsets", false))?;
            let search = opened.search();
            Ok(Schema::new(columns.schema(&search)?, &columns.fields(&search)?))
        })
    }

    /// The names of all columns.
    #[getter]
    fn columns(&self) -> Result<Vec<String>> {
        Ok(self.opened()?.columns.clone())
    }

    /// The keys by which the documents are sorted, if all files are sorted alike.
    #[getter]
    fn sort_by(&self) -> Result<Vec<String>> {
        Ok(self.opened()?.sort().iter().map(key_text).collect())
    }

    /// The number of files, or of segments of a store.
    #[getter]
    fn parts(&self) -> Result<usize> {
        Ok(self.opened()?.parts.len())
    }

    fn __len__(&self) -> Result<usize> {
        Ok(usize::try_from(self.opened()?.live).unwrap_or(usize::MAX))
    }

    /// A row for each column: its name, type and kind, documents with a value, and values.
    fn describe(&self, py: Python<'_>) -> Result<Table> {
        let opened = self.opened()?;
        py.detach(|| answers::describe(&opened))
    }

    /// The number of documents that match a condition.
    #[pyo3(signature = (r#where = None))]
    fn count(&self, py: Python<'_>, r#where: Option<&str>) -> Result<u64> {
        let (opened, query) = (self.opened()?, condition(r#where)?);
        let docs = r#where.map_or(0, |_| opened.docs());
        interruptible(py, docs, move |stop| Ok(opened.stoppable(stop).count(&query)?))
    }

    /// The most frequent values of a column, and their counts.
    #[pyo3(signature = (column, *, r#where = None, top = 10, order = "count", min_count = 1, prefix = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn facet(
        &self,
        py: Python<'_>,
        column: &str,
        r#where: Option<&str>,
        #[pyo3(from_py_with = arguments::count::<usize>)] top: usize,
        order: &str,
        #[pyo3(from_py_with = arguments::count::<u64>)] min_count: u64,
        #[pyo3(from_py_with = arguments::prefix)] prefix: Option<Vec<u8>>,
    ) -> Result<Table> {
        let order = match order {
            "count" => FacetOrder::Count,
            "value" => FacetOrder::Value,
            _ => return Err(argument(format!("expected the order count or value, found {order:?}"))),
        };
        let mut facet = Facet::of(column).top(top).order(order).min_count(min_count);
        facet.prefix = prefix;
        let request = SearchRequest::new().facets([facet]);
        self.answer(py, r#where, request, |_, answer, _| answers::facet(&only(answer.facets)?))
    }

    /// The first documents in an order: "-size" is descending.
    #[pyo3(signature = (sort, n = 10, *, r#where = None, columns = None, docs = None, as_text = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn top(
        &self,
        py: Python<'_>,
        sort: Names,
        #[pyo3(from_py_with = arguments::count::<usize>)] n: usize,
        r#where: Option<&str>,
        columns: Option<Names>,
        docs: Option<String>,
        as_text: bool,
    ) -> Result<Table> {
        let opened = self.opened()?;
        let columns = Columns::of(&opened, columns, docs, ("offsets", as_text))?;
        let request = SearchRequest::new().sort(arguments::sort_keys(sort, &opened.columns)).top(n);
        self.answer(py, r#where, request, move |opened, found, stop| columns.table(opened, &found.top, stop))
    }

    /// Groups of documents with equal values, their counts and metrics, such as "sum(size)".
    #[pyo3(signature = (by, *, r#where = None, metrics = Names(Vec::new()), top = 10, order = "count", having = None, missing = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn group(
        &self,
        py: Python<'_>,
        by: Names,
        r#where: Option<&str>,
        metrics: Names,
        #[pyo3(from_py_with = arguments::count::<usize>)] top: usize,
        order: &str,
        having: Option<&str>,
        missing: bool,
    ) -> Result<Table> {
        let mut group = Group::of("").top(top);
        group.by = by.0;
        group.metrics = arguments::metrics(&metrics.0)?;
        group.having = having.map(|text| condition(Some(text))).transpose()?;
        group.with_missing = missing;
        let returned = group.metrics.clone();
        // Conditions and the order may need others.
        let named = group.having.iter().flat_map(|having| having.columns()).filter_map(Metric::from_name);
        let named: Vec<Metric> = named.chain(Metric::from_name(order)).collect();
        for metric in named {
            if !group.metrics.contains(&metric) {
                group.metrics.push(metric);
            }
        }
        group.order = match order {
            "count" => GroupOrder::Count,
            "value" => GroupOrder::Value,
            _ => {
                let place = group.metrics.iter().position(|metric| metric.name() == order);
                GroupOrder::Metric(place.ok_or_else(|| {
                    argument(format!(
                        "expected the order count, value or a metric such as sum(size), found {order:?}"
                    ))
                })?)
            }
        };
        let request = SearchRequest::new().groups([group]);
        self.answer(py, r#where, request, move |opened, answer, _| {
            answers::groups(opened, &only(answer.groups)?, &returned)
        })
    }

    /// Counts in buckets: of a width, of a step of the calendar such as "day" or "15min", or between edges.
    #[pyo3(signature = (column, step, *, r#where = None, metrics = Names(Vec::new())))]
    fn histogram(
        &self,
        py: Python<'_>,
        column: &str,
        step: Bound<'_, PyAny>,
        r#where: Option<&str>,
        metrics: Names,
    ) -> Result<Table> {
        let step = arguments::step(&self.opened()?.search(), column, &step)?;
        let mut histogram = Histogram::of(column, step);
        histogram.metrics = arguments::metrics(&metrics.0)?;
        let metrics = histogram.metrics.clone();
        let request = SearchRequest::new().histograms([histogram]);
        self.answer(py, r#where, request, move |opened, answer, _| {
            answers::histogram(opened, &only(answer.histograms)?, &metrics)
        })
    }

    /// Statistics of a column, in one row.
    #[pyo3(signature = (column, *, r#where = None, distinct = false))]
    fn stats(&self, py: Python<'_>, column: &str, r#where: Option<&str>, distinct: bool) -> Result<Table> {
        let opened = self.opened()?;
        let are_bytes = py.detach(|| opened.fields(&[column]))?.iter().any(|field| field.kind.is_bytes());
        let stats = Stats::of(column);
        let mut stats = if are_bytes { stats } else { stats.spread() };
        stats.distinct = distinct;
        let request = SearchRequest::new().stats([stats]);
        self.answer(py, r#where, request, |_, answer, _| answers::stats(&only(answer.stats)?))
    }

    /// The values at percentiles.
    #[pyo3(signature = (column, at = vec![1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0], *, r#where = None))]
    fn percentiles(
        &self,
        py: Python<'_>,
        column: &str,
        #[pyo3(from_py_with = arguments::percentiles)] at: Vec<f64>,
        r#where: Option<&str>,
    ) -> Result<Table> {
        let request = SearchRequest::new().stats([Stats::of(column).percentiles(at)]);
        self.answer(py, r#where, request, |_, answer, _| answers::percentiles(&only(answer.stats)?))
    }

    /// The values of documents by their numbers, in any order.
    #[pyo3(signature = (docs, columns = None, *, as_text = false))]
    fn take(
        &self,
        py: Python<'_>,
        docs: Bound<'_, PyAny>,
        columns: Option<Names>,
        as_text: bool,
    ) -> Result<Table> {
        let opened = self.opened()?;
        let columns = Columns::of(&opened, columns, None, ("offsets", as_text))?;
        let numbers = arguments::doc_numbers(&docs)?;
        interruptible(py, columns.values(numbers.len()), move |stop| {
            let list = numbers.iter().map(|number| opened.address(*number)).collect::<Result<Vec<_>>>()?;
            columns.table(&opened, &list, stop)
        })
    }

    /// The values of the documents with these ids; nulls for an id that no document has.
    #[pyo3(signature = (ids, columns = None, *, as_text = false))]
    fn lookup(
        &self,
        py: Python<'_>,
        ids: Bound<'_, PyAny>,
        columns: Option<Names>,
        as_text: bool,
    ) -> Result<Table> {
        let opened = self.opened()?;
        let columns = Columns::of(&opened, columns, None, ("offsets", as_text))?;
        // It opens the index of ids.
        let logical = py.detach(|| opened.id_type())?;
        let ids = arguments::ids(&ids, logical)?;
        interruptible(py, columns.values(ids.len()), move |stop| {
            let known: Vec<&[u8]> = ids.iter().flatten().map(Vec::as_slice).collect();
            let mut found = opened.find(&known)?.into_iter();
            let next = |id: &Option<Vec<u8>>| id.as_ref().and_then(|_| found.next()?).unwrap_or(NOWHERE);
            let list: Vec<_> = ids.iter().map(next).collect();
            columns.table(&opened, &list, stop)
        })
    }

    /// Documents as record batches, read when they are asked for.
    #[pyo3(signature = (
        columns = None, *, r#where = None, limit = None, part = None, batch_rows = 65_536, docs = None,
        strings = "offsets", as_text = false
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn scan(
        &self,
        py: Python<'_>,
        columns: Option<Names>,
        r#where: Option<&str>,
        #[pyo3(from_py_with = arguments::optional_count::<u64>)] limit: Option<u64>,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] part: Option<usize>,
        #[pyo3(from_py_with = arguments::count::<usize>)] batch_rows: usize,
        docs: Option<String>,
        strings: &str,
        as_text: bool,
    ) -> Result<Scan> {
        let opened = self.opened()?;
        let columns = Columns::of(&opened, columns, docs, (strings, as_text))?;
        let (query, rows) = (condition(r#where)?, batch_rows.max(1));
        // Without a condition, nothing is read.
        let docs = r#where.map_or(0, |_| opened.docs());
        let searched = Arc::clone(&opened);
        let bound = interruptible(py, docs, move |stop| Ok(searched.stoppable(stop).bind(&query)?))?;
        py.detach(|| Scan::new(Plan { opened, columns, bound, limit, part, rows }))
    }

    /// Reads everything, and raises a CorruptError for the first damage.
    #[pyo3(signature = (*, progress = None))]
    fn check(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::progress)] progress: Option<Py<PyAny>>,
    ) -> Result<()> {
        let opened = self.opened()?;
        py.detach(|| opened.verify(|files| Ok(tell(progress.as_ref(), files)?)))
    }

    /// Lets go of the files. Scans and tables that were made before still work.
    fn close(&self, py: Python<'_>) {
        let opened = self.0.write().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(opened));
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    /// Pickles what was opened by name: `functools.partial(open, paths, commit=…)`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let opened = self.opened()?;
        let refused = "a snapshot of an open store cannot be pickled: open a commit";
        let again = opened.again.as_ref().ok_or_else(|| PyTypeError::new_err(refused))?;
        let keywords = PyDict::new(py);
        keywords.set_item("commit", again.commit)?;
        keywords.set_item("untrusted", again.untrusted)?;
        let paths = again.paths.iter().map(|path| path.as_os_str()).collect::<Vec<_>>();
        let source = match paths.as_slice() {
            [path] => path.into_bound_py_any(py)?,
            paths => paths.into_bound_py_any(py)?,
        };
        let open = py.import("docvalues")?.getattr("open")?;
        let partial = py.import("functools")?.getattr("partial")?.call((open, source), Some(&keywords))?;
        Ok((partial, PyTuple::empty(py)))
    }

    fn __repr__(&self) -> String {
        let Some(opened) = self.if_open() else { return "<Segment, closed>".to_owned() };
        format!("<Segment {}: {} documents, {} columns>", opened.name, opened.live, opened.columns.len())
    }

    /// None of a segment that is closed, of which a notebook shows the `repr`.
    fn _repr_html_(&self, py: Python<'_>) -> Result<Option<String>> {
        let Some(opened) = self.if_open() else { return Ok(None) };
        let head = format!("<p>{}: {} documents</p>", escaped(&opened.name), opened.live);
        Ok(Some(head + &self.schema(py)?.html()))
    }
}
