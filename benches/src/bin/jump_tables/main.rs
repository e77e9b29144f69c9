//! The experiment of the posts on jump tables (LUCENE-8374, LUCENE-8585), on documents of a web archive.
//!
//! | module | contents |
//! | --- | --- |
//! | `corpus` | the segment, the five contenders, and the hits of searches |
//! | `columns` | its numbers and ords in memory, in two layouts |
//! | `work` | the workloads of the posts, by docvalues |
//! | `iterate` | the same by iterators |
//! | `measure` | alternating requests, and statistics of their times |
//! | `export` | the export of the posts |
//! | `threads` | concurrent requests |
//! | `lucene` | the same workloads in versions of Lucene |
//! | `chart` | boxes by the magnitude of the hits, as SVG |
//! | `report` | the tables |
#![expect(clippy::cast_possible_truncation, reason = "magnitudes, digits and hits are small")]
#![expect(clippy::expect_used, reason = "a request that went well before")]
#![expect(clippy::print_stdout, reason = "tables")]

mod chart;
mod columns;
mod corpus;
mod export;
mod iterate;
mod lucene;
mod measure;
mod report;
mod threads;
mod work;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use docvalues_benches::record::{self, Run};

use crate::corpus::Corpus;
use crate::report::Report;
use crate::work::Work;

/// Measure export, facets, groups, sorting, retrieval and all of these together over documents of a web archive: as
/// Lucene 7 without jump tables, as Lucene 8 with them, and by docvalues with and without.
#[derive(Parser)]
#[command(after_help = "Examples:
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 3000000
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 10_000_000 --lucene 7.7.3,8.0.0,10.5.0
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 300_000_000 \\
      --fields url_norm,host,crawl_date,content_length --only export,sort --requests 5 --budget 1536")]
struct Arguments {
    /// Number of documents.
    #[arg(long, value_name = "N", default_value_t = 3_000_000, value_parser = docvalues_benches::count)]
    docs: u32,
    /// Seed of the documents and hits.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Folder of the segment and of Lucene's indexes; existing ones are reused.
    #[arg(long, value_name = "FOLDER", default_value = "target/jump_tables")]
    folder: PathBuf,
    /// Record that gets the tables.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Folder of charts.
    #[arg(long, value_name = "FOLDER")]
    charts: Option<PathBuf>,
    /// Requests for each magnitude of hits.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Duration of concurrent requests, for each number of threads.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    seconds: f64,
    /// Only these fields in the segments, and the workloads that need no others. By default all but `url`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fields: Vec<String>,
    /// Also run the workloads in these versions of Lucene, such as 7.7.3,8.0.0,10.5.0: needs Maven, a JDK from 21 on, and
    /// one from 11 to 20.
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',')]
    lucene: Vec<String>,
    /// Read the indexes of these versions in place, too, and measure nothing else: tables are built at first use, if an
    /// index has none.
    #[arg(long, requires = "lucene")]
    in_place: bool,
    /// Only these workloads.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<Work>,
    /// Memory budget of building a segment, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    budget: usize,
}

impl Arguments {
    /// Whether the segments have a field.
    fn has(&self, name: &str) -> bool {
        if self.fields.is_empty() { name != "url" } else { self.fields.iter().any(|field| field == name) }
    }
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jump_tables: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let corpus = Corpus::prepare(arguments)?;
    let wanted =
        |work: &Work| !arguments.in_place && (arguments.only.is_empty() || arguments.only.contains(work));
    let works: Vec<Work> =
        Work::ALL.into_iter().filter(wanted).filter(|work| work.is_for(&corpus.asked)).collect();
    let mut report = Report::default();
    if works.contains(&Work::Export) {
        report.export = Some(export::run(&corpus)?);
    }
    for &work in works.iter().filter(|work| **work != Work::Export) {
        report.by_hits.push(measure::by_hits(&corpus, work, arguments)?);
        if matches!(work, Work::Facets | Work::Sort | Work::Groups) {
            for count in [10, 100, 1_000, corpus.docs / 2, corpus.docs] {
                report.pairs.push(measure::pairs(&corpus, work, count, arguments.requests)?);
            }
        }
    }
    if works.contains(&Work::Production) {
        report.threads = threads::run(&corpus, Duration::try_from_secs_f64(arguments.seconds)?)?;
    }
    if !arguments.lucene.is_empty() {
        report.lucene = lucene::run(&corpus, arguments)?;
    }
    if let Some(charts) = &arguments.charts {
        fs::create_dir_all(charts)?;
        for by_hits in &report.by_hits {
            let path = charts.join(format!("{}.svg", by_hits.work.name()));
            fs::write(path, chart::draw(by_hits, corpus.docs)?)?;
        }
    }
    let rounds = format!("medians of up to {} requests", arguments.requests);
    let mut run = Run::new(&record::command_of("jump_tables"), &rounds);
    report.tables(&corpus, &mut run);
    println!("{}", run.markdown());
    arguments.record.as_ref().map_or(Ok(()), |path| run.write(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_field_that_there_is_none_of_is_refused() {
        let error = run(&Arguments::parse_from(["jump_tables", "--fields", "host,hosst"])).unwrap_err();
        assert!(error.to_string().starts_with("no field `hosst`; there are id, "), "{error}");
    }

    /// Measuring compares the contenders' answers.
    #[test]
    fn all_works_run_and_are_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let record = folder.path().join("record.json");
        let few = ["jump_tables", "--docs", "66000", "--requests", "1", "--seconds", "0.01"];
        let arguments = few.into_iter().chain(["--folder", &path, "--charts", &path]);
        let arguments = arguments.chain(["--record", record.to_str().unwrap()]);
        // Makes the corpus, which the second run finds.
        run(&Arguments::parse_from(arguments.clone().chain(["--only", "distinct"]))).unwrap();
        run(&Arguments::parse_from(arguments)).unwrap();
        let record = fs::read_to_string(&record).unwrap();
        for work in Work::ALL {
            assert!(record.contains(&format!("\"{}\": [", work.name())), "{record}");
            assert!(work == Work::Export || folder.path().join(format!("{}.svg", work.name())).exists());
        }
    }

    /// Each block once, whatever the number of hits, and none that Lucene 7 does not walk.
    #[test]
    fn a_request_as_lucene_7_reads_each_header_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let corpus =
            Corpus::prepare(&Arguments::parse_from(["jump_tables", "--docs", "140000", "--folder", &path]));
        let corpus = corpus.unwrap();
        let blocks = |wanted: &[&str]| {
            let of_wanted = corpus.columns().blocks().filter(|(name, _)| wanted.contains(name));
            of_wanted
                .fold([0; 2], |[presence, numbers], (_, blocks)| [presence + blocks[0], numbers + blocks[1]])
        };
        assert_eq!(blocks(&["content_type_ext"]), [3, 0], "ords are one packed array");
        assert_eq!(blocks(&["crawl_date"])[0], 0, "all documents have a date");
        for (work, walked) in [(Work::Facets, corpus.asked.facets()), (Work::Sort, &["content_length"][..])] {
            for hits in [10, 1_000, 140_000] {
                let mut hits = corpus.hits(hits, 0);
                // The first and the last document with a value, so that a walk has to reach the last block.
                hits.splice(0..0, (0..20).map(docvalues::DocId::new));
                hits.extend((139_900..140_000).map(docvalues::DocId::new));
                hits.sort_unstable();
                hits.dedup();
                let engine = corpus.open(crate::corpus::Contender::Lucene7, false).unwrap();
                engine.run(work, &corpus.asked, &hits).unwrap();
                assert_eq!(engine.headers(), blocks(walked), "{} hits", hits.len());
            }
        }
    }
}
