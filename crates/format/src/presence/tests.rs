//! Presence compared with plain bits, in all modes and for typical patterns of documents.
#![expect(clippy::cast_possible_truncation, reason = "no test has more documents than fit a u32")]

use std::ops::Range;

use bitvec::prelude::{BitSlice, BitVec, Lsb0, bitvec};
use proptest::prelude::*;

use super::bitmap::BLOCK_WORDS;
use super::encode::Encoder;
use super::*;
use crate::error::Error;
use crate::id::MAX_DOCS;
use crate::source::Owned;
use crate::source::test_section::TestSection;

mod damage;
mod layout;

/// `u32`, because `bitvec` has no words of `u64` on 32-bit targets.
type Bits = BitVec<u32, Lsb0>;

const BLOCK: usize = BLOCK_DOCS as usize;

fn owned(presence: Presence<Vec<u8>>) -> Presence<Owned> {
    presence.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes))).unwrap()
}

fn open(presence: Presence<Vec<u8>>, docs: u32, mode: JumpTables) -> PresenceReader<Owned> {
    PresenceReader::open(owned(presence), docs, mode).unwrap()
}

fn encode_bits(bits: &Bits, jump_tables: bool) -> Presence<Vec<u8>> {
    encode(u32::try_from(bits.len()).unwrap(), &words(bits), jump_tables)
}

fn words(bits: &Bits) -> Vec<u64> {
    let word = |halves: &[u32]| halves.iter().rev().fold(0, |word, &half| word << 32 | u64::from(half));
    bits.as_raw_slice().chunks(2).map(word).collect()
}

/// `bits` with the documents `set`.
fn bits(docs: usize, set: impl IntoIterator<Item = usize>) -> Bits {
    let mut bits = bitvec![u32, Lsb0; 0; docs];
    set.into_iter().for_each(|doc| bits.set(doc, true));
    bits
}

/// Reproducible noise: xorshift64*.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n as u64).unwrap()
    }
}

/// The distribution of documents with a value in a block.
#[derive(Clone, Debug)]
enum Pattern {
    None,
    All,
    /// Each document has a value with a probability of one in `.0`.
    OneIn(usize),
    /// Each document lacks a value with a probability of one in `.0`.
    AllButOneIn(usize),
    /// Runs of up to `.0` documents with a value, and of up to `.1` without.
    Clustered(usize, usize),
    /// Documents at the edges of words, buckets, strides and the block.
    Edges,
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let one_in = prop::sample::select(vec![2, 7, 8, 9, 100, 1000, 65_536]);
    prop_oneof![
        Just(Pattern::None),
        Just(Pattern::All),
        one_in.clone().prop_map(Pattern::OneIn),
        one_in.prop_map(Pattern::AllButOneIn),
        (1..3000_usize, 1..3000_usize).prop_map(|(with, without)| Pattern::Clustered(with, without)),
        Just(Pattern::Edges),
    ]
}

fn paint(bits: &mut BitSlice<u32, Lsb0>, pattern: &Pattern, noise: &mut Noise) {
    let len = bits.len();
    match *pattern {
        Pattern::None => {}
        Pattern::All => bits.fill(true),
        Pattern::OneIn(n) => (0..len).for_each(|i| bits.set(i, noise.below(n) == 0)),
        Pattern::AllButOneIn(n) => (0..len).for_each(|i| bits.set(i, noise.below(n) != 0)),
        Pattern::Clustered(with, without) => {
            let mut at = noise.below(without);
            while at < len {
                let end = (at + 1 + noise.below(with)).min(len);
                bits[at..end].fill(true);
                at = end + 1 + noise.below(without);
            }
        }
        Pattern::Edges => {
            for edge in (0..=len).step_by(64).chain([len]) {
                let near = (edge + noise.below(4)).saturating_sub(2);
                let grain = [64, 256, 512, BLOCK][noise.below(4)];
                if edge % grain == 0 && near < len {
                    bits.set(near, true);
                }
            }
        }
    }
}

/// Sizes around every edge of the layout.
const SIZES: [usize; 14] = [0, 1, 2, 63, 64, 65, 255, 257, 511, 512, 513, 65_535, 65_536, 65_537];

fn segment() -> impl Strategy<Value = Bits> {
    let size = prop_oneof![
        prop::sample::select(SIZES.to_vec()),
        1..3000_usize,
        65_000..66_000_usize,
        131_000..132_000_usize,
        2 * BLOCK..3 * BLOCK,
    ];
    let size = size.prop_map(|size| if cfg!(miri) { size % 700 } else { size });
    (size, prop::collection::vec(pattern(), 3), any::<u64>()).prop_map(|(size, patterns, seed)| {
        let (mut bits, mut noise) = (bits(size, []), Noise(seed | 1));
        for (from, pattern) in (0..size).step_by(BLOCK).zip(&patterns) {
            paint(&mut bits[from..size.min(from + BLOCK)], pattern, &mut noise);
        }
        bits
    })
}

/// Queries about `bits`, with the expected answers: the value index of a document is the number of documents with a
/// value before it.
struct Questions {
    docs: u32,
    present: Vec<DocId>,
    points: Vec<u32>,
    /// Documents, and the rank of each.
    lists: Vec<(Vec<DocId>, Vec<u32>)>,
    ranges: Vec<AboutRange>,
}

struct AboutRange {
    docs: Range<u32>,
    values: Range<usize>,
    /// A bit for each value, and some past the last value, which must be ignored.
    value_bits: Bits,
    /// A bit that is set beforehand and must stay set.
    old: usize,
    exists: Vec<u64>,
    expanded: Vec<u64>,
}

impl Questions {
    fn new(bits: &Bits, noise: &mut Noise) -> Questions {
        let docs = u32::try_from(bits.len()).unwrap();
        let present: Vec<DocId> = bits.iter_ones().map(|doc| DocId::new(doc as u32)).collect();
        let mut points: Vec<u32> = (0..150).map(|_| noise.below(bits.len() + 3) as u32).collect();
        let edges = (0..150).map(|_| noise.below(bits.len() / 64 + 1) * 64 + noise.below(3));
        points.extend(edges.map(|near| near.saturating_sub(1) as u32));

        let mut clustered: Vec<DocId> = Vec::new();
        for _ in 0..20 {
            let from = noise.below(bits.len() + 1) as u32;
            clustered.extend((0..40).rev().map(|i| DocId::new(from.saturating_add(i * 20))));
        }
        let past_end = [docs, docs + 5, u32::MAX];
        let random = points.iter().copied().chain(past_end).chain([0, 0]).map(DocId::new).collect();
        let across_the_end = (docs.saturating_sub(40)..docs + 3).rev().map(DocId::new).collect();
        let all: Vec<DocId> = (0..docs).map(DocId::new).collect();
        let some = all.iter().copied().filter(|_| noise.below(50) == 0).collect();
        let rank = |doc: &DocId| present.binary_search(doc).map_or(NO_VALUE, |i| i as u32);
        let lists = [all, random, clustered, across_the_end, some, Vec::new()].into_iter();
        let lists = lists.map(|docs: Vec<DocId>| {
            let ranks = docs.iter().map(rank).collect();
            (docs, ranks)
        });
        let lists = lists.collect();

        let mut ranges = vec![0..docs, 0..0, docs..docs, docs.saturating_sub(70)..docs + 9];
        for len in [130, 130, 130, 5000, 70_000] {
            let from = noise.below(bits.len() + 1) as u32;
            ranges.extend([from..from + len, from / 64 * 64..from + len]);
        }
        let ranges = ranges.into_iter().map(|docs| AboutRange::new(docs, &present, noise)).collect();
        Questions { docs, present, points, lists, ranges }
    }

    fn ask(&self, reader: &PresenceReader<Owned>) {
        reader.verify().unwrap();
        assert_eq!((reader.docs(), reader.values() as usize), (self.docs, self.present.len()));

        let mut points = self.points.clone();
        self.ask_points(reader, &points);
        points.sort_unstable();
        self.ask_points(reader, &points);

        let mut ranks = vec![7; self.docs as usize];
        for (docs, expected) in &self.lists {
            ranks.resize(docs.len(), 7);
            reader.rank_many(docs, &mut ranks).unwrap();
            let wrong = (0..docs.len()).find(|&i| ranks[i] != expected[i]);
            assert_eq!(wrong.map(|i| (docs[i], ranks[i], expected[i])), None, "document, rank, expected");
            if reader.blocks.is_some() {
                for (name, kernel) in simd::every_ranks() {
                    ranks.fill(7);
                    kernel(reader, docs, &mut ranks).unwrap();
                    assert!(ranks == *expected, "{name}");
                }
            }
        }
        let mut found = Vec::with_capacity(self.present.len() + 1);
        self.ranges.iter().for_each(|range| range.ask(&self.present, reader, &mut found));
    }

    fn ask_points(&self, reader: &PresenceReader<Owned>, points: &[u32]) {
        let lookup = reader.lookup(|section, start| section.verified()?.get(start..));
        let expected = match &reader.blocks {
            Some(blocks) => blocks.jump.in_file().is_some(),
            None => reader.is_all(),
        };
        assert_eq!(lookup.is_some(), expected);
        for &doc in points {
            let expected = self.present.binary_search(&DocId::new(doc)).ok();
            let found = reader.rank_verified(DocId::new(doc));
            assert!(
                found.is_none_or(|rank| rank.map(|rank| rank as usize) == expected),
                "{found:?} of {doc}"
            );
            if let Some(lookup) = &lookup {
                assert_eq!(lookup.get(DocId::new(doc)), found, "{doc}");
                let probe = lookup.probe(DocId::new(doc));
                assert_eq!(probe.map(|(rank, present)| present.then_some(rank)), found, "{doc}");
            }
            let rank = reader.rank(DocId::new(doc)).unwrap();
            assert_eq!(rank.map(|value| value.get() as usize), expected, "rank of {doc}");
        }
    }
}

impl AboutRange {
    fn new(docs: Range<u32>, present: &[DocId], noise: &mut Noise) -> AboutRange {
        let before = |doc| present.partition_point(|&d| d < DocId::new(doc));
        let values = before(docs.start)..before(docs.end);
        let mut chosen = bits(values.len() + 70, []);
        let one_in = 1 + noise.below(4);
        (0..chosen.len()).for_each(|i| chosen.set(i, noise.below(one_in) == 0));
        let old = noise.below(docs.len().max(1));
        let (mut exists, mut expanded) = (blank(&docs, old), blank(&docs, old));
        for (doc, chosen) in present[values.clone()].iter().zip(&chosen) {
            let at = (doc.get() - docs.start) as usize;
            exists[at / 64] |= 1 << (at % 64);
            expanded[at / 64] |= u64::from(*chosen) << (at % 64);
        }
        AboutRange { docs, values, value_bits: chosen, old, exists, expanded }
    }

    fn ask(&self, present: &[DocId], reader: &PresenceReader<Owned>, found: &mut Vec<DocId>) {
        let docs = || self.docs.clone();
        found.clear();
        found.push(DocId::new(1));
        // Twice, and each time over what is there.
        for _ in 0..2 {
            let mut end = 1;
            for _ in 0..2 {
                let first = reader.collect(docs(), found, &mut end).unwrap();
                assert_eq!(first.get() as usize, self.values.start, "collect {:?}", self.docs);
            }
            assert_eq!(found[0], DocId::new(1), "what was in the list stays");
            let (once, twice) = found[1..end].split_at(self.values.len());
            assert!(once == &present[self.values.clone()] && twice == once, "collect {:?}", self.docs);
        }

        let values = reader.values_in(docs()).unwrap();
        assert_eq!(values.start as usize..values.end as usize, self.values, "values_in {:?}", self.docs);

        let mut bits = blank(&self.docs, self.old);
        reader.exists(docs(), &mut bits).unwrap();
        assert!(bits == self.exists, "exists {:?}", self.docs);
        let mut bits = blank(&self.docs, self.old);
        reader.expand(docs(), &words(&self.value_bits), &mut bits).unwrap();
        assert!(bits == self.expanded, "expand {:?}", self.docs);
    }
}

/// A bitset for the range with one bit set.
fn blank(docs: &Range<u32>, old: usize) -> Vec<u64> {
    let mut bits = vec![0; docs.len().div_ceil(64)];
    bits.get_mut(old / 64).into_iter().for_each(|word| *word |= 1 << (old % 64));
    bits
}

proptest! {
    #![proptest_config(crate::cases(12))]

    #[test]
    fn documents_give_the_bytes_that_bits_give(bits in segment(), jump_tables: bool) {
        let docs = u32::try_from(bits.len()).unwrap();
        let present = bits.iter_ones().map(|doc| doc as u32).chain([docs, u32::MAX]);
        prop_assert!(encode_docs(docs, present, jump_tables) == encode_bits(&bits, jump_tables));
    }

    #[test]
    fn all_modes_answer_as_plain_bits_do(bits in segment(), seed: u64) {
        let questions = Questions::new(&bits, &mut Noise(seed | 1));
        for jump_tables in [true, false] {
            for mode in JumpTables::ALL {
                questions.ask(&open(encode_bits(&bits, jump_tables), questions.docs, mode));
            }
        }
    }
}

#[test]
fn every_density_and_size_answers_as_plain_bits_do() {
    let mut noise = Noise(1881);
    for size in SIZES {
        for pattern in
            [Pattern::None, Pattern::All, Pattern::OneIn(2), Pattern::OneIn(300), Pattern::Clustered(40, 40)]
        {
            let mut bits = bits(size, []);
            paint(&mut bits, &pattern, &mut noise);
            let questions = Questions::new(&bits, &mut noise);
            questions.ask(&open(encode_bits(&bits, true), questions.docs, JumpTables::Baked));
        }
    }
    for pattern in [65_536, 1000, 8, 2].map(Pattern::OneIn).into_iter().chain([Pattern::AllButOneIn(100)]) {
        let mut bits = bits(3 * BLOCK + 1000, []);
        paint(&mut bits, &pattern, &mut noise);
        let questions = Questions::new(&bits, &mut noise);
        questions.ask(&open(encode_bits(&bits, true), questions.docs, JumpTables::Baked));
    }
}

#[test]
fn the_modes_differ_only_in_their_memory() {
    let bits = bits(3 * BLOCK, (0..3 * BLOCK).step_by(5));
    for (mode, built) in [(JumpTables::BuildOnFirstUse, 3 * 16 + 8), (JumpTables::Baked, 0)] {
        let reader = open(encode_bits(&bits, true), bits.len() as u32, mode);
        let heap_bytes = || reader.blocks.as_ref().unwrap().jump.heap_bytes();
        assert_eq!(heap_bytes(), 0);
        let rank = reader.rank(DocId::new(70_000)).unwrap();
        assert_eq!(rank, Some(ValueIndex::new(14_000)));
        assert_eq!(heap_bytes(), built, "{mode:?}");
    }
}

#[test]
fn the_last_document_of_the_largest_segment_is_found() {
    let mut encoder = Encoder::default();
    let mut words = [0; BLOCK_WORDS];
    for _ in 0..65_535 {
        encoder.push(&words, BLOCK_DOCS);
    }
    let last = DocId::new(MAX_DOCS - 1);
    let low = u32::from(last.split().1);
    words[low as usize / 64] = 1 << (low % 64);
    encoder.push(&words, low + 1);
    let one = encoder.finish(MAX_DOCS, true);
    for (presence, rank) in [(one, 0), (Presence::All, last.get())] {
        for mode in JumpTables::ALL {
            let reader = open(presence.clone(), MAX_DOCS, mode);
            reader.verify().unwrap();
            assert_eq!(reader.rank(last).unwrap(), Some(ValueIndex::new(rank)));
            assert_eq!(reader.rank(DocId::new(u32::MAX)).unwrap(), None);
            assert_eq!(reader.values_in(last.get()..u32::MAX).unwrap(), rank..rank + 1);
            let (mut docs, mut end, mut bits, mut expanded) = (Vec::new(), 0, [0], [0]);
            reader.collect(last.get()..u32::MAX, &mut docs, &mut end).unwrap();
            assert_eq!(docs[..end], [last]);
            reader.exists(last.get()..u32::MAX, &mut bits).unwrap();
            reader.expand(last.get()..u32::MAX, &[1], &mut expanded).unwrap();
            assert_eq!((bits, expanded), ([1], [1]));
            let mut ranks = [0; 2];
            reader.rank_many(&[DocId::new(u32::MAX), last], &mut ranks).unwrap();
            assert_eq!(ranks, [NO_VALUE, rank]);
        }
    }
}

/// Zeros that are never touched use no memory.
#[cfg(target_pointer_width = "64")]
#[test]
fn blocks_lie_beyond_four_gibibytes() {
    const FAR: usize = 5 << 30;
    for step in [2, 40] {
        let bits = bits(3 * BLOCK, (0..3 * BLOCK).step_by(step));
        let near = open(encode_bits(&bits, true), bits.len() as u32, JumpTables::Baked);
        let Presence::Blocks { values, mut blocks, jump: Some(mut jump) } = encode_bits(&bits, true) else {
            panic!("no blocks")
        };
        // Moves the last block's payload past 4 GiB, and points its jump entry there.
        let entry = jump.len() - BlockEntry::LEN;
        let (_, payload, ..) = BlockEntry::fields(jump[entry..].first_chunk().unwrap());
        let carried = blocks.split_off(payload);
        let mut far = vec![0; FAR + carried.len()];
        far[..payload].copy_from_slice(&blocks);
        far[FAR..].copy_from_slice(&carried);
        jump[entry + 4..entry + 8].copy_from_slice(&((FAR / 8) as u32).to_le_bytes());
        let presence = Presence::Blocks { values, blocks: far, jump: Some(jump) };
        let far = open(presence, bits.len() as u32, JumpTables::Baked);
        let docs: Vec<DocId> = (2 * BLOCK as u32 - 5..bits.len() as u32).map(DocId::new).rev().collect();
        let (mut expected, mut got) = (vec![0; docs.len()], vec![0; docs.len()]);
        near.rank_many(&docs, &mut expected).unwrap();
        far.rank_many(&docs, &mut got).unwrap();
        assert_eq!(got, expected);
        for (&doc, expected) in docs.iter().zip(expected) {
            let rank = far.rank(doc).unwrap().map_or(NO_VALUE, ValueIndex::get);
            assert_eq!(rank, expected, "{doc:?}");
        }
    }
}

#[test]
fn bits_after_the_documents_are_ignored_and_missing_words_are_zero() {
    assert_eq!(encode(0, &[!0], true), Presence::None);
    assert_eq!(encode(5, &[!0], true), Presence::All);
    assert_eq!(encode(5, &[!0 << 5, !0], true), Presence::None);
    assert_eq!(encode(100_000, &[], true), Presence::None);
    let plain = encode_bits(&bits(70_000, [3, 69_999]), true);
    let mut more = words(&bits(70_000, [3, 69_999]));
    *more.last_mut().unwrap() |= !0 << (70_000 % 64);
    more.extend([!0; 2000]);
    assert_eq!(encode(70_000, &more, true), plain);
}

#[test]
fn a_batch_reads_nothing_from_unverified_granules() {
    let mut noise = Noise(31);
    let good: [fn(usize) -> bool; 4] = [|_| true, |at| at % 2 == 1, |at| at != 3, |_| false];
    for (one_in, good) in [2, 30].into_iter().flat_map(|one_in| good.map(|good| (one_in, good))) {
        let docs = 5 * BLOCK + 777;
        let bits = bits(docs, (0..docs).filter(|_| noise.below(one_in) == 0).collect::<Vec<_>>());
        let presence = encode_bits(&bits, true)
            .try_map(&mut |section, bytes| Ok::<_, Error>(TestSection::new(section, bytes, good)))
            .unwrap();
        let reader = PresenceReader::open(presence, docs as u32, JumpTables::Baked).unwrap();
        let ascending = (0..docs).step_by(61);
        let asked = (0..4_000).map(|_| noise.below(docs)).chain(ascending);
        let asked: Vec<DocId> = asked.map(|doc| DocId::new(doc as u32)).collect();
        let mut ranks = vec![0; asked.len()];
        reader.rank_many(&asked, &mut ranks).unwrap();
        let mut before = vec![0_u32; docs + 1];
        bits.iter().enumerate().for_each(|(doc, bit)| before[doc + 1] = before[doc] + u32::from(*bit));
        for (doc, rank) in asked.iter().zip(ranks) {
            let place = doc.get() as usize;
            let expected = bits[place].then(|| before[place]);
            assert_eq!((rank != NO_VALUE).then_some(rank), expected, "{doc} of one in {one_in}");
            let single = reader.rank(*doc).unwrap();
            assert_eq!(single.map(ValueIndex::get), expected, "{doc} alone");
        }
    }
}

/// A sparse block with a bucket of 128 documents.
#[test]
fn a_full_bucket_of_a_sparse_block_answers_as_plain_bits_do() {
    let bits = bits(BLOCK, (0..BLOCK).step_by(97).chain((1_024..1_280).step_by(2)));
    let questions = Questions::new(&bits, &mut Noise(7));
    questions.ask(&open(encode_bits(&bits, true), questions.docs, JumpTables::Baked));
}
