//! `dv report`: what its page tells, and that values stay text.

use std::fmt::Write as _;

use docvalues_testkit::damage::cases;
use proptest::prelude::*;

use crate::sandbox::{Sandbox, packages};

/// 10,000 rows, of which every tenth has another spelling, and few a note.
fn orders() -> Sandbox {
    let mut rows = "at,city,status,price,id,note,ratio\n".to_owned();
    for n in 0..10_000 {
        let city = if n % 10 == 0 { "berlin" } else { ["Berlin", "Paris"][n % 2] };
        let note = if n % 100 == 0 { "x" } else { "" };
        let price = if n % 1000 == 0 { 5_000_000 } else { n % 90 };
        let (day, ratio) = (1 + n / 400, if n == 7 { "NaN".to_owned() } else { format!("{}.5", n % 7) });
        // All but one id are different.
        let id = n.max(1);
        let _ = writeln!(rows, "2024-03-{day:02}T12:00:00Z,{city},open,{price},{id},{note},{ratio}");
    }
    let sandbox = Sandbox::with("orders.csv", rows);
    sandbox.ok(&["build", "orders.csv", "-o", "orders.dv", "-q", "--sort-by", "at"]);
    sandbox
}

/// The text of a page's element that begins with `begin`, without its tags.
#[track_caller]
fn text(page: &str, begin: &str, end: &str) -> String {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("no {begin} in\n{page}"));
    let (inside, _) = rest.split_once(end).unwrap();
    let texts = inside.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The card of a column.
#[track_caller]
fn card(page: &str, column: &str) -> String {
    text(page, &format!("><h3>{column} <small>"), "</article>")
}

/// Checks that a page has only elements and attributes of its own, and loads nothing.
#[track_caller]
fn check(page: &str) {
    const ELEMENTS: &str = "!doctype a article b body code dd div dl dt footer h1 h2 h3 head html i li meta p rect section small \
                            span style svg table tbody td th thead title tr ul";
    const ATTRIBUTES: &str = "aria-label charset class colspan content height href html http-equiv id lang name \
                              preserveaspectratio role style viewbox width x y";
    let is_of = |word: &str, words: &str| words.split_whitespace().any(|other| other == word);
    let mut rest = page;
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let mut quoted = false;
        let is_end = |c: char| {
            quoted ^= c == '"';
            c == '>' && !quoted
        };
        let (tag, after) = tag.split_at(tag.find(is_end).unwrap());
        rest = &after[1..];
        // Without what stands in quotes.
        let bare: String = tag.split('"').step_by(2).collect();
        let bare = bare.to_lowercase();
        let mut words = bare.split_whitespace();
        let element = words.next().unwrap_or_default();
        assert!(is_of(element.trim_start_matches('/'), ELEMENTS), "<{tag}>");
        for attribute in words {
            assert!(is_of(attribute.split('=').next().unwrap(), ATTRIBUTES), "<{tag}>");
        }
        let link = tag.split_once("href=").map(|(_, link)| link);
        assert!(link.is_none_or(|link| link.starts_with("\"#c")), "<{tag}>");
    }
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("url(") && !page.contains("@import"));
}

#[test]
fn the_page_describes_columns() {
    let sandbox = orders();
    let page = sandbox.ok(&["report", "orders.dv"]);
    check(&page);
    let heading = text(&page, "<body>", "<section");
    assert!(heading.starts_with("orders.dv 10,000 documents, 7 columns, "), "{heading}");
    assert!(heading.contains("Sorted by at: "), "{heading}");

    let warnings = text(&page, "<h2>Warnings</h2>", "</section>");
    for warning in [
        "city : 1 word is spelled in several ways: &quot;Berlin&quot; (4,000), &quot;berlin&quot; (1,000)",
        "status : all 10,000 values are the same",
        "id : nearly unique: some 9,999 different values of 10,000",
        "note : 99.0 % of the documents have no value",
        "ratio : 1 value is not a number (NaN)",
    ] {
        assert!(warnings.contains(warning), "{warning} in\n{warnings}");
    }
    assert!(!warnings.contains("price :") && !warnings.contains("at :"), "{warnings}");

    let overview = text(&page, "<h2>Columns</h2>", "</section>");
    assert!(overview.contains(" note string sorted 99.0 % 1 "), "{overview}");
    let at = card(&page, "at");
    assert!(at.contains(" a filter for the median looks into 1 of 3"), "{at}");
    assert!(at.contains("least 2024-03-01T12:00:00Z") && at.contains("2024-03-02T00:00:00Z: 400"), "{at}");
    // Most prices are far below the greatest.
    let price = card(&page, "price");
    assert!(price.contains("median 45") && price.contains("5000000: 10"), "{price}");
    let city = card(&page, "city");
    assert!(city.contains("Paris 5,000 50.0 %") && city.contains("distinct 3"), "{city}");
    // The bar of the most frequent value is the longest.
    assert!(page.contains("5,000<td class=n>50.0 %<td class=share><i style=\"width:100.0%\">"), "{page}");
    let sample = text(&page, "<h2>Some documents</h2>", "</section>");
    assert!(
        sample.starts_with("at city status price id note ratio 2024-03-01T12:00:00Z berlin open"),
        "{sample}"
    );
}

#[test]
fn a_condition_and_a_zone_are_for_all_values() {
    let sandbox = orders();
    let query = "city = \"Paris\" and price < 1000";
    let columns = ["--columns", "city,at", "--where", query, "--tz", "Asia/Tokyo"];
    sandbox.ok(&[&["report", "orders.dv", "-o", "page.html"][..], &columns].concat());
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    check(&page);
    let heading = text(&page, "<body>", "<section");
    assert!(
        heading.contains("5,000 of the documents match city = &quot;Paris&quot; and price &lt; 1000"),
        "{heading}"
    );
    assert!(card(&page, "city").contains("Paris 5,000 100.0 %"), "{page}");
    assert!(card(&page, "at").contains("least 2024-03-01T21:00:00+09:00"), "{page}");
    assert!(!text(&page, "<h2>Some documents</h2>", "</section>").contains("Berlin"), "{page}");
}

#[test]
fn stores_and_several_files_have_a_page() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["store", "create", "p", "--id-field", "id"]);
    check(&sandbox.ok(&["report", "p"]));
    sandbox.ok(&["put", "p", "p.ndjson.gz", "-q"]);
    let page = sandbox.ok(&["report", "p"]);
    check(&page);
    assert!(card(&page, "section").contains("libs 380 10.8 %"), "{page}");
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "a.dv", "-q"]);
    std::fs::copy(sandbox.path("a.dv"), sandbox.path("b.dv")).unwrap();
    let page = sandbox.ok(&["report", "a.dv", "b.dv"]);
    assert!(card(&page, "section").contains("libs 760 10.8 %"), "{page}");
    assert!(text(&page, "<body>", "<section").contains("7,050 documents, 17 columns"), "{page}");
}

#[test]
fn only_a_page_is_replaced() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n2\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox.ok(&["build", "a.csv", "-o", "b.dv", "-q"]);
    for output in ["a.dv", "b.dv"] {
        let run = sandbox.dv(&["report", "a.dv", "-o", output]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    }
    for output in ["new.csv", "new.JSON", "new.dv", "new.csv.gz"] {
        let run = sandbox.dv(&["report", "a.dv", "-o", output]);
        assert!(run.code == 2 && run.err.contains(": expected the extension .html, found \"."), "{run:?}");
    }
    for output in ["a.html", "a.html", "page", "a.htm.gz"] {
        sandbox.ok(&["report", "a.dv", "-o", output]);
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "a.htm.gz", "a.html", "b.dv", "page"]);
}

/// The widest numbers, and doubles that no round steps divide.
#[test]
fn odd_numbers_have_a_page() {
    let rows = "i,u,f,g,h\n-9223372036854775808,0,-1.7976931348623157e308,-inf,1e16\n\
                9223372036854775807,18446744073709551615,1.7976931348623157e308,0.5,10000000000000002.0\n";
    let sandbox = Sandbox::with("a.csv", rows);
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q", "--type", "i=i64,u=u64,f=f64,g=f64,h=f64"]);
    let page = sandbox.ok(&["report", "a.dv"]);
    check(&page);
    assert!(card(&page, "u").contains("greatest 18446744073709551615"), "{page}");
    let none = sandbox.ok(&["report", "a.dv", "--where", "i = 1"]);
    check(&none);
    assert!(none.contains("no document has a value") || !none.contains("Warnings"), "{none}");
}

#[test]
fn the_page_of_hundreds_of_columns_is_small_and_names_those_it_leaves_out() {
    let long = "<\"&'>".repeat(20);
    let mut rows = String::new();
    for n in 0..40 {
        let cells = (0..400).map(|column| {
            format!("\"{:03}{}\":{}", column, "'".repeat(200), serde_json::json!(format!("{}{long}", n % 10)))
        });
        let _ = writeln!(rows, "{{{}}}", cells.collect::<Vec<_>>().join(","));
    }
    let sandbox = Sandbox::with("a.ndjson", rows);
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "-q"]);
    let page = sandbox.ok(&["report", "a.dv"]);
    check(&page);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let left_out = text(&page, "<p>Left out, to keep the page small: ", "</p>");
    // The first column of which nothing is told.
    assert!(left_out.contains("300&#39;") && left_out.contains("--columns"), "{left_out}");
    let some = sandbox.ok(&["report", "a.dv", "--columns", &format!("399{}", "'".repeat(200))]);
    assert!(some.len() < 100_000 && !some.contains("Left out"), "{some}");
}

/// As the page prints text of data.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c if c.is_control() || c == '\u{202e}' => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

const HOSTILE: &str = "(<script>|</td>|-->|on=|[<>&\"'`=/\\\\{}\t\n\u{1b}\u{202e} aé]){0,5}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(10, 24)))]
    #[test]
    fn names_and_values_stay_text(name in HOSTILE, values in prop::collection::vec(HOSTILE, 1..4)) {
        let name = format!("n{name}");
        let row = |value: &String| format!("{}\n", serde_json::json!({ (name.clone()): format!("v{value}") }));
        let sandbox = Sandbox::with("a.ndjson", values.iter().map(row).collect::<String>());
        sandbox.ok(&["build", "a.ndjson", "-o", "<b>.dv", "-q", "--sort-by", &name]);
        let page = sandbox.ok(&["report", "<b>.dv"]);
        check(&page);
        prop_assert!(page.contains(&format!("<th>{}", escaped(&name))), "{}", page);
        for value in &values {
            prop_assert!(page.contains(&format!("<td>{}", escaped(&format!("v{value}")))), "{value:?} in {page}");
        }
    }
}
