//! Records of measurements, `docs/benchmarks/*.json`, and the tables that are made of them.

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::root;

/// One run of a command.
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) commit: String,
    /// CPU, rounds, date.
    about: String,
    /// By workload and peer, the calls with their figures, the fastest first.
    values: Value,
    /// By name, rows of cells.
    tables: Value,
}

/// A file of runs; later ones replace figures of earlier ones.
pub(crate) struct Record {
    pub(crate) runs: Vec<Run>,
}

impl Record {
    fn read(file: &str) -> Result<Record, String> {
        let text =
            fs::read_to_string(root().join("docs/benchmarks").join(file)).map_err(|e| e.to_string())?;
        let value: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let run = |run: &Value| {
            let text =
                |key: &str| run[key].as_str().map(str::to_owned).ok_or(format!("{file}: a run has no {key}"));
            let about = format!("{}, {}, {}", text("cpu")?, text("rounds")?, text("date")?);
            let (values, tables) = (run["values"].clone(), run["tables"].clone());
            Ok::<_, String>(Run { command: text("command")?, commit: text("commit")?, about, values, tables })
        };
        let runs = value["runs"].as_array().ok_or("no runs")?;
        Ok(Record { runs: runs.iter().map(run).collect::<Result<_, _>>()? })
    }

    /// All records, by name.
    pub(crate) fn all() -> Vec<(String, Record)> {
        let entries = fs::read_dir(root().join("docs/benchmarks")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned());
        let records = names.filter(|name| name.ends_with(".json"));
        records.map(|name| (name.clone(), Record::read(&name).unwrap())).collect()
    }

    /// The last run that measured a workload in docvalues.
    fn run_of(&self, workload: &str) -> Result<usize, String> {
        let has = |run: &Run| run.values[workload]["docvalues"].is_array();
        self.runs.iter().rposition(has).ok_or(format!("no {workload}"))
    }
}

pub(crate) fn is_marker(line: &str) -> bool {
    ["table ", "view ", "benches"].iter().any(|start| line.starts_with(start))
}

/// The lines of a marker, made anew. `path_to` is the path of a record from the page.
pub(crate) fn table(marker: &str, path_to: &dyn Fn(&str) -> String) -> Result<String, String> {
    let (kind, rest) = marker.split_once([' ', '\n']).unwrap_or((marker, ""));
    if kind == "benches" {
        return benches(path_to);
    }
    let views = fs::read_to_string(root().join("docs/benchmarks/views.txt")).map_err(|e| e.to_string())?;
    let named = |view: &&str| view.split_once(": ").is_some_and(|(name, _)| name == rest);
    let view = views.split("\n\n").find(named).and_then(|view| view.split_once(": "));
    let text = if kind == "view" { view.ok_or(format!("no view {rest}"))?.1 } else { rest };
    let (file, text) = text.split_once(' ').ok_or("no record")?;
    let record = Record::read(file)?;
    let (mut out, runs) = if kind == "view" { compared(&record, text)? } else { stored(&record, text)? };
    out.push('\n');
    for run in runs {
        let Run { command, commit, about, .. } = &record.runs[run];
        let _ = writeln!(out, "[{file}]({}): `{command}`, commit `{commit}`, {about}.", path_to(file));
    }
    Ok(out)
}

fn row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    cells
        .into_iter()
        .fold("|".to_owned(), |row, cell| format!("{row} {}", cell.as_ref()).trim_end().to_owned() + " |")
        + "\n"
}

/// A table as it is in the record, or those of its rows that begin with one of the further texts, a `;;` between them.
fn stored(record: &Record, text: &str) -> Result<(String, Vec<usize>), String> {
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default();
    let wanted: Vec<&str> = lines.flat_map(|line| line.split(";; ")).collect();
    let found =
        record.runs.iter().rposition(|run| run.tables[name].is_array()).ok_or(format!("no table {name}"))?;
    let rows = record.runs[found].tables[name].as_array().ok_or("no rows")?;
    let cells = |row: &Value| -> Vec<String> {
        row.as_array()
            .into_iter()
            .flatten()
            .map(|cell| cell.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let mut rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    if !wanted.is_empty() {
        let body = rows.split_off(1);
        for wanted in wanted {
            let row = body
                .iter()
                .find(|row| row.join(" | ").starts_with(wanted))
                .ok_or(format!("no row {wanted}"))?;
            rows.push(row.clone());
        }
    }
    let is_text =
        |column: usize| rows[1..].iter().all(|row| !row[column].contains(|c: char| c.is_ascii_digit()));
    let kinds = (0..rows[0].len()).map(|column| if column == 0 || is_text(column) { "---" } else { "---:" });
    let body: String = rows[1..].iter().map(row).collect();
    Ok((row(&rows[0]) + &row(kinds) + &body, vec![found]))
}

/// A view: the columns up to the end of the first line, then a row a line.
fn compared(record: &Record, text: &str) -> Result<(String, Vec<usize>), String> {
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or_default().split(';').map(|column| {
        let (title, value) = column.rsplit_once('=').ok_or(format!("no = in {column}"))?;
        Ok((title.trim(), value.trim()))
    });
    let columns = columns.collect::<Result<Vec<_>, String>>()?;
    let mut out = row([""].into_iter().chain(columns.iter().map(|column| column.0)));
    out += &row(["---"]
        .into_iter()
        .chain(columns.iter().map(|column| if column.1.starts_with('@') { "---" } else { "---:" })));
    let mut runs = Vec::new();
    for line in lines {
        let (label, keys) = line.rsplit_once(" = ").ok_or(format!("no = in {line}"))?;
        let keys: Vec<&str> = keys.split(',').map(str::trim).collect();
        let mut cells = vec![label.to_owned()];
        for key in &keys {
            runs.push(record.run_of(key)?);
        }
        for (_, column) in &columns {
            let each = keys.iter().map(|key| cell(&record.runs[record.run_of(key)?], key, column));
            let each = each.collect::<Result<Vec<_>, String>>()?;
            let same = each.iter().all(|cell| *cell == "–")
                || column.starts_with('@') && each.iter().all(|cell| *cell == each[0]);
            cells.push(if same { each[0].clone() } else { each.join(" / ") });
        }
        out += &row(cells);
    }
    runs.sort_unstable();
    runs.dedup();
    Ok((out, runs))
}

/// `#PEER` is the peer's figure, `@PEER` its call, and `PEER|PEER` the ratio of the fastest to docvalues; `OURS/PEER` the
/// ratio to a variant of docvalues. `PEER(CALL)` takes that call instead of the fastest.
fn cell(run: &Run, key: &str, column: &str) -> Result<String, String> {
    let peer = column.trim_start_matches(['#', '@']);
    if column.starts_with('@') {
        return Ok(call(run, key, peer)
            .map_or("–".into(), |call| format!("`{}`", call[0].as_str().unwrap_or_default())));
    }
    if column.starts_with('#') {
        return Ok(
            call(run, key, peer).map_or("–".into(), |call| figure(call[1].as_f64().unwrap_or_default(), 2))
        );
    }
    let (ours, peers) = peer.split_once('/').unwrap_or(("docvalues", peer));
    let Some(ours) = call(run, key, ours) else { return Ok("–".into()) };
    let ratio = |peer: &str| {
        let theirs = call(run, key, peer)?;
        // A peer without ords reads strings.
        (theirs[3] == ours[3]).then(|| Some(theirs[1].as_f64()? / ours[1].as_f64()?))?
    };
    Ok(match peers.split('|').filter_map(ratio).reduce(f64::min) {
        Some(ratio) if ratio < 1.0 => format!("**{}**", figure(ratio, 1)),
        Some(ratio) => figure(ratio, 1),
        None => "–".into(),
    })
}

fn call<'r>(run: &'r Run, key: &str, peer: &str) -> Option<&'r Value> {
    let (peer, wanted) =
        peer.split_once('(').map_or((peer, None), |(peer, call)| (peer, Some(call.trim_end_matches(')'))));
    run.values[key][peer].as_array()?.iter().find(|call| wanted.is_none_or(|wanted| call[0] == wanted))
}

/// `value` with so many significant digits after the first, and no fewer before the point.
fn figure(value: f64, digits: u8) -> String {
    let rounded = format!("{value:.*e}", digits.into());
    let magnitude: i32 = rounded.rsplit('e').next().and_then(|power| power.parse().ok()).unwrap_or(0);
    let text = format!("{value:.*}", usize::try_from(i32::from(digits) - magnitude).unwrap_or(0));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",") + rest
}

/// The benches with their questions and baselines, from the first sentences of their files, and the pages that run them.
fn benches(path_to: &dyn Fn(&str) -> String) -> Result<String, String> {
    let files = fs::read_dir(root().join("benches/benches")).map_err(|e| e.to_string())?;
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let pages = crate::report();
    let mut out = "| bench | question | relative to | page |\n| --- | --- | --- | --- |\n".to_owned();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).map_err(|e| e.to_string())?;
        let about: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let about = about.join(" ");
        let about = about.split_once(". ").map_or(about.as_str(), |(first, _)| first).trim_end_matches('.');
        let (question, baseline) = about.split_once(", relative to ").unwrap_or((about, ""));
        let runs = |page: &&crate::Page| {
            page.text
                .split(['`', '\n', '|'])
                .any(|part| part.contains("--bench") && part.split_whitespace().any(|word| word == name))
        };
        let page = pages.iter().filter(runs).find(|page| page.name.starts_with("docs/benchmarks/"));
        let page = page.map_or(String::new(), |page| {
            let file = page.name.trim_start_matches("docs/benchmarks/");
            format!("[{file}]({})", path_to(file))
        });
        let _ = write!(out, "{}", row([&format!("`{name}`"), question, baseline, &page]));
    }
    Ok(out)
}
