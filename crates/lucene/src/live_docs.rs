//! Live documents: the file `.liv`, a bit for each document of a segment.

use docvalues_column::Bitset;

use crate::cursor::Cursor;
use crate::envelope::{Contents, open, verified};
use crate::error::{ErrorKind, Result};
use crate::file::File;
use crate::order::Order;

/// Reads the live documents of a segment of `docs` documents, of which `deleted` are deleted.
pub(crate) fn read(
    file: &File,
    order: Order,
    (id, suffix): (&[u8; 16], &str),
    docs: u32,
    deleted: u32,
) -> Result<Bitset> {
    let name = match order {
        Order::Big => "Lucene50LiveDocs",
        Order::Little => "Lucene90LiveDocs",
    };
    let contents = Contents { name, oldest: 0, newest: 0, order };
    let body = verified(open(file, &[contents], Some(id), suffix)?)?;
    let mut cursor = Cursor::new(&body);
    let count = docs.div_ceil(64) as usize;
    if cursor.left() != 8 * count {
        let (needed, left) = (8 * count as u64, cursor.left() as u64);
        return Err(cursor.refuse(ErrorKind::Truncated { needed, left }));
    }
    let bytes = cursor.take(8 * count)?;
    let words: Vec<u64> = (0..count).map(|at| order.u64(bytes, 8 * at).unwrap_or(0)).collect();
    let unused = words.last().map_or(0, |last| last.checked_shr(docs % 64).unwrap_or(0));
    cursor.rule(docs.is_multiple_of(64) || unused == 0, "live documents past the last one")?;
    let live = Bitset::from_words(words, docs);
    cursor.within("deleted documents", (docs - live.count()).into(), deleted.into(), deleted.into())?;
    Ok(live)
}

#[cfg(test)]
pub(crate) mod tests {
    use docvalues_column::DocId;

    use super::*;
    use crate::testing::{Encoder, ID, encode, file};

    /// The `.liv` with these words.
    pub(crate) fn live_docs(order: Order, suffix: &str, words: &[u64]) -> Vec<u8> {
        let mut out = Encoder::new(order);
        words.iter().for_each(|word| {
            out.u64(*word);
        });
        let name = if order == Order::Big { "Lucene50LiveDocs" } else { "Lucene90LiveDocs" };
        encode(name, 0, suffix, &out.out)
    }

    #[test]
    fn live_documents_are_read() {
        for order in [Order::Big, Order::Little] {
            let file = file(live_docs(order, "2s", &[!0b1010, 0b11]));
            let live = read(&file, order, (&ID, "2s"), 66, 2).unwrap();
            assert_eq!((live.count(), live.docs()), (64, 66));
            assert!(!live.contains(DocId::new(1)) && live.contains(DocId::new(65)));
            assert!(read(&file, order, (&ID, "2s"), 66, 3).is_err(), "another number of deletes");
            assert!(read(&file, order, (&ID, "2s"), 64, 2).is_err(), "too long");
            assert!(read(&file, order, (&ID, "2s"), 65, 2).is_err(), "a document past the end");
            assert!(read(&file, order, (&ID, "2s"), u32::MAX, 2).is_err(), "too short");
            assert!(read(&file, order, (&ID, "2"), 66, 2).is_err(), "another generation");
        }
    }
}
