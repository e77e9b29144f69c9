//! Parsing and printing of queries, and their errors.

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::query::{Comparison, Literal, MAX_DEPTH, MAX_TEXT, Pattern};
use docvalues_search::{Error, Query, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

use super::naive::{any_query, any_rows};

fn parse(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The position and the message of the error in a text.
fn wrong(text: &str) -> (usize, String) {
    match Query::parse(text) {
        Err(Error::Query(error)) => (error.column().unwrap_or(0), error.message().to_owned()),
        other => panic!("{text}: {other:?}"),
    }
}

proptest! {
    #[test]
    fn a_printed_query_parses_to_itself(seed: u64, depth in 0_u32..5) {
        let mut rng = SplitMix64::new(seed);
        let rows = any_rows(1, &mut rng);
        let query = any_query(&rows.columns, depth, &mut rng);
        prop_assert_eq!(Query::parse(&query.to_string()).unwrap(), query);
    }

    #[test]
    fn any_name_and_any_literal_round_trip(name: String, text: String, bytes: Vec<u8>, bits: u64, int: i128) {
        let literals = [text.into(), bytes.into(), f64::from_bits(bits).into(), int.into(), Literal::from(true)];
        let query = Query::is_in(name, literals);
        prop_assert_eq!(Query::parse(&query.to_string()).unwrap(), query);
    }

    #[test]
    fn any_text_parses_or_fails_at_a_position_in_it(text in "([a-c ()=<>.,'\"`0-9xi\\\\~*$!-]|and|or|not|in|like|is|null|between){0,40}") {
        match Query::parse(&text) {
            Ok(query) => prop_assert_eq!(Query::parse(&query.to_string()).unwrap(), query),
            Err(Error::Query(error)) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column().unwrap()));
                prop_assert!(error.caret().unwrap().contains(error.message()));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_rule_of_the_grammar() {
    let (a, b, c) = (Query::eq("a", 1), Query::eq("b", 2), Query::eq("c", 3));
    for (text, query) in [
        ("a=1", a.clone()),
        ("  a  ==\n1  ", a.clone()),
        ("a = 1 or b = 2 and c = 3", a.clone().or(b.clone().and(c.clone()))),
        ("(a = 1 or b = 2) and c = 3", a.clone().or(b.clone()).and(c.clone())),
        ("a = 1 AND (b = 2 And ((c = 3)))", Query::all_of([a.clone(), b.clone(), c])),
        ("not a = 1 and b = 2", (!a.clone()).and(b.clone())),
        ("not (a = 1 and b = 2)", !(a.clone().and(b.clone()))),
        ("not not a = 1", a),
        ("true", Query::All),
        ("FALSE or true", Query::None.or(Query::All)),
        ("a != 1", Query::ne("a", 1)),
        ("a < 1", Query::range("a", ..1)),
        ("a <= 1", Query::range("a", ..=1)),
        ("a>1", Query::range("a", (std::ops::Bound::Excluded(1), std::ops::Bound::Unbounded))),
        ("a >= 1", Query::range("a", 1..)),
        ("a in 1..5", Query::range("a", 1..5)),
        ("a in -1 .. = 5", Query::range("a", -1..=5)),
        ("a in 1<..5", Query::range("a", (std::ops::Bound::Excluded(1), std::ops::Bound::Excluded(5)))),
        ("a in 1.5..inf", Query::range("a", 1.5..f64::INFINITY)),
        ("a in inf..=-inf", Query::range("a", f64::INFINITY..=f64::NEG_INFINITY)),
        ("a ^= \"x\"", Query::prefix("a", "x")),
        ("a $= 'x'", Query::matches("a", Pattern::ends_with("x"))),
        ("a *= 'x' i", Query::matches("a", Pattern::contains("x").ignore_case())),
        ("a*=x'00' I", Query::matches("a", Pattern::contains([0]).ignore_case())),
        ("a = 'x' i and b = 2", Query::matches("a", Pattern::equals("x").ignore_case()).and(b.clone())),
        ("a != 'x' i", Query::exists("a").and(!Query::matches("a", Pattern::equals("x").ignore_case()))),
        ("a ~ '^x'", Query::matches("a", Pattern::regex("^x"))),
        ("a !~ 'x'", Query::exists("a").and(!Query::matches("a", Pattern::regex("x")))),
        ("not a ~ 'x' i", !Query::matches("a", Pattern::regex("x").ignore_case())),
        ("a = b and b = 2", Query::compare("a", Comparison::Equal, "b").and(b.clone())),
        ("a!=`b c`", Query::compare("a", Comparison::NotEqual, "b c")),
        ("a <= x", Query::compare("a", Comparison::LessOrEqual, "x")),
        ("a > `nan`", Query::compare("a", Comparison::Greater, "nan")),
        ("a = `null`", Query::compare("a", Comparison::Equal, "null")),
        (
            "sum ( `b c` ) > 1 or sum = 1",
            Query::range("sum(b c)", (std::ops::Bound::Excluded(1), std::ops::Bound::Unbounded))
                .or(Query::eq("sum", 1)),
        ),
        ("a < `and`", Query::compare("a", Comparison::Less, "and")),
        ("_doc >= i", Query::compare("_doc", Comparison::GreaterOrEqual, "i")),
        ("a in ()", Query::is_in("a", [0; 0])),
        ("a in(1,2)", Query::is_in("a", [1, 2])),
        ("a not in ('x', \"y\")", Query::not_in("a", ["x", "y"])),
        ("a exists and b missing", Query::exists("a").and(Query::missing("b"))),
        (
            "in = 1 and exists exists and missing in (1)",
            Query::eq("in", 1).and(Query::exists("exists")).and(Query::eq("missing", 1)),
        ),
        ("@a.b-c_1 = 1", Query::eq("@a.b-c_1", 1)),
        ("größe = 1", Query::eq("größe", 1)),
        ("`a``b ` = 1", Query::eq("a`b ", 1)),
        ("`` = 1", Query::eq("", 1)),
        ("`and` = 1", Query::eq("and", 1)),
        ("a = 1_000", Query::eq("a", 1000)),
        ("a = +1e3", Query::eq("a", 1e3)),
        ("a = 10MiB", Query::eq("a", 10 << 20)),
        ("a = -1.5kb", Query::eq("a", -1500)),
        ("a = 0.0001kB", Query::eq("a", 0.1)),
        ("a = nan", Query::eq("a", f64::NAN)),
        ("a = True", Query::eq("a", true)),
        ("a = x'00fF'", Query::eq("a", [0, 255])),
        ("a = x''", Query::eq("a", [0; 0])),
        (r#"a = "\t\\n\u{1F4CF}é""#, Query::eq("a", r"\t\\n\u{1F4CF}é")),
        ("a = 'x\t\n\0'", Query::eq("a", "x\t\n\0")),
        (r#"a = "C:\temp\new\" and b = 2"#, Query::eq("a", r"C:\temp\new\").and(b)),
        (r#"a = 'it''s "so"'"#, Query::eq("a", "it's \"so\"")),
        (r#"a in ("""", '''', "", "''\""")"#, Query::is_in("a", ["\"", "'", "", r#"''\""#])),
        (r"a ~ '\.dv$'", Query::matches("a", Pattern::regex(r"\.dv$"))),
    ] {
        assert_eq!(parse(text), query, "{text}");
        assert_eq!(parse(&query.to_string()), query, "{query}");
    }
}

#[test]
fn errors_have_the_right_message_and_position() {
    const KEYWORD: &str =
        "`and`, `or`, `not`, `true` and `false` are keywords: write a column of that name in backticks";
    for (text, column, what) in [
        ("", 1, "expected a column, `not` or `(`"),
        (
            "a",
            2,
            "expected `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=`, `$=`, `*=`, `~`, `!~`, `in`, `not in`, `exists` or `missing`",
        ),
        ("a is null", 3, "expected `missing`, found `is null`"),
        ("a = 1 and a is not null", 13, "expected `exists`, found `is not null`"),
        ("a is 5", 3, "expected `=`, `exists` or `missing`, found `is`"),
        ("a = null", 5, "expected `exists` or `missing` instead of a comparison, found `null`"),
        ("sum(sum(a)) = 1", 8, "expected `)`"),
        ("sum(a = 1", 7, "expected `)`"),
        ("sum(not) = 1", 5, KEYWORD),
        ("a <> 5", 3, "expected `!=`, found `<>`"),
        ("a between 1 and 2e3", 3, "expected `in 1..=2000.0`, found `between`"),
        ("a not between 1 and 2", 3, "expected `not a in 1..=2`, found `not between`"),
        ("`b c` not between 1 and x", 7, "expected `not `b c` in 1..=5`, found `not between`"),
        ("a not is null", 3, "expected `not a missing`, found `not is null`"),
        ("a not ilike '%X'", 3, "expected `not a $= \"X\" i`, found `not ilike`"),
        ("a like 'x%'", 3, "expected `^= \"x\"`, found `like`"),
        ("a like '%x%'", 3, "expected `*= \"x\"`, found `like`"),
        ("a ilike '%x'", 3, "expected `$= \"x\" i`, found `ilike`"),
        ("a like 'x'", 3, "expected `= \"x\"`, found `like`"),
        ("a like 'x%_.'", 3, "expected `~ \"(?s)^x.*.\\.$\"`, found `like`"),
        ("a not like b", 3, "expected `^=`, `$=`, `*=` or `~`, found `like`"),
        ("a =", 4, "expected a number, text in quotes, `true` or `false`"),
        ("a = /x/", 5, "expected a number, text in quotes, `true` or `false`"),
        ("a ^= b", 6, "expected a number, text in quotes, `true` or `false`"),
        ("a = and", 5, KEYWORD),
        ("a = 1 b = 2", 7, "expected `and`, `or` or the end"),
        ("(a = 1", 7, "expected `and`, `or` or `)`"),
        ("a = 1)", 6, "expected `and`, `or` or the end"),
        ("and a = 1", 1, KEYWORD),
        ("a = 1 and Or = 1", 11, KEYWORD),
        ("not = 1", 1, KEYWORD),
        ("a = 1 or (not != 1)", 11, KEYWORD),
        ("true = true", 1, KEYWORD),
        ("not false ^= 'x'", 5, KEYWORD),
        ("größe = 1 and not", 18, "expected a column, `not` or `(`"),
        ("a in 1", 7, "expected `..`"),
        ("a in (1 2)", 9, "expected `,` or `)`"),
        ("a not = 1", 7, "expected `in (…)`"),
        ("a = 2024-01-01", 5, "expected a number; days, times and addresses are written in quotes"),
        ("a = 10.0.0.1", 5, "expected a number; days, times and addresses are written in quotes"),
        ("a = 10 or b = 10miles", 15, "expected a number; days, times and addresses are written in quotes"),
        ("a = 1e999", 5, "the number is too large for a double"),
        ("a = 999999999999999999999999999999999999999999", 5, "the number is too large"),
        ("a = 99999999999999999999999999999999999GB", 5, "the number is too large"),
        ("a = \"x", 5, "expected a closing quote"),
        (r#"a = "x\"y""#, 7, r#"expected `""` for a quote in text, found `\"`"#),
        (r"a = 'it\'s'", 8, r"expected `''` for a quote in text, found `\'`"),
        (r#"a = "x"""#, 5, "expected a closing quote"),
        ("`a = 1", 1, "expected a closing backtick"),
        ("a = x'0'", 7, "expected two hexadecimal digits for each byte"),
        ("a = x'0g'", 8, "expected a hexadecimal digit or a quote"),
    ] {
        assert_eq!(wrong(text), (column, what.to_owned()), "{text}");
    }
}

#[test]
fn hostile_texts_fail_with_little_stack_and_time() {
    let deep = |open: &str, close: &str, depth| format!("{}a=1{}", open.repeat(depth), close.repeat(depth));
    assert!(Query::parse(&deep("(", ")", MAX_DEPTH)).is_ok());
    assert!(Query::parse(&deep("not ", "", MAX_DEPTH)).is_ok());
    let what = "expected at most 64 nested parentheses and `not`s";
    assert_eq!(wrong(&deep("(", ")", MAX_DEPTH + 1)), (MAX_DEPTH + 1, what.to_owned()));
    assert_eq!(wrong(&deep("not ", "", 200_000)), (4 * MAX_DEPTH + 1, what.to_owned()));
    assert_eq!(wrong(&"(".repeat(MAX_TEXT)), (MAX_DEPTH + 1, what.to_owned()));
    assert_eq!(wrong(&" ".repeat(MAX_TEXT + 1)).0, 0);
    assert_eq!(wrong(&"sum(".repeat(MAX_TEXT / 4)), (8, "expected `)`".to_owned()));
    let many = vec!["a=1"; 100_000].join(" or ");
    assert_eq!(parse(&many).to_string().matches("a = 1").count(), 100_000);
    let text = format!("{}x", "a = 1 and ".repeat(20_000));
    let Err(Error::Query(error)) = Query::parse(&text) else { panic!() };
    assert!(error.caret().unwrap().len() < 400);
}

#[test]
fn the_patterns_of_a_query_have_bounded_memory() {
    let rows = any_rows(10, &mut SplitMix64::new(1));
    let source = rows.source();
    let patterns = |count: usize, of: &dyn Fn(usize) -> String| {
        let all = (0..count).map(|at| format!("string.binary ~ '{}'", of(at)));
        Search::new(&source).bind(&parse(&all.collect::<Vec<_>>().join(" or ")))
    };
    assert!(patterns(1_000, &|at| format!("word{at}")).is_ok());
    // The same pattern counts once.
    assert!(patterns(1_000, &|_| r"\w{50}".into()).is_ok());
    let Err(Error::Query(error)) = patterns(100, &|at| format!(r"\w{{50}}{at}")) else { panic!() };
    assert_eq!(error.message(), "the patterns of the query take more than 64 MiB");
}

#[test]
fn the_deepest_query_that_prints_can_be_parsed() {
    // `and` in `or` in `and`: two levels of the tree for each parenthesis.
    let mut query = Query::eq("a", 1);
    for _ in 0..MAX_DEPTH {
        query = Query::eq("b", 1).or(Query::eq("c", 1).and(query.or(Query::eq("d", 1))));
    }
    assert!(Query::parse(&query.to_string()).is_ok());
}

#[test]
fn the_caret_is_under_the_error() {
    let Err(Error::Query(error)) = Query::parse("größe > 1 and host = \"a\nb\" und x = 1") else {
        panic!()
    };
    assert_eq!(
        error.caret().unwrap(),
        "größe > 1 and host = \"a b\" und x = 1\n                           ^ expected `and`, `or` or the end"
    );
}

/// The examples of docs/query.md parse, and its errors are the actual ones.
#[test]
fn an_error_is_one_line() {
    for text in ["a like 'b_\n'", "a between 'b\r\nc' and 1", "a not like '\n%'"] {
        let Err(Error::Query(error)) = Query::parse(text) else { panic!("{text}") };
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
        assert_eq!(error.caret().unwrap().lines().count(), 2);
    }
    let source = any_rows(1, &mut SplitMix64::new(1)).source();
    let query = Query::parse("`a\nb` exists").unwrap();
    let Err(Error::Query(error)) = Search::new(&source).bind(&query) else { panic!() };
    assert_eq!((error.message(), error.no_such_column()), ("there is no column \"a b\"", Some("a\nb")));
}

#[test]
fn the_examples_of_the_docs_page_are_right() {
    let page = include_str!("../../../../../docs/query.md");
    let conditions = page.split("| --- | --- |").nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = conditions.lines().filter_map(|row| row.split('|').nth(1));
    let mut examples = 0;
    for example in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|text| text.len() > 2) {
        parse(example);
        examples += 1;
    }
    assert!(examples >= 12, "{examples}");
    let blocks: Vec<&str> =
        page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    parse(blocks[0]);
    let [unread, keyword, unfit, unknown] = blocks[1].split("\n\n").collect::<Vec<_>>()[..] else { panic!() };
    for wrong in [unread, keyword, blocks[2].trim_end()] {
        let Err(Error::Query(error)) = Query::parse(wrong.lines().next().unwrap()) else { panic!() };
        assert_eq!(error.caret().unwrap(), wrong);
    }
    let field = Field::new("status", Kind::Numeric, LogicalType::I64);
    let host = Field::new("host", Kind::Binary, LogicalType::Utf8);
    let hosts = ModelColumn::Binary(vec![Some(b"a".to_vec())]);
    let source = MemSource::new(1, [(field, ModelColumn::Numeric(vec![Some(1)])), (host, hosts)]);
    for wrong in [unfit, unknown] {
        let query = parse(wrong.lines().next().unwrap());
        let Err(Error::Query(error)) = Search::new(&source).bind(&query) else { panic!() };
        assert_eq!(error.caret().unwrap(), wrong.trim_end());
    }
}

#[test]
fn a_literal_of_the_wrong_type_is_named_with_its_column_and_type() {
    let source = any_rows(100, &mut SplitMix64::new(1)).source();
    let search = Search::new(&source);
    for (text, column, what) in [
        ("true or i64.numeric in (1, 'x')", 28, r#"column "i64.numeric" is i64, and "x" is not a number"#),
        ("bool.numeric = 1", 16, "column \"bool.numeric\" is bool, and 1 is not `true` or `false`"),
        (
            "date.numeric in '2024-01-01'..'2024-13-01'",
            31,
            r#"column "date.numeric" is date, and "2024-13-01" is not a day or a time in ISO 8601, in quotes"#,
        ),
        (
            "ip.sorted > '10.0.0.0/8'",
            13,
            "column \"ip.sorted\" is ip, and \"10.0.0.0/8\" is not an address; a network is compared by `=`, `!=` and `in (…)` alone",
        ),
        (
            "ip.sorted = '10.0.0.0/33'",
            13,
            "column \"ip.sorted\" is ip, and \"10.0.0.0/33\" is not a network: an address, `/` and a prefix length",
        ),
        (
            "uuid.binary = 'x'",
            15,
            r#"column "uuid.binary" is uuid, and "x" is not 32 hexadecimal digits, in quotes"#,
        ),
        ("string.sorted = 5", 17, "column \"string.sorted\" is string, and 5 is not text, in quotes"),
        ("i64.numeric ^= '1'", 16, "column \"i64.numeric\" is i64, and only byte strings have a prefix"),
        ("i64.numeric *= '1'", 16, "column \"i64.numeric\" is i64, and a pattern is for text and bytes"),
        ("_doc ~ '1'", 8, "column \"_doc\" is a number: expected text or bytes for a pattern"),
        ("_doc = '1'", 8, "column \"_doc\" is i64, and \"1\" is not a number"),
        ("_doc = i64.numeric", 8, "column \"_doc\" cannot be compared with a column"),
        (
            "string.sorted *= 5",
            18,
            "column \"string.sorted\" is string, and 5 is not text in quotes, or bytes",
        ),
        (
            "string.sorted ~ x'00'",
            17,
            "column \"string.sorted\" is string, and x'00' is not a regular expression, in quotes",
        ),
        ("string.sorted ~ 'a(b'", 17, "wrong regular expression: unclosed group"),
        ("string.binary ~ '(a{999}){999}'", 17, "the pattern takes more than 4 MiB"),
        (
            "i64.numeric < string.sorted",
            15,
            "expected a column comparable with \"i64.numeric\" (i64), found \"string.sorted\" (string)",
        ),
        (
            "sum(i64.numeric) > 1",
            1,
            "expected a column, found `sum(i64.numeric)`, which is for conditions on groups",
        ),
        ("string.sorted = libs", 17, "there is no column \"libs\"; text is written in quotes"),
    ] {
        let Err(Error::Query(error)) = search.bind(&parse(text)) else { panic!("{text}") };
        assert_eq!((error.column().unwrap(), error.message()), (column, what), "{text}");
    }
    // Each level takes stack when an expression is compiled.
    let nested = |levels| {
        [format!("{}a{}", "(".repeat(levels), ")".repeat(levels)), format!("a{}", "*".repeat(levels))]
    };
    for (least, deepest) in nested(64).iter().zip(&nested(65)) {
        search.bind(&parse(&format!("string.sorted ~ '{least}'"))).unwrap();
        let deepest = parse(&format!("string.sorted ~ '{deepest}'"));
        let Err(Error::Query(error)) = search.bind(&deepest) else { panic!("{deepest}") };
        assert_eq!(
            error.message(),
            "wrong regular expression: exceed the maximum number of nested parentheses/brackets (64)"
        );
    }
    let Err(Error::Query(error)) = search.bind(&parse("true or nowhere = 1")) else { panic!() };
    assert_eq!((error.column(), error.no_such_column()), (Some(9), Some("nowhere")));
    // A query without text has no position.
    let Err(Error::Query(error)) = search.bind(&Query::eq("nowhere", 1)) else { panic!() };
    assert_eq!((error.column(), error.no_such_column()), (None, Some("nowhere")));
    assert_eq!(error.to_string(), "there is no column \"nowhere\"");
    let Err(Error::Query(error)) = search.bind(&Query::eq("bool.numeric", 1)) else { panic!() };
    assert_eq!((error.column(), error.caret()), (None, None));
}
