//! A column of a batch on its way into a buffer: checked as a whole, then copied, so that little can
//! fail halfway.

use std::ops::Range;

use docvalues_format::file::kind::LogicalType;

use crate::buffer::{Lists, Memory, Values};
use crate::error::ErrorKind;
use crate::fields::{check_bytes, check_number};
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
        for (values, word) in self.values.chunks(64).zip(words) {
            self.append_word(values, word, numbers);
        }
        Ok(())
    }
}

impl<T: Copy, F: Fn(T) -> i64> Numbers<'_, T, F> {
    /// Appends those of up to 64 values whose bits are set.
    fn append_word(&self, values: &[T], mut word: u64, numbers: &mut Vec<i64>) {
        /// From so many values of a word on, it pays to go through all 64 without a branch.
        const MANY: u32 = 16;
        match word.count_ones() {
            64 => numbers.extend(values.iter().map(|&value| (self.store)(value))),
            MANY.. => {
                let (mut kept, mut len) = ([0; 64], 0);
                for (i, &value) in values.iter().enumerate() {
                    kept[len % 64] = (self.store)(value);
                    len += usize::from(word >> i & 1 == 1);
                }
                numbers.extend_from_slice(&kept[..len]);
            }
            _ => {
                while word != 0 {
                    numbers.push((self.store)(values[index(word.trailing_zeros())]));
                    word &= word - 1;
                }
            }
        }
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

    /// All bytes that the strings of `rows` lie in, if they are UTF-8 together, and where they begin. It
    /// takes less time than to look at each string; then only where each begins and ends is left to see.
    fn text(&self, rows: &Rows<'_>) -> Option<(usize, &'a str)> {
        let ends = rows
            .lists
            .map_or(Some((0, rows.docs.into())), |lists| lists.first().copied().zip(lists.last().copied()));
        let at = |place: u64| self.offsets.get(usize::try_from(place).ok()?).copied();
        let (from, to) = ends.and_then(|(first, last)| at(first).zip(at(last)))?;
        let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        Some((from, std::str::from_utf8(self.data.get(from..to)?).ok()?))
    }
}

impl Column for ByteStrings<'_> {
    fn check(&self, rows: &Rows<'_>, logical: LogicalType) -> Result<Counted, Refused> {
        let text = if logical == LogicalType::Utf8 { self.text(rows) } else { None };
        let is_text = |span: &Range<usize>| {
            let Some((first, text)) = text else { return false };
            let is_boundary = |at: usize| at.checked_sub(first).is_some_and(|at| text.is_char_boundary(at));
            is_boundary(span.start) && is_boundary(span.end)
        };
        rows.check_each(|at| {
            let span = self.span(at)?;
            let is_text = is_text(&span);
            check_bytes(logical, &self.data[span], is_text)
        })
    }

    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        memory: &mut Memory,
    ) -> Result<(), (usize, ErrorKind)> {
        match buffer {
            Values::Strings(strings) => {
                let offsets = &self.offsets[places.start..=places.end];
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
