//! A store with every kind of field, and random queries of it.

use docvalues::prelude::*;
use docvalues::search::Query;
use docvalues::store::{Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind};
use docvalues_testkit::rng::SplitMix64;

/// The fields after the id. Only the last segments have values of `late`.
fn fields() -> [(&'static str, Kind, LogicalType); 15] {
    [
        ("small", Kind::Numeric, LogicalType::I64),
        ("large", Kind::Numeric, LogicalType::U64),
        ("ratio", Kind::Numeric, LogicalType::F64),
        ("odd", Kind::Numeric, LogicalType::F64),
        ("flag", Kind::Numeric, LogicalType::Bool),
        ("day", Kind::Numeric, LogicalType::Date),
        ("at", Kind::Numeric, LogicalType::TimestampMillis),
        ("host", Kind::Sorted, LogicalType::Utf8),
        ("path", Kind::Binary, LogicalType::Utf8),
        ("raw", Kind::Binary, LogicalType::Bytes),
        ("tags", Kind::SortedSet, LogicalType::Utf8),
        ("numbers", Kind::SortedNumeric, LogicalType::I64),
        ("late", Kind::Numeric, LogicalType::I64),
        ("client", Kind::Sorted, LogicalType::Ip),
        ("session", Kind::Binary, LogicalType::Uuid),
    ]
}

pub(crate) fn schema() -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    let fields = fields().map(|(name, kind, logical)| Field::new(name, kind, logical));
    let mut all = [id].into_iter().chain(fields);
    all.try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap().with_id_field("id").unwrap()
}

/// Doubles that are ordered, or compared, in several ways.
const ODD: [f64; 8] = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, 5e-324];

/// Writes documents from `first` on, of which some have values in some fields.
fn write(store: &Store, first: u32, docs: u32, random: &mut SplitMix64) {
    let mut batch = store.batch().unwrap();
    let id = batch.field("id").unwrap();
    let f = fields().map(|(name, ..)| batch.field(name).unwrap());
    for number in first..first + docs {
        let mut row = batch.upsert();
        row.str(id, &format!("{number:06}")).unwrap();
        let mut some = |share: u32| random.below_u32(share) > 0;
        let given: [bool; 15] = std::array::from_fn(|at| some(if at < 3 { 20 } else { 4 }));
        let mut below = |end: u32| random.below_u32(end);
        if given[0] {
            row.i64(f[0], i64::from(below(200)) - 100).unwrap();
        }
        if given[1] {
            row.u64(f[1], u64::MAX - u64::from(below(50))).unwrap();
        }
        if given[2] {
            row.f64(f[2], f64::from(below(1_000)) / 8.0 - 50.0).unwrap();
        }
        if given[3] {
            row.f64(f[3], ODD[below(8) as usize]).unwrap();
        }
        if given[4] {
            row.bool(f[4], below(2) == 0).unwrap();
        }
        if given[5] {
            row.date(f[5], 19_700 + i32::try_from(below(40)).unwrap()).unwrap();
        }
        if given[6] {
            row.timestamp(f[6], 1_700_000_000_000 + i64::from(number) * 1_000).unwrap();
        }
        if given[7] {
            row.str(f[7], &format!("host-{:02}", below(30))).unwrap();
        }
        if given[8] {
            row.str(f[8], &format!("/{}/{}", ["a", "b", "a%", "ü"][below(4) as usize], below(500))).unwrap();
        }
        if given[9] {
            row.bytes(f[9], &[0xff, u8::try_from(below(5)).unwrap()]).unwrap();
        }
        if given[10] {
            for _ in 0..below(3) {
                row.str(f[10], &format!("tag-{}", below(6))).unwrap();
            }
        }
        if given[11] {
            for _ in 0..below(3) {
                row.i64(f[11], i64::from(below(9))).unwrap();
            }
        }
        if given[12] && number >= 600 {
            row.i64(f[12], i64::from(below(4))).unwrap();
        }
        if given[13] {
            row.ip(f[13], [10, 0, 0, u8::try_from(below(200)).unwrap()]).unwrap();
        }
        if given[14] {
            row.uuid(f[14], u128::from(below(50)) << 120).unwrap();
        }
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.refresh().unwrap();
}

/// A store with several segments, a buffer, deletes and updates; only the first segments if it is not `changed`.
pub(crate) fn store(folder: &std::path::Path, is_changed: bool) -> Store {
    let mut random = SplitMix64::new(28);
    let store = Store::create(folder, schema(), StoreOptions::default()).unwrap();
    for segment in 0..4 {
        write(&store, segment * 300, [300, 1, 300, 120][segment as usize], &mut random);
        if segment < 3 || !is_changed {
            store.commit().unwrap();
        }
    }
    if is_changed {
        store.delete_where(&Query::range("small", 40..)).unwrap();
        let mut batch = store.batch().unwrap();
        let (small, host) = (batch.field("small").unwrap(), batch.field("host").unwrap());
        let mut row = batch.update();
        row.i64(small, 1_000).unwrap().str(host, "host-new").unwrap();
        row.finish().unwrap();
        assert!(store.update_where(&Query::eq("flag", true), batch).unwrap() > 0);
        store.refresh().unwrap();
    }
    store
}

/// A condition on columns of the table `name`.
pub(crate) fn condition(name: &str, depth: u32, random: &mut SplitMix64) -> String {
    let kinds = if depth == 0 { 18 } else { 22 };
    let kind = random.below_u32(kinds);
    let op = ["=", "<>", "<", "<=", ">", ">="][random.below_u32(6) as usize];
    let mut below = |end: u32| random.below_u32(end);
    match kind {
        0 => format!("{name}.small {op} {}", i64::from(below(220)) - 110),
        1 => format!("{} {op} {name}.small", i64::from(below(220)) - 110),
        2 => format!("{name}.small between {} and {}", i64::from(below(100)) - 100, below(100)),
        3 => format!("{name}.small not in ({}, {}, 7)", below(20), below(20)),
        4 => format!("{name}.large {op} {}", u64::MAX - u64::from(below(60))),
        5 => format!("{name}.ratio {op} {}", f64::from(below(1_000)) / 8.0 - 50.0),
        6 => format!("{name}.odd {op} {}", ["0.0", "-0.0", "1.5", "-1e300", "1e300", "2"][below(6) as usize]),
        7 => format!("{}{name}.flag", ["", "not "][below(2) as usize]),
        8 => format!("{name}.day {op} date '2024-01-{:02}'", below(31) + 1),
        9 => format!("{name}.at {op} timestamp '2023-11-14T22:{:02}:00Z'", below(60)),
        10 => format!("{name}.host {op} 'host-{:02}'", below(32)),
        11 => {
            let last = ["'none'", "null"][below(2) as usize];
            format!(
                "{name}.host {}in ('host-{:02}', 'host-{:02}', {last})",
                ["", "not "][below(2) as usize],
                below(30),
                below(30)
            )
        }
        12 => format!(
            "{name}.path like '{}'",
            ["/a/%", "/a%", "/%/1%", "/a\\%/%", "%", "/ü%"][below(6) as usize]
        ),
        13 => {
            let all = ["small", "odd", "host", "path", "tags", "numbers", "late", "flag"];
            format!("{name}.{} is {}null", all[below(8) as usize], ["", "not "][below(2) as usize])
        }
        14 => format!("{name}.raw {op} x'ff{:02x}'", below(6)),
        15 => format!("{name}.late {op} {}", below(3)),
        16 => format!("{name}.client {op} to_ip('10.0.0.{}')", below(220)),
        17 => format!("to_uuid('{:02x}000000-0000-0000-0000-000000000000') {op} {name}.session", below(60)),
        18 | 19 => {
            format!("({} and {})", condition(name, depth - 1, random), condition(name, depth - 1, random))
        }
        20 => format!("({} or {})", condition(name, depth - 1, random), condition(name, depth - 1, random)),
        _ => format!("not ({})", condition(name, depth - 1, random)),
    }
}

pub(crate) fn query(random: &mut SplitMix64) -> String {
    let filter = condition("a", 2, random);
    match random.below_u32(7) {
        0 => format!(
            "select count(*), count(small), sum(small), min(at), max(day), sum(ratio), count(odd), count(tags), max(host), \
             min(large) from t a where {filter}"
        ),
        1 => format!("select id, small, large, odd, flag, day, at, path, raw, tags, numbers from t a where {filter} order by id"),
        2 if random.below_u32(2) == 0 => format!("select host, flag, min(path), count(distinct small) from t a where {filter} group by flag, host order by 1, 2"),
        2 => format!("select host, count(*), sum(small), count(late) from t a where {filter} group by host order by host"),
        3 => {
            let column = ["small", "large", "ratio", "odd", "day", "at", "host", "late"][random.below_u32(8) as usize];
            let order = ["", "desc", "nulls first", "desc nulls last"][random.below_u32(4) as usize];
            let limit = random.below_u32(9) + 1;
            format!("select id, {column} from t a where {filter} order by {column} {order}, id limit {limit}")
        }
        4 => format!(
            "select a.id, b.id, b.path from t a join t b on a.host = b.host and a.day = b.day where {filter} and {} \
             order by a.id, b.id limit 50",
            condition("b", 1, random)
        ),
        5 => format!("select count(*) from (select numbers from t a where {filter} limit 13)"),
        _ => "select count(*), min(small), max(small), min(odd), max(odd), count(late), min(day), max(at), count(host) from t"
            .to_owned(),
    }
}
