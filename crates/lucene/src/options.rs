//! Options of opening an index.

use std::collections::BTreeMap;

use crate::jump_tables::JumpTables;
use crate::types::FieldType;

/// Options of opening an [`Index`](crate::Index).
///
/// ```
/// use docvalues_lucene::{JumpTables, Options};
///
/// let options = Options::new().jump_tables(JumpTables::BuildOnFirstUse).verify_all(true);
/// assert!(format!("{options:?}").contains("BuildOnFirstUse"));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    pub(crate) jump_tables: JumpTables,
    pub(crate) verifies_all: bool,
    pub(crate) keeps_soft_deletes: bool,
    pub(crate) unites_kinds: bool,
    pub(crate) types: BTreeMap<String, FieldType>,
}

impl Options {
    /// Tables of the file, checksums of metadata and of files up to 64 MiB, no documents that are soft-deleted, and the types
    /// that engines are known to write.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the way to blocks of a column.
    #[must_use]
    pub fn jump_tables(self, jump_tables: JumpTables) -> Options {
        Options { jump_tables, ..self }
    }

    /// Sets whether the checksums of files above 64 MiB are compared, too, when the first of their columns is opened, or the first of
    /// their terms is looked up.
    #[must_use]
    pub fn verify_all(self, verifies_all: bool) -> Options {
        Options { verifies_all, ..self }
    }

    /// Whether documents that are soft-deleted are live: those with a value of the field that marks them.
    #[must_use]
    pub fn keep_soft_deletes(self, keeps_soft_deletes: bool) -> Options {
        Options { keeps_soft_deletes, ..self }
    }

    /// Whether a field has the same kind in all segments: lists in all, if it has lists in some. Merges need it; searches do
    /// not, and are faster without.
    #[must_use]
    pub fn unite_kinds(self, unites: bool) -> Options {
        Options { unites_kinds: unites, ..self }
    }

    /// The type of the field `name`, in segments that have doc values of it. Without one, a field has the type that the
    /// engine is known to write, or else `i64`, `string` or `bytes`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, field_type: impl Into<FieldType>) -> Options {
        self.types.insert(name.into(), field_type.into());
        self
    }
}
