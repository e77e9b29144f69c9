use std::cell::Cell;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::rc::Rc;

use proptest::prelude::*;

use super::column_type::ColumnType;
use super::error::PAUSE;
use super::hints::plain;
use super::row_batch::RowBatch;
use super::*;
use crate::text::{Printer, StoredRef};

/// A reader that pauses before each byte, once `reports_pauses` is set.
pub(super) struct PausingReader {
    bytes: Vec<u8>,
    read: usize,
    is_awake: bool,
    reports_pauses: Rc<Cell<bool>>,
}

impl PausingReader {
    pub(super) fn new(bytes: &[u8], reports_pauses: Rc<Cell<bool>>) -> PausingReader {
        PausingReader { bytes: bytes.to_owned(), read: 0, is_awake: false, reports_pauses }
    }
}

impl Read for PausingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("expected calls of fill_buf"))
    }
}

impl BufRead for PausingReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let rest = &self.bytes[self.read..];
        self.is_awake = !self.is_awake;
        // As a pipe that was closed, it does not pause at the end.
        if !self.is_awake && !rest.is_empty() && self.reports_pauses.get() {
            return Err(PAUSE.into());
        }
        Ok(&rest[..rest.len().min(1)])
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount;
    }
}

fn options() -> ImportOptions {
    ImportOptions::usual()
}

fn typed(types: &str) -> ImportOptions {
    let mut options = options();
    options.schema.add_types(types).unwrap();
    options
}

/// The values of a document, by column.
type OwnedValues = Vec<(usize, Vec<Owned>)>;

#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Number(i64),
    Bytes(Vec<u8>),
}

impl Owned {
    fn as_ref(&self) -> StoredRef<'_> {
        match self {
            Owned::Number(number) => StoredRef::Number(*number),
            Owned::Bytes(bytes) => StoredRef::Bytes(bytes),
        }
    }
}

fn keep(document: &Document) -> OwnedValues {
    let mut kept: OwnedValues = Vec::new();
    for (column, value) in document.values() {
        let value = match value {
            StoredRef::Number(number) => Owned::Number(number),
            StoredRef::Bytes(bytes) => Owned::Bytes(bytes.to_owned()),
        };
        match kept.last_mut() {
            Some((last, values)) if *last == column => values.push(value),
            _ => kept.push((column, vec![value])),
        }
    }
    kept
}

/// Everything that an import gave.
struct ImportResult {
    import: Import,
    documents: Vec<OwnedValues>,
}

fn import_files(paths: &[PathBuf], options: ImportOptions) -> Result<ImportResult> {
    let expected = import_once(paths, options.clone());
    // Chunks of a record or two, and of all records, give the same.
    for (chunk_threads, batch_bytes) in [(1, 1), (1, 40), (3, 100), (2, 1 << 20)] {
        let options = ImportOptions { chunk_threads: Some(chunk_threads), batch_bytes, ..options.clone() };
        assert_eq!(described(&import_once(paths, options)), described(&expected));
    }
    expected
}

/// All that is seen of an import.
fn described(imported: &Result<ImportResult>) -> String {
    match imported {
        Ok(ImportResult { import, documents }) => {
            let columns = import.columns.iter().map(|column| {
                let format = column.text_format(import.documents, import.missing_tokens());
                format!("{column:?} {format:?}")
            });
            let columns: Vec<String> = columns.collect();
            // A batch has the columns in their order.
            let mut documents = documents.clone();
            documents.iter_mut().for_each(|document| document.sort_by_key(|(column, _)| *column));
            format!("{documents:?} {columns:?} {} {:?}", import.documents, import.skipped())
        }
        Err(error) => format!("{error:?}"),
    }
}

fn import_once(paths: &[PathBuf], options: ImportOptions) -> Result<ImportResult> {
    let sources = paths.iter().map(|path| Source::new(path)).collect();
    let mut import = Import::prepare(sources, options)?;
    let mut documents = Vec::new();
    import.run(|_, added| {
        match added {
            Imported::Document(document) => documents.push(keep(document)),
            Imported::Batch(batch) => documents.extend(keep_rows(batch.rows())),
            Imported::Pause => panic!("no file pauses"),
        }
        Ok::<(), InputError>(())
    })?;
    Ok(ImportResult { import, documents })
}

fn keep_rows(rows: &RowBatch) -> Vec<OwnedValues> {
    let mut kept = vec![OwnedValues::new(); rows.docs.try_into().unwrap()];
    for index in rows.columns() {
        let column = &rows.columns[index];
        let place = |ends: &[u64], at: usize| usize::try_from(ends[at]).unwrap();
        let value = |at: usize| match column.numbers.is_empty() {
            true => Owned::Bytes(column.strings.get(at).to_vec()),
            false => Owned::Number(column.numbers[at]),
        };
        for (row, kept) in kept.iter_mut().enumerate() {
            let values = match column.lists.is_empty() {
                true if column.validity[row / 64] >> (row % 64) & 1 == 0 => row..row,
                true => row..row + 1,
                false => place(&column.lists, row)..place(&column.lists, row + 1),
            };
            if !values.is_empty() {
                kept.push((index, values.map(value).collect()));
            }
        }
    }
    kept
}

/// Imports texts as files of these names.
fn import(files: &[(&str, &str)], options: ImportOptions) -> Result<ImportResult> {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<_> = files.iter().map(write).collect();
    import_files(&paths, options).map_err(|error| strip(error, &folder.path().display().to_string()))
}

/// Takes the temporary folder out of an error.
fn strip(error: InputError, folder: &str) -> InputError {
    let short = |text: &str| text.replace(&format!("{folder}/"), "");
    match error {
        InputError::Bad(bad) => BadRow { file: short(&bad.file).into(), ..*bad }.into(),
        InputError::Refused { message, hint } => InputError::Refused { message: short(&message), hint },
        other => other,
    }
}

impl ImportResult {
    fn types(&self) -> Vec<String> {
        let shown = |c: &Column| format!("{} {}", c.name, c.ty.map_or("-".into(), plain));
        self.import.columns.iter().map(shown).collect()
    }

    fn printers(&self) -> Vec<Printer> {
        let printer = |column: &Column| {
            let ty = column.ty.unwrap_or(ColumnType::single(crate::api::LogicalType::Utf8));
            let (text_format, _) = column.text_format(self.import.documents, self.import.missing_tokens());
            Printer::new(ty.logical, ty.multi, text_format.to_format().as_deref())
        };
        self.import.columns.iter().map(printer).collect()
    }

    fn values<'a>(&self, document: &'a OwnedValues, column: usize) -> Vec<StoredRef<'a>> {
        let of_column = document.iter().filter(|(c, _)| *c == column);
        of_column.flat_map(|(_, values)| values.iter().map(Owned::as_ref)).collect()
    }

    fn csv(&self) -> String {
        let printers = self.printers();
        let mut out = String::new();
        for (index, column) in self.import.columns.iter().enumerate() {
            let start = out.len();
            out.push_str(&column.name);
            crate::text::quoting::quote_csv(&mut out, start, ',', |_| false);
            out.push(if index + 1 == printers.len() { '\n' } else { ',' });
        }
        for document in &self.documents {
            for (index, printer) in printers.iter().enumerate() {
                printer.csv(&self.values(document, index), ',', &mut out);
                out.push(if index + 1 == printers.len() { '\n' } else { ',' });
            }
        }
        out
    }

    fn ndjson(&self) -> String {
        let printers = self.printers();
        let mut out = String::new();
        for document in &self.documents {
            let mut separator = '{';
            for (index, (printer, column)) in printers.iter().zip(&self.import.columns).enumerate() {
                let mut value = String::new();
                if printer.json(&self.values(document, index), &mut value) {
                    out.push(separator);
                    crate::text::quoting::json_string(&column.name, &mut out);
                    out.push(':');
                    out.push_str(&value);
                    separator = ',';
                }
            }
            out.push_str(if separator == '{' { "{}\n" } else { "}\n" });
        }
        out
    }
}

fn message(result: Result<ImportResult>) -> (String, String) {
    let error = result.err().unwrap();
    (error.to_string(), error.hint().unwrap_or("").to_owned())
}

#[test]
fn csv_comes_out_as_it_went_in() {
    let text = "name,n,price,at,day,flag,empty\n\
                a,1,1.50,2013-01-01T06:00:00Z,2013-01-01,true,\n\
                \"b,\"\"c\",NA,2.00,2013-01-01T07:00:00Z,,false,\n\
                \"NA\",18446744073709551615,NaN,2013-01-01T08:00:00Z,2013-01-03,true,\n";
    let imported = import(&[("a.csv", text)], options()).unwrap();
    let types =
        ["name string", "n u64", "price f64", "at timestamp[ms]", "day date", "flag bool", "empty string"];
    assert_eq!(imported.types(), types);
    assert_eq!(imported.csv(), text);
}

#[test]
fn ndjson_comes_out_as_it_went_in() {
    let text = r#"{"s":"x\ny","i":-1,"f":1.0,"b":true,"tags":["a","b"],"n":null,"o.p":1}
{"s":"","i":2,"f":2.5,"tags":[],"n":null}
{"tags":["c"],"i":3,"s":"z","n":5,"late":"2013-01-01"}
"#;
    let imported = import(&[("a.ndjson", text)], options()).unwrap();
    let types = ["s string", "i i64", "f f64", "b bool", "tags string[]", "n i64", "o.p i64", "late date"];
    assert_eq!(imported.types(), types);
    let expected = r#"{"s":"x\ny","i":-1,"f":1.0,"b":true,"tags":["a","b"],"n":null,"o.p":1}
{"s":"","i":2,"f":2.5,"tags":[],"n":null}
{"s":"z","i":3,"tags":["c"],"n":5,"late":"2013-01-01"}
"#;
    assert_eq!(imported.ndjson(), expected);
}

#[test]
fn missing_values_copy_no_string() {
    let long = "x".repeat(20_000);
    // More than half of the values differ, at last.
    let json: String = (0..10_000).map(|n| format!("{{\"a\":\"s{n}\"}}\n")).collect();
    let json = format!("{{}}\n{{}}\n{{\"a\":\"{long}\"}}\n{}{json}", "{}\n".repeat(9_000));
    let csv: String = (0..10_000).map(|n| format!("s{n},1\n")).collect();
    let csv = format!("a,b\n{long},1\n{}{csv}", ",1\n".repeat(9_000));
    for (name, text) in [("a.ndjson", json), ("a.csv", csv)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        let options = ImportOptions { chunk_threads: Some(1), ..options() };
        let mut import = Import::prepare(vec![Source::new(&path)], options).unwrap();
        let mut in_batches = 0;
        let run = import.run(|_, added| {
            if let Imported::Batch(batch) = added {
                in_batches += batch.docs();
                let strings = &batch.rows().columns[0].strings;
                assert!(strings.ids.is_empty() && strings.bytes.len() < text.len(), "{name}");
            }
            Ok::<(), InputError>(())
        });
        run.unwrap();
        assert!(in_batches >= 19_000, "{name}");
    }
}

#[test]
fn lines_with_many_keys_are_read_one_by_one() {
    let usual = "{\"n\":1}\n".repeat(200);
    let keys: String = (0..40).map(|n| format!("{{\"n\":1,\"counts\":{{\"user_{n}\":1}}}}\n")).collect();
    let text = format!("{usual}{keys}{usual}");
    let options = ImportOptions { sample: 100, batch_bytes: 100, ..options() };
    assert_eq!(import(&[("a.ndjson", &text)], options.clone()).unwrap().import.columns.len(), 41);
    for chunk_threads in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ndjson");
        fs::write(&path, &text).unwrap();
        let options = ImportOptions { chunk_threads: Some(chunk_threads), ..options.clone() };
        let mut import = Import::prepare(vec![Source::new(&path)], options).unwrap();
        let mut in_batch = Vec::new();
        let run = import.run(|_, added| {
            match added {
                Imported::Batch(batch) => in_batch.extend((0..batch.docs()).map(|_| true)),
                _ => in_batch.push(false),
            }
            Ok::<(), InputError>(())
        });
        run.unwrap();
        assert_eq!(in_batch.len(), 440);
        assert!(in_batch[..200].contains(&true) && !in_batch[340..].contains(&true));
    }
}

/// A reader that fails.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

#[test]
fn a_mistake_before_an_error_of_the_file_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ndjson");
    let rows = "{\"a\":1}\n".repeat(30);
    fs::write(&path, &rows).unwrap();
    for chunk_threads in [1, 8] {
        // The error, and the number of documents before it.
        let found = |text: &str| {
            let options = ImportOptions { chunk_threads: Some(chunk_threads), batch_bytes: 100, ..options() };
            let source = Source::new(&path);
            let mut import = Import::prepare(vec![source.clone()], options).unwrap();
            let reader =
                Box::new(io::Cursor::new(text.as_bytes().to_vec()).chain(io::BufReader::new(Broken)));
            let rows = ndjson::NdjsonRows::open(&"a.ndjson".into(), reader, &Exclude::default());
            let mut sink = |_: &Import, _: Imported<'_>| Ok::<(), InputError>(());
            let error = import.add_text_file(&source, Rows::Ndjson(rows), &mut sink).unwrap_err();
            (error.to_string(), import.documents)
        };
        let (error, documents) = found(&format!("{rows}{{\"a\":}}\n{rows}"));
        assert!(error.starts_with("a.ndjson:31:") && documents == 30, "{error}: {documents}");
        // The last chunk is not whole.
        let (error, documents) = found(&format!("{rows}{rows}"));
        assert!(error.contains("broken") && documents >= 40, "{error}: {documents}");
    }
}

#[test]
fn fields_behind_the_sample_take_the_type_of_their_first_value() {
    let text = "{\"a\":1}\n{\"a\":2,\"b\":true,\"c\":[1.5],\"d\":\"2013-01-01\",\"e\":null}\n{\"e\":7}\n";
    let imported = import(&[("a.ndjson", text)], ImportOptions { sample: 1, ..options() }).unwrap();
    assert_eq!(imported.types(), ["a i64", "b bool", "c f64[]", "d string", "e i64"]);
    let imported =
        import(&[("a.ndjson", text)], ImportOptions { sample: 1, ..typed("d=date,z=i64") }).unwrap();
    assert_eq!(imported.types()[3], "d date");
    assert_eq!(imported.import.unknown_names(), ["z"]);
}

#[test]
fn contradictions_say_which_flag_mends_them() {
    let after = |sample| ImportOptions { sample, ..options() };
    for (name, text, message, flag) in [
        (
            "a.csv",
            "size\n1\n2.5\n",
            "a.csv:3:1: column \"size\" (i64): expected an i64 (-2^63 to 2^63-1), found \"2.5\"",
            "--type size=f64",
        ),
        (
            "a.csv",
            "the size\n1\nx\n",
            "a.csv:3:1: column \"the size\" (i64): expected an i64 (-2^63 to 2^63-1), found \"x\"",
            "--type 'the size=string'",
        ),
        (
            "a.csv",
            "d\n2013-01-01\nsoon\n",
            "a.csv:3:1: column \"d\" (date): expected a date (YYYY-MM-DD), found \"soon\"",
            "--type d=string",
        ),
        (
            "a.ndjson",
            "{\"a\":\"x\"}\n{\"a\":1}\n",
            "a.ndjson:2:6: column \"a\" (string): expected text, found a JSON number: \"1\"",
            "--type a=string",
        ),
        (
            "a.ndjson",
            "{\"a\":\"x\"}\n{\"a\":[\"y\"]}\n",
            "a.ndjson:2:7: column \"a\" (string): expected one value a document, found an array: \"y\"",
            "--type 'a=string[]'",
        ),
        (
            "a.ndjson",
            "{\"a\":[1]}\n{\"a\":[2.5]}\n",
            "a.ndjson:2:7: column \"a\" (i64[]): expected an i64 (-2^63 to 2^63-1), found \"2.5\"",
            "--type 'a=f64[]'",
        ),
        (
            "a.ndjson",
            "{\"a\":1}\n{\"a\":1e400}\n",
            "a.ndjson:2:6: column \"a\" (i64): expected an i64 (-2^63 to 2^63-1), found \"1e400\"",
            "--type a=string",
        ),
    ] {
        let (found, hint) = self::message(import(&[(name, text)], after(1)));
        assert_eq!(found, message);
        assert!(
            hint.contains(flag) && (hint.ends_with("for arrays") || hint.contains("--sample all")),
            "{hint}"
        );
    }
}

#[test]
fn conflicts_within_the_sample_name_both_places() {
    let text = "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":2}\n";
    let (found, hint) = message(import(&[("a.ndjson", text)], options()));
    assert!(
        found.contains("a.ndjson:1:6: column \"a\" holds JSON numbers and, at")
            && found.contains("a.ndjson:2:6")
    );
    assert!(hint.contains("--type a=string"));
    let imported = import(&[("a.ndjson", text)], typed("a=string")).unwrap();
    assert_eq!(imported.ndjson(), "{\"a\":\"1\"}\n{\"a\":\"x\"}\n{\"a\":\"2\"}\n");
    let imported = import(&[("a.ndjson", text)], ImportOptions { skip_bad: true, ..options() }).unwrap();
    assert_eq!(imported.ndjson(), "{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(imported.import.skipped().0, 1);
}

#[test]
fn bad_rows_are_counted_and_leave_no_trace() {
    let text = "a,b\n1,x\n2\n3,y,z\n4,NA\n5,\"w\"v\n6,z\n";
    let (found, _) = message(import(&[("a.csv", text)], options()));
    assert_eq!(found, "a.csv:3:1: expected 2 cells, found 1: \"2\"");
    let options = ImportOptions { skip_bad: true, shown: 2, ..options() };
    let imported = import(&[("a.csv", text)], options).unwrap();
    assert_eq!(imported.csv(), "a,b\n1,x\n4,NA\n6,z\n");
    let (count, first) = imported.import.skipped();
    assert_eq!((count, first.len(), imported.import.documents), (3, 2, 3));
}

#[test]
fn cells_of_multi_valued_columns_are_arrays_or_separated() {
    let text = "t,n\n\"[\"\"b\"\",\"\"a\"\"]\",\"[1,2]\"\nx,3\n[],\n";
    let imported = import(&[("a.csv", text)], typed("t=string[],n=i64[]")).unwrap();
    assert_eq!(
        imported.ndjson(),
        "{\"t\":[\"b\",\"a\"],\"n\":[1,2]}\n{\"t\":[\"x\"],\"n\":[3]}\n{\"t\":[]}\n"
    );
    let mut options = options();
    options.schema = Schema::from_toml("[columns.t]\ntype = \"string[]\"\nseparator = \"|\"").unwrap();
    let text = "t,n\na|b,1\n,2\n";
    assert_eq!(import(&[("a.csv", text)], options.clone()).unwrap().csv(), text);
    let text = "t\n\"[18446744073709551617,\"\"x\"\",true]\"\n";
    let imported = import(&[("a.csv", text)], typed("t=string[]")).unwrap();
    assert_eq!(imported.ndjson(), "{\"t\":[\"18446744073709551617\",\"x\",\"true\"]}\n");
    let (found, _) = message(import(&[("a.csv", "t\n[null]\n")], typed("t=i64[]")));
    assert!(found.contains("an array cannot hold \"null\""), "{found}");
    let (found, _) = message(import(&[("a.csv", "t\n\"[1\"\n")], typed("t=i64[]")));
    assert!(found.contains("expected a JSON array"), "{found}");
    let (found, _) = message(import(&[("a.csv", "t\n\"[1,\"\"x\"\"]\"\n")], typed("t=i64[]")));
    assert!(found.ends_with("expected an i64 (-2^63 to 2^63-1), found \"x\""), "{found}");
}

#[test]
fn empty_inputs_have_no_documents() {
    let imported = import(&[("a.csv", ""), ("b.csv", "a,b\n"), ("c.ndjson", "")], options()).unwrap();
    assert_eq!(imported.import.documents, 0);
    assert_eq!(imported.types(), ["a string", "b string"]);
}

fn cells(text: &str) -> Vec<::csv::StringRecord> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(Result::unwrap).collect()
}

/// Cells of every sort, those that look like something else among them.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "-?[0-9]{1,20}",
        2 => "-?[0-9]{1,3}\\.[0-9]{1,3}",
        1 => prop::sample::select(vec!["", "NA", "null", "NaN", "inf", "-0", "1e3", "1E3", ".5", "+1", "true", "false"])
            .prop_map(str::to_owned),
        1 => "20[0-9]{2}-0[1-9]-[0-3][0-9]",
        1 => "20[0-9]{2}-0[1-9]-[0-2][0-9][T ]0[0-9]:00:0[0-9](\\.[0-9]{1,9})?(Z|\\+02:00)?",
        1 => "[a\",\r\n\té ]{0,4}",
    ]
}

/// Columns that are mostly of one sort.
fn column(rows: usize) -> impl Strategy<Value = Vec<String>> {
    let sorts = vec![
        "[0-9]{1,4}",
        "-?[0-9]{1,2}\\.[0-9]{2}",
        "2013-01-[012][1-9]",
        "2013-01-01T0[0-9]:00:00Z",
        "[a-c]{1,2}",
    ];
    let of_sort = prop::sample::select(sorts).prop_flat_map(move |sort| {
        prop::collection::vec(
            prop_oneof![9 => sort.prop_map(|s: String| s), 1 => Just("NA".to_owned())],
            rows,
        )
    });
    prop_oneof![of_sort, prop::collection::vec(cell(), rows)]
}

/// An object of JSON, with the keys of others and mostly with values of the same sorts.
fn object() -> impl Strategy<Value = String> {
    let other = [
        "null",
        "1",
        "-2.5",
        "1e400",
        "\"é\\n\"",
        "\"\\ud800\"",
        "true",
        "[]",
        "{}",
        "[1,2]",
        "[null]",
        "{\"f\":1}",
        "nul",
    ];
    let entry = |key: &'static str, usual: &'static str| {
        let value = prop_oneof![
            30 => usual.prop_map(|value: String| value),
            1 => prop::sample::select(other.to_vec()).prop_map(str::to_owned),
        ];
        let entry = value.prop_map(move |value| format!("\"{key}\":{value}"));
        prop::option::weighted(0.9, entry)
    };
    let entries = (
        entry("a", "-?[1-9][0-9]{0,3}"),
        entry("b", "\"[a-cé]{0,9}\""),
        entry("c", "\\[\"[a-c]\",\"[a-c]\"\\]"),
        entry("d", "\\{\"e\":[0-9]\\.[0-9]{1,2},\"f\":\"2013-01-0[1-9]\"\\}"),
        prop::option::weighted(0.02, Just("\"a\":0".to_owned())),
    );
    let entries = entries
        .prop_map(|(a, b, c, d, again)| [a, b, c, d, again].into_iter().flatten().collect::<Vec<String>>());
    let entries = prop_oneof![20 => entries, 1 => Just(vec!["\"a\" 1".to_owned()])];
    entries.prop_map(|entries: Vec<String>| format!("{{{}}}", entries.join(",")))
}

/// Rows of two cells, mostly: typed or quoted, over several lines, too short or too long; perhaps without a line end.
fn csv_rows() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        8 => prop::sample::select(vec!["1", "-0.50", "2.5", "1e3", "NA", "", "x", "2026-11-29T13:00:00.5Z", "\"\""]),
        2 => prop::sample::select(vec!["\"a,b\"", "\"\"\"\"", "\"x\r\ny\"", "\"\n\n\"", "5\"", "é", "\u{feff}"]),
        1 => prop::sample::select(vec!["1,2", "\"x\"y", "\"", "1\n2", "\n", "#"]),
    ];
    let end = prop_oneof![10 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\n\n")];
    let rows = prop::collection::vec((cell.clone(), cell, end), 0..30);
    (rows, any::<bool>()).prop_map(|(rows, is_cut): (Vec<_>, bool)| {
        let mut text: String = rows.iter().map(|(a, b, end)| format!("{a},{b}{end}")).collect();
        if is_cut {
            text.pop();
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever types the sample leads to, every cell comes out as it was, or the column says that it
    /// cannot; with a sample that sees little, the alternative is an error.
    #[test]
    fn any_cells_come_out_as_they_went_in(
        columns in (1usize..12).prop_flat_map(|rows| prop::collection::vec(column(rows), 2..4)),
        sample in prop::sample::select(vec![1u64, 3, u64::MAX]),
    ) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let names: Vec<String> = (0..columns.len()).map(|n| format!("c{n}")).collect();
        writer.write_record(&names).unwrap();
        for row in 0..columns[0].len() {
            writer.write_record(columns.iter().map(|column| &column[row])).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        match import(&[("a.csv", &text)], ImportOptions { sample, ..options() }) {
            Err(error) => {
                prop_assert!(sample < columns[0].len() as u64, "{error} though all was seen");
                prop_assert!(error.hint().unwrap().contains("--type"), "{error}");
            }
            Ok(imported) => {
                let exported = cells(&imported.csv());
                prop_assert_eq!(exported.len(), columns[0].len() + 1);
                let tokens = imported.import.missing_tokens();
                for (index, (name, column)) in names.iter().zip(&columns).enumerate() {
                    let found = imported.import.columns.iter().position(|c| c.name == *name).unwrap();
                    let (_, lost) = imported.import.columns[found].text_format(column.len() as u64, tokens);
                    for (row, cell) in column.iter().enumerate() {
                        let out = &exported[row + 1][index];
                        let both_missing = tokens.find(cell).is_some() && tokens.find(out).is_some();
                        prop_assert!(out == cell || lost || both_missing, "{:?} came out as {:?}", cell, out);
                    }
                }
            }
        }
    }

    /// `import` compares rows with chunks.
    #[test]
    fn any_text_has_the_same_cells_and_mistakes_in_rows_and_in_chunks(
        header in prop::sample::select(vec!["a\n", "a,b\n", "\u{feff}a,b\r\n"]),
        text in prop_oneof!["[a1\",\r\n é]{0,40}", csv_rows()],
        skip_bad: bool,
    ) {
        let _ = import(&[("a.csv", &format!("{header}{text}"))], ImportOptions { skip_bad, ..options() });
    }

    /// `import` compares lines with chunks.
    #[test]
    fn any_json_has_the_same_values_and_mistakes_in_rows_and_in_chunks(
        rows in prop::collection::vec(object(), 1..12),
        sample in prop::sample::select(vec![0, 1, 3, u64::MAX]),
        skip_bad: bool,
    ) {
        let _ = import(&[("a.ndjson", &rows.join("\n"))], ImportOptions { sample, skip_bad, ..options() });
    }

    /// The schema of what was inferred, asked for, gives the same documents with the same spelling.
    #[test]
    fn an_inferred_schema_changes_nothing_when_it_is_asked_for(
        columns in (1usize..12).prop_flat_map(|rows| prop::collection::vec(column(rows), 2..4)),
    ) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record((0..columns.len()).map(|n| format!("c.{n}"))).unwrap();
        for row in 0..columns[0].len() {
            writer.write_record(columns.iter().map(|column| &column[row])).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let inferred = import(&[("a.csv", &text)], options()).unwrap();
        let schema = crate::cmd::schema::to_toml(&inferred.import);
        let schema = Schema::from_toml(&schema).unwrap();
        let asked = import(&[("a.csv", &text)], ImportOptions { schema, ..options() }).unwrap();
        prop_assert_eq!(&asked.documents, &inferred.documents);
        let spellings = |imported: &ImportResult| {
            let columns = imported.import.columns.iter();
            let tokens = imported.import.missing_tokens();
            columns.map(|c| (c.ty, c.text_format(imported.import.documents, tokens))).collect::<Vec<_>>()
        };
        prop_assert_eq!(spellings(&asked), spellings(&inferred));
    }
}
