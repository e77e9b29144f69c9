//! [`StoreReader::check`]: every byte of a store, and every rule that its files keep together.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;

use docvalues_column::{DocAddress, DocId};
use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, DirectoryFile, FileLock};

use super::snapshot::Snapshot;
use super::store_reader::StoreReader;
use crate::error::{Error, Result};
use crate::files::{
    ATTEMPTS, CommitFile, FileEntry, FileName, Files, LOCK, LOCK_INFO, PreviousCommit, is_temporary, no_calm,
};
use crate::log::LogFrames;
use crate::options::folder_at;
use crate::segments::{CommitState, segment, side_file};

/// The result of [`StoreReader::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCheck {
    /// The commits that were read, from the oldest to the newest.
    pub commits: Vec<u64>,
    /// The number of segments, deltas, folds and side files that they name.
    pub files: usize,
    /// The bytes of these files.
    pub bytes: u64,
    /// The number of documents of the newest commit.
    pub docs: u64,
    /// The number of problems.
    pub problems: u64,
    /// The files that no commit names.
    pub unnamed: Vec<UnnamedFile>,
}

/// A file in the folder of a store that no commit names, one of [`StoreCheck::unnamed`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedFile {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Whether the name is one of a store's. The next writer removes such a file, unless the writer of now has yet to
    /// commit it. Other files are never touched.
    pub is_of_store: bool,
}

impl StoreReader {
    /// Checks all commits of the store in the folder `path`, and all of their files; also beside a writer. Calls `each`
    /// with every problem.
    ///
    /// Every byte is read and compared with its checksum; files are compared with the commit that names them, numbers
    /// of live documents with deltas and folds; and in the newest commit, at most one live document has an id. A log whose commit
    /// is missing is a problem, and so is a commit that is not the one from which the next one was made.
    ///
    /// Time: O(bytes), and a look-up for each id.
    ///
    /// # Errors
    ///
    /// If there is no store, or the folder cannot be listed.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_reader::OpenOptions;
    /// use docvalues_store::{Store, StoreOptions, StoreReader, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// std::fs::write(path.join("seg-000007.dv"), "of a writer that was killed")?;
    ///
    /// let mut problems = Vec::new();
    /// let found = StoreReader::check(&path, OpenOptions::new(), &mut |problem| problems.push(problem))?;
    /// assert!(problems.is_empty());
    /// assert_eq!((found.commits, found.unnamed.len()), (vec![1], 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(
        path: impl AsRef<Path>,
        options: OpenOptions,
        each: &mut dyn FnMut(Error),
    ) -> Result<StoreCheck> {
        let directory = folder_at(path, &options);
        let held = hold_commits(&directory)?;
        let mut checker = Checker {
            directory: &directory,
            options,
            each,
            found: StoreCheck::default(),
            files: HashMap::new(),
            checksums: HashMap::new(),
            first_log: None,
        };
        let newest = held.last().map(|(number, _)| *number);
        let mut locks = Vec::with_capacity(held.len());
        for (number, lock) in held {
            let checked = lock.map_err(Error::from).and_then(|lock| {
                locks.push(lock);
                checker.commit(number, newest == Some(number))
            });
            if let Err(problem) = checked {
                checker.report(problem);
            }
        }
        checker.list_unnamed()?;
        Ok(checker.found)
    }
}

/// A commit, and the lock with which no writer removes it.
type LockedCommit = (u64, docvalues_storage::Result<Box<dyn DirectoryFile>>);

/// The commits, ascending.
fn hold_commits(directory: &dyn Directory) -> Result<Vec<LockedCommit>> {
    for _ in 0..ATTEMPTS {
        let files = Files::list_beside_writer(directory)?;
        let newest = files.require_commit(directory)?;
        let hold = |number| {
            let name = FileName::Commit(number).to_string();
            match directory.hold(OsStr::new(&name), FileLock::Shared) {
                // The writer is removing it, or has.
                Err(error) if error.is_busy() || error.is_missing() => None,
                lock => Some((number, lock)),
            }
        };
        let held: Vec<LockedCommit> = files.commits.into_iter().filter_map(hold).collect();
        if held.last().is_some_and(|(number, _)| *number == newest) {
            return Ok(held);
        }
    }
    Err(no_calm(directory))
}

struct Checker<'a> {
    directory: &'a dyn Directory,
    options: OpenOptions,
    each: &'a mut dyn FnMut(Error),
    found: StoreCheck,
    /// The files that commits name, which were checked, and whether they are as they should be.
    files: HashMap<FileName, bool>,
    /// The checksums of the commits that were read.
    checksums: HashMap<u64, u32>,
    /// The log that the newest commit names. It also needs those after it.
    first_log: Option<u64>,
}

impl Checker<'_> {
    fn report(&mut self, problem: Error) {
        self.found.problems += 1;
        (self.each)(problem);
    }

    fn commit(&mut self, number: u64, is_newest: bool) -> Result<()> {
        let commit = CommitFile::read(self.directory, number)?;
        self.found.commits.push(number);
        self.checksums.insert(number, commit.checksum);
        if let Some(PreviousCommit { number: before, crc32 }) = commit.previous
            && let Some(found) = self.checksums.get(&before).filter(|found| **found != crc32)
        {
            let file = self.directory.path().join(FileName::Commit(before).to_string()).display().to_string();
            let what =
                format!("expected the checksum {crc32:08x}, which commit {number} names, found {found:08x}");
            self.report(Error::Damaged { file, what });
        }
        let mut are_sound = true;
        for (name, file) in commit.named_files() {
            are_sound &= self.file(name, file);
        }
        if !are_sound {
            return Ok(());
        }
        let state = CommitState::open(self.directory, number, self.options, None)?;
        if is_newest {
            self.first_log = commit.first_log;
            if let Err(problem) = self.log(number, &commit) {
                // Nobody removes logs of which the commit is missing.
                self.first_log.get_or_insert(commit.next_number);
                self.report(problem);
            }
            let snapshot = Snapshot::of_commit(&state, None);
            self.found.docs = snapshot.docs();
            self.ids(&snapshot)?;
        }
        Ok(())
    }

    /// Reads every byte of a file, once. Returns whether it is as it should be.
    fn file(&mut self, name: FileName, file: FileEntry) -> bool {
        if let Some(&is_sound) = self.files.get(&name) {
            return is_sound;
        }
        let before = self.found.problems;
        let opened = match name {
            FileName::Side { .. } => side_file::verify(self.directory, name, file).map(|()| None),
            _ => segment::open(self.directory, name, file, self.options).map(Some),
        };
        match opened {
            Err(problem) => self.report(problem),
            Ok(segment) => {
                self.found.files += 1;
                self.found.bytes += file.bytes;
                if let Some(segment) = segment {
                    segment.check(&mut |problem| {
                        self.report(problem.into());
                        ControlFlow::Continue(())
                    });
                }
            }
        }
        let is_sound = self.found.problems == before;
        self.files.insert(name, is_sound);
        is_sound
    }

    /// Reads the frames of the logs after commit `number`.
    fn log(&mut self, number: u64, commit: &CommitFile) -> Result<()> {
        for frame in LogFrames::after(self.directory, number, commit)? {
            match frame {
                Ok(frame) => self.found.bytes += frame.bytes,
                Err(problem) => self.report(problem),
            }
        }
        Ok(())
    }

    /// Checks that no two live documents have the same id: each is found by its own.
    fn ids(&mut self, snapshot: &Snapshot) -> Result<()> {
        if snapshot.schema().id_field().is_none() {
            return Ok(());
        }
        let mut seeker = snapshot.ids()?.lookup.seeker();
        for (part, (opened, segment)) in (0..).zip(snapshot.opened().iter().zip(snapshot.segments())) {
            let Some(ids) = opened.ids()? else { continue };
            let each = |id: &[u8], doc: DocId| {
                if segment.live.contains(doc) {
                    let own = DocAddress { part, doc };
                    match snapshot.find_with(&mut seeker, id) {
                        Ok(Some(found)) if found == own => {}
                        Ok(_) => self.report(twice(segment.segment.file(), doc, id)),
                        Err(problem) => self.report(problem),
                    }
                }
                ControlFlow::Continue(())
            };
            ids.each(each).map_err(|error| Error::Damaged {
                file: segment.segment.file().to_owned(),
                what: error.to_string(),
            })?;
        }
        Ok(())
    }

    fn list_unnamed(&mut self) -> Result<()> {
        for entry in self.directory.list()? {
            let name = entry.name.to_string_lossy().into_owned();
            let file = FileName::parse(&name);
            let is_known = match file {
                Some(FileName::Commit(_)) => true,
                Some(FileName::Log(number)) => self.first_log.is_some_and(|first| first <= number),
                Some(file) => self.files.contains_key(&file),
                None => [LOCK, LOCK_INFO].contains(&name.as_str()),
            };
            if !is_known {
                let is_of_store = file.is_some() || is_temporary(&name);
                self.found.unnamed.push(UnnamedFile { name, bytes: entry.len, is_of_store });
            }
        }
        self.found.unnamed.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }
}

fn twice(file: &str, doc: DocId, id: &[u8]) -> Error {
    let what = format!("a newer document has the id of document {doc}, \"{}\", too", id.escape_ascii());
    Error::Damaged { file: file.to_owned(), what }
}
