//! A process that measures one row in one peer of this program.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use docvalues::DocId;

use super::{Line, ROWS, Row};
use crate::clock::{Elapsed, Moment};
use crate::data;

/// The arguments of a process.
pub struct Process {
    pub peer: &'static str,
    pub version: String,
    pub docs: u32,
    /// The file of the peer's segment.
    pub file: PathBuf,
    /// The duration of a measurement, in nanoseconds.
    pub budget: f64,
}

/// The path of a peer's segment.
pub fn file(folder: &Path, peer: &str) -> PathBuf {
    folder.join(format!("workloads.{peer}"))
}

impl Process {
    /// Writes the segment with `write`, under another name until it is complete.
    pub fn build(&self, write: impl FnOnce(&Path)) {
        let making = self.file.with_extension(format!("{}-tmp", self.peer));
        write(&making);
        std::fs::rename(making, &self.file).expect("it was just written");
    }

    /// The hits of a query: `per_10_000` of 10,000 documents, or `None` for all of them.
    pub fn hits(&self, per_10_000: u64) -> Option<Vec<DocId>> {
        (per_10_000 < 10_000).then(|| data::hits(self.docs, per_10_000))
    }

    /// The exported documents.
    pub fn exported(&self, sorted: bool) -> Vec<DocId> {
        let mut docs = data::random_docs(self.docs, ROWS);
        if sorted {
            docs.sort_unstable();
        }
        docs
    }

    /// Measures `body`, which runs the workload once and returns the checksum.
    pub fn measure(&self, row: Row, api: &str, mut body: impl FnMut() -> i64) {
        const SAMPLE: f64 = 1e6;
        let checksum = black_box(body());
        let mut time = |runs: usize| {
            let start = Moment::now();
            for _ in 0..runs {
                assert_eq!(black_box(body()), checksum, "repetitions have the same answer");
            }
            Moment::now() - start
        };
        let runs = (SAMPLE / time(1).cpu.max(1.0)).ceil().clamp(1.0, 1e6) as usize;
        let (mut samples, mut spent) = (Vec::new(), 0.0);
        while samples.len() < 5 || spent < self.budget && samples.len() < 1_000 {
            let Elapsed { cpu, wall } = time(runs);
            spent += cpu;
            samples.push((cpu / runs as f64, wall / runs as f64));
        }
        let median = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = samples.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let line = Line {
            peer: self.peer.to_owned(),
            version: self.version.clone(),
            work: row,
            api: api.to_owned(),
            ns_cpu: median(|sample| sample.0),
            ns_wall: median(|sample| sample.1),
            checksum,
        };
        println!("{}", serde_json::to_string(&line).expect("a line is plain data"));
    }
}
