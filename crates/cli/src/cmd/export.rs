//! `dv export`: documents as files people have.

use std::io::Read as _;
use std::ops::Range;

use super::get::no_such_documents;
use crate::args::{ExportArgs, RecordFormat};
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::output::records;
use crate::read;

pub(crate) fn run(args: &ExportArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let docs = segment.docs();
    let mut print = |chosen: &mut dyn Iterator<Item = u32>| {
        records::print(&segment, chosen, &args.records, RecordFormat::Ndjson, console)
    };
    match &args.docs {
        None => print(&mut (0..docs))?,
        Some(text) => match parse_range(text, docs) {
            Some(range) if range.end > docs => {
                return Err(no_such_documents(segment.file(), docs, &[range.end - 1]));
            }
            Some(mut range) => print(&mut range)?,
            None => {
                let list = read_list(text)?;
                let absent: Vec<u32> = list.iter().copied().filter(|doc| *doc >= docs).collect();
                if !absent.is_empty() {
                    return Err(no_such_documents(segment.file(), docs, &absent));
                }
                print(&mut list.into_iter())?;
            }
        },
    }
    Ok(Exit::Ok)
}

/// Reads `a..b`, `a..`, `..b`, `a..=b` or `..`; `None` for what is no range.
fn parse_range(text: &str, docs: u32) -> Option<Range<u32>> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { 0 } else { start.parse().ok()? };
    let end = match end.strip_prefix('=') {
        Some(last) => last.parse::<u32>().ok()?.checked_add(1)?,
        None if end.is_empty() => docs,
        None => end.parse().ok()?,
    };
    Some(start..end)
}

/// Reads numbers of documents from a file, or from standard input.
fn read_list(path: &str) -> Result<Vec<u32>, Failure> {
    let mut text = String::new();
    let (name, read) = match path {
        "-" => ("<stdin>", std::io::stdin().lock().read_to_string(&mut text).map(|_| ())),
        path => (path, std::fs::read_to_string(path).map(|read| text = read)),
    };
    read.map_err(|error| {
        Failure::new(Exit::Unreadable, format!("{name}: {error}"))
            .advice("--docs takes a range such as 1000..2000, a file of document numbers, or -")
    })?;
    let mut docs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            let doc = word.parse().map_err(|_| {
                let shown = crate::input::error::excerpt(word.as_bytes());
                Failure::new(Exit::Failed, format!("{name}:{}: no document number: {shown}", index + 1))
            })?;
            docs.push(doc);
        }
    }
    Ok(docs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_two_ends_one_or_none() {
        let range = |text| parse_range(text, 100);
        assert_eq!(range("10..20"), Some(10..20));
        assert_eq!(range("10..=20"), Some(10..21));
        assert_eq!(range("10.."), Some(10..100));
        assert_eq!(range("..10"), Some(0..10));
        assert_eq!(range(".."), Some(0..100));
        for none in ["10", "a..b", "../docs.txt", "-", "1..2..3", "..=4294967295"] {
            assert_eq!(range(none), None, "{none}");
        }
    }
}
