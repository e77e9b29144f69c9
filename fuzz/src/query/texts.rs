//! Texts of queries: random ones, each test and literal on each column, and texts that are refused.

use docvalues_column::{Field, LogicalType};
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::rng::SplitMix64;

use super::documents;
use crate::naive::any_query;

/// Literals of every form, right and wrong for a column.
const LITERALS: [&str; 66] = [
    "0",
    "-1",
    "+7",
    "1_000",
    "18446744073709551615",
    "-9223372036854775809",
    "170141183460469231731687303715884105727",
    "999999999999999999999999999999999999999999",
    "1.5",
    "-0.0",
    "2.5e3",
    "1e-400",
    "1e400",
    "1E+2",
    "9007199254740993.0",
    "10kB",
    "1.5MiB",
    "0.1GiB",
    "-3tb",
    "1e3kB",
    "9999999999999999999999999999999999TiB",
    "7parsecs",
    "12.34.56",
    "inf",
    "-inf",
    "+INF",
    "nan",
    "true",
    "FALSE",
    "\"\"",
    "'a'",
    "\"www.\"",
    "\"a\"\"b\"",
    "\"é\"",
    "\"\\\"",
    "x''",
    "x'00ff'",
    "X'0A010101'",
    "x'20010db8000000000000000000000001'",
    "x'7fffffffffffffffffffffffffffffff'",
    "x'0'",
    "x'zz'",
    "\"2022-01-08\"",
    "\"2022-01-08T06:00:00Z\"",
    "\"2022-01-08 12:00:00.001\"",
    "\"2022-01-08T07:30:00+01:30\"",
    "\"-009999-01-01\"",
    "\"9999-12-31T23:59:59.999999999-02:00\"",
    "\"2022-02-30\"",
    "\"2022-01-08T25:00\"",
    "\"2022-01-08Z\"",
    "\"2022-01-08T06:00[UTC]\"",
    "\"20220108T060000\"",
    "\"10.0.0.1\"",
    "\"10.0.2.7/24\"",
    "\"2001:db8::/32\"",
    "\"::/0\"",
    "\"::ffff:10.0.0.0\"",
    "\"10.0.0.0/33\"",
    "\"10.0.0.0/x\"",
    "\"10.0.0.256\"",
    "\"00000000-0000-0000-0000-000000000000\"",
    "\"7fffffffffffffffffffffffffffffff\"",
    "\"7fffffff-ffff\"",
    "null",
    "_doc",
];

/// Tests of a column; `?` stands for a literal.
const TESTS: [&str; 28] = [
    "= ?",
    "== ?",
    "!= ?",
    "< ?",
    "<= ?",
    "> ?",
    ">= ?",
    "^= ?",
    "$= ?",
    "*= ?",
    "~ ?",
    "!~ ?",
    "= ? i",
    "!= ? i",
    "^= ? i",
    "$= ? I",
    "*= ? i",
    "~ ? i",
    "!~ ? i",
    "in (?)",
    "in (1, ?, \"a\")",
    "not in (?, ?)",
    "in ?..?",
    "in ?<..=?",
    "in 1..?",
    "in \"a\"<..?",
    "in ?..=\"zz\"",
    "between ? and ?",
];

/// Texts with what random queries lack, and texts that are refused: each message of the parser.
const SYNTAX: [&str; 100] = [
    "",
    "  ",
    "(",
    ")",
    "()",
    "true",
    "TRUE and FALSE",
    "not true",
    "not not not false",
    "(true)",
    "((true) or (false))",
    "(true",
    "(true false",
    "true)",
    "true and",
    "true or or",
    "not",
    "not = 1",
    "and = 1",
    "or exists",
    "true = 1",
    "false ~ 'a'",
    "a",
    "a b",
    "a =",
    "a !",
    "a ! = 1",
    "a = = 1",
    "a <> 1",
    "a is null",
    "a is not null",
    "a is not",
    "a is 5",
    "a not null",
    "a not like 'x%'",
    "a not ilike '%x'",
    "a not between 1 and 2",
    "`a b` not like '%x%'",
    "a like 5",
    "a like 'x'",
    "a like '%x'",
    "a like 'x%'",
    "a like '%x%'",
    "a like '%x_.*%y'",
    "a ilike '_'",
    "a like '%'",
    "a like '%%'",
    "a between 1",
    "a between 1 and",
    "a between 1 or 2",
    "a between x and y",
    "a in",
    "a in 5",
    "a in (",
    "a in ()",
    "a in (1",
    "a in (1,",
    "a in (1 2)",
    "a in (1,,2)",
    "a in 1..",
    "a in 1<2",
    "a in 1...2",
    "a not in",
    "a not in 1..2",
    "a not exists",
    "a exists and b missing or not c exists",
    "a EXISTS OR b Missing",
    "a = null",
    "a = b",
    "a == `b c`",
    "a < sum(b)",
    "a != b and a <= b and a > b and a >= b",
    "sum(a) > 5",
    "MIN ( a ) = 1",
    "max(`a``b`) exists",
    "mean(a",
    "mean(sum(a)) = 1",
    "distinct() = 1",
    "distinct(and) = 1",
    "p99.9(a) > 5 or P50 ( `a` ) = 1",
    "p101(a) = 1",
    "p(a) = 1",
    "first(a by b) exists",
    "Last ( `a``b` by `c d` ) = 1",
    "first(a)",
    "first(a by",
    "last(by by by) = 1",
    "sum = 1",
    "other(a) = 1",
    "`a` = 1",
    "`` exists",
    "`a``b` exists",
    "`a exists",
    "`a``",
    "@timestamp exists",
    "_a.b-c exists",
    "9a exists",
    "é = 'é'",
    "a = 'it\\'s'",
    "a = \"x\\\" and b",
];

/// More syntax: regular expressions, right and wrong, and the numbers of documents.
const TESTED: [&str; 30] = [
    "string.sorted ~ '^a'",
    "string.sorted ~ '[b]$|^zz$' i",
    "bytes.binary ~ 'w+\\.'",
    "string.binary !~ 'a.*b|^$'",
    "string.sorted-set ~ 'é'",
    "string.sorted ~ '('",
    "string.sorted ~ '[z-a]'",
    "string.sorted ~ '*'",
    "string.sorted ~ '\\p{Greek}+\\b(?i)x{2,3}?'",
    "string.sorted ~ '(a{1000}){1000}'",
    "string.sorted ~ 'a{30}{30}{30}'",
    "string.sorted ~ '(?s-u:\\xff.)'",
    "string.sorted ~ '(?P<n>a)(?P<n>b)'",
    "string.sorted ~ '\\'",
    "_doc = 5",
    "_doc != 5",
    "_doc in (1, 2, 3, 200, -5)",
    "_doc not in (1, 149)",
    "_doc exists",
    "_doc missing",
    "_doc in 5..=70",
    "_doc in 70..5",
    "_doc < 1.5",
    "_doc > nan",
    "_doc >= 1e300",
    "_doc ~ 'a'",
    "_doc ^= 'a'",
    "_doc = 'a'",
    "_doc = i64.numeric",
    "i64.numeric = _doc",
];

/// `count` random queries for all columns and for each alone, each test and literal on each column, and texts that are
/// refused.
pub(crate) fn texts(count: u32) -> Vec<String> {
    let columns = &documents().0.columns;
    let mut rng = SplitMix64::new(1);
    let mut texts: Vec<String> =
        (0..count).map(|i| any_query(columns, i % 4, &mut rng).to_string()).collect();
    for column in columns {
        let alone = std::slice::from_ref(column);
        texts.extend((0..count / 8).map(|i| any_query(alone, 1 + i % 2, &mut rng).to_string()));
    }
    texts.extend(SYNTAX.iter().chain(&TESTED).map(ToString::to_string));
    texts.extend(nested());
    texts.extend(tests(columns));
    texts
}

/// Parentheses and `not`s up to the limit and beyond.
fn nested() -> impl Iterator<Item = String> {
    [63, 64, 65].into_iter().flat_map(|depth| {
        let nested = |open: &str, close: &str| format!("{}true{}", open.repeat(depth), close.repeat(depth));
        [nested("(", ")"), nested("not ", ""), nested("(true and (false or ", "))")]
    })
}

/// Each literal in three of the tests of each column, each test with each column, and comparisons of columns.
fn tests(columns: &[(Field, ModelColumn)]) -> Vec<String> {
    let (mut texts, mut turn) = (Vec::new(), 0);
    for (field, _) in columns {
        let name = &field.name;
        for literal in LITERALS {
            for _ in 0..3 {
                texts.push(format!("{name} {}", TESTS[turn % TESTS.len()].replace('?', literal)));
                turn += 1;
            }
        }
        for test in TESTS {
            texts.push(format!("{name} {}", test.replace('?', fitting(field.logical))));
        }
        for (other, _) in columns {
            let comparison = ["=", "!=", "<", "<=", ">", ">="][turn % 6];
            texts.push(format!("{name} {comparison} {}", other.name));
            turn += 1;
        }
    }
    texts
}

/// A literal for a column of this type.
fn fitting(logical: LogicalType) -> &'static str {
    match logical {
        LogicalType::I64 | LogicalType::U64 => "2",
        LogicalType::F64 => "1.5",
        LogicalType::Bool => "true",
        LogicalType::Ip => "\"10.0.0.1\"",
        LogicalType::Uuid => "\"7fffffffffffffffffffffffffffffff\"",
        LogicalType::Utf8 => "\"aa\"",
        LogicalType::Bytes => "x'61'",
        _ => "\"2022-01-08T06:00:00Z\"",
    }
}
