use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::id_block::tests::{asked, keys};
use docvalues_format::error::Section;

const PLACE: Place = Place { section: Section::IdIndex, offset: 0 };

fn encode(separators: &BTreeSet<Vec<u8>>) -> Option<Vec<u8>> {
    let mut list = Separators::default();
    separators.iter().for_each(|separator| list.push(separator));
    list.encode()
}

fn check(separators: &BTreeSet<Vec<u8>>) {
    let list: Vec<_> = separators.iter().collect();
    let Some(bytes) = encode(separators) else { return assert!(list.is_empty()) };
    let trie = SeparatorTrie::open(&bytes, list.len() as u32, PLACE).unwrap();
    for key in asked(separators) {
        let expected = list.partition_point(|separator| **separator <= key);
        assert_eq!(trie.at_most(&key) as usize, expected, "{key:?} of {list:?}");
        let mut way = trie.descend();
        let found = (0..).find_map(|_| trie.step(&key, &mut way));
        assert_eq!(found.map(|found| found as usize), Some(expected), "{key:?} of {list:?}, step by step");
    }
    for other in [0, list.len() as u32 - 1, list.len() as u32 + 1] {
        assert!(other as usize == list.len() || SeparatorTrie::open(&bytes, other, PLACE).is_err());
    }
}

proptest! {
    #[test]
    fn a_trie_counts_as_a_search_does(separators in keys(300)) {
        check(&separators);
    }

    #[test]
    fn damage_is_refused_or_counts_something(separators in keys(100), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let Some(good) = encode(&separators) else { return Ok(()) };
        let mut bytes = good.clone();
        changes.iter().for_each(|(at, byte)| bytes[at.index(good.len())] = *byte);
        if let Ok(trie) = SeparatorTrie::open(&bytes, separators.len() as u32, PLACE) {
            for key in asked(&separators) {
                prop_assert!(trie.at_most(&key) as usize <= separators.len());
            }
        }
        for cut in 0..good.len().min(200) {
            prop_assert!(SeparatorTrie::open(&good[..cut], separators.len() as u32, PLACE).is_err());
        }
    }

    #[test]
    fn whatever_the_bytes_are_a_trie_is_refused_or_counts(bytes in vec(prop_oneof![0..16_u8, any::<u8>()], 1..40), key in vec(0..16_u8, 0..9)) {
        for separators in 1..12 {
            if let Ok(trie) = SeparatorTrie::open(&bytes, separators, PLACE) {
                prop_assert!(trie.at_most(&key) <= separators);
                prop_assert!(trie.at_most(&bytes) <= separators);
            }
        }
    }
}

#[test]
fn all_bytes_are_labels() {
    check(&(0..=255).map(|byte| vec![byte]).collect());
    check(&(0..=255).flat_map(|a| [vec![a], vec![a, 0], vec![a, 255, 255]]).collect());
    check(&(0..50).map(|len| vec![7; len]).collect());
    check(&[vec![1; 65_535], vec![2]].into());
}

#[test]
fn a_few_bytes_are_no_reason_for_many_labels() {
    // A root of 256 labels that all are nodes, or all separators.
    let nodes = [&[LABELS | INNER, 255][..], &[255; 64]].concat();
    assert!(SeparatorTrie::open(&nodes, 256, PLACE).unwrap_err().to_string().contains("more labels"));
    let leaves = [&[LABELS, 255][..], &[255; 32]].concat();
    assert!(SeparatorTrie::open(&leaves, 255, PLACE).unwrap_err().to_string().contains("more labels"));
    assert!(SeparatorTrie::open(&leaves, 256, PLACE).is_ok());
}

#[test]
fn the_bytes_of_a_trie() {
    let encoded =
        |separators: &[&str]| encode(&separators.iter().map(|s| s.as_bytes().to_vec()).collect()).unwrap();
    assert_eq!(encoded(&["k"]), b"\x03\x01\0k");
    assert_eq!(encoded(&["a", "c"]), b"\x04\x01ac");
    // The root has a prefix and ends a separator; of its labels a and c, c leads to a node with the rest.
    assert_eq!(encoded(&["x", "xa", "xcyz"]), b"\x0f\x01\0x\x01ac\x02\x03\x02\0yz");
}
