//! Lucene's side: `Reindex.java`.

use std::path::Path;

use docvalues_benches::lucene::{Lucene, find};
use serde::de::DeserializeOwned;

use crate::record::{Built, Figures, Shape, Task, Way};

/// Compiles the version of a side, which its options follow.
///
/// # Panics
///
/// Without Maven, or a JDK from 21 on.
pub fn compile(side: &str) -> Lucene {
    let version = side.split('-').next().unwrap_or(side);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = here.join("../peers/lucene");
    find(&sources, &here.join("../../target/lucene"), |found| found == version).pop().expect("Lucene")
}

/// Builds the index of a shape.
pub fn build(lucene: &Lucene, built: &Path, shape: Shape) -> Built {
    run(lucene, "build", built, shape, vec![])
}

/// Runs a cell of a side on a copy of the index.
pub fn cell(lucene: &Lucene, side: &str, built: &Path, shape: Shape, task: Task) -> Figures {
    let (way, wait_ms) = match task.way {
        Way::Update => ("update", 0.0),
        Way::Reindex { wait_ms } => ("reindex", wait_ms),
    };
    let mut more = vec![wait_ms.to_string(), task.cycles.to_string(), task.changed.to_string()];
    more.extend(side.split('-').skip(1).map(str::to_owned));
    run(lucene, way, built, shape, more)
}

fn run<T: DeserializeOwned>(lucene: &Lucene, what: &str, built: &Path, shape: Shape, more: Vec<String>) -> T {
    let mut command = lucene.command_of("Reindex");
    command.arg(what).arg(built);
    command.args([shape.docs, shape.words, shape.segments].map(|number| number.to_string())).args(more);
    let output = command.output().expect("a JVM");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a line of JSON")
}
