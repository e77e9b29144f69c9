//! Two layouts of columns in memory, read with and without tables: for comparisons of jump tables and rank tables.

pub mod docvalues;
pub mod lucene;

use ::docvalues::DocId;

/// The tables that an iterator uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// An entry for each block, of presence and of numbers.
    pub jumps: bool,
    /// An entry for each 512 documents of a dense presence block.
    pub ranks: bool,
}

impl Tables {
    /// Lucene 7.
    pub const NONE: Tables = Tables { jumps: false, ranks: false };
    /// Lucene 8.
    pub const BOTH: Tables = Tables { jumps: true, ranks: true };
    /// Without and with jump tables, without and with rank tables.
    pub const EACH: [Tables; 4] = [
        Tables::NONE,
        Tables { jumps: false, ranks: true },
        Tables { jumps: true, ranks: false },
        Tables::BOTH,
    ];
}

/// A cursor over the values of documents.
pub trait Values {
    /// The value of a document.
    fn get(&mut self, doc: DocId) -> Option<i64>;

    /// The block headers that were read so far, of presence and of numbers.
    fn headers(&self) -> [u64; 2];
}

#[cfg(test)]
mod tests {
    use docvalues_testkit::rng::SplitMix64;

    use super::*;
    use crate::jump_shapes::{self, Shape};

    #[test]
    fn both_layouts_answer_as_the_values_do_with_any_tables() {
        let docs = 200_000;
        let values = jump_shapes::values(docs);
        let mut random = SplitMix64::new(1);
        let mut asked: Vec<u32> = (0..3_000).map(|_| random.below_u32(docs)).collect();
        for _ in 0..2 {
            for (name, shape) in Shape::EACH {
                let present = shape.present(docs);
                let there = |doc: u32| {
                    present.as_ref().is_none_or(|words| words[doc as usize / 64] >> (doc % 64) & 1 == 1)
                };
                let ours = docvalues::Column::encode(&values, present.as_deref());
                let lucene = lucene::Column::encode(&values, present.as_deref(), false, 16_384);
                for tables in Tables::EACH {
                    let cursors: [Box<dyn Values>; 2] =
                        [Box::new(ours.iterator(tables)), Box::new(lucene.iterator(tables))];
                    for mut cursor in cursors {
                        for &doc in &asked {
                            let expected = there(doc).then(|| values[doc as usize]);
                            assert_eq!(cursor.get(DocId::new(doc)), expected, "{name}, {tables:?}, {doc}");
                        }
                    }
                }
            }
            asked.sort_unstable();
        }
    }
}
