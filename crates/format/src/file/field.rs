//! What a column is called and what it holds.

use super::kind::{Kind, LogicalType};

/// The longest name a field may have, in bytes.
pub const MAX_NAME: usize = 64 * 1024;

/// A column as the directory describes it to people: its name, kind and type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name: 1 to 65,536 bytes of UTF-8.
    pub name: String,
    /// How many values a document may have, and of what form.
    pub kind: Kind,
    /// What the values were before they were stored.
    pub logical: LogicalType,
    /// How the input spelled the values, for whoever writes them out again: text that the format does
    /// not look into, at most 255 bytes. `dv` keeps a `strftime` pattern and `;key=value` entries there.
    pub format: Option<String>,
}

impl Field {
    /// A field with no spelling of its own.
    pub fn new(name: impl Into<String>, kind: Kind, logical: LogicalType) -> Field {
        Field { name: name.into(), kind, logical, format: None }
    }
}
