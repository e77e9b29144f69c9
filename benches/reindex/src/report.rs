//! Tables of the record, the waits from which on an update is cheaper, and plots.

use std::collections::BTreeSet;
use std::path::Path;

use docvalues_benches::line_plot::{LinePlot, Scale};
use docvalues_benches::record::{Run, figure};

use crate::record::{Figures, Line, Record, Shape, Task, Way, What};

/// The number of segments that plots and the table of costs show, if there is one.
const SEGMENTS: u32 = 6;

/// The end of the names of sides whose small new files stay in memory, as with Lucene's `NRTCachingDirectory`.
const CACHED: &str = "-nrt";

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
            let cells = || {
                record
                    .cells()
                    .filter(move |(line, task, _)| (line.shape.docs, task.changed) == (docs, changed))
            };
            let mut waits: Vec<f64> = cells().filter_map(|(_, task, _)| wait(task.way)).collect();
            waits.sort_by(f64::total_cmp);
            waits.dedup();
            let mut sides: Vec<&str> = cells().map(|(line, ..)| line.side.as_str()).collect();
            // docvalues is the first.
            sides.sort_by_key(|side| (!side.starts_with("docvalues"), *side));
            sides.dedup();
            let shapes = cells().map(|(line, ..)| line.shape).collect();
            Grid { record, docs, changed, sides, shapes, waits }
        };
        sizes.into_iter().map(grid).collect()
    }

    fn cell(&self, side: &str, shape: Shape, way: Way) -> Option<(Task, &'a Figures)> {
        self.record.cell(side, shape, way, self.changed)
    }

    fn figures(&self, side: &str, shape: Shape, way: Way) -> Option<&'a Figures> {
        Some(self.cell(side, shape, way)?.1)
    }

    fn reindexed(&self, side: &str, shape: Shape, wait_ms: f64) -> Option<f64> {
        Some(self.figures(side, shape, Way::Reindex { wait_ms })?.ms)
    }

    /// The least and the most milliseconds of a cell.
    fn range(&self, side: &str, shape: Shape, way: Way) -> Option<(f64, f64)> {
        let measured = self.record.measured(side, shape, way, self.changed);
        Some((measured.first()?.1.ms, measured.last()?.1.ms))
    }

    /// The median of a cell, and what it lies between if it was measured several times.
    fn shown(&self, side: &str, shape: Shape, way: Way) -> String {
        let (Some(of), Some((least, most))) = (self.figures(side, shape, way), self.range(side, shape, way))
        else {
            return "–".to_owned();
        };
        let several = least < most;
        let range = several.then(|| format!(" ({}–{})", figure(least), figure(most)));
        figure(of.ms) + &range.unwrap_or_default()
    }

    /// Whether measurements of an update and of reindexing without a wait overlap.
    fn is_even(&self, side: &str, shape: Shape) -> bool {
        let [update, reindexed] =
            [Way::Update, Way::Reindex { wait_ms: 0.0 }].map(|way| self.range(side, shape, way));
        update.zip(reindexed).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
    }
}

/// The wait of a way that has one.
fn wait(way: Way) -> Option<f64> {
    match way {
        Way::Update => None,
        Way::Reindex { wait_ms } => Some(wait_ms),
    }
}

/// All tables: for each number of documents the times and the costs, and the builds.
pub fn tables(record: &Record) -> Run {
    let distinct = |of: fn(&Line) -> &str| {
        let found: BTreeSet<&str> = record.lines.iter().map(of).collect();
        found.into_iter().collect::<Vec<_>>().join("`, `")
    };
    let cycles: BTreeSet<u32> = record.cells().map(|(_, task, _)| task.cycles).collect();
    let cycles: Vec<String> = cycles.iter().map(u32::to_string).collect();
    let command = "cargo run --release --manifest-path benches/reindex/Cargo.toml -- report";
    let most = record
        .cells()
        .map(|(line, task, _)| record.measured(&line.side, line.shape, task.way, task.changed).len())
        .max();
    let medians =
        most.filter(|most| *most > 1).map_or(String::new(), |most| format!("medians of up to {most} "));
    let mut run = Run::new(command, &format!("{medians}averages of {} cycles", cycles.join(" or ")))
        .at(&distinct(|line| &line.commit));
    for grid in Grid::of(record) {
        let name = |kind: &str| format!("{}-{}-{kind}", grid.docs, grid.changed);
        let (cached, others): (Vec<&str>, Vec<&str>) =
            grid.sides.iter().partition(|side| side.ends_with(CACHED));
        for (kind, sides) in [("times", others), ("times-nrt", cached)] {
            if !sides.is_empty() {
                run.table(&name(kind), times(&grid, &sides));
            }
        }
        run.table(&name("costs"), costs(&grid));
    }
    run.table("builds", builds(record));
    run
}

/// Elapsed milliseconds a changed document without a wait, and where an update becomes cheaper.
fn times(grid: &Grid<'_>, sides: &[&str]) -> Vec<Vec<String>> {
    let mut head = vec!["words, segments".to_owned()];
    for side in sides {
        let columns =
            [format!("{}: update, ms", name(side)), "reindex".to_owned(), "cheaper from".to_owned()];
        head.extend(columns);
    }
    let mut table = vec![head];
    for &shape in &grid.shapes {
        if sides.iter().all(|side| grid.cell(side, shape, Way::Update).is_none()) {
            continue;
        }
        let mut row = vec![format!("{}, {}", words(shape), shape.segments)];
        for side in sides {
            let update = grid.figures(side, shape, Way::Update).map(|figures| figures.ms);
            let reindexed =
                grid.waits.iter().filter_map(|&wait| Some((wait, grid.reindexed(side, shape, wait)?)));
            let reindexed: Vec<(f64, f64)> = reindexed.collect();
            let first = Way::Reindex { wait_ms: reindexed.first().map_or(0.0, |point| point.0) };
            row.extend([Way::Update, first].map(|way| grid.shown(side, shape, way)));
            row.push(match update {
                Some(_) if grid.is_even(side, shape) => "even".to_owned(),
                Some(update) => crossover(update, &reindexed),
                None => "–".to_owned(),
            });
        }
        table.push(row);
    }
    table
}

/// The wait from which on an update is cheaper, interpolated between the waits that were measured.
fn crossover(update: f64, points: &[(f64, f64)]) -> String {
    let Some(at) = points.iter().position(|(_, reindexed)| *reindexed > update) else {
        let last = points.last().filter(|(wait, _)| *wait > 0.0);
        return last.map_or("–".to_owned(), |(wait, _)| format!("> {wait} ms"));
    };
    if at == 0 {
        return if points[0].0 > 0.0 { format!("≤ {} ms", points[0].0) } else { "always".to_owned() };
    }
    let [(wait, ms), (next_wait, next)] = [points[at - 1], points[at]];
    format!("{} ms", figure(wait + (update - ms) / (next - ms) * (next_wait - wait)))
}

/// A changed document without a wait: time, CPU time, bytes that are written, and its share of a commit after all cycles.
fn costs(grid: &Grid<'_>) -> Vec<Vec<String>> {
    let head = [
        "words, side, way",
        "ms",
        "CPU ms",
        "longest",
        "a refresh, ms",
        "a query, ms",
        "bytes",
        "commit, ms",
        "bytes",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for shape in shown(grid) {
        for side in &grid.sides {
            for (way, verb) in [(Way::Update, "update"), (Way::Reindex { wait_ms: 0.0 }, "reindex")] {
                let Some((task, of)) = grid.cell(side, shape, way) else { continue };
                let mut row = vec![format!("{}, {}, {verb}", words(shape), name(side))];
                row.extend([of.ms, of.cpu_ms, of.longest_ms, of.refresh_ms, of.query_ms].map(figure));
                let all = f64::from(task.changed) * f64::from(task.cycles);
                row.extend([of.written, of.commit_ms / all, of.commit_written / all].map(figure));
                table.push(row);
            }
        }
    }
    table
}

/// The shapes that plots and the table of costs show.
fn shown(grid: &Grid<'_>) -> Vec<Shape> {
    let has = grid.shapes.iter().any(|shape| shape.segments == SEGMENTS);
    grid.shapes.iter().copied().filter(|shape| !has || shape.segments == SEGMENTS).collect()
}

/// The time to build each index.
fn builds(record: &Record) -> Vec<Vec<String>> {
    let head = ["documents, words, segments, side", "s", "CPU s", "MB", "MB of text"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for line in &record.lines {
        if let What::Built(built) = &line.what {
            let Shape { docs, segments, .. } = line.shape;
            let mut row = vec![format!("{docs}, {}, {segments}, {}", words(line.shape), name(&line.side))];
            let [bytes, text] = [built.bytes, built.text_bytes].map(|bytes| bytes as f64 / 1e6);
            row.extend([built.seconds, built.cpu_seconds, bytes, text].map(figure));
            table.push(row);
        }
    }
    table
}

fn words(shape: Shape) -> String {
    if shape.words == 0 { "none".to_owned() } else { format!("20 to {}", shape.words) }
}

fn name(side: &str) -> String {
    match side.strip_prefix("docvalues") {
        Some(end) => format!("docvalues and tantivy{end}"),
        None => format!("Lucene {side}"),
    }
}

/// Draws milliseconds a document by wait, for each number of documents and words.
pub fn draw(record: &Record, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for grid in Grid::of(record) {
        // A line needs two points.
        for shape in shown(&grid).into_iter().filter(|_| grid.waits.len() > 1) {
            let mut lines = Vec::new();
            // Directories that cache were measured with one wait.
            for side in grid.sides.iter().filter(|side| !side.ends_with(CACHED)) {
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
            if lines.is_empty() {
                continue;
            }
            let Shape { docs, segments, .. } = shape;
            let title = format!("{docs} documents of {} words, {segments} segments", words(shape));
            let scales = ["milliseconds to fetch a document", "milliseconds a changed document"];
            let horizontal = Scale::Names(grid.waits.iter().map(f64::to_string).collect());
            let svg = LinePlot { title, scales, horizontal, lines }.draw().expect("points");
            let path = folder.join(format!("reindex-{docs}-{}-{segments}-{}.svg", shape.words, grid.changed));
            std::fs::write(path, svg).expect("a disk with room");
        }
    }
}
