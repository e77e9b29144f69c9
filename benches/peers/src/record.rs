//! Writes the record of a run: `docs/benchmarks/*.json`, of which the tables of pages are made.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value, json};

use crate::machine::Machine;
use crate::report::rounds;

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
