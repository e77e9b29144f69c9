//! The bytes that a caller gives a commit: two hexadecimal digits for each in its JSON.

use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::Serializer;

/// The most bytes of user data in a commit.
pub(super) const MAX_USER_DATA: usize = 1 << 20;

const DIGITS: [u8; 16] = *b"0123456789abcdef";

/// Fails if a commit cannot have so many.
pub(crate) fn check_user_data(data: &[u8]) -> Result<(), String> {
    match data.len() {
        ..=MAX_USER_DATA => Ok(()),
        found => Err(format!("expected at most {MAX_USER_DATA} bytes of user data, found {found}")),
    }
}

pub(super) fn serialize<S: Serializer>(data: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(data))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Arc<[u8]>> = digits.as_bytes().chunks(2).map(byte).collect();
    // Only one spelling of a byte is one.
    let bytes = bytes.filter(|bytes| text(bytes) == digits);
    bytes.ok_or_else(|| D::Error::custom("expected user data in pairs of hexadecimal digits"))
}

fn text(data: &[u8]) -> String {
    let digits = data.iter().flat_map(|&byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
