//! Writes `ids.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Line, Shape};
use crate::machine::Machine;
use crate::plot::{self, Mark};
use crate::report::{figure, rounds};

/// The peer that ratios compare with.
const AGAINST: &str = "lucene-10.5.0";

/// A way to look up ids: the peer, and the suffix of its workloads.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way {
    peer: &'static str,
    how: &'static str,
    /// The name in tables, and the mark in plots.
    name: &'static str,
    mark: &'static str,
}

const fn way(peer: &'static str, how: &'static str, name: &'static str, mark: &'static str) -> Way {
    Way { peer, how, name, mark }
}

/// All ways in the order of the tables. benches/src/id_structures.rs says what the names stand for.
const WAYS: [Way; 18] = [
    way("docvalues", "ours-table, bulks of 20", "ours-table, bulks of 20", "docvalues"),
    way("docvalues", "ours-table", "ours-table", "docvalues"),
    way("docvalues", "ours-filters-memory, bulks of 20", "ours-filters-memory, bulks of 20", "docvalues-files"),
    way("docvalues", "ours-filters-memory", "ours-filters-memory", "docvalues-files"),
    way("docvalues", "ours-blocks-filter, bulks of 20", "ours-blocks-filter, bulks of 20", "docvalues-files"),
    way("docvalues", "ours-blocks-filter", "ours-blocks-filter", "docvalues-files"),
    way("docvalues", "ours-blocks", "ours-blocks", "docvalues-bare"),
    way("docvalues", "ours-trie", "ours-trie", "docvalues-bare"),
    way("docvalues", "ours-fst", "ours-fst", "docvalues-bare"),
    way("docvalues", "ours-blocks-text", "ours-blocks-text", "docvalues-bare"),
    way("docvalues", "ours-trie-text", "ours-trie-text", "docvalues-bare"),
    way("docvalues", "ours-fst-text", "ours-fst-text", "docvalues-bare"),
    way("lucene-10.5.0-bloom", "", "lucene-10.5-trie-bloom", "lucene-10.5.0-bloom"),
    way("lucene-10.5.0", "", "lucene-10.5-trie", "lucene-10.5.0"),
    way("lucene-10.3.1", "", "lucene-10.3-trie", "lucene-10.3.1"),
    way("lucene-9.12.3", "", "lucene-9.12-fst", "lucene-9.12.3"),
    way("fst", "", "crate-fst", "fst"),
    way("tantivy", "", "tantivy-sstable", "tantivy"),
];

/// Medians over the rounds by shape, workload and peer.
struct Medians(BTreeMap<(Shape, String, String), Median>);

struct Median {
    ns: f64,
    bytes: i64,
    /// The number of distinct ids looked up, in the round with the fewest.
    asked: u64,
}

impl Medians {
    fn new(lines: &[Line]) -> Medians {
        let mut all: BTreeMap<_, Vec<&Line>> = BTreeMap::new();
        for line in lines {
            let Ok(kind) = line.kind.parse() else { continue };
            let shape = Shape { kind, segments: line.segments, each: line.each };
            all.entry((shape, line.work.clone(), line.peer.clone())).or_default().push(line);
        }
        let median = |lines: Vec<&Line>| {
            let mut all: Vec<f64> = lines.iter().map(|line| line.ns_cpu / line.units as f64).collect();
            all.sort_by(f64::total_cmp);
            Median {
                ns: all[all.len() / 2],
                bytes: lines[0].checksums.first().copied().unwrap_or_default(),
                asked: lines.iter().map(|line| line.asked()).min().unwrap_or_default(),
            }
        };
        Medians(all.into_iter().map(|(key, lines)| (key, median(lines))).collect())
    }

    fn median(&self, shape: Shape, work: &str, way: Way) -> Option<&Median> {
        let work = if way.how.is_empty() { work.to_owned() } else { format!("{work}, {}", way.how) };
        self.0.get(&(shape, work, way.peer.to_owned()))
    }

    fn get(&self, shape: Shape, work: &str, way: Way) -> Option<f64> {
        self.median(shape, work, way).map(|median| median.ns)
    }

    /// The number of distinct ids looked up, in thousands: the smaller of absent and present ones.
    fn asked(&self, shape: Shape, way: Way) -> Option<f64> {
        let asked = ["absent", "present"].into_iter().filter_map(|work| self.median(shape, work, way));
        let fewest = asked.map(|median| median.asked).min()?;
        Some(fewest.min(shape.ids().into()) as f64 / 1e3)
    }

    /// Bytes an id.
    fn bytes(&self, shape: Shape, way: Way) -> Option<f64> {
        let how = way.how.trim_end_matches(", bulks of 20");
        let work = if how.is_empty() { "bytes".to_owned() } else { format!("bytes, {how}") };
        let found = self.0.get(&(shape, work, way.peer.to_owned()))?;
        Some(found.bytes as f64 / f64::from(shape.ids()))
    }

    fn shapes(&self) -> BTreeSet<Shape> {
        self.0.keys().map(|key| key.0).collect()
    }
}

/// Writes the report and its plots into `folder`; returns the report's path.
pub fn write(machine: &Machine, lines: &[Line], folder: &Path) -> io::Result<PathBuf> {
    let medians = Medians::new(lines);
    fs::create_dir_all(folder.join("ids"))?;
    for work in ["absent", "present"] {
        fs::write(folder.join(format!("ids/{work}.svg")), plot_of(&medians, work))?;
    }
    let path = folder.join("ids.md");
    fs::write(&path, text(machine, &medians))?;
    Ok(path)
}

fn plot_of(medians: &Medians, work: &str) -> String {
    let mut peers: Vec<(&'static str, &'static str)> = vec![
        ("docvalues", "ours-table"),
        ("docvalues-files", "ours-blocks-filter"),
        ("docvalues-bare", "ours-blocks"),
    ];
    let drawn = |way: &&Way| matches!(way.how, "" | "ours-table" | "ours-blocks-filter" | "ours-blocks");
    peers.extend(WAYS.iter().filter(|way| way.how.is_empty()).map(|way| (way.mark, way.name)));
    let rows: Vec<(String, Vec<Mark>)> = medians
        .shapes()
        .into_iter()
        .map(|shape| {
            let mark = |way: &Way| Some(((way.mark, way.name), medians.get(shape, work, *way)? / 1e3));
            (name(shape), WAYS.iter().filter(drawn).filter_map(mark).collect())
        })
        .collect();
    let title = format!("Looking up an {} id", if work == "absent" { "unknown" } else { "existing" });
    plot::rows_of_marks(&title, "µs of CPU time an id", 150.0, &peers, &rows)
}

fn name(shape: Shape) -> String {
    format!("{}, {} × {}", shape.kind, shape.segments, figure(shape.each.into()))
}

fn text(machine: &Machine, medians: &Medians) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "# Primary-key lookup\n\n\
         [`benches/peers/run ids`](../../benches/peers/README.md) wrote this page. Each peer looks up the same ids in the same \
         segments, as Elasticsearch looks up `_id` before it indexes a document (`PerThreadIDVersionAndSeqNoLookup`): in all \
         segments, newest first, until one has the id, and then its `_version`. Every peer found the same documents. \
         [fst-or-trie.md](../fst-or-trie.md) interprets the results, and \
         [id_structures.rs](../../benches/src/id_structures.rs) says what the names stand for.\n\n\
         CPU time of one thread, {}, each measurement in a process of its own; everything is in the page cache. \
         *Absent* ids are the next ones of the sequence, *present* ids are in random order. They lie in memory one after the \
         other, in the order of the lookups, a million distinct ids. Slow peers look up only the first of them, as many as \
         time allows and at least 20,000: the column *asked*.\n\n| | |\n| --- | --- |\n",
        rounds(machine.rounds)
    );
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "| {name} | {value} |");
    };
    row("commit", &machine.commit);
    row("date", &machine.date);
    row("CPU", &format!("{}, {} cores", machine.cpu, machine.cores));
    row("memory", &machine.memory);
    row("kernel", &machine.kernel);
    row("compiler", &machine.rust);
    for (version, jvm) in &machine.jvms {
        row(&format!("Lucene {version}"), jvm);
    }
    row("load before and after", &format!("{}, {}", machine.load.0, machine.load.1));
    out.push_str("\n![Unknown ids](ids/absent.svg)\n\n![Existing ids](ids/present.svg)\n");
    for shape in medians.shapes() {
        table(&mut out, medians, shape);
    }
    out
}

fn table(out: &mut String, medians: &Medians, shape: Shape) {
    let against = WAYS.into_iter().find(|way| way.peer == AGAINST);
    let against = |work| medians.get(shape, work, against?);
    let _ = write!(
        out,
        "\n## {}\n\n| | absent: µs | ns a segment | times as fast as `lucene-10.5-trie` | present: µs | times | asked: thousands | bytes an id | build: ns an id |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        name(shape)
    );
    for way in WAYS {
        let (absent, present) = (medians.get(shape, "absent", way), medians.get(shape, "present", way));
        if absent.is_none() && present.is_none() {
            continue;
        }
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), figure);
        let times =
            |work, ours: Option<f64>| shown(against(work).zip(ours).map(|(theirs, ours)| theirs / ours));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            way.name,
            shown(absent.map(|ns| ns / 1e3)),
            shown(absent.map(|ns| ns / f64::from(shape.segments))),
            times("absent", absent),
            shown(present.map(|ns| ns / 1e3)),
            times("present", present),
            shown(medians.asked(shape, way)),
            shown(medians.bytes(shape, way)),
            shown(medians.get(shape, "build", Way { how: way.how.trim_end_matches(", bulks of 20"), ..way })),
        );
    }
}
