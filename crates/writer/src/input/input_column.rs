//! [`InputColumn`]: a column of a batch. It is checked and copied into a buffer run by run, while a run is in the
//! cache.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use docvalues_format::bits;
use docvalues_format::file::kind::{LogicalType, from_f64, from_u64};

use super::check_value::{MAX_VALUE, check_bytes, check_number};
use crate::buffer::{
    BatchRows, Counted, FieldBuffer, INTERN_BATCH, Interner, MemoryBudget, Refused, Values, span,
};
use crate::error::ErrorKind;
use crate::index::index;

/// The values of a column as the caller passes them.
pub(crate) trait InputColumn {
    /// Checks that a field of type `logical` can hold the values of `docs`, a run of `rows`.
    fn check(&self, rows: &BatchRows<'_>, docs: &Range<u32>, logical: LogicalType) -> Result<(), Refused>;

    /// Appends the values at `places` to `buffer`, whose memory is reserved except for the bytes of byte strings. An
    /// error has the index of its value.
    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        memory: &mut MemoryBudget,
    ) -> Result<(), (usize, ErrorKind)>;

    /// Checks and appends the values of `rows`, one a document.
    fn append_single(
        &self,
        rows: &BatchRows<'_>,
        logical: LogicalType,
        buffer: &mut Values,
        memory: &mut MemoryBudget,
    ) -> Result<(), Refused> {
        rows.runs(|docs| {
            self.check(rows, &docs, logical)?;
            let refuse = |(place, kind)| (rows.doc(&docs, place), kind);
            self.append(rows.places(&docs), buffer, memory).map_err(refuse)
        })
    }
}

/// Checks that a field of type `logical` can hold the values of `column`, and appends them to its `buffer`. `rows`
/// assigns them to documents from `first` on. After an error, some values may have been appended.
pub(crate) fn append(
    buffer: &mut FieldBuffer,
    first: u32,
    rows: &BatchRows<'_>,
    column: &dyn InputColumn,
    logical: LogicalType,
    memory: &mut MemoryBudget,
) -> Result<(), Refused> {
    let Counted { docs, values } = rows.count()?;
    let room = buffer.reserve(index(docs), values, memory);
    let room = room.and_then(|()| buffer.presence.reserve(first..first + rows.docs, docs, memory));
    room.map_err(|kind| (0, kind))?;
    if !buffer.has_lists() {
        buffer.presence.extend(first, rows);
        return column.append_single(rows, logical, &mut buffer.values, memory);
    }
    rows.runs(|docs| {
        column.check(rows, &docs, logical)?;
        let refuse = |(place, kind)| (rows.doc(&docs, place), kind);
        column.append(rows.places(&docs), &mut buffer.values, memory).map_err(refuse)?;
        let len = |doc| rows.places(&(doc..doc + 1)).len();
        let with_values = docs.filter(|&doc| len(doc) > 0);
        with_values.clone().for_each(|doc| buffer.presence.insert(first + doc));
        match &mut buffer.values {
            Values::Numbers(numbers) => numbers.end(with_values.map(len)),
            Values::Terms { ids, .. } => ids.end(with_values.map(len)),
            Values::Strings(_) => {}
        }
        Ok(())
    })
}

/// A number as the caller passes it.
pub(crate) trait InputNumber: Copy {
    /// Its stored form.
    fn stored(self) -> i64;
}

macro_rules! input_numbers {
    ($($number:ty: $stored:expr),* $(,)?) => { $(
        impl InputNumber for $number {
            fn stored(self) -> i64 {
                $stored(self)
            }
        }
    )* };
}

input_numbers! { i64: i64::from, u64: from_u64, f64: from_f64, bool: i64::from, i32: i64::from }

/// Numbers in one slice.
pub(crate) struct Numbers<'a, T>(pub(crate) &'a [T]);

impl<T: InputNumber> InputColumn for Numbers<'_, T> {
    fn check(&self, rows: &BatchRows<'_>, docs: &Range<u32>, logical: LogicalType) -> Result<(), Refused> {
        match logical {
            LogicalType::Bool => rows.check_each(docs, |at| check_number(logical, self.0[at].stored())),
            // The other types have no invalid numbers.
            _ => Ok(()),
        }
    }

    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        _: &mut MemoryBudget,
    ) -> Result<(), (usize, ErrorKind)> {
        if let Values::Numbers(numbers) = buffer {
            numbers.values.in_memory.extend(self.0[places].iter().map(|value| value.stored()));
        }
        Ok(())
    }

    fn append_single(
        &self,
        rows: &BatchRows<'_>,
        logical: LogicalType,
        buffer: &mut Values,
        memory: &mut MemoryBudget,
    ) -> Result<(), Refused> {
        if logical == LogicalType::Bool {
            rows.runs(|docs| self.check(rows, &docs, logical))?;
        }
        let (Some(words), Values::Numbers(items)) = (rows.words(), &mut *buffer) else {
            return self.append(0..self.0.len(), buffer, memory).map_err(|(_, kind)| (0, kind));
        };
        let numbers = &mut items.values.in_memory;
        let (words, mut places): (Vec<u64>, _) = (words.collect(), Vec::new());
        for (values, words) in self.0.chunks(64 * LISTED).zip(words.chunks(LISTED)) {
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            if index(count) > values.len() / 2 {
                values
                    .chunks(64)
                    .zip(words)
                    .for_each(|(values, &word)| self.append_word(values, word, numbers));
                continue;
            }
            places.clear();
            bits::push_docs(words, 0, &mut places);
            numbers.extend(places.iter().map(|place| values[index(place.get())].stored()));
        }
        Ok(())
    }
}

impl<T: InputNumber> Numbers<'_, T> {
    /// Appends those of up to 64 values whose bits are set, without a branch for each.
    fn append_word(&self, values: &[T], word: u64, numbers: &mut Vec<i64>) {
        if word == u64::MAX {
            return numbers.extend(values.iter().map(|value| value.stored()));
        }
        let (mut kept, mut len) = ([0; 64], 0);
        for (i, &value) in values.iter().enumerate() {
            kept[len % 64] = value.stored();
            len += usize::from(word >> i & 1 == 1);
        }
        numbers.extend_from_slice(&kept[..len]);
    }
}

/// Words of validity that are processed together. First the indices of their values are listed, then the values are
/// read: the reads are independent, so the cache misses of sparse values overlap.
const LISTED: usize = 16;

/// Byte strings in one slice: string *i* lies from `offsets[i]` to `offsets[i + 1]`.
pub(crate) struct Bytes<'a> {
    pub(crate) offsets: &'a [u64],
    pub(crate) data: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn span(&self, at: usize) -> Result<Range<usize>, ErrorKind> {
        span("byte", self.offsets, at, self.data.len())
    }

    /// The offsets of the strings at `places`; empty without strings, which may have no offsets.
    fn between(&self, places: &Range<usize>) -> &'a [u64] {
        self.offsets.get(places.start..=places.end).unwrap_or_default()
    }

    /// Interns the strings at `places`, whose offsets ascend, and appends their ids.
    fn intern(
        &self,
        mut places: Range<usize>,
        ids: &mut Vec<u32>,
        terms: &mut Interner,
        memory: &mut MemoryBudget,
    ) -> Result<(), (usize, ErrorKind)> {
        let value = |at| self.span(at).map_or(&[][..], |span| &self.data[span]);
        while places.len() >= INTERN_BATCH {
            let values = std::array::from_fn(|i| value(places.start + i));
            let found = terms.intern_batch(&values, memory);
            ids.extend(found.map_err(|(i, kind)| (places.start + i, kind))?);
            places.start += INTERN_BATCH;
        }
        places.try_for_each(|at| {
            ids.push(terms.intern(value(at), memory).map_err(|kind| (at, kind))?);
            Ok(())
        })
    }

    /// A fast check that a column of type `logical` can hold the strings at `places`. If it fails, each is checked
    /// alone.
    pub(crate) fn all_fit(&self, places: &Range<usize>, logical: LogicalType) -> bool {
        let offsets = self.between(places);
        let lens = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let (least, most) = logical.fixed_len().map_or((0, MAX_VALUE), |len| (len.into(), len.into()));
        // A descending offset wraps around to a length that is too long.
        let ascend = lens.fold(true, |all, len| all & (least <= len) & (len <= most));
        let [start, end] = [offsets.first(), offsets.last()].map(|at| usize::try_from(*at?).ok());
        let Some(bytes) = start.zip(end).and_then(|(start, end)| self.data.get(start..end)) else {
            return false;
        };
        ascend && (logical != LogicalType::Utf8 || are_texts(bytes, offsets))
    }
}

/// Whether the strings of `bytes`, between ascending `offsets`, are UTF-8: all bytes together are, which is faster to
/// check than each string, and every offset is at the boundary of a character.
fn are_texts(bytes: &[u8], offsets: &[u64]) -> bool {
    let (Ok(text), Some(&start)) = (std::str::from_utf8(bytes), offsets.first()) else { return false };
    offsets.iter().all(|at| text.is_char_boundary(usize::try_from(at - start).unwrap_or(usize::MAX)))
}

impl InputColumn for Bytes<'_> {
    fn check(&self, rows: &BatchRows<'_>, docs: &Range<u32>, logical: LogicalType) -> Result<(), Refused> {
        match self.all_fit(&rows.places(docs), logical) {
            true => Ok(()),
            false => rows.check_each(docs, |at| check_bytes(logical, &self.data[self.span(at)?], false)),
        }
    }

    fn append(
        &self,
        places: Range<usize>,
        buffer: &mut Values,
        memory: &mut MemoryBudget,
    ) -> Result<(), (usize, ErrorKind)> {
        match buffer {
            Values::Strings(strings) => {
                let offsets = self.between(&places);
                strings.extend(offsets, self.data, memory).map_err(|kind| (places.start, kind))?;
            }
            Values::Terms { ids, terms } => self.intern(places, &mut ids.values.in_memory, terms, memory)?,
            Values::Numbers(_) => {}
        }
        Ok(())
    }
}

/// Byte strings as indexes of terms, each of which is interned once.
pub(crate) struct Terms<'a> {
    ids: &'a [u32],
    terms: Bytes<'a>,
    /// Whether the field can hold all terms, once it is known.
    all_fit: OnceCell<bool>,
    /// The id of each term in the interner of the field, once it is there.
    interned: RefCell<Vec<Option<u32>>>,
}

impl<'a> Terms<'a> {
    pub(crate) fn new(ids: &'a [u32], terms: Bytes<'a>) -> Terms<'a> {
        let interned = RefCell::new(vec![None; terms.len()]);
        Terms { ids, terms, all_fit: OnceCell::new(), interned }
    }

    fn value(&self, place: usize) -> Result<&'a [u8], ErrorKind> {
        let (id, terms) = (self.ids[place], self.terms.len());
        if index(id) >= terms {
            return Err(ErrorKind::NoSuchTerm { id, terms });
        }
        Ok(&self.terms.data[self.terms.span(index(id))?])
    }
}

impl InputColumn for Terms<'_> {
    fn check(&self, rows: &BatchRows<'_>, docs: &Range<u32>, logical: LogicalType) -> Result<(), Refused> {
        let terms = self.terms.len();
        let all_fit = *self.all_fit.get_or_init(|| self.terms.all_fit(&(0..terms), logical));
        if all_fit && self.ids[rows.places(docs)].iter().all(|&id| index(id) < terms) {
            return Ok(());
        }
        // Terms that no document has are ignored.
        rows.check_each(docs, |at| check_bytes(logical, self.value(at)?, false))
    }

    fn append(
        &self,
        mut places: Range<usize>,
        buffer: &mut Values,
        memory: &mut MemoryBudget,
    ) -> Result<(), (usize, ErrorKind)> {
        match buffer {
            Values::Strings(strings) => places.try_for_each(|place| {
                let pushed = self.value(place).and_then(|value| strings.push(value, memory));
                pushed.map_err(|kind| (place, kind))
            }),
            Values::Terms { ids, terms } => {
                let mut interned = self.interned.borrow_mut();
                places.try_for_each(|place| {
                    // `check` has compared it with the number of terms.
                    let slot = &mut interned[index(self.ids[place])];
                    if slot.is_none() {
                        // In the order of documents, as if they were added one by one.
                        let id = self.value(place).and_then(|value| terms.intern(value, memory));
                        *slot = Some(id.map_err(|kind| (place, kind))?);
                    }
                    ids.values.in_memory.extend(*slot);
                    Ok(())
                })
            }
            Values::Numbers(_) => Ok(()),
        }
    }
}
