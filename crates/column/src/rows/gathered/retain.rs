//! Removal of rows from a [`Gathered`].

use std::ops::ControlFlow;

use docvalues_format::bits::{compress_bits, compress_by_bits};
use docvalues_format::id::DocId;

use super::Gathered;
use crate::batch::{Batch, BatchDocs};
use crate::rows::{Each, Element};
use crate::{DocRange, bits};

impl<T: Element> Gathered<T> {
    /// Calls `each` with the rows that have a value, of those that were gathered for `run`, if there are any. The other
    /// rows are removed. `docs` is a buffer.
    pub(crate) fn pass_on(
        &mut self,
        run: DocRange,
        docs: &mut Vec<DocId>,
        each: &mut Each<'_, T>,
    ) -> ControlFlow<()> {
        let present = match self.present() {
            Some(present) => present.to_vec(),
            // An empty list is no value.
            None if self.is_many && !T::EMPTY_IS_VALUE => {
                let mut present = vec![0; self.len().div_ceil(64)];
                let lens = self.lists().lens().enumerate();
                lens.filter(|(_, len)| *len > 0).for_each(|(at, _)| bits::set(&mut present, at));
                present
            }
            None => return each(Batch { docs: BatchDocs::Run(run), values: self.view() }),
        };
        docs.clear();
        bits::push_docs(&present, run.start, docs);
        if docs.is_empty() {
            return ControlFlow::Continue(());
        }
        self.retain(&present);
        each(Batch { docs: BatchDocs::List(docs), values: self.view() })
    }

    /// Keeps only the rows whose bits are set. O(rows).
    ///
    /// If most documents of a range are wanted, a gather of the range that is reduced to them takes less than half the
    /// time of a gather of their list.
    ///
    /// # Panics
    ///
    /// If there are fewer bits than rows.
    pub fn retain(&mut self, bits: &[u64]) {
        if self.has_gaps {
            let rows = self.len();
            let kept = compress_bits(&mut self.present, rows, bits);
            self.present.truncate(kept.div_ceil(64));
        }
        if self.is_many {
            self.lists.retain(bits);
        } else {
            let kept = compress_by_bits(self.values_mut(), bits);
            self.values.truncate(self.start + kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::{get, set};

    proptest! {
        #[test]
        fn rows_whose_bits_are_set_are_kept(
            rows in prop::collection::vec((prop::option::weighted(0.9, any::<i64>()), any::<bool>()), 0..300),
            share in 0..3_usize,
        ) {
            let mut words = vec![0; rows.len() / 64 + 1];
            for (at, (_, is_kept)) in rows.iter().enumerate() {
                // All, most and half of them.
                if *is_kept || share == 0 || share == 1 && at % 9 > 0 {
                    set(&mut words, at);
                }
            }
            let mut gathered = Gathered::new();
            let (values, _) = gathered.begin_one(rows.len());
            values.fill(0);
            rows.iter().enumerate().for_each(|(at, (value, _))| gathered.set(at, *value));
            gathered.retain(&words);
            let kept: Vec<_> = rows.iter().enumerate().filter(|(at, _)| get(&words, *at)).collect();
            prop_assert_eq!(gathered.len(), kept.len());
            if let Some(present) = gathered.present() {
                let missing = kept.iter().filter(|(_, (value, _))| value.is_none()).count();
                prop_assert_eq!(crate::bits::count(present), kept.len() - missing);
            }
            for (at, (_, (value, _))) in kept.into_iter().enumerate() {
                prop_assert_eq!(gathered.value(at), *value);
            }
        }
    }
}
