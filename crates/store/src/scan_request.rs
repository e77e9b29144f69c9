//! [`ScanRequest`]: a scan that another process can run, as bytes.
//!
//! An engine that runs a query on several machines sends each of them a request, and never documents. A request names files
//! or objects ([`Dataset`]). Each process opens them under the same paths or URLs, and checks that they are the ones that were
//! meant.
//!
//! ```text
//!  0  "dvsq"
//!  4  version: 1
//!  8  CRC-32 of all bytes from 12 on
//! 12  partitions
//! 16  limit       1 byte: 0 for none, or 1 and then the limit (8 bytes)
//!     dataset     0: a commit of a store                   1 byte
//!                    path, number (8 bytes), id of the store (8), hash of the commit (8)
//!                 1: segment files                         1 byte
//!                    count, for each: path, length (8), content id (16)
//!                 2: objects with a segment each           1 byte
//!                    as 1, with URLs as paths
//!     columns     count, for each: name
//!     query       its text
//! ```
//!
//! Numbers are little-endian, and 4 bytes long unless noted. A path, name or query is its length in bytes, then UTF-8.

mod dataset;
mod decode;
mod encode;
mod objects;
#[cfg(test)]
mod tests;

use docvalues_search::Query;

pub use dataset::Dataset;

use crate::error::{Error, Result};

const MAGIC: [u8; 4] = *b"dvsq";

/// The version that this code writes, and the newest one that it reads.
const VERSION: u32 = 1;

/// The length of magic, version and checksum.
const HEADER: usize = 12;

/// Columns of the documents of a [`Dataset`] that match a query, cut into partitions.
///
/// Its bytes have no documents: the process that gets them opens the files itself.
///
/// # Examples
///
/// ```
/// use docvalues_search::Query;
/// use docvalues_store::{Dataset, ScanRequest, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
/// let request = ScanRequest {
///     dataset: Dataset::of_store(&path)?,
///     columns: vec!["host".to_owned(), "size".to_owned()],
///     query: Query::range("size", 1_000..),
///     limit: None,
///     partitions: 8,
/// };
/// let bytes = request.encode()?;
/// // In another process:
/// let request = ScanRequest::decode(&bytes)?;
/// assert_eq!(request.dataset.open()?.docs(), 0);
/// # drop(store);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRequest {
    /// The documents.
    pub dataset: Dataset,
    /// The names of the columns, in order.
    pub columns: Vec<String>,
    /// The documents that are wanted.
    pub query: Query,
    /// The most documents that are wanted; any of them.
    pub limit: Option<u64>,
    /// The number of partitions that the sender asked for, or 0 for one for each part. The engine cuts the documents by the same
    /// rule in each process.
    pub partitions: u32,
}

impl ScanRequest {
    /// The bytes of the request.
    ///
    /// # Errors
    ///
    /// [`Error::ScanRequest`] if the query has no text that can be parsed: it has a set of documents, or is too long or too
    /// deeply nested.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode::encode(self)
    }

    /// Decodes the bytes of a request. Opens no file.
    ///
    /// # Errors
    ///
    /// [`Error::ScanRequest`], with the position of the error, if they are not those of a request, or of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<ScanRequest> {
        decode::decode(bytes)
    }
}

fn refused(what: String) -> Error {
    Error::ScanRequest { what }
}
