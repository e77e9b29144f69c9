//! The peers of this program.

use std::convert::Infallible;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use docvalues::format::error::Section as Role;
use docvalues::format::source::Owned;
use docvalues::terms::Dictionary;
use docvalues::terms::build::IdsBuilder;
use docvalues::terms::exact_trie::{ExactTrie, TrieBuilder};
use docvalues::terms::fst::{Fst, FstBuilder};
use docvalues::terms::id_blocks::{BlocksBuilder, BlocksReader};
use docvalues::terms::lookup::{Hit, IdLookup, IdStore};
use docvalues::{
    DocId, FieldSpec, IdForm, IdOptions, IdReader, LogicalType, Numeric, NumericSeeker, Schema, Segment,
    SegmentWriter, WriterOptions,
};
use tantivy_sstable::{Dictionary as SsTable, MonotonicU64SSTable};

use super::{Line, Shape, WINDOW};
use crate::clock::{Elapsed, Moment};
use crate::id_kinds::{LookupIds, Window};

/// Ids to look up, distinct if the shape has that many. Slow peers only look up the first of them.
const LOOKUPS: usize = 1_000_000;

/// The peers of this program, docvalues first.
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
        other => return Err(format!("expected a peer of this program, found `{other}`")),
    }
    Ok(())
}

/// The measurement of one process.
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

    /// The ids to look up: absent ids, the next ones of the sequence, and present ids in random order.
    fn lookups(&self) -> [(&'static str, LookupIds); 2] {
        let Shape { kind, .. } = self.shape;
        let all = self.shape.ids();
        [
            ("absent", LookupIds::absent(kind, all, LOOKUPS)),
            ("present", LookupIds::present(kind, all, LOOKUPS)),
        ]
    }

    /// Measures lookups, which return the version of the newest document.
    fn look_up(&self, how: &str, find: impl Fn(&[u8]) -> Option<u32>) {
        for (work, lookups) in self.lookups() {
            self.measure(work, how, &lookups, |ids| ids.ids().map(|id| version_plus_1(find(id))).sum());
        }
    }

    /// Measures window by window, until all windows and enough samples are measured, or the time is up.
    fn measure<'w>(
        &self,
        work: &str,
        how: &str,
        lookups: &'w LookupIds,
        mut body: impl FnMut(Window<'w>) -> i64,
    ) {
        let (mut samples, mut checksums, mut spent) = (Vec::new(), Vec::new(), 0.0);
        let windows = lookups.windows(WINDOW).len();
        for (at, window) in lookups.windows(WINDOW).enumerate().cycle() {
            let start = Moment::now();
            let checksum = black_box(body(window));
            let Elapsed { cpu, wall } = Moment::now() - start;
            spent += cpu;
            samples.push((cpu, wall));
            match checksums.get(at) {
                Some(&before) => assert_eq!(checksum, before, "repetitions have the same answer"),
                None => checksums.push(checksum),
            }
            if spent >= self.budget || spent >= self.budget / 8.0 && samples.len() > windows {
                break;
            }
        }
        // The first one is the warm-up, if there are others.
        let mut samples = if samples.len() > 1 { samples.split_off(1) } else { samples };
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cpu, wall) = samples[samples.len() / 2];
        let work = if how.is_empty() { work.to_owned() } else { format!("{work}, {how}") };
        self.tell(&work, WINDOW as u64, Elapsed { cpu, wall }, checksums);
    }

    fn tell(&self, work: &str, units: u64, took: Elapsed, checksums: Vec<i64>) {
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
            checksums,
        };
        println!("{}", serde_json::to_string(&line).expect("a line is plain data"));
    }

    fn bytes(&self, bytes: usize) {
        self.tell("bytes", self.shape.ids().into(), Elapsed::default(), vec![bytes as i64]);
    }

    fn built(&self, took: Elapsed) {
        self.tell("build", self.shape.ids().into(), took, Vec::new());
    }
}

/// The checksum of a lookup.
fn version_plus_1(version: Option<u32>) -> i64 {
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
        // Its values must ascend: the rank, with the version in an array.
        for (rank, (id, _)) in (0..).zip(&ids) {
            builder.insert(id, &rank).expect("ids ascend");
        }
        let table = builder.finish().expect("it writes to memory");
        took = took + (Moment::now() - start);
        bytes += table.len();
        let slice = tantivy_common::file_slice::FileSlice::from(table);
        let versions: Vec<u32> = ids.iter().map(|id| id.1).collect();
        segments
            .push((SsTable::<MonotonicU64SSTable>::open(slice).expect("what was just written"), versions));
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

/// docvalues: with Bloom filters in the files, with filters in memory, with a fingerprint table, and each form of the
/// index without a filter.
fn docvalues(process: &Process<'_>, folder: &Path) {
    let filtered = docvalues_segments(process, folder, "ours-blocks-filter", IdForm::Blocks, 16);
    let readers = filtered.readers();
    docvalues_look_up(process, "ours-blocks-filter", &filtered, &IdLookup::new(readers.iter().cloned()));
    let start = Moment::now();
    let filters = IdLookup::new(readers.iter().cloned()).with_filters_in_memory().expect("undamaged");
    let took = Moment::now() - start;
    process.tell("build, ours-filters-memory", process.shape.ids().into(), took, Vec::new());
    process.tell(
        "bytes, ours-filters-memory",
        process.shape.ids().into(),
        Elapsed::default(),
        vec![filters.filter_bytes() as i64],
    );
    docvalues_look_up(process, "ours-filters-memory", &filtered, &filters);
    let start = Moment::now();
    let store = IdStore::new();
    store.add_all(&readers).expect("few segments, undamaged");
    let took = Moment::now() - start;
    process.tell("build, ours-table", process.shape.ids().into(), took, Vec::new());
    let snapshot = store.snapshot();
    process.tell(
        "bytes, ours-table",
        process.shape.ids().into(),
        Elapsed::default(),
        vec![snapshot.fingerprint_bytes() as i64],
    );
    docvalues_look_up(process, "ours-table", &filtered, &snapshot);
    for (how, form) in [("ours-blocks", IdForm::Blocks), ("ours-trie", IdForm::Exact), ("ours-fst", IdForm::Fst)] {
        let bare = docvalues_segments(process, folder, how, form, 0);
        docvalues_look_up(process, how, &bare, &IdLookup::new(bare.readers()));
    }
    texts(process);
}

/// Segments, newest first, and the columns of versions.
struct Opened {
    segments: Vec<(Arc<IdReader>, Numeric)>,
}

impl Opened {
    fn readers(&self) -> Vec<Arc<IdReader>> {
        self.segments.iter().map(|segment| Arc::clone(&segment.0)).collect()
    }
}

fn docvalues_segments(
    process: &Process<'_>,
    folder: &Path,
    how: &str,
    form: IdForm,
    filter_bits: u8,
) -> Opened {
    let (mut took, mut bytes, mut segments) = (Elapsed::default(), 0, Vec::new());
    for (number, ids) in process.segments().enumerate() {
        let path = folder.join(format!("{}.docvalues-{how}-{number}", process.shape));
        let options = IdOptions { form, filter_bits, ..IdOptions::default() };
        let sorted: Vec<(&[u8], DocId)> =
            (0..).zip(&ids).map(|(doc, (id, _))| (id.as_bytes(), DocId::new(doc))).collect();
        let start = Moment::now();
        black_box(IdsBuilder::new(options).build(&sorted[..], sorted.len() as u32).expect("sorted ids"));
        took = took + (Moment::now() - start);
        let mut schema = Schema::new();
        let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8)).expect("a name");
        let version = schema.add(FieldSpec::new("_version", LogicalType::I64)).expect("a name");
        let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).expect("a file");
        writer.id_field(id, options).expect("byte strings");
        // In order of arrival, which is that of their versions.
        let mut documents: Vec<&(String, u32)> = ids.iter().collect();
        documents.sort_unstable_by_key(|document| document.1);
        for (text, number) in documents {
            let mut document = writer.document();
            document
                .str(id, text)
                .and_then(|document| document.i64(version, (*number).into()))
                .expect("room");
            document.finish().expect("room");
        }
        bytes += writer.finish().expect("a file").ids.expect("an index").bytes;
        let segment = Segment::open(&path).expect("what was just written");
        let ids = segment.ids().expect("undamaged").expect("an index");
        // The mapping stays valid; the next run writes the file again.
        std::fs::remove_file(&path).expect("it was just written");
        segments.push((Arc::clone(ids.reader()), segment.numeric("_version").expect("undamaged")));
    }
    segments.reverse();
    let all = process.shape.ids().into();
    process.tell(&format!("build, {how}"), all, took, Vec::new());
    process.tell(&format!("bytes, {how}"), all, Elapsed::default(), vec![bytes as i64]);
    Opened { segments }
}

fn docvalues_look_up(process: &Process<'_>, how: &str, opened: &Opened, lookup: &IdLookup<IdReader>) {
    let versions = || NumericSeeker::new(opened.segments.iter().map(|segment| &segment.1));
    let one_more = |version: Option<i64>| version.expect("each document has one") + 1;
    for (work, lookups) in process.lookups() {
        let mut seeker = lookup.seeker();
        process.measure(work, how, &lookups, |ids| {
            let versions = versions();
            let version = |id| match seeker.find(id).expect("undamaged") {
                Some(Hit { segment, doc }) => one_more(versions.get(segment, doc).expect("undamaged")),
                None => 0,
            };
            ids.ids().map(version).sum()
        });
        let (mut bulk, mut hits) = (Vec::new(), Vec::new());
        process.measure(work, &format!("{how}, bulks of 20"), &lookups, |window| {
            let versions = versions();
            let bulks = window.bulks(20).map(|ids| {
                bulk.clear();
                bulk.extend(ids.ids());
                seeker.find_many(&bulk, &mut hits).expect("undamaged");
                let found = hits.iter().flatten();
                found.map(|hit| one_more(versions.get(hit.segment, hit.doc).expect("undamaged"))).sum::<i64>()
            });
            bulks.sum()
        });
    }
}

/// The forms of the index over ids that are not packed, as in the crate `fst`.
fn texts(process: &Process<'_>) {
    let section = |bytes| Owned::new(Role::Ids, bytes);
    text(process, "ours-blocks-text", |ids| {
        let mut builder = BlocksBuilder::default();
        assert!(ids.iter().all(|(id, _)| builder.push(id.as_bytes())), "sorted ids");
        let blocks = builder.finish().expect("ids");
        let bytes = blocks.ids.len() + blocks.starts.len() + blocks.index.as_ref().map_or(0, Vec::len);
        let blocks = blocks.try_map(&mut |role, bytes| Ok::<_, Infallible>(Owned::new(role, bytes)));
        let Ok(blocks) = blocks;
        (bytes, Box::new(BlocksReader::open(blocks, ids.len() as u32).expect("what was just made")))
    });
    text(process, "ours-trie-text", |ids| {
        let mut builder = TrieBuilder::new();
        ids.iter().for_each(|(id, _)| builder.push(id.as_bytes()).expect("sorted ids"));
        let bytes = builder.finish();
        let len = bytes.len();
        (len, Box::new(ExactTrie::open(section(bytes), ids.len() as u32).expect("what was just made")))
    });
    text(process, "ours-fst-text", |ids| {
        let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
        ids.iter().for_each(|(id, _)| builder.push(id.as_bytes()).expect("sorted ids"));
        let bytes = builder.finish();
        let len = bytes.len();
        (len, Box::new(Fst::open(section(bytes), ids.len() as u32).expect("what was just made")))
    });
}

/// Builds one dictionary for each segment with `make`, which returns its bytes and the dictionary.
fn text(process: &Process<'_>, how: &str, make: impl Fn(&[(String, u32)]) -> (usize, Box<dyn Dictionary>)) {
    let (mut took, mut bytes, mut segments) = (Elapsed::default(), 0, Vec::new());
    for ids in process.segments() {
        let start = Moment::now();
        let (len, dictionary) = make(&ids);
        took = took + (Moment::now() - start);
        bytes += len;
        segments.push((dictionary, ids.iter().map(|id| id.1).collect::<Vec<u32>>()));
    }
    let all = process.shape.ids().into();
    process.tell(&format!("build, {how}"), all, took, Vec::new());
    process.tell(&format!("bytes, {how}"), all, Elapsed::default(), vec![bytes as i64]);
    process.look_up(how, |id| {
        segments.iter().rev().find_map(|(dictionary, versions)| {
            let rank = dictionary.find(id).expect("undamaged")?;
            Some(versions[rank as usize])
        })
    });
}
