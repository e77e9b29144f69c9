//! Batches of terms in any order, whose parts are shorter and longer than a copy of fixed size.

use std::collections::BTreeSet;
use std::convert::Infallible;

use super::super::block::TERMS;
use super::super::*;
use super::{changed, decimal, gathered, made, reader, term};
use crate::granule::GRANULE;
use crate::source::test_section::TestSection;

/// The empty term, and terms that share and own from none to many bytes, in more than twenty blocks of class 1.
fn terms_of_many_lengths() -> Vec<Vec<u8>> {
    let fronts = [0, 1, 26, 27, 31, 32, 33, 100, 200];
    let tails = [0, 1, 25, 26, 27, 32, 33, 48];
    let terms = (0..720).map(|i| {
        let (front, tail) = (vec![b'f'; fronts[i / 80]], vec![b't'; tails[i * 5 % 8]]);
        [front, decimal(i * 7), tail].concat()
    });
    let terms: BTreeSet<Vec<u8>> = terms.chain([vec![]]).collect();
    terms.into_iter().collect()
}

#[test]
fn a_batch_has_any_size_and_order() {
    let terms = terms_of_many_lengths();
    let count = u32::try_from(terms.len()).unwrap();
    for terms in [&terms[..], &terms[..TERMS], &terms[..TERMS - 1], &terms[..1]] {
        let made = made(terms, true);
        let reader = reader(&made, JumpTables::Baked);
        let count = reader.len();
        for len in [0, 1, 2, 31, 32, 33, 63, 64, 65, 200] {
            for stride in [0, 1, 31, 32, 37, count - 1] {
                let ords: Vec<u32> = (0..len).map(|i| (i * stride + 11) % count).collect();
                let expected: Vec<&Vec<u8>> = ords.iter().map(|&ord| &terms[ord as usize]).collect();
                let found = gathered(&reader, &ords).unwrap();
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{len} ords, {stride} apart");
            }
        }
        (0..).zip(terms).for_each(|(ord, expected)| assert_eq!(&term(&reader, ord), expected));
    }
    assert_eq!(count, 721);
}

#[test]
fn a_batch_reads_verified_and_unverified_granules() {
    let terms = terms_of_many_lengths();
    let made = made(&terms, true);
    assert!(made.blocks.as_ref().unwrap().len() > 4 * GRANULE);
    let ords: Vec<u32> = (0..721).map(|i| i * 37 % 721).collect();
    let expected: Vec<&Vec<u8>> = ords.iter().map(|&ord| &terms[ord as usize]).collect();
    let patterns: [fn(usize) -> bool; 3] =
        [|_| false, |granule| granule % 2 == 0, |granule| granule % 2 == 1];
    for good in patterns {
        let partly_verified = made.clone().try_map(&mut |section, bytes| {
            Ok::<_, Infallible>(TestSection::new(section, bytes, good).admitting())
        });
        let reader = DictionaryReader::open(partly_verified.unwrap(), JumpTables::Baked).unwrap();
        assert_eq!(gathered(&reader, &ords).unwrap().iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_batch_returns_the_error_of_a_single_look_up() {
    let made = made((0..40).map(decimal), true);
    // Term 5 ends past the block, so the next ones begin there.
    let damaged = changed(&made, 0, |blocks| blocks[1 + TERMS + 5] = u8::MAX);
    let reader = reader(&damaged, JumpTables::Baked);
    for ord in 5..32 {
        let mut out = b"left over".to_vec();
        let error = reader.term(TermOrd::new(ord), &mut out).unwrap_err();
        assert_eq!(out, b"");
        assert_eq!(gathered(&reader, &[0, 4, 39, ord, 3]).unwrap_err(), error, "term {ord}");
    }
    assert_eq!(gathered(&reader, &[4, 39, 0]).unwrap(), [4, 39, 0].map(decimal));
}
