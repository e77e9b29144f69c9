//! The experiment of the posts on jump tables (LUCENE-8374, LUCENE-8585), on documents of a web archive.
//!
//! | module | contents |
//! | --- | --- |
//! | `corpus` | the two segments, the three contenders, and the hits of searches |
//! | `work` | the workloads of the posts |
//! | `measure` | alternating requests, and statistics of their times |
//! | `export` | the export of the posts, run by run |
//! | `more` | questions that the posts left open: pages, limits, many hits in pairs, concurrent requests |
//! | `machine` | machine, commit and date of a run |
//! | `heap` | heap of open columns |
//! | `lucene` | the same export and retrieval in versions of Lucene |
//! | `rows` | fields of a document in columns, or as one stored value |
//! | `chart` | boxes by the magnitude of the hits, as SVG |
//! | `page` | tables and charts as a page of Markdown, and one of HTML |
#![expect(clippy::cast_possible_truncation, reason = "magnitudes, digits and hits are small")]
#![expect(clippy::expect_used, reason = "a request that went well before")]

mod chart;
mod corpus;
mod export;
mod heap;
mod lucene;
mod machine;
mod measure;
mod more;
mod page;
mod rows;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::corpus::Corpus;
use crate::export::LARGE;
use crate::page::Report;
use crate::work::Work;

/// Measure export, facets, groups, sorting, retrieval and all of these together over documents of a web archive:
/// without jump tables, with tables built at the first lookup, and with tables in the file.
#[derive(Parser)]
#[command(after_help = "Examples:
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 3000000
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 100000000 --one-file --requests 9
  cargo run --release -p docvalues-benches --bin jump_tables -- --docs 300000000 --one-file \\
      --fields url_norm,host,crawl_date,content_length --only export,facets,sort --requests 5 --budget 1536")]
struct Arguments {
    /// Number of documents.
    #[arg(long, value_name = "N", default_value_t = 3_000_000, value_parser = docvalues_benches::count)]
    docs: u32,
    /// Seed of the documents and hits.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Folder of the two segments; existing ones are reused.
    #[arg(long, value_name = "FOLDER", default_value = "target/jump_tables")]
    folder: PathBuf,
    /// Folder of the pages and charts.
    #[arg(long, value_name = "FOLDER", default_value = "target/jump_tables")]
    report: PathBuf,
    /// Suffix of the names of the pages, so that runs do not replace each other.
    #[arg(long, value_name = "NAME", default_value = "")]
    label: String,
    /// Requests for each magnitude of hits.
    #[arg(long, value_name = "N", default_value_t = 9)]
    requests: u32,
    /// Limit of the hits of a request: without tables, grouping millions of 100 million documents takes minutes.
    #[arg(long, value_name = "N", default_value_t = u32::MAX, value_parser = docvalues_benches::count)]
    most_hits: u32,
    /// Duration of concurrent requests, for each number of threads.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    seconds: f64,
    /// Only these fields in the segments, and the workloads that need no others. By default all but `url`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fields: Vec<String>,
    /// Store these text fields as sorted columns with a dictionary: `url_norm` or `url`, which are binary by default.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sorted: Vec<String>,
    /// All contenders read the segment with jump tables, and two of them ignore the tables: half the disk, half the
    /// time to build.
    #[arg(long)]
    one_file: bool,
    /// Also build a segment of each field alone, to measure the cost of each.
    #[arg(long)]
    by_column: bool,
    /// Also run export and retrieval in Lucene 7.7.3, 8.0.0 and 10.5.0: needs Maven, a JDK from 21 on, and one from 11
    /// to 20.
    #[arg(long)]
    lucene: bool,
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
    let wanted = |work: &Work| arguments.only.is_empty() || arguments.only.contains(work);
    let works: Vec<Work> =
        Work::ALL.into_iter().filter(wanted).filter(|work| work.is_for(&corpus.asked)).collect();
    let mut report = Report::default();
    if arguments.by_column {
        report.by_column = corpus::by_column(arguments)?;
    }
    report.heap = heap::run(&corpus)?;
    if works.contains(&Work::Export) {
        report.export = Some(export::run(&corpus)?);
    }
    for &work in &works {
        report.pages.push(more::pages(&corpus, work)?);
        if work != Work::Export {
            report.by_hits.push(measure::by_hits(&corpus, work, arguments)?);
        }
        if matches!(work, Work::Facets | Work::Groups | Work::Production) {
            report.limits.extend(more::limits(&corpus, work, arguments.most_hits)?);
        }
        let is_paired = match work {
            Work::Facets | Work::Sort => true,
            // Without tables, grouping half of 100 million documents takes a minute.
            Work::Groups => corpus.docs < LARGE,
            _ => false,
        };
        if is_paired {
            for share in [2, 1] {
                report.pairs.push(more::pairs(&corpus, work, share)?);
            }
        }
    }
    if works.contains(&Work::Retrieval) {
        report.rows = rows::run(arguments.docs, &arguments.folder)?;
    }
    if works.contains(&Work::Production) {
        report.side_by_side = more::side_by_side(&corpus, Duration::try_from_secs_f64(arguments.seconds)?)?;
    }
    if arguments.lucene {
        report.lucene = lucene::run(&corpus, &arguments.folder)?;
    }
    page::write(&corpus, &report, &arguments.report, &arguments.label)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_field_that_there_is_none_of_is_refused() {
        let error = run(&Arguments::parse_from(["jump_tables", "--fields", "host,hosst"])).unwrap_err();
        assert!(error.to_string().starts_with("no field `hosst`; there are id, "), "{error}");
        for (fields, sorted) in [("host,crawl_date", "crawl_date"), ("host", "url_norm")] {
            let arguments = Arguments::parse_from(["jump_tables", "--fields", fields, "--sorted", sorted]);
            let error = run(&arguments).unwrap_err().to_string();
            assert_eq!(error, format!("--sorted: `{sorted}` is no field of text of these segments"));
        }
    }

    #[test]
    fn pages_may_have_a_dictionary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let fields = "url_norm,host,crawl_date,content_length";
        let arguments = ["jump_tables", "--docs", "5000", "--fields", fields, "--sorted", "url_norm"];
        let arguments = arguments.into_iter().chain(["--requests", "2", "--only", "export,groups"]);
        let arguments = arguments.chain(["--label", "sorted", "--folder", &path, "--report", &path]);
        run(&Arguments::parse_from(arguments)).unwrap();
        let page = fs::read_to_string(folder.path().join("jump-tables-5000-sorted.md")).unwrap();
        assert!(page.contains("| `url_norm` | sorted |"), "{page}");
    }

    /// Measuring compares the contenders' answers.
    #[test]
    fn all_works_run_and_are_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let few = ["jump_tables", "--docs", "5000", "--requests", "1", "--seconds", "0.01"];
        let arguments = few.into_iter().chain(["--folder", &path, "--report", &path]);
        for _ in 0..2 {
            run(&Arguments::parse_from(arguments.clone())).unwrap();
        }
        let page = fs::read_to_string(folder.path().join("jump-tables-5000.md")).unwrap();
        let html = fs::read_to_string(folder.path().join("jump-tables-5000.html")).unwrap();
        assert_eq!(html.matches("</svg>").count(), Work::ALL.len());
        for work in Work::ALL {
            assert!(page.contains(&format!("\n## {}\n", work.name())), "{page}");
        }
    }
}
