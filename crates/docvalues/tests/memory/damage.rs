//! Damaged and hostile files: no panic, no hang, no wrong result, no memory beyond what the file justifies.
//!
//! Every sweep takes a sample of all positions, or all of them with `DOCVALUES_SWEEP=full`. It uses all cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::column::Error as ReadError;
use docvalues::format::file::frame::Footer;
use docvalues::reader::JumpTables;
use docvalues::terms::lookup::IdLookup;
use docvalues::{
    Bitset, DocId, LiveDocs, Merger, OpenOptions, Segment, SegmentWriter, SortKey, WriterOptions,
};
use docvalues_fuzz::{
    Plan, exercise, exercise_ids, exercise_merge, exercise_parts, exercise_searches, ids_to_ask, reseal,
};
use docvalues_testkit::damage::{Damage, Sweep, bit_flips, truncations, zeroed_runs};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes;

use crate::{ALLOCATOR, turn, write};

/// The most bytes under one checksum in these files: a granule, or a directory page.
const CHECKED_TOGETHER: u64 = 4096 + 512;

/// The longest time for opening a hostile file and calling everything, on an idle machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// A segment with every kind and encoding, and an index sort that its documents follow.
fn file() -> Vec<u8> {
    let dataset = shapes::small_of_every_kind();
    let (schema, fields) = write::schema(&dataset, &write::COMPRESSIONS);
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.sort_by([SortKey::of("day")]).unwrap();
    write::add_documents(&mut writer, &fields, &dataset);
    let file = writer.finish_bytes().unwrap();
    assert!(file.len() <= 100_000, "{} bytes", file.len());
    // A column is compressed by OnPair, the only required feature.
    assert_eq!(Footer::decode(file.last_chunk().unwrap(), file.len() as u64).unwrap().required, 1);
    file
}

/// That segment, with a sample of `tried` damages, and small segments with an id index.
fn files(tried: usize) -> impl Iterator<Item = (Vec<u8>, Sweep)> {
    let with_ids = write::with_ids().into_iter().map(move |file| (file, Sweep::from_env(tried / 2)));
    [(file(), Sweep::from_env(tried))].into_iter().chain(with_ids)
}

fn open(file: &[u8]) -> Result<Segment, ReadError> {
    Segment::from_bytes(file.to_vec(), OpenOptions::new())
}

/// Runs `check` over every damage, on all cores.
fn sweep(damages: impl Iterator<Item = Damage>, check: impl Fn(&Damage) + Sync) {
    let damages: Vec<_> = damages.collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let check = &check;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mine = damages.iter().skip(thread).step_by(threads);
            scope.spawn(move || mine.for_each(check));
        }
    });
}

/// A sound file, the calls to make, and their results.
struct Good {
    file: Vec<u8>,
    plan: Plan,
    /// Ids to look up, if there is an id index.
    ids: Vec<Vec<u8>>,
    answers: Vec<u64>,
    damaged_files: AtomicU64,
    refused_at_open: AtomicU64,
    errors: AtomicU64,
    right: AtomicU64,
}

impl Good {
    fn new(file: Vec<u8>) -> Good {
        let segment = open(&file).unwrap();
        let plan = Plan::whole(&segment).unwrap();
        let mut answers = Vec::new();
        let ids = ids_to_ask(&segment, 60).unwrap();
        exercise(&plan, &segment, &mut |answer| answers.push(answer.unwrap()));
        exercise_ids(&ids, &segment, &mut |answer| answers.push(answer.unwrap()));
        exercise_searches(&segment, &mut |answer| answers.push(answer.unwrap()));
        exercise_merge(&segment, &mut |answer| answers.push(answer.unwrap()));
        let [damaged_files, refused_at_open, errors, right] = [0; 4].map(AtomicU64::new);
        Good { file, plan, ids, answers, damaged_files, refused_at_open, errors, right }
    }

    /// Makes all calls on a damaged file. Each result is that of the sound file, or an error that `place` accepts.
    fn ask(&self, damage: &Damage, place: impl Fn(&ReadError)) {
        let mut file = Vec::new();
        damage.apply(&self.file, &mut file);
        self.damaged_files.fetch_add(1, Relaxed);
        let segment = match open(&file) {
            Ok(segment) => segment,
            Err(error) => {
                place(&error);
                self.refused_at_open.fetch_add(1, Relaxed);
                return;
            }
        };
        let (mut at, mut errors, mut right) = (0, 0, 0);
        let mut take = |answer| match answer {
            Ok(answer) => {
                right += 1;
                // A column that does not open gives one error instead of its many results.
                let skipped = self.answers[at..].iter().position(|&good| good == answer);
                at += skipped.unwrap_or_else(|| panic!("{damage:?}: a wrong answer")) + 1;
            }
            Err(error) => {
                place(&error);
                errors += 1;
            }
        };
        exercise(&self.plan, &segment, &mut take);
        exercise_ids(&self.ids, &segment, &mut take);
        // Otherwise nearly all of the time would go into undamaged parts.
        let number = self.damaged_files.load(Relaxed);
        if number.is_multiple_of(8) {
            exercise_searches(&segment, &mut take);
        }
        if number.is_multiple_of(32) {
            exercise_merge(&segment, &mut take);
        }
        self.errors.fetch_add(errors, Relaxed);
        self.right.fetch_add(right, Relaxed);
        if file != self.file && number.is_multiple_of(8) {
            assert!(segment.verify().is_err(), "{damage:?} is not seen by a full check");
        }
    }

    fn report(&self, what: &str) {
        let counts = [&self.damaged_files, &self.refused_at_open, &self.errors, &self.right];
        let [files, refused, errors, right] = counts.map(|count| count.load(Relaxed));
        println!(
            "{what}: {files} files of {} bytes, {refused} refused at opening; answers: {right} right, \
             {errors} errors, 0 wrong; 0 panics",
            self.file.len()
        );
        assert!(files > 0 && errors > 0 && right > 0, "a sweep that saw nothing");
    }
}

#[test]
fn a_flipped_bit_gives_an_error_in_its_granule_or_the_right_result() {
    let _turn = turn();
    for (file, tried) in files(48) {
        one_flipped_bit(&Good::new(file), tried);
    }
}

fn one_flipped_bit(good: &Good, tried: Sweep) {
    sweep(bit_flips(good.file.len(), tried), |damage| {
        let byte = damage.touches(good.file.len()).start as u64;
        good.ask(damage, |error| {
            let (section, offset) = error.place().unwrap_or_else(|| panic!("byte {byte}: {error}"));
            assert!(
                offset <= byte && byte < offset + CHECKED_TOGETHER,
                "byte {byte} was flipped, the error names {section} at {offset}: {error}"
            );
        });
    });
    good.report("one bit flipped");
}

#[test]
fn zeroed_sectors_give_errors_or_right_results() {
    let _turn = turn();
    for (file, tried) in files(20) {
        let good = Good::new(file);
        sweep(zeroed_runs(good.file.len(), tried), |damage| {
            good.ask(damage, |error| assert!(error.place().is_some(), "{error}"));
        });
        good.report("512 bytes zeroed");
    }
}

#[test]
fn a_truncated_file_is_refused() {
    let _turn = turn();
    let (good, refused) = (file(), AtomicU64::new(0));
    sweep(truncations(good.len(), Sweep::from_env(1_000)), |damage| {
        let mut cut = Vec::new();
        damage.apply(&good, &mut cut);
        let error = open(&cut).expect_err("a cut file opened");
        assert!(error.is_corrupt(), "{error}");
        refused.fetch_add(1, Relaxed);
    });
    println!("cut: {} lengths, all refused; 0 panics", refused.load(Relaxed));
}

#[test]
fn hostile_files_cause_no_panic_no_hang_and_no_large_allocation() {
    let _turn = turn();
    files(32).for_each(|(good, tried)| hostile(&good, tried));
}

fn hostile(good: &[u8], tried: Sweep) {
    let ids = ids_to_ask(&open(good).unwrap(), 60).unwrap();
    let limit = (64 << 20) + 4 * good.len();
    let [files, longest, most] = [0; 3].map(AtomicU64::new);
    sweep(bit_flips(good.len(), tried), |damage| {
        let mut hostile = Vec::new();
        damage.apply(good, &mut hostile);
        reseal(&mut hostile);
        let at = damage.touches(good.len()).start;
        let options = OpenOptions::new().jump_tables(JumpTables::ALL[at % 2]);
        let start = Instant::now();
        let ((), peak) = ALLOCATOR.peak_of(|| {
            let Ok(segment) = Segment::from_bytes(hostile, options) else { return };
            if let Ok(plan) = Plan::small(&segment) {
                exercise(&plan, &segment, &mut |answer| drop(std::hint::black_box(answer)));
                exercise_ids(&ids, &segment, &mut |answer| drop(std::hint::black_box(answer)));
            }
            let mut answered = |answer: docvalues::column::Result<u64>| drop(std::hint::black_box(answer));
            if at % 8 == 0 {
                exercise_searches(&segment, &mut answered);
            }
            if at % 8 == 4 {
                exercise_parts(Arc::new(segment.clone()), &mut answered);
            }
            if at % 32 == 0 {
                exercise_merge(&segment, &mut answered);
            }
            let _ = std::hint::black_box(segment.verify());
            let _ = std::hint::black_box(segment.usage());
        });
        let took = start.elapsed();
        assert!(peak <= limit, "{damage:?}: {peak} bytes allocated for a file of {}", good.len());
        // A busy machine is slower. Ten times the limit is a hang.
        assert!(took < 10 * PATIENCE, "{damage:?} took {took:?}");
        files.fetch_add(1, Relaxed);
        longest.fetch_max(took.as_micros() as u64, Relaxed);
        most.fetch_max(peak as u64, Relaxed);
    });
    println!(
        "checksums made good: {} files of {} bytes; 0 panics, the longest took {:?}, the most memory was {} KiB",
        files.load(Relaxed),
        good.len(),
        Duration::from_micros(longest.load(Relaxed)),
        most.load(Relaxed) / 1024
    );
}

/// Several random bytes of a copy are damaged. Half of the copies get new checksums, half keep the old ones.
#[test]
fn look_ups_of_ids_in_damaged_copies() {
    let _turn = turn();
    let wanted = match Sweep::from_env(30_000) {
        Sweep::Full => 8_000_000,
        Sweep::Sample(look_ups) => look_ups,
    };
    let goods = write::with_ids().map(|file| (ids_to_ask(&open(&file).unwrap(), 60).unwrap(), file));
    let right = goods.each_ref().map(|(asked, file)| {
        let segment = open(file).unwrap();
        let ids = segment.ids().unwrap().unwrap();
        asked.iter().map(|id| ids.find(id).unwrap()).collect::<Vec<_>>()
    });
    let mut random = SplitMix64::new(800_000);
    let mut seen = LookUps::default();
    for copy in 0.. {
        if seen.look_ups() >= wanted {
            break;
        }
        let (at, resealed) = (copy % goods.len(), copy / goods.len() % 2 == 0);
        let (asked, good) = &goods[at];
        let mut bad = good.clone();
        for _ in 0..=random.below(8) {
            let byte = random.place(bad.len());
            bad[byte] = random.next_u64().to_le_bytes()[0];
        }
        if resealed {
            reseal(&mut bad);
        }
        let start = Instant::now();
        let ((), peak) =
            ALLOCATOR.peak_of(|| seen.ask(&bad, asked, (!resealed).then_some(right[at].as_slice())));
        let took = start.elapsed();
        assert!(peak <= (64 << 20) + 8 * good.len(), "{peak} bytes allocated for a file of {}", good.len());
        assert!(took < 10 * PATIENCE, "copy {copy} took {took:?}");
        (seen.most, seen.longest) = (seen.most.max(peak), seen.longest.max(took));
    }
    println!("ids in damaged copies, {} look-ups; 0 wrong; 0 panics: {seen:?}", seen.look_ups());
    assert!(seen.refused > 0 && seen.found > 0 && seen.absent > 0 && seen.errors > 0);
}

/// Statistics of look-ups in damaged copies.
#[derive(Debug, Default)]
struct LookUps {
    /// Copies that opened, copies whose index opened, and copies that were refused.
    opened: usize,
    refused: usize,
    found: usize,
    absent: usize,
    errors: usize,
    most: usize,
    longest: Duration,
}

impl LookUps {
    fn look_ups(&self) -> usize {
        self.found + self.absent + self.errors
    }

    /// Looks up `asked` in a damaged file: alone, and as one of 16 segments. With `right`, results are equal to it. They
    /// are always documents of the segment.
    fn ask(&mut self, bad: &[u8], asked: &[Vec<u8>], right: Option<&[Option<DocId>]>) {
        let Ok(segment) = open(bad) else { return self.refused += 1 };
        let Ok(Some(ids)) = segment.ids() else { return self.refused += 1 };
        self.opened += 1;
        let lookup = IdLookup::new(std::iter::repeat_n(ids.reader().clone(), 16));
        let mut seeker = lookup.seeker();
        for (number, id) in asked.iter().enumerate() {
            let answers =
                [ids.find(id).map_err(drop), seeker.find(id).map(|hit| hit.map(|hit| hit.doc)).map_err(drop)];
            for answer in answers {
                match answer {
                    Ok(doc) => {
                        assert!(doc.is_none_or(|doc| doc.get() < segment.docs()), "{doc:?}");
                        assert!(
                            right.is_none_or(|right| right[number] == doc),
                            "{}: {doc:?}",
                            id.escape_ascii()
                        );
                        *if doc.is_some() { &mut self.found } else { &mut self.absent } += 1;
                    }
                    Err(()) => self.errors += 1,
                }
            }
        }
    }
}

#[test]
fn a_merge_with_a_hostile_file_gives_a_sound_file_or_none() {
    let _turn = turn();
    let good = file();
    let whole = open(&good).unwrap();
    let budget = 16 << 20;
    // Twice the budget, for encoding, and the pages that opening a segment may take.
    let limit = 2 * budget + (64 << 20) + 4 * good.len();
    let [merged, refused, most] = [0; 3].map(AtomicU64::new);
    let tried = match Sweep::from_env(120) {
        // A merge takes as long as a build, and sorts: the full sweep would take an hour.
        Sweep::Full => Sweep::Sample(2_000),
        sample => sample,
    };
    sweep(bit_flips(good.len(), tried), |damage| {
        let mut hostile = Vec::new();
        damage.apply(&good, &mut hostile);
        reseal(&mut hostile);
        let Ok(hostile) = open(&hostile) else { return };
        let at = damage.touches(good.len()).start;
        let words = hostile.docs().div_ceil(64) as usize;
        let live = (at.is_multiple_of(2) && words <= good.len())
            .then(|| LiveDocs::from(&Bitset::from_words(vec![0x5555_FFFF_0000_FFFF; words], hostile.docs())));
        let start = Instant::now();
        let (outcome, peak) = ALLOCATOR.peak_of(|| {
            let mut merger = Merger::new(WriterOptions::new().budget(budget));
            merger.add("whole", &whole);
            match &live {
                Some(live) => merger.add_live("hostile", &hostile, live).unwrap(),
                None => merger.add("hostile", &hostile),
            };
            merger.finish_bytes()
        });
        let took = start.elapsed();
        assert!(took < 10 * PATIENCE, "{damage:?} took {took:?}");
        assert!(peak <= limit, "{damage:?}: {peak} bytes allocated");
        most.fetch_max(peak as u64, Relaxed);
        let Ok((bytes, summary)) = outcome else {
            refused.fetch_add(1, Relaxed);
            return;
        };
        assert!(summary.docs >= whole.docs());
        let problem = open(&bytes).unwrap().verify();
        assert!(problem.is_ok(), "{damage:?} became a file that is not good: {problem:?}");
        merged.fetch_add(1, Relaxed);
    });
    let [merged, refused, most] = [merged, refused, most].map(|count| count.load(Relaxed));
    println!(
        "merged with hostile files: {merged} good files, {refused} refused; the most memory was {} KiB",
        most / 1024
    );
    assert!(merged > 0 && refused > 0, "a sweep that saw nothing");
}
