//! A comparison of docvalues with Lucene, tantivy and Parquet: the same workloads on the same data, alternating.
//!
//! `measure` runs one process with one column of one peer. `compare` starts these processes round by round and writes
//! the report. See README.md.

mod clock;
mod compare;
mod cpus;
#[expect(dead_code, reason = "the benches of the workspace use the rest")]
#[path = "../../src/data.rs"]
mod data;
#[expect(dead_code, reason = "the programs of the workspace use the rest")]
#[path = "../../src/lucene.rs"]
mod lucene;
mod machine;
mod peer;
mod plot;
mod python;
mod record;
mod report;
mod results;
mod session;
mod sizes;
mod sums;
mod task;
mod workloads;

use std::cell::Cell;
use std::process::ExitCode;

use peer::parquet::Setting;
use session::Session;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) if first == "measure" => measure(rest),
        Some((first, rest)) if matches!(first.as_str(), "workloads" | "works") => workloads::run(rest),
        Some((first, rest)) if first == "measure-workloads" => workloads::measure(rest),
        Some((first, rest)) if first == "report" => compare::report_again(rest),
        Some((first, rest)) if first == "against" => compare::against(rest),
        Some((first, [path])) if first == "sizes" => sizes::run(path),
        _ => compare::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// PEER COLUMN DOCS FOLDER MILLISECONDS WORKLOAD,WORKLOAD...
fn measure(args: &[String]) -> Result<(), String> {
    let [name, column, docs, folder, milliseconds, workloads] = args else {
        return Err("measure: PEER COLUMN DOCS FOLDER MILLISECONDS WORKLOAD,WORKLOAD".into());
    };
    let number = |text: &String| text.parse::<u32>().map_err(|e| format!("`{text}`: {e}"));
    let session = |peer, version| {
        Ok::<_, String>(Session {
            peer,
            version,
            column: column.parse()?,
            docs: number(docs)?,
            folder: folder.into(),
            budget: f64::from(number(milliseconds)?) * 1e6,
            workloads: workloads.split(',').map(str::parse).collect::<Result<_, _>>()?,
            resident: Cell::default(),
        })
    };
    match name.as_str() {
        name if name.starts_with("docvalues") => {
            cpus::check(name)?;
            peer::docvalues::run(&session(cpus::this(), peer::locked("docvalues"))?);
        }
        name if name.starts_with(peer::in_place::PREFIX) => {
            let version = peer::locked("docvalues-lucene");
            peer::in_place::run(&session(peer::in_place::known(name)?, version)?);
        }
        "tantivy" => peer::tantivy::run(&session("tantivy", peer::locked("tantivy-columnar"))?),
        "parquet" => peer::parquet::run(&session("parquet", peer::locked("parquet"))?, Setting::Default),
        "parquet-small" => {
            peer::parquet::run(&session("parquet-small", peer::locked("parquet"))?, Setting::SmallPages);
        }
        other => return Err(format!("expected a peer of this program, found `{other}`")),
    }
    Ok(())
}
