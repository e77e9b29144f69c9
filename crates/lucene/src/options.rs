//! How an index is opened.

use crate::jump_tables::JumpTables;

/// How an index is opened.
///
/// ```
/// use docvalues_lucene::{JumpTables, Options};
///
/// let options = Options::new().jump_tables(JumpTables::BuildOnFirstUse).verify_all(true);
/// assert!(format!("{options:?}").contains("BuildOnFirstUse"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    pub(crate) jump_tables: JumpTables,
    pub(crate) verifies_all: bool,
    pub(crate) hides_soft_deletes: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Options {
    /// Tables of the file, checksums of metadata and of files up to 64 MiB, and no documents that are soft-deleted.
    pub const fn new() -> Options {
        Options { jump_tables: JumpTables::Baked, verifies_all: false, hides_soft_deletes: true }
    }

    /// How blocks of a column are found.
    #[must_use]
    pub const fn jump_tables(self, jump_tables: JumpTables) -> Options {
        Options { jump_tables, ..self }
    }

    /// Whether the checksums of files above 64 MiB are compared, too, when the first of their columns is opened.
    #[must_use]
    pub const fn verify_all(self, verifies_all: bool) -> Options {
        Options { verifies_all, ..self }
    }

    /// Whether documents that are soft-deleted are live: those with a value of the field that marks them.
    #[must_use]
    pub const fn keep_soft_deletes(self, keeps: bool) -> Options {
        Options { hides_soft_deletes: !keeps, ..self }
    }
}
