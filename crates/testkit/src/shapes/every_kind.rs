//! A small segment with a column of every kind, type and encoding, for the damage sweeps.

use std::collections::BTreeSet;
use std::ops::Range;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_format::file::kind::{from_f64, from_u64};

use super::{Counts, Dataset, Numbers, Strings, lists};
use crate::model::ModelColumn;
use crate::rng::SplitMix64;

/// Documents of a presence block.
const BLOCK: u32 = 1 << 16;

/// Three blocks of presence, the last one partial.
const DOCS: u32 = 2 * BLOCK + 1000;

/// A deterministic segment of at most 100 KB with every kind, type and encoding.
///
/// | feature | columns |
/// | --- | --- |
/// | constant; packed; line; gcd; table; 64 bits wide | `constant`, `packed`, `line`, `a.gcd`, `table`, `extremes` |
/// | several encodings in one column | `mixed` |
/// | zone maps: more than 4,096 values | `packed`, `line`, `table`, `flag`, `day`, `many` |
/// | presence of all, of none | `constant`, `nothing` |
/// | blocks of presence: sparse, dense, list; full, runs, full and short; empty | `table`; `flag`; `packed` |
/// | byte strings of fixed and of variable length, one over a granule | `address`, `blob` |
/// | byte strings that each compression shortens | `words 0` to `words 4` |
/// | dictionaries of several blocks, of one, with an empty term, with none | `id`, `host`, `set of bytes`, `no terms` |
/// | several values: none to five, exactly one, 5,000 in one document | `sizes`, `one each`, `many` |
/// | every logical type; a format; a long name and an odd one | all |
pub fn small_of_every_kind() -> Dataset {
    let mut rng = SplitMix64::new(2);
    let mut columns = numeric(&mut rng);
    columns.extend(timed(&mut rng));
    columns.extend(bytes(&mut rng));
    columns.extend(multi(&mut rng));
    Dataset { docs: DOCS, columns }
}

fn field(name: &str, kind: Kind, logical: LogicalType) -> Field {
    Field::new(name, kind, logical)
}

/// Slots in which the documents `docs` have these values, in order.
fn at<T>(docs: impl IntoIterator<Item = u32>, values: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
    let mut slots = Vec::new();
    for (doc, value) in docs.into_iter().zip(values) {
        slots.resize_with(doc as usize, || None);
        slots.push(Some(value));
    }
    slots
}

/// `n` documents of `docs`, ascending.
fn some_of(docs: Range<u32>, n: usize, rng: &mut SplitMix64) -> BTreeSet<u32> {
    let mut some = BTreeSet::new();
    while some.len() < n {
        some.insert(docs.start + rng.below_u32(docs.end - docs.start));
    }
    some
}

fn numeric(rng: &mut SplitMix64) -> Vec<(Field, ModelColumn)> {
    let column =
        |name: &str, logical, slots| (field(name, Kind::Numeric, logical), ModelColumn::Numeric(slots));
    let dense = some_of(BLOCK..2 * BLOCK, 8600, rng);
    let sparse = some_of(0..BLOCK, 1000, rng).into_iter().chain(dense);
    let table: Vec<u32> = sparse.chain([2 * BLOCK, DOCS - 300, DOCS - 1]).collect();
    let distinct = || [200, -404, 1 << 50, i64::MIN / 3].into_iter().cycle();
    let in_runs = (BLOCK..BLOCK + 2000).chain(BLOCK + 30_000..BLOCK + 31_000);
    let flags = (0..BLOCK).chain(in_runs).chain(2 * BLOCK..DOCS);
    let mixed = (0..2500_i64).map(|i| match i {
        0..1024 => 77,
        1024..2048 => i * 1_000_003,
        _ => (i * i * 31) % 251,
    });
    // More than 256 distinct values, or they would be encoded as a table.
    let ends = Numbers::Extremes.make(20, rng).into_iter();
    let extremes: Vec<i64> = ends.chain(Numbers::FullRange.make(270, rng)).collect();
    let doubles = Numbers::Doubles.make(300, rng);
    let cents = |i: i32| from_f64(f64::from(i * i % 7_919 - 3_000) / 100.0);
    vec![
        column("constant", LogicalType::I64, vec![Some(7); DOCS as usize]),
        column("packed", LogicalType::I64, at(0..5000, Numbers::SmallRange.make(5000, rng))),
        column(
            "line",
            LogicalType::I64,
            at(62_000..68_000, (0..6000).map(|i| 250 * i + rng.below(4) as i64)),
        ),
        column("a.gcd", LogicalType::U64, at(300..900, (0..600).map(|_| from_u64(3600 * rng.below(900))))),
        column("table", LogicalType::I64, at(table, distinct())),
        column("flag", LogicalType::Bool, at(flags, (0..BLOCK * 2).map(|i| i64::from(i / 20_000 == 1)))),
        column("mixed", LogicalType::I64, at(2 * BLOCK - 1500.., mixed)),
        column("extremes", LogicalType::I64, at((9..).step_by(11), extremes)),
        column("größe 📏", LogicalType::F64, at(some_of(0..DOCS, 300, rng), doubles)),
        column(&"long name ".repeat(30), LogicalType::I64, at([BLOCK - 1, BLOCK, DOCS - 1], [1, 2, 3])),
        column("decimals", LogicalType::F64, at(200..700, (0..500).map(cents))),
        column("nothing", LogicalType::I64, vec![]),
    ]
}

/// Columns of dates and timestamps.
fn timed(rng: &mut SplitMix64) -> Vec<(Field, ModelColumn)> {
    let mut spelled = field("ms", Kind::Numeric, LogicalType::TimestampMillis);
    spelled.format = Some("%Y-%m-%d %H:%M:%S".into());
    let mut column = |field, first: u32, numbers: Numbers| {
        (field, ModelColumn::Numeric(at(first..first + 300, numbers.make(300, rng))))
    };
    vec![
        column(spelled, BLOCK, Numbers::Timestamps),
        column(field("us", Kind::Numeric, LogicalType::TimestampMicros), 2 * BLOCK, Numbers::Ascending),
        column(field("ns", Kind::Numeric, LogicalType::TimestampNanos), 40, Numbers::Line),
        (
            field("day", Kind::Numeric, LogicalType::Date),
            ModelColumn::Numeric((0..DOCS).map(|doc| Some(i64::from(15_000 + doc / 4096))).collect()),
        ),
    ]
}

fn bytes(rng: &mut SplitMix64) -> Vec<(Field, ModelColumn)> {
    let binary = |name, logical, slots| (field(name, Kind::Binary, logical), ModelColumn::Binary(slots));
    let sorted = |name, logical, slots| (field(name, Kind::Sorted, logical), ModelColumn::Sorted(slots));
    let mut blobs = Strings::NotUtf8.make(60, rng);
    // Longer than a granule, so that it spans two wherever it begins.
    blobs[30] = (0..5000).map(|_| rng.below(256) as u8).collect();
    let uuids = Strings::Uuids.make(40, rng);
    let mut columns = vec![
        binary("blob", LogicalType::Bytes, at(some_of(0..DOCS, 60, rng), blobs)),
        binary("text", LogicalType::Utf8, at(BLOCK - 20..BLOCK + 20, Strings::Scripts.make(40, rng))),
        binary("address", LogicalType::Ip, at(0..150, Strings::Ips.make(150, rng))),
        binary("key", LogicalType::Uuid, at(100..140, uuids.clone())),
        sorted("id", LogicalType::Utf8, at((5..).step_by(900), Strings::Urls.make(140, rng))),
        sorted("host", LogicalType::Utf8, at(1000..3000, Strings::FewDistinct.make(2000, rng))),
        sorted("uuid", LogicalType::Uuid, at(0..120, uuids.into_iter().cycle())),
        sorted("net", LogicalType::Ip, at((0..).step_by(997), Strings::Ips.make(60, rng))),
        sorted("prefixes", LogicalType::Bytes, at(0..80, Strings::NotUtf8.make(80, rng))),
        sorted("no terms", LogicalType::Utf8, vec![]),
    ];
    // One for each compression: it pays for few strings that repeat.
    columns.extend(["words 0", "words 1", "words 2", "words 3", "words 4"].map(|name| {
        binary(name, LogicalType::Utf8, at((300..).step_by(7), Strings::FewDistinct.make(200, rng)))
    }));
    columns
}

fn multi(rng: &mut SplitMix64) -> Vec<(Field, ModelColumn)> {
    let mut numbers = |name, logical, docs: Range<u32>, counts: Counts, numbers: Numbers| {
        let counts = counts.make(docs.len(), rng);
        let values = numbers.make(counts.iter().sum(), rng);
        let slots = at(docs, lists::cut(&counts, values)).into_iter().map(Option::unwrap_or_default);
        (field(name, Kind::SortedNumeric, logical), ModelColumn::SortedNumeric(slots.collect()))
    };
    let mut columns = vec![
        numbers("sizes", LogicalType::I64, 500..1300, Counts::UpToFive, Numbers::FewDistinct),
        numbers("one each", LogicalType::U64, BLOCK..BLOCK + 300, Counts::One, Numbers::SmallRange),
        numbers("three days", LogicalType::Date, 70..170, Counts::Three, Numbers::Days),
    ];
    let prices = (0..5000).map(|i| from_f64(f64::from(i % 3))).collect();
    let many = at([10, DOCS / 2, DOCS - 1], [vec![from_f64(-0.0)], prices, vec![from_f64(f64::NAN); 2]]);
    let many = many.into_iter().map(Option::unwrap_or_default).collect();
    columns.push((field("many", Kind::SortedNumeric, LogicalType::F64), ModelColumn::SortedNumeric(many)));

    let mut sets = |name, logical, docs: Range<u32>, strings: Strings| {
        let counts = Counts::UpToFive.make(docs.len(), rng);
        let values = strings.make(counts.iter().sum(), rng);
        let sets = lists::cut(&counts, values).into_iter().map(BTreeSet::from_iter);
        let slots = at(docs, sets).into_iter().map(Option::unwrap_or_default);
        (field(name, Kind::SortedSet, logical), ModelColumn::SortedSet(slots.collect()))
    };
    columns.extend([
        sets("tags", LogicalType::Utf8, 0..500, Strings::FewDistinct),
        sets("set of bytes", LogicalType::Bytes, BLOCK - 30..BLOCK + 30, Strings::NotUtf8),
        sets("set of ips", LogicalType::Ip, DOCS - 40..DOCS, Strings::Ips),
    ]);
    columns
}
