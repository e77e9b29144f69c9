//! Files as people have them: from R, pandas, Excel, databases and APIs.
//!
//! Each is built without options (unless its test names some), exported, and compared cell by cell; so are the types of its
//! columns, and everything on standard error.

use crate::sandbox::{Sandbox, gzip};
use crate::zip::zip;

/// A file, and what `dv build` must make of it.
struct File {
    name: &'static str,
    bytes: Vec<u8>,
    options: &'static [&'static str],
    /// The names and types of the columns.
    columns: Vec<(String, String)>,
    rows: Vec<Vec<String>>,
    code: i32,
    err: String,
}

/// A file that makes a segment without notes.
fn file(name: &'static str, bytes: impl AsRef<[u8]>) -> File {
    let bytes = bytes.as_ref().to_owned();
    File { name, bytes, options: &[], columns: Vec::new(), rows: Vec::new(), code: 0, err: String::new() }
}

impl File {
    fn options(mut self, options: &'static [&'static str]) -> File {
        self.options = options;
        self
    }

    /// The columns, each as `name: type`.
    fn columns(mut self, columns: &[&str]) -> File {
        let parts = columns.iter().map(|column| column.rsplit_once(": ").unwrap());
        self.columns = parts.map(|(name, ty)| (name.to_owned(), ty.to_owned())).collect();
        self
    }

    fn rows<const N: usize>(mut self, rows: &[[&str; N]]) -> File {
        self.rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        self
    }

    /// The next note on standard error.
    fn note(mut self, note: &str) -> File {
        self.err += &format!("note: {note}\n");
        self
    }

    /// The error for a file that is refused, and its hint.
    fn refused(mut self, message: &str, hint: &str) -> File {
        self.code = 1;
        self.err = format!("dv: {message}\n    hint: {hint}\n");
        self
    }

    fn check(&self) {
        let name = self.name;
        let sandbox = Sandbox::with(name, &self.bytes);
        let run = sandbox.dv(&[&["build", name, "-o", "out.dv"], self.options].concat());
        assert_eq!((run.err.as_str(), run.code), (self.err.as_str(), self.code), "{name}: standard error");
        if self.code != 0 {
            return;
        }
        sandbox.ok(&["check", "out.dv"]);
        assert_eq!(types(&sandbox), self.columns, "{name}: columns");
        let exported = sandbox.ok(&["export", "out.dv", "--format", "csv"]);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(exported.as_bytes());
        let mut rows = reader.records().map(Result::unwrap);
        let header: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let expected = Some(&header).filter(|header| !header.is_empty()).into_iter().chain(&self.rows);
        for (number, expected) in expected.enumerate() {
            let row = rows.next().unwrap_or_else(|| panic!("{name}: row {number} is not there"));
            assert_eq!(row.len(), expected.len(), "{name}: cells of row {number}");
            for (column, (cell, expected)) in row.iter().zip(expected).enumerate() {
                assert_eq!(cell, expected, "{name}: row {number}, {}", header[column]);
            }
        }
        assert!(rows.next().is_none(), "{name}: more than {} rows", self.rows.len());
    }
}

/// The names and types of the columns of the segment, in the order of the file.
fn types(sandbox: &Sandbox) -> Vec<(String, String)> {
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", "out.dv", "--json"])).unwrap();
    let text = |column: &serde_json::Value, key: &str| column[key].as_str().unwrap().to_owned();
    let ty = |column: &serde_json::Value| {
        let several = if text(column, "kind").starts_with("sorted-") { "[]" } else { "" };
        text(column, "type") + several
    };
    info["columns"].as_array().unwrap().iter().map(|column| (text(column, "name"), ty(column))).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Text of which every character is one of the first 256.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

const PETS: &str = "name,age\nTom,3\nIda,\n";

/// A file with the columns and rows of [`PETS`].
fn pets(name: &'static str, bytes: impl AsRef<[u8]>) -> File {
    file(name, bytes).columns(&["name: string", "age: i64"]).rows(&[["Tom", "3"], ["Ida", ""]])
}

#[test]
fn of_programs() {
    let files = [
        file("r.csv", "\"\",\"x\",\"y\",\"ok\"\n\"1\",1.5,\"a\",TRUE\n\"2\",NA,\"b\",FALSE\n\"3\",3,NA,TRUE\n")
            .columns(&["c1: i64", "x: f64", "y: string", "ok: bool"])
            .rows(&[["1", "1.5", "a", "true"], ["2", "NA", "b", "false"], ["3", "3", "NA", "true"]])
            .note(
                "r.csv: the header has empty or repeated names: column 1 is \"c1\"; if the first row is data, use \
                 --header no",
            )
            .note(
                "column \"ok\": its values are booleans, which export prints as true and false (--type ok=string keeps \
                 text)",
            )
            .note("columns \"x\", \"y\": NA is a missing value (--no-default-missing reads text)"),
        file("pandas.csv", ",a,ok,when\n0,1.0,True,2024-01-02 03:04:05\n1,,False,2024-01-02 00:00:00\n2,3.0,,\n")
            .columns(&["c1: i64", "a: f64", "ok: bool", "when: timestamp[ms]"])
            .rows(&[
                ["0", "1.0", "true", "2024-01-02 03:04:05"],
                ["1", "", "false", "2024-01-02 00:00:00"],
                ["2", "3.0", "", ""],
            ])
            .note(
                "pandas.csv: the header has empty or repeated names: column 1 is \"c1\"; if the first row is data, use \
                 --header no",
            )
            .note(
                "column \"ok\": its values are booleans, which export prints as true and false (--type ok=string keeps \
                 text)",
            )
            .note("column \"when\": its timestamps have no UTC offset, so they are read as UTC (--type when=string \
                 keeps text)"),
        file("excel.csv", latin1("Name;Größe;Preis\r\nMüller;12;1,50\r\nJosé;7;20,00\r\n"))
            .options(&["--encoding", "latin-1"])
            .columns(&["Name: string", "Größe: i64", "Preis: string"])
            .rows(&[["Müller", "12", "1,50"], ["José", "7", "20,00"]])
            .note("excel.csv: ';' separates its cells (--delimiter , reads commas)")
            .note(
                "column \"Preis\": its numbers are written as \"1,50\", so the type is string (dv reads numbers such as \
                 1234.50, without commas and signs)",
            ),
        file("excel.csv", latin1("Name;Größe\r\nMüller;12\r\n")).refused(
            "excel.csv:1:8: the text is not UTF-8: \"\u{fffd}\u{fffd}e\"",
            "set --encoding, such as latin-1; or skip bad rows with --skip-bad",
        ),
        file("excel-utf8.csv", "\u{feff}Name;Größe\r\nMüller;12\r\n")
            .columns(&["Name: string", "Größe: i64"])
            .rows(&[["Müller", "12"]])
            .note("excel-utf8.csv: ';' separates its cells (--delimiter , reads commas)"),
        file("excel-unicode.csv", utf16("Name\tPreis\r\nMüller\t5 €\r\n"))
            .columns(&["Name: string", "Preis: string"])
            .rows(&[["Müller", "5 €"]])
            .note("excel-unicode.csv: '\\t' separates its cells (--delimiter , reads commas)")
            .note(
                "column \"Preis\": its numbers are written as \"5 €\", so the type is string (dv reads numbers such as \
                 1234.50, without commas and signs)",
            ),
        file("postgres.csv", "t,ok\n2024-01-02 03:04:05+00,t\n2024-01-02 03:04:05.5+00,f\n")
            .columns(&["t: timestamp[ms]", "ok: string"])
            .rows(&[["2024-01-02 03:04:05+00", "t"], ["2024-01-02 03:04:05.5+00", "f"]]),
        file("api.json", "[{\"id\": 1, \"user\": {\"name\": \"a\"}}, {\"id\": 2, \"user\": {\"name\": \"b\"}}]")
            .columns(&["id: i64", "user.name: string"])
            .rows(&[["1", "a"], ["2", "b"]]),
        file(
            "jq.json",
            "{\n  \"id\": 1,\n  \"tags\": [\n    \"x\",\n    \"y\"\n  ]\n}\n\
             {\n  \"id\": 2,\n  \"tags\": []\n}\n",
        )
            .columns(&["id: i64", "tags: string[]"])
            .rows(&[["1", "[\"x\",\"y\"]"], ["2", ""]]),
    ];
    files.iter().for_each(File::check);
}

#[test]
fn of_every_packing_and_layout() {
    let files = [
        pets("plain.csv", PETS),
        pets("bom.csv", format!("\u{feff}{PETS}")),
        pets("crlf.csv", PETS.replace('\n', "\r\n")),
        pets("mac.csv", PETS.replace('\n', "\r")),
        pets("no-line-end.csv", "name,age\n\nTom,3\nIda,"),
        pets("quoted.csv", "\"name\",\"age\"\n\"Tom\",\"3\"\n\"Ida\",\"\"\n"),
        pets("tabs.tsv", PETS.replace(',', "\t")),
        pets("bars.csv", PETS.replace(',', "|"))
            .note("bars.csv: '|' separates its cells (--delimiter , reads commas)"),
        pets("utf16.csv", utf16(PETS)),
        pets("pets.csv.gz", gzip(PETS)),
        pets(
            "pets.csv.zst",
            ruzstd::encoding::compress_to_vec(PETS.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest),
        ),
        pets("pets.zip", zip(&[("folder/pets.csv", PETS)])),
        pets("no-header.csv", "Tom,3\nIda,\n").options(&["--header", "name,age"]),
        pets("lines.ndjson", "{\"name\":\"Tom\",\"age\":3}\n{\"name\":\"Ida\"}\n"),
        pets("lines.json", "{\"name\":\"Tom\",\"age\":3}\n{\"name\":\"Ida\",\"age\":null}\n"),
        pets("array.json.gz", gzip("[\n  {\"name\": \"Tom\", \"age\": 3},\n  {\"name\": \"Ida\"}\n]\n")),
        file("empty.csv", "").note("empty input: empty.csv, so the segment has no columns"),
        file("only-header.csv", "a,b\n").columns(&["a: string", "b: string"]),
        file("several.zip", zip(&[("a.csv", PETS), ("b.csv", PETS)])).refused(
            "several.zip: expected a zip archive with one file, found 2: \"a.csv\", \"b.csv\"",
            "unpack it first: unzip several.zip",
        ),
    ];
    files.iter().for_each(File::check);
}

#[test]
fn of_values_that_are_no_plain_numbers() {
    let ids = ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-0000-0000-000000000000"];
    let files = [
        file("missing.csv", "a,b,c\n1,null,x\nNA,2,\"NA\"\n,3,\"\"\n")
            .columns(&["a: i64", "b: i64", "c: string"])
            .rows(&[["1", "null", "x"], ["", "2", "NA"], ["", "3", ""]])
            .note("columns \"a\", \"b\": NA and null are missing values (--no-default-missing reads text)"),
        file("integers.csv", "i,u,more\n9223372036854775807,18446744073709551615,18446744073709551616\n-1,0,1\n")
            .columns(&["i: i64", "u: u64", "more: string"])
            .rows(&[["9223372036854775807", "18446744073709551615", "18446744073709551616"], ["-1", "0", "1"]])
            .note("column \"more\": a double rounds 18446744073709551616, so the type is string (--type more=f64 rounds \
                 it)"),
        file("decimals.csv", "x,y,z\n0.1234567890123456789,1.50,1e3\n1.5,20.00,2.5\n")
            .columns(&["x: string", "y: f64", "z: f64"])
            .rows(&[["0.1234567890123456789", "1.50", "1e3"], ["1.5", "20.00", "2.5"]])
            .note("column \"x\": a double rounds 0.1234567890123456789, so the type is string (--type x=f64 \
                 rounds it)"),
        file("nan.csv", "x\n1.5\nNaN\ninf\n-inf\n")
            .columns(&["x: f64"])
            .rows(&[["1.5"], ["NaN"], ["inf"], ["-inf"]]),
        file("codes.csv", "zip,phone,price\n01234,+49 30 1,\"1,234.50\"\n10115,+1 2,\"7.00\"\n")
            .columns(&["zip: string", "phone: string", "price: string"])
            .rows(&[["01234", "+49 30 1", "1,234.50"], ["10115", "+1 2", "7.00"]])
            .note(
                "column \"price\": its numbers are written as \"1,234.50\", so the type is string (dv reads numbers such as \
                 1234.50, without commas and signs)",
            ),
        file("hosts.csv", "host,subnet\n10.0.0.1,10.0.0.0/8\n2001:db8::1,::/0\n")
            .columns(&["host: ip", "subnet: string"])
            .rows(&[["10.0.0.1", "10.0.0.0/8"], ["2001:db8::1", "::/0"]]),
        file("ids.csv", format!("id,ID\n{0},{2}\n{1},{1}\n", ids[0], ids[1], ids[0].to_uppercase()))
            .columns(&["id: uuid", "ID: string"])
            .rows(&[[ids[0], &ids[0].to_uppercase()], [ids[1], ids[1]]]),
        file("dates.csv", "us,iso,de\n01/31/2024,2024-01-31,31.01.2024\n")
            .columns(&["us: string", "iso: date", "de: string"])
            .rows(&[["01/31/2024", "2024-01-31", "31.01.2024"]])
            .note(
                "column \"us\": its dates are written as %m/%d/%Y, so the type is string (--schema reads a file with the \
                 line: columns.\"us\" = { type = \"date\", format = \"%m/%d/%Y\" })",
            )
            .note(
                "column \"de\": its dates are written as %d.%m.%Y, so the type is string (--schema reads a file with the \
                 line: columns.\"de\" = { type = \"date\", format = \"%d.%m.%Y\" })",
            ),
        file(
            "zones.csv",
            "none,utc,mixed\n\
             2024-01-02T03:04:05.250,2024-01-02T03:04:05Z,2024-01-01T06:00:00+01:00\n\
             2024-01-02T03:04:05.500,2024-01-02T03:04:06Z,2024-07-01T06:00:00+02:00\n",
        )
            .columns(&["none: timestamp[ms]", "utc: timestamp[ms]", "mixed: string"])
            .rows(&[
                ["2024-01-02T03:04:05.250", "2024-01-02T03:04:05Z", "2024-01-01T06:00:00+01:00"],
                ["2024-01-02T03:04:05.500", "2024-01-02T03:04:06Z", "2024-07-01T06:00:00+02:00"],
            ])
            .note("column \"none\": its timestamps have no UTC offset, so they are read as UTC (--type none=string \
                 keeps text)")
            .note(
                "column \"mixed\": the UTC offsets of its timestamps differ, so the type is string (--type mixed=timestamp \
                 stores them in UTC)",
            ),
    ];
    files.iter().for_each(File::check);
}

#[test]
fn of_surprises() {
    let late: String = (0..10_000).map(|n| format!("{n}\n")).collect();
    let mut widened = file("late.csv", format!("n\n{late}1.5\n"))
        .columns(&["n: f64"])
        .note(
            "column \"n\": late.csv:10002:1 has \"1.5\", so the type is f64 and not the i64 of the sample; the input was read \
             again",
        );
    widened.rows = late.lines().chain(["1.5"]).map(|cell| vec![cell.to_owned()]).collect();
    let files = [
        widened,
        file("repeated.csv", "a,a,b,a\n1,2,3,4\n")
            .columns(&["a: i64", "a_2: i64", "b: i64", "a_3: i64"])
            .rows(&[["1", "2", "3", "4"]])
            .note(
                "repeated.csv: the header has empty or repeated names: column 2 is \"a_2\", column 4 is \"a_3\"; if the \
                 first row is data, use --header no",
            ),
        file("quotes.csv", "a,b\n\"line 1\nline 2\",\"say \"\"hi\"\", please\"\n padded ,\n")
            .columns(&["a: string", "b: string"])
            .rows(&[["line 1\nline 2", "say \"hi\", please"], [" padded ", ""]]),
        file("nested.ndjson", "{\"id\":1,\"user\":{\"tags\":[\"y\",\"x\"]},\"none\":null}\n{\"id\":2,\"user\":{\"tags\":[]}}\n")
            .columns(&["id: i64", "user.tags: string[]"])
            .rows(&[["1", "[\"x\",\"y\"]"], ["2", ""]])
            .note(
                "column \"user.tags\": the values of a document are stored in ascending order, and equal strings once \
                 (jq -c '.user.tags |= tojson' keeps text)",
            )
            .note(
                "column \"none\": no document has a value, so the segment has no such column (--type none=string adds it)",
            ),
        file("objects.json", "[\n  {\"items\": [{\"n\": 1}]}\n]\n").refused(
            "objects.json:2:14: column \"items\": no column stores an array of objects: \"{\"n\": 1}\"",
            "store the elements as text: jq -c '.items |= map(tojson)'; or leave it out: --exclude items; or skip bad rows \
             with --skip-bad",
        ),
        file("kinds.json", "[{\"a\":1},{\"a\":\"x\"}]").refused(
            "kinds.json:1:15: column \"a\" holds JSON strings and, at kinds.json:1:7, JSON numbers",
            "use --type a=string to keep the text of both, or --skip-bad to skip the rows with the rarer kind",
        ),
        file("ragged.csv", "a,b\n1,2\n3\n").refused(
            "ragged.csv:3:1: expected 2 cells, found 1: \"3\"",
            "look for a missing delimiter or a broken line, or set --delimiter; or skip bad rows with --skip-bad",
        ),
    ];
    files.iter().for_each(File::check);
}
