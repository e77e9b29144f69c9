//! The byte strings of a column of converted rows.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The number of distinct strings after which they hardly repeat if these are more than half of the values.
const FEW: usize = 256;

/// The byte strings of a column. As long as they repeat, each is kept once, so that the writer has to look up only these.
#[derive(Debug, Default)]
pub(super) struct BatchStrings {
    /// The ends of the strings in `bytes`, after a 0.
    pub(super) offsets: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// The index of the string of each value; empty if each value has a string of its own.
    pub(super) ids: Vec<u32>,
    /// The strings, by their hashes.
    table: HashTable<u32>,
    hash: DefaultHashBuilder,
    /// Whether strings hardly repeat, in this chunk or in one before.
    hardly_repeat: bool,
}

impl BatchStrings {
    /// The number of values.
    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.hardly_repeat { self.strings() } else { self.ids.len() }
    }

    /// The number of strings.
    fn strings(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The value at `at`.
    pub(super) fn get(&self, at: usize) -> &[u8] {
        let string =
            if self.hardly_repeat { at } else { self.ids.get(at).map_or(usize::MAX, |id| *id as usize) };
        string_at(&self.offsets, &self.bytes, string)
    }

    /// The bytes that were appended and are no value yet.
    pub(super) fn appended(&self) -> &[u8] {
        self.bytes.get(self.end()..).unwrap_or_default()
    }

    /// The length of all strings.
    fn end(&self) -> usize {
        self.offsets.last().map_or(0, |end| to_usize(*end))
    }

    /// Adds the value whose bytes were appended. `validity` has a bit for each value so far that a row has; `None` if all
    /// are of rows.
    #[inline]
    pub(super) fn push(&mut self, validity: Option<&[u64]>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        if self.hardly_repeat {
            self.offsets.push(self.bytes.len() as u64);
        } else {
            self.push_term(validity);
        }
    }

    fn push_term(&mut self, validity: Option<&[u64]>) {
        let start = self.end();
        let BatchStrings { offsets, bytes, ids, table, hash, .. } = self;
        let value = bytes.get(start..).unwrap_or_default();
        let hashed = hash.hash_one(value);
        let found = table.find(hashed, |id| string_at(offsets, bytes, *id as usize) == value).copied();
        if let Some(id) = found {
            bytes.truncate(start);
            ids.push(id);
        } else {
            // A chunk has fewer bytes.
            let id = u32::try_from(offsets.len() - 1).unwrap_or(u32::MAX);
            offsets.push(bytes.len() as u64);
            ids.push(id);
            let rehash = |id: &u32| hash.hash_one(string_at(offsets, bytes, *id as usize));
            table.insert_unique(hashed, id, rehash);
            if self.strings() > FEW.max(self.ids.len() / 2) {
                self.repeat_strings(validity);
            }
        }
    }

    /// Adds empty values until there are `values`. No row has them.
    pub(super) fn fill(&mut self, values: usize) {
        if self.hardly_repeat {
            let end = self.end() as u64;
            self.offsets.resize(values + 1, end);
        } else {
            self.ids.resize(values, 0);
        }
    }

    /// Gives each value a string of its own, from now on. It is empty if no row has the value.
    #[cold]
    fn repeat_strings(&mut self, validity: Option<&[u64]>) {
        let is_valid =
            |words: &[u64], at: usize| words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
        let (old_offsets, old_bytes) = (std::mem::take(&mut self.offsets), std::mem::take(&mut self.bytes));
        self.offsets.push(0);
        for (at, id) in self.ids.drain(..).enumerate() {
            if validity.is_none_or(|words| is_valid(words, at)) {
                self.bytes.extend_from_slice(string_at(&old_offsets, &old_bytes, id as usize));
            }
            self.offsets.push(self.bytes.len() as u64);
        }
        self.table.clear();
        self.hardly_repeat = true;
    }

    /// Removes all values.
    pub(super) fn clear(&mut self) {
        self.offsets.clear();
        self.bytes.clear();
        self.ids.clear();
        self.table.clear();
    }
}

/// The string at `at`; empty if there is none.
#[inline]
fn string_at<'b>(offsets: &[u64], bytes: &'b [u8], at: usize) -> &'b [u8] {
    let Some([start, end]) = offsets.get(at..).and_then(|ends| ends.first_chunk::<2>()) else { return &[] };
    bytes.get(to_usize(*start)..to_usize(*end)).unwrap_or_default()
}

/// A chunk fits memory.
fn to_usize(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_were_pushed() {
        let mut strings = BatchStrings::default();
        for (distinct, repeat) in [(1, true), (250, true), (300, false), (2_000, false), (1, false)] {
            strings.clear();
            let (mut expected, mut validity) = (Vec::new(), vec![0_u64; 32]);
            for n in 0..2_000 {
                let value = (n % 7 != 3).then(|| "x".repeat(n % 5) + &(n % distinct).to_string());
                if let Some(value) = &value {
                    strings.bytes.extend_from_slice(value.as_bytes());
                    assert_eq!(strings.appended(), value.as_bytes());
                    validity[n / 64] |= 1 << (n % 64);
                    strings.push(Some(&validity));
                } else {
                    strings.fill(n + 1);
                }
                expected.push(value);
            }
            assert_eq!((strings.len(), strings.ids.is_empty()), (2_000, !repeat), "{distinct}");
            for (at, value) in expected.iter().enumerate() {
                assert!(value.as_ref().is_none_or(|value| strings.get(at) == value.as_bytes()), "{at}");
            }
        }
    }
}
