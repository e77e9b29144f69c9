//! The index sort of a segment: a directory extension with the keys by which the documents are sorted.
//!
//! Documents are in the order of the first key; documents that are equal by it are in the order of the second key, and
//! so on. Numbers are compared as they are stored, which preserves the order of their type. The order of doubles is
//! IEEE 754's *totalOrder*: −0.0 is just before 0.0, and NaNs are at the ends. Byte strings are compared byte by byte.
//!
//! The extension does not change the meaning of columns, so a reader may skip it.
//!
//! # Body of the extension
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! | 0 | 4 | `count` | u32: number of keys, 1 to [`MAX_SORT_KEYS`] |
//! | 4 | … | `keys`  | the keys, end to end, the primary one first |
//!
//! # Key
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! | 0 | 1 | `flags`    | u8: bit 0: values descend · 1: documents without a value come first instead of last |
//! | 1 | 3 | `zero`     | 0 |
//! | 4 | 4 | `name_len` | u32: 1 to 65,536 |
//! | 8 | … | `name`     | the name of a column with one value a document, UTF-8; each comes once |
//!
//! # Drawing
//!
//! Sorted by `section`, missing ones first, then by `size`, descending:
//!
//! ```text
//! 02 00 00 00                                            two keys
//! 02 00 00 00   07 00 00 00   s e c t i o n              flags 10: missing first
//! 01 00 00 00   04 00 00 00   s i z e                    flags 01: descending
//! ```

use std::cmp::Ordering;

use crate::cursor::{Cursor, Put};
use crate::error::Result;
use crate::file::column::name;

/// The tag of the extension.
pub const SORT_TAG: u32 = 1;

/// The most keys of a sort.
pub const MAX_SORT_KEYS: usize = 16;

/// A key of an index sort: a column and an order.
///
/// ```
/// use docvalues_format::file::sort::SortKey;
///
/// let keys = [SortKey::of("section").missing_first(), SortKey::of("size").descending()];
/// assert_eq!(keys.map(|key| key.to_string()).join(", "), "section (missing first), size (descending)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The column's name.
    pub column: String,
    /// Whether the greatest value comes first.
    pub descending: bool,
    /// Whether documents without a value come first, in either order of values.
    pub missing_first: bool,
}

impl SortKey {
    /// Sorts by `column`, ascending; documents without a value come last.
    pub fn of(column: impl Into<String>) -> SortKey {
        SortKey { column: column.into(), descending: false, missing_first: false }
    }

    /// Sorts the greatest value first. Does not move documents without a value.
    #[must_use]
    pub fn descending(self) -> SortKey {
        SortKey { descending: true, ..self }
    }

    /// Sorts documents without a value first.
    #[must_use]
    pub fn missing_first(self) -> SortKey {
        SortKey { missing_first: true, ..self }
    }

    /// The order of two documents by their values of the column; `None` is a document without a value.
    pub fn compare<T: Ord>(&self, a: Option<T>, b: Option<T>) -> Ordering {
        let missing = match (a, b) {
            (Some(a), Some(b)) => return if self.descending { b.cmp(&a) } else { a.cmp(&b) },
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (None, None) => Ordering::Equal,
        };
        if self.missing_first { missing.reverse() } else { missing }
    }

    fn flags(&self) -> u8 {
        u8::from(self.descending) | u8::from(self.missing_first) << 1
    }
}

impl std::fmt::Display for SortKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match (self.descending, self.missing_first) {
            (false, false) => "",
            (true, false) => " (descending)",
            (false, true) => " (missing first)",
            (true, true) => " (descending, missing first)",
        };
        write!(f, "{}{how}", self.column)
    }
}

/// Encodes the body of the extension. The caller guarantees keys that [`decode`] accepts.
pub fn encode(keys: &[SortKey]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_u32(u32::try_from(keys.len()).unwrap_or(u32::MAX));
    for key in keys {
        out.put_u8(key.flags());
        out.put(&[0; 3]);
        out.put_u32(u32::try_from(key.column.len()).unwrap_or(u32::MAX));
        out.put(key.column.as_bytes());
    }
    out
}

/// Reads the body of the extension. Does not check that the columns exist.
///
/// # Errors
///
/// When there is no key or there are too many, two keys name one column, a field has a value that the format does not
/// allow, or the body is too long or too short.
pub fn decode(cursor: &mut Cursor<'_>) -> Result<Vec<SortKey>> {
    let count = cursor.u32()?;
    cursor.at_most("keys of the sort", count.into(), MAX_SORT_KEYS as u64)?;
    cursor.rule(count > 0, "an index sort without keys")?;
    let mut keys: Vec<SortKey> = Vec::new();
    for _ in 0..count {
        let flags = cursor.u8()?;
        cursor.at_most("flags of a sort key", flags.into(), 0b11)?;
        cursor.zeros(3)?;
        let column = name(cursor)?;
        cursor.rule(keys.iter().all(|key| key.column != column), "two sort keys name the same column")?;
        let column = column.to_owned();
        keys.push(SortKey { column, descending: flags & 1 != 0, missing_first: flags & 2 != 0 });
    }
    cursor.equal("bytes after the sort keys", cursor.left() as u64, 0)?;
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Place, Section};

    fn read(bytes: &[u8]) -> Result<Vec<SortKey>> {
        decode(&mut Cursor::new(Place { section: Section::DirectoryRoot, offset: 1_000 }, bytes))
    }

    fn keys() -> [SortKey; 4] {
        let [a, b, c, d] = ["a", "größe", "x y", "d"].map(SortKey::of);
        [a, b.descending(), c.missing_first(), d.missing_first().descending()]
    }

    #[test]
    fn keys_are_read_as_they_were_written() {
        for len in 1..=4 {
            assert_eq!(read(&encode(&keys()[..len])).unwrap(), keys()[..len]);
        }
        let most: Vec<_> = (0..MAX_SORT_KEYS).map(|i| SortKey::of(i.to_string())).collect();
        assert_eq!(read(&encode(&most)).unwrap(), most);
    }

    #[test]
    fn an_invalid_sort_is_refused_with_a_reason_and_an_offset() {
        let good = encode(&keys());
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            read(&bytes).unwrap_err().to_string()
        };
        assert_eq!(
            with(0, 17),
            "directory root at byte 1000: keys of the sort: expected at most 16, found 17"
        );
        assert_eq!(with(0, 0), "directory root at byte 1000: an index sort without keys");
        assert_eq!(with(0, 3), "directory root at byte 1036: bytes after the sort keys: expected 0, found 9");
        assert_eq!(
            with(4, 4),
            "directory root at byte 1004: flags of a sort key: expected at most 3, found 4"
        );
        assert_eq!(with(7, 1), "directory root at byte 1005: reserved bytes are not zero");
        assert_eq!(with(8, 0), "directory root at byte 1008: the field has no name");
        assert_eq!(
            with(10, 2),
            "directory root at byte 1008: length of the name: expected at most 65536, found 131073"
        );
        assert_eq!(with(12, 0xff), "directory root at byte 1012: the text is not UTF-8");
        assert_eq!(with(12, b'd'), "directory root at byte 1047: two sort keys name the same column");
        assert!(read(&[&good[..], &[0]].concat()).is_err());
        for len in 0..good.len() {
            assert!(read(&good[..len]).is_err(), "{len} bytes");
        }
    }
}
