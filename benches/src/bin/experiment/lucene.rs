//! Lucene's side: `Updates.java`.

use std::path::Path;

use docvalues_benches::lucene::{self, Lucene};

use crate::load::{Figures, Load};
use crate::reads::TIMES;
use crate::{Args, Kind, Row, print_row};

/// Compiles the versions that are wanted.
pub(crate) fn find(versions: &[String]) -> Vec<Lucene> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_wanted = |version: &str| versions.iter().any(|wanted| wanted == version);
    lucene::find(&here.join("peers/lucene"), &here.join("../target/lucene"), is_wanted)
}

/// JVMs for each row of reads.
const JVMS: usize = 3;

/// Prints the rows of reads in a version of Lucene. Each comes from a JVM of its own, whose compiler has not seen how other
/// rows read.
pub(crate) fn reads(docs: u32, segments: u32, folder: &Path, lucene: &Lucene) {
    for times in TIMES.into_iter().flat_map(|times| std::iter::repeat_n(times, JVMS)) {
        let mut command = lucene.command_of("Updates");
        command.args(["numeric", &docs.to_string(), &segments.to_string(), "0", "0", "0", "0"]);
        let output = command.arg(folder).args(["reads", &times.to_string()]).output().expect("a JVM");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// Runs a load in a version of Lucene, if it has such updates, and prints its figures.
pub(crate) fn run(args: &Args, folder: &Path, lucene: &Lucene, load: Load) -> Option<Row> {
    if load.kind == Kind::Mixed {
        return None;
    }
    let mut command = lucene.command_of("Updates");
    command
        .arg(load.kind.name())
        .args([args.docs, args.segments, load.rate].map(|number| number.to_string()));
    command.arg(load.every.as_secs_f64().to_string()).arg(load.seconds.to_string());
    command.arg(args.searchers.to_string()).arg(folder);
    command.arg(load.warm.to_string());
    let output = command.output().expect("a JVM");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |name: &str| -> f64 {
        let value =
            text.split_once(&format!("\"{name}\":")).and_then(|(_, rest)| rest.split([',', '}']).next());
        value.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    let figures = Figures {
        refresh_ms: number("refresh_ms"),
        refresh_cpu_ms: number("refresh_cpu_ms"),
        p999_ms: number("longest_ms"),
        longest_ms: number("longest_ms"),
        update_ms: number("update_ms"),
        update_cpu_ms: number("update_cpu_ms"),
        queries_s: number("queries_s"),
        refreshes: number("refreshes") as u32,
        updates: number("updates") as u64,
        written: number("written") as u64,
    };
    Some(print_row(&format!("Lucene {}", lucene.version), load, &figures))
}
