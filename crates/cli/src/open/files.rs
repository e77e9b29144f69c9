//! The files of a command line: patterns, what a file is, and the text of one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::api::MAGIC;
use crate::api::store::StoreReader;
use crate::error::{CliError, Exit, Result};

/// Replaces patterns by the files that match them, in alphabetical order. An existing file is not a pattern.
pub(crate) fn expand(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut expanded = Vec::with_capacity(files.len());
    for file in files {
        match pattern(file) {
            None => expanded.push(file.clone()),
            Some(pattern) => expanded.extend(matches(pattern)?),
        }
    }
    Ok(expanded)
}

/// The text of a path that is a pattern.
fn pattern(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists())
}

/// The files that match a pattern, at least one.
fn matches(pattern: &str) -> Result<Vec<PathBuf>> {
    // As in a shell: `*` and `?` match neither `/` nor a dot at the beginning of a name.
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options);
    let found = found.map_err(|error| {
        CliError::usage(format!("{pattern}: expected a file or a pattern, found one with {}", error.msg))
    })?;
    let found = found.collect::<Result<Vec<_>, _>>();
    let mut found = found.map_err(|error| CliError::file(error.path().display(), error.error()))?;
    if found.is_empty() {
        return Err(CliError::new(Exit::Unreadable, format!("{pattern}: no file matches this pattern")));
    }
    found.sort();
    Ok(found)
}

/// Splits arguments into files and the columns after them: the first argument, and those after it that end in `.dv`, are
/// segments or stores, or match some as a pattern, are files.
pub(crate) fn split(arguments: &[OsString]) -> (Vec<PathBuf>, Vec<String>) {
    let is_file = |argument: &OsString| {
        let path = Path::new(argument);
        let is_match =
            |pattern| matches(pattern).is_ok_and(|found| found.iter().all(|file| is_readable(file)));
        path.extension().is_some_and(|e| e == "dv")
            || is_readable(path)
            || pattern(path).is_some_and(is_match)
    };
    let more = arguments.iter().skip(1).take_while(|argument| is_file(argument)).count();
    let (files, columns) = arguments.split_at(arguments.len().min(1 + more));
    let columns = columns.iter().map(|column| column.to_string_lossy().into_owned());
    (files.iter().map(PathBuf::from).collect(), columns.collect())
}

/// Whether a file begins like a segment, or a folder is a store or an index of Lucene.
pub(crate) fn is_readable(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    is_store(path)
        || is_lucene(path)
        || path.is_file()
            && File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && magic == MAGIC)
}

/// Whether a folder has a store.
pub(crate) fn is_store(path: &Path) -> bool {
    path.is_dir() && StoreReader::commits(path).is_ok()
}

/// Whether a folder has an index of Lucene.
pub(crate) fn is_lucene(path: &Path) -> bool {
    let is_commit = |entry: fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"segments_");
    cfg!(feature = "lucene") && fs::read_dir(path).is_ok_and(|entries| entries.flatten().any(is_commit))
}

/// Fails if a folder has an index of Lucene, which no command changes.
pub(crate) fn refuse_lucene(folder: &Path) -> Result<()> {
    if !is_lucene(folder) {
        return Ok(());
    }
    let message = format!("{}: expected the folder of a store, found an index of Lucene", folder.display());
    let hint = "`dv import` makes a store of its documents, which `dv` can change";
    Err(CliError::new(Exit::Unreadable, message).hint(hint))
}

/// The text of a file or of standard input, and its name in messages; an error gets `hint`.
pub(crate) fn text<'a>(path: &'a str, hint: &str) -> Result<(&'a str, String)> {
    let (name, text) = match path {
        "-" => ("<stdin>", io::read_to_string(io::stdin().lock())),
        path => (path, fs::read_to_string(path)),
    };
    let text = text.map_err(|error| CliError::file(name, &error).hint(hint))?;
    Ok((name, text))
}
