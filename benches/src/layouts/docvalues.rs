//! Columns in the layout of docvalues, with cursors that may use jump tables, rank tables, both or neither.

use docvalues::DocId;
use docvalues::format::error::Error;
use docvalues::format::jump::JumpTables;
use docvalues::format::numeric::{self, NumericOptions, NumericReader, Role};
use docvalues::format::presence::{self, PresenceReader};
use docvalues::format::source::Owned;

use super::{Tables, Values};

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
            Tables { jumps, ranks } => Presence::Walk(self.presence.walk(jumps, ranks)),
        };
        let numbers = match tables.jumps {
            true => Numbers::Reader(&self.numbers),
            false => Numbers::Walk(self.numbers.walk()),
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
    Walk(presence::Walk<'c, Owned>),
}

#[derive(Debug)]
enum Numbers<'c> {
    Reader(&'c NumericReader<Owned>),
    Walk(numeric::Walk<'c, Owned>),
}

impl Values for Iterator<'_> {
    #[inline]
    fn get(&mut self, doc: DocId) -> Option<i64> {
        let index = match &mut self.presence {
            Presence::Reader(reader) => reader.rank(doc),
            Presence::Walk(walk) => walk.rank(doc),
        };
        let index = index.expect("just encoded")?.get().into();
        let value = match &mut self.numbers {
            Numbers::Reader(reader) => reader.get(index),
            Numbers::Walk(walk) => walk.get(index),
        };
        Some(value.expect("just encoded"))
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
