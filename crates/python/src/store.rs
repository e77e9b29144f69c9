//! [`Store`]: a folder of segments that changes.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use docvalues::store::{MergePolicy, Outcome, Snapshot, StoreReader, StoreSchema, Update};
use docvalues::{Field, FieldSpec, Kind, LogicalType, OpenOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict, PyMapping, PyTuple};

use crate::arguments::{self, Data, Names, condition};
use crate::capsules::schema_of;
use crate::errors::{Failure, Result, argument, no_column};
use crate::interrupt::{is_forked, refuse_fork};
use crate::opened::Opened;
use crate::segment::Segment;
use crate::store_options::{OnDisk, options};
use crate::table::{Schema, escaped};
use crate::write::{Types, declared, each_slice, require_ids};

/// A folder of segments that changes.
///
///     >>> with dv.Store.create("shop", {"sku": "string", "price": "f64"}, id_field="sku") as store:
///     ...     outcomes = store.upsert({"sku": ["A-1"], "price": [9.5]})
///     ...     print(store.commit())
///     2
#[pyclass(frozen, module = "docvalues")]
pub(crate) struct Store {
    store: RwLock<Option<Arc<docvalues::store::Store>>>,
    path: String,
}

/// The outcomes that are counted. The last one is all others.
const OUTCOMES: [&str; 6] = ["added", "replaced", "updated", "not_found", "stale", "refused"];

/// The most bytes of values that are applied at once.
const BYTES: usize = 16 << 20;

impl Store {
    fn store(&self) -> Result<Arc<docvalues::store::Store>> {
        refuse_fork()?;
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner).clone();
        store.ok_or_else(|| PyValueError::new_err("the store is closed").into())
    }

    fn of(store: docvalues::store::Store, path: PathBuf) -> Store {
        Store { store: RwLock::new(Some(Arc::new(store))), path: path.display().to_string() }
    }

    /// Applies data in batches, and returns how often each outcome was.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        (data, progress): (&Bound<'py, PyAny>, Option<Py<PyAny>>),
        update: Option<Vec<String>>,
    ) -> Result<Bound<'py, PyDict>> {
        let store = self.store()?;
        let schema = |snapshot: Snapshot| {
            let schema = snapshot.schema();
            (Types::of_fields(schema.fields()), schema.id_field().map(str::to_owned))
        };
        let (types, id_field) = schema(store.snapshot());
        let data = Data::of(data, |name| types.are_doubles(name))?;
        let mut counts = [0_u64; OUTCOMES.len()];
        py.detach(|| {
            // A stream is released without the GIL, too, as that may wait for its threads.
            let mut data = data;
            let bytes = BYTES.min(store.options().buffer_bytes / 4);
            each_slice(&mut data, &types, bytes, progress.as_ref(), |rows, before| {
                let place = |error: docvalues::store::Error| Failure::from(error).after_rows(before);
                id_field.as_deref().map_or(Ok(()), |name| require_ids(rows, name, before))?;
                let mut batch = store.batch()?;
                match &update {
                    None => batch.upsert_record_batch(rows).map_err(place)?,
                    Some(unset) => {
                        let mut update = Update::new();
                        for name in unset {
                            let field = batch.field(name).map_err(|_| no_column(name))?;
                            update = update.unset(field);
                        }
                        batch.update_record_batch(rows, &update).map_err(place)?;
                    }
                }
                for outcome in store.apply(batch).map_err(place)?.outcomes {
                    counts[place_of(&outcome)] += 1;
                }
                Ok(())
            })
        })?;
        Ok(OUTCOMES.into_iter().zip(counts).into_py_dict(py)?)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let store = self.store.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if store.is_some() {
            Python::attach(|py| py.detach(|| let_go(store)));
        }
    }
}

/// Drops a store, which may wait for a thread that writes. A forked process has no such thread, and leaves all to its parent.
fn let_go(store: Option<Arc<docvalues::store::Store>>) {
    if is_forked() { std::mem::forget(store) } else { drop(store) }
}

#[pymethods]
impl Store {
    /// Creates a store in a folder.
    #[staticmethod]
    #[pyo3(signature = (
        path, schema, *, id_field = None, version_field = None, sort_by = None, types = None,
        durability = OnDisk::Name("commit".to_owned()), keep_commits = None, buffer = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        schema: Bound<'_, PyAny>,
        id_field: Option<&str>,
        version_field: Option<&str>,
        sort_by: Option<Names>,
        types: Option<Bound<'_, PyMapping>>,
        durability: OnDisk,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] keep_commits: Option<usize>,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] buffer: Option<usize>,
    ) -> Result<Store> {
        refuse_fork()?;
        let specs = match schema_of(&schema)? {
            Some(schema) => Types::of(types.as_ref())?.fields(&schema)?,
            None if types.is_some() => {
                return Err(argument("expected types in the mapping of the schema, found others beside it"));
            }
            None => declared(&schema)?,
        };
        let names: Vec<String> = specs.iter().map(|spec| spec.name().to_owned()).collect();
        let keys = sort_by.map(|keys| arguments::sort_keys(keys, &names)).unwrap_or_default();
        let of_keys = keys.iter().map(|key| key.column.as_str());
        for name in id_field.into_iter().chain(version_field).chain(of_keys) {
            if !names.iter().any(|column| column == name) {
                return Err(no_column(name));
            }
        }
        let mut schema = StoreSchema::new();
        for spec in &specs {
            schema = schema.with_field(field(spec, id_field))?;
        }
        if let Some(name) = id_field {
            schema = schema.with_id_field(name)?;
        }
        if let Some(name) = version_field {
            schema = schema.with_version_field(name)?;
        }
        if !keys.is_empty() {
            schema = schema.with_sort(keys)?;
        }
        let options = options(&durability, keep_commits, buffer)?;
        let store = py.detach(|| docvalues::store::Store::create(&path, schema, options))?;
        Ok(Store::of(store, path))
    }

    /// Opens a store to change it, which one process at a time can do.
    #[staticmethod]
    #[pyo3(signature = (path, *, durability = OnDisk::Name("commit".to_owned()), keep_commits = None, buffer = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        durability: OnDisk,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] keep_commits: Option<usize>,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] buffer: Option<usize>,
    ) -> Result<Store> {
        refuse_fork()?;
        let options = options(&durability, keep_commits, buffer)?;
        let store = py.detach(|| docvalues::store::Store::open(&path, options))?;
        Ok(Store::of(store, path))
    }

    /// The names and types of all columns.
    #[getter]
    fn schema(&self, py: Python<'_>) -> Result<Schema> {
        self.snapshot()?.schema(py)
    }

    /// The folder.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// The column whose values identify documents.
    #[getter]
    fn id_field(&self) -> Result<Option<String>> {
        Ok(self.store()?.snapshot().schema().id_field().map(str::to_owned))
    }

    /// The column with the version of each document.
    #[getter]
    fn version_field(&self) -> Result<Option<String>> {
        Ok(self.store()?.snapshot().schema().version_field().map(str::to_owned))
    }

    fn __len__(&self) -> Result<usize> {
        Ok(usize::try_from(self.store()?.snapshot().docs()).unwrap_or(usize::MAX))
    }

    /// Adds documents, and replaces those with the same id. Returns counts of outcomes.
    #[pyo3(signature = (data, *, progress = None))]
    fn upsert<'py>(
        &self,
        py: Python<'py>,
        data: Bound<'py, PyAny>,
        #[pyo3(from_py_with = arguments::progress)] progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyDict>> {
        self.apply(py, (&data, progress), None)
    }

    /// Changes columns of the documents with the ids in the data. Returns counts of outcomes.
    #[pyo3(signature = (data, *, unset = Names(Vec::new()), progress = None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        data: Bound<'py, PyAny>,
        unset: Names,
        #[pyo3(from_py_with = arguments::progress)] progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyDict>> {
        self.apply(py, (&data, progress), Some(unset.0))
    }

    /// Deletes documents by id or by a condition, and returns their number.
    #[pyo3(signature = (*, ids = None, r#where = None))]
    fn delete(&self, py: Python<'_>, ids: Option<Bound<'_, PyAny>>, r#where: Option<&str>) -> Result<u64> {
        let store = self.store()?;
        let deleted = match (ids, r#where) {
            (Some(ids), None) => {
                let snapshot = store.snapshot();
                let schema = snapshot.schema();
                let field = schema.id_field().and_then(|name| schema.field(name));
                let logical = field.map_or(LogicalType::Utf8, |field| field.logical);
                let ids = arguments::ids(&ids, logical)?;
                py.detach(|| store.delete_ids(ids.into_iter().flatten()))
            }
            (None, Some(text)) => {
                let query = condition(Some(text))?;
                py.detach(|| store.delete_where(&query))
            }
            _ => return Err(argument("expected either ids or a condition")),
        };
        Ok(deleted?)
    }

    /// Publishes the changes so far to `snapshot`, and returns whether there were any.
    fn refresh(&self, py: Python<'_>) -> Result<bool> {
        let store = self.store()?;
        Ok(py.detach(|| store.refresh())?)
    }

    /// Makes the changes so far durable, and returns the number of the commit.
    fn commit(&self, py: Python<'_>) -> Result<u64> {
        let store = self.store()?;
        Ok(py.detach(|| store.commit())?)
    }

    /// The documents of the last refresh or commit.
    fn snapshot(&self) -> Result<Segment> {
        Ok(Segment::of(Opened::of_snapshot(self.store()?.snapshot(), &self.path)?))
    }

    /// Merges segments, and returns their number.
    #[pyo3(signature = (to = None))]
    fn merge(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::optional_count::<usize>)] to: Option<usize>,
    ) -> Result<usize> {
        let store = self.store()?;
        py.detach(|| -> Result<usize> {
            match to {
                Some(segments) => store.merge_to(segments),
                None => store.merge(&MergePolicy::new()).map(drop),
            }?;
            Ok(store.stats()?.segments)
        })
    }

    /// The contents of the store now, as numbers.
    fn stats<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let store = self.store()?;
        // It may wait for a thread that deletes or applies.
        let stats = py.detach(|| store.stats())?;
        let found = PyDict::new(py);
        found.set_item("docs", stats.docs)?;
        found.set_item("segments", stats.segments)?;
        found.set_item("buffered_docs", stats.buffered_docs)?;
        found.set_item("buffer_bytes", stats.buffer_bytes)?;
        found.set_item("log_bytes", stats.log.bytes)?;
        found.set_item("unpublished", stats.unpublished)?;
        found.set_item("uncommitted", stats.uncommitted)?;
        Ok(found)
    }

    /// Checks the files of all commits, and raises the error of the first problem.
    fn check(&self, py: Python<'_>) -> Result<()> {
        let store = self.store()?;
        py.detach(|| -> Result<()> {
            let mut first = None;
            let folder = store.directory().path();
            StoreReader::check(folder, OpenOptions::new(), &mut |problem| {
                first.get_or_insert(problem);
            })?;
            first.map_or(Ok(()), |problem| Err(problem.into()))
        })
    }

    /// Closes the store, without a commit.
    fn close(&self, py: Python<'_>) {
        let store = self.store.write().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| let_go(store));
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        match self.__len__() {
            Ok(docs) => format!("<Store {}: {docs} documents>", self.path),
            Err(_) => format!("<Store {}, closed>", self.path),
        }
    }

    /// None of a store that is closed, of which a notebook shows the `repr`.
    fn _repr_html_(&self, py: Python<'_>) -> Result<Option<String>> {
        let Ok(docs) = self.__len__() else { return Ok(None) };
        let head = format!("<p>{}: {docs} documents</p>", escaped(&self.path));
        Ok(Some(head + &self.schema(py)?.html()))
    }
}

/// The field of a store for one of a writer. Strings have a dictionary, except ids.
fn field(spec: &FieldSpec, id_field: Option<&str>) -> Field {
    let kind = match (spec.logical().is_bytes(), spec.is_multi_valued()) {
        (true, true) => Kind::SortedSet,
        (true, false) if id_field == Some(spec.name()) => Kind::Binary,
        (true, false) => Kind::Sorted,
        (false, true) => Kind::SortedNumeric,
        (false, false) => Kind::Numeric,
    };
    Field::new(spec.name(), kind, spec.logical())
}

/// The place of an outcome among [`OUTCOMES`].
fn place_of(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Added => 0,
        Outcome::Replaced => 1,
        Outcome::Updated => 2,
        Outcome::NotFound => 3,
        Outcome::Stale { .. } => 4,
        _ => 5,
    }
}
