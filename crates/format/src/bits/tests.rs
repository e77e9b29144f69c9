use proptest::prelude::*;

use super::*;
use crate::id::TermOrd;

fn packed(values: &[u64], width: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(values, width, &mut bytes);
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
fn reads_outside_of_the_bytes_return_none() {
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

proptest! {
    /// Kernels agree with the scalar loop, wherever the integers begin and end.
    #[test]
    fn every_kernel_agrees_with_the_scalar_loop(
        width in 1..=MAX_SPLIT_WIDTH,
        values in prop::collection::vec(any::<u64>(), 0..400),
        start in 0_usize..40,
        base: u64,
    ) {
        let bytes = readable(packed(&values, width));
        let start = start.min(values.len());
        let mut expected = vec![0; values.len() - start];
        unpack_scalar(&bytes, width, start, base, &mut expected).unwrap();
        for (name, kernel) in unpack_kernels::available() {
            let mut got = vec![7; expected.len()];
            prop_assert!(with_kernel(kernel, &bytes, width, start, base, &mut got).is_some());
            prop_assert_eq!(&got, &expected, "{}, width {}", name, width);
        }
        let mut got = vec![7; expected.len()];
        unpack_add(&bytes, width, start, base, &mut got).unwrap();
        prop_assert_eq!(got, expected);
    }
}

/// A kernel reads whole windows only, and returns the number of integers that it unpacked.
#[test]
fn a_kernel_stops_where_its_window_would_leave_the_bytes() {
    for (name, kernel) in unpack_kernels::available() {
        for len in 0..200 {
            let (bytes, mut out) = (vec![0xFF; len], vec![0; 400]);
            let done = kernel(&bytes, 9, 0, &mut out);
            let groups =
                if len < unpack_kernels::WINDOW { 0 } else { (len - unpack_kernels::WINDOW) / 9 + 1 };
            assert_eq!(done, groups * unpack_kernels::GROUP, "{name}, {len} bytes");
            assert!(out[..done].iter().all(|&x| x == 0x1FF) && out[done..].iter().all(|&x| x == 0), "{name}");
        }
    }
}

proptest! {
    #[test]
    fn numbers_become_narrower(numbers in prop::collection::vec(
        prop_oneof![any::<i64>(), 0..1_i64 << 33, Just(u32::MAX.into()), Just(-1)], 0..100
    )) {
        let mut ords = vec![TermOrd::new(7); numbers.len()];
        to_ords(&numbers, &mut ords);
        for (ord, number) in ords.iter().zip(numbers) {
            prop_assert_eq!(ord.get(), u32::try_from(number).unwrap_or(u32::MAX));
        }
    }

    /// Unpacked as ords, integers equal those of the scalar loop, and a kernel unpacks nearly all of them.
    #[test]
    fn ords_are_integers_of_half_the_width(
        (width, values) in (0_u8..=32).prop_flat_map(|width| {
            (Just(width), proptest::collection::vec(0..=mask(width), 0..700))
        }),
        start in 0_usize..40,
        add: u32,
    ) {
        let (bytes, start) = (readable(packed(&values, width)), start.min(values.len()));
        let mut expected = std::vec![0; values.len() - start];
        let add = add.min(u32::MAX - u32::try_from(mask(width)).unwrap());
        unpack_scalar(&bytes, width, start, add.into(), &mut expected).unwrap();
        let mut found = std::vec![TermOrd::new(7); expected.len()];
        let done = unpack_ords(&bytes, width, start, add, &mut found);
        prop_assert!(done.is_multiple_of(8) && found[done..].iter().all(|untouched| untouched.get() == 7));
        for (i, (ord, expected)) in found[..done].iter().zip(&expected).enumerate() {
            prop_assert_eq!(u64::from(ord.get()), *expected, "number {}", i);
        }
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if (1..=shuffles::NARROW).contains(&width) && start.is_multiple_of(8) {
            let (group, windows) = (if has_avx512() { 16 } else { 8 }, bytes.len().checked_sub(unpack_kernels::WINDOW));
            let windows = windows.and_then(|last| last.checked_sub(start / 8 * usize::from(width)));
            let groups = windows.map_or(0, |last| last / (group / 8 * usize::from(width)) + 1);
            prop_assert_eq!(done, groups.min(found.len() / group) * group);
        }
    }

    #[test]
    fn places_become_entries(
        table in prop::sample::select(&[8_usize, 16, ENTRIES][..]),
        places in prop::collection::vec(any::<u8>(), 0..100),
        beyond in prop::option::of(any::<u64>()),
    ) {
        let entries: Vec<i64> = (0..table as i64).map(|i| i * i * 7919 - 300).collect();
        let places: Vec<u64> = places.iter().map(|&place| u64::from(place) % table as u64).chain(beyond).collect();
        let mut numbers: Vec<i64> = places.iter().map(|place| place.cast_signed()).collect();
        prop_assert_eq!(look_up(&entries, &mut numbers), places.iter().copied().max().unwrap_or(0));
        for (place, number) in places.iter().zip(numbers) {
            let entry = usize::try_from(*place).ok().and_then(|place| entries.get(place));
            prop_assert!(entry.is_none_or(|entry| *entry == number), "place {}", place);
        }
    }

    #[test]
    fn a_range_is_found_as_one_by_one(
        numbers in prop::collection::vec(any::<u64>(), 0..200),
        low: u64,
        span: u64,
    ) {
        for numbers in numbers.chunks(64) {
            // The second range ends with the last number.
            let last = numbers.last().map_or(span, |last| last.wrapping_sub(low));
            for span in [span, last, last.wrapping_sub(1)] {
                let found = in_range(numbers, low, span);
                for (i, x) in numbers.iter().enumerate() {
                    prop_assert_eq!(found >> i & 1 == 1, x.wrapping_sub(low) <= span, "number {}", i);
                }
                prop_assert!((numbers.len()..64).all(|i| found >> i & 1 == 0));
            }
        }
    }

    #[test]
    fn looking_up_packed_places_is_looking_them_up_unpacked(
        (width, places) in (1_u8..=56).prop_flat_map(|width| {
            (Just(width), prop::collection::vec(0..=mask(width).min(15), 0..300))
        }),
        start in 0_usize..40,
        base in 0_u64..20,
        length in prop::sample::select(vec![8_usize, 16, ENTRIES]),
    ) {
        let table: Vec<i64> = (0..length as i64).map(|i| i * i - 7).collect();
        let bytes = readable(packed(&places, width));
        let start = start.min(places.len());
        let mut out = std::vec![i64::MAX; places.len() - start];
        let (done, largest) = look_up_packed(&table, &bytes, width, start, base, &mut out);
        let mut expected: Vec<i64> =
            places[start..start + done].iter().map(|x| (x + base).cast_signed()).collect();
        prop_assert_eq!(largest, look_up(&table, &mut expected));
        prop_assert_eq!(&out[..done], expected);
        prop_assert!(out[done..].iter().all(|&untouched| untouched == i64::MAX));
    }

    #[test]
    fn comparing_packed_integers_is_comparing_them_unpacked(
        (width, values) in (0_u8..=56).prop_flat_map(|width| {
            (Just(width), proptest::collection::vec(0..=mask(width), 0..700))
        }),
        start in 0_usize..100,
        ends: [u64; 2],
        few: bool,
    ) {
        let bytes = readable(packed(&values, width));
        // Ranges that hold some, and ranges that begin below zero, hold all, none, or all but some.
        let [low, span] = if few { ends.map(|end| end & mask(width)) } else { ends };
        // What is set stays.
        let mut found = [1 << 63; 8];
        let start = start.min(values.len());
        let whole = ((values.len() - start) / 64).min(found.len());
        let done = in_range_packed(&bytes, width, start, low, span, &mut found[..whole]);
        prop_assert!(done.is_multiple_of(64) && done <= whole * 64);
        for (i, x) in values[start..start + done].iter().enumerate() {
            let expected = i % 64 == 63 || x.wrapping_sub(low) <= span;
            prop_assert_eq!(found[i / 64] >> (i % 64) & 1 == 1, expected, "number {}", i);
        }
    }

    #[test]
    fn comparing_signed_numbers_is_comparing_each(
        numbers in prop::collection::vec(prop_oneof![-3..4_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)], 0..=64),
        low in prop_oneof![-3..4_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)],
        high in prop_oneof![-3..4_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)],
    ) {
        // Kernels compare 64.
        let mut all = numbers;
        for len in [all.len(), 64] {
            all.resize(len, low);
            let inside = all.iter().map(|number| (low..=high).contains(number));
            let expected = inside.enumerate().fold(0, |bits, (at, is_inside)| bits | u64::from(is_inside) << at);
            prop_assert_eq!(within(&all, low, high), expected);
        }
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn nearly_all_packed_integers_are_compared_by_a_kernel(width in 1_u8..=56, len in 64_usize..2000) {
        if !has_avx512() && (!has_avx2() || width > shuffles::NARROW) {
            return Ok(());
        }
        let bytes = readable(packed(&std::vec![0; len], width));
        let mut found = std::vec![0; len / 64];
        let done = in_range_packed(&bytes, width, 0, 0, 0, &mut found);
        let rest = (unpack_kernels::WINDOW * 8).div_ceil(width.into()).next_multiple_of(64) + 64;
        prop_assert!(done + rest >= len, "{} of {}", done, len);
        prop_assert!(found[..done / 64].iter().all(|&word| word == u64::MAX));
    }
}
