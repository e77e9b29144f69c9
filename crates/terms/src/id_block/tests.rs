use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;

/// Keys that share much, tie in their heads, and differ in little.
pub(crate) fn keys(max: usize) -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
    let byte = || prop::sample::select(b"\x00\x01a\xff" as &[u8]);
    let prefix = prop_oneof![Just(Vec::new()), vec(byte(), 0..8), vec(byte(), 250..260)];
    let tails = prop_oneof![
        3 => btree_set(vec(byte(), 0..8), 0..=max),
        1 => btree_set(vec(any::<u8>(), 5), 0..=max),
        1 => (0..5_usize).prop_flat_map(move |len| btree_set(vec(any::<u8>(), len), 0..=max)),
        1 => btree_set(vec(byte(), 9), 0..=max),
        1 => btree_set(vec(byte(), 0..300), 0..=max),
        1 => btree_set((any::<u8>(), any::<u16>()).prop_map(|(a, b)| [&[a, 7, 7, 7, 7], &b.to_be_bytes()[..]].concat()), 0..=max),
    ];
    (prefix, tails)
        .prop_map(|(prefix, tails)| tails.into_iter().map(|tail| [&prefix[..], &tail].concat()).collect())
}

/// What is asked for: the keys, and what lies next to them.
pub(crate) fn asked(keys: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut asked = vec![vec![], vec![0], vec![255; 300]];
    for key in keys {
        asked.push(key.clone());
        asked.push([&key[..], &[0]].concat());
        asked.push([&key[..], &[255]].concat());
        if let Some((&last, head)) = key.split_last() {
            asked.push(head.to_vec());
            asked.push([head, &[last.wrapping_add(1)]].concat());
            asked.push([head, &[last.wrapping_sub(1), 255]].concat());
            let mut other = key.clone();
            other[key.len() / 2] ^= 1;
            asked.push(other);
        }
    }
    asked
}

proptest! {
    #[test]
    fn a_block_finds_its_keys_and_no_others(keys in keys(MAX_KEYS).prop_filter("there are some", |keys| !keys.is_empty())) {
        let list: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let mut bytes = Vec::new();
        encode(&list, &mut bytes);
        let end = bytes.len();
        bytes.extend([0x5a; OVERREAD]);
        let block = Block::read(&bytes).unwrap();
        prop_assert_eq!((block.len(), block.end()), (keys.len(), end));
        let mut buffer = Vec::new();
        for (place, key) in list.iter().enumerate() {
            block.key(place, &mut buffer).unwrap();
            prop_assert_eq!(&&buffer[..], key);
        }
        prop_assert_eq!(block.key(keys.len(), &mut buffer), None);
        for key in asked(&keys) {
            let place = list.binary_search(&&key[..]);
            prop_assert_eq!(block.find(&key), place.ok(), "{:?}", key);
            prop_assert_eq!(block.lower_bound(&key, &mut buffer), Some(place.unwrap_or_else(|place| place)));
        }
        for cut in 0..end.min(700) {
            // No panic, wherever it ends.
            if let Some(block) = Block::read(&bytes[..cut]) {
                block.find(list[0]);
                block.key(block.len() - 1, &mut buffer);
                block.end();
            }
        }
    }

    #[test]
    fn whatever_the_bytes_are_a_block_answers(bytes in vec(prop_oneof![0..4_u8, any::<u8>()], 0..400), key in vec(0..4_u8, 0..9)) {
        if let Some(block) = Block::read(&bytes) {
            let mut buffer = Vec::new();
            prop_assert!(block.find(&key).is_none_or(|place| place < block.len()));
            block.lower_bound(&key, &mut buffer);
            block.find(&bytes);
            for place in 0..block.len() {
                block.key(place, &mut buffer);
            }
            block.end();
        }
    }
}

#[test]
fn the_bytes_of_blocks() {
    let encoded = |keys: &[&str]| {
        let mut bytes = Vec::new();
        encode(&keys.iter().map(|key| key.as_bytes()).collect::<Vec<_>>(), &mut bytes);
        bytes
    };
    assert_eq!(encoded(&["ab", "abcdefg", "abd"]), b"\x03\x00\x02ab\0\0\0\0fedc\0\0\0d\x00\x05\x01g");
    assert_eq!(encoded(&["xabcde", "xbcdef"]), b"\x02\x02\x01\x05\0xdcbaedcbef");
    assert_eq!(encoded(&["xabcde", "xbbcdf"]), b"\x02\x03\x01\x05\0\x0exbcdeafb");
    // Bits 1 to 5 of six columns are constant, and heads of one byte are enough.
    assert_eq!(encoded(&["xa12345", "xb12345"]), b"\x02\x03\x01\x06\0\x3ex12345ab");
    assert_eq!(encoded(&[""]), b"\x01\x02\0\0\0\0");
    assert_eq!(encoded(&["aa1", "aa2"]), b"\x02\x02\x02\x01\0aa12");
    let long = "y".repeat(260);
    assert_eq!(encoded(&["x", &long])[..3], [2, 1, 0]);
}
