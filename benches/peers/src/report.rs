//! Writes `benchmarks/peers.json`, the record of all measurements, and the plots of docs/benchmarks-peers.md.

mod about;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::machine::Machine;
use crate::plot;
use crate::record::{self, Calls};
use crate::results::Results;
use crate::task::{Column, Workload};
use about::{FILES, ORDER, READING, title_of};

/// The comparisons of the summary: a variant of docvalues, the peers of which the fastest counts, and a heading.
const RIVALS: [(&str, &[&str], &str); 5] = [
    ("docvalues", &["lucene-10.5.0"], "Lucene 10.5"),
    ("docvalues", &["tantivy"], "tantivy"),
    ("docvalues", &["parquet-small"], "Parquet, small pages"),
    ("docvalues-avx2", &["tantivy"], "tantivy (docvalues with AVX2)"),
    ("docvalues-any", &["tantivy"], "tantivy (docvalues with portable kernels)"),
];

/// The peers of the overview plots.
const OVERVIEW: [(&str, &str); 3] =
    [("lucene-10.5.0", "Lucene 10.5"), ("tantivy", "tantivy"), ("parquet-small", "Parquet, small pages")];

/// `value` with three significant digits and thousands separators.
pub fn figure(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize };
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    rest.map_or(grouped.clone(), |rest| format!("{grouped}.{rest}"))
}

/// The description of a figure of `count` rounds.
pub fn rounds(count: u32) -> String {
    if count == 1 { "one round".into() } else { format!("medians of {count} rounds") }
}

/// Writes the record and its plots into `folder`; returns the record's path.
pub fn write(machine: &Machine, results: &Results, folder: &Path) -> io::Result<PathBuf> {
    let plots = folder.join("benchmarks-peers");
    fs::create_dir_all(&plots)?;
    for (name, title, axis, workloads) in [
        (
            "reading",
            "Reading: CPU time of the peers, relative to docvalues",
            "CPU time of the peer / CPU time of docvalues: right of 1, docvalues is faster",
            &READING[..],
        ),
        (
            "files",
            "Opening, building and size: the peers relative to docvalues",
            "CPU time or bytes of the peer / those of docvalues: right of 1, docvalues needs less",
            &FILES[..],
        ),
    ] {
        let workloads: Vec<(Workload, &str)> = workloads.iter().map(|&work| (work, title_of(work))).collect();
        let plot = plot::overview(results, &workloads, &OVERVIEW, title, axis);
        fs::write(plots.join(format!("{name}.svg")), plot)?;
    }
    let path = folder.join("benchmarks/peers.json");
    record::write(&path, machine, &results.versions, &values_of(results))?;
    Ok(path)
}

/// Writes the record of indexes that are read in place, and prints its rows; returns its path.
pub fn write_in_place(machine: &Machine, results: &Results, folder: &Path) -> io::Result<PathBuf> {
    let values = values_of(results);
    print!("{}", record::in_place(&values));
    let path = folder.join("benchmarks/in-place.json");
    record::write(&path, machine, &results.versions, &values)?;
    Ok(path)
}

/// The calls of each workload on each column.
fn values_of(results: &Results) -> Vec<(String, Calls<'_>)> {
    let mut values = Vec::new();
    for work in ORDER {
        for column in results.columns(work) {
            let calls = |(peer, _): (&'static str, &'static str)| {
                let calls = results.calls(work, column, peer);
                (!calls.is_empty()).then(|| (peer.to_owned(), calls))
            };
            values
                .push((format!("{work} {column}"), results.peers().into_iter().filter_map(calls).collect()));
        }
    }
    values
}

/// The number of rows in which docvalues is ahead of each rival, and the `worst` rows that it loses, worst first.
pub fn summary(results: &Results, worst: usize) -> String {
    let mut out = String::new();
    for (ours, theirs, name) in RIVALS {
        let mut all: Vec<(f64, Workload, Column)> = Vec::new();
        for work in results.workloads() {
            for column in results.columns(work) {
                let ratio = results.ratio_to_fastest(ours, work, column, theirs);
                all.extend(ratio.map(|ratio| (ratio, work, column)));
            }
        }
        if all.is_empty() {
            continue;
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lost: Vec<String> = all
            .iter()
            .take_while(|row| row.0 < 1.0)
            .map(|(ratio, work, column)| format!("{work} {column} ({}x)", figure(*ratio)))
            .collect();
        let _ = write!(out, "- **{name}**: docvalues wins {} of {} rows", all.len() - lost.len(), all.len());
        let _ = match lost.len() {
            0 => writeln!(out, "."),
            many if many <= worst => writeln!(out, "; it loses {}.", lost.join(", ")),
            _ => writeln!(out, "; the largest losses are {}.", lost[..worst].join(", ")),
        };
    }
    out
}

/// A ratio, in bold if docvalues loses.
pub fn times(ratio: Option<f64>) -> String {
    match ratio {
        Some(ratio) if ratio < 1.0 => format!("**{}**", figure(ratio)),
        Some(ratio) => figure(ratio),
        None => "–".to_owned(),
    }
}

/// The ratios of tantivy to each variant of docvalues that differ between two runs by more than 10 %.
pub fn differences(old: &Results, new: &Results) -> String {
    let mut out = String::from(
        "tantivy's figure divided by that of docvalues; above 1, docvalues wins\n\n\
         | workload | column | docvalues | old | new | change |\n| --- | --- | --- | ---: | ---: | ---: |\n",
    );
    for work in new.workloads() {
        for column in new.columns(work) {
            for (ours, name) in new.peers().into_iter().filter(|peer| peer.0.starts_with("docvalues")) {
                let ratio = |results: &Results| results.ratio_to(ours, work, column, "tantivy");
                let Some((before, after)) = ratio(old).zip(ratio(new)) else { continue };
                let change = after / before;
                if (1.0 / 1.1..=1.1).contains(&change) {
                    continue;
                }
                let _ = writeln!(
                    out,
                    "| {work} | {column} | {name} | {} | {} | {} {:.0} % |",
                    times(Some(before)),
                    times(Some(after)),
                    if change > 1.0 { "better by" } else { "worse by" },
                    if change > 1.0 { change - 1.0 } else { 1.0 / change - 1.0 } * 100.0,
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Line;

    #[test]
    fn figure_has_three_digits() {
        let figures = [0.0, 0.002_089, 0.01234, 0.5, 1.2345, 12.34, 123.4, 1234.5, 1_234_567.0].map(figure);
        assert_eq!(figures, ["0", "0.00209", "0.0123", "0.500", "1.23", "12.3", "123", "1,234", "1,234,567"]);
    }

    #[test]
    fn differences_lists_changed_ratios() {
        let results = |tantivy: f64| {
            let lines = [("docvalues", 10.0), ("tantivy", tantivy)].map(|(peer, ns)| Line {
                peer: peer.to_owned(),
                version: String::new(),
                work: Workload::Scan,
                column: Column::Ts,
                api: String::new(),
                docs: 10,
                units: 10,
                ns_cpu: ns,
                ns_wall: ns,
                checksum: 0,
                of: "values".to_owned(),
            });
            Results::new(lines.into()).unwrap()
        };
        let table = differences(&results(20.0), &results(9.0));
        assert!(
            table.ends_with("| scan | ts | docvalues | 2.00 | **0.900** | worse by 122 % |\n"),
            "{table}"
        );
        let table = differences(&results(20.0), &results(25.0));
        assert!(table.ends_with("| scan | ts | docvalues | 2.00 | 2.50 | better by 25 % |\n"), "{table}");
        assert_eq!(differences(&results(20.0), &results(21.0)).lines().count(), 4);
    }

    #[test]
    fn every_workload_has_a_table() {
        assert!(Workload::ALL.iter().all(|work| *work == Workload::Data || ORDER.contains(work)));
    }
}
