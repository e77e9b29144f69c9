//! Records of runs, as JSON: the tables and plots of the pages are made from them.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The figures of a run, and where they are from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record<R> {
    /// The command that repeats the run.
    pub command: String,
    /// The commit of the program.
    pub commit: String,
    /// The model of the CPU.
    pub cpu: String,
    /// The number of rounds.
    pub rounds: u32,
    /// The day of the run.
    pub date: String,
    /// The figures.
    pub rows: Vec<R>,
}

impl<R: Serialize + DeserializeOwned> Record<R> {
    /// The record of this process on this machine.
    pub fn new(rounds: u32, rows: Vec<R>) -> Record<R> {
        let mut arguments = std::env::args();
        let program = arguments.next().unwrap_or_default();
        let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let arguments: String = arguments.map(|argument| format!(" {argument}")).collect();
        Record {
            command: format!("cargo run --release -p docvalues-benches --bin {program} --{arguments}"),
            commit: said("git", &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]),
            cpu: cpu(),
            rounds,
            date: said("date", &["-u", "+%Y-%m-%d"]),
            rows,
        }
    }

    /// Writes the record to a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        fs::write(path, serde_json::to_string_pretty(self)? + "\n")?;
        Ok(())
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has other rows.
    pub fn read(path: &Path) -> Result<Record<R>, Box<dyn Error>> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }
}

impl<R> Record<R> {
    /// One line with the origin of the figures, for the head of a table.
    pub fn origin(&self) -> String {
        let Record { command, commit, cpu, rounds, date, .. } = self;
        format!("`{command}`; commit `{commit}`, {cpu}, {rounds} rounds, {date}.")
    }
}

/// The output of a program, trimmed; empty if it cannot run.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    line.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let record = Record::new(3, vec![(1, "a".to_owned()), (2, "b".to_owned())]);
        record.write(file.path()).unwrap();
        assert_eq!(Record::read(file.path()).unwrap(), record);
        assert!(!record.commit.is_empty() && record.origin().contains("3 rounds"));
        let error = Record::<bool>::read(file.path()).unwrap_err().to_string();
        assert!(error.starts_with(&file.path().display().to_string()), "{error}");
    }
}
