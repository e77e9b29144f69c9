//! Values in DEFLATE blocks: decoding, caching and refused input.

use super::*;
use crate::sweep;

const BLOCK: u64 = DEFLATE_BLOCK as u64;

/// Values of about `len` bytes together, of words and numbers.
fn texts(len: usize) -> Vec<Vec<u8>> {
    let words = ["river ", "mountain ", "the quick ", "desert ", "\u{fe}\u{ff}", ""];
    let mut made = 0;
    (0_usize..)
        .map(|i| {
            let (number, remainder) = (i as u64 * 2_654_435_761 % 10_007, i % 6);
            format!("{}{}{number}", words[remainder * 7 % 6], words[remainder * remainder % 6]).into_bytes()
        })
        .take_while(|value| {
            made += value.len();
            made <= len
        })
        .collect()
}

fn blocks_of(made: &mut Made) -> &mut DeflateBlocks<Vec<u8>> {
    match &mut made.coding {
        Coding::Deflate(blocks) => blocks,
        other => panic!("{other:?}"),
    }
}

fn in_blocks<T: AsRef<[u8]>>(values: &[T]) -> Made {
    made_as(values, &BinaryOptions { compression: Compression::Block, jump_tables: true })
}

#[test]
fn values_lie_across_blocks() {
    let mut values = texts(20_000);
    // One value ends with a block, one is exactly a block, one is longer than three, with empty values between them.
    let used: usize = values.iter().map(Vec::len).sum();
    for len in [4096 - used % 4096, 0, 4096, 0, 3 * 4096 + 5, 0, 1] {
        values.push(b"ab".iter().copied().cycle().take(len).collect());
    }
    values.extend(texts(10_000));
    let order: Vec<u32> = (0..300).map(|i| i * 7_919 % u32::try_from(values.len()).unwrap()).collect();
    holds(&values, &order);
    let made = in_blocks(&values);
    assert_eq!(made.coding.name(), "deflate");
}

#[test]
fn a_long_column_has_a_preset_dictionary() {
    for (len, preset) in [(20_000, 0), (200_000, 200_000 / 128), (5_000_000, MAX_PRESET)] {
        let values = texts(len);
        let mut made = in_blocks(&values);
        let found = blocks_of(&mut made).preset.as_ref().map_or(0, Vec::len);
        assert!(found.abs_diff(preset) < 3, "{found}");
        let reader = open(made, JumpTables::Baked).unwrap();
        reader.verify().unwrap();
        let last = values.len() as u64 - 1;
        let mut buffer = Vec::new();
        let value = reader.get(last, &mut buffer);
        assert_eq!(value.ok(), values.last().map(Vec::as_slice));
    }
}

#[test]
fn incompressible_blocks_are_stored_uncompressed() {
    let noise: Vec<u8> =
        (0..2_048_u64).flat_map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect();
    let values: Vec<&[u8]> = noise.chunks(100).collect();
    assert_eq!(in_blocks(&values).coding, Coding::Raw);
    // Two blocks of noise among others.
    let mut values = texts(30_000);
    values.insert(0, noise[..9_000].to_vec());
    let mut made = in_blocks(&values);
    let first = blocks_of(&mut made).ends[..8].to_vec();
    assert_eq!(first, BLOCK.to_le_bytes());
    holds(&values, &[0, 1, 0, 5]);
}

#[test]
fn neighbours_do_not_decode_a_block_again() {
    let values = texts(30_000);
    let reader = open(in_blocks(&values), JumpTables::Baked).unwrap();
    let scratch = &mut Scratch::default();
    let mut decoded = Vec::new();
    for index in 0..values.len() as u64 {
        let value = reader.get_next(index, scratch).unwrap().as_ptr();
        decoded.push(value);
    }
    // Within a block, the next value follows the one before in the same memory.
    let moves =
        decoded.windows(2).zip(&values).filter(|(pair, value)| pair[0].wrapping_add(value.len()) != pair[1]);
    assert!(moves.count() <= 2 * 30_000 / DEFLATE_BLOCK);
}

fn refusal(made: Made) -> String {
    match open(made, JumpTables::Baked) {
        Ok(reader) => reader.verify().expect_err("verified").kind().to_string(),
        Err(error) => error.kind().to_string(),
    }
}

#[test]
fn parts_that_disagree_are_refused() {
    let good = in_blocks(&texts(200_000));
    let change = |change: &dyn Fn(&mut DeflateBlocks<Vec<u8>>)| {
        let mut made = good.clone();
        change(blocks_of(&mut made));
        made
    };
    let len = blocks_of(&mut good.clone()).ends.len() as u64;
    let cut = change(&|blocks| blocks.ends.truncate(40));
    assert_eq!(refusal(cut), format!("length of the block ends: expected {len}, found 40"));
    let long = change(&|blocks| blocks.total_len += 1 << 20);
    assert!(refusal(long).starts_with("length of the block ends: expected"), "a total of more blocks");
    let more = change(&|blocks| blocks.total_len += 1);
    assert!(refusal(more).starts_with("last offset: expected"));
    let empty = change(&|blocks| blocks.preset = Some(Vec::new()));
    assert_eq!(refusal(empty), "the preset dictionary is empty");
    let large = change(&|blocks| blocks.preset = Some(vec![0; MAX_PRESET + 1]));
    assert_eq!(refusal(large), "length of the preset dictionary: expected at most 28672, found 28673");
    let beyond = change(&|blocks| blocks.ends[6] = 1);
    assert!(refusal(beyond).starts_with("end of a block: expected"));
    let longer = Binary { bytes: good.bytes.clone().map(|bytes| [bytes, vec![0]].concat()), ..good.clone() };
    assert!(refusal(longer).starts_with("end of the last block: expected"));
    let other = change(&|blocks| blocks.preset = None);
    assert!(refusal(other).starts_with("a block "), "without its preset dictionary");
}

/// A block that unpacks to a wrong size is refused.
#[test]
fn blocks_of_another_length_are_refused() {
    let values = vec![vec![b'a'; 5_000]; 4];
    let good = in_blocks(&values);
    let one = in_blocks(&[vec![b'a'; 4_000], vec![b'a'; 90]]).bytes.unwrap();
    let mut made = good;
    made.bytes = Some(one.repeat(5));
    let ends = (1..=5).flat_map(|block| (block * one.len() as u64).to_le_bytes());
    blocks_of(&mut made).ends = ends.collect();
    let reader = open(made, JumpTables::Baked).unwrap();
    let (buffer, scratch) = (&mut Vec::new(), &mut Scratch::default());
    let kind = ErrorKind::Broken("a block does not unpack to its declared size");
    assert_eq!(*reader.get_next(0, scratch).unwrap_err().kind(), kind);
    assert_eq!(*reader.get(1, buffer).unwrap_err().kind(), kind);
    // After an error, the cache holds no blocks: neither of the two that the value lies in.
    for _ in 0..2 {
        assert_eq!(*reader.get_next(0, scratch).unwrap_err().kind(), kind);
    }
    assert_eq!(*reader.gather(&[3], scratch, |_| {}).unwrap_err().kind(), kind);
    assert_eq!(*reader.verify().unwrap_err().kind(), kind);
}

/// Every byte of every section, of both codings.
#[test]
fn damaged_sections_are_refused_or_survived() {
    for good in [Compression::Fsst, Compression::Block].map(coded) {
        let mut sections = Vec::new();
        let Ok(_) = good.clone().try_map(&mut |section, bytes| {
            sections.push((section, bytes.len()));
            Ok::<_, Infallible>(bytes)
        });
        assert_eq!(sections[0].0, Section::Bytes);
        assert!(matches!(sections[1].0, Section::Symbols | Section::BlockEnds));
        for (which, (_, len)) in sections.into_iter().enumerate() {
            // All flips in the full sweep; otherwise by turns.
            let flips = |at| [0x01, 0x80, 0xff].into_iter().skip(sweep(at / 3 % 3, 0)).take(sweep(1, 3));
            for (at, flip) in (0..len).flat_map(|at| flips(at).map(move |flip| (at, flip))) {
                let mut number = 0;
                let Ok(bad) = good.clone().try_map(&mut |_, mut bytes| {
                    if number == which {
                        bytes[at] ^= flip;
                    }
                    number += 1;
                    Ok::<_, Infallible>(bytes)
                });
                survive(bad, JumpTables::ALL[at % 2]);
            }
        }
    }
}
