//! A dictionary whose bytes are all known to be good, for those who ask many of them.

use std::ops::ControlFlow::{self, Break, Continue};

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::Dictionary;
use crate::blocks::Index;
use crate::exact::ExactTrie;
use crate::fst::Fst;
use crate::known::Known;
use crate::walk::Head;
use crate::walk::find::Way;

/// A dictionary in memory, of which every byte was checked: where everything begins that a look-up needs, in 64 bytes.
///
/// Whoever goes through an array of these touches nothing of a segment but its keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked<'a>(Keys<'a>);

#[derive(Clone, Copy, Debug, Default)]
enum Keys<'a> {
    #[default]
    None,
    Blocks(Known<'a>, &'a Index),
    Exact(ExactTrie<Known<'a>>),
    Fst(Fst<Known<'a>>),
}

/// What stands for the block's number, where a rank does, until it is known.
const NO_BLOCK: u32 = u32::MAX;

impl<'a> Checked<'a> {
    /// One without keys.
    pub(crate) const EMPTY: Checked<'static> = Checked(Keys::None);

    pub(crate) fn blocks((section, index): (Known<'a>, &'a Index)) -> Checked<'a> {
        Checked(Keys::Blocks(section, index))
    }

    pub(crate) fn exact(trie: ExactTrie<Known<'a>>) -> Checked<'a> {
        Checked(Keys::Exact(trie))
    }

    pub(crate) fn fst(fst: Fst<Known<'a>>) -> Checked<'a> {
        Checked(Keys::Fst(fst))
    }

    /// As [`Dictionary::find`].
    ///
    /// # Errors
    ///
    /// When bytes are not what they should be, though their checksums are right.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        match &self.0 {
            Keys::None => Ok(None),
            Keys::Blocks(section, index) => index.find_in(section, index.place_of(key).1, key),
            Keys::Exact(trie) => trie.find(key),
            Keys::Fst(fst) => fst.find(key),
        }
    }

    /// How a look-up begins; `None` if there are no keys.
    #[inline(always)]
    fn begin<'k>(&self, key: &'k [u8]) -> Option<Way<'k>> {
        match &self.0 {
            Keys::None => None,
            Keys::Blocks(..) => Some(Way { at: 0, rest: key, rank: NO_BLOCK }),
            Keys::Exact(trie) => trie.begin(key),
            Keys::Fst(fst) => fst.begin(key),
        }
    }

    /// Loads what the next step begins with; `None` if it is not there. Of what leads to blocks, and of a block, a byte of
    /// each of some lines: they are in a cache then.
    #[inline(always)]
    fn load(&self, way: &Way<'_>) -> Option<Head> {
        match &self.0 {
            Keys::None => None,
            Keys::Blocks(_, index) if way.rank == NO_BLOCK => Some([index.touch(); 16]),
            Keys::Blocks(section, _) => {
                let byte = |at| section.peek::<1>(way.at.saturating_add(at)).map_or(0, |byte| byte[0]);
                Some([byte(0) | byte(64) | byte(128); 16])
            }
            Keys::Exact(trie) => trie.load(way),
            Keys::Fst(fst) => fst.load(way),
        }
    }

    /// The next node; with blocks, which one it is, and then all of it.
    #[inline(always)]
    fn step(&self, way: &mut Way<'_>, head: &Head) -> Result<ControlFlow<Option<u32>>> {
        match &self.0 {
            Keys::None => Ok(Break(None)),
            Keys::Blocks(_, index) if way.rank == NO_BLOCK => {
                (way.at, way.rank) = index.place_of(way.rest);
                Ok(Continue(()))
            }
            Keys::Blocks(section, index) => Ok(Break(index.find_in(section, way.rank, way.rest)?)),
            Keys::Exact(trie) => trie.step(way, head),
            Keys::Fst(fst) => fst.step(way, head),
        }
    }
}

/// Dictionaries that are asked side by side: about as many lines of memory as a processor has under way.
const BESIDE: usize = 16;

/// Asks those of up to 64 dictionaries whose bits are in `asked`: a bit for each that has its key, or has bytes that are
/// not what they should be. `key` is what is looked for in a dictionary.
///
/// Step by step, and each step first loads what it needs in all of them: no load waits for the one of the dictionary
/// before. So 400 segments take the time of some 25 × 3 misses of a cache, and not of 400 × 3.
pub(crate) fn ask<'k>(
    dictionaries: &[Checked<'_>],
    asked: u64,
    key: impl Fn(usize) -> Option<&'k [u8]>,
) -> u64 {
    let groups = dictionaries.chunks(BESIDE).zip((0..64).step_by(BESIDE));
    groups.fold(0, |found, (group, first)| {
        found | ask_group(group, asked >> first, |i| key(first + i)) << first
    })
}

fn ask_group<'k>(group: &[Checked<'_>], asked: u64, key: impl Fn(usize) -> Option<&'k [u8]>) -> u64 {
    let mut ways: [Way<'_>; BESIDE] = [Way::default(); BESIDE];
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
