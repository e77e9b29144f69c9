//! Merges the measurements of all processes: medians, the fastest API of each peer, and a check that all peers have the
//! same answers.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::Call;
use crate::session::Line;
use crate::task::{Column, Workload};

/// The peers in the order of the tables, with their names there.
pub const PEERS: [(&str, &str); 21] = [
    ("docvalues", "docvalues"),
    ("docvalues-avx2", "docvalues, AVX2"),
    ("docvalues-any", "docvalues, any"),
    ("in-place-10.6.0", "docvalues on Lucene 10.6"),
    ("in-place-10.6.0-lists", "docvalues on Lucene 10.6, lists of one"),
    ("in-place-10.5.0", "docvalues on Lucene 10.5"),
    ("in-place-10.5.0-lists", "docvalues on Lucene 10.5, lists of one"),
    ("in-place-10.5.0-built", "docvalues on Lucene 10.5, tables built"),
    ("in-place-10.5.0-walk", "docvalues on Lucene 10.5, no tables"),
    ("lucene-10.6.0", "Lucene 10.6"),
    ("lucene-10.6.0-lists", "Lucene 10.6, lists of one"),
    ("lucene-10.5.0", "Lucene 10.5"),
    ("lucene-10.5.0-lists", "Lucene 10.5, lists of one"),
    ("lucene-9.12.3", "Lucene 9.12"),
    ("lucene-8.0.0", "Lucene 8.0"),
    ("lucene-7.7.3", "Lucene 7.7"),
    ("tantivy", "tantivy"),
    ("parquet", "Parquet"),
    ("parquet-small", "Parquet, small pages"),
    ("vortex", "Vortex"),
    ("lance", "Lance"),
];

/// All figures.
pub struct Results {
    /// The fastest call first.
    calls: BTreeMap<(Workload, Column, String), Vec<Call>>,
    peers: BTreeSet<String>,
    pub versions: BTreeMap<String, String>,
    /// The number of answers that were compared.
    pub compared: usize,
}

impl Results {
    /// # Errors
    ///
    /// If two peers have different answers.
    pub fn new(lines: Vec<Line>) -> Result<Results, String> {
        let compared = compare(&lines)?;
        let mut rounds: BTreeMap<(Workload, Column, String, String), Vec<&Line>> = BTreeMap::new();
        let (mut peers, mut versions) = (BTreeSet::new(), BTreeMap::new());
        for line in &lines {
            let peer = name(line);
            peers.insert(peer.clone());
            versions.insert(peer.clone(), line.version.clone());
            if line.work != Workload::Data {
                rounds.entry((line.work, line.column, peer, line.api.clone())).or_default().push(line);
            }
        }
        let measured: BTreeSet<Workload> = lines.iter().map(|line| line.work).collect();
        let mut calls: BTreeMap<(Workload, Column, String), Vec<Call>> = BTreeMap::new();
        for ((work, column, peer, api), lines) in rounds {
            let median = |of: fn(&Line) -> f64| {
                let mut all: Vec<f64> = lines.iter().map(|line| in_unit(line, of(line))).collect();
                all.sort_by(f64::total_cmp);
                all[all.len() / 2]
            };
            let (value, wall) = (median(|line| line.ns_cpu), median(|line| line.ns_wall));
            let strings = lines[0].of == "strings";
            let call = Call { value, wall, api, strings };
            // A workload that was not requested has no row, although some of its APIs were measured.
            for work in [Some(work), work.also()].into_iter().flatten().filter(|work| measured.contains(work))
            {
                calls.entry((work, column, peer.clone())).or_default().push(call.clone());
            }
        }
        calls.values_mut().for_each(|calls| calls.sort_by(|a, b| a.value.total_cmp(&b.value)));
        Ok(Results { calls, peers, versions, compared })
    }

    /// The measured peers, with their names in tables.
    pub fn peers(&self) -> Vec<(&'static str, &'static str)> {
        PEERS.into_iter().filter(|(name, _)| self.peers.contains(*name)).collect()
    }

    /// The calls of a peer, the fastest first.
    pub fn calls(&self, work: Workload, column: Column, peer: &str) -> &[Call] {
        self.calls.get(&(work, column, peer.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The fastest call of a peer.
    pub fn get(&self, work: Workload, column: Column, peer: &str) -> Option<&Call> {
        self.calls(work, column, peer).first()
    }

    /// The columns that a workload ran on.
    pub fn columns(&self, work: Workload) -> Vec<Column> {
        let there = |column: &&Column| self.calls.keys().any(|key| key.0 == work && key.1 == **column);
        Column::ALL.iter().filter(there).copied().collect()
    }

    /// The workloads that ran.
    pub fn workloads(&self) -> Vec<Workload> {
        Workload::ALL.iter().copied().filter(|&work| !self.columns(work).is_empty()).collect()
    }

    /// A peer's figure divided by that of docvalues, or `None` if one read strings and the other ords.
    pub fn ratio(&self, work: Workload, column: Column, peer: &str) -> Option<f64> {
        self.ratio_to("docvalues", work, column, peer)
    }

    /// [`ratio`](Self::ratio) to `ours`, a variant of docvalues.
    pub fn ratio_to(&self, ours: &str, work: Workload, column: Column, peer: &str) -> Option<f64> {
        let (ours, theirs) = (self.get(work, column, ours)?, self.get(work, column, peer)?);
        (ours.strings == theirs.strings).then(|| theirs.value / ours.value)
    }

    /// [`ratio_to`](Self::ratio_to) of the fastest of `peers`.
    pub fn ratio_to_fastest(
        &self,
        ours: &str,
        work: Workload,
        column: Column,
        peers: &[&str],
    ) -> Option<f64> {
        peers.iter().filter_map(|peer| self.ratio_to(ours, work, column, peer)).reduce(f64::min)
    }
}

fn name(line: &Line) -> String {
    match line.peer.as_str() {
        "lucene" => format!("lucene-{}", line.version),
        other => other.to_owned(),
    }
}

/// `ns` in the unit of the record: milliseconds of a filter, microseconds of opening, bytes a document, otherwise nanoseconds.
fn in_unit(line: &Line, ns: f64) -> f64 {
    let units = line.units as f64;
    match line.work {
        Workload::Bytes | Workload::Memory => units / f64::from(line.docs),
        Workload::Open => ns / 1e3,
        Workload::Range => ns / 1e6,
        _ => ns / units,
    }
}

/// Checks that equal workloads have equal sums; returns the number of sums compared.
fn compare(lines: &[Line]) -> Result<usize, String> {
    let mut sums: BTreeMap<(Workload, Column, &str, u32), &Line> = BTreeMap::new();
    for line in lines {
        let known = sums.entry((line.work, line.column, &line.of, line.docs)).or_insert(line);
        if known.checksum != line.checksum {
            let described = |line: &Line| format!("{} by `{}`: {}", name(line), line.api, line.checksum);
            return Err(format!(
                "{}, {}: {}, but {}",
                line.work,
                line.column,
                described(known),
                described(line)
            ));
        }
    }
    Ok(lines.iter().filter(|line| line.of != "nothing").count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(peer: &str, work: Workload, api: &str, ns: f64, checksum: i64) -> Line {
        Line {
            peer: peer.to_owned(),
            version: "1".to_owned(),
            work,
            column: Column::Ts,
            api: api.to_owned(),
            docs: 100,
            units: 10,
            ns_cpu: ns,
            ns_wall: ns,
            checksum,
            of: "values".to_owned(),
        }
    }

    #[test]
    fn the_median_of_the_fastest_api_counts() {
        let mut lines = vec![line("docvalues", Workload::Random, "many", 90.0, 7)];
        lines.extend([50.0, 500.0, 60.0].map(|ns| line("tantivy", Workload::Random, "many", ns, 7)));
        lines.extend([40.0, 40.0, 900.0].map(|ns| line("tantivy", Workload::RandomSingle, "one", ns, 7)));
        let results = Results::new(lines).unwrap();
        let figure = results.get(Workload::Random, Column::Ts, "tantivy").unwrap();
        assert_eq!((figure.value, figure.api.as_str()), (4.0, "one"));
        assert_eq!(results.ratio(Workload::Random, Column::Ts, "tantivy"), Some(4.0 / 9.0));
        assert_eq!(results.ratio(Workload::RandomSingle, Column::Ts, "tantivy"), None);
    }

    #[test]
    fn unrequested_workloads_have_no_row() {
        let results = Results::new(vec![line("docvalues", Workload::Get1, "get", 9.0, 7)]).unwrap();
        assert_eq!(results.workloads(), [Workload::Get1]);
    }

    #[test]
    fn different_answers_are_refused() {
        let lines = vec![
            line("docvalues", Workload::Scan, "a", 1.0, 7),
            line("tantivy", Workload::Scan, "b", 1.0, 8),
        ];
        let refused = Results::new(lines).map(|_| ()).unwrap_err();
        assert_eq!(refused, "scan, ts: docvalues by `a`: 7, but tantivy by `b`: 8");
    }
}
