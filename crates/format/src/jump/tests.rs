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
fn a_table_is_built_by_one_walk_and_finds_blocks_in_any_order() {
    let chain = Counted::default();
    let table: Jump<Owned, usize> = Jump::open(JumpTables::BuildOnFirstUse, None, &chain).unwrap();
    for block in (0..5_000).map(|i| i * 7_919 % BLOCKS) {
        assert_eq!(table.locate(&chain, block).unwrap(), block);
    }
    assert_eq!(chain.0.into_inner(), BLOCKS);
}
