//! One process measures one column of one peer, and prints a line of JSON for each measurement.

use std::cell::Cell;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use crate::clock::{Elapsed, Moment};
use crate::task::{Column, Requests, Values, Workload};

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub peer: String,
    pub version: String,
    pub work: Workload,
    pub column: Column,
    /// The peer's API, if it has several for the workload.
    pub api: String,
    pub docs: u32,
    /// The number of values, lookups or documents that `ns_cpu` and `ns_wall` are for; bytes for [`Workload::Bytes`]
    /// and [`Workload::Memory`].
    pub units: u64,
    /// CPU time of the thread for all of them.
    pub ns_cpu: f64,
    pub ns_wall: f64,
    /// The sum of all answers.
    pub checksum: i64,
    /// The kind of things summed: peers with the same kind must have the same sum.
    pub of: String,
}

/// The arguments of a measuring process.
pub struct Session {
    pub peer: &'static str,
    pub version: String,
    pub column: Column,
    pub docs: u32,
    pub folder: PathBuf,
    /// The duration of a measurement, in nanoseconds.
    pub budget: f64,
    pub workloads: Vec<Workload>,
    /// Resident bytes before the column was opened.
    pub resident: Cell<u64>,
}

impl Session {
    pub fn wants(&self, work: Workload) -> bool {
        self.workloads.contains(&work)
    }

    /// The column's file.
    pub fn file(&self) -> PathBuf {
        // All variants of docvalues read the same file.
        let peer = if self.peer.starts_with("docvalues") { "docvalues" } else { self.peer };
        self.folder.join(format!("{}.{peer}", self.column))
    }

    /// The column's file, mapped.
    pub fn map(&self) -> Mmap {
        map(&self.file())
    }

    /// The values and the requests. Reports the sum of the values, and builds the file if it is missing.
    pub fn prepare(&self, build: impl Fn(&Values, &Path)) -> (Values, Requests) {
        let values = self.column.values(self.docs);
        self.tell(Workload::Data, "", 1, Elapsed::default(), values.sum(), "data");
        let path = self.file();
        if self.wants(Workload::Build) {
            // A process that builds a segment pays for its memory, so its first build counts. A file that is there would
            // be truncated, which takes time, too.
            let _ = fs::remove_file(&path);
            let start = Moment::now();
            build(&values, &path);
            self.tell(Workload::Build, "", self.docs.into(), Moment::now() - start, 0, "nothing");
        } else if !path.exists() {
            build(&values, &path);
        }
        if self.wants(Workload::Bytes) {
            let len = path.metadata().expect("the file is there").len();
            self.tell(Workload::Bytes, "", len, Elapsed::default(), 0, "nothing");
        }
        (values, Requests::new(self.docs))
    }

    /// The files of the columns that are read together. Builds those that are missing.
    pub fn parts(&self, build: impl Fn(Column, &Values, &Path)) -> Option<[PathBuf; 3]> {
        let parts = self.column.parts()?.map(|column| Session {
            peer: self.peer,
            version: self.version.clone(),
            column,
            docs: self.docs,
            folder: self.folder.clone(),
            budget: self.budget,
            workloads: Vec::new(),
            resident: Cell::default(),
        });
        Some(parts.map(|part| {
            part.prepare(|values, path| build(part.column, values, path));
            part.file()
        }))
    }

    /// To be called when the values are freed and before the column is opened.
    pub fn ready(&self) {
        self.resident.set(resident());
    }

    /// Measures `body`, which reads `units` values and returns their sum.
    pub fn measure(&self, work: Workload, api: &str, units: u64, mut body: impl FnMut() -> i64) {
        self.measure_of(work, api, units, "values", &mut body);
    }

    /// As [`measure`](Self::measure), for a sum of strings.
    pub fn measure_strings(&self, work: Workload, api: &str, units: u64, mut body: impl FnMut() -> i64) {
        self.measure_of(work, api, units, "strings", &mut body);
    }

    fn measure_of(&self, work: Workload, api: &str, units: u64, of: &str, body: &mut dyn FnMut() -> i64) {
        const SAMPLE: f64 = 1e6;
        if !self.wants(work) || units == 0 {
            return;
        }
        let checksum = black_box(body());
        if work == Workload::Scan && self.wants(Workload::Memory) && self.resident.get() > 0 {
            let taken = resident().saturating_sub(self.resident.take());
            self.tell(Workload::Memory, "", taken, Elapsed::default(), 0, "nothing");
        }
        let mut time = |runs: usize| {
            let start = Moment::now();
            for _ in 0..runs {
                assert_eq!(black_box(body()), checksum, "repetitions have the same answer");
            }
            Moment::now() - start
        };
        let runs = (SAMPLE / time(1).cpu.max(1.0)).ceil().clamp(1.0, 1e6) as usize;
        let (mut samples, mut spent) = (Vec::new(), 0.0);
        while spent < self.budget && samples.len() < 1_000 || samples.len() < 3 && spent < 10.0 * self.budget
        {
            let Elapsed { cpu, wall } = time(runs);
            spent += cpu;
            samples.push((cpu / runs as f64, wall / runs as f64));
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let cpu = median(samples.iter().map(|sample| sample.0).collect());
        let wall = median(samples.iter().map(|sample| sample.1).collect());
        self.tell(work, api, units, Elapsed { cpu, wall }, checksum, of);
    }

    fn tell(&self, work: Workload, api: &str, units: u64, took: Elapsed, checksum: i64, of: &str) {
        let line = Line {
            peer: self.peer.to_owned(),
            version: self.version.clone(),
            work,
            column: self.column,
            api: api.to_owned(),
            docs: self.docs,
            units,
            ns_cpu: took.cpu,
            ns_wall: took.wall,
            checksum,
            of: of.to_owned(),
        };
        println!("{}", serde_json::to_string(&line).expect("a line is plain data"));
    }
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let all = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = all.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map_or(0, |kib| kib << 10)
}

/// Maps a file of this harness, which nothing truncates during a measurement.
pub fn map(path: &Path) -> Mmap {
    let file = File::open(path).expect("the column's file");
    // SAFETY: the harness wrote the file, and nothing changes it during a measurement.
    unsafe { Mmap::map(&file) }.expect("a file can be mapped")
}
