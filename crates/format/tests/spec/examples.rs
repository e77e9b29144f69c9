//! Every hexadecimal example, compared with the output of the encoders.

use std::convert::Infallible;

use docvalues_format::binary::{
    self, Binary, BinaryOffsets, BinaryOptions, BinaryReader, Coding, Compression, ESCAPE,
};
use docvalues_format::bits;
use docvalues_format::dictionary;
use docvalues_format::file::kind::from_f64;
use docvalues_format::granule::seal;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{NumericOptions, Role, encode};
use docvalues_format::source::Owned;

use crate::document::Document;
use crate::parts::{numbers, present_sections, whole_file};

/// The bytes that the example `name` must show.
fn made(name: &str) -> Vec<u8> {
    match name {
        "checksums" => seal(vec![0x61; 5_000]).0[5_120..].to_vec(),
        "packed" => {
            let mut bytes = Vec::new();
            bits::pack(&[5, 1, 7], 3, &mut bytes);
            bytes
        }
        "numeric-packed" => numbers(&[1000, 1030, 1010, 1070], Role::Values).blocks.unwrap(),
        "numeric-linear" => {
            let mut values: Vec<i64> = (0..65).map(|i| i * 5 / 2).collect();
            values[5] += 3;
            let options =
                NumericOptions { role: Role::Values, doubles: false, jump_tables: false, zones: false };
            encode(&values, &options).blocks.unwrap()
        }
        "numeric-decimal" => {
            let options =
                NumericOptions { role: Role::Values, doubles: true, jump_tables: false, zones: false };
            encode(&[12.5, 12.75, -3.25].map(from_f64), &options).blocks.unwrap()
        }
        "fine zones" => numbers(&(0..5_000).collect::<Vec<_>>(), Role::Values).fine_zones.unwrap(),
        "presence-runs" => full_and_runs().0,
        "presence-jump" => full_and_runs().1,
        "presence-list" => present_sections(65_536, [3, 700, 65_534]).0,
        "presence-sparse" => present_sections(65_536, (0..257).map(|i| i * 2)).0,
        "presence-dense" => present_sections(600, (0..600).step_by(2).chain([599])).0,
        "binary-offsets" => {
            let options = BinaryOptions { compression: Compression::None, jump_tables: true };
            match binary::encode(b"wrenyew".to_vec(), &[4, 4, 7], &options).unwrap().offsets {
                BinaryOffsets::Variable(offsets) => offsets.blocks.unwrap(),
                BinaryOffsets::Fixed(len) => panic!("all of {len} bytes"),
            }
        }
        "symbols" => symbols(),
        "tokens" => tokens(),
        "terms" => dictionary::encode([&b"wren"[..], b"wrestle", b"yew"], true).unwrap().blocks.unwrap(),
        "term-keys" => {
            let terms: Vec<String> = (0..33).map(|i| format!("t{i:02}")).collect();
            let made = dictionary::encode(terms.iter().map(String::as_bytes), true).unwrap();
            let index = made.index.unwrap();
            assert_eq!(*index.prefix, *b"t");
            index.keys
        }
        "whole-file" => whole_file(),
        _ => panic!("nothing makes the example {name:?}"),
    }
}

/// A symbol table that the writer would not create for so few bytes, but that readers accept.
fn symbols() -> Vec<u8> {
    let symbols = vec![2, 2, 1, b'a', b'b', b'c'];
    let coding = Coding::Fsst { total_len: 5, symbols: symbols.clone() };
    let bytes = Some(vec![0, 1, ESCAPE, b'x', 1]);
    let made = Binary { count: 1, bytes, coding, offsets: BinaryOffsets::Fixed(5) };
    let opened = made.try_map(&mut |section, bytes| Ok::<_, Infallible>(Owned::new(section, bytes)));
    let reader = BinaryReader::open(opened.unwrap(), JumpTables::Baked).unwrap();
    assert_eq!(reader.get(0, &mut Vec::new()).unwrap(), b"abcxc");
    reader.verify().unwrap();
    symbols
}

/// As [`symbols`], for tokens.
fn tokens() -> Vec<u8> {
    let tokens = vec![2, 0, 2, 3, b'a', b'b', b'c', b'd', b'e'];
    let coding = Coding::OnPair { total_len: 6, tokens: tokens.clone() };
    let bytes = Some(vec![0x00, 0x81, 0x07, 0x01, 0x01]);
    let made = Binary { count: 1, bytes, coding, offsets: BinaryOffsets::Fixed(3) };
    let opened = made.try_map(&mut |section, bytes| Ok::<_, Infallible>(Owned::new(section, bytes)));
    let reader = BinaryReader::open(opened.unwrap(), JumpTables::Baked).unwrap();
    assert_eq!(reader.get(0, &mut Vec::new()).unwrap(), b"abxcde");
    reader.verify().unwrap();
    tokens
}

fn full_and_runs() -> (Vec<u8>, Vec<u8>) {
    present_sections(65_566, (0..65_536).chain([10, 11, 20].map(|doc| 65_536 + doc)))
}

/// The bytes in the form of an example, without comments.
fn dump(bytes: &[u8]) -> String {
    let shown = |(line, bytes): (usize, &[u8])| {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:03x}  {}\n", line * 16, hex.join(" "))
    };
    bytes.chunks(16).enumerate().filter(|(_, line)| line.iter().any(|&b| b != 0)).map(shown).collect()
}

#[test]
fn every_example_is_what_the_encoders_make() {
    let spec = Document::spec();
    let names = spec.examples();
    assert!(names.contains(&"whole-file"));
    for name in names {
        let (made, mut shown) = (made(name), spec.example(name));
        if name == "checksums" {
            shown.drain(..5_120);
        }
        let differ =
            made.iter().zip(&shown).position(|(made, shown)| shown.is_some_and(|shown| shown != *made));
        assert_eq!((differ, shown.len()), (None, made.len()), "{name}:\n{}", dump(&made));
    }
}
