//! The automaton and the trie beside the crate `fst` and a `HashMap`: time to build, bytes, time to look up.
//!
//! ```sh
//! cargo run --release -p docvalues-terms --example forms
//! ```
//!
//! Keys are numbered as they are sorted. *Small* is 400 dictionaries of 2,500 keys, asked in turn, as a document is
//! looked up in the segments of an index; *large* is one of 1,000,000. Times are the thread's CPU time, the best of
//! three passes, which alternate between forms.

#![allow(clippy::unwrap_used, reason = "a program that measures: what fails shows where")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hint::black_box;

use docvalues_format::error::Section;
use docvalues_format::source::Owned;
use docvalues_terms::Dictionary;
use docvalues_terms::exact::{ExactTrie, TrieBuilder};
use docvalues_terms::fst::{Fst, FstBuilder};
use docvalues_testkit::rng::SplitMix64;

type Keys = Vec<Vec<u8>>;

const PASSES: usize = 3;

/// Nanoseconds of this thread so far.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// A form of the index: how it is built and asked.
trait Built: Sized {
    const NAME: &'static str;
    fn build(keys: &[Vec<u8>]) -> Self;
    fn bytes(&self) -> usize;
    fn find(&self, key: &[u8]) -> Option<u64>;
}

impl Built for (Fst<Owned>, usize) {
    const NAME: &'static str = "Fst";

    fn build(keys: &[Vec<u8>]) -> Self {
        let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
        keys.iter().for_each(|key| builder.push(key).unwrap());
        let bytes = builder.finish();
        let len = bytes.len();
        (Fst::open(Owned::new(Section::Ids, bytes), u32::try_from(keys.len()).unwrap()).unwrap(), len)
    }

    fn bytes(&self) -> usize {
        self.1
    }

    fn find(&self, key: &[u8]) -> Option<u64> {
        self.0.find(key).unwrap().map(u64::from)
    }
}

impl Built for (ExactTrie<Owned>, usize) {
    const NAME: &'static str = "ExactTrie";

    fn build(keys: &[Vec<u8>]) -> Self {
        let mut builder = TrieBuilder::new();
        keys.iter().for_each(|key| builder.push(key).unwrap());
        let bytes = builder.finish();
        let len = bytes.len();
        (ExactTrie::open(Owned::new(Section::Ids, bytes), u32::try_from(keys.len()).unwrap()).unwrap(), len)
    }

    fn bytes(&self) -> usize {
        self.1
    }

    fn find(&self, key: &[u8]) -> Option<u64> {
        self.0.find(key).unwrap().map(u64::from)
    }
}

impl Built for fst::Map<Vec<u8>> {
    const NAME: &'static str = "fst::Map";

    fn build(keys: &[Vec<u8>]) -> Self {
        fst::Map::from_iter(keys.iter().zip(0..)).unwrap()
    }

    fn bytes(&self) -> usize {
        self.as_fst().as_bytes().len()
    }

    fn find(&self, key: &[u8]) -> Option<u64> {
        self.get(key)
    }
}

impl Built for HashMap<Vec<u8>, u32> {
    const NAME: &'static str = "HashMap";

    fn build(keys: &[Vec<u8>]) -> Self {
        keys.iter().cloned().zip(0..).collect()
    }

    /// As hashbrown lays out: a slot and a byte for each, a power of two of them; keys with 16 bytes of allocator.
    fn bytes(&self) -> usize {
        let slots = (self.capacity() * 8 / 7).next_power_of_two();
        slots * (size_of::<(Vec<u8>, u32)>() + 1) + self.keys().map(|key| key.len() + 16).sum::<usize>()
    }

    fn find(&self, key: &[u8]) -> Option<u64> {
        self.get(key).map(|&rank| rank.into())
    }
}

/// Keys in the order in which they are asked for, end to end: to fetch them is not what is measured.
struct Asked {
    bytes: Vec<u8>,
    /// Where each ends, and whose it is.
    ends: Vec<(usize, usize)>,
}

impl Asked {
    fn new<'a>(keys: impl Iterator<Item = (usize, &'a Vec<u8>)>) -> Asked {
        let mut asked = Asked { bytes: Vec::new(), ends: Vec::new() };
        for (set, key) in keys {
            asked.bytes.extend_from_slice(key);
            asked.ends.push((set, asked.bytes.len()));
        }
        asked
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut from = 0;
        self.ends.iter().map(move |&(set, end)| (set, &self.bytes[std::mem::replace(&mut from, end)..end]))
    }
}

/// What is measured: ns a key to build, bytes a key, ns a look-up.
#[derive(Clone, Copy)]
struct Row {
    build: f64,
    bytes: f64,
    present: f64,
    absent: f64,
}

fn build<T: Built>(sets: &[Keys], keys: f64, row: &mut Row) -> Vec<T> {
    let start = now();
    let built: Vec<T> = sets.iter().map(|keys| T::build(keys)).collect();
    row.build = row.build.min((now() - start) / keys);
    row.bytes = built.iter().map(T::bytes).sum::<usize>() as f64 / keys;
    built
}

/// Asks every structure for each key, and says how many were found.
fn ask<T: Built>(built: &[T], keys: &Asked, ns: &mut f64) -> usize {
    let start = now();
    let found = |key| built.iter().filter(|built| black_box(built.find(key)).is_some()).count();
    let found = keys.iter().map(|(_, key)| found(key)).sum();
    *ns = ns.min((now() - start) / (keys.ends.len() * built.len()) as f64);
    found
}

/// Asks each key's own structure.
fn ask_own<T: Built>(built: &[T], keys: &Asked, ns: &mut f64) -> usize {
    let start = now();
    let found = keys.iter().filter(|(set, key)| black_box(built[*set].find(key)).is_some()).count();
    *ns = ns.min((now() - start) / keys.ends.len() as f64);
    found
}

fn measure<T: Built>(sets: &[Keys], present: &Asked, absent: &Asked, row: &mut Row) {
    let keys = sets.iter().map(Vec::len).sum::<usize>() as f64;
    let built = build::<T>(sets, keys, row);
    assert_eq!(ask_own(&built, present, &mut row.present), present.ends.len(), "{}", T::NAME);
    assert_eq!(ask(&built, absent, &mut row.absent), 0, "{}", T::NAME);
}

/// Measures all forms with `sets` of keys, of which `absent` are in none.
fn compare(what: &str, sets: &[Keys], absent: &Keys) {
    let mut random = SplitMix64::new(3);
    let present = Asked::new((0..400_000).map(|i| {
        let set = i % sets.len();
        (set, &sets[set][random.place(sets[set].len())])
    }));
    let asked = (400_000 / sets.len()).min(absent.len());
    let absent = Asked::new(absent[..asked].iter().map(|key| (0, key)));
    let mut rows = [Row { build: f64::MAX, bytes: 0.0, present: f64::MAX, absent: f64::MAX }; 4];
    for _ in 0..PASSES {
        measure::<(Fst<Owned>, usize)>(sets, &present, &absent, &mut rows[0]);
        measure::<(ExactTrie<Owned>, usize)>(sets, &present, &absent, &mut rows[1]);
        measure::<fst::Map<Vec<u8>>>(sets, &present, &absent, &mut rows[2]);
        measure::<HashMap<Vec<u8>, u32>>(sets, &present, &absent, &mut rows[3]);
    }
    let peer = rows[2];
    let names = [<(Fst<Owned>, usize)>::NAME, <(ExactTrie<Owned>, usize)>::NAME, "fst::Map", "HashMap"];
    for (name, row) in names.into_iter().zip(rows) {
        let mut line = format!("| {what} | {name} |");
        let _ = write!(line, " {:.0} ({:.1}x) |", row.build, peer.build / row.build);
        let _ = write!(line, " {:.2} ({:.2}x) |", row.bytes, row.bytes / peer.bytes);
        let _ = write!(line, " {:.0} ({:.2}x) |", row.present, peer.present / row.present);
        println!("{line} {:.0} ({:.2}x) |", row.absent, peer.absent / row.absent);
    }
}

/// The order of alphabets is that of their bytes in none of them, so keys are sorted afterwards.
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn packed(random: &mut SplitMix64) -> Vec<u8> {
    [random.next_u64().to_be_bytes(), random.next_u64().to_be_bytes()].concat()
}

fn uuid(random: &mut SplitMix64) -> Vec<u8> {
    let hex: String = packed(random).iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-").into_bytes()
}

/// As Elasticsearch makes ids (`TimeBasedUUIDGenerator`): what changes slowly stands where it is shared, and the
/// lowest bytes of the counter and of the time around it; 5,000 documents a second.
fn auto(doc: u64) -> Vec<u8> {
    let (time, count) = (1_750_000_000_000 + doc / 5, 0x0061_2345 + doc);
    let [t0, t1, t2, t3, t4, t5, ..] = time.to_le_bytes();
    let [c0, c1, c2, ..] = count.to_le_bytes();
    let id = [c0, c2, t2, t3, t4, t5, 0x4f, 0x9a, 0x12, 0xe3, 0x77, 0xc0, t1, c1, t0];
    let sextets = id.chunks(3).flat_map(|b| {
        let all = u32::from_be_bytes([0, b[0], b[1], b[2]]);
        [18, 12, 6, 0].map(|shift| BASE64_URL[(all >> shift & 63) as usize])
    });
    sextets.collect()
}

fn main() {
    println!(
        "| keys | form | build ns/key (faster) | bytes/key (of `fst`) | present ns (faster) | absent ns (faster) |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for kind in ["uuid", "packed", "auto", "seq", "mail"].into_iter().filter(|kind| kind.contains(&wanted)) {
        let mut random = SplitMix64::new(1);
        let mut next = (0..).map(|doc: u64| match kind {
            "uuid" => uuid(&mut random),
            "packed" => packed(&mut random),
            "auto" => auto(doc),
            "mail" => format!("{:010x}@mail.example.org", random.below(1 << 40)).into_bytes(),
            _ => format!("doc-{doc:010}").into_bytes(),
        });
        let all: Keys = next.by_ref().take(1_000_000).collect();
        let absent: Keys = next.take(400_000).collect();
        let mut small: Vec<Keys> = all.chunks(2_500).map(<[_]>::to_vec).collect();
        small.iter_mut().for_each(|keys| keys.sort_unstable());
        compare(&format!("{kind}, 400 x 2,500"), &small, &absent);
        let mut large = [all];
        large[0].sort_unstable();
        compare(&format!("{kind}, 1,000,000"), &large, &absent);
    }
}
