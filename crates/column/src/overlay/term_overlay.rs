//! [`TermOverlay`]: a column of ords in which some rows changed.

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_format::id::{DocId, TermOrd};

use super::{Changes, NewTerms, Overlay};
use crate::batch::{Batch, BatchDocs, View};
use crate::column::Column;
use crate::error::ErrorKind;
use crate::info::ColumnInfo;
use crate::lists::Lists;
use crate::rows::{Each, Rows, Values, each_row};
use crate::{DocRange, Gathered, OrdRange, Pruning, Result, Terms};

/// Not an ord.
const NONE: TermOrd = TermOrd::new(u32::MAX);

/// A column of ords in which some rows changed, also to terms that its dictionary lacks.
///
/// Ords are those of all terms in their order. With new terms, each ord of a row is found by a binary search over them:
/// O(log new terms). Unused terms stay in the dictionary.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_column::{
///     AbsentColumn, Changes, Column, DocId, Field, Kind, LogicalType, NewTerms, TermOrd, TermOverlay,
/// };
///
/// let field = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// let base: Arc<dyn Column> = Arc::new(AbsentColumn::of(field, 3));
/// let mut new = NewTerms::default();
/// let ords = new.add(base.values().terms().unwrap(), &[b"b.example", b"a.example"])?;
/// let mut changes = Changes::new(3, false);
/// changes.set((0..).map(DocId::new).zip(ords.chunks(1).map(Some)));
/// let column = TermOverlay::new(base, changes, new);
///
/// let mut row = Vec::new();
/// column.values().ords().unwrap().get(DocId::new(0), &mut row)?;
/// assert_eq!(row, [TermOrd::new(1)]); // after "a.example"
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone)]
pub struct TermOverlay {
    /// With stable ords.
    rows: Overlay<TermOrd>,
    new: NewTerms,
    /// The number of terms of the dictionary below.
    count: u32,
}

impl TermOverlay {
    /// `base`, whose values are ords, with the rows of `changes`, which hold stable ords of its dictionary and of `new`. O(1).
    ///
    /// # Panics
    ///
    /// If `base` has values of another type, `changes` is for another number of documents, or they disagree on single values
    /// and lists.
    pub fn new(base: Arc<dyn Column>, changes: Changes<TermOrd>, new: NewTerms) -> TermOverlay {
        let count = base.values().terms().map_or(0, Terms::term_count);
        TermOverlay { rows: Overlay::new(base, changes), new, count }
    }

    #[inline]
    fn ord(&self, stable: TermOrd) -> TermOrd {
        self.new.ord(self.count, stable)
    }

    /// Reads the dictionary below.
    fn dictionary<R: Default>(&self, read: impl FnOnce(&dyn Terms) -> Result<R>) -> Result<R> {
        // `Overlay::new` checked that it has ords.
        self.rows.base.values().terms().map_or_else(|| Ok(R::default()), read)
    }
}

impl Column for TermOverlay {
    fn info(&self) -> &ColumnInfo {
        &self.rows.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.rows.add_existing(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        if self.new.is_empty() { Values::Ords(&self.rows, self) } else { Values::Ords(self, self) }
    }
}

impl Rows<TermOrd> for TermOverlay {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<TermOrd>) -> Result<()> {
        out.gather_as(NONE, |ord| self.ord(ord), |out| self.rows.gather(docs, out))?;
        out.sort_lists();
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, TermOrd>) -> Result<()> {
        let (mut ords, mut lists) = (Vec::new(), Lists::new());
        self.rows.scan(docs, &mut |batch| -> ControlFlow<()> {
            let values = match batch.values {
                View::One(values) => {
                    ords.clear();
                    ords.extend(values.iter().map(|ord| self.ord(*ord)));
                    View::One(&ords)
                }
                View::Many(rows) => {
                    lists.clear();
                    lists.extend_from(rows);
                    lists.items_mut().iter_mut().for_each(|ord| *ord = self.ord(*ord));
                    lists.sort_from(0);
                    View::Many(lists.slices())
                }
            };
            each(Batch { docs: batch.docs, values })
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &OrdRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let below = OrdRange::new(
            self.new.dictionary_before(wanted.start),
            self.new.dictionary_before(wanted.end.max(wanted.start)),
        );
        let is_wanted = |row: &[TermOrd]| row.iter().any(|ord| wanted.contains(self.ord(*ord)));
        let matches = |rows: View<'_, TermOrd>, _: (TermOrd, TermOrd)| each_row(rows, is_wanted);
        self.rows.add(docs, bits, matches, |found| {
            self.rows.below(|rows| rows.filter(docs, &below, found, pruned))
        })
    }

    fn get(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<bool> {
        let is_there = self.rows.get(doc, out)?;
        out.iter_mut().for_each(|ord| *ord = self.ord(*ord));
        out.sort_unstable();
        Ok(is_there)
    }
}

impl Terms for TermOverlay {
    fn term_count(&self) -> u32 {
        // `NewTerms::add` checked it.
        self.count.saturating_add(u32::try_from(self.new.len()).unwrap_or(u32::MAX))
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        if self.new.is_empty() {
            return self.dictionary(|terms| terms.gather_terms(ords, out));
        }
        let len = self.term_count();
        if let Some(ord) = ords.iter().map(|ord| ord.get()).find(|ord| *ord >= len) {
            let field = self.rows.info.field.name.clone();
            return Err(ErrorKind::NoSuchOrd { field, ord, len }.into());
        }
        let of_dictionary = |ord: &TermOrd| self.new.term_of(ord.get()).err();
        let below: Vec<TermOrd> = ords.iter().filter_map(of_dictionary).collect();
        let (mut found, mut at) = (Lists::new(), 0);
        self.dictionary(|terms| terms.gather_terms(&below, &mut found))?;
        out.clear();
        for ord in ords {
            match self.new.term_of(ord.get()) {
                Ok(term) => out.push(term),
                Err(_) => {
                    out.push(found.get(at));
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        let below = self.dictionary(|terms| Ok(terms.seek_ceil(term)?.get()))?;
        Ok(TermOrd::new(below + self.new.before(term)))
    }
}
