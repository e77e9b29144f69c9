//! [`Dataset`]: files by their names and contents.

use std::fmt;
use std::path::Path;

use docvalues_column::Part;
use docvalues_reader::{OpenOptions, Segment};
use docvalues_search::Parts;
use docvalues_terms::hash::hash;
use serde::{Deserialize, Serialize};

use super::refused;
use crate::error::{Error, Result};
use crate::files::FileName;
use crate::read::StoreReader;

/// One commit of a store, some segment files, or some objects of an object store, for any process that sees them.
///
/// A dataset has the absolute path or URL, the length and the content id of each file or object. For a commit, it has the
/// path of the store, the number of the commit, the id of the store and the hash. [`open`](Self::open), or
/// [`open_objects`](Self::open_objects) for objects, returns exactly these documents. It fails if a file or an object is gone
/// or was replaced, or if the store is another one.
///
/// A store removes older commits unless [`keep_commits`](crate::StoreOptions::keep_commits) keeps them; a commit that was
/// removed cannot be opened.
///
/// # Examples
///
/// See [`ScanRequest`](crate::ScanRequest).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dataset(pub(super) Contents);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Contents {
    Commit(StoreCommit),
    Files(Vec<SegmentFile>),
    /// By their URLs.
    Objects(Vec<SegmentFile>),
}

/// A commit of the store in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct StoreCommit {
    pub(super) path: String,
    pub(super) number: u64,
    /// The id of the store.
    pub(super) store: u64,
    /// The hash of the bytes of the commit, which has the content ids of all files.
    pub(super) hash: u64,
}

/// A file, or an object, with a segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct SegmentFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    /// The content id.
    pub(super) id: u128,
}

impl Dataset {
    /// The newest commit of the store in the folder `path`.
    ///
    /// # Errors
    ///
    /// As [`StoreReader::open`], and if the path is not UTF-8.
    pub fn of_store(path: impl AsRef<Path>) -> Result<Dataset> {
        let path = absolute(path.as_ref())?;
        let reader = StoreReader::open(&path, OpenOptions::new())?;
        Ok(StoreCommit::of(path, &reader))
    }

    /// Commit `number` of the store in the folder `path`.
    ///
    /// # Errors
    ///
    /// As [`StoreReader::open_commit`], and if the path is not UTF-8.
    pub fn of_commit(path: impl AsRef<Path>, number: u64) -> Result<Dataset> {
        let path = absolute(path.as_ref())?;
        let reader = StoreReader::open_commit(&path, number, OpenOptions::new())?;
        Ok(StoreCommit::of(path, &reader))
    }

    /// Segment files, in this order.
    ///
    /// # Errors
    ///
    /// If there are none, a file cannot be opened, or a path is not UTF-8.
    pub fn of_files(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Dataset> {
        let file = |path: &Path| {
            let path = absolute(path)?;
            let segment = Segment::open(&path)?;
            Ok(SegmentFile { path, bytes: segment.len(), id: segment.id() })
        };
        let files = paths.into_iter().map(|path| file(path.as_ref())).collect::<Result<Vec<_>>>()?;
        if files.is_empty() {
            return Err(Error::Request("expected at least one segment file, found none".to_owned()));
        }
        Ok(Dataset(Contents::Files(files)))
    }

    /// Opens the files: the segments, with the documents that are live and their values in the commit. Maps them, and
    /// verifies their bytes when they are first touched.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if a file or a commit is not the one that was meant; [`Error::NoCommit`] if the commit is gone; if a
    /// file is missing or damaged; [`Error::Request`] for objects, which [`open_objects`](Self::open_objects) opens.
    pub fn open(&self) -> Result<Parts> {
        match &self.0 {
            Contents::Commit(commit) => commit.open(),
            Contents::Files(files) => {
                let parts = files.iter().map(|file| Ok(Part::new(file.open()?)));
                Ok(Parts::new(parts.collect::<Result<Vec<_>>>()?))
            }
            Contents::Objects(_) => Err(Error::Request(format!(
                "expected a dataset of files, found {self}: use `open_objects`, or `Objects::table` for SQL"
            ))),
        }
    }

    /// The absolute path of the segment file that is part number `part`, or the URL of its object. `None` if there
    /// are fewer, or for a commit.
    pub fn file(&self, part: usize) -> Option<&str> {
        match &self.0 {
            Contents::Commit(_) => None,
            Contents::Files(files) | Contents::Objects(files) => {
                files.get(part).map(|file| file.path.as_str())
            }
        }
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, several) = match &self.0 {
            Contents::Commit(commit) => return write!(f, "commit {} of {}", commit.number, commit.path),
            Contents::Files(files) => (files, "files"),
            Contents::Objects(files) => (files, "objects"),
        };
        match &files[..] {
            [file] => f.write_str(&file.path),
            [file, ..] => write!(f, "{} {several} from {} on", files.len(), file.path),
            [] => write!(f, "no {several}"),
        }
    }
}

impl StoreCommit {
    fn of(path: String, reader: &StoreReader) -> Dataset {
        let (number, commit) = reader.commit_file();
        let (store, hash) = (commit.id, hash(&commit.encode(), 0));
        Dataset(Contents::Commit(StoreCommit { path, number, store, hash }))
    }

    fn open(&self) -> Result<Parts> {
        let reader = StoreReader::open_commit(&self.path, self.number, OpenOptions::new())?;
        let (_, commit) = reader.commit_file();
        let hash = hash(&commit.encode(), 0);
        let what = if commit.id != self.store {
            format!("expected a commit of store {:016x}, found one of store {:016x}", self.store, commit.id)
        } else if hash != self.hash {
            format!("expected a commit with the hash {:016x}, found {hash:016x}", self.hash)
        } else {
            return Ok(reader.snapshot().parts().clone());
        };
        let file = Path::new(&self.path).join(FileName::Commit(self.number).to_string());
        Err(Error::Damaged { file: file.display().to_string(), what })
    }
}

impl SegmentFile {
    fn open(&self) -> Result<Segment> {
        self.check(Segment::open(&self.path)?)
    }

    /// Refuses another segment than this.
    pub(super) fn check(&self, segment: Segment) -> Result<Segment> {
        let damaged = |what| Err(Error::Damaged { file: self.path.clone(), what });
        if segment.len() != self.bytes {
            return damaged(format!("expected {} bytes, found {}", self.bytes, segment.len()));
        }
        if segment.id() != self.id {
            return damaged(format!("expected the content {:032x}, found {:032x}", self.id, segment.id()));
        }
        Ok(segment)
    }
}

fn absolute(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path)
        .map_err(|error| refused(format!("expected a path, found {}: {error}", path.display())))?;
    let text = absolute.into_os_string().into_string();
    text.map_err(|path| refused(format!("expected a path in UTF-8, found {}", Path::new(&path).display())))
}
