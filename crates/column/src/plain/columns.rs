//! [`PlainColumns`]: a plain column for each field.

use super::{PlainColumn, PlainValues};
use crate::bits;

/// Documents, as a column for each field of a schema.
///
/// A column may have fewer documents, of which the others have no value, and later fields may have no column yet: a
/// field that no document has takes no memory.
///
/// ```
/// use docvalues_column::{Kind, PlainColumn, PlainColumns, PlainValues};
///
/// let column = |numbers: Vec<i64>| {
///     PlainColumn::new(2, PlainValues::Numbers(numbers), None, None).unwrap()
/// };
/// let mut docs = PlainColumns::new(2, vec![column(vec![7, 8])]).unwrap();
/// docs.append(&PlainColumns::new(2, vec![column(vec![9, 10]), column(vec![1, 2])]).unwrap());
/// assert_eq!(docs.docs(), 4);
/// assert_eq!(docs.column(0).unwrap().numbers(2), [9]);
/// assert_eq!(docs.column(1).unwrap().numbers(0), []); // no document before had the second field
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainColumns {
    docs: u32,
    columns: Vec<PlainColumn>,
}

impl PlainColumns {
    /// `docs` documents with these columns; `None` if a column has more documents.
    pub fn new(docs: u32, columns: Vec<PlainColumn>) -> Option<PlainColumns> {
        let fits = columns.iter().all(|column| column.docs <= docs);
        fits.then_some(PlainColumns { docs, columns })
    }

    /// The number of documents.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The columns, by the place of their fields in the schema.
    pub fn columns(&self) -> &[PlainColumn] {
        &self.columns
    }

    /// The column of the field at place `at`, if any document has been added since the field was.
    #[inline]
    pub fn column(&self, at: usize) -> Option<&PlainColumn> {
        self.columns.get(at)
    }

    /// Appends documents of the same schema. O(their values).
    pub fn append(&mut self, other: &PlainColumns) {
        for (at, column) in other.columns.iter().enumerate() {
            if at == self.columns.len() {
                self.columns.push(column.without_docs());
            }
            if column.docs > 0 {
                let all = &mut self.columns[at];
                all.append_absent(self.docs - all.docs);
                all.append(column);
            }
        }
        self.docs += other.docs;
    }

    /// Sets the numbers of some documents in the column at place `at`, which has at most one number a document.
    ///
    /// ```
    /// use docvalues_column::{Kind, PlainColumn, PlainColumns};
    ///
    /// let mut docs = PlainColumns::new(2, vec![PlainColumn::of_kind(Kind::Numeric)]).unwrap();
    /// docs.set_numbers(0, &[(1, 7)]);
    /// let column = docs.column(0).unwrap();
    /// assert_eq!((column.numbers(0), column.numbers(1)), ([].as_slice(), [7].as_slice()));
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such column or document.
    pub fn set_numbers(&mut self, at: usize, numbers: &[(u32, i64)]) {
        let column = &mut self.columns[at];
        column.append_absent(self.docs - column.docs);
        if let (PlainValues::Numbers(values), None) = (&mut column.values, &column.lists) {
            for &(doc, number) in numbers {
                values[doc as usize] = number;
                column.present.iter_mut().for_each(|present| bits::set(present, doc as usize));
            }
            let all = |present: &mut Vec<u64>| bits::count(present) == self.docs as usize;
            column.present.take_if(all);
        }
    }

    /// Frees spare capacity, for documents to which none will be added. O(documents).
    pub fn shrink_to_fit(&mut self) {
        for column in &mut self.columns {
            column.present.iter_mut().chain(&mut column.lists).for_each(Vec::shrink_to_fit);
            column.values.shrink_to_fit();
        }
    }

    /// The size in memory, in bytes, without spare capacity.
    pub fn heap(&self) -> usize {
        self.columns.iter().map(PlainColumn::heap).sum()
    }
}
