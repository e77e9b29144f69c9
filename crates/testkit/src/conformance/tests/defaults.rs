//! The default methods of the traits, and the helpers of `docvalues-column`, pass the suite.

use docvalues_column::{
    BatchDocs, ColumnInfo, DocRange, Each, Gathered, Lists, SkipIndex, TermOrd, Terms, Zone, scan_by_gather,
};

use super::*;

/// A column that implements only the required methods.
struct Required(Arc<dyn Column>);

impl Required {
    fn rows<T: Probe>(&self) -> &dyn Rows<T> {
        T::rows(self.0.values()).expect("rows of the column's kind")
    }
}

impl Column for Required {
    fn info(&self) -> &ColumnInfo {
        self.0.info()
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.0.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        match self.0.values() {
            Values::Numbers(_) => Values::Numbers(self),
            Values::Ords(..) => Values::Ords(self, self),
            Values::Bytes(_) => Values::Bytes(self),
        }
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.0.skip_index().map(|_| self as &dyn SkipIndex)
    }
}

impl<T: Probe> Rows<T> for Required {
    /// A run is read by a scan, and a list by a gather of the reversed list.
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        let rows = self.rows::<T>();
        match docs {
            BatchDocs::Run(docs) => {
                let is_many = self.info().is_multi_valued() || T::EMPTY_IS_VALUE;
                out.fill_by_scan(docs, is_many, |each| rows.scan(docs, each))
            }
            BatchDocs::List(docs) => {
                let backwards: Vec<_> = docs.iter().rev().copied().collect();
                rows.gather(BatchDocs::List(&backwards), out)?;
                let (gathered, len) = (out.clone(), docs.len());
                let row = |at: usize| gathered.row(len - 1 - at);
                if gathered.is_many() {
                    let (lists, mut presence) = out.begin_many(len);
                    for at in 0..len {
                        lists.push(row(at).unwrap_or_default());
                        presence.mark(at, row(at).is_some());
                    }
                } else {
                    out.begin_one(len);
                    (0..len).for_each(|at| out.set(at, row(at).map(|row| row[0])));
                }
                Ok(())
            }
        }
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        scan_by_gather(self.rows::<T>(), docs.clip(self.info().docs), each)
    }
}

impl Terms for Required {
    fn term_count(&self) -> u32 {
        self.0.values().terms().unwrap().term_count()
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        self.0.values().terms().unwrap().gather_terms(ords, out)
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.0.values().terms().unwrap().seek_ceil(term)
    }
}

impl SkipIndex for Required {
    fn levels(&self) -> &[u32] {
        self.0.skip_index().unwrap().levels()
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        self.0.skip_index().unwrap().zones(level, docs, out)
    }
}

#[test]
fn the_required_methods_are_enough() {
    for kind in Kind::ALL {
        let correct = correct(kind);
        check_column(&Required(correct.clone()), &*correct);
        check_panics(&Required(correct));
    }
    for (field, column) in crate::shapes::small_of_every_kind().columns {
        let docs = column.len() as u32;
        let correct = column.open(field, docs);
        check_column(&Required(correct.clone()), &*correct);
    }
}
