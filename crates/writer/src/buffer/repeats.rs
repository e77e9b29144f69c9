//! [`Repeats`]: whether the byte strings of a field repeat, as far as it is known.

use crate::schema::{BytesKind, FieldSpec};

/// The number of values that decide.
pub(crate) const SAMPLE: u32 = if cfg!(test) { 1 << 9 } else { 1 << 16 };

/// The state of the decision about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// The field has a declared kind, or several values a document.
    Declared,
    /// The field has fewer values than the sample.
    Unknown,
    /// Values are interned.
    Often,
    /// Values are kept as they are, and checked again in the end.
    Rarely,
}

impl Repeats {
    pub(crate) fn of(spec: &FieldSpec) -> Repeats {
        let is_open = spec.logical().is_bytes() && !spec.is_multi_valued();
        if is_open && spec.bytes_kind() == BytesKind::Auto { Repeats::Unknown } else { Repeats::Declared }
    }
}
