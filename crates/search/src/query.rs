//! Which documents are like this: conditions on columns, joined by and, or and not.

/// A condition on documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// All of them.
    All,
}
