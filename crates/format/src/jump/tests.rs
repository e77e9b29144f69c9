use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::error::Section;
use crate::source::Owned;

const BLOCKS: usize = 1_000;

/// A chain that counts its steps. The entry of block *n* is *n*.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Entry for usize {
    fn parse(_: Place, _: usize, bytes: &[u8]) -> Result<usize> {
        Ok(usize::try_from(u64::from_le_bytes(*bytes.first_chunk().unwrap())).unwrap())
    }
}

impl Chain for Counted {
    type Entry = usize;

    fn blocks(&self) -> usize {
        BLOCKS
    }

    fn stride(&self) -> usize {
        8
    }

    fn put(&self, entry: &usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&(*entry as u64).to_le_bytes());
    }

    fn place(&self) -> Place {
        Place { section: Section::Values, offset: 0 }
    }

    fn step(&self, block: usize, at: usize, values: u64) -> Result<Step<usize>> {
        assert_eq!((at, values), (block * 100, block as u64 * 10));
        self.0.fetch_add(1, Relaxed);
        Ok(Step { entry: block, next: at + 100, values: values + 10 })
    }
}

#[test]
fn a_walk_forward_reads_each_header_once_however_often_it_is_asked() {
    for hits_a_block in [1, 2, 100] {
        let chain = Counted::default();
        let mut walk = Walk::new(&chain);
        for block in (0..BLOCKS).flat_map(|block| std::iter::repeat_n(block, hits_a_block)) {
            assert_eq!(walk.seek(block).unwrap(), block);
        }
        assert_eq!(walk.headers(), BLOCKS as u64);
        assert_eq!(chain.0.into_inner(), BLOCKS);
    }
}

#[test]
fn a_step_back_walks_from_the_first_block() {
    let chain = Counted::default();
    let mut walk = Walk::new(&chain);
    for block in [900, 901, 899] {
        assert_eq!(walk.seek(block).unwrap(), block);
    }
    assert_eq!(walk.headers(), 902 + 900);
}

#[test]
fn walks_and_tables_agree_in_any_order() {
    let chain = Counted::default();
    let table: Jump<Owned, usize> = Jump::open(JumpTables::BuildOnFirstUse, None, &chain).unwrap();
    let mut walk = Walk::new(&chain);
    for block in (0..5_000).map(|i| i * 7_919 % BLOCKS) {
        assert_eq!(walk.seek(block).unwrap(), block);
        assert_eq!(table.locate(&chain, block).unwrap(), block);
        let other = block * 31 % BLOCKS;
        assert_eq!(table.search(&chain, |entry| entry.cmp(&other)).unwrap(), Some((other, other)));
    }
    assert_eq!(table.search(&chain, |_| Ordering::Less).unwrap(), None);
}
