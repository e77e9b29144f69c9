//! Commands of pages, compared with the programs that they run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Options of `cargo` that pages use, and those of them with a value.
const OF_CARGO: &str =
    "--release --locked --workspace --lib --no-run --all-features --no-default-features -Zbuild-std";
const WITH_VALUE: &str = "-p --features --target --exclude --profile";

/// Options of criterion, and those with a value.
const OF_CRITERION: &str = "--test --quick --list --exact";
const WITH_VALUE_OF_CRITERION: &str = "--save-baseline --baseline --measurement-time --sample-size";

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The commands of blocks of shell, and of code in lines.
pub(crate) fn of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut prose = String::new();
    for (i, part) in text.split("```").enumerate() {
        if i % 2 == 0 {
            prose += part;
        } else if let Some(block) = part.strip_prefix("sh\n") {
            let lines = block.replace("\\\n", " ");
            let lines = lines.lines().map(|line| line.split(" #").next().unwrap_or(line).trim().to_owned());
            found.extend(lines.filter(|line| !line.is_empty() && !line.starts_with('#')));
        }
    }
    let prose = prose.replace('\n', " ");
    for code in prose.split('`').skip(1).step_by(2) {
        if ["cargo ", "benches/peers/run"].iter().any(|start| code.starts_with(start)) {
            found.push(code.to_owned());
        } else if code.starts_with("--bin ") || code.starts_with("--bench ") {
            let command = if code.starts_with("--bin ") { "run" } else { "bench" };
            found.push(format!("cargo {command} -p docvalues-benches {code}"));
        }
    }
    found
}

/// Checks the parts of a line of shell that run this repository's programs; returns their number.
pub(crate) fn check(line: &str) -> Result<usize, String> {
    let mut folder = root();
    let mut seen = 0;
    for part in line.trim_matches(['(', ')']).split("&&").flat_map(|part| part.split([';', '|', '>'])) {
        let is_program =
            |word: &&str| ["cd", "cargo", "benches/peers/run"].contains(word) || word.contains("python");
        let words: Vec<&str> = part.split_whitespace().map(|word| word.trim_matches(['(', ')'])).collect();
        let start = words.iter().position(is_program).unwrap_or(words.len());
        let words = &words[start..];
        match words[..] {
            ["cd", to] => folder = folder.join(to),
            ["cargo", ..] => {
                let words: Vec<&str> =
                    words[1..].iter().copied().filter(|word| !word.starts_with('+')).collect();
                if let [command @ ("run" | "bench" | "test" | "build" | "check"), ref rest @ ..] = words[..] {
                    cargo(command, rest, &folder)?;
                    seen += 1;
                }
            }
            ["benches/peers/run", ref rest @ ..] => {
                let file = rest.first().filter(|first| **first == "workloads").unwrap_or(&"compare");
                literal(rest, &read(&root().join(format!("benches/peers/src/{file}.rs")))?)?;
                seen += 1;
            }
            [python, script, ref rest @ ..] if python.contains("python") && script.ends_with(".py") => {
                literal(rest, &read(&folder.join(script))?)?;
                seen += 1;
            }
            _ => {}
        }
    }
    Ok(seen)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The folder of a package.
fn package(name: &str) -> Result<PathBuf, String> {
    let crates = fs::read_dir(root().join("crates")).map_err(|error| error.to_string())?;
    let folders = crates
        .map(|entry| entry.unwrap().path())
        .chain(["benches", "fuzz"].map(|folder| root().join(folder)));
    let named = format!("\nname = \"{name}\"\n");
    let found = folders
        .into_iter()
        .find(|folder| read(&folder.join("Cargo.toml")).is_ok_and(|text| text.contains(&named)));
    found.ok_or(format!("no package {name}"))
}

fn cargo(command: &str, words: &[&str], folder: &Path) -> Result<(), String> {
    let at = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (options, arguments) = (&words[..at], words.get(at + 1..).unwrap_or_default());
    let (mut folder, mut sources) = (folder.to_owned(), Vec::new());
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || options.next().ok_or(format!("{option} has no value"));
        match *option {
            "-p" => folder = package(value()?)?,
            "--manifest-path" => folder = folder.join(value()?.trim_end_matches("Cargo.toml")),
            "--bin" | "--bench" | "--test" | "--example" => {
                let name = value()?.trim_matches('\'');
                let kind = if *option == "--bin" {
                    "src/bin"
                } else {
                    &format!("{}s", &option[2..]).replace("benchs", "benches")
                };
                if name == "dv" {
                    return Ok(());
                }
                if name != "*" {
                    sources.push(source(&folder, kind, name)?);
                }
            }
            option if is_in(WITH_VALUE, option) => drop(value()?),
            option if option.starts_with('-') && !is_in(OF_CARGO, option) => {
                return Err(format!("cargo has no {option}"));
            }
            _ => {}
        }
    }
    match command {
        "run" if sources.is_empty() && folder.join("src/main.rs").exists() => {
            accepts(arguments, &read(&folder.join("src/main.rs"))?)
        }
        "run" if sources.is_empty() => Err("no program".to_owned()),
        "run" => sources.iter().try_for_each(|source| accepts(arguments, source)),
        "bench" => filters(arguments, &sources.concat()),
        _ => Ok(()),
    }
}

/// The text of a program, bench, test or example.
fn source(folder: &Path, kind: &str, name: &str) -> Result<String, String> {
    let (file, folder) = (folder.join(kind).join(format!("{name}.rs")), folder.join(kind).join(name));
    if file.exists() {
        return read(&file);
    }
    let files = fs::read_dir(&folder).map_err(|_| format!("no {name} in {kind}"))?;
    let files = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"));
    files.map(|path| read(&path)).collect()
}

/// Arguments of a bench: options of criterion, and a filter whose start is a group of the benches.
fn filters(arguments: &[&str], source: &str) -> Result<(), String> {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        let group = word.split('/').next().unwrap_or(word);
        if is_in(WITH_VALUE_OF_CRITERION, word) {
            arguments.next().ok_or(format!("{word} has no value"))?;
        } else if word.starts_with('-') && !is_in(OF_CRITERION, word) {
            return Err(format!("criterion has no {word}"));
        } else if !word.starts_with('-') && !source.contains(&format!("\"{group}")) {
            return Err(format!("no group {group}"));
        }
    }
    Ok(())
}

/// Options of a program that reads its arguments by itself.
fn literal(arguments: &[&str], source: &str) -> Result<(), String> {
    let unknown = arguments
        .iter()
        .filter(|word| word.starts_with('-') && **word != "--help")
        .find(|word| !source.contains(&format!("\"{word}\"")));
    unknown.map_or(Ok(()), |word| Err(format!("it has no {word}")))
}

/// Arguments of a program, by the fields of its `clap::Parser`.
fn accepts(arguments: &[&str], source: &str) -> Result<(), String> {
    if !source.contains("#[derive(Parser)]") {
        return literal(arguments, source);
    }
    let fields = fields(source);
    let commands = variants(source, "Command");
    let is_command = arguments.first().is_some_and(|first| commands.iter().any(|command| command == first));
    let mut arguments = arguments[usize::from(is_command)..].iter();
    while let Some(word) = arguments.next().filter(|word| **word != "--help") {
        if !word.starts_with('-') {
            fields.iter().find(|field| field.name.is_empty()).ok_or(format!("it takes no {word}"))?;
            continue;
        }
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let field = fields
            .iter()
            .find(|field| field.name == name || field.short == name)
            .ok_or(format!("it has no {name}"))?;
        if field.kind == "bool" {
            continue;
        }
        let value = value.or_else(|| arguments.next().copied()).ok_or(format!("{name} has no value"))?;
        let is_placeholder = value.chars().all(|c| c.is_ascii_uppercase());
        for value in value.split(',').filter(|_| !is_placeholder) {
            let is_good = match field.kind.as_str() {
                "count" => value.replace('_', "").parse::<u32>().is_ok(),
                "u32" | "u64" | "usize" => value.parse::<u64>().is_ok(),
                "f64" => value.parse::<f64>().is_ok(),
                _ => field.values.is_empty() || field.values.iter().any(|known| known == value),
            };
            if !is_good {
                return Err(format!("{name} takes no {value}"));
            }
        }
    }
    Ok(())
}

/// An argument of a program.
struct Argument {
    /// With its dashes; empty if it has a place instead.
    name: String,
    short: String,
    /// The type of a value, or `count` for a number of documents such as 3_000_000.
    kind: String,
    /// All of them, of an enum.
    values: Vec<String>,
}

fn fields(source: &str) -> Vec<Argument> {
    let field = |part: &str| {
        let (attribute, rest) = part.split_once(")]\n")?;
        let line =
            rest.lines().map(str::trim).find(|line| !line.starts_with("//") && !line.starts_with('#'))?;
        let (name, kind) = line.trim_start_matches("pub(crate) ").trim_end_matches(',').split_once(": ")?;
        let kind = kind.trim_start_matches("Vec<").trim_start_matches("Option<").trim_end_matches('>');
        let kind = if attribute.contains("docvalues_benches::count") { "count" } else { kind }.to_owned();
        let has = |word: &str| attribute.split([',', '(', ' ', '=']).any(|part| part == word);
        let long =
            attribute.split_once("long = \"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or(name);
        let name = if has("long") { format!("--{}", long.replace('_', "-")) } else { String::new() };
        let short = if has("short") { format!("-{}", &long[..1]) } else { String::new() };
        let values = if has("value_enum") { variants(source, &kind) } else { Vec::new() };
        Some(Argument { name, short, kind, values })
    };
    source.split("#[arg(").skip(1).filter_map(field).collect()
}

/// The values of an enum, as `clap` names them.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body = source
        .split_once(&format!("enum {name} {{"))
        .and_then(|(_, rest)| rest.split_once("\n}"))
        .map_or("", |(body, _)| body);
    let variants =
        body.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let kebab = |variant: &str| {
        variant.split([',', '(', ' ']).next().unwrap_or(variant).char_indices().fold(
            String::new(),
            |name, (i, c)| {
                let dash = if i > 0 && c.is_ascii_uppercase() { "-" } else { "" };
                format!("{name}{dash}{}", c.to_ascii_lowercase())
            },
        )
    };
    variants.map(kebab).collect()
}
