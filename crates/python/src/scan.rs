//! [`Scan`]: documents as a stream of record batches, read when they are asked for.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use docvalues::search::query::BoundQuery;
use docvalues::search::{Docs, DocsByPart, Search};
use docvalues::{DocId, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use rayon::prelude::*;

use crate::capsules::{schema_capsule, stream_capsule};
use crate::errors::{Failure, Result, argument, panicked};
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
    /// The condition, bound once: a pattern reads the whole dictionary.
    pub(crate) bound: BoundQuery,
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
///
///     >>> docs = dv.write("hits.dv", {"size": range(5)})
///     >>> [batch.to_pydict()["size"] for batch in dv.open("hits.dv").scan(where="size > 0", batch_rows=3)]
///     [[1, 2, 3], [4]]
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

/// Documents of a part that are read at once, at most [`Plan::rows`].
enum Piece {
    Range(Range<u32>),
    List(Vec<DocId>),
}

/// Finds the documents of some windows at once, and reads some pieces of them at once.
struct Reader {
    plan: Arc<Plan>,
    schema: SchemaRef,
    search: Search<'static>,
    /// The documents that were not looked at yet: of a part, from a document on.
    parts: Range<usize>,
    next: u32,
    /// The rows that may still be returned.
    left: u64,
    /// The windows, and the pieces, that are worked on at once.
    ahead: usize,
    /// Documents that match and were not read yet, with their part.
    found: VecDeque<(usize, Piece)>,
    ready: VecDeque<RecordBatch>,
}

impl Scan {
    pub(crate) fn new(plan: Plan) -> Result<Scan> {
        // Wrong names are an error now.
        let search = plan.opened.search();
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

/// As a segment, a scan may be the last one that has its files open.
impl Drop for Scan {
    fn drop(&mut self) {
        Python::attach(|py| self.close(py));
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
        while let Some(batch) = reader.next_interruptible(py)? {
            batches.push(batch);
        }
        Ok(Table::new(Arc::clone(&self.schema), batches, []))
    }

    /// Lets go of the files. Streams that were begun go on.
    fn close(&self, py: Python<'_>) {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(plan));
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) {
        self.close(py);
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
        let batch = self.0.next_interruptible(py)?;
        Ok(batch.map(|batch| Table::new(Arc::clone(&self.0.schema), vec![batch], [])))
    }
}

impl Reader {
    fn new(plan: Arc<Plan>, schema: SchemaRef) -> Result<Reader> {
        let search = plan.opened.search();
        let parts = if plan.bound.is_none() { 0..0 } else { plan.parts()? };
        let left = plan.limit.unwrap_or(u64::MAX);
        let (found, ready) = (VecDeque::new(), VecDeque::new());
        Ok(Reader { plan, schema, search, parts, next: 0, left, ahead: 1, found, ready })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while self.ready.is_empty() && self.step()? {}
        Ok(self.ready_batch())
    }

    /// As [`next_batch`](Self::next_batch), without the GIL. Ctrl-C has its turn between windows.
    fn next_interruptible(&mut self, py: Python<'_>) -> Result<Option<RecordBatch>> {
        loop {
            py.check_signals()?;
            if let Some(batch) = self.ready_batch() {
                return Ok(Some(batch));
            }
            if !py.detach(|| self.step())? {
                return Ok(None);
            }
        }
    }

    /// The next batch that was read, within the limit.
    fn ready_batch(&mut self) -> Option<RecordBatch> {
        let batch = self.ready.pop_front().filter(|_| self.left > 0)?;
        let rows = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
        self.left -= rows as u64;
        Some(if rows < batch.num_rows() { batch.slice(0, rows) } else { batch })
    }

    /// Finds and reads some documents, if there are more. Returns whether there were.
    fn step(&mut self) -> Result<bool> {
        let done = self.try_step();
        if done.is_err() {
            // Nothing comes after an error.
            self.left = 0;
        }
        done
    }

    fn try_step(&mut self) -> Result<bool> {
        refuse_fork()?;
        if self.left == 0 {
            return Ok(false);
        }
        if self.found.len() < self.ahead {
            let windows = self.windows();
            if windows.is_empty() && self.found.is_empty() {
                return Ok(false);
            }
            let reader = &*self;
            let found = windows.into_par_iter().map(|(part, docs)| reader.find(part, docs));
            let found = found.collect::<Result<Vec<Vec<(usize, Piece)>>>>()?;
            self.found.extend(found.into_iter().flatten());
        }
        let pieces: Vec<(usize, Piece)> = self.found.drain(..self.ahead.min(self.found.len())).collect();
        let reader = &*self;
        let read = pieces.into_par_iter().map(|(part, piece)| reader.read(part, &piece));
        let read = read.collect::<Result<Vec<Vec<RecordBatch>>>>()?;
        self.ready.extend(read.into_iter().flatten().filter(|batch| batch.num_rows() > 0));
        // A limit is often reached by the first windows.
        self.ahead = (2 * self.ahead).min(2 * rayon::current_num_threads());
        Ok(true)
    }

    /// The next windows of documents.
    fn windows(&mut self) -> Vec<(usize, Range<u32>)> {
        let len = match self.plan.bound.is_all() {
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

    /// The documents of a window that match, in pieces.
    fn find(&self, part: usize, docs: Range<u32>) -> Result<Vec<(usize, Piece)>> {
        let Plan { bound, opened, rows, .. } = &*self.plan;
        if bound.is_all() {
            return Ok(vec![(part, Piece::Range(docs))]);
        }
        let asked = only(opened.parts.len(), part, Docs::Range(docs.start, docs.end));
        let found = bound.collect(DocsByPart::Parts(&asked))?;
        let mut found = found.of_part(part).to_vec(docs.end);
        found.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        Ok(found.chunks(*rows).map(|docs| (part, Piece::List(docs.to_vec()))).collect())
    }

    fn read(&self, part: usize, piece: &Piece) -> Result<Vec<RecordBatch>> {
        let docs = match piece {
            Piece::Range(docs) => Docs::Range(docs.start, docs.end),
            Piece::List(docs) => Docs::list(docs)?,
        };
        self.plan.columns.of_part(&self.plan.opened, &self.search, (part, docs), self.plan.rows)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The caller is C, which a panic does not pass.
        let next = catch_unwind(AssertUnwindSafe(|| self.next_batch())).unwrap_or_else(|panic| {
            self.left = 0;
            Err(panicked(panic))
        });
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
