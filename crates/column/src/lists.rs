//! Lists with offsets, as in Arrow: borrowed [`Slices`] and owned [`Lists`].

mod retain;

use std::ops::Range;

/// Borrowed lists in one slice, with offsets, as in Arrow: list `i` is `items[offsets[i] .. offsets[i + 1]]`.
///
/// A byte string is a list of bytes, so the batches of a binary column have this form, too.
///
/// # Examples
///
/// ```
/// use docvalues_column::Slices;
///
/// let words = Slices::new(&[0, 3, 3, 6], b"antbee");
/// assert!(words.iter().eq([&b"ant"[..], b"", b"bee"]));
/// assert!(words.lens().eq([3, 0, 3]));
/// assert_eq!(words.part(1..3).items(), b"bee"); // O(1): borrows the same offsets and items
/// ```
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
    /// Lists over `items`. `offsets` has one more entry than there are lists. Its first entry may be any number, and
    /// stands for the first item.
    ///
    /// # Panics
    ///
    /// If `offsets` is empty, or the lists are longer than `items`.
    pub fn new(offsets: &'a [u64], items: &'a [T]) -> Slices<'a, T> {
        let span = offsets[offsets.len() - 1] - offsets[0];
        assert!(span <= items.len() as u64, "{span} items in lists, {} given", items.len());
        Slices { offsets, items }
    }

    /// No lists.
    pub fn none() -> Slices<'a, T> {
        Slices { offsets: &[0], items: &[] }
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lists of the same lengths over other items.
    ///
    /// # Panics
    ///
    /// If `items` is shorter than the lists.
    pub fn over<U>(&self, items: &'a [U]) -> Slices<'a, U> {
        Slices::new(self.offsets, items)
    }

    /// List `i`.
    ///
    /// # Panics
    ///
    /// If there is no list `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &'a [T] {
        &self.items[self.range(i)]
    }

    /// The lists of a range of indices.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds.
    pub fn part(&self, places: Range<usize>) -> Slices<'a, T> {
        let items = &self.items[self.place(places.start)..];
        Slices { offsets: &self.offsets[places.start..=places.end], items }
    }

    /// The length of each list.
    pub fn lens(&self) -> impl ExactSizeIterator<Item = usize> + use<'a, T> {
        // Differences, not ranges: a count of empty lists then compares offsets for equality, which takes fewer vector
        // instructions than an order of 64 bits.
        let ends = self.offsets.iter().zip(&self.offsets[1..]);
        ends.map(|(start, end)| usize::try_from(end - start).unwrap_or(usize::MAX))
    }

    /// The items of all lists, concatenated.
    pub fn items(&self) -> &'a [T] {
        &self.items[..self.place(self.len())]
    }

    /// Iterates over the lists.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [T]> + use<'a, T> {
        let lists = *self;
        (0..lists.len()).map(move |i| lists.get(i))
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.place(i)..self.place(i + 1)
    }

    #[inline]
    fn place(&self, i: usize) -> usize {
        // `items` is in memory, so its length fits.
        usize::try_from(self.offsets[i] - self.offsets[0]).unwrap_or(usize::MAX)
    }
}

/// Owned lists in one buffer, with offsets: the reusable output of a gather.
///
/// # Examples
///
/// ```
/// use docvalues_column::Lists;
///
/// let mut lists = Lists::new();
/// lists.push(b"ant");
/// lists.push(b"");
/// assert_eq!((lists.len(), lists.get(0)), (2, &b"ant"[..]));
/// lists.clear(); // keeps the memory
/// assert!(lists.is_empty());
/// ```
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

    /// No lists, with capacity for `len` of them; items are not reserved.
    pub fn with_capacity(len: usize) -> Lists<T> {
        let mut offsets = Vec::with_capacity(len + 1);
        offsets.push(0);
        Lists { offsets, items: Vec::new() }
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all lists, and keeps the memory.
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

    /// Appends a list of the items that `fill` appends.
    pub fn push_with<R>(&mut self, fill: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let result = fill(&mut self.items);
        self.offsets.push(self.items.len() as u64);
        result
    }

    /// The items of all lists, mutable.
    pub(crate) fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// Sorts each list from number `first` on that is not sorted. O(items) if all are.
    pub(crate) fn sort_from(&mut self, first: usize)
    where
        T: Ord,
    {
        for ends in self.offsets[first..].windows(2) {
            // Offsets into items, which are in memory.
            let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            let list = &mut self.items[place(ends[0])..place(ends[1])];
            if !list.is_sorted() {
                list.sort_unstable();
            }
        }
    }

    /// Appends all of `lists`.
    pub fn extend_from(&mut self, lists: Slices<'_, T>)
    where
        T: Copy,
    {
        let before = self.items.len() as u64;
        self.items.extend_from_slice(lists.items());
        self.offsets.extend(lists.offsets[1..].iter().map(|end| before + (end - lists.offsets[0])));
    }

    /// Appends lists of the lengths `lens`, whose items `fill` appends. After an error nothing has changed.
    ///
    /// # Errors
    ///
    /// That of `fill`.
    ///
    /// # Panics
    ///
    /// If `fill` appends more or fewer items than the lengths add up to.
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

    /// Lists of `items`, each between two of the ascending `offsets`, which begin at 0 and end with the number of items;
    /// `None` if they do not.
    ///
    /// ```
    /// use docvalues_column::Lists;
    ///
    /// let lists = Lists::from_parts(vec![0, 2, 2], b"ab".to_vec()).unwrap();
    /// assert_eq!((lists.get(0), lists.get(1)), (&b"ab"[..], &b""[..]));
    /// assert_eq!(Lists::from_parts(vec![0, 9], b"ab".to_vec()), None);
    /// ```
    pub fn from_parts(offsets: Vec<u64>, items: Vec<T>) -> Option<Lists<T>> {
        let ends = (offsets.first() == Some(&0), offsets.last() == Some(&(items.len() as u64)));
        (ends == (true, true) && offsets.is_sorted()).then_some(Lists { offsets, items })
    }

    /// Frees spare capacity. O(lists + items).
    pub fn shrink_to_fit(&mut self) {
        self.offsets.shrink_to_fit();
        self.items.shrink_to_fit();
    }

    /// The start of each list, and the end of the last one.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Borrows the lists.
    pub fn slices(&self) -> Slices<'_, T> {
        Slices::new(&self.offsets, &self.items)
    }

    /// List `i`.
    ///
    /// # Panics
    ///
    /// If there is no list `i`.
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
    fn lists_grow_and_are_used_again() {
        let mut lists = Lists::new();
        lists.push(&[1, 2]);
        lists.push(&[]);
        assert_eq!((lists.len(), lists.get(0), lists.get(1)), (2, [1, 2].as_slice(), [].as_slice()));
        lists.clear();
        assert!(lists.is_empty());
    }
}
