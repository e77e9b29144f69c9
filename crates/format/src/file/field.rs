//! A column's field: its name, kind and type.

use super::kind::{Kind, LogicalType};

/// The longest name a field may have, in bytes.
pub const MAX_NAME: usize = 64 * 1024;

/// The schema of one column: its name, kind and type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name: 1 to 65,536 bytes of UTF-8.
    pub name: String,
    /// The number of values a document may have, and their storage form.
    pub kind: Kind,
    /// The type of the values before they were stored.
    pub logical: LogicalType,
    /// The spelling of the values in the input, for programs that write them out again: at most 255 bytes of text that
    /// the format does not interpret. `dv` stores a `strftime` pattern and `;key=value` entries.
    pub format: Option<String>,
}

impl Field {
    /// Creates a field without a format.
    pub fn new(name: impl Into<String>, kind: Kind, logical: LogicalType) -> Field {
        Field { name: name.into(), kind, logical, format: None }
    }
}
