//! Writes the record of a run: `docs/benchmarks/*.json`, of which the tables of pages are made.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value, json};

use crate::machine::Machine;
use crate::peer::in_place;
use crate::report::{figure, rounds, times};

/// A call of a peer, with its median CPU time and wall time (or bytes) in the unit of the workload.
#[derive(Clone, Debug)]
pub struct Call {
    pub api: String,
    pub value: f64,
    pub wall: f64,
    /// Whether it read strings instead of ords.
    pub strings: bool,
}

impl Call {
    fn to_json(&self) -> Value {
        // Four significant digits.
        let rounded =
            |value: f64| format!("{value:.3e}").parse::<f64>().map_or(Value::Null, |value| json!(value));
        let mut call = vec![json!(self.api), rounded(self.value), rounded(self.wall)];
        call.extend(self.strings.then(|| json!("strings")));
        Value::Array(call)
    }
}

/// The calls of each peer in a workload, the fastest first.
pub type Calls<'r> = BTreeMap<String, &'r [Call]>;

/// A row for each index that was read in place: the figures of Lucene, of docvalues on its index, and of docvalues on its own
/// file, with their ratios.
pub fn in_place(values: &[(String, Calls<'_>)]) -> String {
    let heads =
        ["work", "peer", "Lucene", "in place", "own file", "Lucene / in place", "in place / own file"];
    let mut out = format!("| {} |\n| --- | --- |{}\n", heads.join(" | "), " ---: |".repeat(heads.len() - 2));
    for (work, peers) in values {
        let fastest = |peer: &str| Some(peers.get(peer)?.first()?.value);
        for peer in peers.keys().filter(|peer| peer.starts_with(in_place::PREFIX)) {
            let figures = [in_place::lucene(peer).as_str(), peer.as_str(), "docvalues"].map(fastest);
            let [lucene, here, own] = figures;
            let ratio = |above: Option<f64>, below: Option<f64>| Some(above? / below?);
            let cells = figures.map(|value| value.map_or("–".to_owned(), figure));
            let ratios = [times(ratio(lucene, here)), ratio(here, own).map_or("–".to_owned(), figure)];
            let _ = writeln!(out, "| {work} | {peer} | {} | {} |", cells.join(" | "), ratios.join(" | "));
        }
    }
    out
}

/// Writes a record of one run, a workload a line.
pub fn write(
    path: &Path,
    machine: &Machine,
    versions: &BTreeMap<String, String>,
    values: &[(String, Calls<'_>)],
) -> io::Result<()> {
    let fields = [
        ("command", json!(machine.command)),
        ("commit", json!(machine.commit)),
        ("cpu", json!(format!("{}, {} cores", machine.cpu, machine.cores))),
        ("rounds", json!(rounds(machine.rounds))),
        ("date", json!(machine.date)),
        ("docs", json!(machine.docs)),
        ("memory", json!(machine.memory)),
        ("kernel", json!(machine.kernel)),
        ("rust", json!(machine.rust)),
        ("jvms", json!(machine.jvms)),
        ("versions", json!(versions)),
        ("load", json!(machine.load)),
    ];
    let fields = fields.map(|(name, value)| format!("\"{name}\": {value}")).join(", ");
    let mut out = format!("{{\"runs\": [\n {{{fields},\n  \"values\": {{");
    for (at, (workload, peers)) in values.iter().enumerate() {
        let calls = |calls: &[Call]| Value::Array(calls.iter().map(Call::to_json).collect());
        let peers: Map<String, Value> = peers.iter().map(|(peer, of)| (peer.clone(), calls(of))).collect();
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n   {}: {}", json!(workload), Value::Object(peers));
    }
    out.push_str("}}\n]}\n");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, out)
}
