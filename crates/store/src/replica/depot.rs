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

use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, NewFile};

use super::Replica;
use super::install::{Installed, require_newer};
use crate::error::{Error, Result};
use crate::files::{ATTEMPTS, CommitFile, FileName, LOCK, MAX_BYTES, PIECE, Position, copy, put_file};
use crate::options::new_folder_at;
use crate::read::{CommitFiles, FileReader, HeldCommit, StoredFile};

/// The number of commits that stay in a depot.
const KEPT: usize = 2;

/// Named files that a leader puts and its replicas read: those of a [`FolderDepot`], which has an example, or of an `ObjectDepot`.
/// A name is put once, or again if it is damaged.
pub trait Depot {
    /// The place of a name, for messages.
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }

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
///
/// # Examples
///
/// A backup, from which a replica takes the place of a store that was lost:
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{FolderDepot, Replica, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let [path, backup, other] = ["hits", "backup", "other"].map(|name| folder.path().join(name));
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_id_field("id")?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
/// let mut batch = store.batch()?;
/// let id = batch.field("id")?;
/// let mut doc = batch.upsert();
/// doc.str(id, "a")?;
/// doc.finish()?;
/// store.apply(batch)?;
/// store.commit()?;
/// let depot = FolderDepot::open(&backup)?;
/// store.hold_commit(None)?.publish(&depot)?; // later, only the files that are new
///
/// let replica = Replica::open(&other, StoreOptions::default())?;
/// assert!(replica.install_from(&depot)?.is_some());
/// let store = replica.promote()?;
/// assert!(store.snapshot().find(b"a")?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        let directory = new_folder_at(path, &OpenOptions::new())?;
        if path.join(LOCK).exists() {
            let what = "expected a folder for files of commits, found a store";
            return Err(Error::Request(format!("{}: {what}", path.display())));
        }
        Ok(FolderDepot::of(Arc::new(directory)))
    }

    /// Any directory.
    pub fn of(directory: Arc<dyn Directory>) -> FolderDepot {
        FolderDepot { directory }
    }
}

impl Depot for FolderDepot {
    fn place(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn names(&self) -> Result<Vec<String>> {
        let names = self.directory.list()?.into_iter();
        Ok(names.filter_map(|entry| entry.name.into_string().ok()).collect())
    }

    fn put(&self, name: &str, bytes: u64, from: &mut dyn Read) -> Result<()> {
        let write = |file: &mut NewFile| copy(from, (name, bytes), file);
        // The names of all files before.
        put_file(&self.directory, name, write, || Ok(self.directory.sync()?))
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>> {
        match self.directory.open(OsStr::new(name)) {
            Ok(file) => Ok(Some(Box::new(FileReader::of(file)))),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self.directory.remove(OsStr::new(name)) {
            Err(error) if error.is_missing() => Ok(()),
            removed => Ok(removed?),
        }
    }
}

/// The files of a commit that were put into a depot: [`HeldCommit::publish`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The number of files, with the commit.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The damage that the depot had: each file was put again, or removed if it is of an older commit.
    pub damage: Vec<String>,
    /// The files of the commit, which are there, whole.
    whole: HashSet<(FileName, u128)>,
}

impl HeldCommit {
    /// Puts the files of the commit into a depot, those that are not there, and then the commit. Files that are there are
    /// compared with those of the store, and put again if they are damaged. O(bytes of the commit).
    ///
    /// # Errors
    ///
    /// [`Error::OtherStore`], [`Error::OldEpoch`] and [`Error::Diverged`] if the depot has commits of another store, of a
    /// leader that replaced this one, or with batches that this one lost; [`Error::LaterEpoch`] if the store was promoted or
    /// recovered, and has other batches than the depot: [`publish_over`](Self::publish_over) discards these;
    /// [`Error::DamagedDepot`] if a damaged commit there may be of a leader that replaced this one, or have batches that this
    /// one lacks; if a file cannot be read or put, or is damaged in the store.
    pub fn publish(&self, depot: &dyn Depot) -> Result<Published> {
        self.publish_after(depot, &Published::default())
    }

    /// As [`publish`](Self::publish), but also a commit of a store that was promoted or recovered, in place of what the depot
    /// has: batches that the commit lacks are lost there.
    ///
    /// # Errors
    ///
    /// As [`publish`](Self::publish), except [`Error::LaterEpoch`]; [`Error::DamagedDepot`] only if a damaged commit may be of a
    /// leader that replaced this one.
    pub fn publish_over(&self, depot: &dyn Depot) -> Result<Published> {
        self.publish_with(depot, &Published::default(), true)
    }

    /// As [`publish`](Self::publish), but files that an earlier call put or compared are not compared again. O(bytes of new
    /// files).
    ///
    /// # Errors
    ///
    /// As [`publish`](Self::publish).
    pub fn publish_after(&self, depot: &dyn Depot, before: &Published) -> Result<Published> {
        self.publish_with(depot, before, false)
    }

    fn publish_with(&self, depot: &dyn Depot, before: &Published, over: bool) -> Result<Published> {
        let names = depot.names()?;
        let commit = &self.files().commit;
        if commit.epoch == 0 {
            let what = "expected a commit to publish, found an empty replica".to_owned();
            return Err(Error::Request(what));
        }
        let Commits { whole, damaged } = Commits::read(depot, &names)?;
        let is_newest = whole.last().is_some_and(|(_, newest)| newest.commit == *commit);
        if let Some((_, newest)) = whole.last().filter(|_| !is_newest) {
            let known = Position::of(&newest.commit);
            require_newer(commit, (newest.commit.id, known), |Position { sequence, history, .. }| {
                format!(
                    "expected a commit after batch {sequence} (history {history:016x}), which the depot has, found one of batch {} (history {:016x}): \
                     the store lost what it had put there",
                    commit.sequence, commit.history
                )
            })?;
            // A commit does not say with which batch its epoch began: only equal batches prove that none is lost. A replica
            // goes on where a replica published, as it has what its new leader has.
            let is_same = (commit.sequence, commit.history) == (known.sequence, known.history);
            let is_mirror = commit.is_replica && newest.commit.is_replica;
            if !over && !is_same && !is_mirror && commit.epoch > known.epoch {
                return Err(Error::LaterEpoch { known: known.epoch, found: commit.epoch });
            }
        }
        let mut published = Published::default();
        // A damaged commit after the newest whole one may have batches that a later epoch lacks.
        let earlier = whole.last().filter(|(_, newest)| !over && newest.epoch() < commit.epoch);
        let newest_earlier = earlier.and_then(|(name, _)| FileName::parse(name));
        for (number, file, what) in damaged {
            let may_have_more = newest_earlier.is_some_and(|newest| newest < FileName::Commit(number));
            if may_have_more || number > self.number() {
                let what = format!(
                    "{what}: remove the file, unless it is of a leader that replaced this one, or has batches that are needed"
                );
                return Err(Error::DamagedDepot { file, what });
            }
            published.damage.push(format!("{file}: {what}"));
        }
        for file in self.files().files() {
            if names.contains(&file.name()) && self.is_there(&file, depot, before)? {
                published.whole.insert((file.name, file.id()));
                continue;
            }
            if names.contains(&file.name()) && whole.iter().any(|(_, other)| other.files().any(|f| f == file))
            {
                let what = "expected the bytes of the leader's file, found others";
                published.damage.push(format!("{}: {what}", depot.place(&file.name())));
            }
            // It must not take the place of a whole one.
            self.verify(&file)?;
            depot.put(&file.name(), file.bytes(), &mut self.open(&file)?)?;
            published.add(&file);
        }
        let (name, bytes) = (FileName::Commit(self.number()).to_string(), self.files().encode());
        if !is_newest {
            depot.put(&name, bytes.len() as u64, &mut &bytes[..])?;
            published.files += 1;
            published.bytes += bytes.len() as u64;
        }
        if published.files == 0 && published.damage.is_empty() {
            return Ok(published);
        }
        let older = whole.iter().filter(|(other, _)| *other != name).rev().take(KEPT - 1);
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

    /// Whether the file that the depot has under a name has the same bytes.
    fn is_there(&self, file: &StoredFile, depot: &dyn Depot, before: &Published) -> Result<bool> {
        if before.whole.contains(&(file.name, file.id())) {
            return Ok(true);
        }
        match depot.open(&file.name())? {
            Some(mut there) => is_same(&mut there, &mut self.open(file)?).map_err(Error::Stream),
            None => Ok(false),
        }
    }
}

impl Published {
    fn add(&mut self, file: &StoredFile) {
        self.files += 1;
        self.bytes += file.bytes();
        self.whole.insert((file.name, file.id()));
    }
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
    /// As [`install`](Self::install); [`Error::DamagedDepot`] if a commit there is damaged, or a file that is needed is damaged or
    /// missing; if the depot cannot be read. The replica stays as it was then.
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
            let Commits { mut whole, damaged } = Commits::read(depot, &depot.names()?)?;
            // It may be the newest.
            if let Some((_, file, what)) = damaged.into_iter().next() {
                return Err(Error::DamagedDepot { file, what });
            }
            let Some((_, newest)) = whole.pop() else { return Ok(None) };
            let (now, found) = (self.position(), Position::of(&newest.commit));
            // It may have frames that come after it.
            let is_behind = !over && found.epoch == now.epoch && found.sequence < now.sequence;
            if found == now || is_behind {
                return Ok(None);
            }
            let mut missing = None;
            let installed = self.install_with(&newest, over, &mut |file| match depot.open(&file.name())? {
                Some(found) => Ok(found),
                None => {
                    missing = Some(file.name());
                    let what = "expected a file of the newest commit, found none".to_owned();
                    Err(Error::DamagedDepot { file: depot.place(&file.name()), what })
                }
            });
            let installed = installed.map_err(|error| match error {
                Error::Damaged { file, what } if newest.files().any(|known| known.name() == file) => {
                    Error::DamagedDepot { file: depot.place(&file), what }
                }
                error => error,
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

/// The commits in a depot. Those that are being removed are left out.
struct Commits {
    /// Those that are whole, with their names, the newest last.
    whole: Vec<(String, CommitFiles)>,
    /// The others: the number in the name, the place, and the damage.
    damaged: Vec<(u64, String, String)>,
}

impl Commits {
    fn read(depot: &dyn Depot, names: &[String]) -> Result<Commits> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for name in names {
            let Some(FileName::Commit(number)) = FileName::parse(name) else { continue };
            let Some(file) = depot.open(name)? else { continue };
            let mut bytes = Vec::new();
            file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(Error::Stream)?;
            let place = depot.place(name);
            match CommitFile::decode(&bytes, &place) {
                Err(Error::Damaged { what, .. }) => damaged.push((number, place, what)),
                commit => whole.push((name.clone(), CommitFiles { commit: commit? })),
            }
        }
        whole.sort_by(|(a, one), (b, two)| {
            (one.epoch(), one.sequence(), a).cmp(&(two.epoch(), two.sequence(), b))
        });
        Ok(Commits { whole, damaged })
    }
}
