//! [`PlainSource`]: plain columns, read through the traits.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::id::{DocId, TermOrd};

use super::{PlainColumn, PlainColumns, PlainValues};
use crate::batch::{Batch, BatchDocs, View};
use crate::column::Column;
use crate::error::ErrorKind;
use crate::info::{Bounds, ColumnInfo, Count};
use crate::lists::{Lists, Slices};
use crate::rows::{Each, Element, Rows, Values, scan_by_gather};
use crate::{ColumnSource, DocRange, Gathered, Result, Terms, bits};

/// [`PlainColumns`] as a source of columns.
///
/// A column is opened in O(its values): numbers are copied, and terms get a dictionary.
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_column::{
///     ColumnSource, Field, Kind, LogicalType, PlainColumn, PlainColumns, PlainSource, PlainValues,
/// };
///
/// let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// let column = PlainColumn::new(2, PlainValues::Numbers(vec![7, 512]), None, None).unwrap();
/// let docs = PlainColumns::new(2, vec![column]).unwrap();
/// let source = PlainSource::new(Arc::new(docs), Arc::from([size]));
/// assert_eq!(source.column("size")?.info().bounds.range(), 7..=512);
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlainSource {
    docs: Arc<PlainColumns>,
    fields: Arc<[Field]>,
}

impl PlainSource {
    /// The source of `docs`, whose columns belong to `fields`, in this order.
    pub fn new(docs: Arc<PlainColumns>, fields: Arc<[Field]>) -> PlainSource {
        PlainSource { docs, fields }
    }

    /// The columns.
    pub fn columns(&self) -> &PlainColumns {
        &self.docs
    }
}

impl ColumnSource for PlainSource {
    fn docs(&self) -> u32 {
        self.docs.docs()
    }

    fn fields(&self) -> Result<Vec<Field>> {
        let there = self.fields.iter().zip(self.docs.columns()).filter(|(_, column)| column.docs > 0);
        let mut fields: Vec<Field> = there.map(|(field, _)| field.clone()).collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(fields)
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let mut columns = self.fields.iter().zip(self.docs.columns());
        match columns.find(|(field, column)| field.name == name && column.docs > 0) {
            Some((field, column)) => Ok(column.open(field.clone(), self.docs.docs())),
            None => Err(ErrorKind::NoSuchColumn { file: "memory".into(), field: name.into() }.into()),
        }
    }
}

/// A column whose rows are slices of `items`.
struct Opened<T> {
    info: ColumnInfo,
    /// The documents with a value, if not all below `docs` have one.
    present: Option<Vec<u64>>,
    /// Documents from here on have no value.
    docs: u32,
    /// Where the items of each document begin; without, each has one.
    offsets: Option<Vec<u64>>,
    items: Vec<T>,
    terms: SortedTerms,
}

/// A dictionary: the terms of ords, ascending.
#[derive(Default)]
struct SortedTerms {
    /// The name of its column, for errors.
    field: String,
    terms: Lists<u8>,
}

impl PlainColumn {
    /// The column of `field` in a source of `docs` documents, read through the traits: those after the documents
    /// of this column have no value. O(its values): numbers are copied, and terms get a dictionary.
    ///
    /// # Panics
    ///
    /// If the source has fewer documents than the column, or the column has lists and the kind of the field has none.
    pub fn open(&self, field: Field, docs: u32) -> Arc<dyn Column> {
        assert!(self.docs <= docs, "a column of {} documents in a source of {docs}", self.docs);
        assert!(self.lists.is_none() || field.kind.is_multi_valued(), "lists in a column of single values");
        let (present, lists) = (self.present.clone(), self.lists.clone());
        let with_value = (0..self.docs).filter(|doc| self.has_value(*doc)).count() as u64;
        let value_count = if lists.is_some() { self.values.len() as u64 } else { with_value };
        let info = ColumnInfo {
            docs,
            with_value: Count::Exact(with_value),
            value_count: Count::Exact(value_count),
            bounds: Bounds::Unknown,
            sum: None,
            field,
        };
        let (docs, terms) = (self.docs, SortedTerms::default());
        match &self.values {
            PlainValues::Numbers(numbers) => {
                let all = || (0..self.docs).flat_map(|doc| self.numbers(doc)).copied();
                let bounds =
                    all().min().zip(all().max()).map_or(Bounds::NONE, |(min, max)| Bounds::Exact(min..=max));
                let sum = (info.field.logical != LogicalType::F64).then(|| all().map(i128::from).sum());
                let items = numbers.clone();
                Arc::new(Opened {
                    info: ColumnInfo { bounds, sum, ..info },
                    present,
                    docs,
                    offsets: lists,
                    items,
                    terms,
                })
            }
            PlainValues::Strings(strings) if info.field.kind == Kind::Binary => {
                let (offsets, items) = (Some(strings.offsets().to_vec()), strings.slices().items().to_vec());
                Arc::new(Opened { info, present, docs, offsets, items, terms })
            }
            PlainValues::Strings(strings) => {
                let (mut items, terms) = dictionary(self, strings.slices());
                let (mut offsets, mut value_count) = (lists, info.value_count);
                if let Some(lists) = &mut offsets {
                    value_count = Count::Exact(sort_sets(lists, &mut items));
                }
                let info = ColumnInfo { value_count, ..info };
                let terms = SortedTerms { field: info.field.name.clone(), terms };
                Arc::new(Opened { info, present, docs, offsets, items, terms })
            }
        }
    }
}

/// The distinct strings in order, and the ord of each string. Strings in the slots of documents without a value are none.
fn dictionary(column: &PlainColumn, strings: Slices<'_, u8>) -> (Vec<TermOrd>, Lists<u8>) {
    let is_value =
        |at: usize| column.lists.is_some() || column.present.as_ref().is_none_or(|bits| bits::get(bits, at));
    let mut ids: HashMap<&[u8], u32> = HashMap::new();
    let mut ords = Vec::with_capacity(strings.len());
    for (at, term) in strings.iter().enumerate() {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        ords.push(TermOrd::new(if is_value(at) { *ids.entry(term).or_insert(next) } else { 0 }));
    }
    let mut sorted: Vec<(&[u8], u32)> = ids.into_iter().collect();
    sorted.sort_unstable();
    let (mut terms, mut ord_of) = (Lists::new(), vec![TermOrd::new(0); sorted.len()]);
    for (ord, (term, id)) in (0..).zip(sorted) {
        terms.push(term);
        ord_of[id as usize] = TermOrd::new(ord);
    }
    ords.iter_mut().for_each(|id| *id = ord_of.get(id.get() as usize).copied().unwrap_or(*id));
    (ords, terms)
}

/// Makes each list ascend without repeats. Returns how many ords are left.
fn sort_sets(lists: &mut [u64], ords: &mut Vec<TermOrd>) -> u64 {
    let (mut start, mut kept) = (0, 0);
    for offset in &mut lists[1..] {
        let end = usize::try_from(*offset).unwrap_or(usize::MAX);
        ords[start..end].sort_unstable();
        let first = kept;
        for at in start..end {
            if kept == first || ords[kept - 1] != ords[at] {
                ords[kept] = ords[at];
                kept += 1;
            }
        }
        (start, *offset) = (end, kept as u64);
    }
    ords.truncate(kept);
    kept as u64
}

/// The element of a plain column.
trait PlainElement: Element {
    fn values<'c>(rows: &'c dyn Rows<Self>, terms: &'c dyn Terms) -> Values<'c>;
}

impl PlainElement for i64 {
    fn values<'c>(rows: &'c dyn Rows<i64>, _: &'c dyn Terms) -> Values<'c> {
        Values::Numbers(rows)
    }
}

impl PlainElement for u8 {
    fn values<'c>(rows: &'c dyn Rows<u8>, _: &'c dyn Terms) -> Values<'c> {
        Values::Bytes(rows)
    }
}

impl PlainElement for TermOrd {
    fn values<'c>(rows: &'c dyn Rows<TermOrd>, terms: &'c dyn Terms) -> Values<'c> {
        Values::Ords(rows, terms)
    }
}

impl<T: PlainElement> Column for Opened<T> {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        bits::check(docs, out);
        for doc in docs.clip(self.info.docs).iter().filter(|doc| self.row(*doc).is_some()) {
            bits::set(out, docs.place(doc));
        }
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        T::values(self, &self.terms)
    }
}

impl<T: PlainElement> Opened<T> {
    /// The items of the document; `None` without a value.
    fn row(&self, doc: DocId) -> Option<&[T]> {
        let at = doc.get() as usize;
        if doc.get() >= self.docs || self.present.as_ref().is_some_and(|present| !bits::get(present, at)) {
            return None;
        }
        let row = match &self.offsets {
            None => &self.items[at..=at],
            Some(offsets) => Slices::new(offsets, &self.items).get(at),
        };
        (T::EMPTY_IS_VALUE || !row.is_empty()).then_some(row)
    }

    /// Whether every document has one item.
    fn is_dense(&self) -> bool {
        self.docs == self.info.docs && self.present.is_none() && self.offsets.is_none()
    }
}

impl<T: PlainElement> Rows<T> for Opened<T> {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        let fill = out.fill();
        if self.offsets.is_some() {
            let (lists, mut presence) = out.begin_many(docs.len());
            for (at, doc) in docs.iter().enumerate() {
                let row = self.row(doc);
                lists.push(row.unwrap_or_default());
                presence.mark(at, row.is_some());
            }
            return Ok(());
        }
        let (values, mut presence) = out.begin_one(docs.len());
        let run = match docs {
            BatchDocs::Run(run) if self.is_dense() => self.items.get(run.start as usize..run.end as usize),
            _ => None,
        };
        if let Some(run) = run {
            values.copy_from_slice(run);
            return Ok(());
        }
        for (at, doc) in docs.iter().enumerate() {
            let row = self.row(doc);
            values[at] = row.map_or(fill, |row| row[0]);
            presence.mark(at, row.is_some());
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        let docs = docs.clip(self.info.docs);
        if !self.is_dense() {
            return scan_by_gather(self, docs, each);
        }
        const BATCH: usize = 4096;
        for run in docs.chunks(BATCH) {
            let values = View::One(&self.items[run.start as usize..run.end as usize]);
            if let ControlFlow::Break(()) = each(Batch { docs: BatchDocs::Run(run), values }) {
                break;
            }
        }
        Ok(())
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        out.clear();
        out.extend_from_slice(self.row(doc).unwrap_or_default());
        Ok(self.row(doc).is_some())
    }
}

impl Terms for SortedTerms {
    fn term_count(&self) -> u32 {
        u32::try_from(self.terms.len()).unwrap_or(u32::MAX)
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        out.clear();
        for ord in ords {
            let len = self.term_count();
            if ord.get() >= len {
                return Err(ErrorKind::NoSuchOrd { field: self.field.clone(), ord: ord.get(), len }.into());
            }
            out.push(self.terms.get(ord.get() as usize));
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        let (mut low, mut high) = (0, self.term_count());
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) =
                if self.terms.get(middle as usize) < term { (middle + 1, high) } else { (low, middle) };
        }
        Ok(TermOrd::new(low))
    }
}

#[cfg(test)]
mod tests {
    use docvalues_format::file::kind::{Kind, LogicalType};

    use super::super::{PlainColumn, PlainValues};
    use crate::Field;

    fn numbers(lists: Option<Vec<u64>>) -> PlainColumn {
        PlainColumn::new(2, PlainValues::Numbers(vec![7, 512]), None, lists).unwrap()
    }

    #[test]
    #[should_panic(expected = "a column of 2 documents in a source of 1")]
    fn a_source_with_fewer_documents_panics() {
        numbers(None).open(Field::new("size", Kind::Numeric, LogicalType::I64), 1);
    }

    #[test]
    #[should_panic(expected = "lists in a column of single values")]
    fn lists_of_a_field_of_single_values_panic() {
        numbers(Some(vec![0, 2, 2])).open(Field::new("size", Kind::Numeric, LogicalType::I64), 2);
    }
}
