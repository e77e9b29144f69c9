//! Writes synthetic documents of a web archive, as NDJSON to stdout or as a segment.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use docvalues::{Schema, SegmentWriter, WriterOptions};
use docvalues_benches::archive::{Archive, Document, FIELDS, add, field, json};

/// Write synthetic documents of a web archive, as NDJSON to stdout or as a segment.
///
/// The same arguments give the same bytes on every machine.
#[derive(Parser)]
#[command(after_help = "Examples:
  generate --docs 1000000 | dv build - -o archive.dv
  generate --docs 300000000 --columns id,url_norm,host,crawl_date,content_length -o archive.dv")]
struct Arguments {
    /// Number of documents.
    #[arg(long, value_name = "N", value_parser = docvalues_benches::count)]
    docs: u32,
    /// Seed of the documents.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Percentage of documents with a `content_length`.
    #[arg(long, value_name = "PERCENT", default_value_t = 85, value_parser = clap::value_parser!(u64).range(0..=100))]
    length_percent: u64,
    /// Only these fields.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// Segment to write.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out jump tables.
    #[arg(long, requires = "output")]
    no_jump_tables: bool,
    /// Memory budget of the build, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, requires = "output")]
    budget: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
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
            let options = WriterOptions::new()
                .jump_tables(!arguments.no_jump_tables)
                .budget(arguments.budget << 20)
                .threads(0);
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
            each(archive, |document| {
                let values = document.values();
                json(&mut out, wanted.iter().map(|&at| (FIELDS[at], values[at])))?;
                Ok(writeln!(out)?)
            })?;
            out.flush()?;
        }
    }
    Ok(())
}

/// The indexes of the requested fields.
fn wanted(columns: &[String]) -> Result<Vec<usize>, String> {
    if columns.is_empty() {
        return Ok((0..FIELDS.len()).collect());
    }
    let place = |name: &String| {
        let place = FIELDS.iter().position(|field| field == name);
        place.ok_or_else(|| format!("expected one of {}, found `{name}`", FIELDS.join(", ")))
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
