//! The peers that are in this program.

use std::hint::black_box;
use std::path::Path;

use tantivy_sstable::{Dictionary as SsTable, MonotonicU64SSTable};

use super::{Line, Shape};
use crate::clock::{Elapsed, Moment};
use crate::id_kinds;

/// Their names, docvalues first.
pub const PEERS: [&str; 3] = ["docvalues", "fst", "tantivy"];

/// PEER SHAPE FOLDER MILLISECONDS
pub fn measure(args: &[String]) -> Result<(), String> {
    let [peer, shape, folder, milliseconds] = args else {
        return Err("measure-ids: PEER SHAPE FOLDER MILLISECONDS".into());
    };
    let milliseconds: u32 = milliseconds.parse().map_err(|e| format!("`{milliseconds}`: {e}"))?;
    let process = Process { peer, shape: shape.parse()?, budget: f64::from(milliseconds) * 1e6 };
    match peer.as_str() {
        "docvalues" => docvalues(&process, folder.as_ref()),
        "fst" => fst(&process),
        "tantivy" => tantivy(&process),
        other => return Err(format!("no peer `{other}` in this program")),
    }
    Ok(())
}

/// What one process measures.
struct Process<'a> {
    peer: &'a str,
    shape: Shape,
    budget: f64,
}

impl Process<'_> {
    /// The ids of each segment with their versions, sorted.
    fn segments(&self) -> impl Iterator<Item = Vec<(String, u32)>> {
        let Shape { kind, segments, each } = self.shape;
        (0..segments).map(move |segment| {
            let mut ids: Vec<_> = (segment * each..(segment + 1) * each).map(|i| (kind.id(i), i)).collect();
            ids.sort_unstable();
            ids
        })
    }

    /// What is asked for: the ids that come next, and ids in no order.
    fn asked(&self) -> [(&'static str, Vec<String>); 2] {
        let (all, count) = (self.shape.ids(), self.shape.asked());
        let id = |i| self.shape.kind.id(i);
        [
            ("absent", (0..count as u32).map(|i| id(all + i)).collect()),
            ("present", id_kinds::random(all, count).map(id).collect()),
        ]
    }

    /// Measures look-ups, each of which is to return the version of the newest document.
    fn look_up(&self, how: &str, find: impl Fn(&[u8]) -> Option<u32>) {
        for (work, ids) in self.asked() {
            self.measure(work, how, ids.len(), || ids.iter().map(|id| told(find(id.as_bytes()))).sum());
        }
    }

    fn measure(&self, work: &str, how: &str, units: usize, mut body: impl FnMut() -> i64) {
        let checksum = black_box(body());
        let (mut samples, mut spent) = (Vec::new(), 0.0);
        while samples.len() < 5 || spent < self.budget && samples.len() < 1_000 {
            let start = Moment::now();
            assert_eq!(black_box(body()), checksum, "the same answer again");
            let Elapsed { cpu, wall } = Moment::now() - start;
            spent += cpu;
            samples.push((cpu, wall));
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cpu, wall) = samples[samples.len() / 2];
        let work = if how.is_empty() { work.to_owned() } else { format!("{work}, {how}") };
        self.tell(&work, units as u64, Elapsed { cpu, wall }, checksum);
    }

    fn tell(&self, work: &str, units: u64, took: Elapsed, checksum: i64) {
        let Shape { kind, segments, each } = self.shape;
        let line = Line {
            peer: self.peer.to_owned(),
            work: work.to_owned(),
            kind: kind.name().to_owned(),
            segments,
            each,
            units,
            ns_cpu: took.cpu,
            ns_wall: took.wall,
            checksum,
        };
        println!("{}", serde_json::to_string(&line).expect("a line is plain data"));
    }

    fn bytes(&self, bytes: usize) {
        self.tell("bytes", self.shape.ids().into(), Elapsed::default(), bytes as i64);
    }

    fn built(&self, took: Elapsed) {
        self.tell("build", self.shape.ids().into(), took, 0);
    }
}

/// What a look-up adds up.
fn told(version: Option<u32>) -> i64 {
    version.map_or(0, |version| i64::from(version) + 1)
}

fn fst(process: &Process<'_>) {
    let (mut took, mut segments) = (Elapsed::default(), Vec::new());
    for ids in process.segments() {
        let start = Moment::now();
        let mut builder = fst::MapBuilder::memory();
        for (id, version) in &ids {
            builder.insert(id, u64::from(*version)).expect("ids ascend");
        }
        segments.push(builder.into_map());
        took = took + (Moment::now() - start);
    }
    process.built(took);
    process.bytes(segments.iter().map(|map| map.as_fst().as_bytes().len()).sum());
    process.look_up("", |id| segments.iter().rev().find_map(|map| map.get(id)).map(|version| version as u32));
}

fn tantivy(process: &Process<'_>) {
    let (mut took, mut segments, mut bytes) = (Elapsed::default(), Vec::new(), 0);
    for ids in process.segments() {
        let start = Moment::now();
        let mut builder = SsTable::<MonotonicU64SSTable>::builder(Vec::new()).expect("it writes to memory");
        // Its values may only grow: the rank, and the version beside it.
        for (rank, (id, _)) in (0..).zip(&ids) {
            builder.insert(id, &rank).expect("ids ascend");
        }
        let table = builder.finish().expect("it writes to memory");
        took = took + (Moment::now() - start);
        bytes += table.len();
        let slice = tantivy_common::file_slice::FileSlice::from(table);
        let versions: Vec<u32> = ids.iter().map(|id| id.1).collect();
        segments.push((SsTable::<MonotonicU64SSTable>::open(slice).expect("what was just written"), versions));
    }
    process.built(took);
    process.bytes(bytes);
    process.look_up("", |id| {
        segments.iter().rev().find_map(|(table, versions)| {
            let rank = table.get(id).expect("what was just written")?;
            Some(versions[rank as usize])
        })
    });
}

fn docvalues(_process: &Process<'_>, _folder: &Path) {}
