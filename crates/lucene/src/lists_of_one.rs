//! Columns of single values as columns of lists.

use std::sync::Arc;

use docvalues_column::{
    Batch, BatchDocs, Column, ColumnInfo, DocId, DocRange, Each, Element, Gathered, Kind, Pruning, Result,
    Rows, SkipIndex, Slices, Values, View,
};

/// A column of lists over one of single values: each document has a list of one, or none.
#[derive(Debug)]
pub(crate) struct ListsOfOne {
    info: ColumnInfo,
    single: Arc<dyn Column>,
}

/// The kind of lists of the values of a column.
pub(crate) fn of_lists(kind: Kind) -> Kind {
    match kind {
        Kind::Numeric => Kind::SortedNumeric,
        Kind::Sorted => Kind::SortedSet,
        Kind::Binary | Kind::SortedNumeric | Kind::SortedSet => kind,
    }
}

impl ListsOfOne {
    /// The column `single` as one of lists; itself if it has lists or byte strings.
    pub(crate) fn over(single: Arc<dyn Column>) -> Arc<dyn Column> {
        let mut info = single.info().clone();
        info.field.kind = of_lists(info.field.kind);
        if info.field.kind == single.info().field.kind {
            single
        } else {
            Arc::new(ListsOfOne { info, single })
        }
    }

    fn single<T: Element>(&self, read: impl FnOnce(&dyn Rows<T>) -> Result<()>) -> Result<()> {
        T::rows_of(self.single.values()).map_or(Ok(()), read)
    }
}

impl Column for ListsOfOne {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        self.single.exists(docs, out)
    }

    fn values(&self) -> Values<'_> {
        match self.single.values() {
            Values::Numbers(_) => Values::Numbers(self),
            Values::Ords(_, terms) => Values::Ords(self, terms),
            bytes @ Values::Bytes(_) => bytes,
        }
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.single.skip_index()
    }
}

impl<T: Element> Rows<T> for ListsOfOne {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        let mut single = Gathered::new();
        self.single::<T>(|rows| rows.gather(docs, &mut single))?;
        let (lists, _) = out.begin_many(docs.len());
        (0..docs.len()).for_each(|at| lists.push(single.row(at).unwrap_or_default()));
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        // Where lists of one begin and end.
        let mut offsets = vec![0];
        self.single::<T>(|rows| {
            rows.scan(docs, &mut |batch| {
                let View::One(values) = batch.values else { return each(batch) };
                let known = offsets.len() as u64;
                offsets.extend(known..=values.len() as u64);
                let lists = Slices::new(&offsets[..=values.len()], values);
                each(Batch { docs: batch.docs, values: View::Many(lists) })
            })
        })
    }

    fn filter(&self, docs: DocRange, wanted: &T::Range, out: &mut [u64], pruned: &mut Pruning) -> Result<()> {
        self.single::<T>(|rows| rows.filter(docs, wanted, out, pruned))
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        let mut is_there = false;
        out.clear();
        self.single::<T>(|rows| rows.get(doc, out).map(|found| is_there = found))?;
        Ok(is_there)
    }
}
