//! The bytes of small columns, which can be checked by eye.

use super::*;
use crate::granule::SectionRef;

fn le(fields: &[&[u8]]) -> Vec<u8> {
    fields.concat()
}

#[test]
fn a_packed_block_is_a_header_and_its_residuals() {
    // 100 to 107: the smallest value is subtracted, which leaves 3 bits.
    let values: Vec<i64> = (100..108).collect::<Vec<_>>().repeat(64);
    let column = encode(&values, &VALUES);
    assert_eq!(column.transform, Transform::Affine { base: 100, gcd: 1 });
    assert_eq!((column.block_shift, column.stride), (ONE_BLOCK, Stride::Short));

    let header = le(&[&0_u64.to_le_bytes(), &[1], &[3], &[2, 0, 0, 0, 0, 0]]);
    let residuals = [0b1000_1000, 0b1100_0110, 0b1111_1010].repeat(64);
    assert_eq!(column.blocks.unwrap(), le(&[&header, &residuals]));
    assert_eq!(column.jump, None, "a single block");
    assert_eq!(column.zones, None, "a single zone");
}

#[test]
fn residuals_of_seventeen_bits_are_padded_to_a_word() {
    // 0, and 2 up to 0x1_0000 and beyond; three values would rather be a table, so offsets.
    let column =
        encode(&[7_i64, 0x1_0008, 9], &NumericOptions { role: Role::Offsets, jump_tables: false, ..VALUES });
    let header = le(&[&0_u64.to_le_bytes(), &[1], &[17], &[2, 0, 0, 0, 0, 0]]);
    // Bits 17 to 33: 0x1_0001; bits 34 to 50: 2.
    let word = (0x1_0001_u64 << 17 | 2 << 34).to_le_bytes();
    assert_eq!(column.blocks.unwrap(), le(&[&header, &word]));
    assert_eq!(column.jump, None);
}

#[test]
fn a_line_has_a_slope_of_sixteen_fractional_bits() {
    // Up by 2.5 on average: 0, 2, 5, 7, 10, ..., but for one value which is 3 above.
    let mut values: Vec<i64> = (0..513).map(|i| i * 5 / 2).collect();
    values[100] += 3;
    let column = encode(&values, &VALUES);
    assert_eq!(column.stride, Stride::Long);

    let header =
        le(&[&0_u64.to_le_bytes(), &[2], &[2], &[4, 0, 0, 0, 0, 0], &(5_i64 << 15).to_le_bytes(), &[0; 8]]);
    let blocks = column.blocks.unwrap();
    assert_eq!(blocks[..32], header);
    assert_eq!(blocks.len(), 32 + 136, "513 residuals of 2 bits, padded");
    // Residual 100 is 3, all others are 0.
    let mut residuals = [0; 136];
    residuals[25] = 0b11;
    assert_eq!(blocks[32..], residuals);
    assert_eq!(column.jump, None);
}

#[test]
fn a_jump_table_holds_the_headers_again() {
    // Two plateaus of eight values each, and no line from one to the other.
    let values: Vec<i64> = (0..1024).map(|i| i % 8 + (i / 512) * 1_000_000).collect();
    let column = encode(&values, &NumericOptions { role: Role::Offsets, ..VALUES });
    assert_eq!((column.block_shift, column.stride), (9, Stride::Short));
    let first = le(&[&0_u64.to_le_bytes(), &[1], &[3], &[2, 0, 0, 0, 0, 0]]);
    // 512 residuals of 3 bits and two headers lie before the second payload: unit 28.
    let second = le(&[&1_000_000_u64.to_le_bytes(), &[1], &[3], &[28, 0, 0, 0, 0, 0]]);
    let blocks = column.blocks.unwrap();
    assert_eq!((&blocks[..16], &blocks[208..224]), (&*first, &*second));
    assert_eq!(column.jump.unwrap(), le(&[&first, &second]));
}

#[test]
fn the_line_may_fall_and_is_rounded_down() {
    let values: Vec<i64> = (0..1024).map(|i| -(i * 7) / 3).collect();
    let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
    let header = reader.locate(0).unwrap();
    assert_eq!(header.encoding, Encoding::Linear);
    // -2.334... in sixteenths of a bit; one unit of the last place below -7/3.
    assert!((-153_000..-152_800).contains(&header.slope), "{}", header.slope);
    for (i, &value) in values.iter().enumerate() {
        assert_eq!(reader.get(i as u64), Ok(value));
    }
}

#[test]
fn a_table_holds_the_distinct_values_in_ascending_order() {
    let values = [i64::MAX, -5, i64::MAX, 1 << 40].repeat(20);
    let column = encode(&values, &NumericOptions { jump_tables: false, ..VALUES });
    let table = le(&[&(-5_i64).to_le_bytes(), &(1_i64 << 40).to_le_bytes(), &i64::MAX.to_le_bytes()]);
    assert_eq!(column.transform, Transform::Table(table));
    let header = le(&[&0_u64.to_le_bytes(), &[1], &[2], &[2, 0, 0, 0, 0, 0]]);
    // 2, 0, 2, 1, lowest bits first.
    let residuals = le(&[&[0b01_10_00_10; 20], &[0; 4]]);
    assert_eq!(column.blocks.unwrap(), le(&[&header, &residuals]));
}

#[test]
#[cfg_attr(miri, ignore = "more values than Miri has time for")]
fn zones_are_the_ends_of_4096_and_of_262144_values() {
    let values: Vec<i64> = (0..262_145).collect();
    let zones = encode(&values, &VALUES).zones.unwrap();
    let zone = |min: i64, max: i64| le(&[&min.to_le_bytes(), &max.to_le_bytes()]);
    assert_eq!(zones.len(), (65 + 2) * ZONE_LEN);
    assert_eq!(zones[..16], zone(0, 4095));
    assert_eq!(zones[64 * 16..], le(&[&zone(262_144, 262_144), &zone(0, 262_143), &zone(262_144, 262_144)]));
}

#[test]
fn fine_zones_are_the_ends_of_512_values_in_a_byte_each() {
    // Two zones: from 0 to 4,095, and from 100 to 103.
    let values: Vec<i64> = (0..4096).chain((0..1000).map(|i| 100 + i % 2 + i / 512 * 2)).collect();
    let fine_zones = encode(&values, &VALUES).fine_zones.unwrap();
    // 512, 1,024 and 1,536 are 4 << 7, 4 << 8 and 6 << 8; 511 is rounded down to 7 << 6.
    let codes = [0, 32, 36, 38, 40, 41, 42, 43];
    let below = [0, 31, 35, 37, 39, 40, 41, 42];
    let expected = (0..8).flat_map(|i| [codes[i], if i == 7 { 0 } else { below[7 - i] + 1 }]);
    assert_eq!(fine_zones, expected.chain([0, 2, 2, 0]).collect::<Vec<u8>>());
    // All there is.
    let values = [&[i64::MIN; 512][..], &[i64::MAX; 512], &[0; 512], &[-1; 512], &[1 << 56; 4096]].concat();
    let fine_zones = encode(&values, &VALUES).fine_zones.unwrap();
    assert_eq!(fine_zones[..8], [0, 251, 251, 0, 248, 247, 247, 248]);
    assert_eq!(fine_zones[8..], [&[248, 247].repeat(4)[..], &[0; 8]].concat());
}

#[test]
fn nothing_and_one_value_repeated_have_no_sections() {
    for (values, value) in [(&[][..], 0), (&[-9_i64], -9), (&[3; 100_000], 3)] {
        let column = encode(values, &VALUES);
        assert_eq!((column.count, column.min, column.max), (values.len() as u64, value, value));
        assert_eq!(column.transform, Transform::Constant(value));
        assert_eq!((column.blocks, column.jump, column.zones, column.fine_zones), (None, None, None, None));
    }
}

#[test]
fn the_directory_holds_36_bytes_and_the_references() {
    let mut offset = 64;
    // Multiples of 1,000; a hundred after the first 4,096 make one block dear.
    let values: Vec<i64> = (0..9_000).map(|i| 1000 + i % 3 * 1000 + i / 4096 * 1_000_000_000).collect();
    let column = encode(&values, &VALUES).try_map(&mut |_, bytes: Vec<u8>| {
        offset += 64;
        Ok::<_, ()>(SectionRef { offset, len: bytes.len() as u64, crc: 7 })
    });
    let column = column.unwrap();
    let mut bytes = Vec::new();
    column.encode_meta(&mut bytes);
    let fields = le(&[
        &9_000_u64.to_le_bytes(),
        &1000_i64.to_le_bytes(),
        &2_000_003_000_i64.to_le_bytes(),
        &1000_u64.to_le_bytes(),
        &[1, 12, 16, 0b11],
    ]);
    let reference =
        |offset: u64, len: u64| le(&[&offset.to_le_bytes(), &len.to_le_bytes(), &7_u32.to_le_bytes()]);
    let blocks = reference(128, 3 * 16 + 2 * 1024 + 808 / 4 + 6);
    assert_eq!(bytes, le(&[&fields, &blocks, &reference(192, 3 * 16), &reference(256, 4 * 16)]));

    let place = crate::error::Place { section: Section::DirectoryPage, offset: 0 };
    let read = Numeric::decode_meta(&mut Cursor::new(place, &bytes), Role::Values).unwrap();
    // The fine zones are not part of the metadata.
    assert_eq!(read, Numeric { fine_zones: None, ..column });
    assert!(Numeric::decode_meta(&mut Cursor::new(place, &bytes), Role::Offsets).is_err(), "no zones there");
}
