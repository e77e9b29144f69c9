//! Documents one by one, their rows in batches.

use docvalues_format::id::DocId;

use crate::rows::Element;
use crate::{BatchDocs, Gathered, Result, Rows};

/// Documents of a batch: enough for the kernels, few enough for the first-level cache.
const DOCS: usize = 64;

/// Collects documents one by one and gathers the rows of 64 of them at once.
///
/// A search engine's collector gets one document at a time. A `get` for each document and column costs several times as
/// much as a gather; a `Lookahead` costs about as much as a gather. Documents may come in any order and more than once.
///
/// `C` is the columns: one of them, a tuple or a `Vec`. See [`GatherRows`].
///
/// # Complexity
///
/// `push`: O(1), and every 64th time one gather a column. Once warm, it allocates no memory for columns with at most one
/// value a document.
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
    /// No documents yet.
    pub fn new(columns: C) -> Lookahead<C> {
        Lookahead { columns, rows: C::Rows::default(), docs: [DocId::new(0); DOCS], len: 0 }
    }

    /// Adds `doc`. Returns every 64th time these documents, in the order in which they came, and their rows.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged. The 64 documents are dropped then.
    #[inline]
    pub fn push(&mut self, doc: DocId) -> Result<Option<(&[DocId], &C::Rows)>> {
        self.docs[self.len % DOCS] = doc;
        self.len += 1;
        if self.len < DOCS { Ok(None) } else { self.finish() }
    }

    /// The documents since the last batch and their rows; `None` if there are none. More may be pushed afterwards.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged. The documents are dropped then.
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

/// Columns whose rows a [`Lookahead`] gathers.
///
/// | columns | rows |
/// | --- | --- |
/// | `&dyn Rows<T>`, of any source | [`Gathered<T>`] |
/// | handles of a segment with at most one value a document | [`Gathered`], in the type of the values |
/// | handles of a segment with lists | [`Lists`](crate::Lists) |
/// | a tuple | a tuple, column by column |
/// | a `Vec` | a `Vec`, column by column |
pub trait GatherRows {
    /// The rows of some documents. Used again for the next ones.
    type Rows: Default;

    /// Replaces `rows` by those of `docs`, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged; what `rows` then holds is unspecified.
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
