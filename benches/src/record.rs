//! Records of measurements: the runs that the tables of pages are made from (`docs/benchmarks/*.json`).

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

/// A run of a program: how it was made, and its tables.
#[derive(Debug)]
pub struct Run {
    rounds: String,
    command: String,
    commit: String,
    values: Map<String, Value>,
    tables: Map<String, Value>,
}

impl Run {
    /// A run by `command`, with a few words about its rounds.
    pub fn new(command: &str, rounds: &str) -> Run {
        let (rounds, command) = (rounds.to_owned(), command.to_owned());
        Run { rounds, command, commit: commit(), values: Map::new(), tables: Map::new() }
    }

    /// The same, measured at another commit.
    pub fn at(self, commit: &str) -> Run {
        Run { commit: commit.to_owned(), ..self }
    }

    /// Adds a figure.
    pub fn value(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// Adds a table, its header first.
    pub fn table(&mut self, name: &str, rows: Vec<Vec<String>>) {
        self.tables.insert(name.to_owned(), json!(rows));
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &Value| {
            let cells = cells.as_array().into_iter().flatten().filter_map(Value::as_str);
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let table = |(name, rows): (&String, &Value)| {
            let rows: Vec<&Value> = rows.as_array().into_iter().flatten().collect();
            let columns = rows.first().and_then(|row| row.as_array()).map_or(1, Vec::len);
            let dashes = format!("| --- |{}\n", " ---: |".repeat(columns.saturating_sub(1)));
            let lines: Vec<String> = rows.into_iter().map(line).collect();
            format!("\n{name}\n\n{}{dashes}{}", lines[..1].concat(), lines[1..].concat())
        };
        self.tables.iter().map(table).collect()
    }

    /// Puts the run into a record, in place of one with the same command.
    ///
    /// # Errors
    ///
    /// If the file is no record, or cannot be read or written.
    pub fn write(self, path: &Path) -> Result<(), Box<dyn Error>> {
        let mut record = match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(_) => json!({ "runs": [] }),
        };
        let runs = record["runs"].as_array_mut().ok_or("expected a record with runs")?;
        let run = json!({
            "command": self.command,
            "commit": self.commit,
            "cpu": cpu(),
            "rounds": self.rounds,
            "date": output("date", &["-u", "+%Y-%m-%d"]),
            "values": self.values,
            "tables": self.tables,
        });
        match runs.iter_mut().find(|other| other["command"] == run["command"]) {
            Some(other) => *other = run,
            None => runs.push(run),
        }
        Ok(fs::write(path, serde_json::to_string_pretty(&record)? + "\n")?)
    }
}

/// The command of this process, without `--record` and folders.
pub fn command_of(program: &str) -> String {
    let (mut arguments, mut kept) = (std::env::args().skip(1), String::new());
    while let Some(argument) = arguments.next() {
        if ["--folder", "--record", "--charts", "--plot"].contains(&&*argument) {
            arguments.next();
        } else {
            kept += &format!(" {argument}");
        }
    }
    let dashes = if kept.is_empty() { "" } else { " --" };
    format!("cargo run --release -p docvalues-benches --bin {program}{dashes}{kept}")
}

/// The commit of the checkout.
fn commit() -> String {
    let changed = output("git", &["status", "--porcelain", "--untracked-files=no"]);
    let commit = output("git", &["rev-parse", "--short=8", "HEAD"]);
    if changed.is_empty() { commit } else { format!("{commit}, with changes") }
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        text.lines().find(|line| line.starts_with(key))?.split_once(':').map(|(_, value)| value.trim())
    };
    let flags = value("flags").unwrap_or_default();
    let kind = if flags.contains("avx512f") {
        " with AVX-512"
    } else if flags.contains("avx2") {
        " with AVX2"
    } else {
        ""
    };
    let cores = std::thread::available_parallelism().map_or(0, Into::into);
    format!("{}{kind}, {cores} cores", value("model name").unwrap_or("unknown"))
}

/// The output of a program, trimmed; empty if it cannot run.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `value` with three digits.
pub fn figure(value: f64) -> String {
    let digits = if value > 0.0 { (2 - value.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
    format!("{value:.digits$}")
}
