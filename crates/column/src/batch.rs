//! Rows side by side: the batches of a scan, and lists end to end.

use std::ops::Range;

use docvalues_format::id::DocId;

use crate::DocRange;

/// Some documents of a column and their rows, as a scan hands them out.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// The documents, ascending: only those that have a value.
    pub docs: BatchDocs<'a>,
    /// Their rows, in the same order.
    pub values: View<'a, T>,
}

/// Rows side by side.
#[derive(Clone, Copy, Debug)]
pub enum View<'a, T> {
    /// A value each.
    One(&'a [T]),
    /// A list of values each; of bytes, a byte string.
    Many(Slices<'a, T>),
}

impl<'a, T> View<'a, T> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            View::One(values) => values.len(),
            View::Many(lists) => lists.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `i`.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn row(&self, i: usize) -> &'a [T] {
        match self {
            View::One(values) => &values[i..=i],
            View::Many(lists) => lists.get(i),
        }
    }

    /// The rows at `places`, alone.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn part(&self, places: Range<usize>) -> View<'a, T> {
        match self {
            View::One(values) => View::One(&values[places]),
            View::Many(lists) => View::Many(lists.part(places)),
        }
    }

    /// The elements of all rows, end to end.
    pub fn items(&self) -> &'a [T] {
        match self {
            View::One(values) => values,
            View::Many(lists) => lists.items(),
        }
    }

    /// The values, if there is one for each row.
    pub fn one(self) -> Option<&'a [T]> {
        if let View::One(values) = self { Some(values) } else { None }
    }

    /// The lists, if the rows are lists.
    pub fn many(self) -> Option<Slices<'a, T>> {
        if let View::Many(lists) = self { Some(lists) } else { None }
    }
}

/// Documents: what a gather is asked for, and what a scan hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchDocs<'a> {
    /// Consecutive documents.
    Run(DocRange),
    /// Any documents.
    List(&'a [DocId]),
}

impl<'a> From<&'a [DocId]> for BatchDocs<'a> {
    fn from(docs: &'a [DocId]) -> BatchDocs<'a> {
        BatchDocs::List(docs)
    }
}

impl From<DocRange> for BatchDocs<'_> {
    fn from(docs: DocRange) -> Self {
        BatchDocs::Run(docs)
    }
}

impl BatchDocs<'_> {
    /// The number of documents.
    pub fn len(&self) -> usize {
        match self {
            BatchDocs::Run(docs) => docs.len(),
            BatchDocs::List(docs) => docs.len(),
        }
    }

    /// Whether there are none. A scan never hands out an empty batch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The documents, one by one.
    pub fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        let (run, list) = match *self {
            BatchDocs::Run(docs) => (docs, [].as_slice()),
            BatchDocs::List(docs) => (DocRange::default(), docs),
        };
        run.iter().chain(list.iter().copied())
    }
}

/// Lists end to end: list `i` is `items[offsets[i] .. offsets[i + 1]]`.
///
/// A byte string is a list of bytes, so this is also what a scan of a binary column hands out.
#[derive(Debug)]
pub struct Slices<'a, T> {
    offsets: &'a [u64],
    items: &'a [T],
}

impl<T> Clone for Slices<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slices<'_, T> {}

impl<'a, T> Slices<'a, T> {
    /// Lists over `items`; `offsets` has one more entry than there are lists, and may begin with any
    /// number: it belongs to the first item.
    ///
    /// # Panics
    ///
    /// If `offsets` is empty, or its last entry lies behind `items`.
    pub fn new(offsets: &'a [u64], items: &'a [T]) -> Slices<'a, T> {
        let span = offsets[offsets.len() - 1] - offsets[0];
        assert!(span <= items.len() as u64, "{span} items in lists, {} given", items.len());
        Slices { offsets, items }
    }

    /// No lists.
    pub fn none() -> Slices<'a, T> {
        Slices { offsets: &[0], items: &[] }
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same lists over other items, one for each of these.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn over<U>(&self, items: &'a [U]) -> Slices<'a, U> {
        Slices::new(self.offsets, items)
    }

    /// List `i`.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[inline]
    pub fn get(&self, i: usize) -> &'a [T] {
        &self.items[self.range(i)]
    }

    /// The lists at `places`, alone.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn part(&self, places: Range<usize>) -> Slices<'a, T> {
        let items = &self.items[self.place(places.start)..];
        Slices { offsets: &self.offsets[places.start..=places.end], items }
    }

    /// How long each list is.
    pub fn lens(&self) -> impl ExactSizeIterator<Item = usize> + use<'a, T> {
        let lists = *self;
        (0..lists.len()).map(move |i| lists.range(i).len())
    }

    /// All items of all lists, end to end.
    pub fn items(&self) -> &'a [T] {
        &self.items[..self.place(self.len())]
    }

    /// The lists, one by one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [T]> + use<'a, T> {
        let lists = *self;
        (0..lists.len()).map(move |i| lists.get(i))
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.place(i)..self.place(i + 1)
    }

    #[inline]
    fn place(&self, i: usize) -> usize {
        // Offsets only ever span `items`, which is in memory.
        usize::try_from(self.offsets[i] - self.offsets[0]).unwrap_or(usize::MAX)
    }
}

/// Lists end to end in memory of the caller's, to be filled by `gather` and used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists<T> {
    offsets: Vec<u64>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists::new()
    }
}

impl<T> Lists<T> {
    /// No lists.
    pub fn new() -> Lists<T> {
        Lists { offsets: vec![0], items: Vec::new() }
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all lists, and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.items.clear();
    }

    /// Appends a list.
    pub fn push(&mut self, list: &[T])
    where
        T: Clone,
    {
        self.push_with(|items| items.extend_from_slice(list));
    }

    /// Appends a list: whatever `fill` appends to the items.
    pub fn push_with<R>(&mut self, fill: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let result = fill(&mut self.items);
        self.offsets.push(self.items.len() as u64);
        result
    }

    /// Appends many lists at once.
    pub fn extend_from(&mut self, lists: Slices<'_, T>)
    where
        T: Copy,
    {
        let before = self.items.len() as u64;
        self.items.extend_from_slice(lists.items());
        self.offsets.extend(lists.offsets[1..].iter().map(|end| before + (end - lists.offsets[0])));
    }

    /// Appends many lists at once, as long as `lens` says: `fill` appends the items of all of them. After
    /// an error, there are as many lists as before.
    ///
    /// # Errors
    ///
    /// That of `fill`.
    ///
    /// # Panics
    ///
    /// If there are more or fewer items than the lists are long.
    pub fn extend_with<E>(
        &mut self,
        lens: impl IntoIterator<Item = u64>,
        fill: impl FnOnce(&mut Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.items.len();
        let filled = fill(&mut self.items);
        if filled.is_err() {
            self.items.truncate(before);
            return filled;
        }
        let mut end = before as u64;
        self.offsets.extend(lens.into_iter().map(|len| {
            end += len;
            end
        }));
        assert_eq!(end, self.items.len() as u64, "as many items as the lists are long");
        Ok(())
    }

    /// The lists, borrowed.
    pub fn slices(&self) -> Slices<'_, T> {
        Slices::new(&self.offsets, &self.items)
    }

    /// List `i`.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn get(&self, i: usize) -> &[T] {
        self.slices().get(i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_may_begin_anywhere() {
        let lists = Slices::new(&[7, 9, 9, 10], b"abc");
        assert_eq!(lists.iter().collect::<Vec<_>>(), [b"ab".as_slice(), b"", b"c"]);
        assert_eq!(lists.items(), b"abc");
        assert_eq!(lists.lens().collect::<Vec<_>>(), [2, 0, 1]);
        let part = lists.part(1..3);
        assert_eq!(part.iter().collect::<Vec<_>>(), [b"".as_slice(), b"c"]);
        assert_eq!(part.items(), b"c");
        assert!(lists.part(3..3).is_empty());
    }

    #[test]
    fn a_run_and_a_list_name_documents() {
        let run = BatchDocs::Run(DocRange::new(3, 5));
        assert_eq!(run.iter().map(DocId::get).collect::<Vec<_>>(), [3, 4]);
        let docs = [DocId::new(1), DocId::new(9)];
        assert_eq!(BatchDocs::List(&docs).iter().collect::<Vec<_>>(), docs);
    }

    #[test]
    fn lists_grow_and_are_used_again() {
        let mut lists = Lists::new();
        lists.push(&[1, 2]);
        lists.push(&[]);
        assert_eq!((lists.len(), lists.get(0), lists.get(1)), (2, [1, 2].as_slice(), [].as_slice()));
        lists.clear();
        assert!(lists.is_empty());
    }
}
