#![expect(clippy::cast_possible_truncation, reason = "lengths of test data fit everywhere")]

use byteorder::{ByteOrder, LittleEndian};
use proptest::prelude::*;

use super::*;
use crate::error::{Place, Section};

/// A payload in which no two granules are alike.
fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * 7) ^ (i / 4096)) as u8).collect()
}

const PLACE: Place = Place { section: Section::DirectoryPage, offset: 1000 };

#[test]
fn bytes_of_a_reference() {
    let section = SectionRef { offset: 0x0102_0304_0506_0708, len: 4033, crc: 0xdead_beef };
    let mut bytes = Vec::new();
    section.encode(&mut bytes);
    #[rustfmt::skip]
    assert_eq!(bytes, [
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, // offset
        0xc1, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // len
        0xef, 0xbe, 0xad, 0xde,                         // crc
    ]);
    assert_eq!(bytes.len(), SectionRef::ENCODED_LEN);
    assert_eq!(SectionRef::decode(&mut Cursor::new(PLACE, &bytes)), Ok(section));
    for cut in 0..bytes.len() {
        let error = SectionRef::decode(&mut Cursor::new(PLACE, &bytes[..cut])).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "cut at {cut}: {error}");
    }
}

#[test]
fn a_reference_that_ends_nowhere_is_refused() {
    let decode = |section: SectionRef| {
        let mut bytes = Vec::new();
        section.encode(&mut bytes);
        SectionRef::decode(&mut Cursor::new(PLACE, &bytes))
    };
    for len in [u64::MAX, u64::MAX - 63, u64::MAX - 64, u64::MAX - 127, 1 << 63, 0] {
        let refused = decode(SectionRef { offset: u64::MAX - 63, len, crc: 0 }).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::OutOfRange { .. }), "{len}: {refused}");
    }
    let last = SectionRef { offset: u64::MAX - 64, len: 0, crc: 0 };
    assert_eq!(decode(last), Ok(last));
}

/// The checksums here were computed with zlib.
#[test]
fn bytes_of_a_section_of_one_granule() {
    assert_eq!(seal(Vec::new()), (vec![0; 64], 0x758d_6336));
    let (bytes, crc) = seal(b"doc values".to_vec());
    assert_eq!((&bytes[..10], &bytes[10..]), (&b"doc values"[..], &[0; 118][..]));
    assert_eq!(crc, 0x0171_7ee2);
}

/// The checksums here were computed with zlib.
#[test]
fn bytes_of_a_section_of_two_granules() {
    let payload: Vec<u8> = (0..5000).map(|i| (i * 7) as u8).collect();
    let (bytes, crc) = seal(payload.clone());
    assert_eq!(bytes.len(), 5120 + 64);
    assert_eq!(bytes[..5000], payload);
    assert_eq!(bytes[5000..5120], [0; 120]);
    assert_eq!(bytes[5120..5128], [0xbc, 0xc7, 0xb3, 0xd3, 0x55, 0xd3, 0x2b, 0x74]);
    assert_eq!(bytes[5128..], [0; 56]);
    assert_eq!(crc, 0xe655_7600);
}

#[test]
fn the_edges_of_the_levels() {
    let mib = 1 << 20;
    for (len, levels, sizes) in [
        (0, 1, vec![64]),
        (1, 1, vec![128]),
        (64, 1, vec![128]),
        (4032, 1, vec![4096]),
        (4033, 2, vec![4160, 64]),
        (4096, 2, vec![4160, 64]),
        (16 * 4096 - 64, 2, vec![16 * 4096, 64]),
        (16 * 4096 - 63, 2, vec![16 * 4096 + 64, 128]),
        (4 * mib - 64, 2, vec![4 * mib, 4096]),
        (4 * mib - 63, 3, vec![4 * mib + 64, 4160, 64]),
        (4096 * mib - 64, 3, vec![4096 * mib, 4 * mib, 4096]),
    ] {
        let layout = Layout::of(len).unwrap();
        let found: Vec<u64> = layout.levels().iter().map(|level| level.len).collect();
        assert_eq!((layout.levels().len(), &found), (levels, &sizes), "{len} bytes of payload");
        assert_eq!(layout.extent(), sizes.iter().sum::<u64>(), "{len} bytes of payload");
        assert_eq!(extent(len), Some(layout.extent()));
    }
    assert_eq!(extent(u64::MAX), None);
    assert_eq!(extent(u64::MAX - 127), None);
    assert_eq!(Layout::of(u64::MAX / 1024 * 1020).unwrap().levels().len(), MAX_LEVELS);
}

/// Every granule of every level has the checksum that stands in the level above it.
fn assert_true(len: usize, bytes: &[u8], crc: u32) {
    let layout = Layout::of(len as u64).unwrap();
    let mut next = 0;
    for (number, level) in layout.levels().iter().enumerate() {
        for index in 0..level.granules() {
            let range = level.granule(index);
            assert_eq!(range.start, next, "granules follow one another");
            next = range.end;
            let expected = layout
                .levels()
                .get(number + 1)
                .map_or(crc, |above| LittleEndian::read_u32(&bytes[(above.at + index * CRC_64) as usize..]));
            let granule = &bytes[range.start as usize..range.end as usize];
            check(Section::Values, range.start, granule, expected).unwrap();
        }
        assert_eq!(level.granule(level.granules()), level.end()..level.end(), "no granule after the last");
        let padding = (level.at + level.used) as usize..level.end() as usize;
        assert!(bytes[padding].iter().all(|&b| b == 0));
    }
    assert_eq!(next as usize, bytes.len(), "every byte of the section has a checksum");
}

#[test]
fn every_granule_has_its_checksum() {
    for len in [0, 1, 63, 64, 4031, 4032, 4033, 4095, 4096, 4097, 8128, 8129, (4 << 20) - 64, 5 << 20] {
        let payload = payload(len);
        let (bytes, crc) = seal(payload.clone());
        assert_eq!(bytes[..len], payload, "{len}");
        assert_true(len, &bytes, crc);
    }
}

#[test]
fn a_wrong_granule_is_named() {
    let refused = check(Section::Terms, 8192, &[0; 64], 1).unwrap_err();
    assert_eq!((refused.section(), refused.offset()), (Section::Terms, 8192));
    assert_eq!(refused.kind(), &ErrorKind::Checksum { found: 0x758d_6336, expected: 1 });
}

proptest! {
    #[test]
    fn sealed_in_pieces_as_at_once(cuts in prop::collection::vec(0_usize..20_000, 0..6)) {
        let len = cuts.iter().copied().max().unwrap_or(0);
        let (payload, mut sealer) = (payload(len), Sealer::new());
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut start = 0;
        for cut in cuts {
            sealer.push(&payload[start..cut]);
            start = cut;
        }
        let (end, crc) = sealer.finish();
        prop_assert_eq!(([payload.clone(), end].concat(), crc), seal(payload));
    }

    #[test]
    fn any_reference_is_decoded_or_refused(bytes: [u8; SectionRef::ENCODED_LEN]) {
        if let Ok(section) = SectionRef::decode(&mut Cursor::new(PLACE, &bytes)) {
            prop_assert!(section.end() > Some(section.offset));
            let mut again = Vec::new();
            section.encode(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}
