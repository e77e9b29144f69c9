//! Objects of an object store, as bytes that segments read.

mod read_cache;

use std::fmt;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, mpsc};

use docvalues_storage::ReadAt;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{Error as ObjectError, ObjectMeta, ObjectStore, ObjectStoreExt as _};
use tokio::runtime::Handle;

pub use read_cache::ReadCache;

/// The longest part of a range that one request asks for: parts of a longer one come in parallel, faster than by one request.
const PART: usize = 1 << 20;

/// The most requests of a wave that are under way at once.
const AT_ONCE: usize = 32;

/// An object of an object store, read by ranges: S3, Azure, Google, a folder, or memory.
///
/// A segment reads it through [`Segment::from_reader`](docvalues_reader::Segment::from_reader). The reader requests the ranges
/// of a wave in parallel, in parts of at most 1 MiB, at most 32 at once.
///
/// Each call blocks until its requests are done. They run on the runtime that was passed to [`open`](Self::open). Do not call
/// a reader from a task of that runtime, as it can deadlock; a task of another runtime may call it, and blocks.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use docvalues_reader::{OpenOptions, Segment};
/// use docvalues_store::{ObjectReader, ReadCache};
/// use object_store::memory::InMemory;
/// # use docvalues_column::LogicalType;
/// # use docvalues_writer::{FieldSpec, Schema, SegmentWriter, WriterOptions};
/// # use object_store::{ObjectStore, ObjectStoreExt as _, path::Path};
///
/// # let mut schema = Schema::new();
/// # schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// # let bytes = SegmentWriter::in_memory(schema, WriterOptions::default()).finish_bytes()?;
/// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
/// let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
/// # runtime.block_on(bucket.put(&Path::from("logs/a.dv"), bytes.into()))?;
/// let object = ObjectReader::open(bucket, Path::from("logs/a.dv"), runtime.handle().clone())?;
/// let cache = Arc::new(ReadCache::new(64 << 20)); // for any number of objects
/// let segment = Segment::from_reader(cache.reader(Arc::new(object)), "logs/a.dv", OpenOptions::new())?;
/// assert_eq!(segment.docs(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "object_store")))]
pub struct ObjectReader(Arc<Object>);

struct Object {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    runtime: Handle,
}

impl ObjectReader {
    /// Asks for the length of an object, in one request.
    ///
    /// # Errors
    ///
    /// When there is no such object, or the request fails.
    pub fn open(store: Arc<dyn ObjectStore>, path: Path, runtime: Handle) -> io::Result<ObjectReader> {
        let head = {
            let store = Arc::clone(&store);
            async move { store.head(&path).await }
        };
        let meta = wait(&runtime, head)?;
        Ok(ObjectReader(Arc::new(Object { store, meta, runtime })))
    }
}

impl fmt::Debug for ObjectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReader").field("meta", &self.0.meta).finish_non_exhaustive()
    }
}

impl ReadAt for ObjectReader {
    fn len(&self) -> u64 {
        self.0.meta.size
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let range = offset..offset.saturating_add(bytes.len() as u64);
        let read = self.read_ranges(std::slice::from_ref(&range))?;
        // The length of each was compared.
        read.first().map_or(Err(io::ErrorKind::UnexpectedEof.into()), |read| {
            bytes.copy_from_slice(read);
            Ok(())
        })
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        for (number, range) in ranges.iter().enumerate() {
            let starts = (range.start..range.end).step_by(PART);
            parts.extend(
                starts.map(|start| (number, start..range.end.min(start.saturating_add(PART as u64)))),
            );
        }
        let object = Arc::clone(&self.0);
        let read = parts.into_iter().map(move |(number, part)| {
            let object = Arc::clone(&object);
            async move { Ok((number, object.read(part).await?)) }
        });
        let read = futures_util::stream::iter(read).buffered(AT_ONCE);
        let read: Vec<_> = wait(&self.0.runtime, read.try_collect())?;
        let mut whole = vec![Vec::new(); ranges.len()];
        for (number, bytes) in read {
            whole[number].extend_from_slice(bytes.as_ref());
        }
        Ok(whole)
    }
}

impl Object {
    async fn read(&self, range: Range<u64>) -> Result<impl AsRef<[u8]> + use<>, ObjectError> {
        let len = range.end.saturating_sub(range.start);
        let bytes = self.store.get_range(&self.meta.location, range).await?;
        if bytes.len() as u64 != len {
            let source = io::Error::from(io::ErrorKind::UnexpectedEof).into();
            return Err(ObjectError::Generic { store: "object", source });
        }
        Ok(bytes)
    }
}

/// Runs a request on a runtime, and waits for it. Unlike [`Handle::block_on`], also where tasks of another runtime run. A panic
/// of the request continues here.
fn wait<T: Send + 'static>(
    runtime: &Handle,
    request: impl Future<Output = Result<T, ObjectError>> + Send + 'static,
) -> io::Result<T> {
    let (done, answer) = mpsc::sync_channel(1);
    runtime.spawn(async move { done.send(AssertUnwindSafe(request).catch_unwind().await) });
    let gone = |_| {
        io::Error::other("expected a running runtime, found one that has shut down: keep it with its objects")
    };
    let answer = answer.recv().map_err(gone)?.unwrap_or_else(|panic| resume_unwind(panic));
    answer.map_err(|error| io::Error::new(kind(&error), error))
}

/// The kind of an error, which is what remains of it in an error of a segment.
fn kind(error: &ObjectError) -> io::ErrorKind {
    match error {
        ObjectError::NotFound { .. } => io::ErrorKind::NotFound,
        ObjectError::PermissionDenied { .. } | ObjectError::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        ObjectError::Generic { source, .. } => {
            source.downcast_ref().map_or(io::ErrorKind::Other, |source: &io::Error| source.kind())
        }
        _ => io::ErrorKind::Other,
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::future::poll_fn;
    use std::panic::catch_unwind;
    use std::task::Poll;

    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn ranges_of_objects() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let (path, bytes) = (Path::from("a/b"), (0..=250).cycle().take(100_000).collect::<Vec<u8>>());
        let long: Vec<u8> = (0..=250).cycle().take(3_500_000).collect();
        let open = || ObjectReader::open(Arc::clone(&store), path.clone(), runtime.handle().clone());
        assert_eq!(open().unwrap_err().kind(), io::ErrorKind::NotFound);
        runtime.block_on(store.put(&path, bytes.clone().into())).unwrap();
        let object = open().unwrap();
        assert_eq!(object.len(), 100_000);
        let ranges: Vec<Range<u64>> = (0..100).map(|at| at * 1_000..at * 1_000 + at * 7).collect();
        let read = object.read_ranges(&ranges).unwrap();
        assert!(read == bytes.read_ranges(&ranges).unwrap());
        assert!(object.read_at(99_999, &mut [0; 2]).is_err());
        // In parts.
        let other = Path::from("long");
        runtime.block_on(store.put(&other, long.clone().into())).unwrap();
        let object_of_parts =
            ObjectReader::open(Arc::clone(&store), other, runtime.handle().clone()).unwrap();
        let read = object_of_parts.read_ranges(&[5..3_400_000, 7..7, 3_400_001..3_500_000]).unwrap();
        assert!(read == [&long[5..3_400_000], &[], &long[3_400_001..]]);
        // Also from a task of another runtime.
        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut one = [0];
        other.block_on(async { object.read_at(77, &mut one) }).unwrap();
        assert_eq!(one, [77]);
        // Replaced by a shorter one.
        runtime.block_on(store.put(&path, vec![9; 10].into())).unwrap();
        object.read_at(0, &mut one).unwrap();
        assert_eq!(one, [9]);
        object.read_at(9, &mut [0; 2]).unwrap_err();
        object.read_at(50, &mut one).unwrap_err();
    }

    #[test]
    fn a_panic_of_a_request_continues() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let request = poll_fn(|_| -> Poll<Result<(), ObjectError>> { panic!("a test panics here") });
        let waited = catch_unwind(AssertUnwindSafe(|| wait(runtime.handle(), request)));
        assert_eq!(waited.unwrap_err().downcast_ref::<&str>(), Some(&"a test panics here"));
    }
}
