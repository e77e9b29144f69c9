//! A column of a batch on its way into a buffer: checked as a whole, then copied, so that little can
//! fail halfway.

use std::ops::Range;

use docvalues_format::file::kind::LogicalType;

use crate::buffer::{Lists, Memory, Values};
use crate::error::ErrorKind;
use crate::fields::{MAX_VALUE, check_bytes, check_number};
use crate::intern::index;
use crate::rows::{Counted, Refused, Rows, span};

/// Values as a caller gives them.
pub(crate) trait Column {
    /// Counts the values that `rows` deals out; refuses the first that a field of type `logical` cannot
    /// hold.
    fn check(&self, rows: &Rows<'_>, logical: LogicalType) -> Result<Counted, Refused>;

    /// Appends the values at `places` to `buffer`, which is for values of this kind and has room for
    /// them, but for the bytes of byte strings. A refusal comes with the place.
    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        memory: &mut Memory,
    ) -> Result<(), (usize, ErrorKind)>;

    /// As [`append`](Self::append), for all that `rows` deals out one a document.
    fn append_single(
        &self,
        rows: &Rows<'_>,
        buffer: &mut Values,
        memory: &mut Memory,
    ) -> Result<(), Refused> {
        rows.runs(|docs| {
            let refuse = |(place, kind)| (rows.doc(&docs, place), kind);
            self.append(rows.places(&docs), buffer, memory).map_err(refuse)
        })
    }
}

/// Numbers, and how they become stored ones.
pub(crate) struct Numbers<'a, T, F> {
    pub(crate) values: &'a [T],
    pub(crate) store: F,
}

impl<T: Copy, F: Fn(T) -> i64> Column for Numbers<'_, T, F> {
    fn check(&self, rows: &Rows<'_>, logical: LogicalType) -> Result<Counted, Refused> {
        match logical {
            LogicalType::Bool => rows.check_each(|at| check_number(logical, (self.store)(self.values[at]))),
            // Every number is one of theirs.
            _ => rows.count(),
        }
    }

    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        _: &mut Memory,
    ) -> Result<(), (usize, ErrorKind)> {
        if let Values::Numbers(numbers) | Values::NumberLists(Lists { values: numbers, .. }) = buffer {
            numbers.extend(self.values[places].iter().map(|&value| (self.store)(value)));
        }
        Ok(())
    }

    fn append_single(
        &self,
        rows: &Rows<'_>,
        buffer: &mut Values,
        memory: &mut Memory,
    ) -> Result<(), Refused> {
        let (Some(words), Values::Numbers(numbers)) = (rows.words(), &mut *buffer) else {
            return self.append(0..self.values.len(), buffer, memory).map_err(|(_, kind)| (0, kind));
        };
        let mut few = Few::new(self);
        for ((start, values), word) in (0..).step_by(64).zip(self.values.chunks(64)).zip(words) {
            match word.count_ones() {
                0..MANY => few.add(start, word, numbers),
                ones => {
                    few.take(numbers);
                    self.append_word(values, word, ones, numbers);
                }
            }
        }
        few.take(numbers);
        Ok(())
    }
}

/// From so many values of a word on, it pays to go through all 64 without a branch.
const MANY: u32 = 16;

impl<T: Copy, F: Fn(T) -> i64> Numbers<'_, T, F> {
    /// Appends those of up to 64 values whose bits are set.
    fn append_word(&self, values: &[T], word: u64, ones: u32, numbers: &mut Vec<i64>) {
        if ones == 64 {
            return numbers.extend(values.iter().map(|&value| (self.store)(value)));
        }
        let (mut kept, mut len) = ([0; 64], 0);
        for (i, &value) in values.iter().enumerate() {
            kept[len % 64] = (self.store)(value);
            len += usize::from(word >> i & 1 == 1);
        }
        numbers.extend_from_slice(&kept[..len]);
    }
}

/// Places of values that lie far apart. Each is a cache miss, and while the places are looked for in the
/// words, the processor waits for one after the other: so first places, then values.
struct Few<'a, T, F> {
    column: &'a Numbers<'a, T, F>,
    places: [usize; 256],
    len: usize,
}

impl<'a, T: Copy, F: Fn(T) -> i64> Few<'a, T, F> {
    fn new(column: &'a Numbers<'a, T, F>) -> Few<'a, T, F> {
        Few { column, places: [0; 256], len: 0 }
    }

    /// Adds the places `start + i` for every set bit *i* of `word`, fewer than [`MANY`].
    fn add(&mut self, start: usize, mut word: u64, numbers: &mut Vec<i64>) {
        if self.places.len() - self.len < index(MANY) {
            self.take(numbers);
        }
        while word != 0 {
            self.places[self.len] = start + index(word.trailing_zeros());
            self.len += 1;
            word &= word - 1;
        }
    }

    /// Appends the values.
    fn take(&mut self, numbers: &mut Vec<i64>) {
        let Numbers { values, store } = self.column;
        numbers.extend(self.places[..self.len].iter().map(|&place| store(values[place])));
        self.len = 0;
    }
}

/// Byte strings end to end: string *i* from `offsets[i]` to `offsets[i + 1]`.
pub(crate) struct ByteStrings<'a> {
    pub(crate) offsets: &'a [u64],
    pub(crate) data: &'a [u8],
}

impl<'a> ByteStrings<'a> {
    fn span(&self, at: usize) -> Result<Range<usize>, ErrorKind> {
        span("byte", self.offsets, at, self.data.len())
    }

    /// The offsets of the strings at `places`; none if there are no strings, for which there may be none.
    fn between(&self, places: &Range<usize>) -> &'a [u64] {
        self.offsets.get(places.start..=places.end).unwrap_or_default()
    }

    /// All bytes that the strings of `rows` lie in, if they are UTF-8 together, and where they begin. It
    /// takes less time than to look at each string; then only where each begins and ends is left to see.
    fn text(&self, rows: &Rows<'_>) -> Option<(usize, &'a str)> {
        let places = rows.places(&(0..rows.docs));
        let at = |place: usize| usize::try_from(*self.offsets.get(place)?).ok();
        let bytes = self.data.get(at(places.start)?..at(places.end)?)?;
        Some((at(places.start)?, std::str::from_utf8(bytes).ok()?))
    }

    /// Whether it can be seen at a glance that a column of type `logical` can hold the strings at `places`:
    /// those of text lie in `text`.
    fn all_fit(&self, places: &Range<usize>, logical: LogicalType, text: Option<(usize, &str)>) -> bool {
        let offsets = self.between(places);
        let lens = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let (least, most) = logical.fixed_len().map_or((0, MAX_VALUE), |len| (len.into(), len.into()));
        // What descends is longer than all that there is.
        let ascend = lens.fold(true, |all, len| all & (least <= len) & (len <= most));
        let inside = offsets.last().is_none_or(|&end| end <= self.data.len() as u64);
        let (Some((start, text)), true) = (text, logical == LogicalType::Utf8) else {
            return ascend && inside && logical != LogicalType::Utf8;
        };
        let is_boundary = |&at: &u64| {
            let at = usize::try_from(at).ok().and_then(|at| at.checked_sub(start));
            at.is_some_and(|at| text.is_char_boundary(at))
        };
        ascend && inside && offsets.iter().all(is_boundary)
    }
}

impl Column for ByteStrings<'_> {
    fn check(&self, rows: &Rows<'_>, logical: LogicalType) -> Result<Counted, Refused> {
        let counted = rows.count()?;
        let text = if logical == LogicalType::Utf8 { self.text(rows) } else { None };
        rows.runs(|docs| match self.all_fit(&rows.places(&docs), logical, text) {
            true => Ok(()),
            false => docs.clone().try_for_each(|doc| {
                let check = |at| check_bytes(logical, &self.data[self.span(at)?], false);
                rows.places(&(doc..doc + 1)).try_for_each(check).map_err(|kind| (doc, kind))
            }),
        })?;
        Ok(counted)
    }

    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        memory: &mut Memory,
    ) -> Result<(), (usize, ErrorKind)> {
        match buffer {
            Values::Strings(strings) => {
                let offsets = self.between(&places);
                strings.extend(offsets, self.data, memory).map_err(|kind| (places.start, kind))?;
            }
            Values::Terms { ids, terms } | Values::TermSets { ids: Lists { values: ids, .. }, terms } => {
                for at in places {
                    let id = self.span(at).and_then(|span| terms.intern(&self.data[span], memory));
                    ids.push(id.map_err(|kind| (at, kind))?);
                }
            }
            Values::Numbers(_) | Values::NumberLists(_) => {}
        }
        Ok(())
    }
}
