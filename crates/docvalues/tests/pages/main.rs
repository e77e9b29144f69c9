//! The pages of measurements: tables are generated from records, and name a command, a commit, a CPU and rounds. And of all
//! pages: their links, and the list of them in the book.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the tables; docs/measuring.md describes markers and records.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod commands;
mod record;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::Record;

/// Lines of all pages of the report, and of its first one.
const MOST_LINES: (usize, usize) = (1_750, 150);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Markdown file.
struct Page {
    /// Relative to the root of the repository.
    name: String,
    text: String,
}

impl Page {
    fn read(name: &str) -> Page {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Page { name: name.to_owned(), text }
    }

    /// The path of a file of `docs/benchmarks` from this page.
    fn path_to(&self, file: &str) -> String {
        match self.name.matches('/').count() {
            0 => format!("docs/benchmarks/{file}"),
            1 => format!("benchmarks/{file}"),
            _ => file.to_owned(),
        }
    }
}

/// The names of the pages in a folder.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    names
}

/// The pages of the book.
fn book() -> Vec<Page> {
    ["docs", "docs/benchmarks"].into_iter().flat_map(names).map(|name| Page::read(&name)).collect()
}

/// The pages of the report.
fn report() -> Vec<Page> {
    let of_docs =
        names("docs").into_iter().filter(|name| name.contains("benchmarks") || name.contains("fst-or-trie"));
    let pages: Vec<Page> = of_docs.chain(names("docs/benchmarks")).map(|name| Page::read(&name)).collect();
    assert!(pages.len() > 8);
    pages
}

/// The report, and other pages with its figures or commands.
fn all_pages() -> Vec<Page> {
    let docs = ["docs/lucene.md", "docs/measuring.md", "docs/testing.md"];
    let others = ["README.md", "CONTRIBUTING.md", "benches/peers/README.md"].into_iter().chain(docs);
    let others = others.map(Page::read);
    report().into_iter().chain(others).collect()
}

/// The page with its generated tables as the records have them.
fn generated(page: &Page) -> String {
    let mut out = String::new();
    let (mut lines, mut is_code) = (page.text.split_inclusive('\n'), false);
    while let Some(line) = lines.next() {
        out += line;
        is_code ^= line.starts_with("```");
        let Some(marker) = line.strip_prefix("<!-- ").filter(|line| !is_code && record::is_marker(line))
        else {
            continue;
        };
        let mut marker = marker.to_owned();
        while !marker.trim_end().ends_with("-->") {
            let line = lines.next().unwrap_or_else(|| panic!("{}: no --> after {marker}", page.name));
            out += line;
            marker += line;
        }
        let marker = marker.trim_end().trim_end_matches("-->").trim_end();
        let table = record::table(marker, &|file| page.path_to(file));
        out += &table.unwrap_or_else(|error| panic!("{}: {marker}: {error}", page.name));
        let end = lines.find(|line| *line == "<!-- end -->\n");
        out += end.unwrap_or_else(|| panic!("{}: no <!-- end --> after {marker}", page.name));
    }
    out
}

#[test]
fn tables_are_those_of_the_records() {
    let hint = "UPDATE_SNAPSHOTS=1 rewrites it";
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        // The list of benches depends on the other pages.
        for page in all_pages().into_iter().chain([Page::read("docs/benchmarks.md")]) {
            fs::write(root().join(&page.name), generated(&page)).unwrap();
        }
    }
    let mut tables = 0;
    for page in all_pages() {
        let expected = generated(&page);
        tables += expected.matches("\n<!-- end -->\n").count();
        let mut lines = (1..).zip(page.text.lines().zip(expected.lines()));
        if let Some((line, (found, expected))) = lines.find(|(_, (found, expected))| found != expected) {
            panic!("{}:{line}: expected\n{expected}\nfound\n{found}\n{hint}", page.name);
        }
        assert!(page.text == expected, "{}: {hint}", page.name);
    }
    assert!(tables > 20, "{tables} tables");
}

/// The text that a table may name its run in: the start of the page, and the section with the table.
fn context(text: &str, at: usize) -> String {
    let head = text.find("\n## ").unwrap_or(text.len());
    let start = text[..at].rfind("\n## ").unwrap_or(0);
    let end = text[at..].find("\n## ").map_or(text.len(), |end| at + end);
    format!("{}{}", &text[..head], &text[start..end])
}

/// Tables with figures, as positions in the text; those between markers name their run by themselves.
fn tables(text: &str) -> Vec<usize> {
    let mut tables = Vec::new();
    let (mut at, mut last, mut generated) = (0, "", false);
    for line in text.split_inclusive('\n') {
        generated |= line.starts_with("<!-- ") && record::is_marker(&line[5..]);
        generated &= line != "<!-- end -->\n";
        let body = text[at..].lines().skip(1).take_while(|line| line.starts_with('|'));
        let is_figure = |cell: &str| {
            let cell = cell.trim_matches([' ', '*', '~', '≈', '%']);
            cell.starts_with(|c: char| c.is_ascii_digit())
        };
        if !generated && last.starts_with('|') && line.starts_with("| ---") {
            let has_figures = body.into_iter().any(|row| row.split('|').skip(2).any(is_figure));
            tables.extend(has_figures.then_some(at));
        }
        (at, last) = (at + line.len(), line);
    }
    tables
}

#[test]
fn tables_name_command_commit_cpu_and_rounds() {
    let mut seen = 0;
    for page in report() {
        for at in tables(&page.text) {
            let context = context(&page.text, at);
            let has = |words: &[&str]| words.iter().any(|word| context.contains(word));
            let lacks = [
                ("a command", has(&["cargo ", "benches/peers/", "--bin ", "--bench "])),
                ("a commit", !commits(&context).is_empty()),
                ("a CPU", has(&["AMD ", "Intel ", "Apple ", "Graviton"])),
                ("rounds", has(&[" round", " run", "edian"])),
            ];
            let line = page.text[..at].lines().count();
            for (what, found) in lacks {
                assert!(found, "{}:{line}: the section of a table does not name {what}", page.name);
            }
            seen += 1;
        }
    }
    println!("{seen} tables by hand");
}

/// Abbreviated commits in backticks.
fn commits(text: &str) -> Vec<&str> {
    let is_commit = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            && word.bytes().any(|b| b.is_ascii_digit())
    };
    text.split('`').skip(1).step_by(2).filter(is_commit).collect()
}

/// All commits before this one, if the history is complete.
fn history() -> Option<Vec<String>> {
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(root()).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let is_complete = git(&["rev-parse", "--is-shallow-repository"])?.trim() == "false";
    is_complete.then(|| git(&["rev-list", "HEAD"]))?.map(|all| all.lines().map(str::to_owned).collect())
}

#[test]
fn commits_are_in_the_history() {
    let Some(history) = history() else {
        println!("SKIPPED: no complete history");
        return;
    };
    let check = |place: &str, commit: &str| {
        assert!(
            history.iter().any(|known| known.starts_with(commit)),
            "{place}: no commit {commit} in the history"
        );
    };
    let mut seen = 0;
    for page in all_pages() {
        for commit in commits(&page.text) {
            check(&page.name, commit);
            seen += 1;
        }
    }
    for (name, record) in Record::all() {
        for commit in record.runs.iter().flat_map(|run| run.commit.split("`, `")) {
            assert!(commit.len() >= 7, "{name}: {commit} is too short");
            check(&name, commit);
        }
    }
    assert!(seen > 20, "{seen} commits");
}

#[test]
fn commands_are_accepted() {
    let mut seen = 0;
    let mut check = |place: &str, command: &str| {
        seen += commands::check(command).unwrap_or_else(|error| panic!("{place}: {command}: {error}"));
    };
    for page in all_pages() {
        commands::of(&page.text).iter().for_each(|command| check(&page.name, command));
    }
    for (name, record) in Record::all() {
        record.runs.iter().for_each(|run| check(&name, &run.command));
    }
    assert!(seen > 30, "{seen} commands");
}

/// A program of this repository in a command, as `benches/small` runs it, and its first argument if that is a word.
fn small_run(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |start: &str| words.iter().position(|word| *word == start).map(|at| &words[at + 1..]);
    let (program, arguments) = if let Some(script) = words.iter().find(|word| word.ends_with(".py")) {
        (format!("run \"$python\" {script}"), &[][..])
    } else if let Some(arguments) = after("benches/peers/run") {
        ("run benches/peers/run".to_owned(), arguments)
    } else if let Some([_, arguments @ ..]) = after("--manifest-path") {
        ("reindex".to_owned(), arguments)
    } else if let Some([folder, ..]) = after("cd").or(after("(cd")) {
        (format!("run bash -c \"cd {folder}"), &[][..])
    } else if let (Some([program, arguments @ ..]), true) = (after("--bin"), command.contains("-benches")) {
        (format!("bin {program}"), arguments)
    } else {
        return None;
    };
    let part = arguments.iter().find(|word| **word != "--");
    let part = part.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    Some([program.as_str()].into_iter().chain(part.copied()).collect::<Vec<_>>().join(" "))
}

#[test]
fn programs_have_small_runs() {
    let small = fs::read_to_string(root().join("benches/small")).unwrap();
    let mut seen = 0;
    let mut check = |place: &str, command: &str| {
        for run in command.split(" && cargo run").filter_map(small_run) {
            let is_run = small.lines().any(|line| line.trim_start().starts_with(&run));
            assert!(is_run, "{place}: {command}: benches/small does not run {run}");
            seen += 1;
        }
    };
    for page in report() {
        commands::of(&page.text).iter().for_each(|command| check(&page.name, command));
    }
    for (name, record) in Record::all() {
        record.runs.iter().for_each(|run| check(&name, &run.command));
    }
    assert!(seen > 40, "{seen} programs");
}

/// The parts of a page that are not blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2)
}

/// The links of a page to files and headings.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links =
        prose(text).flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    links.filter(|link| !link.starts_with("http"))
}

/// The anchors of the headings of a page, on GitHub and in the book.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).flat_map(str::lines).filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect::<String>()
    })
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let readmes = crates.flat_map(|name| names(&format!("crates/{}", name.to_str().unwrap())));
    let others =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned).into_iter().chain(readmes);
    for page in book().into_iter().chain(others.map(|name| Page::read(&name))) {
        let file = root().join(&page.name);
        for link in links(&page.text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: no {link}", page.name);
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                assert!(anchors(&text).any(|anchor| anchor == heading), "{}: no heading {link}", page.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen} links");
}

#[test]
fn the_book_has_every_page() {
    let summary = Page::read("docs/SUMMARY.md");
    let listed: BTreeSet<String> = links(&summary.text).map(|link| format!("docs/{link}")).collect();
    let pages: BTreeSet<String> =
        book().into_iter().map(|page| page.name).filter(|name| *name != summary.name).collect();
    assert_eq!(listed, pages);
}

#[test]
fn rust_of_the_book_is_compiled() {
    let sources =
        ["docvalues", "datafusion"].map(|name| Page::read(&format!("crates/{name}/src/lib.rs")).text);
    let mut seen = 0;
    for page in book().iter().filter(|page| page.text.contains("\n```rust")) {
        let test = format!("#[doc = include_str!(\"../../../{}\")]", page.name);
        assert!(sources.iter().any(|text| text.contains(&test)), "{}: no doctest has its code", page.name);
        seen += 1;
    }
    assert!(seen >= 9, "{seen} pages");
}

#[test]
fn the_report_and_front_pages_are_short() {
    let lines = |page: &Page| page.text.lines().count();
    let all: usize = report().iter().map(lines).sum();
    let first = lines(&Page::read("docs/benchmarks.md"));
    assert!(all <= MOST_LINES.0 && first <= MOST_LINES.1, "{all} lines, {first} of them in benchmarks.md");
    for (name, most) in [("README.md", 130), ("CONTRIBUTING.md", 90)] {
        let lines = lines(&Page::read(name));
        assert!(lines <= most, "{name}: {lines} lines");
    }
}

/// `cargo bench` passes options of criterion to everything that it runs, and harnesses of tests refuse them.
#[test]
fn cargo_bench_runs_benches_only() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    for folder in crates.chain([root().join("benches")]) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut programs = 0;
        for section in manifest
            .split("\n[")
            .filter(|section| section.starts_with("lib]") || section.starts_with("[bin]"))
        {
            let place = folder.display();
            assert!(section.contains("\nbench = false"), "{place}: bench = false is missing in [{section}");
            programs += usize::from(section.starts_with("[bin]"));
        }
        assert!(manifest.contains("\n[lib]\n"), "{}: [lib] with bench = false is missing", folder.display());
        let found = fs::read_dir(folder.join("src/bin")).map_or(0, |entries| entries.count());
        assert!(programs >= found, "{}: a program has no [[bin]] with bench = false", folder.display());
    }
}
