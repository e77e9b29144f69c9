//! The tables of `dv sql`: the segments or other files of each argument, and its name in queries.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::{expand, is_lucene, is_readable, is_store};
use super::opener::Opener;
use super::segments::Segments;
use crate::error::{CliError, Result};

/// An argument of the command line.
pub(crate) struct SqlTable {
    pub(crate) name: String,
    pub(crate) data: TableData,
}

/// The rows of a table.
pub(crate) enum TableData {
    Segments(Segments),
    /// Files that DataFusion reads.
    Files(RawFormat, Vec<PathBuf>),
}

/// The format of a file that DataFusion reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawFormat {
    Csv,
    Tsv,
    Ndjson,
    Parquet,
}

impl RawFormat {
    /// The format by the extension of a file; `None` for a segment, whatever its name, and for others.
    fn of(path: &Path) -> Option<RawFormat> {
        let format = match &*path.extension()?.to_str()?.to_ascii_lowercase() {
            "csv" => RawFormat::Csv,
            "tsv" => RawFormat::Tsv,
            "ndjson" | "jsonl" => RawFormat::Ndjson,
            "parquet" => RawFormat::Parquet,
            _ => return None,
        };
        Some(format).filter(|_| !path.is_dir() && !is_readable(path))
    }
}

impl TableData {
    fn open(opener: &Opener, path: PathBuf) -> Result<TableData> {
        let files = files(path)?;
        let format = files.first().and_then(|file| RawFormat::of(file));
        if let Some(other) = files.iter().find(|file| RawFormat::of(file) != format) {
            let (first, other) = (files[0].display(), other.display());
            let message =
                format!("expected files of one format in a table, found \"{first}\" and \"{other}\"");
            return Err(CliError::usage(message).hint("name them as tables of their own"));
        }
        let Some(format) = format else {
            return Ok(TableData::Segments(Segments::open_all(opener, &files)?));
        };
        for file in &files {
            file.metadata().map_err(|error| CliError::file(file.display(), &error))?;
        }
        Ok(TableData::Files(format, files))
    }
}

/// Opens the table of each argument. No two have the same name.
pub(crate) fn open(opener: &Opener, arguments: &[OsString]) -> Result<Vec<SqlTable>> {
    let named = arguments.iter().map(named).collect::<Result<Vec<_>, _>>()?;
    for (at, (name, path)) in named.iter().enumerate() {
        if let Some((_, other)) = named[..at].iter().find(|(other, _)| other == name) {
            let message = format!("\"{}\" and \"{}\" both are table {name}", other.display(), path.display());
            let hint = format!("name one of them, such as {name}_2={}", path.display());
            return Err(CliError::usage(message).hint(hint));
        }
    }
    let open = |(name, path): (String, PathBuf)| Ok(SqlTable { name, data: TableData::open(opener, path)? });
    named.into_iter().map(open).collect()
}

/// The name of a table and its path: both of `NAME=PATH`, or the name that the path gives.
fn named(argument: &OsString) -> Result<(String, PathBuf)> {
    let path = Path::new(argument);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let pair = argument.to_str().and_then(|text| text.split_once('='));
    match pair.filter(|(name, _)| is_name(name) && !path.exists()) {
        Some((name, path)) => Ok((identifier(name), path.into())),
        None => match name_of(path) {
            Some(name) => Ok((name, path.to_owned())),
            None => Err(CliError::usage(format!("{}: the path gives no name for a table", path.display()))
                .hint(format!("name it, such as t={}", path.display()))),
        },
    }
}

/// The name of a file without its extension, of a folder, or of what stands before the first wildcard of a pattern; if
/// that is nothing, of the folder above.
fn name_of(path: &Path) -> Option<String> {
    let path =
        if path.file_name().is_none() { path.canonicalize() } else { std::path::absolute(path) }.ok()?;
    let names = path.ancestors().filter_map(|folder| Some((folder, folder.file_name()?.to_str()?)));
    let mut stems = names.map(|(path, name)| match name.find(['*', '?', '[']) {
        Some(wildcard) if !path.exists() => name[..wildcard].trim_end_matches(|c: char| !c.is_alphanumeric()),
        _ if path.is_dir() => name,
        _ => path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(name),
    });
    stems.find(|stem| !stem.is_empty()).map(identifier)
}

/// A name that needs no quotes in SQL.
fn identifier(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = name.chars().map(letter).collect();
    if name.starts_with(|c: char| c.is_numeric()) { format!("_{name}") } else { name }
}

/// The files of a path: a store or an index of Lucene, the segments of another folder, or the matches of a pattern.
fn files(path: PathBuf) -> Result<Vec<PathBuf>> {
    if !path.is_dir() || is_store(&path) || is_lucene(&path) {
        return expand(&[path]);
    }
    let read = |error| CliError::file(path.display(), &error);
    let entries = fs::read_dir(&path).map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
    let files = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "dv")).collect();
    files.sort();
    // The error of a folder that is neither is that of a store.
    Ok(if files.is_empty() { vec![path] } else { files })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_after_their_paths() {
        let names = [
            ("hits.dv", "hits"),
            ("/logs/Web Hits-2024.dv", "web_hits_2024"),
            ("/logs/2024.dv", "_2024"),
            ("/logs/*.dv", "logs"),
            ("/logs/web-*.dv", "web"),
            ("/logs/202?-*/[ab]*.dv", "_202"),
            ("/logs/größe.dv", "größe"),
            ("Hosts=/logs/*.dv", "hosts"),
            ("/a=b/c.dv", "c"),
        ];
        for (argument, name) in names {
            assert_eq!(named(&argument.into()).unwrap().0, name, "{argument}");
        }
        assert!(named(&"/*".into()).is_err());
    }

    #[test]
    fn formats_are_known_by_extensions() {
        for (path, format) in [
            ("a.csv", Some(RawFormat::Csv)),
            ("a.TSV", Some(RawFormat::Tsv)),
            ("a.b.jsonl", Some(RawFormat::Ndjson)),
            ("a.ndjson", Some(RawFormat::Ndjson)),
            ("a.parquet", Some(RawFormat::Parquet)),
            ("a.dv", None),
            ("a.csv.gz", None),
            ("csv", None),
        ] {
            assert_eq!(RawFormat::of(Path::new(path)), format, "{path}");
        }
    }
}
