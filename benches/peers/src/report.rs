//! Writes `benchmarks-peers.md`: tables and plots of all measurements, with losses in bold.

mod about;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::machine::Machine;
use crate::plot;
use crate::results::{Results, unit};
use crate::task::{Column, Workload};
use about::{FILES, ORDER, READING, about};

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

/// The comparisons of the table for CPUs without AVX-512.
const WITHOUT_AVX512: [(&str, &[&str], &str); 4] = [
    ("docvalues-avx2", &["tantivy"], "AVX2: tantivy"),
    ("docvalues-avx2", &["lucene-10.5.0"], "AVX2: Lucene 10.5"),
    ("docvalues-avx2", &["parquet", "parquet-small"], "AVX2: Parquet"),
    ("docvalues-any", &["tantivy"], "any: tantivy"),
];

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

/// Writes the report and its plots into `folder`; returns the report's path.
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
        let workloads: Vec<(Workload, &str)> = workloads.iter().map(|&work| (work, about(work).0)).collect();
        let plot = plot::overview(results, &workloads, &OVERVIEW, title, axis);
        fs::write(plots.join(format!("{name}.svg")), plot)?;
    }
    let workloads: Vec<Workload> =
        ORDER.into_iter().filter(|work| results.workloads().contains(work)).collect();
    for &work in &workloads {
        fs::write(plots.join(format!("{work}.svg")), plot::bars(results, work, about(work).0))?;
    }
    let path = folder.join("benchmarks-peers.md");
    fs::write(&path, text(machine, results, &workloads))?;
    Ok(path)
}

fn text(machine: &Machine, results: &Results, workloads: &[Workload]) -> String {
    let mut out = String::new();
    head(&mut out, machine, results);
    let _ = writeln!(
        out,
        "\n## Overview\n\n![Reading](benchmarks-peers/reading.svg)\n\n![Files](benchmarks-peers/files.svg)\n"
    );
    out.push_str(&summary(results, 5));
    ratios(&mut out, results, workloads);
    without_avx512(&mut out, results, workloads);
    for &work in workloads {
        table(&mut out, machine, results, work);
    }
    out
}

fn head(out: &mut String, machine: &Machine, results: &Results) {
    let docs = figure(machine.docs.into());
    let _ = write!(
        out,
        "# docvalues compared with Lucene, tantivy and Parquet\n\n\
         [`benches/peers/run`](../benches/peers/README.md) wrote this page. It runs each workload on the same data in every \
         peer, alternating between them, and fails if two peers compute different sums: {} answers were compared. \
         [benchmarks.md](benchmarks.md) has the benchmarks of docvalues alone.\n\n\
         {}; CPU time of one thread; the files are in the page cache. If a peer has several APIs for a workload, the \
         fastest counts. Absolute times depend on the machine and its load; rely on the ratios.\n\n\
         | | |\n| --- | --- |\n",
        results.compared,
        machine.measured(),
    );
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "| {name} | {value} |");
    };
    row("documents", &docs);
    row("commit", &machine.commit);
    row("date", &machine.date);
    row("CPU", &format!("{}, {} cores", machine.cpu, machine.cores));
    row("memory", &machine.memory);
    row("kernel", &machine.kernel);
    row("compiler", &machine.rust);
    for (version, jvm) in &machine.jvms {
        row(&format!("Lucene {version}"), jvm);
    }
    for (peer, name) in [("tantivy", "tantivy-columnar"), ("parquet", "parquet")] {
        if let Some(version) = results.versions.get(peer) {
            row(name, version);
        }
    }
    row("load before and after", &format!("{}, {}", machine.load.0, machine.load.1));
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

fn ratios(out: &mut String, results: &Results, workloads: &[Workload]) {
    let peers = results.rivals();
    let _ = write!(
        out,
        "\n## Ratios\n\nThe peer's figure divided by that of docvalues: above 1, docvalues wins. **Bold: docvalues loses.** \
         A dash: the peer was not measured, cannot do it, or reads strings instead of ords.\n\n| workload | column |"
    );
    peers.iter().for_each(|(_, name)| out.push_str(&format!(" {name} |")));
    let _ = writeln!(out, "\n| --- | --- |{}", " ---: |".repeat(peers.len()));
    for &work in workloads {
        for column in results.columns(work) {
            let _ = write!(out, "| {work} | {column} |");
            for (peer, _) in &peers {
                let _ = write!(out, " {} |", times(results.ratio(work, column, peer)));
            }
            out.push('\n');
        }
    }
}

/// The ratios of docvalues without AVX-512 kernels, and with portable ones only.
fn without_avx512(out: &mut String, results: &Results, workloads: &[Workload]) {
    let peers = results.peers();
    let built: Vec<_> =
        WITHOUT_AVX512.into_iter().filter(|(ours, ..)| peers.iter().any(|peer| peer.0 == *ours)).collect();
    if built.is_empty() {
        return;
    }
    out.push_str(
        "\n## Without AVX-512\n\nThe ratios of docvalues with AVX2 kernels (`AVX2`) and with portable kernels only (`any`), as on \
         CPUs without AVX-512. Both read the files of docvalues. The peers run as above; for Parquet, the faster \
         setting counts. **Bold: docvalues loses.**\n\n| workload | column |",
    );
    built.iter().for_each(|(.., name)| out.push_str(&format!(" {name} |")));
    let _ = writeln!(out, "\n| --- | --- |{}", " ---: |".repeat(built.len()));
    for &work in workloads.iter().filter(|work| work.is_read()) {
        for column in results.columns(work) {
            let _ = write!(out, "| {work} | {column} |");
            for (ours, theirs, _) in &built {
                let _ = write!(out, " {} |", times(results.ratio_to_fastest(ours, work, column, theirs)));
            }
            out.push('\n');
        }
    }
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

fn table(out: &mut String, machine: &Machine, results: &Results, work: Workload) {
    let (title, text) = about(work);
    let peers = results.peers_of(work);
    let _ = writeln!(out, "\n## {title}\n\nIn {} ({}). {text}\n", unit(work), machine.measured());
    let _ = writeln!(out, "![{title}](benchmarks-peers/{work}.svg)\n");
    let _ = write!(out, "| column |");
    peers.iter().for_each(|(_, name)| out.push_str(&format!(" {name} |")));
    let _ = writeln!(out, "\n| --- |{}", " ---: |".repeat(peers.len()));
    let mut mark = false;
    for column in results.columns(work) {
        let _ = write!(out, "| {column} |");
        let ours = results.get(work, column, "docvalues").is_some_and(|ours| ours.strings);
        for (peer, _) in &peers {
            let Some(found) = results.get(work, column, peer) else {
                out.push_str(" – |");
                continue;
            };
            let other = found.strings && !ours;
            mark |= other;
            let lost = !peer.starts_with("docvalues")
                && results.ratio(work, column, peer).is_some_and(|ratio| ratio < 1.0);
            let bold = if lost { "**" } else { "" };
            let _ = write!(out, " {bold}{}{bold}{} |", figure(found.value), if other { " †" } else { "" });
        }
        out.push('\n');
    }
    out.push_str("\n**Bold**: docvalues loses.");
    if mark {
        out.push_str(" †: reads strings instead of ords.");
    }
    out.push('\n');
    ways(out, results, work);
    if !matches!(work, Workload::Bytes | Workload::Memory) {
        wall(out, results, work);
    }
}

/// Wall time: more than CPU time if a peer waits or other processes had the cores.
fn wall(out: &mut String, results: &Results, work: Workload) {
    let peers = results.peers_of(work);
    let _ = write!(out, "\n<details><summary>Wall time</summary>\n\n| column |");
    peers.iter().for_each(|(_, name)| out.push_str(&format!(" {name} |")));
    let _ = writeln!(out, "\n| --- |{}", " ---: |".repeat(peers.len()));
    for column in results.columns(work) {
        let _ = write!(out, "| {column} |");
        for (peer, _) in &peers {
            let found = results.get(work, column, peer).map_or("–".to_owned(), |found| figure(found.wall));
            let _ = write!(out, " {found} |");
        }
        out.push('\n');
    }
    out.push_str("\n</details>\n");
}

/// The fastest API of each peer.
fn ways(out: &mut String, results: &Results, work: Workload) {
    let mut lines = Vec::new();
    for (peer, name) in results.peers_of(work) {
        let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
        for column in results.columns(work) {
            let Some(found) = results.get(work, column, peer) else { continue };
            match ways.iter_mut().find(|way| way.0 == found.api) {
                Some(way) => way.1.push(column.name()),
                None => ways.push((found.api.clone(), vec![column.name()])),
            }
        }
        ways.retain(|way| !way.0.is_empty());
        let ways: Vec<String> = match ways.as_slice() {
            [(way, _)] => vec![format!("`{way}`")],
            several => {
                several.iter().map(|(way, columns)| format!("`{way}` ({})", columns.join(", "))).collect()
            }
        };
        if !ways.is_empty() {
            lines.push(format!("{name}: {}", ways.join(", ")));
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(
            out,
            "\n<details><summary>Fastest APIs</summary>\n\n- {}\n\n</details>",
            lines.join("\n- ")
        );
    }
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
