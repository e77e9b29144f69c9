//! Writes documents of a web archive: as NDJSON to stdout, or as a segment.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use docvalues::{Schema, SegmentWriter, WriterOptions};
use docvalues_benches::archive::{Archive, Document, FIELDS, Value, add, field, moment};

/// Writes documents of a web archive, as NDJSON to stdout or as a segment.
///
/// The same arguments make the same bytes, on every machine.
#[derive(Parser)]
#[command(after_help = "Examples:
  generate --docs 1000000 | dv build - -o archive.dv
  generate --docs 300000000 --columns id,url_norm,host,crawl_date,content_length -o archive.dv")]
struct Arguments {
    /// How many documents.
    #[arg(long, value_name = "N", value_parser = docvalues_benches::count)]
    docs: u32,
    /// Another seed makes other documents.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Of a hundred documents, how many have a `content_length`.
    #[arg(long, value_name = "PERCENT", default_value_t = 85, value_parser = clap::value_parser!(u64).range(0..=100))]
    length_percent: u64,
    /// Only these fields.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// The segment to write.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Without jump tables in the segment.
    #[arg(long, requires = "output")]
    no_jump_tables: bool,
    /// Memory for buffered values of the segment, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, requires = "output")]
    budget: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { docs, seed, length_percent, .. } = *arguments;
    let archive = Archive { docs, seed, length_percent };
    let wanted = wanted(&arguments.columns)?;
    match &arguments.output {
        Some(path) => {
            let options = WriterOptions {
                jump_tables: !arguments.no_jump_tables,
                budget: arguments.budget << 20,
                threads: 0,
                ..WriterOptions::default()
            };
            let mut schema = Schema::new();
            let ids =
                wanted.iter().map(|&at| schema.add(field(FIELDS[at]))).collect::<Result<Vec<_>, _>>()?;
            let mut writer = SegmentWriter::create(path, schema, options)?;
            each(archive, |document| Ok(add(&mut writer, &ids, &wanted, document)?))?;
            let summary = writer.finish()?;
            eprintln!("{}: {} documents, {} columns", path.display(), summary.docs, summary.columns.len());
        }
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            each(archive, |document| Ok(write_json(&mut out, &wanted, document)?))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// The places of the columns that are asked for, among all.
fn wanted(columns: &[String]) -> Result<Vec<usize>, String> {
    if columns.is_empty() {
        return Ok((0..FIELDS.len()).collect());
    }
    let place = |name: &String| {
        let place = FIELDS.iter().position(|field| field == name);
        place.ok_or_else(|| format!("no column `{name}`; there are {}", FIELDS.join(", ")))
    };
    columns.iter().map(place).collect()
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn each(archive: Archive, mut each: impl FnMut(&Document) -> Outcome) -> Outcome {
    let mut document = Document::default();
    for doc in 0..archive.docs {
        archive.read(doc, &mut document);
        each(&document)?;
    }
    Ok(())
}

/// A line of JSON. No name and no text of an archive has anything that is to be escaped, but for quotes.
fn write_json(out: &mut impl Write, wanted: &[usize], document: &Document) -> io::Result<()> {
    let (values, mut before) = (document.values(), '{');
    for &at in wanted {
        let Some(value) = values[at] else { continue };
        write!(out, "{before}\"{}\":", FIELDS[at])?;
        before = ',';
        match value {
            Value::Id(id) => {
                let hex = format!("{id:032x}");
                let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
                write!(out, "\"{a}-{b}-{c}-{d}-{e}\"")?;
            }
            Value::Text(text) => write!(out, "\"{}\"", text.replace('"', "\\\""))?,
            Value::Number(number) => write!(out, "{number}")?,
            Value::Unsigned(number) => write!(out, "{number}")?,
            Value::Moment(millis) => write!(out, "\"{}\"", moment(millis))?,
        }
    }
    // A document may have none of the columns that are asked for.
    writeln!(out, "{}", if before == '{' { "{}" } else { "}" })
}
