use byteorder::{ByteOrder as _, LittleEndian};

use super::*;
use crate::hash::hash;
use docvalues_format::error::Section;
use docvalues_format::source::Owned;

fn filter(keys: u32, bits: u8) -> BloomFilter<Owned> {
    let mut builder = BloomFilterBuilder::new(keys, bits);
    (0..keys).for_each(|key| builder.insert(hash(&key.to_le_bytes(), 7)));
    let section = Owned::new(Section::IdFilter, builder.finish().unwrap());
    BloomFilter::open(section, keys, bits).unwrap()
}

#[test]
fn keys_pass_and_few_others_do() {
    // Of a thousand: what was measured, and some.
    for (bits, per_thousand) in [(4, 350.0), (8, 32.0), (10, 12.0), (16, 1.1), (24, 0.13), (32, 0.05)] {
        for keys in [1, 2, 31, 32, 33, 2_500, 50_000] {
            let filter = filter(keys, bits);
            let may = |key: u32| filter.may_hold(&Probe::new(hash(&key.to_le_bytes(), 7))).unwrap();
            assert!((0..keys).all(may), "{keys} keys, {bits} bits");
            if keys < 2_500 {
                continue;
            }
            let asked = 400_000;
            let wrong = (keys..keys + asked).filter(|&key| may(key)).count();
            let rate = wrong as f64 * 1000.0 / f64::from(asked);
            assert!(rate <= per_thousand, "{keys} keys, {bits} bits: {rate} of 1,000");
            // Too few bits set would be as wrong: then the bits of an id depend on each other.
            assert!(keys < 50_000 || rate >= per_thousand / 4.0, "{keys} keys, {bits} bits: {rate} of 1,000");
        }
    }
}

#[test]
fn bits_are_the_ones_in_files() {
    let mut builder = BloomFilterBuilder::new(64, 16);
    builder.insert(0x8000_0000_0000_0003);
    let bytes = builder.finish().unwrap();
    assert_eq!(bytes.len(), 128);
    assert!(bytes[..64].iter().all(|&b| b == 0), "the upper half of hashes is in the upper line");
    let expected = SALTS.map(|salt| 1_u64 << (salt.wrapping_mul(3) >> 26));
    let found: Vec<u64> = bytes[64..].chunks(8).map(LittleEndian::read_u64).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_section_of_another_length_is_refused() {
    let section = |len| Owned::new(Section::IdFilter, vec![0; len]);
    assert!(BloomFilter::open(section(128), 64, 16).is_ok());
    for (len, keys, bits) in
        [(0, 0, 16), (0, 64, 0), (127, 64, 16), (192, 64, 16), (128, 65, 16), (64, 64, 16)]
    {
        assert!(BloomFilter::open(section(len), keys, bits).is_err(), "{len} {keys} {bits}");
    }
}
