//! [`ObjectDepot`]: a bucket, or another object store, as a place that a leader and its replicas both see.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{Error as ObjectError, ObjectStore, ObjectStoreExt as _, PutPayload};
use tokio::runtime::Handle;

use super::depot::Depot;
use crate::error::{Error, Result};

/// Objects are read and written in pieces of this many bytes, in a request each. Buckets want parts of at least 5 MiB.
const PIECE: usize = 8 << 20;

/// The objects below a path of an object store as a [`Depot`]: S3, Azure, Google, a folder, or memory.
///
/// An object is there as a whole or not at all, also after an interrupted upload. Calls wait for their requests on
/// the runtime that is given; they must not be made from a task of that runtime. For a store on the network, it must be one
/// with threads of its own.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use docvalues_store::{ObjectDepot, Replica, Store, StoreOptions, StoreSchema};
/// use object_store::memory::InMemory;
///
/// # let folder = tempfile::tempdir()?;
/// # let [one, two] = ["leader", "replica"].map(|name| folder.path().join(name));
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let depot = ObjectDepot::new(Arc::new(InMemory::new()), "stores/packages", runtime.handle().clone());
///
/// let leader = Store::create(&one, StoreSchema::new(), StoreOptions::default())?;
/// leader.hold_commit(None)?.publish(&depot)?;
/// let replica = Replica::open(&two, StoreOptions::default())?;
/// assert!(replica.install_from(&depot)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "object_store")))]
#[derive(Clone)]
pub struct ObjectDepot {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    runtime: Handle,
}

impl fmt::Debug for ObjectDepot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectDepot")
            .field("store", &self.store)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl ObjectDepot {
    /// The objects of `store` below `prefix`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str, runtime: Handle) -> ObjectDepot {
        ObjectDepot { store, prefix: Path::from(prefix), runtime }
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    async fn put_parts(&self, path: &Path, bytes: u64, from: &mut dyn Read) -> Result<()> {
        let mut upload = self.store.put_multipart(path).await.map_err(failed)?;
        let put = async {
            let mut left = bytes;
            while left > 0 {
                let piece = read_piece(from, left)?;
                left -= piece.len() as u64;
                upload.put_part(PutPayload::from(piece)).await.map_err(failed)?;
            }
            upload.complete().await.map_err(failed)
        };
        let put: Result<_> = put.await;
        if put.is_err() {
            // What cannot be aborted is never completed, and has no name.
            drop(upload.abort().await);
        }
        put.map(drop)
    }
}

impl Depot for ObjectDepot {
    fn place(&self, name: &str) -> String {
        self.path(name).to_string()
    }

    fn names(&self) -> Result<Vec<String>> {
        let listed = self.store.list(Some(&self.prefix)).try_collect::<Vec<_>>();
        let listed = self.runtime.block_on(listed).map_err(failed)?;
        let name = |path: &Path| {
            let name = path.filename()?.to_owned();
            // Not those of deeper folders.
            (self.path(&name) == *path).then_some(name)
        };
        Ok(listed.iter().filter_map(|object| name(&object.location)).collect())
    }

    fn put(&self, name: &str, bytes: u64, from: &mut dyn Read) -> Result<()> {
        let path = self.path(name);
        self.runtime.block_on(async {
            if bytes > PIECE as u64 {
                return self.put_parts(&path, bytes, from).await;
            }
            let whole = if bytes == 0 { Vec::new() } else { read_piece(from, bytes)? };
            self.store.put(&path, PutPayload::from(whole)).await.map(drop).map_err(failed)
        })
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>> {
        let path = self.path(name);
        match self.runtime.block_on(self.store.head(&path)) {
            Ok(object) => Ok(Some(Box::new(Object {
                depot: self,
                path,
                len: object.size,
                next: 0,
                piece: io::Cursor::default(),
            }))),
            Err(ObjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self.runtime.block_on(self.store.delete(&self.path(name))) {
            Ok(()) | Err(ObjectError::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The bytes of an object, piece by piece.
struct Object<'a> {
    depot: &'a ObjectDepot,
    path: Path,
    len: u64,
    /// The offset of the next piece.
    next: u64,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Object<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(out)?;
        if read > 0 || out.is_empty() || self.next == self.len {
            return Ok(read);
        }
        let end = self.len.min(self.next + PIECE as u64);
        let piece = self.depot.runtime.block_on(self.depot.store.get_range(&self.path, self.next..end));
        let piece = piece.map_err(io::Error::other)?;
        if piece.len() as u64 != end - self.next {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (self.piece, self.next) = (io::Cursor::new(piece.to_vec()), end);
        self.piece.read(out)
    }
}

/// The next piece of `left` bytes.
fn read_piece(from: &mut dyn Read, left: u64) -> Result<Vec<u8>> {
    let mut piece = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(PIECE)];
    from.read_exact(&mut piece).map_err(Error::Stream)?;
    Ok(piece)
}

fn failed(error: ObjectError) -> Error {
    Error::Stream(io::Error::other(error))
}

#[cfg(all(test, not(shuttle)))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;
    use object_store::memory::InMemory;

    use super::*;
    use crate::{Replica, Store, StoreOptions, StoreSchema};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn objects_are_read_as_they_are_put() {
        let runtime = runtime();
        let depot = ObjectDepot::new(Arc::new(InMemory::new()), "a/b", runtime.handle().clone());
        let lens = [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE];
        for len in lens {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            depot.put("one", len as u64, &mut &bytes[..]).unwrap();
            let mut found = Vec::new();
            depot.open("one").unwrap().unwrap().read_to_end(&mut found).unwrap();
            assert!(found == bytes, "{len}");
            // One that ends early takes the place of nothing.
            assert!(depot.put("one", len as u64 + 1, &mut &bytes[..]).is_err());
            assert!(depot.put("two", len as u64 + 1, &mut &bytes[..]).is_err());
            assert_eq!(depot.names().unwrap(), ["one"]);
        }
        let deeper = ObjectDepot { prefix: Path::from("a/b/c"), ..depot.clone() };
        deeper.put("three", 1, &mut &b"3"[..]).unwrap();
        assert_eq!(depot.names().unwrap(), ["one"]);
        assert!(depot.open("three").unwrap().is_none());
        depot.remove("one").unwrap();
        depot.remove("one").unwrap();
        assert!(depot.names().unwrap().is_empty() && depot.open("one").unwrap().is_none());
    }

    #[test]
    fn a_replica_follows_through_objects() {
        let runtime = runtime();
        let depot = ObjectDepot::new(Arc::new(InMemory::new()), "", runtime.handle().clone());
        let number = Field::new("n", Kind::Numeric, LogicalType::I64);
        let schema = StoreSchema::new().with_field(number).unwrap();
        let disk = |name: &str| Arc::new(PowerLossDirectory::new(name));
        let leader = Store::create_in(disk("/leader"), schema, StoreOptions::default()).unwrap();
        let replica = Replica::open_in(disk("/replica"), StoreOptions::default()).unwrap();
        for round in 0..5_i64 {
            let mut batch = leader.batch().unwrap();
            let field = batch.field("n").unwrap();
            for number in 0..100 {
                let mut doc = batch.upsert();
                doc.i64(field, number * round).unwrap();
                doc.finish().unwrap();
            }
            leader.apply(batch).unwrap();
            leader.commit().unwrap();
            leader.hold_commit(None).unwrap().publish(&depot).unwrap();
            assert!(replica.install_from(&depot).unwrap().is_some());
            assert_eq!(replica.position(), leader.position());
            assert_eq!(replica.snapshot().docs(), leader.snapshot().docs());
        }
        // The files of the two newest commits, and these.
        assert_eq!(depot.names().unwrap().len(), 5 + 2);
    }
}
