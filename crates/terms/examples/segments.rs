//! What an index of ids costs over many segments: bytes, building, opening, and looking ids up.
//!
//! ```sh
//! cargo run --release -p docvalues-terms --example segments            # 400 segments of 2,500 UUIDs
//! cargo run --release -p docvalues-terms --example segments -- 13 76923
//! ```
//!
//! Times are those of the thread, not of the clock, and the median of several rounds.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

use docvalues_format::error::{Error, Result};
use docvalues_format::granule::SectionRef;
use docvalues_format::id::DocId;
use docvalues_format::source::Owned;
use docvalues_terms::bloom::Probe;
use docvalues_terms::build::{IdOptions, IdsBuilder};
use docvalues_terms::hash::hash;
use docvalues_terms::ids::{Form, Ids};
use docvalues_terms::packing::Packed;
use docvalues_terms::read::IdsReader;

const ROUNDS: usize = 5;

/// Absent ids that are asked for, and ids that are there.
const ASKED: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse());
    let segments: usize = numbers.next().transpose()?.unwrap_or(400);
    let docs: usize = numbers.next().transpose()?.unwrap_or(2_500);
    let mut random = SplitMix(42);
    let ids: Vec<Vec<(String, DocId)>> = (0..segments).map(|_| sorted(docs, &mut random)).collect();
    let absent: Vec<String> = (0..ASKED).map(|_| random.uuid()).collect();
    println!("{segments} segments of {docs} UUIDs");
    for form in Form::ALL {
        measure(&ids, &absent, form)?;
    }
    let mut all: Vec<_> = ids.into_iter().flatten().collect();
    all.sort();
    all.iter_mut().zip(0..).for_each(|((_, doc), i)| *doc = DocId::new(i));
    open_one(&all)
}

/// All of one form.
fn measure(
    ids: &[Vec<(String, DocId)>],
    absent: &[String],
    form: Form,
) -> Result<(), Box<dyn std::error::Error>> {
    let (segments, docs) = (ids.len(), ids[0].len());
    let count = (segments * docs) as f64;
    let builder = IdsBuilder::new(IdOptions { form, ..IdOptions::default() });
    let build = || ids.iter().map(|ids| builder.build(&ids[..], u32::try_from(docs).unwrap_or(u32::MAX)));
    let mut made = Vec::new();
    let time = median(|| made = build().collect());
    let made = made.into_iter().collect::<Result<Vec<_>, _>>()?;
    println!("\n{}", form.name());
    println!("  build     {:8.2} M ids/s", count / time / 1e6);
    let mut meta = 0;
    let sizes = made.iter().map(|ids| ids.sizes(|bytes| bytes.len() as u64));
    let each = sizes.fold([0.0; 6], |sum, size| {
        let parts = [size.keys, size.starts, size.index, size.filter, size.docs, size.total()];
        std::array::from_fn(|i| sum[i] + parts[i] as f64 / count)
    });
    let readers = made.into_iter().map(|ids| open(ids, &mut meta)).collect::<Result<Vec<_>>>()?;
    let [keys, starts, index, filter, doc, total] = each;
    let heap = readers.iter().map(IdsReader::heap_bytes).sum::<usize>() as f64;
    println!(
        "  bytes/id  {total:8.2}: ids {keys:.2}, starts {starts:.2}, index {index:.2}, filter {filter:.2}, docs {doc:.2}"
    );
    println!(
        "            {:8.2} with the directory; {:.2} on the heap",
        total + meta as f64 / count,
        heap / count
    );

    let known: Vec<&String> = (0..ASKED).map(|i| &ids[i * 7919 % segments][i * 104_729 % docs].0).collect();
    let absent: Vec<&String> = absent.iter().collect();
    for (what, asked) in [("absent", &absent), ("present", &known)] {
        let expected = if what == "absent" { 0 } else { asked.len() };
        for (how, filter) in [("filter", true), ("no filter", false)] {
            let asked = if filter { &asked[..] } else { &asked[..asked.len() / 20] };
            let expected = if expected > 0 { asked.len() } else { 0 };
            let mut found = Ok(0);
            let time = median(|| found = look_up(&readers, asked, filter));
            assert_eq!(found?, expected, "{what}");
            let each = time / asked.len() as f64;
            println!(
                "  {what:9} {how:9} {:9.3} us/id {:8.2} ns/(id x segment)",
                each * 1e6,
                each * 1e9 / segments as f64
            );
        }
    }
    Ok(())
}

/// Looks each id up in the segments, the newest first, until it is found. Returns how many were.
fn look_up(readers: &[IdsReader<Owned>], asked: &[&String], filter: bool) -> Result<usize> {
    let mut found = 0;
    let mut buffer = Packed::default();
    let Some(first) = readers.first() else { return Ok(0) };
    for id in asked {
        let id = id.as_bytes();
        let probe = Probe::new(hash(id, first.seed()));
        let Some(key) = first.template().pack(id, &mut buffer) else { continue };
        for reader in readers {
            if filter && !reader.may_hold(&probe)? {
                continue;
            }
            if let Some(doc) = reader.find_packed(key)? {
                black_box(doc);
                found += 1;
                break;
            }
        }
    }
    Ok(found)
}

/// All ids in one segment: opening, and scanning.
fn open_one(ids: &[(String, DocId)]) -> Result<(), Box<dyn std::error::Error>> {
    let docs = u32::try_from(ids.len())?;
    println!("\n{docs} ids in one segment of blocks");
    let builder = IdsBuilder::new(IdOptions::default());
    let mut made = None;
    let time = median(|| made = Some(builder.build(ids, docs)));
    println!("  build     {:8.2} M ids/s", f64::from(docs) / time / 1e6);
    let Some(made) = made else { return Ok(()) };
    let (made, mut meta) = (made?, 0);
    let sizes = made.sizes(|bytes| bytes.len() as u64);
    println!("  bytes/id  {:8.2}", sizes.total() as f64 / f64::from(docs));
    let mut copies: Vec<Ids<Owned>> =
        (0..ROUNDS).map(|_| owned(made.clone(), &mut meta)).collect::<Result<_>>()?;
    let mut opened = Vec::new();
    let time = median(|| opened.extend(copies.pop().map(IdsReader::open)));
    println!("  open      {:8.1} us", time * 1e6);
    let Some(reader) = opened.pop() else { return Ok(()) };
    let reader = reader?;
    let mut seen = 0;
    let time = median(|| {
        seen = 0;
        let _ = reader.each(|_, doc| {
            black_box(doc);
            seen += 1;
            ControlFlow::Continue(())
        });
    });
    assert_eq!(seen, ids.len());
    println!("  scan      {:8.1} ns/id", time * 1e9 / f64::from(docs));
    let time = median(|| _ = black_box(reader.verify()));
    println!("  verify    {:8.1} ns/id", time * 1e9 / f64::from(docs));
    Ok(())
}

fn owned(ids: Ids<Vec<u8>>, meta: &mut usize) -> Result<Ids<Owned>> {
    let nowhere =
        |_, bytes: Vec<u8>| Ok::<_, Error>(SectionRef { offset: 0, len: bytes.len() as u64, crc: 0 });
    let (mut fields, mut nowhere) = (Vec::new(), nowhere);
    ids.clone().try_map(&mut nowhere)?.encode_meta("id", &mut fields);
    *meta += fields.len();
    ids.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes)))
}

fn open(ids: Ids<Vec<u8>>, meta: &mut usize) -> Result<IdsReader<Owned>> {
    IdsReader::open(owned(ids, meta)?)
}

/// Seconds of this thread that `work` takes.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let before = now();
            work();
            now() - before
        })
        .collect();
    times.sort();
    times[ROUNDS / 2].as_secs_f64()
}

fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn sorted(docs: usize, random: &mut SplitMix) -> Vec<(String, DocId)> {
    let mut ids: Vec<_> = (0..docs).zip(0..).map(|(_, doc)| (random.uuid(), DocId::new(doc))).collect();
    ids.sort();
    ids
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A UUID, version 4.
    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        let (a, b) = (a & !0xf000 | 0x4000, b >> 2 | 1 << 63);
        let (ab, cd) = (format!("{a:016x}"), format!("{b:016x}"));
        format!("{}-{}-{}-{}-{}", &ab[..8], &ab[8..12], &ab[12..], &cd[..4], &cd[4..])
    }
}
