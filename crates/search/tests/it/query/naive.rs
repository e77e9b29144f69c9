//! A naive implementation of queries, which compares each value of each document with each literal; and random columns and
//! queries.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::Bound;

use docvalues_column::{ColumnSource, DocId, Field, Kind, LogicalType, bits};
use docvalues_format::file::kind::{from_f64, from_u64, to_f64, to_u64};
use docvalues_search::query::{
    BoundQuery, Comparison, Condition, Literal, Pattern, PatternKind, Query, Test,
};
use docvalues_search::{Bitset, DocSet, Docs, Error, Search};
use docvalues_testkit::model::{Cell, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;

/// The naive result; `None` if it cannot parse a literal.
pub type Judged = Option<bool>;

/// A stored value.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(i64),
    Bytes(&'a [u8]),
}

/// Whether document `doc` matches.
pub fn matches(rows: &Dataset, query: &Query, doc: u32) -> Judged {
    match query {
        Query::All => Some(true),
        Query::None => Some(false),
        Query::Docs(set) => Some(set.contains(DocId::new(doc))),
        Query::Condition(condition) => meets(rows, condition, doc),
        Query::And(parts) => parts.iter().try_fold(true, |all, part| Some(matches(rows, part, doc)? && all)),
        Query::Or(parts) => parts.iter().try_fold(false, |any, part| Some(matches(rows, part, doc)? || any)),
        Query::Not(part) => matches(rows, part, doc).map(|matches| !matches),
        other => panic!("nothing is expected of {other:?}"),
    }
}

fn meets(rows: &Dataset, condition: &Condition, doc: u32) -> Judged {
    let number = Field::new("_doc", Kind::Numeric, LogicalType::I64);
    let (field, values) = match column(rows, condition.column()) {
        Some((field, column)) => (field, values(column, doc)),
        None if condition.column() == "_doc" => (&number, vec![Value::Number(doc.into())]),
        None => return None,
    };
    let any = |is: &dyn Fn(Value<'_>) -> Judged| {
        values.iter().try_fold(false, |any, &value| Some(is(value)? || any))
    };
    let one_of = |literals: &[Literal]| {
        literals.iter().try_fold(false, |any_so_far, literal| {
            Some(any(&|value| equal(field.logical, value, literal))? || any_so_far)
        })
    };
    match condition.test() {
        Test::Exists => Some(!values.is_empty()),
        Test::Missing => Some(values.is_empty()),
        Test::In(literals) => one_of(literals),
        Test::NotIn(literals) => Some(!one_of(literals)? && !values.is_empty()),
        Test::Range(low, high) => any(&|value| {
            let is_beyond = |end: &Bound<Literal>, side: Ordering| match end {
                Bound::Included(literal) => {
                    let order = order(field.logical, value, literal)?;
                    Some(order.is_some_and(|order| order == side || order.is_eq()))
                }
                Bound::Excluded(literal) => Some(order(field.logical, value, literal)? == Some(side)),
                Bound::Unbounded => Some(true),
            };
            let (above, below) = (is_beyond(low, Ordering::Greater)?, is_beyond(high, Ordering::Less)?);
            Some(above && below)
        }),
        Test::Prefix(literal) => any(&|value| {
            let Value::Bytes(value) = value else { return None };
            match literal {
                Literal::Text(text) => Some(value.starts_with(text.as_bytes())),
                Literal::Bytes(bytes) => Some(value.starts_with(bytes)),
                _ => None,
            }
        }),
        Test::Matches(pattern) => any(&|value| match value {
            Value::Bytes(value) if matches!(field.logical, LogicalType::Utf8 | LogicalType::Bytes) => {
                like(value, pattern)
            }
            _ => None,
        }),
        Test::Column(comparison, other) => {
            let (other, column) = column(rows, other)?;
            let others = self::values(column, doc);
            let any = |wanted: &[Ordering]| {
                let mut pairs = values.iter().flat_map(|a| others.iter().map(move |b| (*a, *b)));
                let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                pairs.any(|(a, b)| {
                    let order = pair((field.logical, a), (other.logical, b), is_equality);
                    order.is_some_and(|order| wanted.contains(&order))
                })
            };
            use Ordering::{Equal, Greater, Less};
            Some(match comparison {
                Comparison::Equal => any(&[Equal]),
                Comparison::NotEqual => !values.is_empty() && !others.is_empty() && !any(&[Equal]),
                Comparison::Less => any(&[Less]),
                Comparison::LessOrEqual => any(&[Less, Equal]),
                Comparison::Greater => any(&[Greater]),
                Comparison::GreaterOrEqual => any(&[Greater, Equal]),
            })
        }
        _ => None,
    }
}

fn column<'r>(rows: &'r Dataset, name: &str) -> Option<(&'r Field, &'r ModelColumn)> {
    rows.columns.iter().find(|(field, _)| field.name == name).map(|(field, column)| (field, column))
}

fn values(column: &ModelColumn, doc: u32) -> Vec<Value<'_>> {
    match column.cell(doc) {
        Cell::Missing => vec![],
        Cell::Number(number) => vec![Value::Number(number)],
        Cell::Bytes(bytes) => vec![Value::Bytes(bytes)],
        Cell::Numbers(numbers) => numbers.iter().map(|&number| Value::Number(number)).collect(),
        Cell::Set(terms) => terms.iter().map(|term| Value::Bytes(term)).collect(),
    }
}

/// The regular expressions of random queries, with what they match.
type Expression = (&'static str, fn(&[u8]) -> bool);

fn contains(value: &[u8], part: &[u8]) -> bool {
    part.is_empty() || value.windows(part.len()).any(|window| window == part)
}

const EXPRESSIONS: [Expression; 5] = [
    ("^a", |value| value.starts_with(b"a")),
    ("[b]$|^zz$", |value| value.ends_with(b"b") || value == b"zz"),
    (r"w+\.", |value| contains(value, b"w.")),
    ("a.*b|^$", |value| value.is_empty() || value == b"ab"),
    ("é", |value| contains(value, "é".as_bytes())),
];

fn like(value: &[u8], pattern: &Pattern) -> Judged {
    let lower = |bytes: &[u8]| match pattern.ignores_case() {
        true => bytes.iter().map(u8::to_ascii_lowercase).collect(),
        false => bytes.to_vec(),
    };
    let value = lower(value);
    let wanted = match pattern.literal() {
        Literal::Text(text) => lower(text.as_bytes()),
        Literal::Bytes(bytes) => lower(bytes),
        _ => return None,
    };
    Some(match pattern.kind() {
        PatternKind::Equals => value == wanted,
        PatternKind::StartsWith => value.starts_with(&wanted),
        PatternKind::EndsWith => value.ends_with(&wanted),
        PatternKind::Contains => contains(&value, &wanted),
        PatternKind::Regex => {
            let (_, matches) = EXPRESSIONS.iter().find(|(text, _)| text.as_bytes() == wanted)?;
            matches(&value)
        }
        other => panic!("nothing is expected of {other:?}"),
    })
}

/// The order of two values that can be compared.
fn pair(a: (LogicalType, Value<'_>), b: (LogicalType, Value<'_>), is_equality: bool) -> Option<Ordering> {
    let integer = |logical, value| match logical {
        LogicalType::U64 => to_u64(value).into(),
        _ => i128::from(value) * nanos_of_unit(logical).unwrap_or(1),
    };
    match (a, b) {
        ((_, Value::Bytes(a)), (_, Value::Bytes(b))) => Some(a.cmp(b)),
        ((LogicalType::F64, Value::Number(a)), (LogicalType::F64, Value::Number(b))) => {
            to_f64(a).partial_cmp(&to_f64(b))
        }
        ((LogicalType::F64, Value::Number(a)), (logical, Value::Number(b))) => {
            int_and_double(integer(logical, b), to_f64(a)).map(Ordering::reverse)
        }
        ((logical, Value::Number(a)), (LogicalType::F64, Value::Number(b))) => {
            int_and_double(integer(logical, a), to_f64(b))
        }
        ((left, Value::Number(a)), (right, Value::Number(b))) => {
            let has_one_day = (left == LogicalType::Date) != (right == LogicalType::Date);
            let unit = if is_equality && has_one_day { DAY } else { 1 };
            Some(integer(left, a).div_euclid(unit).cmp(&integer(right, b).div_euclid(unit)))
        }
        _ => None,
    }
}

/// The naive result for all documents; `None` if there is none, or the query cannot be bound.
pub fn expected(rows: &Dataset, query: &Query) -> Option<Vec<u32>> {
    let judged: Option<Vec<bool>> = (0..rows.docs).map(|doc| matches(rows, query, doc)).collect();
    Some((0..rows.docs).zip(judged?).filter(|(_, matches)| *matches).map(|(doc, _)| doc).collect())
}

fn listed(found: &DocSet) -> Vec<u32> {
    found.iter().map(|found| found.doc.get()).collect()
}

/// Runs the query over `source`, which holds these rows, in every way, and compares the results. Returns false if the
/// query cannot be bound, or there is no naive result.
pub fn check(
    rows: &Dataset,
    source: &(dyn ColumnSource + Sync),
    query: &Query,
    rng: &mut SplitMix64,
) -> bool {
    let search = Search::new(source);
    let bound = match search.bind(query) {
        Ok(bound) => bound,
        Err(Error::Query(_)) => return false,
        Err(error) => panic!("{query}: {error}"),
    };
    let Some(expected) = expected(rows, query) else { return false };
    let quick = bound.quick_count().unwrap();
    assert!(quick.is_none_or(|count| count == expected.len() as u64), "{query}: {quick:?}");
    assert!(!bound.is_none() || expected.is_empty());
    assert!(!bound.is_all() || expected.len() == rows.docs as usize);
    let (_, explain) = bound.collect_explained(Docs::All).unwrap();
    assert!(explain.to_string().lines().count() >= 2);

    let one_in = *rng.pick(&[1, 2, 50, 500]);
    let some: Vec<DocId> = (0..rows.docs).filter(|_| rng.chance(1, one_in)).map(DocId::new).collect();
    let set = Bitset::from_docs(some.iter().copied(), rows.docs);
    let matches = |doc: u32| expected.binary_search(&doc).is_ok();
    let is_in = |doc: u32| set.contains(DocId::new(doc));
    let of_set: Vec<u32> = expected.iter().copied().filter(|doc| is_in(*doc)).collect();
    check_among(query, &bound, Docs::list(&some).unwrap(), &of_set);
    check_among(query, &bound, Docs::Bits(&set), &of_set);

    let (from, to) = (rng.below_u32(rows.docs + 1), rng.below_u32(rows.docs + 80));
    let listed_if =
        |is_wanted: &dyn Fn(u32) -> bool| (0..rows.docs).filter(|doc| is_wanted(*doc)).collect::<Vec<_>>();
    let of_docs = Query::docs(set.clone());
    for (query, expected) in [
        (query.clone(), expected.clone()),
        (of_docs.clone().and(query.clone()), listed_if(&|doc| is_in(doc) && matches(doc))),
        (of_docs.clone().or(query.clone()), listed_if(&|doc| is_in(doc) || matches(doc))),
        ((!of_docs).and(query.clone()), listed_if(&|doc| !is_in(doc) && matches(doc))),
    ] {
        let bound = search.bind(&query).unwrap();
        check_among(&query, &bound, Docs::All, &expected);
        let within: Vec<u32> = expected.into_iter().filter(|doc| (from..to).contains(doc)).collect();
        check_among(&query, &bound, Docs::Range(from, to), &within);
        if from <= to {
            let mut words = vec![0; bits::words(from..to)];
            bound.matching(0, from..to, &mut words).unwrap();
            let found: Vec<u32> = bits::ones(&words).map(|at| from + at as u32).collect();
            assert_eq!(found, within, "{query} in {from}..{to}");
        }
    }
    true
}

/// Compares what a query finds among `docs` in every way.
fn check_among(query: &Query, bound: &BoundQuery, docs: Docs<'_>, expected: &[u32]) {
    let how = match docs {
        Docs::List(_) => "a list".to_owned(),
        docs => format!("{docs:?}"),
    };
    assert_eq!(listed(&bound.collect(docs).unwrap()), expected, "{query} in {how}");
    assert_eq!(bound.count(docs).unwrap() as usize, expected.len(), "{query} in {how}");
    assert_eq!(listed(&bound.collect_explained(docs).unwrap().0), expected, "{query}, explained, in {how}");
}

fn equal(logical: LogicalType, value: Value<'_>, literal: &Literal) -> Judged {
    match (value, literal) {
        (Value::Bytes(value), Literal::Text(text)) if logical == LogicalType::Ip && text.contains('/') => {
            let (address, len) = text.split_once('/')?;
            let bits: u32 = len.parse().ok()?;
            let bits = bits + if address.contains(':') { 0 } else { 96 };
            let address = u128::from_be_bytes(ip(address)?);
            let value = u128::from_be_bytes(value.try_into().ok()?);
            Some((0..bits).all(|bit| address << bit >> 127 == value << bit >> 127))
        }
        (Value::Number(value), Literal::Text(text)) if text.len() == 10 && nanos_of_unit(logical)? < DAY => {
            let nanos = i128::from(value) * nanos_of_unit(logical)?;
            Some(nanos.div_euclid(DAY) == time(text)?.div_euclid(DAY))
        }
        _ => order(logical, value, literal).map(|order| order == Some(Ordering::Equal)),
    }
}

/// Compares a value with a literal; unordered if one is NaN.
fn order(logical: LogicalType, value: Value<'_>, literal: &Literal) -> Option<Option<Ordering>> {
    match (value, literal) {
        (Value::Bytes(value), literal) => {
            let literal = match (logical, literal) {
                (LogicalType::Utf8 | LogicalType::Bytes, Literal::Text(text)) => text.as_bytes().to_vec(),
                (LogicalType::Ip, Literal::Text(text)) => ip(text)?.to_vec(),
                (LogicalType::Uuid, Literal::Text(text)) => {
                    let text = text.replace('-', "");
                    u128::from_str_radix(&text, 16).ok()?.to_be_bytes().to_vec()
                }
                (LogicalType::Ip, Literal::Bytes(bytes)) if bytes.len() == 4 => {
                    [&[0; 10][..], &[0xff; 2], bytes].concat()
                }
                (_, Literal::Bytes(bytes)) => bytes.clone(),
                _ => return None,
            };
            Some(Some(value.cmp(&literal)))
        }
        (Value::Number(value), literal) => match (logical, literal) {
            (LogicalType::Bool, Literal::Bool(literal)) => Some(Some((value != 0).cmp(literal))),
            (LogicalType::Bool, _) => None,
            (LogicalType::F64, Literal::Float(literal)) => Some(to_f64(value).partial_cmp(literal)),
            (LogicalType::F64, Literal::Int(literal)) => {
                Some(int_and_double(*literal, to_f64(value)).map(Ordering::reverse))
            }
            (LogicalType::U64, literal) => integers(to_u64(value).into(), literal),
            (_, Literal::Text(text)) => {
                Some(Some((i128::from(value) * nanos_of_unit(logical)?).cmp(&time(text)?)))
            }
            (_, literal) => integers(value.into(), literal),
        },
    }
}

fn integers(value: i128, literal: &Literal) -> Option<Option<Ordering>> {
    match literal {
        Literal::Int(literal) => Some(Some(value.cmp(literal))),
        Literal::Float(literal) => Some(int_and_double(value, *literal)),
        _ => None,
    }
}

/// Compares an integer with a double, exactly.
fn int_and_double(int: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    if double.abs() >= 1.7e38 {
        return Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let order = int.cmp(&(double.trunc() as i128));
    Some(order.then(0.0.partial_cmp(&double.fract())?))
}

const DAY: i128 = 86_400_000_000_000;

fn nanos_of_unit(logical: LogicalType) -> Option<i128> {
    match logical {
        LogicalType::Date => Some(DAY),
        LogicalType::TimestampMillis => Some(1_000_000),
        LogicalType::TimestampMicros => Some(1_000),
        LogicalType::TimestampNanos => Some(1),
        _ => None,
    }
}

fn ip(text: &str) -> Option<[u8; 16]> {
    Some(match text.parse().ok()? {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    })
}

/// Nanoseconds since 1970 of `YYYY-MM-DD[THH:MM:SS[.fff][Z|+HH:MM]]`; `None` for other spellings.
fn time(text: &str) -> Option<i128> {
    let number = |range: std::ops::Range<usize>| -> Option<i128> {
        let digits = text.get(range)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    // Howard Hinnant, chrono-compatible low-level date algorithms.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let mut nanos = days * DAY;
    if text.len() == 10 {
        return Some(nanos);
    }
    nanos += (number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?) * 1_000_000_000;
    let mut rest = &text[19..];
    if rest.starts_with('.') {
        nanos += number(20..23)? * 1_000_000;
        rest = text.get(23..)?;
    }
    match rest {
        "" | "Z" => Some(nanos),
        "+01:30" => Some(nanos - 5_400 * 1_000_000_000),
        "-02:00" => Some(nanos + 7_200 * 1_000_000_000),
        _ => None,
    }
}

/// Values of each type: some close together, some at its ends.
fn number(logical: LogicalType, rng: &mut SplitMix64) -> i64 {
    let small = rng.below(12) as i64 - 4;
    let extreme = *rng.pick(&[i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]);
    let is_extreme = rng.chance(1, 12);
    match logical {
        LogicalType::Bool => i64::from(rng.chance(1, 3)),
        LogicalType::F64 => {
            let odd =
                [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN_POSITIVE, 1e300];
            from_f64(match rng.below(5) {
                0 => *rng.pick(&odd),
                1 => 9_007_199_254_740_992.0 + 2.0 * small as f64,
                _ => small as f64 / 2.0,
            })
        }
        _ if is_extreme => extreme,
        LogicalType::U64 => from_u64(small.unsigned_abs()),
        LogicalType::Date => 19_000 + small,
        LogicalType::TimestampMillis => 19_000 * 86_400_000 + small * 21_600_000,
        LogicalType::TimestampMicros => 19_000 * 86_400_000_000 + small * 21_600_000_000,
        LogicalType::TimestampNanos => 19_000 * 86_400_000_000_000 + small * 21_600_000_000_000,
        _ => small,
    }
}

fn bytes(logical: LogicalType, rng: &mut SplitMix64) -> Vec<u8> {
    match logical {
        LogicalType::Ip => {
            let v4 = [10, rng.below(2) as u8, rng.below(3) as u8, *rng.pick(&[0, 1, 255])];
            let v6 = [0x2001, 0xdb8, 0, 0, 0, 0, 0, rng.below(3) as u16];
            let address = if rng.chance(1, 4) { IpAddr::from(v6) } else { IpAddr::from(v4) };
            ip(&address.to_string()).unwrap().to_vec()
        }
        LogicalType::Uuid => (rng.below(5) as u128).wrapping_mul(u128::MAX / 4).to_be_bytes().to_vec(),
        LogicalType::Utf8 => rng
            .pick(&["", "a", "aa", "ab", "b", "www.a", "www.b", "é", "\"'`\\", "zz", "www."])
            .as_bytes()
            .to_vec(),
        _ => {
            let len = rng.below(4);
            (0..len).map(|_| *rng.pick(&[0, 1, 0x61, 0xfe, 0xff])).collect()
        }
    }
}

/// A literal for a column of this type; sometimes a wrong one.
fn literal(logical: LogicalType, rng: &mut SplitMix64) -> Literal {
    if rng.chance(1, 400) {
        return rng
            .pick(&[Literal::Bool(true), Literal::Text("?".into()), Literal::Int(1), Literal::Bytes(vec![1])])
            .clone();
    }
    let stored = number(logical, rng);
    let int = match logical {
        LogicalType::U64 => to_u64(stored).into(),
        LogicalType::F64 => rng.below(12) as i128 - 4,
        _ => stored.into(),
    };
    match logical {
        LogicalType::I64 | LogicalType::U64 | LogicalType::F64 => match rng.below(6) {
            0 => Literal::Float(int as f64 + 0.5),
            1 => Literal::Float(*rng.pick(&[
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -0.0,
                1e300,
                -1e300,
                1.5,
            ])),
            2 => Literal::Int(*rng.pick(&[
                i128::MIN,
                i128::MAX,
                1 << 64,
                -(1 << 63) - 1,
                1 << 63,
                9_007_199_254_740_993,
            ])),
            3 => Literal::Float(to_f64(number(LogicalType::F64, rng))),
            _ => Literal::Int(int),
        },
        LogicalType::Bool => Literal::Bool(rng.chance(1, 2)),
        LogicalType::Date
        | LogicalType::TimestampMillis
        | LogicalType::TimestampMicros
        | LogicalType::TimestampNanos => {
            let day = *rng.pick(&[
                "2022-01-07",
                "2022-01-08",
                "2022-01-09",
                "2022-01-10",
                "1969-12-31",
                "9999-12-31",
            ]);
            match rng.below(5) {
                0 => Literal::Int(int),
                1 => Literal::Float(int as f64 + 0.25),
                2 => Literal::Text(day.into()),
                _ => {
                    let time = *rng.pick(&[
                        "T00:00:00",
                        "T06:00:00Z",
                        "T12:00:00.001",
                        "T07:30:00+01:30",
                        " 22:00:00-02:00",
                    ]);
                    Literal::Text(format!("{day}{time}"))
                }
            }
        }
        LogicalType::Ip => match rng.below(4) {
            0 => Literal::Text(
                rng.pick(&[
                    "10.0.0.0/8",
                    "10.0.2.7/24",
                    "10.1.0.0/16",
                    "::/0",
                    "0.0.0.0/0",
                    "2001:db8::/32",
                    "10.0.1.255/32",
                ])
                .to_string(),
            ),
            1 => Literal::Text(
                rng.pick(&["10.0.0.1", "10.1.2.255", "::", "2001:db8::1", "::ffff:10.0.0.0"]).to_string(),
            ),
            2 => Literal::Bytes(vec![10, 0, 1, 1]),
            _ => Literal::Bytes(bytes(logical, rng)),
        },
        LogicalType::Uuid => match rng.below(2) {
            0 => Literal::Bytes(bytes(logical, rng)),
            _ => Literal::Text(
                rng.pick(&[
                    "00000000-0000-0000-0000-000000000000",
                    "7fffffffffffffffffffffffffffffff",
                    "FFFFFFFF-ffff-ffff-ffff-fffffffffffc",
                ])
                .to_string(),
            ),
        },
        LogicalType::Utf8 => String::from_utf8(bytes(logical, rng)).map_or(Literal::Int(0), Literal::Text),
        LogicalType::Bytes => Literal::Bytes(bytes(logical, rng)),
        other => panic!("no literal for {other:?}"),
    }
}

fn bound(logical: LogicalType, rng: &mut SplitMix64) -> Bound<Literal> {
    match rng.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(literal(logical, rng)),
        _ => Bound::Excluded(literal(logical, rng)),
    }
}

fn any_pattern(logical: LogicalType, rng: &mut SplitMix64) -> Pattern {
    if rng.chance(1, 4) {
        return Pattern::regex(rng.pick(&EXPRESSIONS).0);
    }
    let kinds = [PatternKind::Equals, PatternKind::StartsWith, PatternKind::EndsWith, PatternKind::Contains];
    let (kind, value) = (*rng.pick(&kinds), bytes(logical, rng));
    let part = value[rng.below(value.len() as u64 + 1) as usize..].to_vec();
    let ignores_case = rng.chance(1, 2);
    let pattern = match String::from_utf8(part) {
        Ok(text) if ignores_case => Pattern::new(kind, text.to_ascii_uppercase()),
        Ok(text) => Pattern::new(kind, text),
        Err(error) => Pattern::new(kind, error.into_bytes()),
    };
    // Printed as other tests.
    let is_other = matches!(kind, PatternKind::Equals | PatternKind::StartsWith);
    let is_text = matches!(pattern.literal(), Literal::Text(_));
    match kind {
        PatternKind::Equals if !is_text => Pattern::contains(pattern.literal().clone()),
        _ if ignores_case || is_other => pattern.ignore_case(),
        _ => pattern,
    }
}

fn any_comparison(rng: &mut SplitMix64) -> Comparison {
    *rng.pick(&[
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ])
}

/// The same for types whose values can be compared.
fn family(logical: LogicalType) -> &'static str {
    match logical {
        LogicalType::I64 | LogicalType::U64 | LogicalType::F64 => "number",
        LogicalType::Utf8 | LogicalType::Bytes => "string",
        _ if nanos_of_unit(logical).is_some() => "time",
        other => other.name(),
    }
}

/// A query on the numbers of documents.
pub fn any_numbers(docs: u32, rng: &mut SplitMix64) -> Query {
    let number = |rng: &mut SplitMix64| i64::from(rng.below_u32(docs + 20)) - 10;
    match rng.below(6) {
        0 => Query::eq("_doc", number(rng)),
        1 => Query::ne("_doc", number(rng)),
        2 => Query::is_in("_doc", (0..rng.below(20)).map(|_| number(rng)).collect::<Vec<_>>()),
        3 => Query::not_in("_doc", [number(rng), number(rng)]),
        4 => rng.pick(&[Query::exists("_doc"), Query::missing("_doc")]).clone(),
        _ => Query::range("_doc", number(rng)..=number(rng)),
    }
}

/// A query on these columns.
pub fn any_query(columns: &[(Field, ModelColumn)], depth: u32, rng: &mut SplitMix64) -> Query {
    if depth > 0 && rng.chance(3, 5) {
        let parts = 1 + rng.below(4);
        let mut parts: Vec<Query> = (0..parts).map(|_| any_query(columns, depth - 1, rng)).collect();
        return match rng.below(5) {
            0 | 1 => Query::all_of(parts),
            2 | 3 => Query::any_of(parts),
            _ => !parts.remove(0),
        };
    }
    if columns.is_empty() || rng.chance(1, 40) {
        return if rng.chance(1, 2) { Query::All } else { Query::None };
    }
    let (field, _) = rng.pick(columns);
    let (name, logical) = (field.name.clone(), field.logical);
    match rng.below(12) {
        9 if matches!(logical, LogicalType::Utf8 | LogicalType::Bytes) => {
            Query::matches(name, any_pattern(logical, rng))
        }
        9..11 => {
            let alike = |other: &&Field| family(other.logical) == family(logical);
            let others: Vec<&Field> = columns.iter().map(|(other, _)| other).filter(alike).collect();
            let other = if rng.chance(1, 40) { &rng.pick(columns).0 } else { *rng.pick(&others) };
            Query::compare(name, any_comparison(rng), &other.name)
        }
        0 => Query::eq(name, literal(logical, rng)),
        1 => Query::ne(name, literal(logical, rng)),
        2 | 3 => {
            let count = if rng.chance(1, 3) { 14 } else { rng.below(4) };
            let literals: Vec<Literal> = (0..count).map(|_| literal(logical, rng)).collect();
            if rng.chance(2, 3) { Query::is_in(name, literals) } else { Query::not_in(name, literals) }
        }
        4..=6 => Query::range(name, (bound(logical, rng), bound(logical, rng))),
        7 if logical.is_bytes() => {
            let prefix = bytes(logical, rng);
            let prefix = prefix[..rng.below(prefix.len() as u64 + 1) as usize].to_vec();
            match String::from_utf8(prefix) {
                Ok(text) if logical == LogicalType::Utf8 => Query::prefix(name, text),
                Ok(text) => Query::prefix(name, text.into_bytes()),
                Err(error) => Query::prefix(name, error.into_bytes()),
            }
        }
        7 => Query::exists(name),
        _ => Query::missing(name),
    }
}

/// Rows with a column of every kind and type, with and without missing values.
pub fn any_rows(docs: u32, rng: &mut SplitMix64) -> Dataset {
    let mut columns = Vec::new();
    for logical in LogicalType::ALL {
        for kind in Kind::ALL.into_iter().filter(|&kind| logical.fits(kind)) {
            // The share of documents with a value.
            let (hits, of) = *rng.pick(&[(1, 1), (1, 1), (2, 3), (1, 20), (0, 1)]);
            let used = if rng.chance(1, 5) { rng.below_u32(docs + 1) } else { docs };
            // Constant, in runs so that zones differ, or random.
            let run = *rng.pick(&[u32::MAX, 5_000, 60, 1, 1, 1, 1, 1]);
            let seed = rng.next_u64();
            let values = (0..used).map(|doc| {
                let count = if rng.chance(hits, of) { 1 + rng.below(3) } else { 0 };
                let mut rng = SplitMix64::new(seed.wrapping_add(u64::from(doc / run)));
                let mut value = || (number(logical, &mut rng), bytes(logical, &mut rng));
                (0..count).map(|_| value()).collect::<Vec<_>>()
            });
            let first_number = |list: Vec<(i64, Vec<u8>)>| list.into_iter().next().map(|(number, _)| number);
            let first_bytes = |list: Vec<(i64, Vec<u8>)>| list.into_iter().next().map(|(_, bytes)| bytes);
            let column = match kind {
                Kind::Numeric => ModelColumn::Numeric(values.map(first_number).collect()),
                Kind::Binary => ModelColumn::Binary(values.map(first_bytes).collect()),
                Kind::Sorted => ModelColumn::Sorted(values.map(first_bytes).collect()),
                Kind::SortedNumeric => ModelColumn::SortedNumeric(
                    values.map(|list| list.into_iter().map(|(number, _)| number).collect()).collect(),
                ),
                Kind::SortedSet => ModelColumn::SortedSet(
                    values
                        .map(|list| list.into_iter().map(|(_, bytes)| bytes).collect::<BTreeSet<_>>())
                        .collect(),
                ),
            };
            columns.push((
                Field::new(
                    format!("{}.{}", logical.name().replace(['[', ']'], "-"), kind.name()),
                    kind,
                    logical,
                ),
                column,
            ));
        }
    }
    Dataset { docs, columns }
}
