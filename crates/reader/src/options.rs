//! How a segment is opened.

use docvalues_format::jump::JumpTables;
use docvalues_storage::Verify;

/// How a segment's bytes are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// Through a mapping. Another process that truncates the file while it is mapped can stop this
    /// one with `SIGBUS`: published segments are never changed, so do not copy over one either.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenOptions {
    /// When checksums are compared.
    pub verify: Verify,
    /// How blocks are found.
    pub jump_tables: JumpTables,
    /// How bytes are reached.
    pub access: Access,
}

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
}
