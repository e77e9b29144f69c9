//! Compares the automaton with a set in memory.

use docvalues_format::dictionary::BuildError;
use docvalues_format::error::Section;
use docvalues_format::source::Owned;

use super::*;
use crate::Dictionary;

fn build(keys: &[&[u8]]) -> Fst<Owned> {
    let mut builder = FstBuilder::new(64);
    keys.iter().for_each(|key| builder.push(key).unwrap());
    Fst::open(Owned::new(Section::Ids, builder.finish()), u32::try_from(keys.len()).unwrap()).unwrap()
}

#[test]
fn keys_must_ascend() {
    let mut builder = FstBuilder::new(0);
    builder.push(b"b").unwrap();
    for bad in [&b""[..], b"a", b"azz", b"b"] {
        assert_eq!(builder.push(bad), Err(BuildError::NotAscending { ord: 1 }));
    }
    builder.push(b"b\0").unwrap();
    let mut builder = FstBuilder::new(0);
    builder.push(b"").unwrap();
    assert_eq!(builder.push(b""), Err(BuildError::NotAscending { ord: 1 }));
}

#[test]
fn small_sets() {
    for keys in [&[][..], &[&b""[..]], &[b"", b"a"], &[b"a", b"ab", b"abc", b"b"], &[b"xa", b"xab", b"xb"]] {
        let fst = build(keys);
        fst.verify().unwrap();
        for (rank, key) in (0..).zip(keys) {
            assert_eq!(fst.find(key).unwrap(), Some(rank), "{key:?} of {keys:?}");
            assert_eq!(fst.lower_bound(key).unwrap(), rank);
        }
        assert_eq!(fst.find(b"zz").unwrap(), None);
    }
}

#[test]
fn counters_share_everything() {
    let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
    for doc in 0..100_000 {
        builder.push(format!("doc-{doc:010}").as_bytes()).unwrap();
    }
    let bytes = builder.finish();
    assert!(bytes.len() < 200, "{}", bytes.len());
    Fst::open(Owned::new(Section::Ids, bytes), 100_000).unwrap().verify().unwrap();
}

#[test]
fn suffixes_are_shared() {
    let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
    let mut random = docvalues_testkit::rng::SplitMix64::new(5);
    let keys: std::collections::BTreeSet<_> =
        (0..1_000).map(|_| format!("{:016x}@mail.example.org", random.next_u64())).collect();
    keys.iter().for_each(|key| builder.push(key.as_bytes()).unwrap());
    let bytes = builder.finish();
    assert!(bytes.len() < 1_000 * 23, "{}", bytes.len());
    let fst = Fst::open(Owned::new(Section::Ids, bytes), 1_000).unwrap();
    fst.verify().unwrap();
    for (rank, key) in (0..).zip(&keys) {
        assert_eq!(fst.find(key.as_bytes()).unwrap(), Some(rank));
    }
}
