//! Values while they are worked with.

/// A value as its column stores it, or an ord as a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
}
