//! Text files through `dv build`, `dv check` and `dv export`, and back.

use std::ffi::OsString;
use std::ops::Bound;
use std::path::Path;

use docvalues::format::file::kind::to_f64;
use docvalues::{ColumnSource, DocRange, Field, Kind, LogicalType, OrdRange, Segment};
use docvalues_cli::{Console, Exit};

use crate::choices::Choices;
use crate::program::{Question, ask};

/// The text of a schema file, before the rows.
const SCHEMA: usize = 400;

/// Builds a segment from `input`: bytes that choose options, an optional schema file, then the rows.
///
/// `dv build` must return for any input, and leave a segment or no file. A segment must pass `dv check`; its export,
/// in a chosen format, must build a segment with the same values and the same export.
pub fn input(input: &[u8]) {
    let mut choices = Choices::new(input);
    let folder = crate::folder();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (name, flags) =
        (at(choices.pick(&["in.csv", "in.tsv", "in.ndjson", "in", "in.json"])), choices.byte());
    let how = usize::from(choices.byte());
    let (sample, format) = (["10000", "all", "0", "1", "3"][how % 5], ["csv", "ndjson", "tsv"][how / 5 % 3]);
    let encoding = ["utf-8", "utf-8", "latin-1", "utf-16"][how / 15 % 4];
    let mut more = vec!["--sample", sample, "--encoding", encoding];
    let switches = ["--header=no", "--no-quotes", "--skip-bad"];
    more.extend(
        switches.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, switch)| switch),
    );
    let delimiter: &[&str] = if flags & 8 != 0 { &["--delimiter", ";"] } else { &[] };
    let mut missing = Vec::new();
    missing.extend((flags & 16 != 0).then_some("--no-default-missing"));
    missing.extend(if flags & 32 != 0 { &["--missing", "-"][..] } else { &[] });
    more.extend(if flags & 64 != 0 { &["--memory", "64KiB"][..] } else { &[] });
    let schema = at("in.toml");
    if flags & 128 != 0 {
        let len = usize::from(choices.word()) % SCHEMA;
        let text = choices.clone().rest();
        let (text, rows) = text.split_at(len.min(text.len()));
        choices = Choices::new(rows);
        write(&schema, text);
        more.extend(["--schema", &schema]);
    }
    write(&name, choices.rest());
    let files = std::fs::read_dir(folder.path()).map(Iterator::count).unwrap_or(0);

    let (a, b) = (at("a.dv"), at("b.dv"));
    let built = dv(&[&["build", &name, "-o", &a], &more[..], delimiter, &missing].concat());
    if built.exit != Exit::Ok {
        assert!(built.err.starts_with("dv: ") || built.exit == Exit::Usage, "no word of an error: {built:?}");
        let left = std::fs::read_dir(folder.path()).map(Iterator::count).unwrap_or(0);
        assert_eq!(left, files, "files are left behind: {built:?}");
        return;
    }
    dv(&["check", &a]).ok("a segment of dv build is not clean");
    dv(&["export", &a, "--format", "table"]).ok("dv export");
    let segment = Segment::open(&a).expect("a segment that dv check takes for clean");
    write(&schema, schema_of(&segment).as_bytes());
    // JSON has no infinite numbers and no NaN, CSV no documents without columns.
    if if format == "ndjson" { !all_finite(&segment) } else { segment.column_count() == 0 } {
        return;
    }
    let text = dv(&["export", &a, "--format", format]).ok("dv export").out;
    // A text that begins like an archive is taken for one.
    if text.starts_with("PK") || text.starts_with("BZh") {
        return;
    }
    let again = at(&format!("again.{format}"));
    write(&again, text.as_bytes());
    // Text with semicolons is no reason to take them for delimiters.
    let delimiter: &[&str] = if format == "csv" { &["--delimiter", ","] } else { &[] };
    let built = dv(&[&["build", &again, "-o", &b, "--schema", &schema], &missing[..], delimiter].concat());
    built.ok(&format!("what was exported is not accepted:\n{text}"));
    let segment_again = Segment::open(&b).expect("a segment");
    same_values(&segment, &segment_again, &text);
    // NDJSON loses the order of columns, and columns without values.
    let fields = segment_again.fields().expect("fields");
    let columns: Vec<String> = match format {
        "ndjson" => fields.iter().map(|field| format!("--columns={}", field.name)).collect(),
        _ => Vec::new(),
    };
    let export = |segment: &str| {
        let columns = columns.iter().map(String::as_str);
        let args = ["export", segment, "--format", format].into_iter().chain(columns);
        dv(&args.collect::<Vec<_>>()).ok("dv export").out
    };
    let text = if columns.is_empty() { text } else { export(&a) };
    let spelled = export(&b);
    assert!(text == spelled, "exported as\n{text}\nand then as\n{spelled}");
}

fn write(path: impl AsRef<Path>, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a file in a folder of its own");
}

/// The result of a run of `dv`.
#[derive(Debug)]
struct Run {
    exit: Exit,
    out: String,
    err: String,
}

impl Run {
    fn ok(self, what: &str) -> Run {
        assert_eq!(self.exit, Exit::Ok, "{what}: {}", self.err);
        self
    }
}

fn dv(args: &[&str]) -> Run {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["dv"].iter().chain(args).map(OsString::from);
    let exit = docvalues_cli::run(args, &mut Console::plain(&mut out, &mut err));
    let text = |bytes| String::from_utf8(bytes).expect("dv prints UTF-8");
    Run { exit, out: text(out), err: text(err) }
}

/// A schema file with the types and spellings of the columns of a segment.
fn schema_of(segment: &Segment) -> String {
    segment.fields().expect("the directory of a good segment").iter().map(table_of).collect()
}

fn table_of(field: &Field) -> String {
    let quoted = |text: &str| {
        let escaped = text.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        format!("\"{}\"", escaped.collect::<String>())
    };
    let suffix = match field.kind {
        Kind::Numeric => "",
        Kind::SortedNumeric | Kind::SortedSet => "[]",
        Kind::Binary => ":binary",
        Kind::Sorted => ":sorted",
    };
    let mut table =
        format!("[columns.{}]\ntype = \"{}{suffix}\"\n", quoted(&field.name), field.logical.name());
    for entry in field.format.as_deref().unwrap_or_default().split(';') {
        let (key, value) = entry.split_once('=').unwrap_or((entry, ""));
        match key {
            "epoch" => table += "format = \"epoch\"\n",
            "separator" => table += &format!("separator = {}\n", quoted(&unescaped(value))),
            "float" | "missing" | "json-missing" | "order" | "offset" | "" => {}
            _ => table += &format!("format = {}\n", quoted(&unescaped(entry))),
        }
    }
    table
}

/// An entry of a spelling: `\s` stands for a semicolon and `\\` for a backslash.
fn unescaped(entry: &str) -> String {
    let mut chars = entry.chars();
    std::iter::from_fn(|| match chars.next()? {
        '\\' => Some(if chars.next() == Some('s') { ';' } else { '\\' }),
        c => Some(c),
    })
    .collect()
}

/// Whether all doubles are finite: infinities and NaN are at the ends of their order.
fn all_finite(segment: &Segment) -> bool {
    let finite = |column: docvalues::reader::ColumnUsage| {
        column.field.logical != LogicalType::F64
            || column.bounds.is_none_or(|(low, high)| to_f64(low).is_finite() && to_f64(high).is_finite())
    };
    segment.usage().expect("statistics of a good segment").columns.into_iter().all(finite)
}

/// Asserts that columns with a value have equal values in both segments.
fn same_values(a: &Segment, b: &Segment, text: &str) {
    assert_eq!(a.docs(), b.docs(), "documents of\n{text}");
    for Field { name, .. } in a.fields().expect("fields") {
        let column = a.column(&name).expect("a column");
        if column.info().with_value.most() == 0 {
            continue;
        }
        let again = b.column(&name).unwrap_or_else(|error| panic!("{error}, in\n{text}"));
        let everything = [
            Question::Scan(DocRange::new(0, a.docs()), usize::MAX),
            Question::TermRange(Bound::Unbounded, Bound::Unbounded),
            Question::EachTerm(OrdRange::new(0, u32::MAX), usize::MAX),
        ];
        for question in everything {
            let answers = [&column, &again].map(|column| ask(&**column, &question).expect("a good column"));
            let difference = answers[0].difference(&answers[1]);
            assert!(answers[0] == answers[1], "column {name:?}: {difference}, in\n{text}");
        }
    }
}
