//! Writes `workloads.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Line, ROWS, Row, SORTED, TOP, Task};
use crate::machine::Machine;
use crate::plot::{self, Mark};
use crate::report::{self, figure};

/// The peers in the order of the tables. docvalues is compared with the two after it.
const PEERS: [(&str, &str); 4] = [
    ("docvalues", "docvalues"),
    ("lucene-10.5.0", "Lucene 10.5"),
    ("tantivy", "tantivy-columnar"),
    ("lucene-7.7.3", "Lucene 7.7"),
];

/// The variants of docvalues.
const VARIANTS: [(&str, &str); 2] =
    [("docvalues-avx2", "docvalues, AVX2"), ("docvalues-any", "docvalues, any")];

/// An API with its median CPU and wall time in milliseconds.
struct Api {
    api: String,
    cpu: f64,
    wall: f64,
}

/// Medians over the rounds by row and peer, the fastest API first.
struct Medians(BTreeMap<(Row, String), Vec<Api>>);

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
            let way = |(api, lines): (&str, Vec<&Line>)| Api {
                api: api.to_owned(),
                cpu: median(&lines, |line| line.ns_cpu),
                wall: median(&lines, |line| line.ns_wall),
            };
            let mut ways: Vec<Api> = ways.into_iter().map(way).collect();
            ways.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
            ways
        };
        Medians(all.into_iter().map(|(key, lines)| (key, ways(lines))).collect())
    }

    fn ways(&self, row: Row, peer: &str) -> &[Api] {
        self.0.get(&(row, peer.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The time of the fastest API.
    fn get(&self, row: Row, peer: &str) -> Option<f64> {
        Some(self.ways(row, peer).first()?.cpu)
    }

    /// The time of the faster of the two peers that docvalues is compared with.
    fn better(&self, row: Row) -> Option<f64> {
        PEERS[1..3].iter().filter_map(|peer| self.get(row, peer.0)).reduce(f64::min)
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        Row::ALL.iter().copied().filter(|&row| PEERS.iter().any(|peer| self.get(row, peer.0).is_some()))
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

/// Writes the report and its plot into `folder`; returns the report's path.
pub fn write(machine: &Machine, lines: &[Line], folder: &Path) -> io::Result<PathBuf> {
    let medians = Medians::new(lines);
    fs::create_dir_all(folder.join("workloads"))?;
    fs::write(folder.join("workloads/workloads.svg"), plot_of(&medians))?;
    let path = folder.join("workloads.md");
    fs::write(&path, text(machine, &medians, lines))?;
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

fn text(machine: &Machine, medians: &Medians, lines: &[Line]) -> String {
    let mut out = String::new();
    head(&mut out, machine, lines);
    out.push_str("\n![Workloads](workloads/workloads.svg)\n");
    table(&mut out, medians);
    without_avx512(&mut out, medians);
    singly(&mut out, medians);
    ways(&mut out, medians);
    out
}

fn head(out: &mut String, machine: &Machine, lines: &[Line]) {
    let _ = write!(
        out,
        "# Workloads of a search engine\n\n\
         [`benches/peers/run workloads`](../../benches/peers/README.md) wrote this page: facets, top-k, groups, ranges and \
         exports over one segment with the columns `ts`, `size`, `uni24`, `host` and `url`, in every peer. All peers return \
         the same answers in the same order. docvalues runs general requests of `docvalues::search`; the peers run loops \
         written by hand for the workload, over their batches and iterators. If a peer has several APIs for a workload, the \
         fastest counts.\n\n\
         {}; CPU time of one thread, each measurement in a process of its own; everything is in the page cache. Absolute \
         times depend on the machine and its load; rely on the ratios.\n\n| | |\n| --- | --- |\n",
        machine.measured()
    );
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "| {name} | {value} |");
    };
    row("documents", &figure(machine.docs.into()));
    row("commit", &machine.commit);
    row("date", &machine.date);
    row("CPU", &format!("{}, {} cores", machine.cpu, machine.cores));
    row("memory", &machine.memory);
    row("kernel", &machine.kernel);
    row("compiler", &machine.rust);
    for (version, jvm) in &machine.jvms {
        row(&format!("Lucene {version}"), jvm);
    }
    if let Some(line) = lines.iter().find(|line| line.peer == "tantivy") {
        row("tantivy-columnar", &line.version);
    }
    row("load before and after", &format!("{}, {}", machine.load.0, machine.load.1));
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), figure)
}

/// A peer's time divided by that of docvalues, in bold if docvalues loses.
fn times(ours: Option<f64>, theirs: Option<f64>) -> String {
    report::times(ours.zip(theirs).map(|(ours, theirs)| theirs / ours))
}

fn table(out: &mut String, medians: &Medians) {
    let _ = write!(
        out,
        "\n## Fastest API of each peer\n\n\
         *Facet*: the {TOP} most frequent of 99,997 hosts (in 10 million documents), with their names. *Top*: the {SORTED} \
         largest documents. *Group*: the {TOP} hosts with the largest sum of sizes. Each among 1, 10 and 100 % of the \
         documents, given as a list, or as all. *Range*: the number of documents in a range that matches 1 %; `ts` nearly \
         ascends, `size` is skewed and constant in places, `uni24` is uniform. *Export*: `url`, `host`, `ts` and `size` of \
         {} random documents, row by row in the order of the request; every string is read.\n\n\
         *Times as fast* compares with the faster of Lucene 10.5 and tantivy. **Bold: docvalues loses.**\n\n\
         | workload | docvalues, ms | times as fast | Lucene 10.5, ms | tantivy, ms | Lucene 7.7, ms |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
        figure(ROWS as f64)
    );
    for row in medians.rows() {
        let [ours, lucene, tantivy, old] = PEERS.map(|peer| medians.get(row, peer.0));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            name(row),
            shown(ours),
            times(ours, medians.better(row)),
            shown(lucene),
            shown(tantivy),
            shown(old)
        );
    }
}

/// The variants of docvalues compared with the faster of Lucene 10.5 and tantivy.
fn without_avx512(out: &mut String, medians: &Medians) {
    let measured = |row: &Row| VARIANTS.iter().any(|(peer, _)| medians.get(*row, peer).is_some());
    let rows: Vec<Row> = medians.rows().filter(measured).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str(
        "\n## Without AVX-512\n\n\
         The same segment, read with AVX2 kernels (`AVX2`) and with portable kernels only (`any`).\n\n\
         | workload | docvalues, ms | docvalues, AVX2, ms | times as fast | docvalues, any, ms | times as fast |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let _ = write!(out, "| {} | {} |", name(row), shown(medians.get(row, PEERS[0].0)));
        for (peer, _) in VARIANTS {
            let figure = medians.get(row, peer);
            let _ = write!(out, " {} | {} |", shown(figure), times(figure, medians.better(row)));
        }
        out.push('\n');
    }
}

/// The export of an engine that reads one document after the other.
fn singly(out: &mut String, medians: &Medians) {
    let rows: Vec<Row> = medians.rows().filter(|row| matches!(row.task(), Task::Export { .. })).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str(
        "\n## Exports, row by row\n\n\
         The peers are fastest if they read column by column, in document and dictionary order, and then scatter the values \
         to their rows; an engine has to be built for that. Otherwise it reads one document after the other; in Lucene, a \
         step back needs new iterators.\n\n\
         | workload | docvalues, ms | Lucene 10.5, ms | times | tantivy, ms | times | Lucene 7.7, ms | times |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let ours = medians.get(row, "docvalues");
        let _ = write!(out, "| {} | {} |", name(row), shown(ours));
        for (peer, _) in &PEERS[1..] {
            let way = medians.ways(row, peer).iter().find(|way| way.api == "one by one");
            let theirs = way.map(|way| way.cpu);
            let _ = write!(out, " {} | {} |", shown(theirs), times(ours, theirs));
        }
        out.push('\n');
    }
}

fn ways(out: &mut String, medians: &Medians) {
    out.push_str(
        "\n## All APIs\n\n<details><summary>All measurements</summary>\n\n\
         | workload | peer | API | CPU, ms | wall time, ms |\n| --- | --- | --- | ---: | ---: |\n",
    );
    for row in medians.rows() {
        for (peer, called) in PEERS.into_iter().chain(VARIANTS) {
            for way in medians.ways(row, peer) {
                let (cpu, wall) = (figure(way.cpu), figure(way.wall));
                let _ = writeln!(out, "| {} | {called} | {} | {cpu} | {wall} |", name(row), way.api);
            }
        }
    }
    out.push_str("\n</details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_bold() {
        assert_eq!(times(Some(2.0), Some(1.0)), "**0.500**");
        assert_eq!(times(Some(1.0), Some(2.0)), "2.00");
        assert_eq!(times(None, Some(2.0)), "–");
    }

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
