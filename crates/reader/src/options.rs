//! How a segment is opened.

use docvalues_format::jump::JumpTables;
use docvalues_storage::Verify;

/// How a segment's bytes are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Through a mapping. Another process that truncates the file while it is mapped can stop this
    /// one with `SIGBUS`: published segments are never changed, so do not copy over one either. A file of up to 64 KiB is
    /// read whole in place of a mapping, which is faster.
    #[default]
    Map,
    /// By plain reads, 4 KiB at a time, kept in memory once they were read: for network file systems,
    /// and where other processes cannot be trusted with the file.
    Read,
}

/// How a segment is opened: what is checked when, how blocks are found, how bytes are reached.
///
/// ```
/// use docvalues_reader::{Access, JumpTables, OpenOptions, Verify};
///
/// let options = OpenOptions::new().verify(Verify::AtOpen).jump_tables(JumpTables::BuildOnFirstUse);
/// assert_eq!(options, OpenOptions { access: Access::Map, ..options });
/// ```
///
/// # Segments of strangers
///
/// Checksums tell of damage, not of intent. Columns in which all documents have the same value take no bytes for each, so a
/// file of some hundred bytes may say that it has 2³¹ documents, and a sort of all of them takes 20 bytes of memory each.
/// [`untrusted`](Self::untrusted) refuses such a file, and [`max_docs`](Self::max_docs) any that has more documents than you
/// know it to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenOptions {
    /// When checksums are compared.
    pub verify: Verify,
    /// How blocks are found.
    pub jump_tables: JumpTables,
    /// How bytes are reached.
    pub access: Access,
    /// The most documents that a segment may have; `None`, as by default, if it may have any number.
    pub max_docs: Option<u32>,
    /// Whether a segment with far more documents than its bytes suggest is refused: see [`untrusted`](Self::untrusted).
    pub untrusted: bool,
}

/// Documents that a segment which is not trusted may have, whatever its length.
const UNTRUSTED_DOCS: u64 = 1 << 20;

/// And how many more for each of its bytes.
const UNTRUSTED_DOCS_PER_BYTE: u64 = 64;

impl OpenOptions {
    /// Checked at first touch, baked jump tables, mapped.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// When checksums are compared.
    #[must_use]
    pub fn verify(self, verify: Verify) -> OpenOptions {
        OpenOptions { verify, ..self }
    }

    /// How blocks are found.
    #[must_use]
    pub fn jump_tables(self, jump_tables: JumpTables) -> OpenOptions {
        OpenOptions { jump_tables, ..self }
    }

    /// How bytes are reached.
    #[must_use]
    pub fn access(self, access: Access) -> OpenOptions {
        OpenOptions { access, ..self }
    }

    /// Refuses a segment that says it has more documents.
    #[must_use]
    pub fn max_docs(self, docs: u32) -> OpenOptions {
        OpenOptions { max_docs: Some(docs), ..self }
    }

    /// Refuses a segment that says it has more than 1,048,576 documents and 64 for each of its bytes.
    ///
    /// A segment of real data seldom has: 64 documents a byte are eight in a bit.
    #[must_use]
    pub fn untrusted(self) -> OpenOptions {
        OpenOptions { untrusted: true, ..self }
    }

    /// The most documents of a file of `len` bytes.
    pub(crate) fn most_docs(&self, len: u64) -> u64 {
        let by_len = UNTRUSTED_DOCS.saturating_add(len.saturating_mul(UNTRUSTED_DOCS_PER_BYTE));
        let most = self.max_docs.map_or(u64::MAX, u64::from);
        if self.untrusted { most.min(by_len) } else { most }
    }
}
