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
//! 12  partitions, limit, dataset, columns, text of the query
//! ```
//!
//! Version and checksum are little-endian. [`postcard`] encodes the fields from 12 on.

mod dataset;
mod objects;
#[cfg(test)]
mod tests;

use docvalues_search::Query;

use dataset::Contents;
pub use dataset::Dataset;

use crate::error::{Error, Result};

const MAGIC: [u8; 4] = *b"dvsq";

/// The version that this code writes, and the newest one that it reads.
const VERSION: u32 = 1;

/// The length of magic, version and checksum.
const HEADER: usize = 12;

/// The fields of a [`ScanRequest`] after its header, with the text of the query.
type Fields = (u32, Option<u64>, Contents, Vec<String>, String);

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
        let ScanRequest { dataset: Dataset(contents), columns, query, limit, partitions } = self;
        let query = query.to_string();
        Query::parse(&query)
            .map_err(|error| refused(format!("expected a query that can be sent as text: {error}")))?;
        let fields = postcard::to_allocvec(&(partitions, limit, contents, columns, query));
        let fields = fields.map_err(|error| refused(error.to_string()))?;
        let crc = crc32fast::hash(&fields);
        Ok([&MAGIC[..], &VERSION.to_le_bytes(), &crc.to_le_bytes(), &fields[..]].concat())
    }

    /// Decodes the bytes of a request. Opens no file.
    ///
    /// # Errors
    ///
    /// [`Error::ScanRequest`] if they are not those of a request, or of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<ScanRequest> {
        let [magic, version, crc, ..] = bytes.as_chunks::<4>().0 else {
            return Err(refused(format!("expected a header of {HEADER} bytes, found {} bytes", bytes.len())));
        };
        if *magic != MAGIC {
            let (expected, found) = (MAGIC.escape_ascii(), magic.escape_ascii());
            return Err(refused(format!("byte 0: expected \"{expected}\", found \"{found}\"")));
        }
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            let newer = if version > VERSION { ": it needs a newer docvalues" } else { "" };
            return Err(refused(format!(
                "byte 4: expected version {VERSION}, found version {version}{newer}"
            )));
        }
        let (crc, found) = (u32::from_le_bytes(*crc), crc32fast::hash(&bytes[HEADER..]));
        if crc != found {
            return Err(refused(format!("byte 8: expected the checksum {crc:08x}, found {found:08x}")));
        }
        let ((partitions, limit, contents, columns, text), rest) =
            postcard::take_from_bytes::<Fields>(&bytes[HEADER..])
                .map_err(|error| refused(format!("expected the fields of a request, found {error}")))?;
        if !rest.is_empty() {
            return Err(refused(format!("expected the end, found {} more bytes", rest.len())));
        }
        let query =
            Query::parse(&text).map_err(|error| refused(format!("expected a query, found {error}")))?;
        Ok(ScanRequest { dataset: Dataset(contents), columns, query, limit, partitions })
    }
}

fn refused(what: String) -> Error {
    Error::ScanRequest { what }
}
