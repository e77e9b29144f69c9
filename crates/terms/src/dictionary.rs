//! [`VerifiedDictionary`]: a dictionary of any form whose bytes are all verified. Many are searched side by side.

use std::ops::ControlFlow::{self, Break, Continue};
use std::ops::Range;

use docvalues_format::error::Result;
use docvalues_format::source::{SectionBytes, VerifiedSection};

use crate::exact_trie::ExactTrie;
use crate::fst::Fst;
use crate::id_blocks::Index;
use crate::in_column::VerifiedInColumn;
use crate::nodes::Head;
use crate::nodes::find::Walk;
use crate::sorted_keys::Dictionary;

/// A fully verified dictionary in memory: all pointers that a look-up needs, in 64 bytes.
///
/// Scanning an array of these touches nothing of a segment except its keys.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct VerifiedDictionary<'a>(pub(crate) VerifiedKeys<'a>);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum VerifiedKeys<'a> {
    #[default]
    None,
    Blocks(VerifiedSection<'a>, &'a Index),
    Exact(ExactTrie<VerifiedSection<'a>>),
    Fst(Fst<VerifiedSection<'a>>),
    Column(VerifiedInColumn<'a>),
}

impl VerifiedDictionary<'_> {
    /// As [`Dictionary::find`]. Calls `on_ranks` with the range that the rank is in, if that is known before a cache
    /// miss. Finds no ids [in a column](Self::in_column): without their documents, these are not known.
    ///
    /// # Errors
    ///
    /// When bytes are invalid although their checksums match.
    #[inline]
    pub(crate) fn find(&self, key: &[u8], on_ranks: impl FnOnce(Range<u32>)) -> Result<Option<u32>> {
        match &self.0 {
            VerifiedKeys::None => Ok(None),
            VerifiedKeys::Blocks(section, index) => {
                index.prefetch_all();
                let block = index.locate(section, key, on_ranks);
                index.find_in(section, block, key)
            }
            VerifiedKeys::Exact(trie) => trie.find(key),
            VerifiedKeys::Fst(fst) => fst.find(key),
            VerifiedKeys::Column(_) => Ok(None),
        }
    }

    /// The ids that are values of a column; `None` for other forms.
    #[inline(always)]
    pub(crate) fn in_column(&self) -> Option<&VerifiedInColumn<'_>> {
        match &self.0 {
            VerifiedKeys::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Prefetches the memory that a look-up reads first.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        if let VerifiedKeys::Blocks(_, index) = &self.0 {
            index.prefetch_all();
        }
    }

    /// The blocks and their index; `None` for other forms.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> Option<(&VerifiedSection<'_>, &Index)> {
        match &self.0 {
            VerifiedKeys::Blocks(section, index) => Some((section, index)),
            _ => None,
        }
    }

    /// The first step of a look-up; `None` without keys. For blocks, the offset and the number of the block.
    #[inline(always)]
    fn begin<'k>(&self, key: &'k [u8]) -> Option<Walk<'k>> {
        match &self.0 {
            VerifiedKeys::None => None,
            VerifiedKeys::Blocks(section, index) => {
                let (at, number) = index.place_of(key);
                // Most often the key is absent: prefetch the block's fields and heads.
                [0, 64, 128].iter().for_each(|line| section.prefetch(at.saturating_add(*line)));
                Some(Walk { at, rest: key, rank: number })
            }
            VerifiedKeys::Exact(trie) => trie.begin(key),
            VerifiedKeys::Fst(fst) => fst.begin(key),
            VerifiedKeys::Column(column) => {
                let ranks = column.prefetch_heads(key)?;
                Some(Walk { at: 0, rest: key, rank: ranks.start })
            }
        }
    }

    /// Loads the bytes that the next step needs; `None` if they are out of bounds. The lines of a block were
    /// prefetched before.
    #[inline(always)]
    fn load(&self, way: &Walk<'_>) -> Option<Head> {
        match &self.0 {
            VerifiedKeys::None => None,
            VerifiedKeys::Blocks(..) | VerifiedKeys::Column(_) => Some([0; 16]),
            VerifiedKeys::Exact(trie) => trie.load(way),
            VerifiedKeys::Fst(fst) => fst.load(way),
        }
    }

    /// Takes one node, or all of the block or bucket.
    #[inline(always)]
    fn step(&self, way: &mut Walk<'_>, head: &Head) -> Result<ControlFlow<Option<u32>>> {
        match &self.0 {
            VerifiedKeys::None => Ok(Break(None)),
            VerifiedKeys::Blocks(section, index) => Ok(Break(index.find_in(section, way.rank, way.rest)?)),
            VerifiedKeys::Exact(trie) => trie.step(way, head),
            VerifiedKeys::Fst(fst) => fst.step(way, head),
            VerifiedKeys::Column(column) => Ok(Break(column.may_hold(way.rest).then_some(way.rank))),
        }
    }
}

/// Dictionaries that are searched side by side: more than a CPU has cache misses in flight.
const BESIDE: usize = 32;

/// Searches those of up to 64 dictionaries that are set in `asked`. Returns a bit for each that has its key, or
/// whose bytes are invalid; also for 3 of 100 that do not have it, if ids are in a column. `key` returns the key for a
/// dictionary.
///
/// Each step loads first what it needs in all dictionaries, so no load waits for that of another. 400 segments take
/// the time of about 13 × 3 cache misses instead of 400 × 3. Of group sizes: for tries and automata 16 is as fast
/// as 32, and 8 a quarter slower; for blocks, which are prefetched instead of loaded, 16 is a fifth slower. A
/// separate step to load the block index gained nothing.
pub(crate) fn ask<'k>(
    dictionaries: &[VerifiedDictionary<'_>],
    asked: u64,
    key: impl Fn(usize) -> Option<&'k [u8]>,
) -> u64 {
    let groups = dictionaries.chunks(BESIDE).zip((0..64).step_by(BESIDE));
    groups.fold(0, |found, (group, first)| {
        found | ask_group(group, asked >> first, |i| key(first + i)) << first
    })
}

fn ask_group<'k>(
    group: &[VerifiedDictionary<'_>],
    asked: u64,
    key: impl Fn(usize) -> Option<&'k [u8]>,
) -> u64 {
    let mut ways: [Walk<'_>; BESIDE] = [Walk::default(); BESIDE];
    let mut heads: [Head; BESIDE] = [[0; 16]; BESIDE];
    let (mut live, mut found) = (0_u64, 0_u64);
    for (i, (dictionary, way)) in group.iter().zip(&mut ways).enumerate() {
        let wanted = asked >> i & 1 == 1;
        if let Some(begun) = key(i).filter(|_| wanted).and_then(|key| dictionary.begin(key)) {
            (*way, live) = (begun, live | 1 << i);
        }
    }
    while live != 0 {
        for ((i, dictionary), (way, head)) in group.iter().enumerate().zip(ways.iter().zip(&mut heads)) {
            if live >> i & 1 == 1 {
                match dictionary.load(way) {
                    Some(loaded) => *head = loaded,
                    None => (live, found) = (live & !(1 << i), found | 1 << i),
                }
            }
        }
        let mut bits = live;
        while bits != 0 {
            let i = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (Some(dictionary), Some(way), Some(head)) = (group.get(i), ways.get_mut(i), heads.get(i))
            else {
                break;
            };
            match dictionary.step(way, head) {
                Ok(Continue(())) => {}
                Ok(Break(None)) => live &= !(1 << i),
                Ok(Break(Some(_))) | Err(_) => (live, found) = (live & !(1 << i), found | 1 << i),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use docvalues_format::error::{Error, Section};
    use docvalues_format::id::DocId;
    use docvalues_format::source::Owned;

    use super::*;
    use crate::build::{IdOptions, IdsBuilder};
    use crate::ids::Form;
    use crate::packing::Packed;
    use crate::read::IdsReader;

    fn id(number: u32) -> Vec<u8> {
        let mixed = number.wrapping_mul(0x9e37_79b9);
        [&mixed.to_be_bytes()[..], b"/", &number.to_string().into_bytes()].concat()
    }

    /// Dictionaries of all forms and sizes, side by side; of each third one, some bytes are wrong.
    #[test]
    fn many_at_once_agree_with_one_by_one() {
        let segment = |i: u32| {
            let form = Form::ALL[i as usize % 4];
            let ids = (0..i * i).map(|number| id(number * (i + 7)));
            // In a column, ids have one length.
            let ids: std::collections::BTreeSet<Vec<u8>> =
                ids.filter(|id| form != Form::Column || id.len() == 9).collect();
            let values = Owned::new(Section::Bytes, ids.iter().flatten().copied().collect());
            let ids: Vec<(Vec<u8>, DocId)> = ids.into_iter().zip((0..).map(DocId::new)).collect();
            let options = IdOptions { form, filter_bits: 0, ..IdOptions::default() };
            let made = IdsBuilder::new(options).in_column(true).build(&ids[..], ids.len() as u32).unwrap();
            let opened = made.try_map(&mut |section, mut bytes| {
                if section == Section::Ids && i % 3 == 2 {
                    let wrong = bytes.iter_mut().rev().skip(4).step_by(61);
                    wrong.for_each(|byte| *byte = byte.wrapping_mul(7).wrapping_add(3));
                }
                Ok::<_, Error>(Owned::new(section, bytes))
            });
            IdsReader::open_in(opened.unwrap(), values).unwrap()
        };
        let segments: Vec<_> = (0..64).map(segment).collect();
        let dictionaries: Vec<_> = segments.iter().map(|segment| segment.dictionary().unwrap()).collect();
        let in_columns = dictionaries.iter().filter(|dictionary| dictionary.in_column().is_some()).count();
        let (mut found, mut damaged) = (0, 0);
        for number in 0..8_000 {
            let (id, mut buffer) = (id(number), Packed::default());
            let pack = |segment: &IdsReader<Owned>| Some(segment.template().pack(&id, &mut buffer)?.to_vec());
            let keys: Vec<Option<Vec<u8>>> = segments.iter().map(pack).collect();
            let find = |i: usize, key: &Vec<u8>| match dictionaries[i].in_column() {
                Some(column) => Ok(column.may_hold(key).then_some(0)),
                None => dictionaries[i].find(key, |_| ()),
            };
            let say = |i: usize| match keys[i].as_ref().map_or(Ok(None), |key| find(i, key)) {
                Ok(rank) => (rank.is_some(), false),
                Err(_) => (true, true),
            };
            for asked in [u64::MAX, 0x0123_4567_89ab_cdef, 1 << 63, 0] {
                let said: Vec<(bool, bool)> = (0..64).map(say).collect();
                let right = (0..64).fold(0, |bits, i| bits | u64::from(said[i].0) << i) & asked;
                assert_eq!(ask(&dictionaries, asked, |i| keys[i].as_deref()), right, "{number}");
                assert_eq!(ask(&dictionaries[..21], asked, |i| keys[i].as_deref()), right & 0x1f_ffff);
                found += right.count_ones();
                damaged += said.iter().filter(|said| said.1).count();
            }
        }
        assert!(found > 10_000 && damaged > 100 && in_columns > 10, "{found} {damaged} {in_columns}");
    }
}
