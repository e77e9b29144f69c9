//! Writes `workloads.json`, the record of docs/benchmarks/workloads.md, and its plot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Line, Row, SORTED, Task};
use crate::machine::Machine;
use crate::plot::{self, Mark};
use crate::record::{self, Call};
use crate::results;

/// The peers in the order of the plot.
const PEERS: [(&str, &str); 4] = [
    ("docvalues", "docvalues"),
    ("lucene-10.5.0", "Lucene 10.5"),
    ("tantivy", "tantivy-columnar"),
    ("lucene-7.7.3", "Lucene 7.7"),
];

/// Medians over the rounds by row and peer in milliseconds, the fastest call first.
struct Medians(BTreeMap<(Row, String), Vec<Call>>);

impl Medians {
    fn new(lines: &[Line]) -> Medians {
        let mut all: BTreeMap<(Row, String), BTreeMap<&str, Vec<&Line>>> = BTreeMap::new();
        for line in lines {
            let ways = all.entry((line.work, line.name())).or_default();
            ways.entry(&line.api).or_default().push(line);
        }
        let median = |lines: &[&Line], of: fn(&Line) -> f64| {
            let mut all: Vec<f64> = lines.iter().map(|line| of(line) / 1e6).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let ways = |ways: BTreeMap<&str, Vec<&Line>>| {
            let way = |(api, lines): (&str, Vec<&Line>)| Call {
                api: api.to_owned(),
                value: median(&lines, |line| line.ns_cpu),
                wall: median(&lines, |line| line.ns_wall),
                strings: false,
            };
            let mut ways: Vec<Call> = ways.into_iter().map(way).collect();
            ways.sort_by(|a, b| a.value.total_cmp(&b.value));
            ways
        };
        Medians(all.into_iter().map(|(key, lines)| (key, ways(lines))).collect())
    }

    fn ways(&self, row: Row, peer: &str) -> &[Call] {
        self.0.get(&(row, peer.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The time of the fastest API.
    fn get(&self, row: Row, peer: &str) -> Option<f64> {
        Some(self.ways(row, peer).first()?.value)
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        Row::ALL
            .iter()
            .copied()
            .filter(|&row| results::PEERS.iter().any(|peer| self.get(row, peer.0).is_some()))
    }
}

fn name(row: Row) -> String {
    let percent = |share: u64| format!("{} %", share / 100);
    match row.task() {
        Task::Facet(share) => format!("facet, {}", percent(share)),
        Task::Top(share) => format!("top {SORTED}, {}", percent(share)),
        Task::Group(share) => format!("group, {}", percent(share)),
        Task::Range(column) => format!("range, {column}"),
        Task::Export { sorted: false } => "export, random order".to_owned(),
        Task::Export { sorted: true } => "export, ascending".to_owned(),
    }
}

/// Writes the record and its plot into `folder`, or the record of indexes that are read in place; returns the record's path.
pub fn write(machine: &Machine, lines: &[Line], folder: &Path, in_place: bool) -> io::Result<PathBuf> {
    let medians = Medians::new(lines);
    let calls = |row: Row| {
        let calls = results::PEERS.into_iter().map(|(peer, _)| (peer.to_owned(), medians.ways(row, peer)));
        (row.name().to_owned(), calls.filter(|(_, calls)| !calls.is_empty()).collect())
    };
    let values: Vec<_> = medians.rows().map(calls).collect();
    let versions = lines.iter().map(|line| (line.name(), line.version.clone())).collect();
    let mut path = folder.join("workloads.json");
    if in_place {
        path.set_file_name("in-place-workloads.json");
        print!("{}", record::in_place(&values));
    } else {
        fs::create_dir_all(folder.join("workloads"))?;
        fs::write(folder.join("workloads/workloads.svg"), plot_of(&medians))?;
    }
    record::write(&path, machine, &versions, &values)?;
    Ok(path)
}

fn plot_of(medians: &Medians) -> String {
    let rows: Vec<(String, Vec<Mark>)> = medians
        .rows()
        .map(|row| {
            let mark = |peer: &(&'static str, &'static str)| Some((*peer, medians.get(row, peer.0)?));
            (name(row), PEERS.iter().filter_map(mark).collect())
        })
        .collect();
    let measured = |peer: &&(&str, &str)| medians.rows().any(|row| medians.get(row, peer.0).is_some());
    let peers: Vec<_> = PEERS.iter().filter(measured).copied().collect();
    plot::rows_of_marks("Workloads of a search engine", "ms of CPU time", 170.0, &peers, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_api_counts() {
        let line = |api: &str, ns_cpu| Line {
            peer: "lucene".to_owned(),
            version: "10.5.0".to_owned(),
            work: Row::Top1,
            api: api.to_owned(),
            ns_cpu,
            ns_wall: 0.0,
            checksum: 0,
        };
        let medians = Medians::new(&[line("a", 3e6), line("b", 2e6), line("b", 9e6), line("b", 2e6)]);
        assert_eq!(medians.get(Row::Top1, "lucene-10.5.0"), Some(2.0));
    }
}
