//! Vortex and Lance, through their Python wheels, for the workload `take` alone.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::data;
use crate::task::{Column, LOOKUPS, TAKEN, Values};

/// The peers in `take.py`.
pub const PEERS: [&str; 2] = ["vortex", "lance"];

const WHEELS: [&str; 3] = ["vortex-data==0.93.0", "pylance==14.0.2", "pyarrow==26.0.1"];

/// Variables that limit both libraries to one thread.
const THREADS: [&str; 4] =
    ["LANCE_CPU_THREADS", "LANCE_IO_THREADS", "TOKIO_WORKER_THREADS", "RAYON_NUM_THREADS"];

/// A Python interpreter with the wheels.
pub struct Python {
    program: PathBuf,
    script: PathBuf,
}

impl Python {
    /// A command for `peer`, without the arguments of a measurement.
    pub fn command(&self, peer: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.envs(THREADS.map(|name| (name, "1"))).arg(&self.script).arg(peer).arg(TAKEN.to_string());
        command
    }
}

/// The Python of `target/venv`, which is made on request. Prints the reason if that fails.
pub fn find(package: &Path, target: &Path, install: bool) -> Option<Python> {
    let folder = target.join("venv");
    let found = Python { program: folder.join("bin/python"), script: package.join("take.py") };
    let has_wheels = || run_to_end(Command::new(&found.program).args(["-c", "import lance, vortex"])).is_ok();
    if !has_wheels() {
        if !install {
            return None;
        }
        eprintln!("Vortex, Lance: installing {}", WHEELS.join(" "));
        let made = run_to_end(Command::new("python3").args(["-m", "venv"]).arg(&folder)).and_then(|()| {
            run_to_end(Command::new(&found.program).args(["-m", "pip", "install", "--quiet"]).args(WHEELS))
        });
        if let Err(message) = made {
            eprintln!("Vortex, Lance: {message}: left out");
            return None;
        }
    }
    Some(found)
}

fn run_to_end(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|e| format!("Python cannot be started ({e})"))?;
    let stderr = String::from_utf8_lossy(&done.stderr);
    if done.status.success() {
        Ok(())
    } else {
        Err(stderr.lines().last().unwrap_or("no reason given").to_owned())
    }
}

/// Writes the missing input files of the script: `COLUMN.raw` has a little-endian `i64` for each document, then a byte
/// for each document that is 1 if it has a value; `take.raw` has the requested documents as `u32`.
pub fn write(column: Column, docs: u32, folder: &Path) -> io::Result<()> {
    let (values, requests) = (folder.join(format!("{column}.raw")), folder.join("take.raw"));
    if !values.exists() {
        let mut out = BufWriter::new(File::create(folder.join("raw-tmp"))?);
        let (numbers, present) = numbers(column, docs);
        for value in numbers {
            out.write_all(&value.to_le_bytes())?;
        }
        let is_present =
            |doc: u32| present.as_ref().is_none_or(|words| words[doc as usize / 64] >> (doc % 64) & 1 == 1);
        out.write_all(&(0..docs).map(|doc| u8::from(is_present(doc))).collect::<Vec<u8>>())?;
        out.flush()?;
        fs::rename(folder.join("raw-tmp"), values)?;
    }
    if !requests.exists() {
        let asked_for = data::random_docs(docs, LOOKUPS);
        fs::write(
            requests,
            asked_for.into_iter().flat_map(|doc| doc.get().to_le_bytes()).collect::<Vec<u8>>(),
        )?;
    }
    Ok(())
}

/// The numbers of a column, or the ords of its strings, and the documents that have one.
fn numbers(column: Column, docs: u32) -> (Vec<i64>, Option<Vec<u64>>) {
    match column.values(docs) {
        Values::Numbers(numbers) => (numbers.values, numbers.present),
        Values::Strings(_) => {
            let ids = data::host_ids(docs);
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            sorted.dedup();
            (ids.iter().map(|id| sorted.partition_point(|other| other < id) as i64).collect(), None)
        }
        Values::Tags(_) => unreachable!("no single numbers"),
    }
}
