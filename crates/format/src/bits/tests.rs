use proptest::prelude::*;

use super::*;

fn packed(values: &[u64], width: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(values.iter().copied(), width, &mut bytes);
    assert_eq!(bytes.len() as u64, packed_len(values.len() as u64, width));
    bytes
}

fn readable(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len() + OVERREAD, 0xA5);
    bytes
}

#[test]
#[expect(clippy::unusual_byte_groupings, reason = "a group is an integer")]
fn eight_integers_of_three_bits_are_three_bytes_and_padding() {
    let bytes = packed(&[0, 1, 2, 3, 4, 5, 6, 7], 3);
    assert_eq!(bytes, [0b10_001_000, 0b1_100_011_0, 0b111_110_10, 0, 0, 0, 0, 0]);
}

#[test]
fn integers_of_seventeen_bits_straddle_words() {
    let bytes = packed(&[0x1_ABCD, 0, 0x1_0001, 0x0_8000], 17);
    assert_eq!(bytes, [0xCD, 0xAB, 0x01, 0, 0x04, 0, 0x04, 0, 0x04, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn integers_of_sixty_four_bits_are_words() {
    let bytes = packed(&[u64::MAX, 1], 64);
    assert_eq!(bytes, [255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn width_zero_takes_no_bytes() {
    assert_eq!(packed(&[0; 100], 0), []);
    assert_eq!(get(&readable(Vec::new()), 0, 99), Some(0));
}

#[test]
fn widths_that_one_load_cannot_serve_are_rounded_up_and_refused() {
    let legal: Vec<u8> = (0..=255).filter(|&w| is_width(w)).collect();
    assert_eq!(legal, (0..=56).chain([64]).collect::<Vec<_>>());
    for shift in 0..64 {
        let width = width_of(1 << shift);
        assert!(is_width(width) && u32::from(width) > shift, "{width} bits for 1 << {shift}");
    }
    assert_eq!((width_of(0), width_of(u64::MAX)), (0, 64));
    for width in (57..=63).chain([65, 255]) {
        assert_eq!(get(&[0; 4096], width, 3), None);
        assert_eq!(unpack(&[0; 4096], width, 3, &mut [0; 2]), None);
    }
}

#[test]
fn what_lies_outside_is_none() {
    let bytes = readable(packed(&[1, 2, 3], 8));
    assert_eq!(get(&bytes, 8, 8), Some(0xA5));
    assert_eq!(get(&bytes, 8, 9), None);
    assert_eq!(get(&bytes, 56, usize::MAX), None);
    assert_eq!(unpack(&bytes, 8, 8, &mut [0; 2]), None);
    assert_eq!(unpack(&bytes, 64, 1, &mut [0; 1]), Some(()));
    assert_eq!(unpack(&bytes, 64, 1, &mut [0; 2]), None);
    assert_eq!(unpack(&bytes, 56, usize::MAX, &mut [0; 2]), None);
}

proptest! {
    #[test]
    fn what_was_packed_is_read_back(
        width in prop_oneof![0_u8..=56, Just(64)],
        values in prop::collection::vec(any::<u64>(), 0..300),
        start in 0_usize..300,
    ) {
        let values: Vec<u64> = values.iter().map(|v| v & mask(width)).collect();
        let bytes = readable(packed(&values, width));
        let got: Vec<_> = (0..values.len()).map(|i| get(&bytes, width, i)).collect();
        prop_assert_eq!(&got, &values.iter().copied().map(Some).collect::<Vec<_>>());

        let start = start.min(values.len());
        let mut run = vec![0; values.len() - start];
        prop_assert_eq!(unpack(&bytes, width, start, &mut run), Some(()));
        prop_assert_eq!(&run, &values[start..]);
    }
}
