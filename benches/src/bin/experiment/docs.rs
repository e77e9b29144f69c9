//! The documents of the experiment, by number and by the seed of each value. `Updates.java` generates the same.

use docvalues::{Document, Field, FieldId, Kind, LogicalType, store::StoreSchema};
use docvalues_benches::ids::GAMMA;

use crate::Kind as Update;

/// The numbers that no update changes, unless it changes several fields.
pub(crate) const NUMBERS: [&str; 4] = ["n1", "n2", "n3", "n4"];

/// Words of titles.
const WORDS: [&str; 16] = [
    "salt", "road", "moon", "rain", "fish", "gold", "wind", "fire", "lake", "bird", "rose", "iron", "snow",
    "leaf", "star", "milk",
];

/// The output of a SplitMix64 with this seed.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(GAMMA);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// 16 bytes at random.
pub(crate) fn id(number: u32) -> [u8; 16] {
    let half = |at: u64| mix(16 * u64::from(number) + at).to_be_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(1));
    id[8..].copy_from_slice(&half(2));
    id
}

/// A time of change: 39 bits.
pub(crate) fn time(seed: u64) -> i64 {
    (mix(seed) >> 25).cast_signed()
}

/// A title of 25 bytes.
pub(crate) fn title(seed: u64) -> String {
    let mixed = mix(seed ^ 1);
    let word = |at: u32| WORDS[(mixed >> (4 * at) & 15) as usize];
    format!("{} {} {} {} {:05}", word(0), word(1), word(2), word(3), (mixed >> 32) % 100_000)
}

/// One of 200 hosts.
pub(crate) fn host(seed: u64) -> String {
    format!("host-{:03}.example.com", mix(seed ^ 2) % 200)
}

/// A number of 20 bits.
pub(crate) fn number(seed: u64, field: usize) -> i64 {
    (mix(seed + 3 + field as u64) >> 44).cast_signed()
}

/// The seed of the values that a document has at first.
pub(crate) fn first_seed(number: u32) -> u64 {
    16 * u64::from(number) + 3
}

/// The fields of a store.
pub(crate) fn schema() -> StoreSchema {
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

/// The fields of a batch or a segment: the id, those that updates change, and [`NUMBERS`].
pub(crate) struct Fields(pub(crate) [FieldId; 8]);

impl Fields {
    pub(crate) fn of(field: impl Fn(&str) -> FieldId) -> Fields {
        Fields(["id", "time", "title", "host", "n1", "n2", "n3", "n4"].map(field))
    }

    /// Adds a whole document.
    pub(crate) fn write(&self, doc: &mut Document<'_>, number: u32, seed: u64) {
        doc.bytes(self.0[0], &id(number)).expect("bytes");
        for kind in [Update::Numeric, Update::Binary, Update::Text] {
            self.set(doc, kind, seed);
        }
        for (at, field) in self.0[4..].iter().enumerate() {
            doc.i64(*field, self::number(seed, at)).expect("a number");
        }
    }

    /// Sets what an update changes.
    pub(crate) fn set(&self, doc: &mut Document<'_>, kind: Update, seed: u64) {
        match kind {
            Update::Reindex => {}
            Update::Numeric | Update::Mixed => drop(doc.i64(self.0[1], time(seed)).expect("a number")),
            Update::Binary => drop(doc.str(self.0[2], &title(seed)).expect("a string")),
            Update::Text => drop(doc.str(self.0[3], &host(seed)).expect("a string")),
        }
    }
}
