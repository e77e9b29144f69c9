//! [`Lookahead`]: documents come one by one, and their rows are gathered in batches.

use docvalues_format::id::DocId;

use crate::rows::Element;
use crate::{BatchDocs, Gathered, Result, Rows};

/// Documents of a batch: enough for the SIMD kernels, few enough for the first-level cache.
const DOCS: usize = 64;

/// Buffers documents that come one by one, and gathers the rows of 64 of them at once.
///
/// A search engine's collector gets one document at a time. Calling [`Rows::get`] for each costs several times as much
/// as a gather; a `Lookahead` costs about as much as a gather. Documents may come in any order and with repeats.
///
/// `C` is a column, a tuple of columns or a `Vec` of them: see [`GatherRows`].
///
/// # Complexity
///
/// `push` is O(1), and gathers once a column on every 64th call. After the first batch it allocates no memory for
/// columns with at most one value a document.
///
/// # Examples
///
/// ```
/// use docvalues_column::{DocId, Gathered, Lookahead, Result, Rows};
///
/// fn sum(sizes: &dyn Rows<i64>, hits: impl Iterator<Item = DocId>) -> Result<i64> {
///     let (mut ahead, mut sum) = (Lookahead::new(sizes), 0);
///     let mut add = |sizes: &Gathered<i64>| sum += sizes.values().iter().sum::<i64>();
///     for doc in hits {
///         if let Some((_docs, sizes)) = ahead.push(doc)? {
///             add(sizes);
///         }
///     }
///     if let Some((_docs, sizes)) = ahead.finish()? {
///         add(sizes);
///     }
///     Ok(sum)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Lookahead<C: GatherRows> {
    columns: C,
    rows: C::Rows,
    docs: [DocId; DOCS],
    len: usize,
}

impl<C: GatherRows> Lookahead<C> {
    /// A `Lookahead` over `columns` without documents.
    pub fn new(columns: C) -> Lookahead<C> {
        Lookahead { columns, rows: C::Rows::default(), docs: [DocId::new(0); DOCS], len: 0 }
    }

    /// Adds `doc`. On every 64th call, returns these 64 documents in the order of the calls, and their rows.
    ///
    /// # Errors
    ///
    /// If bytes of a column are damaged. The 64 documents are then dropped.
    #[inline]
    pub fn push(&mut self, doc: DocId) -> Result<Option<(&[DocId], &C::Rows)>> {
        self.docs[self.len % DOCS] = doc;
        self.len += 1;
        if self.len < DOCS { Ok(None) } else { self.finish() }
    }

    /// Returns the documents since the last batch and their rows; `None` if there are none. More documents may be
    /// pushed afterwards.
    ///
    /// # Errors
    ///
    /// If bytes of a column are damaged. The documents are then dropped.
    #[inline(never)]
    pub fn finish(&mut self) -> Result<Option<(&[DocId], &C::Rows)>> {
        let docs = &self.docs[..std::mem::take(&mut self.len)];
        if docs.is_empty() {
            return Ok(None);
        }
        self.columns.gather_rows(docs, &mut self.rows)?;
        Ok(Some((docs, &self.rows)))
    }
}

/// Columns whose rows a [`Lookahead`] can gather.
///
/// | columns | rows |
/// | --- | --- |
/// | `&dyn Rows<T>`, of any source | [`Gathered<T>`] |
/// | handles of a segment with at most one value a document | [`Gathered`], in the type of the values |
/// | handles of a segment with lists | [`Lists`](crate::Lists) |
/// | a tuple | a tuple, column by column |
/// | a `Vec` | a `Vec`, column by column |
///
/// # Examples
///
/// Two columns of a collector as one type, with rows in its own form:
///
/// ```
/// use docvalues_column::{DocId, GatherRows, Gathered, Lookahead, Result, Rows};
///
/// struct Price<'a> {
///     amount: &'a dyn Rows<i64>,
///     discount: &'a dyn Rows<i64>,
/// }
///
/// impl GatherRows for Price<'_> {
///     type Rows = Vec<i64>;
///
///     fn gather_rows(&self, docs: &[DocId], rows: &mut Vec<i64>) -> Result<()> {
///         let (mut amounts, mut discounts) = (Gathered::filled(0), Gathered::filled(0));
///         self.amount.gather(docs.into(), &mut amounts)?;
///         self.discount.gather(docs.into(), &mut discounts)?;
///         rows.clear();
///         rows.extend(amounts.values().iter().zip(discounts.values()).map(|(amount, discount)| amount - discount));
///         Ok(())
///     }
/// }
///
/// fn collect(price: Price<'_>, hits: &[DocId]) -> Result<i64> {
///     let (mut ahead, mut total) = (Lookahead::new(price), 0);
///     for &doc in hits {
///         if let Some((_, prices)) = ahead.push(doc)? {
///             total += prices.iter().sum::<i64>();
///         }
///     }
///     Ok(total + ahead.finish()?.map_or(0, |(_, prices)| prices.iter().sum()))
/// }
/// ```
pub trait GatherRows {
    /// The rows of a batch. Reused for the next one.
    type Rows: Default;

    /// Replaces `rows` by the rows of `docs`, which may be in any order and repeat.
    ///
    /// # Errors
    ///
    /// If bytes of a column are damaged. The contents of `rows` are then unspecified.
    fn gather_rows(&self, docs: &[DocId], rows: &mut Self::Rows) -> Result<()>;
}

impl<T: Element> GatherRows for &dyn Rows<T> {
    type Rows = Gathered<T>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<T>) -> Result<()> {
        self.gather(BatchDocs::List(docs), rows)
    }
}

impl<C: GatherRows> GatherRows for Vec<C> {
    type Rows = Vec<C::Rows>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Vec<C::Rows>) -> Result<()> {
        rows.resize_with(self.len(), C::Rows::default);
        self.iter().zip(rows).try_for_each(|(column, rows)| column.gather_rows(docs, rows))
    }
}

macro_rules! tuples {
    ($($column:ident $at:tt),*) => {
        impl<$($column: GatherRows),*> GatherRows for ($($column,)*) {
            type Rows = ($($column::Rows,)*);

            fn gather_rows(&self, docs: &[DocId], rows: &mut Self::Rows) -> Result<()> {
                $(self.$at.gather_rows(docs, &mut rows.$at)?;)*
                Ok(())
            }
        }
    };
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
