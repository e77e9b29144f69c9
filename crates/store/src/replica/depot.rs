//! [`Depot`]: a place that a leader and its replicas both see, such as a folder or a bucket.
//!
//! ```text
//! leader     puts the files of a commit that are not there, then the commit; then removes what older ones alone name
//! replicas   look for the newest commit, copy the files that they lack, and install it
//! ```
//!
//! The depot has the two newest commits, so that a replica may still copy the files of the one before. Nobody waits for
//! another, and an interrupted call goes on where it ended.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use docvalues_storage::{Directory, FsDirectory, NewFile};

use super::commit_files::{CommitFiles, FileReader, HeldCommit, StoredFile};
use super::install::{Installed, PIECE, copy};
use super::{Position, Replica};
use crate::commit_file::{CommitFile, MAX_BYTES};
use crate::error::{Error, Result};
use crate::names::{FileName, LOCK};
use crate::store_reader::ATTEMPTS;

/// The number of commits that stay in a depot.
const KEPT: usize = 2;

/// Named files that a leader puts and its replicas read. A name is put once, or again with another commit.
pub trait Depot {
    /// All names.
    ///
    /// # Errors
    ///
    /// If they cannot be listed.
    fn names(&self) -> Result<Vec<String>>;

    /// Puts `bytes` bytes under a name, all of them or none. What was put before is there when this is.
    ///
    /// # Errors
    ///
    /// If `from` has fewer bytes, or they cannot be put.
    fn put(&self, name: &str, bytes: u64, from: &mut dyn Read) -> Result<()>;

    /// Opens what was put under a name; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>>;

    /// Removes a name, if it is there.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    fn remove(&self, name: &str) -> Result<()>;
}

/// A folder as a [`Depot`]. Nothing in it is locked.
#[derive(Clone, Debug)]
pub struct FolderDepot {
    directory: Arc<dyn Directory>,
}

impl FolderDepot {
    /// The folder `path`, which is created if necessary.
    ///
    /// # Errors
    ///
    /// If it cannot be created, or has a store.
    pub fn open(path: impl AsRef<Path>) -> Result<FolderDepot> {
        let path = path.as_ref();
        std::fs::create_dir_all(path)
            .map_err(|error| docvalues_storage::Error::new(docvalues_storage::Step::Create, path, error))?;
        if path.join(LOCK).exists() {
            let what = "expected a folder for files of commits, found a store";
            return Err(Error::Request(format!("{}: {what}", path.display())));
        }
        Ok(FolderDepot::of(Arc::new(FsDirectory::new(path))))
    }

    /// Any directory.
    pub fn of(directory: Arc<dyn Directory>) -> FolderDepot {
        FolderDepot { directory }
    }
}

impl Depot for FolderDepot {
    fn names(&self) -> Result<Vec<String>> {
        let names = self.directory.list()?.into_iter();
        Ok(names.filter_map(|entry| entry.name.into_string().ok()).collect())
    }

    fn put(&self, name: &str, bytes: u64, from: &mut dyn Read) -> Result<()> {
        let temporary = format!(".{name}.tmp");
        // Of a call that was interrupted.
        let _ = self.directory.remove(OsStr::new(&temporary));
        let mut file = NewFile::create(self.directory.clone(), &temporary)?;
        copy(from, bytes, &mut file)?;
        file.finish()?;
        // The names of all files before.
        self.directory.sync()?;
        self.directory.rename(OsStr::new(&temporary), OsStr::new(name))?;
        Ok(self.directory.sync()?)
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>> {
        match self.directory.open(OsStr::new(name)) {
            Ok(file) => Ok(Some(Box::new(FileReader::of(file)))),
            Err(error) if error.io_error().kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self.directory.remove(OsStr::new(name)) {
            Err(error) if error.io_error().kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed?),
        }
    }
}

/// The files of a commit that were put into a depot: [`HeldCommit::publish`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The number of files, with the commit.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl HeldCommit {
    /// Puts the files of the commit into a depot, those that are not there, and then the commit. Nothing is put if the
    /// depot has the commit.
    ///
    /// # Errors
    ///
    /// [`Error::OtherStore`], [`Error::OldEpoch`] and [`Error::Diverged`] if the depot has commits of another store, of a
    /// leader that replaced this one, or with batches that this one lost; if a file cannot be read or put.
    pub fn publish(&self, depot: &dyn Depot) -> Result<Published> {
        let names = depot.names()?;
        let commits = whole_commits(depot, &names)?;
        let commit = &self.files().commit;
        if let Some((_, newest)) = commits.last() {
            if newest.commit == *commit {
                return Ok(Published::default());
            }
            require_newer(commit, &newest.commit)?;
        }
        let (name, bytes) = (FileName::Commit(self.number()).to_string(), self.files().encode());
        let mut published = Published::default();
        for file in self.files().files() {
            if !self.is_there(&file, depot, (&names, &commits))? {
                depot.put(&file.name(), file.bytes(), &mut self.open(&file)?)?;
                published.add(file.bytes());
            }
        }
        depot.put(&name, bytes.len() as u64, &mut &bytes[..])?;
        published.add(bytes.len() as u64);
        let older = commits.iter().filter(|(other, _)| *other != name).rev().take(KEPT - 1);
        let mut needed: HashSet<String> = self.files().files().map(|file| file.name()).collect();
        needed.insert(name.clone());
        for (name, commit) in older {
            needed.insert(name.clone());
            needed.extend(commit.files().map(|file| file.name()));
        }
        for name in names.iter().filter(|name| is_ours(name) && !needed.contains(*name)) {
            depot.remove(name)?;
        }
        Ok(published)
    }

    /// Whether the depot has a file: named by a commit there, or left by a call that was interrupted, with the same bytes.
    fn is_there(
        &self,
        file: &StoredFile,
        depot: &dyn Depot,
        (names, commits): (&[String], &[(String, CommitFiles)]),
    ) -> Result<bool> {
        for (_, commit) in commits {
            if let Some(named) = commit.files().find(|named| named.name == file.name) {
                return Ok(named == *file);
            }
        }
        if !names.contains(&file.name()) {
            return Ok(false);
        }
        match depot.open(&file.name())? {
            Some(mut there) => is_same(&mut there, &mut self.open(file)?).map_err(Error::Stream),
            None => Ok(false),
        }
    }
}

impl Published {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Fails unless a commit may follow the newest one of a depot.
fn require_newer(commit: &CommitFile, newest: &CommitFile) -> Result<()> {
    if newest.id != commit.id {
        return Err(Error::OtherStore { known: newest.id, found: commit.id });
    }
    if newest.epoch > commit.epoch {
        return Err(Error::OldEpoch { known: newest.epoch, found: commit.epoch });
    }
    let is_other = newest.sequence == commit.sequence && newest.history != commit.history;
    if newest.epoch == commit.epoch && (newest.sequence > commit.sequence || is_other) {
        let (known, found) = (newest.sequence, commit.sequence);
        return Err(Error::Diverged {
            what: format!(
                "expected a commit after batch {known} (history {:016x}), which the depot has, found one of batch {found} (history {:016x}): \
             the store lost what it had put there",
                newest.history, commit.history
            ),
        });
    }
    Ok(())
}

/// Whether both have the same bytes.
fn is_same(one: &mut dyn Read, two: &mut dyn Read) -> std::io::Result<bool> {
    let mut bytes = [vec![0; PIECE], vec![0; PIECE]];
    loop {
        let [left, right] = &mut bytes;
        let len = one.read(left)?;
        if len == 0 {
            return Ok(two.read(right)? == 0);
        }
        match two.read_exact(&mut right[..len]) {
            Ok(()) if left[..len] == right[..len] => {}
            Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => return Err(error),
            _ => return Ok(false),
        }
    }
}

/// Whether a store, or a call that was interrupted, gives a file this name: others in a depot belong to somebody else.
fn is_ours(name: &str) -> bool {
    let name = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).unwrap_or(name);
    FileName::parse(name).is_some_and(|name| !matches!(name, FileName::Log(_)))
}

impl Replica {
    /// Installs the newest commit of a depot, if it is newer than what the replica has.
    ///
    /// # Errors
    ///
    /// As [`install`](Self::install), and if the depot cannot be read.
    pub fn install_from(&self, depot: &dyn Depot) -> Result<Option<Installed>> {
        self.install_newest(depot, false)
    }

    /// As [`install_from`](Self::install_from), but as [`install_over`](Self::install_over) does.
    ///
    /// # Errors
    ///
    /// As [`install_from`](Self::install_from).
    pub fn install_over_from(&self, depot: &dyn Depot) -> Result<Option<Installed>> {
        self.install_newest(depot, true)
    }

    fn install_newest(&self, depot: &dyn Depot, over: bool) -> Result<Option<Installed>> {
        let mut tried = None;
        for _ in 0..ATTEMPTS {
            let Some((_, newest)) = whole_commits(depot, &depot.names()?)?.pop() else { return Ok(None) };
            let Position { epoch, sequence, history } = self.position();
            let is_same =
                (newest.epoch(), newest.sequence(), newest.commit.history) == (epoch, sequence, history);
            // It may have frames that come after it.
            let is_behind = !over && newest.epoch() == epoch && newest.sequence() < sequence;
            if is_same || is_behind {
                return Ok(None);
            }
            let mut missing = None;
            let installed = self.install_with(&newest, over, &mut |file| match depot.open(&file.name())? {
                Some(found) => Ok(found),
                None => {
                    missing = Some(file.name());
                    Err(Error::Damaged {
                        file: file.name(),
                        what: "expected a file in the depot, found none".to_owned(),
                    })
                }
            });
            match installed {
                // The leader removes the files of older commits: this one is not the newest any more.
                Err(_) if missing.is_some() && tried.as_ref() != Some(&newest) => tried = Some(newest),
                installed => return installed.map(Some),
            }
        }
        Ok(None)
    }
}

/// The commits in a depot that are whole, with their names, the newest last. Those that are being removed are left out.
fn whole_commits(depot: &dyn Depot, names: &[String]) -> Result<Vec<(String, CommitFiles)>> {
    fn order((name, commit): &(String, CommitFiles)) -> (u64, u64, &str) {
        (commit.epoch(), commit.sequence(), name)
    }
    let mut commits = Vec::new();
    for name in names.iter().filter(|name| matches!(FileName::parse(name), Some(FileName::Commit(_)))) {
        let Some(file) = depot.open(name)? else { continue };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(Error::Stream)?;
        match CommitFiles::decode(&bytes) {
            // The next one that is put takes its place.
            Err(Error::Damaged { .. }) => {}
            commit => {
                let commit = (name.clone(), commit?);
                let place = commits.partition_point(|other| order(other) <= order(&commit));
                commits.insert(place, commit);
            }
        }
    }
    Ok(commits)
}
