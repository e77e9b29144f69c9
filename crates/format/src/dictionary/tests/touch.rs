//! What a look-up touches, and what was touched before.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use super::super::block::TERMS;
use super::super::*;
use super::{decimal, gathered, made};
use crate::granule::GRANULE;
use crate::source::{Owned, Touched};

/// A section that notes which of its bytes were asked for.
struct Spy {
    bytes: Owned,
    asked: Mutex<Vec<Range<usize>>>,
}

impl SectionBytes for Spy {
    fn place(&self) -> Place {
        self.bytes.place()
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        self.asked.lock().unwrap().push(range.clone());
        self.bytes.slice(range)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }
}

impl Spy {
    fn take(&self) -> Vec<Range<usize>> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

/// The table of costs in the module's head.
#[test]
fn a_look_up_touches_no_more_than_is_promised() {
    let spied = made((0..20_000).map(decimal), true)
        .try_map(&mut |s, bytes| {
            Ok::<_, Infallible>(Spy { bytes: Owned::new(s, bytes), asked: Mutex::default() })
        })
        .unwrap();
    let reader = DictionaryReader::open(spied, JumpTables::Baked).unwrap();
    let (blocks, keys) = (reader.blocks.as_ref().unwrap(), &reader.index.as_ref().unwrap().keys);
    assert!(blocks.take().is_empty() && keys.take().is_empty(), "opening reads nothing");

    let bytes = |asked: Vec<Range<usize>>| asked.iter().map(ExactSizeIterator::len).sum::<usize>();
    for ord in [0, 31, 32, 10_007, 19_999] {
        reader.term(TermOrd::new(ord), &mut Vec::new()).unwrap();
        assert!(keys.take().is_empty());
        assert_eq!(bytes(blocks.take()), 1 + 2 * TERMS + decimal(0).len(), "term {ord}");
    }
    assert_eq!(gathered(&reader, &[10_007, 3, 10_007]).unwrap(), [10_007, 3, 10_007].map(decimal));
    blocks.take();
    let block = blocks.len() / reader.block_count() as usize;
    for ord in [0, 31, 32, 10_007, 19_999] {
        reader.seek_exact(&decimal(ord)).unwrap().unwrap();
        // ceil(log2(625)) is 10; the last one again, the one found, and the neighbour that no longer ties.
        let asked = keys.take();
        assert!(asked.len() <= 13 && asked.iter().all(|key| key.len() == KEY_LEN), "{asked:?}");
        assert!(bytes(blocks.take()) <= 3 * block, "ord {ord}");
    }
}

/// A section of which every other granule was found good, and the others may not be looked at without
/// [`slice`](SectionBytes::slice).
struct Patchy {
    bytes: Owned,
    good: Box<[AtomicU64]>,
}

impl SectionBytes for Patchy {
    fn place(&self) -> Place {
        self.bytes.place()
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        self.bytes.slice(range)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }

    fn touched(&self) -> Option<Touched<'_>> {
        Some(Touched { bytes: self.bytes.verified()?, granules: Some(&self.good) })
    }
}

#[test]
fn terms_are_gathered_from_granules_that_were_checked_and_that_were_not() {
    let made = made((0..20_000).map(decimal), true);
    let ords: Vec<u32> = (0..20_000).map(|i| i * 7919 % 20_000).collect();
    let wanted: Vec<Vec<u8>> = ords.iter().map(|&ord| decimal(ord as usize)).collect();
    for good in [0, 0x5555_5555_5555_5555, u64::MAX] {
        let patchy = made.clone().try_map(&mut |section, bytes: Vec<u8>| {
            let good = (0..=bytes.len() / (64 * GRANULE)).map(|_| AtomicU64::new(good)).collect();
            Ok::<_, Infallible>(Patchy { bytes: Owned::new(section, bytes), good })
        });
        let reader = DictionaryReader::open(patchy.unwrap(), JumpTables::Baked).unwrap();
        assert_eq!(gathered(&reader, &ords).unwrap(), wanted);
    }
}
