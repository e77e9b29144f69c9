//! How many different values there are.

use std::hash::Hash;

use datasketches::hll::{HllSketch, HllType, HllUnion};
use docvalues_column::{TermOrd, Values, bits};
use hashbrown::HashSet;

use crate::collector::Collector;
use crate::columns::{Columns, Slot};
use crate::error::Result;
use crate::window::{Cells, NO_ORD, Numbers, Window};

/// So many values are told apart, whatever they are.
const EXACT: usize = 1 << 16;

/// Numbers this close to each other have a bit each: 16 MiB.
const NEAR: usize = 1 << 27;

/// 2^14 registers: an error of 0.8 %, two times of three.
const REGISTERS: u8 = 14;

/// How many different values there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// So many.
    Exact(u64),
    /// About so many, within some percent.
    About(u64),
}

impl Distinct {
    /// The number, exact or not.
    pub fn get(self) -> u64 {
        match self {
            Distinct::Exact(count) | Distinct::About(count) => count,
        }
    }
}

/// Tells values apart.
pub(crate) struct DistinctValues {
    slot: Slot,
    seen: Seen,
}

enum Seen {
    /// A bit for each ord.
    Ords(Vec<u64>),
    /// A bit for each number from the first one on.
    Near(i64, Vec<u64>),
    Numbers(Few<i64>),
    Bytes(Few<Vec<u8>>),
}

/// Few values, or a sketch of many.
enum Few<T> {
    All(HashSet<T>),
    Sketch(Box<HllSketch>),
}

impl DistinctValues {
    pub(crate) fn new(slot: Slot, columns: &Columns) -> DistinctValues {
        let column = columns.get(slot);
        let seen = match column.values() {
            Values::Ords(_, terms) => Seen::Ords(vec![0; (terms.term_count() as usize).div_ceil(64)]),
            Values::Numbers(_) => {
                let bounds = column.info().bounds.range();
                let (first, last) = if bounds.is_empty() { (0, 0) } else { bounds.into_inner() };
                match usize::try_from(last.abs_diff(first)) {
                    Ok(span) if span < NEAR => Seen::Near(first, vec![0; span / 64 + 1]),
                    _ => Seen::Numbers(Few::new()),
                }
            }
            Values::Bytes(_) => Seen::Bytes(Few::new()),
        };
        DistinctValues { slot, seen }
    }

    pub(crate) fn finish(self) -> Distinct {
        match self.seen {
            Seen::Ords(seen) | Seen::Near(_, seen) => Distinct::Exact(bits::count(&seen) as u64),
            Seen::Numbers(few) => few.count(),
            Seen::Bytes(few) => few.count(),
        }
    }

    fn see_ords(&mut self, ords: &[TermOrd]) {
        let Seen::Ords(seen) = &mut self.seen else { return };
        for ord in ords.iter().filter(|ord| **ord != NO_ORD) {
            if let Some(word) = seen.get_mut(ord.get() as usize / 64) {
                *word |= 1 << (ord.get() % 64);
            }
        }
    }

    fn see_numbers(&mut self, numbers: Numbers<'_>) {
        match &mut self.seen {
            Seen::Near(first, seen) => numbers.each(|_, number| {
                let at = usize::try_from(number.wrapping_sub(*first)).unwrap_or(usize::MAX);
                if let Some(word) = seen.get_mut(at / 64) {
                    *word |= 1 << (at % 64);
                }
            }),
            Seen::Numbers(few) => numbers.each(|_, number| few.see(&number, i64::clone)),
            Seen::Ords(_) | Seen::Bytes(_) => {}
        }
    }
}

impl Collector for DistinctValues {
    fn fork(&self) -> DistinctValues {
        let seen = match &self.seen {
            Seen::Ords(seen) => Seen::Ords(vec![0; seen.len()]),
            Seen::Near(first, seen) => Seen::Near(*first, vec![0; seen.len()]),
            Seen::Numbers(_) => Seen::Numbers(Few::new()),
            Seen::Bytes(_) => Seen::Bytes(Few::new()),
        };
        DistinctValues { slot: self.slot, seen }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read(self.slot)?;
        match window.cells(self.slot) {
            Cells::Ords(ords) => self.see_ords(ords),
            Cells::OrdLists(lists) => self.see_ords(lists.items()),
            Cells::Numbers(numbers) => self.see_numbers(numbers),
            Cells::NumberLists(lists) => self.see_numbers(Numbers { values: lists.items(), present: None }),
            Cells::Bytes(strings) => {
                if let Seen::Bytes(few) = &mut self.seen {
                    strings.iter().flatten().for_each(|bytes| few.see(bytes, <[u8]>::to_vec));
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: DistinctValues) {
        match (&mut self.seen, other.seen) {
            (Seen::Ords(to), Seen::Ords(from)) | (Seen::Near(_, to), Seen::Near(_, from)) => {
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
            }
            (Seen::Numbers(to), Seen::Numbers(from)) => to.merge(from),
            (Seen::Bytes(to), Seen::Bytes(from)) => to.merge(from),
            // A fork sees as its origin does.
            _ => {}
        }
    }
}

impl<T: Hash + Eq> Few<T> {
    fn new() -> Few<T> {
        Few::All(HashSet::new())
    }

    fn see<Q: Hash + Eq + ?Sized>(&mut self, value: &Q, own: impl FnOnce(&Q) -> T)
    where
        T: std::borrow::Borrow<Q>,
    {
        match self {
            Few::All(all) => {
                if !all.contains(value) {
                    all.insert(own(value));
                    self.limit();
                }
            }
            Few::Sketch(sketch) => sketch.update(value),
        }
    }

    /// Beyond so many, a sketch takes over. What it says depends on the values alone, not on their order.
    fn limit(&mut self) {
        if let Few::All(all) = self
            && all.len() > EXACT
        {
            let mut sketch = sketch();
            all.iter().for_each(|value| sketch.update(value));
            *self = Few::Sketch(Box::new(sketch));
        }
    }

    fn merge(&mut self, other: Few<T>) {
        match (&mut *self, other) {
            (Few::All(to), Few::All(from)) => {
                to.extend(from);
                self.limit();
            }
            (Few::Sketch(to), Few::All(from)) => from.iter().for_each(|value| to.update(value)),
            (Few::All(from), Few::Sketch(mut to)) => {
                from.iter().for_each(|value| to.update(value));
                *self = Few::Sketch(to);
            }
            (Few::Sketch(to), Few::Sketch(from)) => {
                if let Ok(mut union) = HllUnion::new(REGISTERS) {
                    union.update(to);
                    union.update(&from);
                    **to = union.to_sketch(HllType::Hll8);
                }
            }
        }
    }

    fn count(&self) -> Distinct {
        match self {
            Few::All(all) => Distinct::Exact(all.len() as u64),
            // The estimate that looks at registers alone: the other one depends on the order of values.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is positive, and `as` saturates"
            )]
            Few::Sketch(sketch) => Distinct::About(sketch.composite_estimate().round() as u64),
        }
    }
}

#[expect(clippy::expect_used, reason = "a number of registers that the library has")]
fn sketch() -> HllSketch {
    HllSketch::new(REGISTERS, HllType::Hll8).expect("4 to 21")
}
