//! A gather of a range of documents by a scan.

use std::ops::ControlFlow;

use super::Gathered;
use crate::batch::{BatchDocs, View};
use crate::lists::{Lists, Slices};
use crate::rows::{Each, Element};
use crate::{DocRange, Result};

impl<T: Element> Gathered<T> {
    /// For sources: replaces the rows by those of the range `docs`, taken from a scan.
    ///
    /// # Errors
    ///
    /// That of `scan`.
    ///
    /// # Panics
    ///
    /// If the scan yields documents outside of `docs`, or out of order.
    pub fn fill_by_scan(
        &mut self,
        docs: DocRange,
        is_many: bool,
        scan: impl FnOnce(&mut Each<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let (fill, mut count) = (self.fill, 0);
        if is_many {
            let (lists, mut presence) = self.begin_many(docs.len());
            presence.none();
            scan(&mut |batch| {
                count += batch.docs.len();
                if let View::Many(rows) = batch.values {
                    append(docs, lists, batch.docs, rows);
                }
                presence.add(docs, batch.docs);
                ControlFlow::Continue(())
            })?;
            pad(lists, docs.len());
        } else {
            let (values, mut presence) = self.begin_one(docs.len());
            values.fill(fill);
            presence.none();
            scan(&mut |batch| {
                count += batch.docs.len();
                if let View::One(found) = batch.values {
                    place(docs, values, batch.docs, found);
                }
                presence.add(docs, batch.docs);
                ControlFlow::Continue(())
            })?;
        }
        self.has_gaps &= count < docs.len();
        Ok(())
    }
}

/// Copies values to the positions of their documents in `docs`.
fn place<T: Copy>(docs: DocRange, values: &mut [T], at: BatchDocs<'_>, found: &[T]) {
    match at {
        BatchDocs::Run(run) => {
            let start = (run.start - docs.start) as usize;
            values[start..start + found.len()].copy_from_slice(found);
        }
        BatchDocs::List(list) => {
            for (doc, &value) in list.iter().zip(found) {
                values[docs.place(*doc)] = value;
            }
        }
    }
}

/// Appends lists, and empty ones for the documents between them.
fn append<T: Copy>(docs: DocRange, lists: &mut Lists<T>, at: BatchDocs<'_>, found: Slices<'_, T>) {
    match at {
        BatchDocs::Run(run) => {
            pad(lists, (run.start - docs.start) as usize);
            lists.extend_from(found);
        }
        BatchDocs::List(list) => {
            for (doc, row) in list.iter().zip(found.iter()) {
                pad(lists, docs.place(*doc));
                lists.push(row);
            }
        }
    }
}

/// Appends empty lists until there are `len`.
fn pad<T: Copy>(lists: &mut Lists<T>, len: usize) {
    while lists.len() < len {
        lists.push(&[]);
    }
}

#[cfg(test)]
mod tests {
    use docvalues_format::id::DocId;

    use super::*;
    use crate::Batch;

    #[test]
    fn a_scan_fills_a_run() {
        let docs = DocRange::new(10, 15);
        let mut numbers = Gathered::<i64>::new();
        let list = [DocId::new(10), DocId::new(13)];
        let batch = |docs, values| Batch { docs, values: View::One(values) };
        numbers
            .fill_by_scan(docs, false, |each| {
                let _ = each(batch(BatchDocs::List(&list), &[1, 4]));
                let _ = each(batch(BatchDocs::Run(DocRange::new(14, 15)), &[5]));
                Ok(())
            })
            .unwrap();
        assert_eq!((numbers.values(), numbers.present()), (&[1, 0, 0, 4, 5][..], Some(&[0b11001][..])));

        let mut strings = Gathered::<u8>::new();
        let lists = Slices::new(&[0, 0, 2], b"xy");
        strings
            .fill_by_scan(docs, true, |each| {
                let _ = each(Batch { docs: BatchDocs::List(&list), values: View::Many(lists) });
                Ok(())
            })
            .unwrap();
        let rows: Vec<_> = (0..5).map(|at| strings.row(at)).collect();
        assert_eq!(rows, [Some(&b""[..]), None, None, Some(b"xy"), None]);
    }
}
