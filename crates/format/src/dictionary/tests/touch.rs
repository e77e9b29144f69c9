//! The bytes that a look-up reads, and reads of verified and unverified granules.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Mutex;

use super::super::block::TERMS;
use super::super::*;
use super::{decimal, gathered, made};
use crate::granule::GRANULE;
use crate::source::Owned;
use crate::source::test_section::TestSection;
use crate::sweep;

/// A section that records which of its bytes are read.
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

/// Checks the table of costs in the module docs.
#[test]
fn a_look_up_reads_no_more_than_documented() {
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

#[test]
fn terms_are_read_from_verified_and_unverified_granules() {
    // Four granules, and blocks that lie in two.
    let terms: Vec<Vec<u8>> = (0..3_000).map(|i| format!("{i:04}{}", i * 7919 % 9973).into_bytes()).collect();
    let made = made(terms.clone(), true);
    assert!(made.blocks.as_ref().unwrap().len() > 4 * GRANULE);
    let patterns: [fn(usize) -> bool; 4] =
        [|_| false, |granule| granule % 2 == 0, |granule| granule % 2 == 1, |_| true];
    for good in patterns {
        let fresh = || {
            let partly_verified = made.clone().try_map(&mut |section, bytes| {
                Ok::<_, Infallible>(TestSection::new(section, bytes, good).admitting())
            });
            DictionaryReader::open(partly_verified.unwrap(), JumpTables::Baked).unwrap()
        };
        // Each from a section of which nothing was read before; every fifth, or every one in the full sweep.
        for (ord, term) in (0..).zip(&terms).step_by(sweep(5, 1)) {
            let mut out = Vec::new();
            fresh().term(TermOrd::new(ord), &mut out).unwrap();
            assert_eq!(&out, term, "term {ord}");
            assert_eq!(
                gathered(&fresh(), &[ord]).unwrap(),
                std::slice::from_ref(term),
                "term {ord} of a batch"
            );
        }
    }
}
