//! The documents once more, for the groups that are returned.

use std::sync::Arc;

use docvalues_column::{AnyColumn, DocId, bits};
use hashbrown::HashMap;

use super::key;
use super::metric::Layout;
use crate::columns::Slot;
use crate::error::Result;
use crate::pass::Collector;
use crate::sort::{Kept, Keys, TopDocs};
use crate::value::Value;
use crate::window::{Room, Window};

/// Where a value is in the order of groups.
#[derive(Default)]
pub(super) struct Places {
    numbers: HashMap<i64, u32>,
    bytes: HashMap<Vec<u8>, u32>,
    /// Bits of numbers that may be there: most are found not to be without a look-up. It fits the innermost cache.
    sieve: Vec<u64>,
    /// The place of all others.
    none: u32,
}

/// The bit of a number: Knuth's multiplicative hash, 16 bits of it.
#[inline]
fn bit(number: i64) -> usize {
    (number.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize
}

impl Places {
    pub(super) fn new<'v>(values: impl Iterator<Item = &'v Value>) -> Places {
        let mut places =
            Places { numbers: HashMap::new(), bytes: HashMap::new(), sieve: vec![0; 1 << 10], none: 0 };
        for value in values {
            match value {
                Value::Number(number) => {
                    bits::set(&mut places.sieve, bit(*number));
                    places.numbers.insert(*number, places.none);
                }
                Value::Bytes(bytes) => {
                    places.bytes.insert(bytes.clone(), places.none);
                }
            }
            places.none += 1;
        }
        places
    }

    #[inline]
    fn number(&self, number: i64) -> u32 {
        if self.sieve[bit(number) / 64] >> (bit(number) % 64) & 1 == 0 {
            return self.none;
        }
        self.numbers.get(&number).copied().unwrap_or(self.none)
    }

    /// The groups of a window's documents.
    fn of(&self, window: &Window<'_>, by: Slot, places: &mut Vec<u32>) {
        places.clear();
        match window.column(by) {
            AnyColumn::Sorted(_) => {
                // No term has the number of none.
                places.extend(window.ords(by).iter().map(|ord| self.number(ord.get().into())));
            }
            AnyColumn::Numeric(_) => {
                places.resize(window.len(), self.none);
                window.numbers(by).each(|at, number| places[at] = self.number(number));
            }
            _ => places.extend((0..window.len()).map(|at| {
                window.bytes(by, at).and_then(|bytes| self.bytes.get(bytes)).copied().unwrap_or(self.none)
            })),
        }
    }
}

/// Finds what is not known yet of some groups.
pub(super) struct Winners {
    by: Slot,
    groups: Arc<Places>,
    /// Rows of accumulators, if they are not known.
    rows: Option<(Arc<Layout>, Vec<u64>)>,
    /// The best documents of each group, if they are asked for.
    best: Option<(Keys, Vec<TopDocs>)>,
    /// The documents of a window that are in one of these groups, and their groups.
    found: Vec<DocId>,
    places: Vec<u32>,
    room: Room,
    pub(super) docs: u64,
    pub(super) missing: u64,
}

impl Winners {
    pub(super) fn new(by: Slot, groups: Places) -> Winners {
        let groups = Arc::new(groups);
        let (found, places, room) = (Vec::new(), Vec::new(), Room::default());
        Winners { by, groups, rows: None, best: None, found, places, room, docs: 0, missing: 0 }
    }

    /// Accumulates, too.
    pub(super) fn accumulate(mut self, layout: &Arc<Layout>) -> Winners {
        let rows = vec![0; self.groups.none as usize * layout.words()];
        self.rows = Some((Arc::clone(layout), rows));
        self
    }

    /// Finds the `docs` best documents by `keys`, too.
    pub(super) fn best(mut self, keys: Keys, docs: usize) -> Winners {
        let best = (0..self.groups.none).map(|_| TopDocs::new(docs)).collect();
        self.best = Some((keys, best));
        self
    }

    /// The row and the best documents of each group.
    pub(super) fn finish(self) -> (Option<Vec<u64>>, Option<Vec<TopDocs>>) {
        (self.rows.map(|(_, rows)| rows), self.best.map(|(_, best)| best))
    }
}

impl Collector for Winners {
    fn fork(&self) -> Winners {
        let mut fork = Winners::new(self.by, Places::default());
        fork.groups = Arc::clone(&self.groups);
        fork.rows = self.rows.as_ref().map(|(layout, rows)| (Arc::clone(layout), vec![0; rows.len()]));
        fork.best =
            self.best.as_ref().map(|(keys, best)| (keys.clone(), best.iter().map(TopDocs::fork).collect()));
        fork
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read(self.by)?;
        self.docs += window.len() as u64;
        self.missing += key::missing(window, self.by);
        self.groups.of(window, self.by, &mut self.places);
        // Of others nothing else is read.
        let none = self.groups.none;
        let found = self.places.iter().enumerate().filter(|(_, place)| **place != none);
        self.found.clear();
        self.found.extend(found.map(|(at, _)| window.doc(at)));
        if self.found.is_empty() {
            return Ok(());
        }
        self.places.retain(|place| *place != none);
        let window = &mut window.part(&self.found, &mut self.room);
        if let Some((layout, rows)) = &mut self.rows {
            layout.read(window)?;
            layout.add(rows, &self.places, window);
        }
        if let Some((keys, best)) = &mut self.best {
            keys.as_slice().iter().try_for_each(|key| window.read(key.slot))?;
            for (at, &place) in self.places.iter().enumerate() {
                if let Some(best) = best.get_mut(place as usize) {
                    best.offer(keys, window, at);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Winners) {
        self.docs += other.docs;
        self.missing += other.missing;
        if let (Some((layout, to)), Some((_, from))) = (&mut self.rows, other.rows) {
            let words = layout.words();
            to.chunks_mut(words).zip(from.chunks(words)).for_each(|(to, from)| layout.merge(to, from));
        }
        if let (Some((_, to)), Some((_, from))) = (&mut self.best, other.best) {
            to.iter_mut().zip(from).for_each(|(to, from)| to.merge(from));
        }
    }
}
