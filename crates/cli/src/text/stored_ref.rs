//! [`StoredRef`]: a value as a segment stores it.

use crate::api::search::Value;

/// A value of a document, as the segment stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredRef<'a> {
    Number(i64),
    Bytes(&'a [u8]),
}

impl<'a> From<&'a Value> for StoredRef<'a> {
    fn from(value: &'a Value) -> StoredRef<'a> {
        match value.stored() {
            Some(number) => StoredRef::Number(number),
            None => StoredRef::Bytes(value.as_bytes().unwrap_or_default()),
        }
    }
}
