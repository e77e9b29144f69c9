//! `benchmarks-peers.md`: what was measured, in tables, with what is lost marked.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::machine::Machine;
use crate::plot;
use crate::results::{Results, unit};
use crate::task::{Column, Work};

/// The heading of a work's table, and what is to be said of it.
fn about(work: Work) -> (&'static str, &'static str) {
    match work {
        Work::Data => ("", ""),
        Work::Scan => (
            "Full scan",
            "Every value in the order of documents, whose ids are known. `price60`, `rare1` and `tags` are not \
             in every document: which ones have them is part of the work. tantivy has no way to read strings \
             in the order of documents other than one by one.",
        ),
        Work::Gather1 => ("1 % of the documents, ascending", "What a query hits, more than caches hold."),
        Work::Gather001 => ("0.01 % of the documents, ascending", "The same few documents again: cache-hot."),
        Work::Random => (
            "A million documents in random order, the fastest way",
            "In batches where there are any. Lucene takes a new iterator for each step back; Parquet and, \
             for strings, tantivy are given all of them at once and sort them.",
        ),
        Work::RandomSingle => ("A million documents in random order, one by one", ""),
        Work::Terms => ("A million random ords to terms, one by one", ""),
        Work::TermsBatch => (
            "The same, all at once",
            "Sorted and then read in the order of the dictionary; docvalues as they come.",
        ),
        Work::Seek => ("A million random terms to ords", ""),
        Work::Range => (
            "A range that 1 % of the documents have",
            "Into a bitset (docvalues, Lucene) or a list (tantivy, Parquet) of documents. `ts` nearly ascends.",
        ),
        Work::Open => ("From the closed file to the first value", "The page cache is warm."),
        Work::Build => (
            "Build",
            "From values in memory to a closed and synced file: CPU time of the thread, without collectors of \
             garbage.",
        ),
        Work::Bytes => (
            "Bytes",
            "docvalues with checksums and zone maps; of Lucene the files of doc values alone, with the skip \
             index where 10.5 filters by it; nothing is compressed by a general-purpose codec except Lucene's \
             blocks of terms.",
        ),
        Work::Memory => (
            "Memory",
            "What the process has in memory after opening the column and scanning it once, less what it had \
             before: the heap, and what it has touched of the mapped file.",
        ),
    }
}

/// The order of the tables.
const ORDER: [Work; 13] = [
    Work::Scan,
    Work::Gather1,
    Work::Gather001,
    Work::Random,
    Work::RandomSingle,
    Work::Range,
    Work::Terms,
    Work::TermsBatch,
    Work::Seek,
    Work::Open,
    Work::Build,
    Work::Bytes,
    Work::Memory,
];

/// Whom docvalues is compared with in a few words.
const RIVALS: [(&str, &str); 3] =
    [("lucene-10.5.0", "Lucene 10.5"), ("tantivy", "tantivy"), ("parquet-small", "Parquet, small pages")];

/// Three digits.
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

/// What a figure is of `count` rounds.
pub fn rounds(count: u32) -> String {
    if count == 1 { "of one round".into() } else { format!("medians of {count} rounds") }
}

/// Writes the report and its plots into `folder`; returns the report's path.
pub fn write(machine: &Machine, results: &Results, folder: &Path) -> io::Result<PathBuf> {
    let plots = folder.join("benchmarks-peers");
    fs::create_dir_all(&plots)?;
    fs::write(plots.join("overview.svg"), plot::overview(results, &ORDER))?;
    let works: Vec<Work> = ORDER.into_iter().filter(|work| results.works().contains(work)).collect();
    for &work in &works {
        fs::write(plots.join(format!("{work}.svg")), plot::bars(results, work, about(work).0))?;
    }
    let path = folder.join("benchmarks-peers.md");
    fs::write(&path, text(machine, results, &works))?;
    Ok(path)
}

fn text(machine: &Machine, results: &Results, works: &[Work]) -> String {
    let mut out = String::new();
    head(&mut out, machine, results);
    let _ = writeln!(out, "\n## At a glance\n\n![overview](benchmarks-peers/overview.svg)\n");
    out.push_str(&summary(results, 5));
    ratios(&mut out, results, works);
    for &work in works {
        table(&mut out, results, work);
    }
    out
}

fn head(out: &mut String, machine: &Machine, results: &Results) {
    let docs = figure(machine.docs.into());
    let _ = write!(
        out,
        "# docvalues beside its peers\n\n\
         Written by [`benches/peers/run`](../benches/peers/README.md), which runs the same work on the same data \
         in every peer, in turns, and refuses to report if two of them come to different sums: {} answers agreed. \
         What docvalues is measured for by itself stands in [benchmarks.md](benchmarks.md).\n\n\
         Figures are {}, CPU time of one thread; the files are in the page cache. Each peer has several ways to do some works: the fastest counts. Other machines and other loads \
         give other figures: trust the ratios.\n\n| | |\n| --- | --- |\n",
        figure(results.compared as f64),
        rounds(machine.rounds),
    );
    let mut row = |what: &str, value: &str| {
        let _ = writeln!(out, "| {what} | {value} |");
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

/// Where docvalues is ahead and where not, with so many of the rows in which it is behind, the worst first.
pub fn summary(results: &Results, worst: usize) -> String {
    let mut out = String::new();
    for (peer, name) in RIVALS {
        let mut all: Vec<(f64, Work, Column)> = Vec::new();
        for work in results.works() {
            for column in results.columns(work) {
                all.extend(results.ratio(work, column, peer).map(|ratio| (ratio, work, column)));
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
        let _ = write!(out, "- **{name}**: ahead in {} of {} rows", all.len() - lost.len(), all.len());
        let _ = match lost.len() {
            0 => writeln!(out, "."),
            many if many <= worst => writeln!(out, "; behind in {}.", lost.join(", ")),
            _ => writeln!(out, "; furthest behind in {}.", lost[..worst].join(", ")),
        };
    }
    out
}

fn ratios(out: &mut String, results: &Results, works: &[Work]) {
    let peers: Vec<_> = results.peers().into_iter().filter(|peer| peer.0 != "docvalues").collect();
    let _ = write!(
        out,
        "\n## Ratios\n\nHow many times what docvalues needs: above 1 docvalues is ahead. **Bold: docvalues loses.** \
         A dash: the peer cannot do it, or reads strings where others read ords.\n\n| work | column |"
    );
    peers.iter().for_each(|(_, name)| out.push_str(&format!(" {name} |")));
    let _ = writeln!(out, "\n| --- | --- |{}", " ---: |".repeat(peers.len()));
    for &work in works {
        for column in results.columns(work) {
            let _ = write!(out, "| {work} | {column} |");
            for (peer, _) in &peers {
                let _ = match results.ratio(work, column, peer) {
                    Some(ratio) if ratio < 1.0 => write!(out, " **{}** |", figure(ratio)),
                    Some(ratio) => write!(out, " {} |", figure(ratio)),
                    None => write!(out, " – |"),
                };
            }
            out.push('\n');
        }
    }
}

fn table(out: &mut String, results: &Results, work: Work) {
    let (title, said) = about(work);
    let peers = results.peers();
    let _ = writeln!(out, "\n## {title}\n\nIn {}. {said}\n", unit(work));
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
            let lost = results.ratio(work, column, peer).is_some_and(|ratio| ratio < 1.0);
            let bold = if lost { "**" } else { "" };
            let _ = write!(out, " {bold}{}{bold}{} |", figure(found.value), if other { " †" } else { "" });
        }
        out.push('\n');
    }
    out.push_str("\n**Bold** is less than docvalues needs.");
    if mark {
        out.push_str(" † reads strings where others read ords.");
    }
    out.push('\n');
    ways(out, results, work);
    if !matches!(work, Work::Bytes | Work::Memory) {
        wall(out, results, work);
    }
}

/// What the clock on the wall said meanwhile: more where a peer waits, or where others had the cores.
fn wall(out: &mut String, results: &Results, work: Work) {
    let peers = results.peers();
    let _ = write!(out, "\n<details><summary>By the clock on the wall</summary>\n\n| column |");
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

/// The ways that were the fastest, where there is something to tell.
fn ways(out: &mut String, results: &Results, work: Work) {
    let mut told = Vec::new();
    for (peer, name) in results.peers() {
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
            told.push(format!("{name}: {}", ways.join(", ")));
        }
    }
    if !told.is_empty() {
        let _ = writeln!(
            out,
            "\n<details><summary>Ways that were taken</summary>\n\n- {}\n\n</details>",
            told.join("\n- ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        let figures = [0.0, 0.002_089, 0.01234, 0.5, 1.2345, 12.34, 123.4, 1234.5, 1_234_567.0].map(figure);
        assert_eq!(figures, ["0", "0.00209", "0.0123", "0.500", "1.23", "12.3", "123", "1,234", "1,234,567"]);
    }

    #[test]
    fn every_work_has_its_table() {
        assert!(Work::ALL.iter().all(|work| *work == Work::Data || ORDER.contains(work)));
    }
}
