//! Checks of values against the type of their field.

use docvalues_format::file::kind::LogicalType;

use crate::error::ErrorKind;

/// The maximum length of a byte string, in bytes: 2 GiB.
pub const MAX_VALUE: u64 = 1 << 31;

/// Checks that a column of this type can hold the number.
pub(crate) fn check_number(logical: LogicalType, stored: i64) -> Result<(), ErrorKind> {
    match logical {
        LogicalType::Bool if stored >> 1 != 0 => Err(ErrorKind::NotBool { stored }),
        _ => Ok(()),
    }
}

/// Checks that a column of this type can hold the byte string; `is_text` if it is known to be UTF-8.
pub(crate) fn check_bytes(logical: LogicalType, value: &[u8], is_text: bool) -> Result<(), ErrorKind> {
    let len = value.len();
    match logical.fixed_len() {
        Some(expected) if len as u64 != u64::from(expected) => Err(ErrorKind::WrongLength { len, expected }),
        _ if len as u64 > MAX_VALUE => Err(ErrorKind::LongValue { len: len as u64, max: MAX_VALUE }),
        _ if is_text || logical != LogicalType::Utf8 => Ok(()),
        _ => match std::str::from_utf8(value) {
            Ok(_) => Ok(()),
            Err(error) => Err(ErrorKind::NotUtf8 { valid: error.valid_up_to() }),
        },
    }
}
