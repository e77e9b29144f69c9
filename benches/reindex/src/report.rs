//! Tables of the record in Markdown, the waits from which on an update is cheaper, and plots.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use docvalues_benches::line_plot::{LinePlot, Scale};

use crate::record::{Figures, Record, Shape, Way, What};

/// The number of segments that plots and the table of costs show, if there is one.
const SEGMENTS: u32 = 6;

/// The cells of a number of documents, each of whose cycles changes so many.
struct Grid<'a> {
    record: &'a Record,
    docs: u32,
    changed: u32,
    sides: Vec<&'a str>,
    shapes: BTreeSet<Shape>,
    waits: Vec<f64>,
}

impl<'a> Grid<'a> {
    /// The grids of a record.
    fn of(record: &'a Record) -> Vec<Grid<'a>> {
        let sizes: BTreeSet<_> =
            record.cells().map(|(line, task, _)| (line.shape.docs, task.changed)).collect();
        let grid = |(docs, changed)| {
            let cells = || record.cells().filter(move |(line, ..)| line.shape.docs == docs);
            let mut waits: Vec<f64> = cells().filter_map(|(_, task, _)| wait(task.way)).collect();
            waits.sort_by(f64::total_cmp);
            waits.dedup();
            let mut sides: Vec<&str> = cells().map(|(line, ..)| line.side.as_str()).collect();
            // docvalues is the first.
            sides.sort_by_key(|side| (*side != "docvalues", *side));
            sides.dedup();
            let shapes = cells().map(|(line, ..)| line.shape).collect();
            Grid { record, docs, changed, sides, shapes, waits }
        };
        sizes.into_iter().map(grid).collect()
    }

    fn figures(&self, side: &str, shape: Shape, way: Way) -> Option<&'a Figures> {
        self.record.figures(side, shape, way, self.changed)
    }

    fn reindexed(&self, side: &str, shape: Shape, wait_ms: f64) -> Option<f64> {
        Some(self.figures(side, shape, Way::Reindex { wait_ms })?.ms)
    }
}

/// The wait of a way that has one.
fn wait(way: Way) -> Option<f64> {
    match way {
        Way::Update => None,
        Way::Reindex { wait_ms } => Some(wait_ms),
    }
}

/// All tables.
pub fn tables(record: &Record) -> String {
    let mut out = String::new();
    for grid in Grid::of(record) {
        out += &format!("\n### {} documents, {} changed a cycle\n\n", grid.docs, grid.changed);
        out += &about(record, grid.docs);
        out += &times(&grid);
        out += &costs(&grid);
    }
    out + &builds(record)
}

/// The machine, and the commits that measured.
fn about(record: &Record, docs: u32) -> String {
    let lines = || record.lines.iter().filter(move |line| line.shape.docs == docs);
    let commits: BTreeSet<_> = lines().map(|line| format!("`{}`", line.commit)).collect();
    let cpus: BTreeSet<_> = lines().map(|line| line.cpu.as_str()).collect();
    let cycles: BTreeSet<_> =
        record.cells().filter(|cell| cell.0.shape.docs == docs).map(|cell| cell.1.cycles).collect();
    let list = |items: Vec<String>| items.join(", ");
    format!(
        "{}; commit {}; cycles a cell: {}.\n\n",
        list(cpus.into_iter().map(str::to_owned).collect()),
        list(commits.into_iter().collect()),
        list(cycles.into_iter().map(|cycles| cycles.to_string()).collect()),
    )
}

/// Elapsed milliseconds a changed document, and where an update becomes cheaper.
fn times(grid: &Grid<'_>) -> String {
    let waits: Vec<String> = grid.waits.iter().map(|wait| format!("reindex, {wait} ms")).collect();
    let mut out = format!("| words | segments | side | update | {} | cheaper from |\n", waits.join(" | "));
    out += &format!("| ---: | ---: | --- | ---: |{}\n", " ---: |".repeat(waits.len() + 1));
    for &shape in &grid.shapes {
        for side in &grid.sides {
            let Some(update) = grid.figures(side, shape, Way::Update) else { continue };
            let reindexed: Vec<_> =
                grid.waits.iter().map(|wait| grid.reindexed(side, shape, *wait)).collect();
            let cells: Vec<String> = reindexed.iter().map(|ms| ms.map_or(String::new(), number)).collect();
            let points: Vec<_> =
                grid.waits.iter().zip(reindexed).filter_map(|(wait, ms)| Some((*wait, ms?))).collect();
            let cells = [words(shape), shape.segments.to_string(), name(side), number(update.ms)]
                .into_iter()
                .chain(cells)
                .chain([crossover(update.ms, &points)]);
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | ")).expect("memory");
        }
    }
    out
}

/// The wait from which on an update is cheaper, interpolated between the waits that were measured.
fn crossover(update: f64, points: &[(f64, f64)]) -> String {
    let Some(at) = points.iter().position(|(_, reindexed)| *reindexed > update) else {
        return points.last().map_or(String::new(), |(wait, _)| format!("> {wait} ms"));
    };
    if at == 0 {
        return format!("{} ms", points[0].0);
    }
    let [(wait, ms), (next_wait, next)] = [points[at - 1], points[at]];
    format!("{} ms", number(wait + (update - ms) / (next - ms) * (next_wait - wait)))
}

/// CPU time, refreshes, queries and bytes, without a wait.
fn costs(grid: &Grid<'_>) -> String {
    let mut out = "\n| words | side | way | ms | CPU ms | longest | refresh ms | query ms | bytes | commit ms | its KB |\n".to_owned();
    out += &format!("| ---: | --- | --- |{}\n", " ---: |".repeat(8));
    for shape in shown(grid) {
        for side in &grid.sides {
            for (way, verb) in [(Way::Update, "update"), (Way::Reindex { wait_ms: 0.0 }, "reindex")] {
                let Some(of) = grid.figures(side, shape, way) else { continue };
                let cells = [of.ms, of.cpu_ms, of.longest_ms, of.refresh_ms, of.query_ms].map(number);
                writeln!(
                    out,
                    "| {} | {} | {verb} | {} | {:.0} | {:.1} | {:.0} |",
                    words(shape),
                    name(side),
                    cells.join(" | "),
                    of.written,
                    of.commit_ms,
                    of.commit_written / 1024.0
                )
                .expect("memory");
            }
        }
    }
    out
}

/// The shapes that plots and the table of costs show.
fn shown(grid: &Grid<'_>) -> Vec<Shape> {
    let has = grid.shapes.iter().any(|shape| shape.segments == SEGMENTS);
    grid.shapes.iter().copied().filter(|shape| !has || shape.segments == SEGMENTS).collect()
}

/// The time to build each index.
fn builds(record: &Record) -> String {
    let mut out =
        "\n### Builds\n\n| documents | words | segments | side | s | CPU s | MB | MB of text | its MB/s |\n"
            .to_owned();
    out += "| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n";
    for line in &record.lines {
        if let What::Built(built) = &line.what {
            let Shape { docs, segments, .. } = line.shape;
            let [bytes, text] = [built.bytes, built.text_bytes].map(|bytes| bytes as f64 / 1e6);
            writeln!(
                out,
                "| {docs} | {} | {segments} | {} | {:.1} | {:.1} | {bytes:.0} | {text:.0} | {:.1} |",
                words(line.shape),
                name(&line.side),
                built.seconds,
                built.cpu_seconds,
                text / built.seconds
            )
            .expect("memory");
        }
    }
    out
}

fn words(shape: Shape) -> String {
    if shape.words == 0 { "0".to_owned() } else { format!("20-{}", shape.words) }
}

fn name(side: &str) -> String {
    if side == "docvalues" { "docvalues and tantivy".to_owned() } else { format!("Lucene {side}") }
}

/// Three digits or so.
fn number(ms: f64) -> String {
    match ms {
        10.0.. => format!("{ms:.1}"),
        1.0.. => format!("{ms:.2}"),
        0.1.. => format!("{ms:.3}"),
        _ => format!("{ms:.4}"),
    }
}

/// Draws milliseconds a document by wait, for each number of documents and words.
pub fn draw(record: &Record, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for grid in Grid::of(record) {
        for shape in shown(&grid) {
            let mut lines = Vec::new();
            for side in &grid.sides {
                let update = grid.figures(side, shape, Way::Update).map(|figures| figures.ms);
                let reindexed = (0..)
                    .zip(&grid.waits)
                    .filter_map(|(at, wait)| Some((f64::from(at), grid.reindexed(side, shape, *wait)?)));
                let reindexed: Vec<_> = reindexed.collect();
                lines.extend(update.map(|ms| {
                    (format!("{}, update", name(side)), reindexed.iter().map(|(at, _)| (*at, ms)).collect())
                }));
                lines.push((format!("{}, reindex", name(side)), reindexed));
            }
            let Shape { docs, segments, .. } = shape;
            let title = format!("{docs} documents of {} words, {segments} segments", words(shape));
            let scales = ["milliseconds to fetch a document", "milliseconds a changed document"];
            let horizontal = Scale::Names(grid.waits.iter().map(f64::to_string).collect());
            let svg = LinePlot { title, scales, horizontal, lines }.draw().expect("points");
            let path = folder.join(format!("reindex-{docs}-{}-{segments}.svg", shape.words));
            std::fs::write(path, svg).expect("a disk with room");
        }
    }
}
