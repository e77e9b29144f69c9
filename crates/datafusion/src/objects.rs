//! [`Objects`]: tables of segments in object stores.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion_common::{DataFusionError, Result, plan_datafusion_err};
use datafusion_execution::runtime_env::RuntimeEnv;
use docvalues::reader::ReadAt;
use docvalues::store::{Dataset, ObjectReader, ReadCache};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::spawn_blocking;
use url::Url;

use crate::error::external;
use crate::open_parts::OpenParts;
use crate::table::DocvaluesTable;

/// Segments in the object stores of a session, as tables: in S3 (feature `s3`), or in any store that is registered in its
/// [`RuntimeEnv`].
///
/// Scans request the granules (4 KiB) of columns that they need, read some ahead, and verify their checksums. All tables share
/// one cache, bounded in bytes, of the bytes that were read last. Each table also keeps 64 KiB of each object, the small
/// sections of the columns that were asked for, and the bytes that these columns touched: about a quarter of the bound at most.
///
/// If no store is registered for a URL, [`object_store::parse_url_opts`] opens it, with options from environment variables such
/// as `AWS_ACCESS_KEY_ID`, `AWS_REGION` and `AWS_ENDPOINT`.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use datafusion::prelude::SessionContext;
/// use docvalues_datafusion::Objects;
/// # use docvalues::prelude::*;
/// # use object_store::{memory::InMemory, path::Path, ObjectStoreExt as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut schema = Schema::new();
/// # schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// # let bytes = SegmentWriter::in_memory(schema, WriterOptions::default()).finish_bytes()?;
/// # let store = Arc::new(InMemory::new());
/// # store.put(&Path::from("2026/a.dv"), bytes.into()).await?;
/// # let bucket = "mem://logs".parse()?;
/// let context = SessionContext::new();
/// context.register_object_store(&bucket, store); // unless `s3://`, from the environment
/// let objects = Objects::new(context.runtime_env()).with_memory(1 << 30);
/// let hits = objects.dataset(["mem://logs/2026/a.dv"]).await?;
/// context.register_table("hits", Arc::new(objects.table(hits).await?))?;
/// assert_eq!(context.sql("select size from hits").await?.count().await?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Objects {
    stores: Arc<RuntimeEnv>,
    memory: ObjectMemory,
}

/// A cache, and the bound of its bytes; and the stores that were opened by URLs.
#[derive(Clone, Debug)]
pub(crate) struct ObjectMemory {
    cache: Arc<ReadCache>,
    bytes: u64,
    /// By their buckets.
    stores: Arc<Mutex<HashMap<String, Arc<dyn ObjectStore>>>>,
}

impl ObjectMemory {
    pub(crate) fn new(bytes: u64) -> ObjectMemory {
        ObjectMemory { cache: Arc::new(ReadCache::new(bytes)), bytes, stores: Arc::default() }
    }
}

impl Default for ObjectMemory {
    fn default() -> ObjectMemory {
        ObjectMemory::new(256 << 20)
    }
}

impl Objects {
    /// The object stores of a session, with a cache of 256 MiB.
    pub fn new(stores: Arc<RuntimeEnv>) -> Objects {
        Objects::with(stores, ObjectMemory::default())
    }

    pub(crate) fn with(stores: Arc<RuntimeEnv>, memory: ObjectMemory) -> Objects {
        Objects { stores, memory }
    }

    /// These object stores with a cache of `bytes` bytes.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Objects {
        Objects { memory: ObjectMemory::new(bytes), ..self }
    }

    /// Objects with a segment each, by their URLs, in this order.
    ///
    /// Reads the beginning and the end of each, of 16 objects at once.
    ///
    /// # Errors
    ///
    /// As [`Dataset::of_objects`].
    pub async fn dataset(&self, urls: impl IntoIterator<Item = impl Into<String>>) -> Result<Dataset> {
        let (objects, urls) = (self.clone(), urls.into_iter().map(Into::into).collect::<Vec<String>>());
        let dataset = spawn_blocking(move || Dataset::of_objects(urls, &|url| objects.open(url)));
        dataset.await.map_err(external)?.map_err(external)
    }

    /// A table of the documents of a dataset. Like one of [`DocvaluesTable::of_dataset`], it can be sent to other processes that
    /// see the objects.
    ///
    /// Reads the small sections of all columns: in few waves of requests for each object, 16 objects at once.
    ///
    /// # Errors
    ///
    /// As [`Dataset::open_objects`] and [`DocvaluesTable::new`].
    pub async fn table(&self, dataset: Dataset) -> Result<DocvaluesTable> {
        let objects = self.clone();
        spawn_blocking(move || objects.blocking_table(dataset)).await.map_err(external)?
    }

    /// As [`table`](Self::table). Waits for the requests.
    pub(crate) fn blocking_table(&self, dataset: Dataset) -> Result<DocvaluesTable> {
        let segments = dataset.open_objects(&|url| self.open(url)).map_err(external)?;
        let parts = OpenParts::of_objects(segments, self.memory.bytes / 4);
        let table = DocvaluesTable::of_parts(parts)?;
        Ok(table.map(|data| data.dataset = Some(Arc::new(dataset))))
    }

    fn open(&self, url: &str) -> io::Result<Arc<dyn ReadAt>> {
        let (store, path) = self.store(url).map_err(io::Error::other)?;
        let object = ObjectReader::open(store, path, requests()?)?;
        Ok(self.memory.cache.reader(Arc::new(object)))
    }

    /// The object store of a URL, and the path of the object in it.
    fn store(&self, url: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
        let parsed = Url::parse(url);
        let parsed = parsed.map_err(|error| {
            plan_datafusion_err!("expected a URL such as s3://logs/a.dv, found {url:?}: {error}")
        })?;
        if let Ok(store) = self.stores.object_store_registry.get_store(&parsed) {
            return Ok((store, Path::from_url_path(parsed.path()).map_err(unreadable)?));
        }
        let (_, path) = ObjectStoreScheme::parse(&parsed).map_err(unreadable)?;
        let mut stores = self.memory.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = bucket(&parsed, &path);
        if let Some(store) = stores.get(&bucket) {
            return Ok((Arc::clone(store), path));
        }
        let (store, path) = object_store::parse_url_opts(&parsed, variables()).map_err(unreadable)?;
        let store: Arc<dyn ObjectStore> = Arc::from(store);
        stores.insert(bucket, Arc::clone(&store));
        Ok((store, path))
    }
}

/// A URL without the path of the object in its bucket. The bucket may be the host, its user, or the beginning of the URL's path.
fn bucket(url: &Url, path: &Path) -> String {
    let mut bucket = url.clone();
    if let Ok(mut segments) = bucket.path_segments_mut() {
        for _ in path.parts() {
            segments.pop();
        }
    }
    bucket.into()
}

fn unreadable(error: impl Into<object_store::Error>) -> DataFusionError {
    external(error.into())
}

/// The environment's variables of object stores, whose names are those of their options in capitals.
fn variables() -> impl Iterator<Item = (String, String)> {
    let known = |name: &String| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|prefix| name.starts_with(prefix));
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(move |(name, _)| known(name))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
}

/// The runtime that runs all requests. Its own threads never block on a request; those of other runtimes do.
fn requests() -> io::Result<Handle> {
    static REQUESTS: Mutex<Option<Runtime>> = Mutex::new(None);
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = match requests.take() {
        Some(runtime) => runtime,
        None => Builder::new_multi_thread().worker_threads(2).thread_name("requests").enable_all().build()?,
    };
    Ok(requests.insert(runtime).handle().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_hosts_users_and_paths() {
        let buckets = [
            ("s3://logs/a/b.dv", "s3://logs/c.dv", true),
            ("s3://logs/a/b.dv", "s3://other/a/b.dv", false),
            (
                "https://s3.eu-west-1.amazonaws.com/a/x.dv",
                "https://s3.eu-west-1.amazonaws.com/a/y/z.dv",
                true,
            ),
            ("https://s3.eu-west-1.amazonaws.com/a/x.dv", "https://s3.eu-west-1.amazonaws.com/b/x.dv", false),
            (
                "abfss://one@account.dfs.core.windows.net/x.dv",
                "abfss://two@account.dfs.core.windows.net/x.dv",
                false,
            ),
        ];
        for (one, other, are_same) in buckets {
            let [one, other] = [one, other].map(|url| {
                let url = Url::parse(url).unwrap();
                bucket(&url, &ObjectStoreScheme::parse(&url).unwrap().1)
            });
            assert_eq!(one == other, are_same, "{one} {other}");
        }
    }
}
