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

pub(super) fn is_empty(data: &Arc<[u8]>) -> bool {
    data.is_empty()
}

pub(super) fn serialize<S: Serializer>(data: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = data.iter().flat_map(|&byte| [byte >> 4, byte & 15]);
    let text: String = digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect();
    serializer.serialize_str(&text)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes: Option<Arc<[u8]>> = text.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| D::Error::custom("expected user data in pairs of hexadecimal digits"))
}

fn byte(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    match digits {
        [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
        _ => None,
    }
}
