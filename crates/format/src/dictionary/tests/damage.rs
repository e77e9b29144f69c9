//! Bytes that no writer makes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::super::*;
use super::{Made, changed, decimal, gathered, made, opened, probes, reader, sections, term};
use crate::{numeric, sweep};

/// Calls every method on a damaged dictionary: they must return, with any result.
pub(super) fn survive(damaged: Made, probes: &[Vec<u8>], mode: JumpTables) {
    let Ok(reader) = DictionaryReader::open(opened(damaged), mode) else {
        return;
    };
    let mut out = Vec::new();
    for ord in 0..reader.len() {
        let gathered = gathered(&reader, &[ord]);
        if let Ok(found) = &gathered {
            assert!(found[0].len() <= reader.max_len);
        }
        if reader.term(TermOrd::new(ord), &mut out).is_ok() {
            assert!(out.len() <= reader.max_len);
            assert_eq!(gathered.unwrap(), [out.as_slice()]);
        }
    }
    for probe in probes {
        if let Ok(ord) = reader.seek_ceil(probe) {
            assert!(ord.get() <= reader.len());
        }
        if let Ok(Some(ord)) = reader.seek_exact(probe) {
            assert!(ord.get() < reader.len());
        }
    }
    let _ = reader.for_each(0..reader.len(), |_, term| {
        assert!(term.len() <= reader.max_len);
        ControlFlow::Continue(())
    });
    let _ = reader.verify();
}

fn victims() -> Vec<(Made, Vec<Vec<u8>>)> {
    let small: BTreeSet<Vec<u8>> = (0..70).map(|i| [b"id:".as_slice(), &decimal(i * i)].concat()).collect();
    let wide: BTreeSet<Vec<u8>> = (0..40).map(|i| [vec![b'w'; 300], decimal(i)].concat()).collect();
    [small, wide].map(|set| (made(&set, true), probes(&set, 9))).into()
}

#[test]
fn any_flipped_byte_is_survived() {
    for (made, probes) in victims() {
        for (which, (_, bytes)) in sections(&made).iter().enumerate() {
            for at in 0..bytes.len() {
                // All in the full sweep; otherwise by turns.
                let turn = sweep(at / 2 % 4, 0);
                for flip in [0x01, 0x5a, 0x80, 0xff].into_iter().skip(turn).take(sweep(1, 4)) {
                    let damaged = changed(&made, which, |bytes| bytes[at] ^= flip);
                    survive(damaged, &probes, JumpTables::ALL[at % 2]);
                }
            }
        }
    }
}

#[test]
fn a_section_cut_anywhere_is_survived() {
    for (made, probes) in victims() {
        for (which, (_, bytes)) in sections(&made).iter().enumerate() {
            for len in 0..bytes.len() {
                survive(changed(&made, which, |bytes| bytes.truncate(len)), &probes, JumpTables::Baked);
            }
        }
    }
}

fn refusal(made: Made) -> String {
    match DictionaryReader::open(opened(made), JumpTables::Baked) {
        Ok(reader) => reader.verify().expect_err("verified").kind().to_string(),
        Err(error) => error.kind().to_string(),
    }
}

/// A dictionary with the numbers of `terms`, but with this block.
fn raw(block: &[u8], terms: &[&str]) -> Made {
    Made { blocks: Some(block.to_vec()), ..made(terms, true) }
}

#[test]
fn reading_in_order_refuses_lengths_that_rise() {
    // ab, ac, abd: the third cannot be made from the second.
    let reader = reader(&raw(b"\x01\0\x01\x02\x02\x01\x01abcd", &["ab", "ac", "acd"]), JumpTables::Baked);
    assert_eq!(term(&reader, 2), b"abd");
    let mut found = Vec::new();
    let refused = reader.for_each(0..3, |_, term| {
        found.push(term.to_vec());
        ControlFlow::Continue(())
    });
    assert_eq!(found, [b"ab", b"ac"]);
    let rule = "a term shares more bytes with its block's first term than the term before it";
    assert_eq!(*refused.unwrap_err().kind(), ErrorKind::Broken(rule));
}

#[test]
fn verify_refuses_blocks_that_no_writer_makes() {
    for (block, message) in [
        (&b"\x01\0\x02\x02\x01abc"[..], None),
        (b"\x03\0\x02\x02\x01abc", Some("unknown class of lengths 0x03")),
        (b"\x01\x01\x02\x02\x01abc", Some("the first term of a block declares shared bytes")),
        (
            b"\x01\0\x03\x02\x01abc",
            Some("length shared with the block's first term: expected at most 2, found 3"),
        ),
        (b"\x01\0\x02\x02\x02abc", Some("end of a term in its block: expected at most 8, found 9")),
        (
            b"\x01\0\x01\x02\x02abbc",
            Some("a term shares more bytes with its block's first term than declared"),
        ),
        (b"\x01\0\x01\x02\x02abaa", Some("a term is not greater than the one before it")),
        (b"\x01\0\x02\x02\x00ab", Some("a term is not greater than the one before it")),
        (b"\x01\0\x02\x02\x01abcd", Some("bytes after the last term of a block")),
        (b"\x02\0\0\x02\0\x02\0\x01\0abc", Some("the length fields of a block are wider than necessary")),
        (b"\x01\0\x02\x02\x02abcd", Some("length of a term: expected at most 3, found 4")),
        (b"\x02\0\x02\x02\x01abc", Some("expected 9 bytes, found 8")),
    ] {
        let made = raw(block, &["ab", "abc"]);
        match message {
            Some(message) => assert_eq!(refusal(made), message),
            None => reader(&made, JumpTables::Baked).verify().unwrap(),
        }
    }
}

fn set_offsets(made: &mut Made, offsets: &[i64]) {
    let options = numeric::NumericOptions {
        role: numeric::Role::TermOffsets,
        doubles: false,
        jump_tables: true,
        zones: false,
    };
    made.index.as_mut().unwrap().offsets = numeric::encode(offsets, &options);
}

#[test]
fn verify_refuses_offsets_keys_and_numbers_that_do_not_fit_the_blocks() {
    let good = made((0..70).map(|i| [b"id:".as_slice(), &decimal(i)].concat()), true);
    let names: Vec<Section> = sections(&good).iter().map(|(section, _)| *section).collect();
    assert_eq!(names, [Section::Terms, Section::TermOffsets, Section::TermKeys], "in file order");
    for at in 0..good.index.as_ref().unwrap().keys.len() {
        let message = refusal(changed(&good, 2, |keys| keys[at] ^= 1));
        assert!(message.starts_with("key of a block of terms: expected"), "{message}");
    }
    let bounds = |block| {
        let reader = reader(&good, JumpTables::Baked);
        let section = reader.blocks.as_ref().unwrap();
        i64::try_from(reader.bounds(section, block).unwrap().end).unwrap()
    };
    let (first, second, last) = (bounds(0), bounds(1), bounds(2));
    for (which, (section, bytes)) in sections(&good).iter().enumerate().skip(1) {
        for at in 0..bytes.len() {
            let damaged = changed(&good, which, |bytes| bytes[at] ^= 0x10);
            assert!(!refusal(damaged).is_empty(), "{section} at {at}");
        }
    }
    type Change<'a> = &'a dyn Fn(&mut Made);
    for (change, message) in [
        (
            &(|m: &mut Made| m.index.as_mut().unwrap().prefix = (*b"id:000").into()) as Change,
            "key of a block of terms: expected 3472328089260785664, found 3472275312702652416",
        ),
        (&|m| m.max_len += 1, "length of the longest term: expected 9, found 10"),
        (&|m| m.total_len -= 1, "length of all terms: expected 630, found 629"),
        (
            &|m| m.index.as_mut().unwrap().prefix = [7; 256].into(),
            "length of the prefix: expected at most 255, found 256",
        ),
        (&|m| m.max_len = 100_000, "length of the longest term: expected at most 283, found 100000"),
        (&|m| m.total_len = 631, "length of all terms: expected at most 630, found 631"),
        (&|m| m.count = 32, "the dictionary's sections do not fit its number of terms"),
        (&|m| m.count = 0, "the dictionary's sections do not fit its number of terms"),
        (&|m| m.count = u32::MAX, "least length of the terms: expected at most 283, found 8724152318"),
        (&|m| m.blocks.as_mut().unwrap().push(0), "last term offset: expected 284, found 283"),
        (&|m| m.index.as_mut().unwrap().keys.truncate(16), "length of the term keys: expected 24, found 16"),
        (&|m| m.index.as_mut().unwrap().offsets.count = 5, "number of term offsets: expected 4, found 5"),
        (
            &|m| set_offsets(m, &[-1, first, second, last]),
            "first term offset: expected 0, found 18446744073709551615",
        ),
        (&|m| set_offsets(m, &[0, second, first, last]), "bytes after the last term of a block"),
        (
            &|m| set_offsets(m, &[0, first, first, last]),
            "the offsets of a block of terms descend, or leave the section",
        ),
        (&|m| set_offsets(m, &[0, first, first + 1, last]), "expected 65 bytes, found 1"),
        (&|m| set_offsets(m, &[0, first + 1, second, last]), "bytes after the last term of a block"),
    ] {
        let mut bad = good.clone();
        change(&mut bad);
        assert_eq!(refusal(bad), message);
    }
}
