//! Test documents to group.

use docvalues_column::{DocId, Field, Kind, LogicalType, SortKey};
use docvalues_format::file::kind::{from_f64, from_u64};
use docvalues_search::group::Metric;
use docvalues_search::{Bitset, Docs};
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;

/// A document; numbers as stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) by: Option<i64>,
    pub(crate) numbers: [Option<i64>; COLUMNS.len()],
}

/// Columns of numbers: name, type, and whether every document has a value.
pub(crate) const COLUMNS: [(&str, LogicalType); 5] = [
    ("all", LogicalType::I64),
    ("some", LogicalType::I64),
    ("wide", LogicalType::I64),
    ("doubles", LogicalType::F64),
    ("unsigned", LogicalType::U64),
];

/// The column to group by: the representation of row values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Numbers close together.
    Near,
    /// Numbers far apart.
    Far,
    /// Doubles, of which two row values each are equal: among them -0.0 and 0.0.
    Doubles,
    Sorted,
    Binary,
}

impl By {
    /// The stored number of a row value, in the same order.
    pub(crate) fn number(self, value: i64) -> i64 {
        match self {
            By::Far => value * 1_000_000_007_000 - 5_000,
            By::Doubles if value == 6 => from_f64(-0.0),
            By::Doubles => from_f64((value / 2 - 3) as f64),
            _ => value - 3,
        }
    }

    /// The row value that stands for all of its group.
    pub(crate) fn group(self, value: i64) -> i64 {
        if self == By::Doubles { value | 1 } else { value }
    }

    /// The type of the numbers.
    pub(crate) fn logical(self) -> LogicalType {
        if self == By::Doubles { LogicalType::F64 } else { LogicalType::I64 }
    }

    /// The bytes, in the order of values.
    pub(crate) fn bytes(value: i64) -> Vec<u8> {
        format!("{value:07}{}", "x".repeat(usize::try_from(value % 11).unwrap())).into_bytes()
    }
}

/// Random documents.
pub(crate) fn rows(seed: u64, docs: usize, values: u64, missing: u64) -> Vec<Row> {
    let mut random = SplitMix64::new(seed);
    let mut below = move |end: u64| random.next_u64() % end.max(1);
    let mut rows = Vec::new();
    for _ in 0..docs {
        // Some values are frequent, most are not.
        let value = below(values).min(below(values)).cast_signed();
        let number = below(1_000).cast_signed() - 500;
        let double = match below(12) {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            // So that any order of addition gives the same.
            _ => number as f64 / 8.0,
        };
        let wide = [i64::MAX, i64::MIN, number << 50][below(3) as usize];
        let there = |some: bool, value: i64| some.then_some(value);
        rows.push(Row {
            by: there(below(100) >= missing, value),
            numbers: [
                Some(number),
                there(below(3) > 0, number % 7),
                there(below(50) > 0, wide),
                there(below(5) > 0, from_f64(double)),
                there(below(9) > 0, from_u64(u64::MAX / 3 + below(1 << 40))),
            ],
        });
    }
    rows
}

/// The rows as columns.
pub(crate) fn source(rows: &[Row], by: By) -> MemSource {
    let numbers = |pick: &dyn Fn(&Row) -> Option<i64>| ModelColumn::Numeric(rows.iter().map(pick).collect());
    let strings = || rows.iter().map(|row| row.by.map(By::bytes)).collect();
    let (kind, logical, column) = match by {
        By::Near | By::Far | By::Doubles => {
            (Kind::Numeric, by.logical(), numbers(&|row| row.by.map(|value| by.number(value))))
        }
        By::Sorted => (Kind::Sorted, LogicalType::Utf8, ModelColumn::Sorted(strings())),
        By::Binary => (Kind::Binary, LogicalType::Utf8, ModelColumn::Binary(strings())),
    };
    let by = (Field::new("by", kind, logical), column);
    let others = COLUMNS.iter().enumerate().map(|(at, (name, logical))| {
        (Field::new(*name, Kind::Numeric, *logical), numbers(&|row| row.numbers[at]))
    });
    MemSource::new(u32::try_from(rows.len()).unwrap(), std::iter::once(by).chain(others))
}

/// Some of the documents.
pub(crate) enum Chosen {
    All,
    Range(u32, u32),
    List(Vec<DocId>),
    Bits(Bitset),
}

impl Chosen {
    pub(crate) fn of(choice: u8, docs: u32) -> Chosen {
        match choice {
            0 => Chosen::All,
            1 => Chosen::Range(docs / 3, docs.saturating_add(5)),
            2 => Chosen::List((0..docs).filter(|doc| doc % 3 != 1).map(DocId::new).collect()),
            3 => Chosen::List((0..docs).filter(|doc| *doc == docs / 2).map(DocId::new).collect()),
            4 => Chosen::List(Vec::new()),
            _ => Chosen::Bits(Bitset::from_docs((0..docs).filter(|doc| doc % 5 < 3).map(DocId::new), docs)),
        }
    }

    pub(crate) fn docs(&self) -> Docs<'_> {
        match self {
            Chosen::All => Docs::All,
            Chosen::Range(from, to) => Docs::Range(*from, *to),
            Chosen::List(list) => Docs::list(list).unwrap(),
            Chosen::Bits(bits) => Docs::Bits(bits),
        }
    }
}

/// Some metrics.
pub(crate) fn metrics(choice: u8) -> Vec<Metric> {
    let all = COLUMNS.iter().flat_map(|(name, _)| {
        [Metric::Sum, Metric::Min, Metric::Max, Metric::Mean].map(|metric| metric((*name).to_owned()))
    });
    let percentiles =
        [("all", 50.0), ("doubles", 33.3), ("unsigned", 99.9), ("doubles", 0.0), ("some", 100.0)];
    let percentiles = percentiles.map(|(name, percentile)| Metric::Percentile(name.into(), percentile));
    match choice {
        0 => Vec::new(),
        1 => vec![Metric::Sum("all".into())],
        2 => vec![Metric::Mean("doubles".into()), Metric::Max("some".into()), Metric::Sum("wide".into())],
        3 => vec![Metric::Min("all".into()), Metric::Sum("some".into()), Metric::Mean("some".into())],
        4 => vec![
            Metric::First("some".into(), "doubles".into()),
            Metric::Last("wide".into(), "doubles".into()),
            Metric::Last("unsigned".into(), "some".into()),
        ],
        5 => percentiles.into(),
        _ => all.collect(),
    }
}

/// Some orders of documents.
pub(crate) fn sort(choice: u8) -> Vec<SortKey> {
    match choice {
        0 => Vec::new(),
        1 => vec![SortKey::of("all")],
        2 => vec![SortKey::of("some").descending(), SortKey::of("doubles")],
        3 => vec![SortKey::of("doubles").descending().missing_first()],
        _ => vec![SortKey::of("wide"), SortKey::of("all").descending()],
    }
}
