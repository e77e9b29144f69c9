//! [`ByteStrings`]: byte strings with offsets, as in Arrow's binary arrays, in memory or on disk.

use std::borrow::Cow;
use std::ops::Range;

use docvalues_format::{binary, numeric};

use super::payload::Payload;
use super::scratch::CHUNK_LEN;
use super::spill_vec::SpillVec;
use crate::error::ErrorKind;

/// Offsets that a search reads together.
const PAGE: usize = 512;

/// The most strings of a group.
const GROUP: usize = if cfg!(test) { 100 } else { 2_048 };

/// Byte strings in one buffer: string *i* lies from `offsets[i]` to `offsets[i + 1]`. There are no offsets without
/// strings.
#[derive(Debug, Default)]
pub(crate) struct ByteStrings {
    pub(crate) bytes: Payload,
    pub(crate) offsets: SpillVec<i64>,
}

impl ByteStrings {
    /// The number of byte strings.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// All strings, in groups of up to [`GROUP`] that span at most [`CHUNK_LEN`] bytes, unless a group is a single longer
    /// string.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Result<StringGroup<'_>, ErrorKind>> {
        let mut start = 0;
        std::iter::from_fn(move || {
            (start < self.len()).then(|| self.group(start).inspect(|group| start += group.offsets.len() - 1))
        })
    }

    /// Whether a group is a single string of more than [`CHUNK_LEN`] bytes.
    pub(crate) fn has_large_group(&self) -> Result<bool, ErrorKind> {
        let (mut before, mut is_large) = (0, false);
        self.offsets.for_each(&mut |offsets| {
            for offset in offsets {
                is_large |= offset.abs_diff(before) > CHUNK_LEN as u64;
                before = *offset;
            }
        })?;
        Ok(is_large)
    }

    /// The group that begins with the string at `start`.
    fn group(&self, start: usize) -> Result<StringGroup<'_>, ErrorKind> {
        use numeric::Values as _;
        // As many as usually fit, or a few more.
        let fit = CHUNK_LEN as u64 * self.len() as u64 / self.bytes.len().max(1);
        let most = usize::try_from(fit + 1).unwrap_or(GROUP).clamp(GROUP / 4, GROUP);
        let mut offsets = Vec::new();
        let all = self.offsets.read(start..(start + most).min(self.len()) + 1, &mut offsets)?;
        let fits = |offset: &i64| offset.abs_diff(all[0]) <= CHUNK_LEN as u64;
        let offsets = all[..=all[1..].partition_point(fits).max(1)].to_vec();
        let range = offsets[0].cast_unsigned()..offsets[offsets.len() - 1].cast_unsigned();
        let bytes = match self.bytes.borrow(&range) {
            Some(borrowed) => Cow::Borrowed(borrowed),
            None => Cow::Owned(binary::Values::read(self, range)?),
        };
        Ok(StringGroup { bytes, offsets })
    }
}

impl binary::Values for ByteStrings {
    type Error = ErrorKind;

    fn total_len(&self) -> u64 {
        self.bytes.len()
    }

    fn around(&self, at: u64) -> Result<Range<u64>, ErrorKind> {
        use numeric::Values as _;
        let mut page = Vec::new();
        // The bounds of the search, and the offsets there: the string lies between them.
        let (mut low, mut from) = (0, 0);
        let (mut high, mut to) = (self.len(), self.total_len());
        let mut halve = false;
        loop {
            // Strings are mostly of similar lengths, so that one page around a proportional guess has the string. If
            // they are not, every other page halves the rest.
            let guess = match halve {
                false => proportion(high - low, at.saturating_sub(from), to.saturating_sub(from)),
                true => (high - low) / 2,
            };
            halve = !halve;
            let start = (low + guess).saturating_sub(PAGE / 2).max(low);
            let offsets = self.offsets.read(start..(high + 1).min(start + PAGE), &mut page)?;
            let before = offsets.partition_point(|offset| offset.cast_unsigned() <= at);
            match (offsets[..before].last(), offsets.get(before)) {
                (Some(start), Some(end)) => return Ok(start.cast_unsigned()..end.cast_unsigned()),
                (None, Some(end)) => (high, to) = (start, end.cast_unsigned()),
                (Some(end), None) => (low, from) = (start + before - 1, end.cast_unsigned()),
                (None, None) => return Ok(from..to),
            }
        }
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        self.bytes.read(range, &mut bytes)?;
        Ok(bytes)
    }

    fn for_each(&self, mut f: impl FnMut(&[u8]) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        self.groups().try_for_each(|group| group?.iter().try_for_each(&mut f))
    }
}

/// Consecutive strings.
pub(crate) struct StringGroup<'s> {
    bytes: Cow<'s, [u8]>,
    /// The offsets of the strings, and the end of the last one.
    offsets: Vec<i64>,
}

impl StringGroup<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.bytes;
        self.offsets.windows(2).map(move |of| {
            let len = usize::try_from(of[1] - of[0]).unwrap_or(usize::MAX);
            rest.split_off(..len).unwrap_or_default()
        })
    }
}

/// The part of `len` that `part` is of `whole`, rounded down.
fn proportion(len: usize, part: u64, whole: u64) -> usize {
    usize::try_from(len as u128 * u128::from(part) / u128::from(whole).max(1)).unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use docvalues_format::binary::{InMemory, Values as _};
    use docvalues_storage::Spill;
    use proptest::prelude::*;

    use super::CHUNK_LEN;
    use crate::buffer::StringBuffer;

    #[test]
    fn a_group_is_large_only_if_a_string_is() {
        for (len, is_large) in [(0, false), (CHUNK_LEN, false), (CHUNK_LEN + 1, true)] {
            let spill = Spill::in_folder(std::env::temp_dir());
            let mut buffer = StringBuffer::default();
            for len in [1, 40_000, 40_000, len, 3] {
                buffer.push_to(&spill, &vec![b'x'; len]).unwrap();
            }
            assert_eq!(buffer.strings.has_large_group().unwrap(), is_large, "{len}");
            let on_disk = buffer.into_disk(&spill).unwrap();
            assert_eq!(on_disk.has_large_group().unwrap(), is_large, "{len}");
            let most = on_disk.groups().map(|group| group.unwrap().bytes.len()).max().unwrap();
            assert_eq!(most > CHUNK_LEN, is_large, "{len}");
        }
    }

    proptest! {
        /// Whatever the lengths of the strings, a search finds what a search in memory finds.
        #[test]
        fn a_search_on_disk_finds_the_string_around_a_byte(
            lens in prop::collection::vec(prop_oneof![8 => 0..3_u64, 8 => 60..70_u64, 1 => 0..9_000_u64], 1..4_000),
            ascending in any::<bool>(),
            places in prop::collection::vec(any::<prop::sample::Index>(), 20),
        ) {
            let mut lens = lens;
            if ascending {
                lens.sort_unstable();
            }
            let ends: Vec<u64> = lens.iter().scan(0, |end, len| { *end += len; Some(*end) }).collect();
            let total = *ends.last().expect("at least one");
            let bytes = vec![b'x'; usize::try_from(total).expect("a few MB")];
            let strings = InMemory { bytes: &bytes, ends: &ends };
            let spill = Spill::in_folder(std::env::temp_dir());
            let mut on_disk = StringBuffer::default();
            strings.for_each(|value| { on_disk.push_to(&spill, value).unwrap(); Ok(()) }).unwrap();
            let on_disk = on_disk.into_disk(&spill).unwrap();
            for at in places.iter().filter(|_| total > 0).map(|place| place.index(bytes.len()) as u64) {
                prop_assert_eq!(on_disk.around(at).unwrap(), strings.around(at).unwrap());
            }
        }
    }
}
