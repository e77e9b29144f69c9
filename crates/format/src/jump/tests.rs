use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::error::Section;
use crate::source::Owned;

const BLOCKS: usize = 1_000;

/// A chain that counts its steps. The entry of block *n* is *n*.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Entry for usize {
    fn parse(_: Place, _: usize, _: &[u8]) -> Result<usize> {
        unreachable!("there is no table")
    }
}

impl Chain for Counted {
    type Entry = usize;

    fn blocks(&self) -> usize {
        BLOCKS
    }

    fn stride(&self) -> usize {
        16
    }

    fn put(&self, _: &usize, _: &mut Vec<u8>) {
        unreachable!("there is no table")
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

fn ignored() -> (Counted, Jump<Owned, usize>) {
    let chain = Counted::default();
    let jump = Jump::open(JumpTables::Ignore, None, &chain).unwrap();
    (chain, jump)
}

#[test]
fn threads_that_go_forward_side_by_side_walk_once_each() {
    let (chain, jump) = ignored();
    let barrier = Barrier::new(POSITIONS);
    // Each begins elsewhere, as the threads of a scan do, and asks about each block twice.
    thread::scope(|scope| {
        for caller in 0..POSITIONS {
            let (chain, jump, barrier) = (&chain, &jump, &barrier);
            scope.spawn(move || {
                for at in 0..BLOCKS / POSITIONS {
                    barrier.wait();
                    let block = caller * BLOCKS / POSITIONS + at;
                    assert_eq!(jump.locate(chain, block).unwrap(), block);
                    assert_eq!(jump.search(chain, |entry| entry.cmp(&block)).unwrap(), Some((block, block)));
                }
            });
        }
    });
    let steps = chain.0.into_inner();
    assert!(steps < POSITIONS * BLOCKS, "{steps} steps");
}

#[test]
fn a_thread_that_goes_back_walks_from_the_first_block() {
    let (chain, jump) = ignored();
    for block in [900, 901, 899] {
        assert_eq!(jump.locate(&chain, block).unwrap(), block);
    }
    assert_eq!(chain.0.into_inner(), 902 + 900);
}

#[test]
fn any_order_gets_the_same_answers() {
    let (chain, jump) = ignored();
    for block in (0..5_000).map(|i| i * 7_919 % BLOCKS) {
        assert_eq!(jump.locate(&chain, block).unwrap(), block);
        let other = block * 31 % BLOCKS;
        assert_eq!(jump.search(&chain, |entry| entry.cmp(&other)).unwrap(), Some((other, other)));
    }
    assert_eq!(jump.search(&chain, |_| Ordering::Less).unwrap(), None);
}
