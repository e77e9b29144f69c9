//! Binary columns of small parts, read as sorted ones.
//!
//! A writer that chooses the kind of a column by itself gives few strings no dictionary, and many equal ones a
//! dictionary: small segments have binary columns where large ones have sorted columns. Their dictionaries are made in
//! memory, so that the large segments keep theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, DocId, DocRange, Each, ErrorKind, Gathered, Kind, Lists,
    Result as ColumnResult, Rows, TermOrd, Terms, Values, bits, scan_by_gather,
};

use super::docs::len_u32;

/// The most documents of a part whose strings are read when the column is opened.
const MAX_DOCS: u32 = 1 << 16;

/// A sorted column in memory.
pub(crate) struct SmallDictionary {
    info: ColumnInfo,
    /// The ord of each document; `None` without a value.
    ords: Vec<Option<TermOrd>>,
    terms: Lists<u8>,
}

/// Whether this is a binary column of a small part.
pub(crate) fn is_small(column: &dyn Column) -> bool {
    column.info().kind() == Kind::Binary && column.info().docs <= MAX_DOCS
}

impl SmallDictionary {
    /// Reads all strings of a binary column. O(bytes · log strings).
    ///
    /// # Errors
    ///
    /// If the column is damaged.
    pub(crate) fn of(column: &dyn Column) -> ColumnResult<Arc<dyn Column>> {
        let mut info = column.info().clone();
        (info.field.kind, info.bounds) = (Kind::Sorted, Bounds::Unknown);
        let mut strings = Gathered::new();
        if let Values::Bytes(rows) = column.values() {
            rows.gather(BatchDocs::Run(DocRange::new(0, info.docs)), &mut strings)?;
        }
        let docs = 0..strings.len();
        let mut known: BTreeMap<&[u8], TermOrd> =
            docs.clone().filter_map(|doc| Some((strings.row(doc)?, TermOrd::new(0)))).collect();
        let mut terms = Lists::new();
        for (at, (term, ord)) in known.iter_mut().enumerate() {
            *ord = TermOrd::new(len_u32(at));
            terms.push(term);
        }
        let ords = docs.map(|doc| known.get(strings.row(doc)?).copied()).collect();
        Ok(Arc::new(SmallDictionary { info, ords, terms }))
    }

    fn ord(&self, doc: DocId) -> Option<TermOrd> {
        self.ords.get(doc.get() as usize).copied().flatten()
    }
}

impl Column for SmallDictionary {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> ColumnResult<()> {
        bits::check(docs, out);
        let there = docs.clip(self.info.docs).iter().filter(|doc| self.ord(*doc).is_some());
        there.for_each(|doc| bits::set(out, docs.place(doc)));
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        Values::Ords(self, self)
    }
}

impl Rows<TermOrd> for SmallDictionary {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<TermOrd>) -> ColumnResult<()> {
        out.begin_one(docs.len());
        docs.iter().enumerate().for_each(|(at, doc)| out.set(at, self.ord(doc)));
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, TermOrd>) -> ColumnResult<()> {
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }
}

impl Terms for SmallDictionary {
    fn term_count(&self) -> u32 {
        len_u32(self.terms.len())
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> ColumnResult<()> {
        out.clear();
        for ord in ords.iter().map(|ord| ord.get()) {
            let len = self.term_count();
            if ord >= len {
                let field = self.info.field.name.clone();
                return Err(ErrorKind::NoSuchOrd { field, ord, len }.into());
            }
            out.push(self.terms.get(ord as usize));
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> ColumnResult<TermOrd> {
        let (mut low, mut high) = (0, self.terms.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.terms.get(middle) < term { low = middle + 1 } else { high = middle }
        }
        Ok(TermOrd::new(len_u32(low)))
    }
}

#[cfg(test)]
mod tests {
    use docvalues_column::Field;
    use docvalues_testkit::conformance::{check_column, check_panics};
    use docvalues_testkit::model::ModelColumn;
    use docvalues_testkit::shapes;

    use super::*;

    #[test]
    fn strings_follow_the_rules_of_a_sorted_column() {
        for shape in shapes::small() {
            let ModelColumn::Binary(slots) = shape.column() else { continue };
            let field = shape.field("it");
            let strings = ModelColumn::Binary(slots.clone()).open(field.clone(), shape.docs);
            let found = SmallDictionary::of(&*strings).unwrap();
            let sorted = Field { kind: Kind::Sorted, ..field };
            check_column(&*found, &*ModelColumn::Sorted(slots).open(sorted, shape.docs));
            check_panics(&*found);
        }
    }
}
