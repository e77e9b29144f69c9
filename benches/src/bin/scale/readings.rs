//! Readings of the process after each step of a measurement: a line of cells for each, which another process reads.

use std::process::{Command, Stdio};
use std::time::Instant;

use docvalues_benches::process::{cpu, faults, handles, maps, mib};
use docvalues_benches::record::figure;

use crate::Outcome;

/// The head of a table of steps.
pub(crate) const HEAD: [&str; 9] =
    ["", "ms", "CPU, ms", "faults", "from disk", "mappings", "files", "resident, MiB", "anonymous, MiB"];

/// A step that runs.
pub(crate) struct Step {
    faults: [u64; 2],
    cpu: f64,
    began: Instant,
}

impl Step {
    pub(crate) fn begin() -> Step {
        Step { faults: faults(), cpu: cpu(), began: Instant::now() }
    }

    /// Prints the time of the step, and the state of the process.
    pub(crate) fn end(self, name: &str) {
        let (wall, spent) = (self.began.elapsed().as_secs_f64(), cpu() - self.cpu);
        let [cached, of_disk] = faults();
        let cells = [
            figure(wall * 1e3),
            figure(spent * 1e3),
            cached.saturating_sub(self.faults[0]).to_string(),
            of_disk.saturating_sub(self.faults[1]).to_string(),
            maps().to_string(),
            handles().to_string(),
            figure(mib("VmRSS")),
            figure(mib("RssAnon")),
        ];
        println!("{name}\t{}", cells.join("\t"));
    }
}

/// Runs a step.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let step = Step::begin();
    let done = work();
    step.end(name);
    done
}

/// The table of the steps that this program prints with these arguments, in a process of its own.
pub(crate) fn table<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Outcome<Vec<Vec<String>>> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(arguments).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the process of the steps ended with {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let steps = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    Ok([HEAD.map(str::to_owned).to_vec()].into_iter().chain(steps).collect())
}
