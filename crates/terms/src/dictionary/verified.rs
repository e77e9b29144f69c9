//! A dictionary whose bytes are all known to be good, for those who ask many of them.

use std::ops::ControlFlow::{self, Break, Continue};
use std::ops::Range;

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::Dictionary;
use crate::exact_trie::ExactTrie;
use crate::fst::Fst;
use crate::id_blocks::Index;
use crate::nodes::Head;
use crate::nodes::find::Walk;
use crate::verified_section::VerifiedSection;

/// A dictionary in memory, of which every byte was checked: where everything begins that a look-up needs, in 64 bytes.
///
/// Whoever goes through an array of these touches nothing of a segment but its keys.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct VerifiedDictionary<'a>(pub(crate) VerifiedKeys<'a>);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum VerifiedKeys<'a> {
    #[default]
    None,
    Blocks(VerifiedSection<'a>, &'a Index),
    Exact(ExactTrie<VerifiedSection<'a>>),
    Fst(Fst<VerifiedSection<'a>>),
}

impl VerifiedDictionary<'_> {
    /// As [`Dictionary::find`].
    ///
    /// # Errors
    ///
    /// When bytes are not what they should be, though their checksums are right.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        self.find_reporting(key, |_| ())
    }

    /// The same; tells `on_ranks` between which ranks it will be, if that is known before memory that takes a while.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    #[inline]
    pub(crate) fn find_reporting(
        &self,
        key: &[u8],
        on_ranks: impl FnOnce(Range<u32>),
    ) -> Result<Option<u32>> {
        match &self.0 {
            VerifiedKeys::None => Ok(None),
            VerifiedKeys::Blocks(section, index) => {
                index.prefetch_all();
                let block = index.locate(section, key, on_ranks);
                index.find_in(section, block, key)
            }
            VerifiedKeys::Exact(trie) => trie.find(key),
            VerifiedKeys::Fst(fst) => fst.find(key),
        }
    }

    /// Asks for what a look-up begins with.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        if let VerifiedKeys::Blocks(_, index) = &self.0 {
            index.prefetch_all();
        }
    }

    /// The blocks, and what leads to them; `None` if keys are not in blocks.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> Option<(&VerifiedSection<'_>, &Index)> {
        match &self.0 {
            VerifiedKeys::Blocks(section, index) => Some((section, index)),
            VerifiedKeys::None | VerifiedKeys::Exact(_) | VerifiedKeys::Fst(_) => None,
        }
    }

    /// How a look-up begins; `None` if there are no keys. For blocks, it is the block then, and its number.
    #[inline(always)]
    fn begin<'k>(&self, key: &'k [u8]) -> Option<Walk<'k>> {
        match &self.0 {
            VerifiedKeys::None => None,
            VerifiedKeys::Blocks(section, index) => {
                let (at, number) = index.place_of(key);
                // Most often a key is not there: what is in front of the heads, and they.
                [0, 64, 128].iter().for_each(|line| section.prefetch(at.saturating_add(*line)));
                Some(Walk { at, rest: key, rank: number })
            }
            VerifiedKeys::Exact(trie) => trie.begin(key),
            VerifiedKeys::Fst(fst) => fst.begin(key),
        }
    }

    /// Loads what the next step begins with; `None` if it is not there. The lines of a block were asked for before.
    #[inline(always)]
    fn load(&self, way: &Walk<'_>) -> Option<Head> {
        match &self.0 {
            VerifiedKeys::None => None,
            VerifiedKeys::Blocks(..) => Some([0; 16]),
            VerifiedKeys::Exact(trie) => trie.load(way),
            VerifiedKeys::Fst(fst) => fst.load(way),
        }
    }

    /// The next node, or all of the block.
    #[inline(always)]
    fn step(&self, way: &mut Walk<'_>, head: &Head) -> Result<ControlFlow<Option<u32>>> {
        match &self.0 {
            VerifiedKeys::None => Ok(Break(None)),
            VerifiedKeys::Blocks(section, index) => Ok(Break(index.find_in(section, way.rank, way.rest)?)),
            VerifiedKeys::Exact(trie) => trie.step(way, head),
            VerifiedKeys::Fst(fst) => fst.step(way, head),
        }
    }
}

/// Dictionaries that are asked side by side: more than a processor has lines of memory under way.
const BESIDE: usize = 32;

/// Asks those of up to 64 dictionaries whose bits are in `asked`: a bit for each that has its key, or has bytes that are
/// not what they should be. `key` is what is looked for in a dictionary.
///
/// Step by step, and each step first loads what it needs in all of them: no load waits for the one of the dictionary
/// before. So 400 segments take the time of some 13 × 3 misses of a cache, and not of 400 × 3. Of the 32 at a time: for tries
/// and automata 16 are as fast and 8 a quarter slower, for blocks, which are asked for instead of loaded, 16 are slower
/// by a fifth. To load what leads to blocks in a step of its own brought nothing.
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
    use crate::lookup::SegmentIds as _;
    use crate::packing::Packed;
    use crate::read::IdsReader;

    fn id(number: u32) -> Vec<u8> {
        let mixed = number.wrapping_mul(0x9e37_79b9);
        [&mixed.to_be_bytes()[..], b"/", &number.to_string().into_bytes()].concat()
    }

    /// Dictionaries of all forms and sizes, side by side; of each fourth one, some bytes are wrong.
    #[test]
    fn many_at_once_say_what_each_says() {
        let segment = |i: u32| {
            let ids: std::collections::BTreeSet<Vec<u8>> =
                (0..i * i).map(|number| id(number * (i + 7))).collect();
            let ids: Vec<(Vec<u8>, DocId)> = ids.into_iter().zip((0..).map(DocId::new)).collect();
            let options =
                IdOptions { form: Form::ALL[i as usize % 3], filter_bits: 0, ..IdOptions::default() };
            let made = IdsBuilder::new(options).build(&ids[..], i * i).unwrap();
            let opened = made.try_map(&mut |section, mut bytes| {
                if section == Section::Ids && i % 4 == 3 {
                    let wrong = bytes.iter_mut().rev().skip(4).step_by(61);
                    wrong.for_each(|byte| *byte = byte.wrapping_mul(7).wrapping_add(3));
                }
                Ok::<_, Error>(Owned::new(section, bytes))
            });
            IdsReader::open(opened.unwrap()).unwrap()
        };
        let segments: Vec<_> = (0..64).map(segment).collect();
        let dictionaries: Vec<_> = segments.iter().map(|segment| segment.dictionary().unwrap()).collect();
        let (mut found, mut damaged) = (0, 0);
        for number in 0..8_000 {
            let (id, mut room) = (id(number), Packed::default());
            let pack = |segment: &IdsReader<Owned>| Some(segment.template().pack(&id, &mut room)?.to_vec());
            let keys: Vec<Option<Vec<u8>>> = segments.iter().map(pack).collect();
            let say = |i: usize| match keys[i].as_ref().map_or(Ok(None), |key| dictionaries[i].find(key)) {
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
        assert!(found > 10_000 && damaged > 100, "{found} {damaged}");
    }
}
