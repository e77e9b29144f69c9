//! The rows of a table, compared with bytes.

use crate::document::Row;

/// A field's name and bytes.
pub(crate) type Named = (&'static str, Vec<u8>);

pub(crate) fn f(name: &'static str, bytes: impl AsRef<[u8]>) -> Named {
    (name, bytes.as_ref().to_vec())
}

/// Compares the rows of a table with `bytes`, which are `fields` in this order, with zeros between them.
pub(crate) fn check(rows: &[Row], bytes: &[u8], fields: &[Named]) {
    let (mut at, mut fields) = (0, fields.iter());
    for row in rows {
        if let Some(offset) = row.offset {
            assert_eq!(offset, at, "{row:?}");
        }
        let expected = match row.field.as_str() {
            "*end*" => continue,
            // If a table has no length, the zeros are padding.
            "zero" | "reserved" => vec![0; row.bytes.unwrap_or(at.next_multiple_of(8) - at)],
            // Only decimals have digits.
            "digits" if fields.as_slice().first().is_none_or(|(name, _)| *name != "digits") => continue,
            field => {
                let (name, expected) = fields.next().unwrap_or_else(|| panic!("no such field: {row:?}"));
                assert_eq!(field, *name);
                expected.clone()
            }
        };
        assert!(row.bytes.is_none_or(|bytes| bytes == expected.len()), "{row:?}");
        assert_eq!(bytes.get(at..at + expected.len()), Some(&expected[..]), "{row:?}");
        at += expected.len();
    }
    assert_eq!(fields.next(), None, "fields without a row");
    assert_eq!(at, bytes.len(), "bytes without a row");
}
