//! Tables and a plot of a record.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use docvalues_benches::dot_plot::DotPlot;
use docvalues_benches::record::Record;

use super::grid::{Beside, Pace, Pages};
use super::misses;
use super::rows::{Row, Work};
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A record of `ids ingest --json` or `ids misses --json`
    record: PathBuf,
    /// Replace the text between `<!-- ids ingest -->`, or `<!-- ids misses -->`, and `<!-- end -->` in a page, instead of
    /// printing
    #[arg(long, value_name = "PAGE")]
    page: Option<PathBuf>,
    /// Write a plot of the first shape at the pace of the issue
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let (marker, text) = match Record::<misses::Row>::read(&arguments.record) {
        Ok(record) => ("<!-- ids misses -->\n", misses::table(&record)),
        Err(_) => ("<!-- ids ingest -->\n", tables(&Record::read(&arguments.record)?)),
    };
    match &arguments.page {
        Some(path) => std::fs::write(path, replaced(&std::fs::read_to_string(path)?, marker, &text)?)?,
        None => print!("{text}"),
    }
    if let Some(path) = &arguments.plot {
        std::fs::write(path, plot(&Record::read(&arguments.record)?)?)?;
    }
    Ok(())
}

/// The page with other text after a marker.
fn replaced(page: &str, marker: &str, text: &str) -> Result<String, String> {
    let missing = |marker: &str| format!("the page has no `{}`", marker.trim());
    let (before, rest) = page.split_once(marker).ok_or_else(|| missing(marker))?;
    let (_, after) = rest.split_once("<!-- end -->").ok_or_else(|| missing("<!-- end -->"))?;
    Ok(format!("{before}{marker}{text}<!-- end -->{after}"))
}

/// One table for each number of segments and kind of ids, and one for cold pages.
pub(crate) fn tables(record: &Record<Row>) -> String {
    let mut out = format!("{}\n", record.origin());
    let mut shapes = Vec::new();
    for shape in record.rows.iter().filter_map(Row::shape) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    for shape in shapes {
        let of_shape = |row: &&Row| row.shape() == Some(shape);
        let rows: Vec<&Row> = record.rows.iter().filter(of_shape).collect();
        for (pages, pace) in [
            (Pages::Warm, Pace::Paced),
            (Pages::Warm, Pace::Unpaced),
            (Pages::Cold, Pace::Paced),
            (Pages::Cold, Pace::Unpaced),
        ] {
            let rows = rows.iter().copied().filter(|row| (row.pages, row.pace) == (pages, pace)).collect();
            let pace = if pace == Pace::Paced { "32 bulks a second" } else { "as fast as it goes" };
            let cold = if pages == Pages::Cold { ", cold" } else { "" };
            let heading = format!("{}, {} × {}, {pace}{cold}", shape.kind, shape.segments, shape.each);
            table(&mut out, &heading, rows);
        }
    }
    out
}

/// A row for each structure: what a document costs beside each work, and the tail beside the last one.
fn table(out: &mut String, heading: &str, rows: Vec<&Row>) {
    let besides: BTreeSet<Beside> = rows.iter().map(|row| row.beside).collect();
    let Some(&last) = besides.last() else { return };
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    let has_faults = rows.iter().any(|row| row.faults.is_some());
    let beside = name(last);
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figure);
    let _ = write!(out, "\n**{heading}**: µs of CPU time a document, least and most of the rounds\n\n| |");
    for work in ["absent", "present"] {
        out.extend(besides.iter().map(|beside| format!(" {work}, {} |", name(*beside))));
        let _ = write!(out, " % of a core | bulk p50, p99, max: µs |");
        out.push_str(if has_faults { " faults |" } else { "" });
    }
    out.push_str(if has_faults { " opening: ms | faults |" } else { "" });
    let columns = 2 * (besides.len() + 2 + 2 * usize::from(has_faults));
    let _ = writeln!(out, "\n| --- |{}", " ---: |".repeat(columns));
    for structure in &names {
        let _ = write!(out, "| `{structure}` |");
        for work in [Work::Absent, Work::Present] {
            let found = |beside| {
                rows.iter().find(|row| row.name() == *structure && (row.beside, row.work) == (beside, work))
            };
            for &beside in &besides {
                match found(beside) {
                    Some(row) => {
                        let [median, least, most] = row.cpu_us.map(figure);
                        let _ = write!(out, " {median} ({least}–{most}) |");
                    }
                    None => out.push_str(" – |"),
                }
            }
            match found(last) {
                Some(row) => {
                    let bulk = [row.bulk_p50_us, row.bulk_p99_us, row.bulk_max_us].map(figure).join(", ");
                    let _ = write!(out, " {} | {bulk} |", figure(row.percent_of_core));
                }
                None => out.push_str(" – | – |"),
            }
            if has_faults {
                let _ = write!(out, " {} |", shown(found(last).and_then(|row| row.faults)));
            }
        }
        if has_faults {
            let row = rows.iter().find(|row| row.name() == *structure);
            let [ms, faults] =
                [row.and_then(|row| row.open_ms), row.and_then(|row| row.open_faults)].map(shown);
            let _ = write!(out, " {ms} | {faults} |");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "\nShare of a core (at 640 documents a second) and bulks: {beside}.");
}

fn name(beside: Beside) -> &'static str {
    match beside {
        Beside::Nothing => "alone",
        Beside::Ingest => "beside ingest",
        Beside::Searches => "beside searches",
        Beside::Both => "beside both",
    }
}

/// Three digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// µs a document of the first shape at the pace of the issue: new and existing ids, alone and beside everything.
pub(crate) fn plot(record: &Record<Row>) -> Outcome<String> {
    let is_drawn = |row: &&Row| (row.pages, row.pace) == (Pages::Warm, Pace::Paced);
    let shape = record.rows.iter().find(is_drawn).and_then(Row::shape).ok_or("no warm paced rows to plot")?;
    let rows: Vec<&Row> =
        record.rows.iter().filter(is_drawn).filter(|row| row.shape() == Some(shape)).collect();
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
    fn a_record_becomes_a_table_a_plot_and_a_part_of_a_page() {
        let rows = vec![
            row("ours-fst", Beside::Nothing, Work::Absent, 40.0),
            row("ours-trie", Beside::Nothing, Work::Absent, 50.0),
            row("ours-fst", Beside::Both, Work::Absent, 60.0),
            row("ours-fst", Beside::Both, Work::Present, 0.5),
        ];
        let record = Record::new(3, rows);
        let tables = tables(&record);
        let expected = "| `ours-fst` | 40.0 (20.0–80.0) | 60.0 (30.0–120) | 3.75 | 1.00, 2.00, 3.00 | – | 0.500 \
                        (0.250–1.00) | 0.031 | 1.00, 2.00, 3.00 |";
        assert!(tables.contains(expected), "{tables}");
        assert!(tables.contains("**uuid, 400 × 2500, 32 bulks a second**"), "{tables}");
        let marker = "<!-- ids ingest -->\n";
        let page = replaced("a\n<!-- ids ingest -->\nold\n<!-- end -->\nb\n", marker, &tables).unwrap();
        assert_eq!(page, format!("a\n<!-- ids ingest -->\n{tables}<!-- end -->\nb\n"));
        assert!(replaced("a", marker, &tables).is_err());
        let plot = plot(&record).unwrap();
        assert!(
            ["ours-fst", "ours-trie", "new ids, alone", "existing ids, beside both"]
                .iter()
                .all(|text| plot.contains(text))
        );
    }
}
