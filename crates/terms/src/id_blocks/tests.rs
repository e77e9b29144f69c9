use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::id_block::tests::{asked, keys};
use docvalues_format::source::Owned;

fn open(keys: &BTreeSet<Vec<u8>>) -> Option<BlocksReader<Owned>> {
    let mut builder = BlocksBuilder::new();
    keys.iter().for_each(|key| assert!(builder.push(key)));
    assert!(keys.last().is_none_or(|last| !builder.push(last)));
    let blocks = builder.finish()?;
    let opened = blocks.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes))).unwrap();
    Some(BlocksReader::open(opened, keys.len() as u32).unwrap())
}

fn check(keys: &BTreeSet<Vec<u8>>) {
    let Some(reader) = open(keys) else { return assert!(keys.is_empty()) };
    reader.verify().unwrap();
    let list: Vec<_> = keys.iter().cloned().collect();
    for key in asked(keys) {
        let rank = list.binary_search(&key);
        assert_eq!(reader.find(&key).unwrap().map(|rank| rank as usize), rank.ok());
        assert_eq!(reader.lower_bound(&key).unwrap() as usize, rank.unwrap_or_else(|rank| rank));
    }
    for ranks in [0..list.len(), 5..list.len().max(7) - 2, 30..31, 47..49, 0..0, list.len()..list.len() + 5] {
        let mut found = Vec::new();
        let bounds = ranks.start as u32..ranks.end as u32;
        reader
            .each(bounds, &mut |rank, key| {
                assert_eq!(rank as usize, ranks.start + found.len());
                found.push(key.to_vec());
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        let end = ranks.end.min(list.len());
        assert_eq!(found, list[ranks.start.min(end)..end]);
    }
}

proptest! {
    #[test]
    fn blocks_find_their_keys_and_no_others(keys in keys(300)) {
        check(&keys);
    }
}

#[test]
fn sizes_at_the_edges() {
    for n in (0..8_u32).chain(20..52).chain([71, 72, 73, 95, 96, 97, 98, 1000]) {
        for step in [1, 3, 256, 70_001] {
            check(&(0..n).map(|i| (i * step).to_be_bytes().to_vec()).collect());
        }
        check(&(0..n).map(|i| vec![7; i as usize]).collect());
    }
    for n in [0, 1, 2, 24, 25, 48, 49, 97, 120_u32] {
        check(&(0..n).map(|i| [&[7; 70_000][..65_000 + i as usize], &i.to_le_bytes()].concat()).collect());
    }
}

#[test]
fn blocks_are_cut_where_separators_are_short() {
    // 30 keys each begin with one byte.
    let keys: BTreeSet<_> =
        (0..300_u32).map(|i| [&[(i / 30) as u8, 9], &i.to_be_bytes()[..]].concat()).collect();
    let reader = open(&keys).unwrap();
    let ranks: Vec<_> = (0..reader.block_count()).map(|block| reader.index.starts.rank(block)).collect();
    assert_eq!(ranks, (0..300).step_by(30).collect::<Vec<_>>());
}
