//! Versions of documents: their field, and those of documents that were deleted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use docvalues_column::{LogicalType, PlainColumns};
use docvalues_format::file::kind::{from_u64, to_u64};

use crate::schema::StoreSchema;

/// The field of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionField {
    /// Its place in the schema.
    pub(crate) place: usize,
    is_unsigned: bool,
}

impl VersionField {
    pub(crate) fn of(schema: &StoreSchema) -> Option<VersionField> {
        let name = schema.version_field()?;
        let place = schema.fields().iter().position(|field| field.name == name)?;
        Some(VersionField { place, is_unsigned: schema.fields()[place].logical == LogicalType::U64 })
    }

    /// The version of a stored number; `None` if it is negative.
    pub(crate) fn version(self, stored: i64) -> Option<u64> {
        if self.is_unsigned { Some(to_u64(stored)) } else { u64::try_from(stored).ok() }
    }

    /// The version of a stored number, or what is expected.
    pub(crate) fn require(self, stored: i64) -> Result<u64, String> {
        self.version(stored).ok_or_else(|| format!("a version of at least 0, found {stored}"))
    }

    /// The version that a row has, if any.
    pub(crate) fn of_row(self, rows: &PlainColumns, row: u32) -> Result<Option<u64>, String> {
        let stored = rows.column(self.place).and_then(|column| column.numbers(row).first());
        stored.map(|stored| self.require(*stored)).transpose()
    }

    /// The stored number of a version.
    pub(crate) fn stored(self, version: u64) -> i64 {
        if self.is_unsigned { from_u64(version) } else { version.min(self.highest()).cast_signed() }
    }

    /// Versions from here on are refused in a store that also assigns versions: so many are left for those that it assigns.
    pub(crate) fn limit(self) -> u64 {
        self.highest() / 2 + 1
    }

    /// The highest version that the field can hold.
    pub(crate) fn highest(self) -> u64 {
        if self.is_unsigned { u64::MAX } else { i64::MAX.cast_unsigned() }
    }
}

/// The microseconds since 1970.
pub(crate) fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The deletion of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) version: u64,
    /// The number of the batch that deleted it.
    pub(crate) sequence: u64,
}

/// The versions of ids that were deleted, so that documents that arrive late stay deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    /// Shared with a commit that is being written.
    all: Arc<HashMap<Box<[u8]>, Tombstone>>,
    /// Those since, which replace older ones: so a deletion need not copy all, in the lock of the writer.
    newer: HashMap<Box<[u8]>, Tombstone>,
    /// The numbers of the first and the last batch of deletions, or bounds of them.
    sequences: Option<(u64, u64)>,
}

impl Tombstones {
    /// The version of the deletion of `id`.
    pub(crate) fn version(&self, id: &[u8]) -> Option<u64> {
        let tombstone = self.newer.get(id).or_else(|| self.all.get(id));
        tombstone.map(|tombstone| tombstone.version)
    }

    pub(crate) fn insert(&mut self, id: &[u8], version: u64, sequence: u64) {
        let (id, tombstone) = (id.into(), Tombstone { version, sequence });
        match Arc::get_mut(&mut self.all) {
            Some(all) => {
                all.extend(std::mem::take(&mut self.newer));
                all.insert(id, tombstone);
            }
            None => drop(self.newer.insert(id, tombstone)),
        }
        let (first, last) = self.sequences.unwrap_or((sequence, sequence));
        self.sequences = Some((first.min(sequence), last.max(sequence)));
    }

    /// Forgets the deletions before batch `sequence`. O(deletions) if there may be such, and O(1) otherwise.
    pub(crate) fn forget_before(&mut self, sequence: u64) {
        let Some((_, last)) = self.sequences.filter(|(first, _)| *first < sequence) else { return };
        let all = Arc::make_mut(&mut self.all);
        all.extend(std::mem::take(&mut self.newer));
        all.retain(|_, tombstone| tombstone.sequence >= sequence);
        let first = self.all.values().map(|tombstone| tombstone.sequence).min();
        self.sequences = first.map(|first| (first, last));
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() + self.newer.keys().filter(|id| !self.all.contains_key(*id)).count()
    }

    /// Those from batch `first` on, by id. O(deletions) if there may be such, and O(1) otherwise.
    pub(crate) fn sorted_from(&self, first: u64) -> Vec<(&[u8], Tombstone)> {
        if self.sequences.is_none_or(|(_, last)| last < first) {
            return Vec::new();
        }
        let older = self.all.iter().filter(|(id, _)| !self.newer.contains_key(*id));
        let from_first = older.chain(&self.newer).filter(|(_, tombstone)| tombstone.sequence >= first);
        let mut sorted: Vec<_> = from_first.map(|(id, tombstone)| (&**id, *tombstone)).collect();
        sorted.sort_unstable_by_key(|(id, _)| *id);
        sorted
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_deletion_beside_a_commit_copies_no_others() {
        let mut tombstones = Tombstones::default();
        tombstones.insert(b"a", 1, 1);
        let commit = tombstones.clone();
        tombstones.insert(b"a", 2, 2);
        tombstones.insert(b"b", 2, 2);
        assert!(Arc::ptr_eq(&tombstones.all, &commit.all));
        assert_eq!((tombstones.version(b"a"), tombstones.len()), (Some(2), 2));
        assert_eq!((commit.version(b"a"), commit.version(b"b"), commit.len()), (Some(1), None, 1));
        drop(commit);
        tombstones.insert(b"c", 3, 3);
        assert_eq!((tombstones.all.len(), tombstones.newer.len()), (3, 0));
    }

    #[test]
    fn tombstones_are_those_of_a_map() {
        let (mut tombstones, mut model) = (Tombstones::default(), BTreeMap::new());
        let (mut random, mut commit) = (7_u64, None);
        for sequence in 1..=400_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (id, drawn) = ([random.to_le_bytes()[4] % 50], random >> 48);
            match drawn % 8 {
                0 => {
                    let first = sequence.saturating_sub(drawn / 8 % 60);
                    tombstones.forget_before(first);
                    model.retain(|_, (_, of)| *of >= first);
                }
                1 => {
                    tombstones.forget_before(u64::MAX);
                    model.clear();
                }
                2 => commit = Some((tombstones.clone(), model.clone())),
                3 => commit = None,
                _ => {
                    tombstones.insert(&id, drawn, sequence);
                    model.insert(id, (drawn, sequence));
                }
            }
            if let Some((tombstones, model)) = &commit {
                let found = tombstones.sorted_from(0).into_iter();
                let found = found.map(|(id, tombstone)| (id, (tombstone.version, tombstone.sequence)));
                assert!(found.eq(model.iter().map(|(id, of)| (&id[..], *of))), "{sequence}");
            }
            assert_eq!(tombstones.len(), model.len());
            assert_eq!(tombstones.version(&id), model.get(&id).map(|(version, _)| *version));
            for first in [0, sequence.saturating_sub(20), sequence, sequence + 1] {
                let expected: Vec<_> = model.iter().filter(|(_, (_, of))| *of >= first).collect();
                let found = tombstones.sorted_from(first);
                let found =
                    found.iter().map(|(id, tombstone)| (*id, (tombstone.version, tombstone.sequence)));
                assert!(found.eq(expected.into_iter().map(|(id, of)| (&id[..], *of))), "{sequence} {first}");
            }
        }
    }
}
