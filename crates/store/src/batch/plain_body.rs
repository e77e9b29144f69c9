//! Plain columns, and lists of byte strings, as parts of a body: written as they are, without copies.
//!
//! ```text
//! columns   documents, then for each column: documents | those with a value | where their values begin | values
//! values    numbers, or where each byte string begins and all of their bytes
//! lists     all bytes, then where each list begins
//! ```

use docvalues_column::{Lists, PlainColumn, PlainColumns, PlainValues};
use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};

#[derive(Serialize, Deserialize)]
enum Values<W, N, B> {
    Numbers(N),
    Strings(W, B),
}

type ColumnBody = (u32, Option<Vec<u64>>, Option<Vec<u64>>, Values<Vec<u64>, Vec<i64>, ByteBuf>);

pub(super) fn write_columns<S: Serializer>(docs: &PlainColumns, serializer: S) -> Result<S::Ok, S::Error> {
    let mut columns = Vec::with_capacity(docs.columns().len());
    for column in docs.columns() {
        let values = match column.values() {
            PlainValues::Numbers(numbers) => Values::Numbers(&numbers[..]),
            PlainValues::Strings(strings) => {
                Values::Strings(strings.offsets(), Bytes::new(strings.slices().items()))
            }
        };
        columns.push((column.docs(), column.present(), column.lists(), values));
    }
    (docs.docs(), columns).serialize(serializer)
}

pub(super) fn read_columns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlainColumns, D::Error> {
    let (docs, bodies) = <(u32, Vec<ColumnBody>)>::deserialize(deserializer)?;
    let column = |(docs, present, lists, values): ColumnBody| {
        let values = match values {
            Values::Numbers(numbers) => PlainValues::Numbers(numbers),
            Values::Strings(offsets, bytes) => {
                PlainValues::Strings(Lists::from_parts(offsets, bytes.into_vec())?)
            }
        };
        PlainColumn::new(docs, values, present, lists)
    };
    let columns: Option<Vec<PlainColumn>> = bodies.into_iter().map(column).collect();
    let columns = columns.and_then(|columns| PlainColumns::new(docs, columns));
    columns.ok_or_else(|| D::Error::custom("columns that do not fit each other"))
}

pub(super) fn write_lists<S: Serializer>(lists: &Lists<u8>, serializer: S) -> Result<S::Ok, S::Error> {
    (Bytes::new(lists.slices().items()), lists.offsets()).serialize(serializer)
}

pub(super) fn read_lists<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Lists<u8>, D::Error> {
    let (bytes, offsets) = <(ByteBuf, Vec<u64>)>::deserialize(deserializer)?;
    let lists = Lists::from_parts(offsets, bytes.into_vec());
    lists.ok_or_else(|| D::Error::custom("offsets that do not fit the bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Parts {
        #[serde(serialize_with = "write_columns", deserialize_with = "read_columns")]
        docs: PlainColumns,
        #[serde(serialize_with = "write_lists", deserialize_with = "read_lists")]
        lists: Lists<u8>,
    }

    fn decoded(docs: (u32, Vec<ColumnBody>), lists: (&[u8], &[u64])) -> Option<Parts> {
        let lists = (Bytes::new(lists.0), lists.1);
        postcard::from_bytes(&postcard::to_allocvec(&(docs, lists)).unwrap()).ok()
    }

    #[test]
    fn columns_and_lists_are_read_as_they_are_written() {
        let bytes = |bytes: &[u8]| ByteBuf::from(bytes);
        let columns = || {
            vec![
                (3, None, None, Values::Numbers(vec![7, -9, i64::MIN])),
                (2, Some(vec![0b10]), None, Values::Strings(vec![0, 0, 2], bytes(b"ab"))),
                (3, None, Some(vec![0, 2, 2, 2]), Values::Strings(vec![0, 1, 1], bytes(b"a"))),
                (0, None, Some(vec![0]), Values::Numbers(Vec::new())),
            ]
        };
        let parts = decoded((3, columns()), (b"abc", &[0, 2, 3])).unwrap();
        assert_eq!((parts.docs.docs(), parts.docs.columns().len()), (3, 4));
        assert_eq!(parts.docs.columns()[0].numbers(2), [i64::MIN]);
        assert_eq!(parts.docs.columns()[2].strings(0).collect::<Vec<_>>(), [&b"a"[..], b""]);
        assert_eq!(parts.lists.get(0), b"ab");
        let again = postcard::to_allocvec(&(3_u32, columns(), (Bytes::new(b"abc"), [0_u64, 2, 3].to_vec())));
        assert_eq!(postcard::to_allocvec(&parts), again);
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let column = |docs| (docs, None, None, Values::Numbers(vec![7, 7]));
        assert!(decoded((2, vec![column(2)]), (b"", &[0])).is_some());
        assert!(decoded((2, vec![column(3)]), (b"", &[0])).is_none());
        // More documents than there are.
        assert!(decoded((1, vec![column(2)]), (b"", &[0])).is_none());
        let strings = (2, None, None, Values::Strings(vec![0, 9, 1], ByteBuf::from(b"a")));
        assert!(decoded((2, vec![strings]), (b"", &[0])).is_none());
        assert!(decoded((0, Vec::new()), (b"ab", &[0, 9])).is_none());
    }
}
