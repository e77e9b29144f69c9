//! Options for opening a segment.

use docvalues_format::jump::JumpTables;
use docvalues_storage::Verify;

/// The way in which a segment's file is accessed.
///
/// ```
/// use docvalues::column::Error as ReadError;
/// use docvalues::prelude::*;
/// use docvalues::reader::Access;
///
/// /// A file on a network share, which may change or shrink while it is open: an error, never a signal.
/// fn open_shared(path: &str) -> Result<Segment, ReadError> {
///     Segment::open_with(path, OpenOptions::new().access(Access::Read))
/// }
/// # assert!(open_shared("no such file").is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Memory-mapped.
    ///
    /// If another process truncates the file while it is mapped, this process can receive `SIGBUS`. So never change a
    /// published segment in place, and do not copy over it. A file of up to 64 KiB is read into memory instead, which
    /// is faster.
    #[default]
    Map,
    /// Read in blocks of 4 KiB, which stay in memory. For network file systems, and for files that other processes may
    /// change.
    Read,
}

/// Options for opening a segment: verification, jump tables, access, and limits for untrusted files.
///
/// # Examples
///
/// ```
/// use docvalues::OpenOptions;
/// use docvalues::reader::{Access, JumpTables, Verify};
///
/// let options = OpenOptions::new().verify(Verify::AtOpen).jump_tables(JumpTables::BuildOnFirstUse);
/// assert_eq!(options, options.access(Access::Map));
/// ```
///
/// Each option changes the cost of reading, and none the values:
///
/// | option | opening | a lookup |
/// | --- | --- | --- |
/// | [`Verify::OnFirstTouch`], the default | O(1) | CRC-32 of a granule of 4 KiB, at its first touch |
/// | [`Verify::AtOpen`] | reads each section of a column when that is opened | no checksums |
/// | [`JumpTables::Baked`], the default | O(1) | O(1) |
/// | [`JumpTables::BuildOnFirstUse`] | O(1) | the first one walks all blocks of its column |
///
/// # Untrusted segments
///
/// Checksums detect damage, not intent. A column whose documents all have the same value takes no bytes per document,
/// so a file of some hundred bytes can claim 2³¹ documents. Sorting all of them takes 20 bytes of memory per document.
/// [`untrusted`](Self::untrusted) rejects such a file, and [`max_docs`](Self::max_docs) any file with more documents
/// than you expect.
///
/// ```
/// use docvalues::prelude::*;
///
/// let mut schema = Schema::new();
/// schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// for _ in 0..2_000 {
///     writer.document().finish()?;
/// }
/// let file = writer.finish_bytes()?;
///
/// let upload = OpenOptions::new().untrusted().max_docs(1_000);
/// assert!(Segment::from_bytes(file.clone(), upload).is_err());
/// assert!(Segment::from_bytes(file, upload.max_docs(10_000)).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The time at which checksums are verified. Default: when bytes are first touched.
    pub verify: Verify,
    /// The way in which blocks are found. Default: jump tables from the file.
    pub jump_tables: JumpTables,
    /// The way in which the file is accessed. Default: mapped.
    pub access: Access,
    /// The most documents that a segment may have. Default: `None`, no limit.
    pub max_docs: Option<u32>,
    /// Whether a segment with implausibly many documents for its length is rejected: see
    /// [`untrusted`](Self::untrusted).
    pub untrusted: bool,
}

/// Documents that an untrusted segment may have, whatever its length.
const UNTRUSTED_DOCS: u64 = 1 << 20;

/// Documents that an untrusted segment may have in addition for each of its bytes.
const UNTRUSTED_DOCS_PER_BYTE: u64 = 64;

impl OpenOptions {
    /// The default options: mapped, verified when bytes are first touched, with the jump tables of the file.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Sets when checksums are verified.
    #[must_use]
    pub fn verify(self, verify: Verify) -> OpenOptions {
        OpenOptions { verify, ..self }
    }

    /// Sets how blocks are found.
    #[must_use]
    pub fn jump_tables(self, jump_tables: JumpTables) -> OpenOptions {
        OpenOptions { jump_tables, ..self }
    }

    /// Sets how the file is accessed.
    #[must_use]
    pub fn access(self, access: Access) -> OpenOptions {
        OpenOptions { access, ..self }
    }

    /// Rejects a segment that claims more documents than `docs`.
    #[must_use]
    pub fn max_docs(self, docs: u32) -> OpenOptions {
        OpenOptions { max_docs: Some(docs), ..self }
    }

    /// Rejects a segment that claims more than 1,048,576 documents plus 64 for each of its bytes.
    ///
    /// Segments of real data hardly reach this: 64 documents per byte are eight per bit.
    #[must_use]
    pub fn untrusted(self) -> OpenOptions {
        OpenOptions { untrusted: true, ..self }
    }

    /// The most documents that a file of `len` bytes may have.
    pub(crate) fn most_docs(&self, len: u64) -> u64 {
        let by_len = UNTRUSTED_DOCS.saturating_add(len.saturating_mul(UNTRUSTED_DOCS_PER_BYTE));
        let most = self.max_docs.map_or(u64::MAX, u64::from);
        if self.untrusted { most.min(by_len) } else { most }
    }
}
