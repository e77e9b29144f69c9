//! Byte strings of every encoding are written and read.

use super::*;
use crate::lz4;
use crate::monotonic;
use crate::order::Order;
use crate::presence;
use crate::testing::{Encoder, body};

/// Appends the entry of byte strings of these documents, and their bytes.
pub(crate) fn encode(
    meta: &mut Encoder,
    data: &mut Encoder,
    docs: u32,
    strings: &[(u32, &[u8])],
    (has_tables, is_compressed): (bool, bool),
) {
    let start = data.offset();
    let (mut chunks, mut addresses, mut longest) = (Vec::new(), vec![0], 0);
    if is_compressed {
        for chunk in strings.chunks(32) {
            chunks.push(data.offset());
            let lens: Vec<usize> =
                (0..32).map(|at| chunk.get(at).map_or(0, |(_, bytes)| bytes.len())).collect();
            if lens.iter().all(|len| *len == lens[0]) {
                data.vint((lens[0] << 1 | 1) as i32);
            } else {
                data.vint((lens[0] << 1) as i32);
                lens[1..].iter().for_each(|len| {
                    data.vint(*len as i32);
                });
            }
            let all: Vec<u8> = chunk.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
            longest = longest.max(all.len());
            if !all.is_empty() {
                data.bytes(&lz4::tests::compress(&[], &all));
            }
        }
    } else {
        for (_, bytes) in strings {
            data.bytes(bytes);
            addresses.push(data.offset() - start);
        }
    }
    meta.i64(start).i64(data.offset() - start);
    let with_value: Vec<u32> = strings.iter().map(|(doc, _)| *doc).collect();
    presence::tests::encode(meta, data, docs, &with_value, has_tables);
    let lens = || strings.iter().map(|(_, bytes)| bytes.len() as i32);
    let (min, max) = (lens().min().unwrap_or(i32::MAX), lens().max().unwrap_or(0));
    meta.i32(strings.len() as i32).i32(min).i32(max);
    if is_compressed && !strings.is_empty() {
        let offset = data.offset();
        meta.i64(offset).vint(chunks.len() as i32).vint(5).vint(longest as i32).vint(4);
        monotonic::tests::encode(meta, data, 4, &chunks);
        meta.i64(data.offset() - offset);
    } else if min < max {
        let offset = data.offset();
        meta.i64(offset).vint(6);
        monotonic::tests::encode(meta, data, 6, &addresses);
        meta.i64(data.offset() - offset);
    }
}

fn shapes() -> Vec<Vec<Vec<u8>>> {
    vec![
        vec![],
        vec![vec![]; 40],
        vec![b"same".to_vec(); 100],
        (0..100).map(|at| format!("{at:04}").into_bytes()).collect(),
        (0..500).map(|at: u32| format!("text {at}").repeat(at as usize % 4).into_bytes()).collect(),
        vec![vec![7; 1 << 20], vec![], vec![8; 1 << 20], vec![9; 5]],
    ]
}

fn open(order: Order, strings: &[Vec<u8>], has_tables: bool, is_compressed: bool) -> Result<ByteStrings> {
    let docs = strings.len() as u32 + 1;
    let all: Vec<(u32, &[u8])> = (1..).zip(strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
    let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
    encode(&mut meta, &mut data, docs, &all, (has_tables, is_compressed));
    let meta = body(meta);
    let mut cursor = Cursor::new(&meta);
    let entry = BinaryEntry::read(&mut cursor, has_tables, is_compressed)?;
    cursor.end()?;
    ByteStrings::open(&entry, &Arc::new(body(data)))
}

#[test]
fn byte_strings_are_read_as_they_were_written() {
    for strings in shapes() {
        for order in [Order::Big, Order::Little] {
            for (has_tables, is_compressed) in [(false, false), (true, false), (true, true)] {
                if is_compressed && strings.iter().map(Vec::len).sum::<usize>() > 1 << 16 {
                    continue; // The compressor of tests is slow.
                }
                let read = open(order, &strings, has_tables, is_compressed).unwrap();
                let (mut scratch, count) = (Scratch::default(), strings.len() as u64);
                for at in (0..strings.len()).chain((0..strings.len()).rev().step_by(7)) {
                    assert_eq!(read.get(at as u64, &mut scratch).unwrap(), strings[at]);
                }
                assert!(read.get(count, &mut scratch).is_err());
                let mut indices: Vec<u32> = (0..strings.len() as u32).rev().collect();
                indices.insert(indices.len() / 2, NO_VALUE);
                let string = |index: &u32| strings.get(*index as usize).map_or(&[][..], |string| &string[..]);
                let mut lists = Lists::new();
                read.gather(&indices, &mut scratch, &mut lists).unwrap();
                assert!(lists.slices().iter().eq(indices.iter().map(string)));
                assert!(read.gather(&[count as u32], &mut scratch, &mut lists).is_err());
                for from in [0, 1, count / 2] {
                    let mut at = from;
                    while at < count {
                        let run = read.run(at..count, &mut scratch).unwrap();
                        for pair in run.offsets.windows(2) {
                            let [start, end] = [pair[0], pair[1]].map(|end| (end - run.offsets[0]) as usize);
                            assert_eq!(run.bytes[start..end], strings[at as usize]);
                            at += 1;
                        }
                    }
                }
                assert!(read.run(0..count + 1, &mut scratch).is_err());
            }
        }
    }
}

#[test]
fn a_chunk_is_no_longer_than_metadata_says() {
    let strings: Vec<Vec<u8>> = (0..40).map(|at: usize| vec![b'x'; at % 5]).collect();
    let all: Vec<(u32, &[u8])> = (1..).zip(&strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
    let (mut meta, mut data) = (Encoder::new(Order::Big), Encoder::new(Order::Big));
    encode(&mut meta, &mut data, 41, &all, (true, true));
    let (meta, data) = (body(meta), Arc::new(body(data)));
    let mut entry = BinaryEntry::read(&mut Cursor::new(&meta), true, true).unwrap();
    for less in [0, 1] {
        entry.chunks.as_mut().unwrap().longest -= less;
        let read = ByteStrings::open(&entry, &data).unwrap();
        assert_eq!(read.get(7, &mut Scratch::default()).is_ok(), less == 0);
        assert!(read.get(39, &mut Scratch::default()).is_ok(), "the last chunk is shorter");
    }
}

#[test]
fn hostile_bytes_are_errors_or_other_strings() {
    let strings: Vec<Vec<u8>> = (0..40).map(|at: usize| vec![b'x'; at % 5]).collect();
    let all: Vec<(u32, &[u8])> = (1..).zip(&strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
    for kinds @ (has_tables, is_compressed) in [(true, true), (true, false)] {
        let (mut meta, mut data) = (Encoder::new(Order::Big), Encoder::new(Order::Big));
        encode(&mut meta, &mut data, 41, &all, kinds);
        let read = |meta: Vec<u8>, data: Vec<u8>| {
            let meta = body(Encoder::of_bytes(Order::Big, meta));
            let entry = BinaryEntry::read(&mut Cursor::new(&meta), has_tables, is_compressed)?;
            let data = Arc::new(body(Encoder::of_bytes(Order::Big, data)));
            let (read, mut scratch) = (ByteStrings::open(&entry, &data)?, Scratch::default());
            for at in [0, 39, 7, 33] {
                let _ = read.get(at, &mut scratch);
                let _ = read.run(at..40, &mut scratch);
            }
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
