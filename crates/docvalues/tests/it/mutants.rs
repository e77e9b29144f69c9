//! Mutants of the fuzzer's hostile writer: broken files with good checksums.

use docvalues::column::{ErrorKind as ReadErrorKind, FormatErrorKind};
use docvalues::{OpenOptions, Segment};
use docvalues_fuzz::structure::mutate;
use docvalues_testkit::rng::SplitMix64;

use crate::write::{EVERY_KIND, with_ids};

/// Whether a problem is a wrong checksum.
fn is_checksum(error: &docvalues::column::Error) -> bool {
    match error.kind() {
        ReadErrorKind::Corrupt { source, .. } => {
            matches!(source.kind(), FormatErrorKind::Checksum { .. })
        }
        _ => false,
    }
}

#[test]
fn mutants_are_broken_but_have_good_checksums() {
    mutants(&EVERY_KIND.1);
    with_ids().iter().for_each(|file| mutants(file));
}

fn mutants(good: &[u8]) {
    let (mut opened, mut wrong, mut checksums, mut lengths) = (0, 0, 0, 0);
    const MUTANTS: u32 = 600;
    for seed in 0..MUTANTS {
        let mut rng = SplitMix64::new(seed.into());
        let mut file = good.to_vec();
        mutate(&mut file, good.len() + 300, seed, &mut |bytes, most| {
            bytes.resize(bytes.len().max(1).min(most), 0);
            if let Some(byte) = bytes.get_mut(rng.place(most)) {
                *byte ^= 1 << rng.below(8);
            }
        });
        assert!(file.len() <= good.len() + 300, "seed {seed}: {} bytes", file.len());
        lengths += u32::from(file.len() != good.len());
        let Ok(segment) = Segment::from_bytes(file, OpenOptions::new()) else { continue };
        opened += 1;
        let mut problems = 0;
        segment.check(&mut |problem| {
            problems += 1;
            checksums += u32::from(is_checksum(&problem));
            std::ops::ControlFlow::Continue(())
        });
        wrong += u32::from(problems > 0);
    }
    println!(
        "of {MUTANTS} mutants, {opened} open, {wrong} are wrong, {lengths} have another length; {checksums} checksums"
    );
    assert!(opened > MUTANTS * 3 / 4 && wrong > MUTANTS / 4 && lengths > MUTANTS / 50);
    assert!(checksums < MUTANTS / 50, "{checksums} checksums are wrong");
}

#[test]
fn verify_finds_a_wrong_content_id() {
    let mut file = EVERY_KIND.1.clone();
    let footer = file.len() - 64;
    file[footer + 24] ^= 1;
    let crc = crc32fast::hash(&file[footer..footer + 48]);
    file[footer + 48..footer + 52].copy_from_slice(&crc.to_le_bytes());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let problem = segment.verify().unwrap_err().to_string();
    assert!(problem.contains("footer") && problem.contains("the id is not that of the content"), "{problem}");
}
