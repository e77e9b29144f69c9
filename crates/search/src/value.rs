//! Values as columns store them.

/// A value as it is stored: its column's logical type says what it means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A number: see the transforms of `docvalues_format::file::kind`.
    Number(i64),
    /// A byte string.
    Bytes(Vec<u8>),
}
