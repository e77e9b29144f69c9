//! Columns in the layout of docvalues, with cursors that may use jump tables, rank tables, both or neither.

use docvalues::DocId;
use docvalues::format::error::Error;
use docvalues::format::jump::JumpTables;
use docvalues::format::numeric::{self, NumericOptions, NumericReader, Role};
use docvalues::format::presence::{self, PresenceReader};
use docvalues::format::source::Owned;

use super::{Tables, Values};

mod walk;

pub use walk::{NumberWalk, PresenceWalk};

/// A column in the layout of docvalues, with its tables.
#[derive(Debug)]
pub struct Column {
    presence: PresenceReader<Owned>,
    numbers: NumericReader<Owned>,
}

impl Column {
    /// Encodes `values`, a slot for each document; `present` is a bitset of the documents with a value, or `None` if all
    /// have one.
    pub fn encode(values: &[i64], present: Option<&[u64]>) -> Column {
        let docs = values.len() as u32;
        let there = |doc: usize| present.is_none_or(|words| words[doc / 64] >> (doc % 64) & 1 == 1);
        let dense: Vec<i64> = (0..values.len()).filter(|&doc| there(doc)).map(|doc| values[doc]).collect();
        let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: false };
        let own = &mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes));
        let numbers = numeric::encode(&dense, &options).try_map(own).expect("memory");
        let presence = match present {
            Some(words) => presence::encode(docs, words, true).try_map(own).expect("memory"),
            None => presence::Presence::All,
        };
        Column {
            presence: PresenceReader::open(presence, docs, JumpTables::Baked).expect("just encoded"),
            numbers: NumericReader::open(numbers, JumpTables::Baked).expect("just encoded"),
        }
    }

    /// A cursor that uses these tables; each look-up of both tables is the one that segments use.
    pub fn iterator(&self, tables: Tables) -> Iterator<'_> {
        let presence = match tables {
            Tables::BOTH => Presence::Reader(&self.presence),
            tables => Presence::Walk(PresenceWalk::new(&self.presence, tables)),
        };
        let numbers = match tables.jumps {
            true => Numbers::Reader(&self.numbers),
            false => Numbers::Walk(NumberWalk::new(&self.numbers)),
        };
        Iterator { presence, numbers }
    }
}

/// A cursor over a column of docvalues.
#[derive(Debug)]
pub struct Iterator<'c> {
    presence: Presence<'c>,
    numbers: Numbers<'c>,
}

#[derive(Debug)]
enum Presence<'c> {
    Reader(&'c PresenceReader<Owned>),
    Walk(PresenceWalk<'c>),
}

#[derive(Debug)]
enum Numbers<'c> {
    Reader(&'c NumericReader<Owned>),
    Walk(NumberWalk<'c>),
}

impl Values for Iterator<'_> {
    #[inline]
    fn get(&mut self, doc: DocId) -> Option<i64> {
        let index = match &mut self.presence {
            Presence::Reader(reader) => reader.rank(doc).expect("just encoded"),
            Presence::Walk(walk) => walk.rank(doc),
        };
        let index = index?.get().into();
        Some(match &mut self.numbers {
            Numbers::Reader(reader) => reader.get(index).expect("just encoded"),
            Numbers::Walk(walk) => walk.get(index),
        })
    }

    fn headers(&self) -> [u64; 2] {
        let presence = match &self.presence {
            Presence::Reader(_) => 0,
            Presence::Walk(walk) => walk.headers(),
        };
        let numbers = match &self.numbers {
            Numbers::Reader(_) => 0,
            Numbers::Walk(walk) => walk.headers(),
        };
        [presence, numbers]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every other document of five blocks has a value.
    const DOCS: u32 = 65_536 * 4 + 64_000;

    /// Numbers have several blocks, as those of the second half are wide.
    fn column() -> Column {
        let noise = |doc: i64| doc.wrapping_mul(0x1E37_79B9_7F4A_7C15) >> 20;
        let number = |doc: i64| if doc < i64::from(DOCS / 2) { 0 } else { noise(doc) };
        let values: Vec<i64> = (0..i64::from(DOCS)).map(number).collect();
        let present = vec![0x5555_5555_5555_5555; DOCS as usize / 64];
        Column::encode(&values, Some(&present))
    }

    #[test]
    fn forward_cursors_read_each_header_once() {
        let column = column();
        let blocks = [5, column.numbers.meta().block_count()];
        assert!(blocks[1] > 1, "{blocks:?}");
        for step in [1, 10, 1_000] {
            let mut walk = column.iterator(Tables::NONE);
            let docs = (0..DOCS - 2).step_by(step).chain([DOCS - 2]);
            docs.for_each(|doc| _ = walk.get(DocId::new(doc)));
            assert_eq!(walk.headers(), blocks, "every {step}th document");
        }
        let mut jumps = column.iterator(Tables { jumps: true, ranks: false });
        assert!(jumps.get(DocId::new(DOCS - 2)).is_some());
        assert_eq!(jumps.headers(), [0, 0]);
    }

    #[test]
    fn a_step_back_begins_again() {
        let column = column();
        let mut walk = column.iterator(Tables::NONE);
        walk.get(DocId::new(65_536 * 3));
        walk.get(DocId::new(65_536 * 3 - 2));
        assert_eq!(walk.headers()[0], 4 + 3);
    }
}
