//! Compares both node-based forms with a set in memory, and searches damaged bytes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use docvalues_format::error::{Place, Result, Section};
use docvalues_format::source::{Owned, SectionBytes};
use docvalues_testkit::damage::cases;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::Dictionary;
use crate::exact_trie::{ExactTrie, TrieBuilder};
use crate::fst::{Fst, FstBuilder};

type Keys = BTreeSet<Vec<u8>>;

/// The forms, each with how many nodes it remembers.
const FORMS: [Option<usize>; 4] = [None, Some(0), Some(8), Some(FstBuilder::REGISTRY)];

fn encode<'a>(form: Option<usize>, keys: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    match form {
        None => {
            let mut builder = TrieBuilder::new();
            keys.into_iter().for_each(|key| builder.push(key).unwrap());
            builder.finish()
        }
        Some(registry) => {
            let mut builder = FstBuilder::new(registry);
            keys.into_iter().for_each(|key| builder.push(key).unwrap());
            builder.finish()
        }
    }
}

fn open(form: Option<usize>, bytes: Vec<u8>, len: u32) -> Result<Box<dyn Dictionary>> {
    let section = Owned::new(Section::Ids, bytes);
    Ok(match form {
        None => Box::new(ExactTrie::open(section, len)?),
        Some(_) => Box::new(Fst::open(section, len)?),
    })
}

/// A section of which nothing is known to be good: every byte is asked for.
struct Unknown(Owned);

impl SectionBytes for Unknown {
    fn place(&self) -> Place {
        self.0.place()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn slice(&self, range: std::ops::Range<usize>) -> Result<&[u8]> {
        self.0.slice(range)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }
}

#[test]
fn bytes_that_are_still_to_be_checked() {
    for keys in small() {
        for form in [None, Some(64)] {
            let section = Unknown(Owned::new(Section::Ids, encode(form, &keys)));
            let dictionary: Box<dyn Dictionary> = match form {
                None => Box::new(ExactTrie::open(section, count(&keys)).unwrap()),
                Some(_) => Box::new(Fst::open(section, count(&keys)).unwrap()),
            };
            for (rank, key) in (0..).zip(&keys) {
                assert_eq!(dictionary.find(key).unwrap(), Some(rank));
                assert_eq!(dictionary.lower_bound(key).unwrap(), rank);
            }
            dictionary.verify().unwrap();
        }
    }
}

fn count(keys: &Keys) -> u32 {
    u32::try_from(keys.len()).unwrap()
}

/// The keys of `ranks`.
fn collect(dictionary: &dyn Dictionary, ranks: std::ops::Range<u32>) -> Result<Vec<(u32, Vec<u8>)>> {
    let mut keys = Vec::new();
    dictionary.each(ranks, &mut |rank, key| {
        keys.push((rank, key.to_vec()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(keys)
}

/// Everything that is asked of `keys`, in every form.
fn check(keys: &Keys, strange: &[Vec<u8>]) {
    let len = count(keys);
    let sorted: Vec<_> = keys.iter().cloned().collect();
    let numbered: Vec<_> = (0..).zip(sorted.iter().cloned()).collect();
    for form in FORMS {
        let dictionary = open(form, encode(form, &sorted), len).unwrap();
        dictionary.verify().unwrap();
        assert_eq!(dictionary.len(), len);
        for (rank, key) in (0..).zip(&sorted) {
            assert_eq!(dictionary.find(key).unwrap(), Some(rank), "{form:?} {key:?}");
        }
        let near = sorted.iter().take(200).flat_map(|key| neighbours(key));
        for key in near.chain(strange.iter().cloned()) {
            let below = sorted.partition_point(|other| *other < key);
            let here = sorted.get(below) == Some(&key);
            let rank = u32::try_from(below).unwrap();
            assert_eq!(dictionary.find(&key).unwrap(), here.then_some(rank), "{form:?} {key:?}");
            assert_eq!(dictionary.lower_bound(&key).unwrap(), rank, "{form:?} {key:?}");
        }
        assert_eq!(collect(&*dictionary, 0..u32::MAX).unwrap(), numbered, "{form:?}");
        for start in 0..len.min(40) {
            let end = (start + 3).min(len);
            let part = &numbered[start as usize..end as usize];
            assert_eq!(collect(&*dictionary, start..start + 3).unwrap(), part, "{form:?} from {start}");
        }
        assert_eq!(collect(&*dictionary, len..len + 1).unwrap(), []);
    }
}

/// Keys close to `key`: shorter, longer, and with another last byte.
fn neighbours(key: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![key.to_vec(), [key, &[0]].concat(), [key, &[0xff]].concat()];
    if let Some((&last, rest)) = key.split_last() {
        all.push(rest.to_vec());
        all.push([rest, &[last.wrapping_add(1)]].concat());
        all.push([rest, &[last.wrapping_sub(1), 0]].concat());
    }
    all
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(0xff), Just(b'a'), Just(b'b'), any::<u8>()];
    let prefix =
        prop_oneof![Just(vec![]), Just(vec![b'p'; 40]), Just(vec![0; 300]), Just(b"doc-00".to_vec())];
    let suffix =
        prop_oneof![Just(vec![]), Just(vec![b's'; 62]), Just(vec![0xff; 63]), Just(b"/end".to_vec())];
    (prefix, vec(byte, 0..6), suffix).prop_map(|(a, b, c)| [a, b, c].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(75, 150)))]

    #[test]
    fn any_keys(keys in btree_set(key(), 0..120), strange in vec(key(), 0..30)) {
        check(&keys, &strange);
    }

    #[test]
    fn few_letters_many_keys(keys in btree_set(vec(0u8..3, 0..7), 0..600)) {
        check(&keys, &[]);
    }
}

#[test]
fn every_fan_out() {
    for gap in [1, 2, 3, 7] {
        // A sample has some of those with gaps, from the greatest on.
        let step = if gap == 1 { 1 } else { cases(5, 1) };
        for fan_out in (1..=256u32 / gap).rev().step_by(step) {
            for first in [0, 256 - fan_out * gap] {
                let labels = (0..fan_out).map(|i| u8::try_from(first + i * gap).unwrap());
                let keys = labels.flat_map(|label| [vec![b'x', label], vec![b'x', label, 1, 2]]);
                check(&keys.collect(), &[]);
            }
        }
    }
}

#[test]
fn long_keys() {
    for len in [62, 63, 64, 255, 256, 257, 510, 511, 65_535, 65_536] {
        let long = vec![b'k'; len];
        let keys = [&[][..], &[1], &[2], &[2, 3]].map(|end| [&long[..], end].concat());
        check(&keys.iter().cloned().collect(), &[long[1..].to_vec()]);
        check(&Keys::from([long.clone()]), &[]);
        check(
            &keys
                .into_iter()
                .flat_map(|key| [[b"a", &key[..]].concat(), [b"b", &key[..]].concat()])
                .collect(),
            &[],
        );
    }
}

#[test]
fn many_keys() {
    let mut random = docvalues_testkit::rng::SplitMix64::new(7);
    let packed: Keys = (0..30_000).map(|_| random.next_u64().to_be_bytes().to_vec()).collect();
    check(&packed, &[]);
    let text: Keys = packed.iter().map(|key| format!("{key:02x?}-suffix").into_bytes()).collect();
    check(&text, &[]);
}

/// Small sets, each with many kinds of nodes.
fn small() -> Vec<Keys> {
    let words = ["", "a", "ab", "abc", "b", "car", "care", "cat", "dog", "doge"];
    let counters = (0..120).map(|i| format!("doc-{i:05}").into_bytes());
    let wide = (0..=255u8).step_by(5).map(|b| vec![b, 1, 2, b]);
    let long = [vec![b'k'; 300], [vec![b'k'; 300], vec![1]].concat(), vec![b'l'; 70]];
    vec![words.map(|word| word.as_bytes().to_vec()).into(), counters.collect(), wide.collect(), long.into()]
}

/// Asks everything of damaged bytes: it must end, and an answer must be inside the dictionary.
fn ask(dictionary: &dyn Dictionary, keys: &Keys, each: u32) {
    let len = dictionary.len();
    let _ = dictionary.verify();
    for key in keys {
        if let Ok(Some(rank)) = dictionary.find(key) {
            assert!(rank < len);
        }
        assert!(
            dictionary.lower_bound(key).is_ok_and(|rank| rank <= len) || dictionary.lower_bound(key).is_err()
        );
    }
    let mut given = 0;
    for start in [0, len / 2, len.saturating_sub(1)] {
        let _ = dictionary.each(start..start.saturating_add(each), &mut |_, _| {
            given += 1;
            Ok(ControlFlow::Continue(()))
        });
    }
    assert!(given <= 3 * u64::from(each));
}

#[test]
fn every_flipped_bit_of_small_ones() {
    for (form, keys) in
        [None, Some(64)].into_iter().flat_map(|form| small().into_iter().map(move |keys| (form, keys)))
    {
        let good = encode(form, &keys);
        let (mut caught, mut right) = (0, 0);
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(dictionary) = open(form, bytes, count(&keys)) else { continue };
            ask(&*dictionary, &keys, count(&keys) + 3);
            match dictionary.verify() {
                Err(_) => caught += 1,
                // Proved: another set of keys then, which is as consistent as any.
                Ok(()) => {
                    let all = collect(&*dictionary, 0..u32::MAX).unwrap();
                    assert_eq!(all.len(), keys.len());
                    assert!(all.is_sorted_by(|(_, a), (_, b)| a < b));
                    for (rank, key) in all {
                        assert_eq!(dictionary.find(&key).unwrap(), Some(rank));
                        assert_eq!(dictionary.lower_bound(&key).unwrap(), rank);
                    }
                    right += 1;
                }
            }
        }
        assert!(caught > 0 && right > 0, "{caught} {right}");
    }
}

#[test]
fn every_length_of_small_ones() {
    for form in [None, Some(64)] {
        for keys in small() {
            let good = encode(form, &keys);
            for len in 0..good.len() {
                if let Ok(dictionary) = open(form, good[..len].to_vec(), count(&keys)) {
                    assert!(dictionary.verify().is_err(), "{form:?}: {len} of {}", good.len());
                    ask(&*dictionary, &keys, 20);
                }
            }
            for wrong in [count(&keys) - 1, count(&keys) + 1, u32::MAX] {
                let opened = open(form, good.clone(), wrong);
                assert!(opened.is_err() || opened.unwrap().verify().is_err());
            }
        }
    }
}

/// A path for every number of 32 bits in 33 nodes: what is asked for is given, and no more is done.
#[test]
fn a_dag_of_many_keys_is_walked_as_far_as_asked() {
    let mut bytes = Vec::new();
    for level in 0..32u32 {
        let back = if level == 0 { 0 } else { bytes.len() - last(&bytes) };
        let place = bytes.len();
        let before = 1u64 << level;
        bytes.extend([0b1010_0001, 0b1000_0000, b'a', 1]);
        for before in [0, before] {
            bytes.extend(&before.to_le_bytes()[..4]);
            bytes.push(u8::try_from(back).unwrap());
        }
        assert_eq!(bytes.len() - place, 14);
    }
    bytes.extend(14u32.to_le_bytes());
    let fst = open(Some(0), bytes.clone(), u32::MAX).unwrap();
    assert!(fst.verify().is_err(), "2^32 are more than there may be");
    assert_eq!(collect(&*fst, 5..8).unwrap().len(), 3);
    assert_eq!(collect(&*fst, u32::MAX - 2..u32::MAX).unwrap().len(), 2);
    assert_eq!(fst.find(&[b'b'; 31]).unwrap(), None);
    assert!(fst.find(&[b'b'; 32]).is_err(), "the rank of 2^32 − 1 is none");
}

/// Nodes whose labels are each other's bytes: a way through them would be as long as the square of the section.
#[test]
fn labels_that_overlap_make_no_endless_key() {
    let nodes = 4_000u32;
    let branch = [0b1010_0001, 0, b'a', 0, 5];
    let mut bytes = vec![1, b'x', 0, 0, 0];
    for node in 1..=nodes {
        bytes.push(0b0111_1111);
        bytes.extend((5 * (nodes - node) + 1).to_le_bytes());
    }
    bytes.push(b'y');
    bytes.extend(branch);
    bytes.extend(11u32.to_le_bytes());
    let trie = open(None, bytes, 1).unwrap();
    let error = collect(&*trie, 0..1).unwrap_err().to_string();
    assert!(error.contains("a key of more bytes than there are"), "{error}");
    assert!(trie.verify().is_err());
}

fn last(bytes: &[u8]) -> usize {
    bytes.len() - 14
}

#[test]
fn look_ups_in_damaged_copies() {
    let mut random = docvalues_testkit::rng::SplitMix64::new(11);
    let keys: Keys = (0..4_000u32)
        .map(|i| match i % 4 {
            0 => format!("doc-{i:08}").into_bytes(),
            1 => random.next_u64().to_be_bytes().repeat(2),
            2 => format!("{:016x}", random.next_u64()).into_bytes(),
            _ => format!("https://example.org/{}/index.html", random.below(1 << 20)).into_bytes(),
        })
        .collect();
    let list: Vec<_> = keys.iter().collect();
    for form in [None, Some(1 << 12)] {
        let good = encode(form, &keys);
        for _ in 0..cases(150, 500) {
            let mut bytes = good.clone();
            for _ in 0..=random.below(30) {
                let at = random.place(bytes.len());
                bytes[at] = random.next_u64().to_le_bytes()[0];
            }
            let Ok(dictionary) = open(form, bytes, count(&keys)) else { continue };
            for _ in 0..200 {
                let key = list[random.place(list.len())];
                if let Ok(Some(rank)) = dictionary.find(key) {
                    assert!(rank < dictionary.len());
                }
                let _ = dictionary.lower_bound(key);
            }
            let start = random.below_u32(dictionary.len());
            let _ = collect(&*dictionary, start..start + 20);
            let _ = dictionary.verify();
        }
    }
}
