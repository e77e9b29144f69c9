//! Tables and a plot of rows.

use std::collections::BTreeSet;

use docvalues_benches::dot_plot::DotPlot;
use docvalues_benches::record::{Run, figure};

use super::grid::{Beside, Pace, Pages};
use super::rows::{Row, Work};
use crate::Outcome;

/// Adds a table for each number of segments, kind of ids, pace, and state of pages, such as `uuid-400-paced-warm`.
pub(crate) fn tables(rows: &[Row], run: &mut Run) {
    let mut shapes = Vec::new();
    for shape in rows.iter().filter_map(Row::shape) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    for shape in shapes {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.shape() == Some(shape)).collect();
        for (pages, state) in [(Pages::Warm, "warm"), (Pages::Cold, "cold")] {
            for (pace, speed) in [(Pace::Paced, "paced"), (Pace::Unpaced, "unpaced")] {
                let rows: Vec<&Row> =
                    rows.iter().copied().filter(|row| (row.pages, row.pace) == (pages, pace)).collect();
                if !rows.is_empty() {
                    run.table(&format!("{}-{}-{speed}-{state}", shape.kind, shape.segments), table(&rows));
                }
            }
        }
    }
}

/// A row for each structure: µs of CPU time a document beside each work, median, least and most; and the share of a core
/// and the wall time of bulks beside the last one.
fn table(rows: &[&Row]) -> Vec<Vec<String>> {
    let besides: BTreeSet<Beside> = rows.iter().map(|row| row.beside).collect();
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    let has_faults = rows.iter().any(|row| row.faults.is_some());
    let mut head = vec![String::new()];
    for work in ["new", "existing"] {
        head.extend(besides.iter().map(|beside| format!("{work}, {}: µs", name(*beside))));
        head.extend(["% of a core", "bulk p50, p99, max: µs"].map(str::to_owned));
        head.extend(has_faults.then(|| "faults".to_owned()));
    }
    head.extend(["opening: ms", "faults"].into_iter().filter(|_| has_faults).map(str::to_owned));
    let mut table = vec![head];
    for structure in &names {
        let of_structure: Vec<&Row> = rows.iter().copied().filter(|row| row.name() == *structure).collect();
        table.push(cells(structure, &of_structure, &besides, has_faults));
    }
    table
}

fn cells(structure: &str, rows: &[&Row], besides: &BTreeSet<Beside>, has_faults: bool) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figure);
    let mut cells = vec![format!("`{structure}`")];
    for work in [Work::Absent, Work::Present] {
        let found = |beside| rows.iter().find(|row| (row.beside, row.work) == (beside, work));
        for &beside in besides {
            cells.push(found(beside).map_or_else(
                || "–".to_owned(),
                |row| {
                    let [median, least, most] = row.cpu_us.map(figure);
                    format!("{median} ({least}–{most})")
                },
            ));
        }
        let last = besides.last().and_then(|&last| found(last));
        cells.push(shown(last.map(|row| row.percent_of_core)));
        cells.push(last.map_or_else(
            || "–".to_owned(),
            |row| [row.bulk_p50_us, row.bulk_p99_us, row.bulk_max_us].map(figure).join(", "),
        ));
        cells.extend(has_faults.then(|| shown(last.and_then(|row| row.faults))));
    }
    if has_faults {
        let row = rows.first();
        cells.extend([row.and_then(|row| row.open_ms), row.and_then(|row| row.open_faults)].map(shown));
    }
    cells
}

fn name(beside: Beside) -> &'static str {
    match beside {
        Beside::Nothing => "alone",
        Beside::Ingest => "beside ingest",
        Beside::Searches => "beside searches",
        Beside::Both => "beside both",
    }
}

/// µs a document of the first shape at the pace of the issue: new and existing ids, alone and beside everything.
pub(crate) fn plot(rows: &[Row]) -> Outcome<String> {
    let is_drawn = |row: &&Row| (row.pages, row.pace) == (Pages::Warm, Pace::Paced);
    let shape = rows.iter().find(is_drawn).and_then(Row::shape).ok_or("no warm paced rows to plot")?;
    let rows: Vec<&Row> = rows.iter().filter(is_drawn).filter(|row| row.shape() == Some(shape)).collect();
    let works = [("new ids", Work::Absent), ("existing ids", Work::Present)];
    let besides: BTreeSet<Beside> = rows.iter().map(|row| row.beside).collect();
    let ends = [besides.first(), besides.last().filter(|_| besides.len() > 1)];
    let cases: Vec<(Beside, (&str, Work))> =
        ends.into_iter().flatten().flat_map(|&beside| works.map(|work| (beside, work))).collect();
    let mut of_names: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for row in &rows {
        if of_names.iter().any(|(other, _)| *other == row.name()) {
            continue;
        }
        let value = |&(beside, (_, work)): &(Beside, (&str, Work))| {
            let found = rows
                .iter()
                .find(|other| other.name() == row.name() && (other.beside, other.work) == (beside, work));
            found.map(|row| row.cpu_us[0])
        };
        of_names.push((row.name(), cases.iter().map(value).collect()));
    }
    let plot = DotPlot {
        title: format!(
            "{}, {} segments × {} ids, 32 bulks of 20 a second",
            shape.kind, shape.segments, shape.each
        ),
        scale: "µs of CPU time a document".to_owned(),
        cases: cases.iter().map(|(beside, (work, _))| format!("{work}, {}", name(*beside))).collect(),
        rows: of_names,
    };
    plot.draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(structure: &str, beside: Beside, work: Work, cpu: f64) -> Row {
        Row {
            structure: structure.to_owned(),
            jdk: None,
            ids: "uuid".to_owned(),
            segments: 400,
            each: 2_500,
            pages: Pages::Warm,
            pace: Pace::Paced,
            beside,
            work,
            cpu_us: [cpu, cpu / 2.0, cpu * 2.0],
            percent_of_core: cpu / 16.0,
            bulk_p50_us: 1.0,
            bulk_p99_us: 2.0,
            bulk_max_us: 3.0,
            faults: None,
            open_ms: None,
            open_faults: None,
            documents: 20,
            ingested_a_second: None,
            streamed_mib_a_second: None,
        }
    }

    #[test]
    fn rows_become_a_table_and_a_plot() {
        let rows = vec![
            row("ours-fst", Beside::Nothing, Work::Absent, 40.0),
            row("ours-trie", Beside::Nothing, Work::Absent, 50.0),
            row("ours-fst", Beside::Both, Work::Absent, 60.0),
            row("ours-fst", Beside::Both, Work::Present, 0.5),
        ];
        let mut run = Run::new("command", "1 round");
        tables(&rows, &mut run);
        let text = run.markdown();
        let expected = "| `ours-fst` | 40.0 (20.0–80.0) | 60.0 (30.0–120) | 3.75 | 1.00, 2.00, 3.00 | – | 0.500 \
                        (0.250–1.00) | 0.0312 | 1.00, 2.00, 3.00 |";
        assert!(text.contains(expected) && text.contains("uuid-400-paced-warm"), "{text}");
        let plot = plot(&rows).unwrap();
        assert!(
            ["ours-fst", "ours-trie", "new ids, alone", "existing ids, beside both"]
                .iter()
                .all(|text| plot.contains(text))
        );
    }
}
