//! Datasets of objects: segments by their URLs, opened side by side.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use docvalues_reader::{OpenOptions, Segment};
use docvalues_storage::ReadAt;

use super::dataset::{Contents, Dataset, SegmentFile};
use crate::error::{Error, Result};

/// The most objects that are opened at once. Each waits for its requests.
const AT_ONCE: usize = 16;

impl Dataset {
    /// Objects with a segment each, by their URLs, in this order. `open` opens that of a URL.
    ///
    /// Reads the first 64 bytes and the last 64 KiB of each, of 16 objects at once.
    ///
    /// ```
    /// use std::io;
    /// use std::sync::Arc;
    ///
    /// use docvalues_reader::ReadAt;
    /// # use docvalues_column::LogicalType;
    /// use docvalues_store::Dataset;
    /// # use docvalues_writer::{FieldSpec, Schema, SegmentWriter, WriterOptions};
    ///
    /// # let mut schema = Schema::new();
    /// # schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let bytes = SegmentWriter::in_memory(schema, WriterOptions::default()).finish_bytes()?;
    /// let open = |url: &str| match url {
    ///     "s3://logs/a.dv" => Ok(Arc::new(bytes.clone()) as Arc<dyn ReadAt>),
    ///     _ => Err(io::ErrorKind::NotFound.into()),
    /// };
    /// let dataset = Dataset::of_objects(["s3://logs/a.dv"], &open)?;
    /// // In another process, which got its bytes:
    /// assert_eq!(dataset.open_objects(&open)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are none, or one cannot be opened or is no segment.
    pub fn of_objects(
        urls: impl IntoIterator<Item = impl Into<String>>,
        open: &OpenObject<'_>,
    ) -> Result<Dataset> {
        let urls: Vec<String> = urls.into_iter().map(Into::into).collect();
        if urls.is_empty() {
            return Err(Error::Request("expected at least one object, found none".to_owned()));
        }
        let files = each(&urls, |url| {
            let segment = open_segment(url, open)?;
            Ok(SegmentFile { path: url.clone(), bytes: segment.len(), id: segment.id() })
        });
        Ok(Dataset(Contents::Objects(files?)))
    }

    /// Whether the dataset has objects, which [`open_objects`](Self::open_objects) opens, rather than files.
    pub fn has_objects(&self) -> bool {
        matches!(self.0, Contents::Objects(_))
    }

    /// Opens the segments of the objects, and their columns, in few waves of requests for each object, 16 objects at once.
    /// `open` returns the object of a URL.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if an object is another segment than the dataset names; [`Error::Request`] for files or a commit.
    /// Also if an object is missing or damaged.
    pub fn open_objects(&self, open: &OpenObject<'_>) -> Result<Vec<Segment>> {
        let Contents::Objects(files) = &self.0 else {
            return Err(Error::Request(format!("expected a dataset of objects, found {self}: use `open`")));
        };
        each(files, |file| {
            let segment = file.check(open_segment(&file.path, open)?)?;
            segment.open_columns()?;
            Ok(segment)
        })
    }
}

/// Opens the object of a URL.
type OpenObject<'a> = dyn Fn(&str) -> io::Result<Arc<dyn ReadAt>> + Sync + 'a;

fn open_segment(url: &str, open: &OpenObject<'_>) -> Result<Segment> {
    let failed = |source| docvalues_column::ErrorKind::Io { file: url.to_owned(), source };
    let object = open(url).map_err(|error| Error::Read(failed(error).into()))?;
    Ok(Segment::from_reader(object, url, OpenOptions::new())?)
}

/// The results of a call for each item, several at once. The first error in the order of the items, if there is one.
fn each<T: Sync, R: Send + Sync>(items: &[T], call: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let results: Vec<OnceLock<Result<R>>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item, result)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            items.get(number).zip(results.get(number))
        } {
            let done = call(item);
            if done.is_err() {
                // Those before it are under way; none after it is needed.
                next.store(items.len(), Ordering::Relaxed);
            }
            let _ = result.set(done);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (1..AT_ONCE.min(items.len())).map(|_| scope.spawn(work)).collect();
        work();
        // The scope itself would end with another panic, which says nothing.
        threads.into_iter().for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
    // Those without a result are after the first error.
    results.into_iter().map_while(OnceLock::into_inner).collect()
}

#[cfg(all(test, not(shuttle)))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    use docvalues_column::LogicalType;
    use docvalues_writer::{FieldSpec, Schema, SegmentWriter, WriterOptions};

    use super::*;
    use crate::ScanRequest;

    fn segment(docs: i64) -> Vec<u8> {
        let mut schema = Schema::new();
        let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for number in 0..docs {
            let mut doc = writer.document();
            doc.i64(size, number).unwrap();
            doc.finish().unwrap();
        }
        writer.finish_bytes().unwrap()
    }

    /// Objects `mem://0` and on, with as many documents.
    fn open(url: &str) -> io::Result<Arc<dyn ReadAt>> {
        let docs: i64 =
            url.strip_prefix("mem://").and_then(|docs| docs.parse().ok()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(segment(docs)))
    }

    #[test]
    fn many_objects_in_their_order() {
        let urls: Vec<String> = (0..50).rev().map(|docs| format!("mem://{docs}")).collect();
        let dataset = Dataset::of_objects(urls, &open).unwrap();
        let request = ScanRequest {
            dataset,
            columns: Vec::new(),
            query: docvalues_search::Query::All,
            limit: None,
            partitions: 1,
        };
        let received = ScanRequest::decode(&request.encode().unwrap()).unwrap();
        assert_eq!(received, request);
        let segments = received.dataset.open_objects(&open).unwrap();
        assert!(segments.iter().map(Segment::docs).eq((0..50).rev()));
        assert_eq!(received.dataset.file(49), Some("mem://0"));
        assert_eq!(received.dataset.to_string(), "50 objects from mem://49 on");
    }

    #[test]
    fn other_objects_are_errors() {
        let none: [&str; 0] = [];
        assert!(Dataset::of_objects(none, &open).is_err());
        let missing = Dataset::of_objects(["mem://3", "mem://x", "mem://y"], &open).unwrap_err().to_string();
        assert!(missing.starts_with("mem://x: "), "{missing}");
        let dataset = Dataset::of_objects(["mem://3", "mem://4"], &open).unwrap();
        for (docs, expected) in [(5, "the content "), (100_000, "")] {
            let replaced = |url: &str| match url {
                "mem://4" => open(&format!("mem://{docs}")),
                _ => open(url),
            };
            let error = dataset.open_objects(&replaced).unwrap_err().to_string();
            assert!(error.starts_with(&format!("mem://4: expected {expected}")), "{error}");
        }
        let error = dataset.open().err().unwrap().to_string();
        assert!(error.contains("`open_objects`"), "{error}");
    }

    #[test]
    fn a_panic_of_another_thread_continues() {
        let (here, both) = (thread::current().id(), Barrier::new(2));
        let panicking = |url: &str| {
            both.wait();
            assert!(thread::current().id() == here, "a test panics here");
            open(url)
        };
        let opened =
            catch_unwind(AssertUnwindSafe(|| Dataset::of_objects(["mem://3", "mem://4"], &panicking)));
        assert_eq!(opened.unwrap_err().downcast_ref::<&str>(), Some(&"a test panics here"));
    }
}
