//! Count, minimum and maximum of terms and byte strings.

use docvalues_column::{Column, TermOrd};

use super::ByteRange;
use crate::engine::{Cells, Collector, ConstantColumn, Interrupt, NO_ORD, PassPart, Slot, Window};
use crate::error::Result;

/// Collects statistics of terms or byte strings.
pub(crate) struct TermStats {
    slot: Slot,
    pub(super) docs: u64,
    pub(super) missing: u64,
    pub(super) values: u64,
    ords: Option<(TermOrd, TermOrd)>,
    bytes: Option<ByteRange>,
    is_known: bool,
    /// Whether there are several parts, whose ords have nothing to do with each other.
    has_parts: bool,
}

impl TermStats {
    pub(crate) fn new(slot: Slot, known: Option<ConstantColumn>, has_parts: bool) -> TermStats {
        let (docs, missing, values, is_known) = (0, 0, 0, false);
        let none = TermStats { slot, docs, missing, values, ords: None, bytes: None, is_known, has_parts };
        // The term of a constant is not known in several parts.
        let known = known.filter(|known| !has_parts || known.value.is_none());
        let Some(known) = known else { return none };
        let ord = known.value.and_then(|ord| u32::try_from(ord).ok()).map(TermOrd::new);
        TermStats {
            docs: known.docs,
            missing: known.docs - known.with_value,
            values: known.values,
            ords: ord.map(|ord| (ord, ord)),
            is_known: true,
            ..none
        }
    }

    /// The least and the greatest value.
    pub(super) fn range(mut self, column: Option<&dyn Column>) -> Result<Option<ByteRange>> {
        if let Some(column) = column {
            self.resolve(column)?;
        }
        Ok(self.bytes)
    }

    /// Replaces ords by their terms.
    fn resolve(&mut self, column: &dyn Column) -> Result<()> {
        if let (Some(terms), Some((least, greatest))) = (column.values().terms(), self.ords.take()) {
            let (mut low, mut high) = (Vec::new(), Vec::new());
            terms.term(least, &mut low)?;
            terms.term(greatest, &mut high)?;
            self.widen(&low);
            self.widen(&high);
        }
        Ok(())
    }

    fn ords(&mut self, ords: &[TermOrd]) {
        let (mut low, mut high) = self.ords.unwrap_or((NO_ORD, TermOrd::new(0)));
        for &ord in ords.iter().filter(|ord| **ord != NO_ORD) {
            (low, high) = (low.min(ord), high.max(ord));
            self.values += 1;
        }
        self.ords = (low <= high).then_some((low, high));
    }

    fn widen(&mut self, value: &[u8]) {
        match &mut self.bytes {
            None => self.bytes = Some((value.to_vec(), value.to_vec())),
            Some((low, _)) if value < low.as_slice() => value.clone_into(low),
            Some((_, high)) if value > high.as_slice() => value.clone_into(high),
            Some(_) => {}
        }
    }
}

impl Collector for TermStats {
    fn fork(&self) -> TermStats {
        TermStats { is_known: self.is_known, ..TermStats::new(self.slot, None, self.has_parts) }
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn leave(&mut self, part: &PassPart<'_>) -> Result<()> {
        if self.has_parts { self.resolve(part.columns.get(self.slot)) } else { Ok(()) }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read_stored(self.slot)?;
        let cells = window.stored_cells(self.slot);
        self.docs += window.len() as u64;
        self.missing += cells.missing();
        match cells {
            Cells::Ords(ords) => self.ords(ords),
            Cells::OrdLists(lists) => self.ords(lists.items()),
            Cells::Bytes(strings) => strings.iter().flatten().for_each(|value| {
                self.values += 1;
                self.widen(value);
            }),
            Cells::Numbers(_) | Cells::NumberLists(_) => {}
        }
        Ok(())
    }

    fn merge(&mut self, other: TermStats, _stop: &Interrupt) -> Result<()> {
        let values = self.values + other.values;
        self.docs += other.docs;
        self.missing += other.missing;
        if let Some((low, high)) = other.ords {
            self.ords(&[low, high]);
        }
        if let Some((low, high)) = other.bytes {
            self.widen(&low);
            self.widen(&high);
        }
        self.values = values;
        Ok(())
    }
}
