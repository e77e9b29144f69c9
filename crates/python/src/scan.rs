//! [`Scan`]: documents as a stream of record batches, read when they are asked for.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use docvalues::Field;
use docvalues::search::query::BoundQuery;
use docvalues::search::{Docs, DocsByPart, Query, Search};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::prelude::*;

use crate::capsules::{schema_capsule, stream_capsule};
use crate::errors::{Failure, Result, argument};
use crate::interrupt::refuse_fork;
use crate::opened::Opened;
use crate::rows::{Columns, only};
use crate::table::{Schema, Table};

/// The documents that are filtered at once: as many as a thread of a search takes.
const FILTERED: u32 = 1 << 19;

/// The documents to read.
pub(crate) struct Plan {
    pub(crate) opened: Arc<Opened>,
    pub(crate) columns: Columns,
    pub(crate) query: Query,
    pub(crate) limit: Option<u64>,
    /// The only part, or all.
    pub(crate) part: Option<usize>,
    /// The most rows of a batch.
    pub(crate) rows: usize,
}

impl Plan {
    fn parts(&self) -> Result<Range<usize>> {
        let parts = self.opened.parts.len();
        match self.part {
            None => Ok(0..parts),
            Some(part) if part < parts => Ok(part..part + 1),
            Some(part) => Err(argument(format!("expected one of {parts} parts, found part {part}"))),
        }
    }
}

/// Documents, and the form in which they are read.
#[pyclass(frozen, module = "docvalues")]
pub(crate) struct Scan {
    plan: Mutex<Option<Arc<Plan>>>,
    schema: SchemaRef,
    /// The fields of the schema.
    fields: Vec<Field>,
}

/// The batches of a scan.
#[pyclass(module = "docvalues")]
struct ScanBatches(Reader);

/// Reads batches, those of some windows at once.
struct Reader {
    plan: Arc<Plan>,
    schema: SchemaRef,
    search: Search<'static>,
    bound: BoundQuery,
    /// The documents that were not read yet: of a part, from a document on.
    parts: Range<usize>,
    next: u32,
    /// The rows that may still be returned.
    left: u64,
    /// The windows that are read at once.
    ahead: usize,
    ready: VecDeque<RecordBatch>,
}

impl Scan {
    pub(crate) fn new(plan: Plan) -> Result<Scan> {
        // Wrong names are an error now.
        let search = plan.opened.search();
        drop(search.bind(&plan.query)?);
        plan.parts()?;
        let (schema, fields) = (plan.columns.schema(&search)?, plan.columns.fields(&search)?);
        Ok(Scan { plan: Mutex::new(Some(Arc::new(plan))), schema, fields })
    }

    fn reader(&self) -> Result<Reader> {
        refuse_fork()?;
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plan = plan.ok_or_else(|| PyValueError::new_err("the scan is closed"))?;
        Reader::new(plan, Arc::clone(&self.schema))
    }
}

#[pymethods]
impl Scan {
    /// The names and types of the columns.
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::clone(&self.schema), &self.fields)
    }

    fn __iter__(&self) -> Result<ScanBatches> {
        Ok(ScanBatches(self.reader()?))
    }

    /// Reads all rows.
    fn read_all(&self, py: Python<'_>) -> Result<Table> {
        let (mut reader, mut batches) = (self.reader()?, Vec::new());
        while let Some(batch) = py.detach(|| reader.next_batch())? {
            batches.push(batch);
            py.check_signals()?;
        }
        Ok(Table::new(Arc::clone(&self.schema), batches, []))
    }

    /// Lets go of the files. Streams that were begun go on.
    fn close(&self) {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(&self, kind: Bound<'_, PyAny>, error: Bound<'_, PyAny>, trace: Bound<'_, PyAny>) {
        drop((kind, error, trace));
        self.close();
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream_capsule(py, self.reader()?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }
}

#[pymethods]
impl ScanBatches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Table>> {
        py.check_signals()?;
        let reader = &mut self.0;
        let batch = py.detach(|| reader.next_batch())?;
        Ok(batch.map(|batch| Table::new(Arc::clone(&self.0.schema), vec![batch], [])))
    }
}

impl Reader {
    fn new(plan: Arc<Plan>, schema: SchemaRef) -> Result<Reader> {
        let search = plan.opened.search();
        let bound = search.bind(&plan.query)?;
        let parts = if bound.is_none() { 0..0 } else { plan.parts()? };
        let left = plan.limit.unwrap_or(u64::MAX);
        Ok(Reader { plan, schema, search, bound, parts, next: 0, left, ahead: 1, ready: VecDeque::new() })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        refuse_fork()?;
        while self.ready.is_empty() && self.left > 0 {
            let windows = self.windows();
            if windows.is_empty() {
                break;
            }
            let reader = &*self;
            let read = windows.into_par_iter().map(|(part, docs)| reader.read(part, docs));
            let read = read.collect::<Result<Vec<Vec<RecordBatch>>>>();
            // Nothing comes after an error.
            let read = read.inspect_err(|_| self.left = 0)?;
            self.ready.extend(read.into_iter().flatten().filter(|batch| batch.num_rows() > 0));
            // A limit is often reached by the first windows.
            self.ahead = (2 * self.ahead).min(2 * rayon::current_num_threads());
        }
        let Some(batch) = self.ready.pop_front().filter(|_| self.left > 0) else { return Ok(None) };
        let rows = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
        self.left -= rows as u64;
        Ok(Some(if rows < batch.num_rows() { batch.slice(0, rows) } else { batch }))
    }

    /// The next windows of documents.
    fn windows(&mut self) -> Vec<(usize, Range<u32>)> {
        let len = match self.bound.is_all() {
            true => self.plan.rows.min(usize::try_from(self.left).unwrap_or(usize::MAX)),
            false => FILTERED as usize,
        };
        let (len, mut windows) = (u32::try_from(len).unwrap_or(u32::MAX).max(1), Vec::new());
        while windows.len() < self.ahead && !self.parts.is_empty() {
            let (part, start) = (self.parts.start, self.next);
            let total = self.plan.opened.parts.source(part).docs();
            let end = start.saturating_add(len).min(total);
            (self.parts.start, self.next) = if end == total { (part + 1, 0) } else { (part, end) };
            if start < end {
                windows.push((part, start..end));
            }
        }
        windows
    }

    /// The documents of a window that match.
    fn read(&self, part: usize, docs: Range<u32>) -> Result<Vec<RecordBatch>> {
        let Reader { plan, search, .. } = self;
        let (opened, rows) = (&plan.opened, plan.rows);
        let window = Docs::Range(docs.start, docs.end);
        if self.bound.is_all() {
            return plan.columns.of_part(opened, search, (part, window), rows);
        }
        let asked = only(opened.parts.len(), part, window);
        let found = self.bound.collect(DocsByPart::Parts(&asked))?;
        let mut found = found.of_part(part).to_vec(docs.end);
        found.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        let mut batches = Vec::new();
        for docs in found.chunks(rows) {
            batches.extend(plan.columns.of_part(opened, search, (part, Docs::list(docs)?), rows)?);
        }
        Ok(batches)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The caller is C, which a panic does not pass.
        let Ok(next) = catch_unwind(AssertUnwindSafe(|| self.next_batch())) else {
            self.left = 0;
            return Some(Err(ArrowError::ComputeError("the search panicked".to_owned())));
        };
        next.map_err(in_stream).transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// An error for the reader of a stream, who gets a text that ends at the first 0.
fn in_stream(failure: Failure) -> ArrowError {
    ArrowError::ExternalError(failure.to_string().replace('\0', "\u{fffd}").into())
}
