//! [`Opened`]: files, or a commit or snapshot of a store, with numbers of documents over all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use docvalues::column::{DocAddress, Part};
use docvalues::search::{MixedTypes, Parts, Search};
use docvalues::store::{Snapshot, StoreReader};
use docvalues::terms::lookup::{Hit, IdLookup};
use docvalues::{DocId, Field, LogicalType, OpenOptions, SortKey};
use pyo3::exceptions::PyIndexError;

use crate::errors::{Failure, Result, argument};
use crate::interrupt::Stop;

/// Documents that do not change.
pub(crate) struct Opened {
    contents: Contents,
    pub(crate) parts: Parts,
    /// The names of all columns.
    pub(crate) columns: Vec<String>,
    /// The number of the first document of each part, and the number of all documents.
    starts: Vec<u64>,
    /// The number of documents that are not deleted.
    pub(crate) live: u64,
    /// Its name in messages.
    pub(crate) name: String,
    /// The same again, for another process.
    pub(crate) again: Option<Again>,
}

enum Contents {
    Files(Vec<docvalues::Segment>),
    Store(Snapshot),
}

/// What `open` was called with, and absolute paths.
pub(crate) struct Again {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) commit: Option<u64>,
    pub(crate) untrusted: bool,
}

impl Opened {
    /// Opens files and patterns, or a store.
    pub(crate) fn open(paths: &[PathBuf], commit: Option<u64>, untrusted: bool) -> Result<Opened> {
        let options = if untrusted { OpenOptions::new().untrusted() } else { OpenOptions::new() };
        if let [folder] = paths
            && folder.is_dir()
        {
            return Opened::open_store(folder, commit, untrusted, options);
        }
        if commit.is_some() {
            return Err(argument("expected the folder of a store to open a commit, found a file"));
        }
        let paths = expanded(paths)?;
        let mut segments = Vec::with_capacity(paths.len());
        for path in &paths {
            segments.push(docvalues::Segment::open_with(path, options)?);
        }
        let parts = Parts::new(segments.iter().cloned().map(Part::new));
        let name = match segments.as_slice() {
            [segment] => segment.file().to_owned(),
            _ => format!("{} files", segments.len()),
        };
        let again = Again { paths: absolute(&paths)?, commit: None, untrusted };
        let live = parts.docs();
        Opened::new(Contents::Files(segments), parts, (name, live), Some(again))
    }

    fn open_store(
        folder: &Path,
        commit: Option<u64>,
        untrusted: bool,
        options: OpenOptions,
    ) -> Result<Opened> {
        let reader = match commit {
            Some(commit) => StoreReader::open_commit(folder, commit, options)?,
            None => StoreReader::open(folder, options)?,
        };
        let snapshot = reader.snapshot();
        let (commit, parts) = (snapshot.commit(), snapshot.parts().clone());
        let name = format!("commit {commit} of {}", folder.display());
        let again = Again { paths: absolute(&[folder.to_owned()])?, commit: Some(commit), untrusted };
        let live = snapshot.docs();
        Opened::new(Contents::Store(snapshot), parts, (name, live), Some(again))
    }

    /// The documents of a snapshot.
    pub(crate) fn of_snapshot(snapshot: Snapshot, store: &str) -> Result<Opened> {
        let (parts, live) = (snapshot.parts().clone(), snapshot.docs());
        let name = format!("a snapshot of {store}");
        Opened::new(Contents::Store(snapshot), parts, (name, live), None)
    }

    fn new(
        contents: Contents,
        parts: Parts,
        (name, live): (String, u64),
        again: Option<Again>,
    ) -> Result<Opened> {
        let fields = match &contents {
            Contents::Files(_) => parts.fields()?,
            Contents::Store(snapshot) => snapshot.schema().fields().to_vec(),
        };
        let columns = fields.into_iter().map(|field| field.name).collect();
        let mut starts = vec![0];
        let mut end = 0;
        for part in 0..parts.len() {
            end += u64::from(parts.source(part).docs());
            starts.push(end);
        }
        Ok(Opened { contents, parts, columns, starts, live, name, again })
    }

    /// The number of documents, deleted or not.
    pub(crate) fn docs(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// A search over all documents that are not deleted.
    pub(crate) fn search(&self) -> Search<'static> {
        Search::over(&self.parts).mixed_types(MixedTypes::Promote)
    }

    /// As [`search`](Self::search), until `stop` is set.
    pub(crate) fn stoppable(&self, stop: &Stop) -> Search<'static> {
        let stop = Arc::clone(stop);
        self.search().interrupt(move || stop.load(Ordering::Relaxed))
    }

    /// The fields of columns, in the kinds and types that all parts have in common.
    pub(crate) fn fields<S: AsRef<str>>(&self, columns: &[S]) -> Result<Vec<Field>> {
        Ok(self.search().retriever(columns)?.fields().cloned().collect())
    }

    /// The keys by which all documents of each part are sorted.
    pub(crate) fn sort(&self) -> &[SortKey] {
        let segments: Vec<&docvalues::Segment> = match &self.contents {
            Contents::Files(segments) => segments.iter().collect(),
            Contents::Store(snapshot) => return snapshot.schema().sort(),
        };
        match segments.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other.sort() == first.sort()) => first.sort(),
            _ => &[],
        }
    }

    /// The number of the first document of a part.
    pub(crate) fn start(&self, part: usize) -> u64 {
        self.starts.get(part).copied().unwrap_or(0)
    }

    /// The number of a document.
    pub(crate) fn number(&self, address: DocAddress) -> u64 {
        self.start(address.part as usize) + u64::from(address.doc.get())
    }

    /// The document of a number.
    pub(crate) fn address(&self, number: u64) -> Result<DocAddress> {
        let part = self.starts.partition_point(|start| *start <= number);
        let address = || {
            let (part, start) = (part.checked_sub(1)?, self.start(part.checked_sub(1)?));
            let doc = DocId::new(u32::try_from(number - start).ok()?);
            (number < self.docs()).then_some(DocAddress { part: u32::try_from(part).ok()?, doc })
        };
        address().ok_or_else(|| {
            let docs = self.docs();
            PyIndexError::new_err(format!("{}: there is no document {number} of {docs}", self.name)).into()
        })
    }

    /// The type of the ids.
    pub(crate) fn id_type(&self) -> Result<LogicalType> {
        let name = match &self.contents {
            Contents::Store(snapshot) => snapshot.schema().id_field().map(str::to_owned),
            Contents::Files(segments) => {
                let index = segments.first().map(docvalues::Segment::ids).transpose()?.flatten();
                index.map(|index| index.field().to_owned())
            }
        };
        let name = name.ok_or_else(|| self.without_ids())?;
        let fields = self.fields(&[name])?;
        Ok(fields.first().map_or(LogicalType::Bytes, |field| field.logical))
    }

    /// The documents with these ids. Of several files that have an id, the last one counts.
    pub(crate) fn find(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocAddress>>> {
        let segments = match &self.contents {
            Contents::Store(snapshot) => return Ok(snapshot.find_many(ids)?),
            Contents::Files(segments) => segments,
        };
        let mut indexes = Vec::with_capacity(segments.len());
        for segment in segments.iter().rev() {
            indexes.push(segment.ids()?.ok_or_else(|| self.without_ids())?);
        }
        let lookup = IdLookup::new(indexes.iter().map(|index| Arc::clone(index.reader())));
        let mut hits = Vec::new();
        if let Err(error) = lookup.seeker().find_many(ids, &mut hits) {
            indexes[error.segment].with_context::<()>(Err(error.source))?;
        }
        // The look-up counts from the last one.
        let part = |hit: Hit| u32::try_from(indexes.len() - 1 - hit.segment).unwrap_or(u32::MAX);
        let address = |hit: Hit| DocAddress { part: part(hit), doc: hit.doc };
        Ok(hits.into_iter().map(|hit| hit.map(address)).collect())
    }

    fn without_ids(&self) -> Failure {
        argument(format!("{}: expected an index of ids, found none: write it with id_field", self.name))
    }

    /// Reads everything, and calls `each` after each file with their number so far.
    pub(crate) fn verify(&self, mut each: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let segments: Vec<&docvalues::Segment> = match &self.contents {
            Contents::Files(segments) => segments.iter().collect(),
            Contents::Store(snapshot) => snapshot.segments().map(|segment| segment.segment).collect(),
        };
        for (files, segment) in (1..).zip(segments) {
            segment.verify()?;
            each(files)?;
        }
        Ok(())
    }
}

/// Replaces patterns by the files that match them, in alphabetical order. An existing file is not a pattern.
fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
        let Some(pattern) = pattern else {
            files.push(path.clone());
            continue;
        };
        // As in a shell.
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let matches = glob::glob_with(pattern, options)
            .map_err(|error| argument(format!("{pattern}: expected a pattern: {}", error.msg)))?;
        let mut matches =
            matches.collect::<Result<Vec<_>, _>>().map_err(|error| failed(error.path(), error.error()))?;
        if matches.is_empty() {
            let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "no file matches this pattern");
            return Err(failed(path, &missing));
        }
        matches.sort();
        files.extend(matches);
    }
    if files.is_empty() {
        return Err(argument("expected at least one file, found none"));
    }
    Ok(files)
}

/// A sort key as `sort_by` takes it.
pub(crate) fn key_text(key: &SortKey) -> String {
    let (sign, end) =
        (if key.descending { "-" } else { "" }, if key.missing_first { ":missing-first" } else { "" });
    format!("{sign}{}{end}", key.column)
}

fn absolute(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| failed(path, &error));
    paths.iter().map(absolute).collect()
}

/// An error of the operating system about a file.
fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let source = match error.raw_os_error() {
        Some(number) => std::io::Error::from_raw_os_error(number),
        None => std::io::Error::new(error.kind(), error.to_string()),
    };
    docvalues::column::Error::from(docvalues::column::ErrorKind::Io {
        file: path.display().to_string(),
        source,
    })
    .into()
}
