//! Documents whose values are updated, by number and by the seed of each value, and a store of them.
//! `peers/lucene/src/lucene10/UpdatedDocs.java` generates the same.

use std::path::{Path, PathBuf};

use docvalues::store::{Store, StoreOptions, StoreSchema};
use docvalues::writer::Document;
use docvalues::{Field, FieldId, Kind, LogicalType};
use docvalues_testkit::rng::SplitMix64;

use crate::ids::GAMMA;

/// The numbers that no update changes, unless it changes several fields.
const NUMBERS: [&str; 4] = ["n1", "n2", "n3", "n4"];

/// Words of titles.
const WORDS: [&str; 16] = [
    "salt", "road", "moon", "rain", "fish", "gold", "wind", "fire", "lake", "bird", "rose", "iron", "snow",
    "leaf", "star", "milk",
];

/// The output of a SplitMix64 with this seed.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(GAMMA);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// 16 bytes at random.
pub fn id(number: u32) -> [u8; 16] {
    let half = |at: u64| mix(16 * u64::from(number) + at).to_be_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(1));
    id[8..].copy_from_slice(&half(2));
    id
}

/// A time of change: 39 bits.
pub fn time(seed: u64) -> i64 {
    (mix(seed) >> 25).cast_signed()
}

/// A title of 25 bytes.
pub fn title(seed: u64) -> String {
    let mixed = mix(seed ^ 1);
    let word = |at: u32| WORDS[(mixed >> (4 * at) & 15) as usize];
    format!("{} {} {} {} {:05}", word(0), word(1), word(2), word(3), (mixed >> 32) % 100_000)
}

/// One of 200 hosts.
pub fn host(seed: u64) -> String {
    format!("host-{:03}.example.com", mix(seed ^ 2) % 200)
}

/// A number of 20 bits.
fn number(seed: u64, field: usize) -> i64 {
    (mix(seed + 3 + field as u64) >> 44).cast_signed()
}

/// Writes 20 to `most` words to `text`, or none if `most` is 0.
///
/// Their frequencies follow Zipf's law, in steps: each of the sixteen doublings of the rank has a sixteenth of the words.
pub fn text(number: u32, most: u32, text: &mut String) {
    text.clear();
    if most == 0 {
        return;
    }
    let mut rng = SplitMix64::new(u64::from(number) ^ 0x5eed << 32);
    for at in 0..20 + rng.below_u32(most.saturating_sub(19)) {
        if at > 0 {
            text.push(' ');
        }
        let random = rng.next_u64();
        let octave = random >> 60;
        spell(1 << octave | random & ((1 << octave) - 1), text);
    }
}

/// Appends the word of a rank: syllables of two letters, fewer in frequent words.
fn spell(mut rank: u64, text: &mut String) {
    while rank > 0 {
        text.push(char::from(b"bdfghjklmnprstvz"[(rank >> 2 & 15) as usize]));
        text.push(char::from(b"aeio"[(rank & 3) as usize]));
        rank >>= 6;
    }
}

/// The seed of the values that a document has at first.
pub fn first_seed(number: u32) -> u64 {
    16 * u64::from(number) + 3
}

/// The fields of a store.
pub fn schema() -> StoreSchema {
    let numbers = ["time"].into_iter().chain(NUMBERS);
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Bytes),
        Field::new("title", Kind::Binary, LogicalType::Utf8),
        Field::new("host", Kind::Sorted, LogicalType::Utf8),
    ];
    let fields =
        fields.into_iter().chain(numbers.map(|name| Field::new(name, Kind::Numeric, LogicalType::I64)));
    let schema =
        fields.fold(StoreSchema::new(), |schema, field| schema.with_field(field).expect("names differ"));
    schema.with_id_field("id").expect("a field")
}

/// The fields of a batch or a segment.
pub struct Fields {
    /// The id.
    pub id: FieldId,
    /// The time of change.
    pub time: FieldId,
    /// The title.
    pub title: FieldId,
    /// The host.
    pub host: FieldId,
    numbers: [FieldId; 4],
}

impl Fields {
    /// The fields that `field` has by name.
    pub fn of(field: impl Fn(&str) -> FieldId) -> Fields {
        let [id, time, title, host] = ["id", "time", "title", "host"].map(&field);
        Fields { id, time, title, host, numbers: NUMBERS.map(field) }
    }

    /// Sets all values of a document: the time, and others by a seed.
    pub fn write(&self, doc: &mut Document<'_>, number: u32, time: i64, seed: u64) {
        doc.bytes(self.id, &id(number)).expect("bytes");
        doc.i64(self.time, time).expect("a number");
        doc.str(self.title, &title(seed)).expect("a string");
        doc.str(self.host, &host(seed)).expect("a string");
        for (at, field) in self.numbers.iter().enumerate() {
            doc.i64(*field, self::number(seed, at)).expect("a number");
        }
    }
}

/// The first document of a segment, of so many.
pub fn first_of(segment: u32, segments: u32, docs: u32) -> u32 {
    (u64::from(segment) * u64::from(docs) / u64::from(segments)) as u32
}

/// Writes a store of all documents, in segments.
pub fn build_store(folder: &Path, docs: u32, segments: u32) {
    let store = Store::create(folder, schema(), StoreOptions::default()).expect("a folder");
    for segment in 0..segments {
        let mut new = store.new_segment().expect("a disk with room");
        let fields = Fields::of(|name| new.field(name).expect("a field"));
        for number in first_of(segment, segments, docs)..first_of(segment + 1, segments, docs) {
            let (mut doc, seed) = (new.document(), first_seed(number));
            fields.write(&mut doc, number, time(seed), seed);
            doc.finish().expect("a disk with room");
        }
        new.finish().expect("a disk with room");
    }
    store.commit().expect("a disk with room");
}

/// Copies an index to `copy` in a folder. Its files never change, so names are enough; locks are left out.
pub fn copy(built: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("copy");
    drop(std::fs::remove_dir_all(&copy));
    std::fs::create_dir_all(&copy).expect("a folder");
    for entry in std::fs::read_dir(built).expect("a folder") {
        let entry = entry.expect("a folder");
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if !name.starts_with("lock") && !name.ends_with(".lock") && name != "built" {
            std::fs::hard_link(entry.path(), copy.join(entry.file_name())).expect("one file system");
        }
    }
    copy
}
