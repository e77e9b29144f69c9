//! Damaged columns: reading always returns, and checks give errors with a place.

use super::super::block::Block;
use super::*;
use crate::error::Place;
use crate::id::MAX_DOCS;
use crate::jump::Entry;
use crate::source::SectionBytes;
use crate::sweep;

/// Reads everything in every way. `Err` if any read failed.
fn read_all(column: &Numeric<Vec<u8>>, mode: JumpTables) -> Result<()> {
    let reader = open(column, mode)?;
    let count = reader.count().min(1 << 20);
    let len = usize::try_from(count).unwrap();
    let (step, mut out) = (len / 50 + 1, vec![0; len]);
    let indices: Vec<u32> = (0..count as u32).rev().step_by(step).collect();
    let mut bits = vec![0; len.div_ceil(64)];
    let wanted = reader.meta.min.saturating_add(1)..=reader.meta.max.saturating_sub(1);
    let few = reader.meta.min.midpoint(reader.meta.max)..=reader.meta.max.saturating_sub(1);
    let mut counts = Pruning::default();
    // A batch with kernels agrees with single look-ups.
    let mut batch = vec![0; indices.len()];
    if reader.gather(&indices, &mut batch).is_ok() {
        for (&i, value) in indices.iter().zip(batch) {
            assert_eq!(reader.get(i.into()), Ok(value), "value {i}");
        }
    }
    let results = [
        (0..count).step_by(step).try_for_each(|i| reader.get(i).map(drop)),
        (1..count).step_by(step).try_for_each(|i| reader.get_pair(i - 1).map(drop)),
        reader.decode(0..count, &mut out),
        reader.gather(&indices, &mut vec![0; indices.len()]),
        reader.filter(0..count, wanted, &mut bits, &mut Pruning::default()),
        reader.filter(0..count, few.clone(), &mut bits, &mut Pruning::default()),
        (0..reader.levels().len())
            .try_for_each(|level| reader.may_hold(level, 0..count, &few, &mut counts, &mut bits)),
        (0..reader.levels().len()).try_for_each(|level| reader.zones(level, 0..count, drop)),
        [true, false].into_iter().try_for_each(|greatest| reader.estimate_nth(1, greatest).map(drop)),
        reader.encodings().map(drop),
        reader.verify(),
    ];
    results.into_iter().collect()
}

/// One column of each kind, with all the sections it can have.
fn columns() -> Vec<Numeric<Vec<u8>>> {
    use Shape::{Cents, Extremes, FewDistinct, Plateaus, SmallRange, Steps, Timestamps};
    let shapes = [SmallRange, Timestamps, FewDistinct, Plateaus, Extremes, Steps, Cents];
    let options = NumericOptions { doubles: true, ..VALUES };
    shapes.into_iter().map(|shape| encode(&shape.values(5_500, 14), &options)).collect()
}

/// The sections of a column, one at a time.
fn sections(column: &mut Numeric<Vec<u8>>) -> Vec<(Section, &mut Vec<u8>)> {
    let mut sections = Vec::new();
    if let Transform::Table(table) = &mut column.transform {
        sections.push((Section::ValuesTable, table));
    }
    sections.extend(column.blocks.as_mut().map(|s| (Section::Values, s)));
    sections.extend(column.jump.as_mut().map(|s| (Section::ValuesJump, s)));
    sections.extend(column.zones.as_mut().map(|s| (Section::ZoneMap, s)));
    sections.extend(column.fine_zones.as_mut().map(|s| (Section::FineZones, s)));
    sections
}

#[test]
fn damage_is_refused_or_survived_never_a_panic() {
    let mut refused = 0;
    for column in columns() {
        let count = sections(&mut column.clone()).len();
        for which in 0..count {
            let len = sections(&mut column.clone())[which].1.len();
            // Every byte of what is small, every 13th of what is not: headers lie in the jump table, too.
            for at in (0..len).step_by(if len > 600 { 13 } else { 1 }) {
                let mut bad = column.clone();
                sections(&mut bad)[which].1[at] ^= 0x5A;
                // Both in the full sweep; otherwise by turns.
                for mode in JumpTables::ALL.into_iter().skip(sweep(at % 2, 0)).take(sweep(1, 2)) {
                    refused += usize::from(read_all(&bad, mode).is_err());
                }
            }
        }
    }
    assert!(refused > sweep(500, 1000), "only {refused} were refused");
}

#[test]
fn no_section_can_be_cut() {
    for column in columns() {
        for which in 0..sections(&mut column.clone()).len() {
            let len = sections(&mut column.clone())[which].1.len();
            for cut in (0..len).step_by(if len > 600 { 31 } else { 1 }) {
                let mut bad = column.clone();
                sections(&mut bad)[which].1.truncate(cut);
                for mode in JumpTables::ALL {
                    assert!(read_all(&bad, mode).is_err(), "{cut} of {len} bytes");
                }
            }
        }
    }
}

/// Only bits without redundancy are left to checksums; `verify` finds all others.
#[test]
fn verify_finds_every_flipped_bit_outside_the_residuals() {
    for column in columns() {
        let (mut sound, headers) = (column.clone(), header_offsets(&column));
        for which in 0..sections(&mut sound).len() {
            let (section, len) = (sections(&mut sound)[which].0, sections(&mut sound)[which].1.len());
            let bytes: Vec<usize> = match section {
                Section::Values if column.jump.is_some() => {
                    headers.iter().flat_map(|&at| at..at + column.stride.bytes()).collect()
                }
                // The only header has no copy: a line a little steeper is as good as another.
                Section::Values => (0..16).chain(24..column.stride.bytes().max(24)).collect(),
                // An entry in the middle may change, and still ascend.
                Section::ValuesTable => [0, 7, len - 8, len - 1].to_vec(),
                _ => (0..len).collect(),
            };
            for (at, bit) in bytes.into_iter().zip((0..8).cycle()) {
                let mut bad = column.clone();
                sections(&mut bad)[which].1[at] ^= 1 << bit;
                let verified = open(&bad, JumpTables::BuildOnFirstUse).and_then(|reader| reader.verify());
                assert!(
                    verified.is_err(),
                    "bit {bit} of byte {at} of the {section} of {:?}",
                    column.transform
                );
            }
        }
    }
}

fn header_offsets(column: &Numeric<Vec<u8>>) -> Vec<usize> {
    let stride = column.stride.bytes();
    let place = Place { section: Section::ValuesJump, offset: 0 };
    // The only block begins with its header.
    let Some(jump) = &column.jump else { return vec![0] };
    let headers = jump.chunks(stride).map(|bytes| Block::parse(place, 0, bytes).unwrap());
    headers.map(|header| header.payload as usize - stride).collect()
}

#[test]
fn verify_finds_padding_that_is_not_zero() {
    // 513 residuals of 6 bits leave 50 bits of the last word.
    let values: Vec<i64> = Shape::SmallRange.values(513, 15);
    let mut bad = encode(&values, &VALUES);
    *bad.blocks.as_mut().unwrap().last_mut().unwrap() |= 0x80;
    let refused = open(&bad, JumpTables::Baked).unwrap().verify().unwrap_err();
    assert_eq!(refused.section(), Section::Values);
    assert_eq!(refused.offset(), 16 + 48 * 8);
}

#[test]
fn hostile_headers_are_refused_with_section_and_offset() {
    let column = encode(&Shape::Steps.values(20_000, 16), &VALUES);
    let last = header_offsets(&column)[4];
    type Break = (usize, &'static [u8], fn(&ErrorKind) -> bool);
    let kinds: [Break; 7] = [
        (8, &[3], |kind| matches!(kind, ErrorKind::UnknownTag { what: "block encoding", tag: 3 })),
        (8, &[2], |kind| matches!(kind, ErrorKind::Broken(_))), // a line, and no space for its slope
        (9, &[0], |kind| matches!(kind, ErrorKind::Broken(_))), // packed, and nothing to pack
        (9, &[57], |kind| matches!(kind, ErrorKind::Broken(_))),
        (9, &[65], |kind| matches!(kind, ErrorKind::Broken(_))),
        (9, &[64], |kind| matches!(kind, ErrorKind::OutOfRange { .. })),
        (10, &[255; 6], |kind| matches!(kind, ErrorKind::OutOfRange { .. } | ErrorKind::Mismatch { .. })),
    ];
    for (field, bytes, expected) in kinds {
        let mut bad = column.clone();
        let stride = bad.stride.bytes();
        bad.jump.as_mut().unwrap()[4 * stride + field..][..bytes.len()].copy_from_slice(bytes);
        bad.blocks.as_mut().unwrap()[last + field..][..bytes.len()].copy_from_slice(bytes);
        for mode in JumpTables::ALL {
            let reader = open(&bad, mode).unwrap();
            assert!(mode == JumpTables::BuildOnFirstUse || reader.get(0).is_ok());
            let refused = [
                reader.get(17_000).unwrap_err(),
                reader.gather(&[17_000], &mut [0]).unwrap_err(),
                reader.decode(0..20_000, &mut [0; 20_000]).unwrap_err(),
                reader
                    .filter(0..20_000, 1_000_104..=1_000_105, &mut [0; 313], &mut Pruning::default())
                    .unwrap_err(),
            ];
            for refused in refused {
                assert!(expected(refused.kind()), "{mode:?}: {refused}");
                assert!(matches!(refused.section(), Section::Values | Section::ValuesJump), "{refused}");
                assert!(refused.offset() > 0, "{refused}");
            }
        }
    }
}

#[test]
fn a_block_may_not_reach_into_the_tail_of_its_section() {
    // 513 residuals of 6 bits take 392 bytes; of 7 bits, 64 bytes more.
    let mut column = encode(&Shape::SmallRange.values(513, 19), &VALUES);
    column.blocks.as_mut().unwrap()[9] = 7;
    for mode in JumpTables::ALL {
        let reader = open(&column, mode).unwrap();
        let refused = reader.decode(0..513, &mut [0; 513]).unwrap_err();
        let kind = ErrorKind::OutOfRange { what: "end of a block", found: 16 + 456, max: 16 + 392 };
        assert_eq!((refused.section(), refused.offset(), refused.kind()), (Section::Values, 16, &kind));
        // The last residual begins outside.
        let refused = [
            reader.get(512).unwrap_err(),
            reader.get_pair(511).unwrap_err(),
            reader.gather(&[0, 512], &mut [0; 2]).unwrap_err(),
        ];
        let beyond = |what: &str| ["end of a block", "offset of a residual"].contains(&what);
        for refused in refused {
            let ErrorKind::OutOfRange { what, max, .. } = *refused.kind() else { panic!("{refused}") };
            assert_eq!((refused.section(), beyond(what), max), (Section::Values, true, 16 + 392));
        }
    }
}

#[test]
fn an_entry_of_a_jump_table_may_not_lead_into_the_tail() {
    let mut column = encode(&Shape::Steps.values(60_000, 19), &VALUES);
    let (len, first) =
        (column.blocks.as_ref().unwrap().len(), 59_999 >> column.block_shift << column.block_shift);
    let jump = column.jump.as_mut().unwrap();
    let last = jump.len() - column.stride.bytes();
    // Packed, 6 bits, and its residuals begin where the section ends.
    jump[last + 8..last + 16].copy_from_slice(&(1 | 6 << 8 | (len as u64 / 8) << 16).to_le_bytes());
    let reader = open(&column, JumpTables::Baked).unwrap();
    for index in first + 2..60_000_u64 {
        let batch = [index as u32; 9];
        let refused = [
            reader.get(index).unwrap_err(),
            reader.get_pair(index - 1).unwrap_err(),
            reader.gather(&batch, &mut [0; 9]).unwrap_err(),
        ];
        for refused in refused {
            assert!(matches!(refused.kind(), ErrorKind::OutOfRange { .. }), "{index}: {refused}");
        }
    }
}

#[test]
fn a_walk_refuses_a_gap_after_a_header() {
    let mut column = encode(&Shape::Steps.values(20_000, 20), &VALUES);
    column.blocks.as_mut().unwrap()[10] += 1;
    let refused = open(&column, JumpTables::BuildOnFirstUse).unwrap().get(0).unwrap_err();
    let what = "offset of a block's payload";
    assert_eq!(*refused.kind(), ErrorKind::Mismatch { what, found: 24, expected: 16 });
}

#[test]
fn verify_finds_bytes_after_the_last_block() {
    let mut column = encode(&Shape::SmallRange.values(600, 21), &VALUES);
    let len = column.blocks.as_ref().unwrap().len();
    column.blocks.as_mut().unwrap().extend([0; 8]);
    let refused = open(&column, JumpTables::Baked).unwrap().verify().unwrap_err();
    assert_eq!((refused.section(), refused.offset()), (Section::Values, len as u64));
}

/// Sixteen bytes can claim a trillion values.
#[test]
fn verify_does_not_count_to_a_trillion() {
    let mut column = encode(&(0..600).map(|i| i * 1_000).collect::<Vec<i64>>(), &VALUES);
    column.block_shift = ONE_BLOCK;
    assert!(column.jump.is_none() && open(&column, JumpTables::Baked).unwrap().verify().is_ok());
    column.count = 1 << ONE_BLOCK;
    let refused = open(&column, JumpTables::Baked).unwrap().verify().unwrap_err();
    let what = "number of values";
    assert_eq!(*refused.kind(), ErrorKind::OutOfRange { what, found: 1 << ONE_BLOCK, max: MAX_DOCS.into() });
}

#[test]
fn a_filter_that_skips_a_block_refuses_a_base_past_the_table() {
    let mut column = encode(&[1, 1 << 30, 1_i64 << 60].repeat(1_000), &VALUES);
    column.blocks.as_mut().unwrap()[0] = 3;
    let reader = open(&column, JumpTables::Baked).unwrap();
    let mut bits = [0; 47];
    let refused = reader.filter(0..3_000, 2..=1 << 30, &mut bits, &mut Pruning::default()).unwrap_err();
    let what = "index into the values table";
    assert_eq!(*refused.kind(), ErrorKind::OutOfRange { what, found: 3, max: 2 });
}

#[test]
fn an_index_past_the_table_is_refused_on_every_path() {
    // Three values take two bits, so a fourth can be written.
    let mut column = encode(&[1, 1 << 30, 1_i64 << 60].repeat(1_000), &VALUES);
    assert!(matches!(column.transform, Transform::Table(_)));
    column.blocks.as_mut().unwrap()[16 + 100] = 0b11_11_11_11;
    let reader = open(&column, JumpTables::Baked).unwrap();
    assert_eq!(reader.get(399), Ok(1));
    let refused = [
        reader.get(400).unwrap_err(),
        reader.get_pair(399).unwrap_err(),
        reader.gather(&[2, 403], &mut [0; 2]).unwrap_err(),
        reader.decode(0..3_000, &mut [0; 3_000]).unwrap_err(),
        reader.filter(0..3_000, 2..=1 << 60, &mut [0; 47], &mut Pruning::default()).unwrap_err(),
        reader.verify().unwrap_err(),
    ];
    for refused in refused {
        let kind = ErrorKind::OutOfRange { what: "index into the values table", found: 3, max: 2 };
        assert_eq!(*refused.kind(), kind);
    }
}

/// Found by a fuzzer: the values are in range, but a filter compares numbers, and these are not in order.
#[test]
fn verify_refuses_numbers_that_wrap() {
    const GCD: u64 = (1 << 63) + 1; // its own inverse modulo 2^64
    let mut column = encode(&[0, i64::MAX, 1], &VALUES);
    assert_eq!(column.transform, Transform::Affine { base: 0, gcd: 1 });
    column.transform = Transform::Affine { base: i64::MIN, gcd: GCD };
    (column.min, column.max) = (i64::MIN, i64::MAX);
    let (reader, mut values) = (open(&column, JumpTables::Baked).unwrap(), [0; 3]);
    reader.decode(0..3, &mut values).unwrap();
    assert_eq!(values, [i64::MIN, i64::MAX, 1]);
    let kind = ErrorKind::OutOfRange { what: "number of a value", found: i64::MAX as u64, max: 1 };
    assert_eq!(*reader.verify().unwrap_err().kind(), kind);
}

#[test]
fn a_hostile_directory_is_refused_before_a_section_is_read() {
    // Plateaus of two values each, three in all.
    let values: Vec<i64> = (0..9_000).map(|i| [i64::MIN, 5, i64::MAX][i % 2 + i / 8_192]).collect();
    let good = encode(&values, &VALUES);
    assert!(matches!(good.transform, Transform::Table(_)) && good.jump.is_some());
    assert!(open(&good, JumpTables::Baked).is_ok());
    let breaks: [fn(&mut Numeric<Vec<u8>>); 23] = [
        |c| c.count = u64::MAX,
        |c| c.count = 0,
        |c| (c.count, c.jump, c.zones, c.fine_zones) = (1, None, None, None),
        |c| (c.count, c.jump, c.zones, c.fine_zones) = (4096, None, Some(vec![0; 32]), Some(vec![0; 16])),
        |c| (c.block_shift, c.jump) = (8, None),
        |c| (c.block_shift, c.jump) = (15, None),
        |c| c.block_shift = ONE_BLOCK,
        |c| (c.count, c.block_shift, c.jump) = ((1 << ONE_BLOCK) + 1, ONE_BLOCK, None),
        |c| c.block_shift = 200,
        |c| (c.min, c.max) = (c.max, c.min),
        |c| c.stride = Stride::Long,
        |c| c.blocks = None,
        |c| c.jump = Some(Vec::new()),
        |c| c.zones = Some(vec![0; 16]),
        |c| c.zones = None,
        |c| c.fine_zones = Some(vec![0; 34]),
        |c| c.fine_zones = Some(vec![0; 37]),
        |c| c.fine_zones = Some(Vec::new()),
        |c| c.role = Role::Offsets,
        |c| c.transform = Transform::Table(vec![0; 8]),
        |c| c.transform = Transform::Table(vec![0; 257 * 8]),
        |c| c.transform = Transform::Affine { base: c.min, gcd: 0 },
        |c| c.transform = Transform::Constant(c.min),
    ];
    for (i, damage) in breaks.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        for mode in JumpTables::ALL {
            assert!(open(&bad, mode).is_err(), "break {i}");
        }
    }
}

#[test]
fn directory_fields_are_refused_or_survived() {
    use crate::granule::SectionRef;
    let place = Place { section: Section::DirectoryPage, offset: 0 };
    for column in columns() {
        let refs = column.clone().try_map(&mut |_, bytes: Vec<u8>| {
            Ok::<_, ()>(SectionRef { offset: 64, len: bytes.len() as u64, crc: 0 })
        });
        let mut good = Vec::new();
        refs.unwrap().encode_meta(&mut good);
        for cut in 0..good.len() {
            assert!(Numeric::decode_meta(&mut Cursor::new(place, &good[..cut]), Role::Values).is_err());
        }
        for (at, flip) in (0..good.len()).flat_map(|at| [0x01, 0x80, 0x5A].map(|flip| (at, flip))) {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            let Ok(bad) = Numeric::decode_meta(&mut Cursor::new(place, &bytes), Role::Values) else {
                continue;
            };
            // Damaged fields with intact sections, as a hostile writer would combine them.
            let mut ours = column.clone();
            let mut bad = bad.try_map(&mut |section, _| {
                let ours = sections(&mut ours).into_iter().find(|(s, _)| *s == section);
                ours.map(|(_, bytes)| bytes.clone()).ok_or(())
            });
            if let Ok(bad) = &mut bad {
                let _either = read_all(bad, JumpTables::Baked);
            }
        }
    }
}

#[test]
fn sections_that_are_all_ones_or_all_zeros_are_survived() {
    for column in columns() {
        for fill in [0, 0xFF] {
            for which in 0..sections(&mut column.clone()).len() {
                let mut bad = column.clone();
                sections(&mut bad)[which].1.fill(fill);
                // Of values that are anywhere in each fine zone, all are zeros.
                if bad == column {
                    continue;
                }
                for mode in JumpTables::ALL {
                    assert!(read_all(&bad, mode).is_err());
                }
            }
        }
    }
}

#[test]
fn heap_bytes_of_a_reader() {
    let fast = if cfg!(target_pointer_width = "64") { 72 } else { 60 };
    // The first value builds the jump table, and the fast path.
    for (shape, table, built, jump) in
        [(Shape::FewDistinct, 8 * 8, 16 + 8, None), (Shape::Steps, 0, 15 * 16 + 8, Some(15 * 16))]
    {
        let column = encode(&shape.values(60_000, 18), &VALUES);
        let reader = open(&column, JumpTables::BuildOnFirstUse).unwrap();
        assert_eq!(reader.heap_bytes(), table);
        reader.get(0).unwrap();
        assert_eq!(reader.heap_bytes(), table + built + fast);
        assert_eq!(reader.jump.baked().map(|table| table.len()), jump);
    }
}
