//! Minimum and maximum of terms and byte strings.

use docvalues_column::{Column, TermOrd};

use super::ByteRange;
use crate::engine::NO_ORD;
use crate::error::Result;

/// The least and the greatest of some terms or byte strings.
#[derive(Default)]
pub(super) struct TermRange {
    ords: Option<(TermOrd, TermOrd)>,
    pub(super) bytes: Option<ByteRange>,
}

impl TermRange {
    /// Adds ords of one part. Returns their number, without those of documents that have none.
    pub(super) fn ords(&mut self, ords: &[TermOrd]) -> u64 {
        let (mut low, mut high) = self.ords.unwrap_or((NO_ORD, TermOrd::new(0)));
        let mut values = 0;
        for &ord in ords.iter().filter(|ord| **ord != NO_ORD) {
            (low, high) = (low.min(ord), high.max(ord));
            values += 1;
        }
        self.ords = (low <= high).then_some((low, high));
        values
    }

    /// Adds a byte string.
    pub(super) fn widen(&mut self, value: &[u8]) {
        match &mut self.bytes {
            None => self.bytes = Some((value.to_vec(), value.to_vec())),
            Some((low, _)) if value < low.as_slice() => value.clone_into(low),
            Some((_, high)) if value > high.as_slice() => value.clone_into(high),
            Some(_) => {}
        }
    }

    /// Replaces ords by their terms.
    pub(super) fn resolve(&mut self, column: &dyn Column) -> Result<()> {
        if let (Some(terms), Some((least, greatest))) = (column.values().terms(), self.ords.take()) {
            let (mut low, mut high) = (Vec::new(), Vec::new());
            terms.term(least, &mut low)?;
            terms.term(greatest, &mut high)?;
            self.widen(&low);
            self.widen(&high);
        }
        Ok(())
    }

    /// Adds the values of another thread.
    pub(super) fn merge(&mut self, other: &TermRange) {
        if let Some((low, high)) = other.ords {
            self.ords(&[low, high]);
        }
        if let Some((low, high)) = &other.bytes {
            self.widen(low);
            self.widen(high);
        }
    }
}
