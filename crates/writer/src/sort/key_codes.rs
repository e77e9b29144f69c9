//! [`KeyCodes`]: packs the sort keys of a document into one number that compares as they do.
//!
//! ```text
//! key        values from 884 to 270,640,804, some missing     -> 1 bit: missing; 28 bits: value - 884
//! code       the bits of the first key | of the second | ...  up to 96 bits
//! ```
//!
//! If the keys have more bits than a code, documents are first sorted by as many keys as fit. The rank of their code,
//! in up to 32 bits, then replaces these keys, and makes room for more.

use std::fmt::Debug;
use std::ops::Range;

use docvalues_format::file::sort::SortKey;
use docvalues_format::numeric::{self, Values as _};

use crate::buffer::{FixedWidth, PresenceBuffer, SpillVec};
use crate::error::ErrorKind;
use crate::index::index;

/// The maximum bits of a code. With 32 bits for the document it fills a record of 128.
const MOST: u32 = u128::BITS - u32::BITS;

/// A sort key with its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyColumn<'a> {
    pub(crate) presence: &'a PresenceBuffer,
    pub(crate) numbers: &'a dyn KeyValues,
    pub(crate) sort: &'a SortKey,
}

/// The values of a sort key, as numbers in document order: stored numbers, or the ords of byte strings. Documents
/// without a value have no entry.
pub(crate) trait KeyValues: Debug {
    /// The minimum and the maximum.
    fn bounds(&self) -> Result<(i64, i64), ErrorKind>;

    /// Replaces `out` by the numbers of `range`.
    fn copy(&self, range: Range<usize>, out: &mut Vec<i64>) -> Result<(), ErrorKind>;
}

impl<T: FixedWidth + Into<i64> + Debug> KeyValues for SpillVec<T> {
    fn bounds(&self) -> Result<(i64, i64), ErrorKind> {
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        self.for_each(&mut |numbers| {
            (min, max) = numbers.iter().fold((min, max), |(min, max), &number| {
                let number = number.into();
                (min.min(number), max.max(number))
            });
        })?;
        Ok((min, max))
    }

    fn copy(&self, range: Range<usize>, out: &mut Vec<i64>) -> Result<(), ErrorKind> {
        out.clear();
        out.extend(self.read(range, &mut Vec::new())?.iter().map(|&number| number.into()));
        Ok(())
    }
}

/// A group of bits of a code.
#[derive(Clone, Copy, Debug)]
struct CodePart<'a> {
    bits: u32,
    key: KeyColumn<'a>,
    /// For values the first one in sort order, from which the bits are their distance; `None` for one bit: whether the
    /// document has a value.
    first: Option<i64>,
}

/// The codes of all documents.
#[derive(Debug)]
pub(super) struct KeyCodes<'a> {
    docs: u32,
    /// The rank of each document by the parts that were sorted already, and its bits.
    ranks: Option<(SpillVec<u32>, u32)>,
    /// The parts of the current codes.
    now: Vec<CodePart<'a>>,
    /// The remaining parts, in reverse order.
    later: Vec<CodePart<'a>>,
}

impl<'a> KeyCodes<'a> {
    pub(super) fn new(docs: u32, keys: &[KeyColumn<'a>]) -> Result<KeyCodes<'a>, ErrorKind> {
        let mut later = Vec::new();
        for &key in keys {
            if key.presence.count() == 0 {
                continue;
            }
            if key.presence.count() < docs {
                later.push(CodePart { bits: 1, key, first: None });
            }
            let (min, max) = key.numbers.bounds()?;
            let first = Some(if key.sort.descending { max } else { min });
            later.push(CodePart { bits: bits(max.abs_diff(min)), key, first });
        }
        later.reverse();
        let mut codes = KeyCodes { docs, ranks: None, now: Vec::new(), later };
        codes.take();
        Ok(codes)
    }

    /// Takes as many parts as fit. At least one fits: a part has at most 64 bits, and ranks have at most 32.
    fn take(&mut self) {
        let mut left = MOST - self.ranks.as_ref().map_or(0, |(_, bits)| *bits);
        self.now.clear();
        while let Some(part) = self.later.pop_if(|part| part.bits <= left) {
            left -= part.bits;
            self.now.push(part);
        }
    }

    /// Whether all codes are equal: they have no bits.
    pub(super) fn are_all_equal(&self) -> bool {
        self.are_whole() && self.now.iter().all(|part| part.bits == 0)
    }

    /// Whether the codes contain all remaining parts.
    pub(super) fn are_whole(&self) -> bool {
        self.later.is_empty()
    }

    /// Replaces the sorted parts by `ranks`, of which `count` are distinct, and takes more parts.
    pub(super) fn replace(&mut self, (ranks, count): (SpillVec<u32>, u32)) {
        self.ranks = Some((ranks, bits(u64::from(count) - 1)));
        self.take();
    }

    /// Calls `f` with each document and its code.
    pub(super) fn each(
        &self,
        mut f: impl FnMut(u32, u128) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        // How many values of each part were read.
        let mut read = vec![0; self.now.len()];
        let (mut codes, mut buffer, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for range in numeric::chunks(index(self.docs)) {
            codes.clear();
            match &self.ranks {
                Some((ranks, _)) => {
                    codes
                        .extend(ranks.read(range.clone(), &mut buffer)?.iter().map(|&rank| u128::from(rank)));
                }
                None => codes.resize(range.len(), 0),
            }
            // There never are more documents than fit.
            let [start, end] = [range.start, range.end].map(|doc| u32::try_from(doc).unwrap_or(u32::MAX));
            for (part, read) in self.now.iter().zip(&mut read) {
                codes.iter_mut().for_each(|code| *code <<= part.bits);
                part.add(start..end, read, &mut values, &mut codes)?;
            }
            (start..end).zip(&codes).try_for_each(|(doc, &code)| f(doc, code))?;
        }
        Ok(())
    }
}

impl CodePart<'_> {
    /// Adds the bits of `docs` to their `codes`.
    fn add(
        &self,
        docs: Range<u32>,
        read: &mut usize,
        values: &mut Vec<i64>,
        codes: &mut [u128],
    ) -> Result<(), ErrorKind> {
        let key = self.key;
        let place = |doc| index(doc - docs.start);
        match self.first {
            None => {
                // The bit is clear for those that sort first.
                let (with, without) = if key.sort.missing_first { (1, 0) } else { (0, 1) };
                let mut next = 0;
                key.presence.docs(docs.clone()).for_each(|doc| {
                    codes[next..place(doc)].iter_mut().for_each(|code| *code |= without);
                    codes[place(doc)] |= with;
                    next = place(doc) + 1;
                });
                codes[next..].iter_mut().for_each(|code| *code |= without);
            }
            Some(first) => {
                let left = index(key.presence.count()) - *read;
                key.numbers.copy(*read..*read + left.min(codes.len()), values)?;
                let mut values = values.iter();
                key.presence.docs(docs.clone()).for_each(|doc| {
                    if let Some(value) = values.next() {
                        codes[place(doc)] |= u128::from(value.abs_diff(first));
                        *read += 1;
                    }
                });
            }
        }
        Ok(())
    }
}

/// The number of bits of numbers up to `max`.
fn bits(max: u64) -> u32 {
    u64::BITS - max.leading_zeros()
}
