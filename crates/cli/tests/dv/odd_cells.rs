//! Notes on cells that make a column text, and on headers that may be something else; options that read such files.

use crate::sandbox::Sandbox;

/// The notes of a build, which must go well.
#[track_caller]
fn notes(sandbox: &Sandbox, args: &[&str]) -> String {
    let run = sandbox.dv(&[&["build"], args, &["-o", "a.dv"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.err
}

fn csv(sandbox: &Sandbox) -> String {
    sandbox.ok(&["export", "a.dv", "--format", "csv"])
}

#[test]
fn a_few_cells_that_are_no_numbers_are_named() {
    let rows: String = (1..10_000).map(|n| format!("{n}\n")).collect();
    let sandbox = Sandbox::with("na.csv", format!("v\n{rows}N/A\n"));
    let expected = "note: column \"v\": 9999 of 10000 cells are numbers, but not \"N/A\" (na.csv:10001:1), so the type is string \
                    (--missing N/A reads them as missing values)\n";
    assert_eq!(notes(&sandbox, &["na.csv"]), expected);
    // The option of the note.
    assert_eq!(notes(&sandbox, &["na.csv", "--missing", "N/A"]), "");
    assert!(sandbox.ok(&["stats", "a.dv", "v", "--json"]).contains("\"max\": 9999"));
    assert_eq!(notes(&sandbox, &["na.csv", "--type", "v=string"]), "");

    for (cells, named) in [
        (
            "1.5\nNULL\n2\n",
            "2 of 3 cells are numbers, but not \"NULL\" (a.csv:3:1), so the type is string (--missing NULL reads",
        ),
        (
            "1\n2\nnone\n-\n",
            "\"none\" (a.csv:4:1), \"-\" (a.csv:5:1), so the type is string (--missing none --missing - reads",
        ),
        (
            "2024-01-02\n2024-01-03\n?\n",
            "2 of 3 cells are dates, but not \"?\" (a.csv:4:1), so the type is string (--missing '?' reads",
        ),
        ("2024-01-02 03:04:05\nnil\n", "1 of 2 cells are timestamps, but not \"nil\""),
    ] {
        sandbox.write("a.csv", format!("v\n{cells}"));
        let noted = notes(&sandbox, &["a.csv"]);
        assert!(noted.contains(named) && noted.lines().count() == 1, "{noted}");
    }
    // A value must not be lost.
    sandbox.write("a.csv", format!("v\n{}\"1,234\"\n", "7\n".repeat(20)));
    let noted = notes(&sandbox, &["a.csv"]);
    assert!(
        noted.contains("but not \"1,234\" (a.csv:22:1)")
            && noted.ends_with("(--type v=f64 --skip-bad skips their rows)\n"),
        "{noted}"
    );
    assert!(notes(&sandbox, &["a.csv", "--type", "v=f64", "--skip-bad"]).starts_with("skipped 1 bad row:"));
    for cells in ["1\nx\n2\n", "a\nb\nc\nNULL\n", "1\nx\ny\nz\nw\n", "7\n8\n"] {
        sandbox.write("a.csv", format!("v\n{cells}"));
        assert_eq!(notes(&sandbox, &["a.csv"]), "", "{cells}");
    }
    sandbox.ok(&["store", "create", "st"]);
    sandbox.write("a.csv", "v\n1\nNULL\n");
    assert!(sandbox.dv(&["put", "st", "a.csv"]).err.contains("but not \"NULL\""));
}

/// Nothing else would say that a price has no sum.
#[test]
fn numbers_as_people_write_them_are_noted() {
    for cells in [
        &["1,50", "-20,00"][..],
        &["7", "1,000.50", "12"],
        &["1.234.567,8", "3"],
        &["5 €", "€ 6.50", "7"],
        &["12 %", "7%"],
        &["1'000'000"],
        &["1\u{a0}000"],
        &[" 1,5 "],
    ] {
        let rows: String = cells.iter().map(|cell| format!("\"{cell}\"\n")).collect();
        let sandbox = Sandbox::with("a.csv", format!("v\n{rows}"));
        let odd = cells.iter().find(|cell| cell.parse::<u32>().is_err()).unwrap();
        let expected = format!(
            "note: column \"v\": its numbers are written as {odd:?}, so the type is string (dv reads numbers such as \
             1234.50, without commas and signs)\n"
        );
        assert_eq!(notes(&sandbox, &["a.csv"]), expected);
    }
    for cells in [
        &["1,50", "x"][..],
        &["01234", "12345"],
        &["1.2.3", "1.10.0"],
        &["555-1234", "555-1235"],
        &["49 170 1234567"],
        &["1,,2"],
        &["1,22,333"],
        &["%", "5 %"],
        &["1,5", "a", "b", "c", "d"],
    ] {
        let rows: String = cells.iter().map(|cell| format!("\"{cell}\"\n")).collect();
        let sandbox = Sandbox::with("a.csv", format!("v\n{rows}"));
        assert_eq!(notes(&sandbox, &["a.csv"]), "", "{cells:?}");
    }
}

/// The note has the line of a schema file that reads the column.
#[test]
fn dates_in_other_formats_are_noted() {
    for (cells, format, first) in [
        ("31.12.2024\n01.02.2025\n", "date\", format = \"%d.%m.%Y", "2024-12-31"),
        ("2026/03/29\n2026/12/31\n", "date\", format = \"%Y/%m/%d", "2026-03-29"),
        ("31/12/2024\n01/02/2025\n", "date\", format = \"%d/%m/%Y", "2024-12-31"),
        ("12/31/2024\n01/02/2025\n", "date\", format = \"%m/%d/%Y", "2024-12-31"),
        (
            "2024-01-02 03:04\n2024-01-02 23:59\n",
            "timestamp\", format = \"%Y-%m-%d %H:%M",
            "2024-01-02T03:04:00Z",
        ),
        (
            "2024-01-02T03:04\n2024-01-02T23:59\n",
            "timestamp\", format = \"%Y-%m-%dT%H:%M",
            "2024-01-02T03:04:00Z",
        ),
        (
            "31.12.2024 03:04\n01.01.2024 03:05\n",
            "timestamp\", format = \"%d.%m.%Y %H:%M",
            "2024-12-31T03:04:00Z",
        ),
    ] {
        for name in ["d", "my day"] {
            let sandbox = Sandbox::with("a.csv", format!("{name}\n{cells}"));
            let noted = notes(&sandbox, &["a.csv"]);
            let (_, line) = noted.split_once("the line: ").unwrap_or_else(|| panic!("{noted}"));
            assert!(line.contains(format), "{noted}");
            sandbox.write("a.toml", line.strip_suffix(")\n").unwrap());
            notes(&sandbox, &["a.csv", "--schema", "a.toml"]);
            let query = format!("`{name}` = \"{first}\"");
            assert_eq!(sandbox.ok(&["count", "a.dv", "--where", &query]), "1\n");
            assert_eq!(csv(&sandbox), format!("{name}\n{cells}"));
        }
    }
    // Either.
    let sandbox = Sandbox::with("a.csv", "d\n01/02/2025\n");
    assert!(notes(&sandbox, &["a.csv"]).contains("are written as %d/%m/%Y or %m/%d/%Y, so"));
}

#[test]
fn padded_cells_are_noted_and_trimmed() {
    let sandbox = Sandbox::with("a.csv", "id, size ,name\n1, 10 ,a b\n2,\t20, c\n");
    let noted = notes(&sandbox, &["a.csv"]);
    let names =
        "note: a.csv: names of the header have blanks around them: \" size \" (--trim removes them)\n";
    assert!(noted.starts_with(names), "{noted}");
    assert!(noted.contains("column \" size \": its numbers have blanks around them, so the type is string (--trim removes them)"), "{noted}");
    assert_eq!(notes(&sandbox, &["a.csv", "--trim"]), "");
    assert_eq!(csv(&sandbox), "id,size,name\n1,10,a b\n2,20,c\n");
    assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "size >= 20"]), "1\n");
    // Blanks within quotes stay.
    sandbox.write("a.csv", "a,b\n\" x \", y \n");
    notes(&sandbox, &["a.csv", "--trim"]);
    assert_eq!(csv(&sandbox), "a,b\n x ,y\n");
}

#[test]
fn headers_that_look_like_data_are_noted() {
    for (header, is_noted) in [
        ("5.1,3.5,setosa", true),
        ("1,2,3", true),
        ("1,Alice,2024-01-02,-7", true),
        ("2024-01-02,1", true),
        ("country,2019,2020", false),
        ("day,2024-01-02,2024-01-03", false),
        ("id,size", false),
    ] {
        let sandbox = Sandbox::with("a.csv", format!("{header}\n{header}\n"));
        let noted = notes(&sandbox, &["a.csv"]);
        assert_eq!(
            noted.contains("note: a.csv: the header looks like data: \""),
            is_noted,
            "{header}: {noted}"
        );
        let noted = notes(&sandbox, &["a.csv", "--header", "no"]);
        assert!(!noted.contains("looks like data"), "{noted}");
        assert_eq!(sandbox.ok(&["count", "a.dv"]), "2\n");
    }
}

#[test]
fn lines_before_the_header_are_skipped() {
    let rows = "a,b\n1,2\n";
    for (titles, skip) in
        [("Report 2024\n", "1"), ("Report 2024\n\n", "2"), ("Report\nof \"all\"\n\n", "3"), ("# by x\n", "1")]
    {
        let sandbox = Sandbox::with("a.csv", format!("{titles}{rows}"));
        let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv"]);
        assert!(
            run.code == 1 && run.err.contains(&format!("use --skip-lines {skip};")),
            "{titles:?} {run:?}"
        );
        assert_eq!(notes(&sandbox, &["a.csv", "--skip-lines", skip]), "");
        assert_eq!(csv(&sandbox), rows);
    }
    let sandbox = Sandbox::with("a.csv", "Report,,\na,b,c\n1,2,3\n");
    assert!(
        notes(&sandbox, &["a.csv"])
            .contains("the header has a single name; if it is a title, use --skip-lines 1")
    );
    sandbox.write("a.csv", "Report\na;b;c\n1;2;3\n");
    // The delimiter is that of the lines after it, and errors count all lines.
    assert!(notes(&sandbox, &["a.csv", "--skip-lines", "1"]).contains("';' separates its cells"));
    assert_eq!(csv(&sandbox), "a,b,c\n1,2,3\n");
    sandbox.write("a.csv", "x\na,b\n1,2\n3\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--skip-lines", "1"]);
    assert!(run.err.starts_with("dv: a.csv:4:1: "), "{run:?}");
    for skip in ["3", "4", "9"] {
        sandbox.write("b.csv", "x\ny\nz\n");
        let run = sandbox.dv(&["build", "b.csv", "-o", "b.dv", "--skip-lines", skip]);
        assert_eq!(run.code, 0, "{run:?}");
    }
}

#[test]
fn a_first_line_names_the_delimiter() {
    for (end, delimiter) in [("\n", ";"), ("\r\n", ","), ("\n", "|"), ("\n", "\t")] {
        let text = format!("sep={delimiter}{end}a{delimiter}x{end}1{delimiter}2{end}");
        let sandbox = Sandbox::with("a.csv", text);
        let quoted = if delimiter == "\t" { "'\\t'".to_owned() } else { format!("'{delimiter}'") };
        assert_eq!(
            notes(&sandbox, &["a.csv"]),
            format!("note: a.csv: its first line says that {quoted} separates its cells\n")
        );
        assert_eq!(csv(&sandbox), "a,x\n1,2\n");
    }
    let sandbox = Sandbox::with("a.csv", "sep=ab\n1\n");
    assert!(!notes(&sandbox, &["a.csv"]).contains("first line"));
}

#[test]
fn comments_and_escaped_quotes_are_read_on_request() {
    let sandbox = Sandbox::with("a.csv", "#one \"\na,b\n1,2\n# two, three, four\n3,\"#4\"\n#end");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--skip-lines", "1"]);
    assert!(run.code == 1, "{run:?}");
    assert_eq!(notes(&sandbox, &["a.csv", "--comment", "#"]), "");
    assert_eq!(csv(&sandbox), "a,b\n1,2\n3,#4\n");
    sandbox.write("a.csv", "a,b\n1,2\n# two\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv"]);
    assert!(run.err.contains("use --comment '#'"), "{run:?}");

    sandbox.write("a.csv", "a,b\n\"say \\\"hi, you\\\"\",2\n\"\"\"x\"\"\",\"\\\\\"\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv"]);
    assert!(run.code == 1 && run.err.contains("use --escape '\\'"), "{run:?}");
    notes(&sandbox, &["a.csv", "--escape", "\\"]);
    assert_eq!(
        sandbox.ok(&["cat", "a.dv"]),
        "{\"a\":\"say \\\"hi, you\\\"\",\"b\":\"2\"}\n{\"a\":\"\\\"x\\\"\",\"b\":\"\\\\\"}\n"
    );
}
