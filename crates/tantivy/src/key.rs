//! The key of a document, which it has in text and columns.

/// The name of the field with the key of each document: a `u64` in the text, and in the columns its eight bytes, the highest first.
pub const KEY: &str = "key";

/// A key as an id of the columns.
pub(crate) fn id_of(key: u64) -> [u8; 8] {
    key.to_be_bytes()
}

/// The key of an id of the columns.
pub(crate) fn key_of(id: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(id.try_into().ok()?))
}
