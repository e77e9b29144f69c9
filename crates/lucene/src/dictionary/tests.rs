//! Dictionaries of every layout are written and read.

use std::collections::BTreeSet;

use docvalues_testkit::rng::SplitMix64;

use super::reader::MAX_BLOCK;
use super::*;
use crate::lz4;
use crate::monotonic;
use crate::order::Order;
use crate::testing::{Encoder, body};

/// The layouts of dictionaries, and whether terms are compressed.
pub(crate) const KINDS: [(TermsLayout, bool); 3] =
    [(TermsLayout::Coded, false), (TermsLayout::Coded, true), (TermsLayout::V90, true)];

/// Appends the entry of ascending `terms`, and their bytes.
pub(crate) fn encode(
    meta: &mut Encoder,
    data: &mut Encoder,
    terms: &[Vec<u8>],
    (layout, is_compressed): (TermsLayout, bool),
) {
    let shift = if is_compressed { 6 } else { 4 };
    let (start, mut blocks) = (data.offset(), Vec::new());
    for block in terms.chunks(1 << shift) {
        blocks.push(data.offset() - start);
        data.vint(block[0].len() as i32).bytes(&block[0]);
        let mut rest = Encoder::new(data.order);
        for pair in block.windows(2) {
            let shared = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
            let len = pair[1].len() - shared;
            rest.u8((shared.min(15) | (len - 1).min(15) << 4) as u8);
            if shared >= 15 {
                rest.vint((shared - 15) as i32);
            }
            if len >= 16 {
                rest.vint((len - 16) as i32);
            }
            rest.bytes(&pair[1][shared..]);
        }
        if is_compressed && block.len() > 1 {
            let before = if layout == TermsLayout::V90 { &block[0][..] } else { &[] };
            data.vint(rest.out.len() as i32).bytes(&lz4::tests::compress(before, &rest.out));
        } else {
            data.bytes(&rest.out);
        }
    }
    let len = data.offset() - start;
    meta.vlong(terms.len() as i64);
    if layout == TermsLayout::Coded {
        meta.i32(if is_compressed { COMPRESSED } else { PLAIN });
    }
    meta.i32(4);
    let addresses = data.offset();
    monotonic::tests::encode(meta, data, 4, &blocks);
    meta.i32(99);
    if is_compressed {
        meta.i32(9_999);
    }
    meta.i64(start).i64(len).i64(addresses).i64(data.offset() - addresses).i32(10);
    // The keys of the index are empty.
    let (index, keys) = (data.offset(), vec![0; terms.len().div_ceil(1 << 10) + 1]);
    monotonic::tests::encode(meta, data, 4, &keys);
    meta.i64(index).i64(0).i64(index).i64(data.offset() - index);
}

fn open(terms: &[Vec<u8>], order: Order, kind: (TermsLayout, bool)) -> Result<Dictionary> {
    let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
    encode(&mut meta, &mut data, terms, kind);
    let meta = body(meta);
    let mut cursor = Cursor::new(&meta);
    let entry = TermsEntry::read(&mut cursor, kind.0)?;
    cursor.end()?;
    assert_eq!(entry.count as usize, terms.len());
    Dictionary::open(&entry, "host", &Arc::new(body(data)))
}

fn shapes() -> Vec<Vec<Vec<u8>>> {
    let mut rng = SplitMix64::new(3);
    let mut words: BTreeSet<Vec<u8>> = (0..1_500)
        .map(|at: u32| format!("host-{at:05}.of-a-long-domain.example/{}", rng.below(7)).into_bytes())
        .collect();
    words.extend([b"".to_vec(), b"host".to_vec(), vec![0xFF; 40], vec![b'h'; 300], vec![b'h'; 3_000]]);
    let all: Vec<Vec<u8>> = words.into_iter().collect();
    vec![vec![], vec![vec![]], vec![b"one".to_vec()], all[..16].to_vec(), all[..65].to_vec(), all]
}

fn check(read: &Dictionary, terms: &[Vec<u8>]) {
    let mut rng = SplitMix64::new(4);
    assert_eq!(read.term_count() as usize, terms.len());
    let mut out = Lists::new();
    let ascending: Vec<usize> = (0..terms.len()).collect();
    let random: Vec<usize> = (0..(terms.len() * 9).min(300)).map(|_| rng.place(terms.len())).collect();
    for list in [ascending, random] {
        let ords: Vec<TermOrd> = list.iter().map(|at| TermOrd::new(*at as u32)).collect();
        read.gather_terms(&ords, &mut out).unwrap();
        assert!(out.slices().iter().eq(list.iter().map(|at| &terms[*at][..])));
    }
    for (ord, term) in (0..).zip(terms) {
        assert_eq!(read.seek_exact(term).unwrap(), Some(TermOrd::new(ord)));
        let after = [&term[..], &[0]].concat();
        let found = read.place(&after).unwrap();
        assert_eq!(found, Err(TermOrd::new(ord + 1)));
        let half = &term[..term.len() / 2];
        let ceil = read.seek_ceil(half).unwrap().get() as usize;
        assert_eq!(ceil, terms.partition_point(|other| &other[..] < half));
    }
    let (from, to) = (terms.len() / 3, terms.len());
    let mut seen = Vec::new();
    read.each_term(OrdRange::new(from as u32, u32::MAX), &mut |ord, term| {
        seen.push((ord.get() as usize, term.to_vec()));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(seen.into_iter().eq((from..to).map(|ord| (ord, terms[ord].clone()))));
    let past = read.gather_terms(&[TermOrd::new(to as u32)], &mut out).unwrap_err();
    assert!(matches!(past.kind(), ColumnErrorKind::NoSuchOrd { .. }));
}

#[test]
fn terms_are_read_as_they_were_written() {
    for terms in shapes() {
        for kind in KINDS {
            for order in [Order::Big, Order::Little] {
                check(&open(&terms, order, kind).unwrap(), &terms);
            }
        }
    }
}

#[test]
fn terms_are_gathered_in_any_order() {
    let terms = shapes().pop().unwrap();
    let edges = [64, 63, 65, 0, 15, 16, 17, 64, 127, 128, 129, 64, 63, terms.len() - 1, 0];
    for kind in KINDS {
        let (read, mut out) = (open(&terms, Order::Little, kind).unwrap(), Lists::new());
        for list in [&edges[..], &edges[..1], &[64, 64], &[]] {
            let ords: Vec<TermOrd> = list.iter().map(|at| TermOrd::new(*at as u32)).collect();
            read.gather_terms(&ords, &mut out).unwrap();
            assert!(out.slices().iter().eq(list.iter().map(|at| &terms[*at][..])));
        }
        let mut term = b"replaced".to_vec();
        for at in edges {
            read.term(TermOrd::new(at as u32), &mut term).unwrap();
            assert_eq!(term, terms[at]);
        }
        let past = TermOrd::new(terms.len() as u32);
        for ords in [&[past][..], &[past, TermOrd::new(0)]] {
            let error = read.gather_terms(ords, &mut out).unwrap_err();
            assert!(matches!(error.kind(), ColumnErrorKind::NoSuchOrd { .. }));
        }
        assert!(read.term(past, &mut term).is_err());
    }
}

#[test]
fn terms_have_bytes() {
    // Each shares all but a byte with the one before.
    let terms: Vec<Vec<u8>> = (1..=130).map(|len| vec![b'a'; len]).collect();
    for kind in KINDS {
        for count in 1..=terms.len() {
            open(&terms[..count], Order::Little, kind).unwrap();
        }
    }
    // Four billion terms in a byte: addresses are straight lines.
    let mut meta = Encoder::new(Order::Little);
    meta.vlong(4_000_000_000).i32(22);
    let line = |meta: &mut Encoder| {
        meta.i64(0).f32(0.0).i64(0).u8(0);
    };
    (0..15).for_each(|_| line(&mut meta));
    let start = Encoder::new(Order::Little).offset();
    meta.i32(1).i32(1).i64(start).i64(1).i64(start).i64(0).i32(31);
    line(&mut meta);
    meta.i64(start).i64(0).i64(start).i64(0);
    let meta = body(meta);
    let entry = TermsEntry::read(&mut Cursor::new(&meta), TermsLayout::V90).unwrap();
    let data = Arc::new(body(Encoder::of_bytes(Order::Little, vec![0])));
    let error = Dictionary::open(&entry, "host", &data).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { needed: 500_000_000, left: 1 }), "{error}");
}

#[test]
fn terms_are_as_long_as_those_of_lucene() {
    for kind in KINDS {
        for (len, is_read) in [(MAX_TERM, true), (MAX_TERM + 1, false)] {
            let alone = open(&[vec![b'a'; len]], Order::Little, kind).unwrap();
            assert_eq!(alone.gather_terms(&[TermOrd::new(0)], &mut Lists::new()).is_ok(), is_read);
            // The second term shares all but its last byte.
            let two = [vec![b'a'; len - 1], vec![b'a'; len]];
            let two = open(&two, Order::Little, kind).unwrap();
            assert_eq!(two.gather_terms(&[TermOrd::new(1)], &mut Lists::new()).is_ok(), is_read);
        }
    }
    // A compressed block of zeros, one byte longer than Lucene's longest.
    let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
    encode(&mut meta, &mut data, &[b"a".to_vec(), b"b".to_vec()], KINDS[1]);
    let meta = body(meta);
    let mut entry = TermsEntry::read(&mut Cursor::new(&meta), KINDS[1].0).unwrap();
    for len in [MAX_BLOCK, MAX_BLOCK + 1] {
        let mut data = Encoder::new(Order::Little);
        entry.terms.0 = data.offset();
        data.vint(1).u8(b'a').vint(len as i32);
        // A literal, and a match of the others but the last.
        let matched = len - 2 - 4 - 15;
        data.bytes(&[0x1F, 0, 1, 0]).bytes(&vec![0xFF; matched / 255]).u8((matched % 255) as u8);
        data.bytes(&[0x10, 0]);
        entry.terms.1 = data.offset() - entry.terms.0;
        entry.addresses = (data.offset(), 0);
        let read = Dictionary::open(&entry, "host", &Arc::new(body(data))).unwrap();
        assert_eq!(Reader::of(&read).begin(0).is_ok(), len == MAX_BLOCK);
    }
}

#[test]
fn a_block_is_decompressed_as_far_as_it_is_needed() {
    let mut rng = SplitMix64::new(6);
    let terms: Vec<Vec<u8>> =
        (0..64).map(|at| format!("{at:02}-{:020}", rng.below(u64::MAX)).into_bytes()).collect();
    for kind in [KINDS[1], KINDS[2]] {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, &terms, kind);
        let meta = body(meta);
        let mut entry = TermsEntry::read(&mut Cursor::new(&meta), kind.0).unwrap();
        // Without the last byte of the block.
        entry.terms.1 -= 1;
        let read = Dictionary::open(&entry, "host", &Arc::new(body(data))).unwrap();
        for (ord, is_read) in [(0, true), (1, true), (32, true), (63, false)] {
            let mut out = Lists::new();
            assert_eq!(read.gather_terms(&[TermOrd::new(ord)], &mut out).is_ok(), is_read, "{ord}");
            assert!(!is_read || out.slices().iter().eq([&terms[ord as usize][..]]));
        }
    }
}

#[test]
fn an_error_names_the_block() {
    let terms: Vec<Vec<u8>> = (0..20).map(|at| format!("term-{at:02}").into_bytes()).collect();
    let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
    encode(&mut meta, &mut data, &terms, KINDS[0]);
    let meta = body(meta);
    let entry = TermsEntry::read(&mut Cursor::new(&meta), KINDS[0].0).unwrap();
    // The first term of the second block, after its length, is the only one that is there as a whole.
    let at = data.out.windows(8).position(|bytes| bytes == b"\x07term-16").unwrap();
    data.out[at] = 0xFF;
    let start = data.offset() as usize - data.out.len();
    let read = Dictionary::open(&entry, "host", &Arc::new(body(data))).unwrap();
    assert_eq!(read.first(1).unwrap_err().offset(), (start + at) as u64);
    let gather = |ords: &[u32]| {
        let ords: Vec<TermOrd> = ords.iter().copied().map(TermOrd::new).collect();
        read.gather_terms(&ords, &mut Lists::new()).map_err(|error| error.to_string())
    };
    assert!(gather(&[16]).is_err());
    assert_eq!(gather(&[17, 3, 18, 2]), gather(&[16]));
    assert_eq!(gather(&[15, 0, 3]), Ok(()));
}

#[test]
fn hostile_bytes_are_errors_or_other_terms() {
    let terms: Vec<Vec<u8>> = (0..70).map(|at| format!("term-{at:02}").into_bytes()).collect();
    for kind in KINDS {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, &terms, kind);
        let read = |meta: Vec<u8>, data: Vec<u8>| {
            let meta = body(Encoder::of_bytes(Order::Little, meta));
            let entry = TermsEntry::read(&mut Cursor::new(&meta), kind.0)?;
            let data = Arc::new(body(Encoder::of_bytes(Order::Little, data)));
            let (read, mut out) = (Dictionary::open(&entry, "host", &data)?, Lists::new());
            for ord in [0, 69, 15, 16, 64, 33] {
                let _ = read.gather_terms(&[TermOrd::new(ord)], &mut out);
            }
            let _ = (read.seek_exact(b"term-33"), read.seek_ceil(b""), read.seek_ceil(b"zzz"));
            Ok::<(), crate::error::Error>(())
        };
        for byte in [0, 1, 0x7F, 0x80, 0xFF] {
            for at in 0..meta.out.len() {
                let mut damaged = meta.out.clone();
                damaged[at] = byte;
                let _ = read(damaged, data.out.clone());
            }
            for at in 0..data.out.len() {
                let mut damaged = data.out.clone();
                damaged[at] = byte;
                let _ = read(meta.out.clone(), damaged);
            }
        }
    }
}
