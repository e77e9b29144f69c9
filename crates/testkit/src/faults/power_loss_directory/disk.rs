//! The files and names of a folder: as processes see them, and as the disk has them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;

use docvalues_storage::FileLock;

/// The error number of a failed sync: input or output.
const EIO: i32 = 5;

/// The index of a file in [`Disk::inodes`].
pub(super) type InodeId = usize;

/// The files of names.
pub(super) type Names = BTreeMap<OsString, InodeId>;

#[derive(Default)]
pub(super) struct Disk {
    /// All files, including those without a name.
    pub(super) inodes: Vec<Inode>,
    pub(super) names: Names,
    pub(super) durable_names: Names,
    /// The changes of names since they were synced.
    pub(super) name_changes: Vec<NameChange>,
    /// The number of syncs so far.
    pub(super) syncs: u64,
    /// The syncs that have no effect.
    pub(super) ignored_syncs: BTreeSet<u64>,
    /// The syncs that fail, and lose what they were to write.
    pub(super) failing_syncs: BTreeSet<u64>,
    /// The first of the syncs that fail because the machine is going down.
    pub(super) last_sync: Option<u64>,
}

/// A file.
#[derive(Default)]
pub(super) struct Inode {
    pub(super) seen: Vec<u8>,
    pub(super) durable: Vec<u8>,
    /// The changes of the bytes since they were synced.
    pub(super) changes: Vec<Change>,
    pub(super) locks: Locks,
}

/// A change of the bytes of a file.
#[derive(Clone)]
pub(super) enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Clear,
}

/// A change of the names of a file: `old` ends, and `new` begins.
pub(super) struct NameChange {
    pub(super) inode: InodeId,
    pub(super) old: Option<OsString>,
    pub(super) new: Option<OsString>,
}

/// The locks on a file.
#[derive(Default)]
pub(super) struct Locks {
    shared: usize,
    is_exclusive: bool,
}

/// The outcome of a sync.
enum Outcome {
    Done,
    Ignored,
    Failed,
    Down,
}

impl Disk {
    pub(super) fn inode(&self, name: &OsStr) -> io::Result<InodeId> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Creates a file.
    pub(super) fn create(&mut self, name: &OsStr) -> io::Result<InodeId> {
        if self.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = self.inodes.len();
        self.inodes.push(Inode::default());
        self.change_names(NameChange { inode, old: None, new: Some(name.to_owned()) });
        Ok(inode)
    }

    pub(super) fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    pub(super) fn sync_names(&mut self) -> io::Result<()> {
        let (outcome, durable) = (self.next_sync(), &mut self.durable_names);
        outcome.sync(&mut self.name_changes, |change| change.apply(durable))
    }

    pub(super) fn sync_bytes(&mut self, inode: InodeId) -> io::Result<()> {
        let outcome = self.next_sync();
        let Inode { durable, changes, .. } = &mut self.inodes[inode];
        outcome.sync(changes, |change| change.apply(durable))
    }

    fn next_sync(&mut self) -> Outcome {
        let n = self.syncs;
        self.syncs += 1;
        match () {
            () if self.last_sync.is_some_and(|last| n >= last) => Outcome::Down,
            () if self.failing_syncs.contains(&n) => Outcome::Failed,
            () if self.ignored_syncs.contains(&n) => Outcome::Ignored,
            () => Outcome::Done,
        }
    }
}

impl Inode {
    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.changes.push(change);
    }
}

impl Change {
    pub(super) fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Change::Clear => file.clear(),
            // Nothing is written, and the file does not grow.
            Change::Write { bytes, .. } if bytes.is_empty() => {}
            Change::Write { offset, bytes } => {
                let end = offset + bytes.len();
                file.resize(file.len().max(end), 0);
                file[*offset..end].copy_from_slice(bytes);
            }
        }
    }
}

impl NameChange {
    /// Applies this change to names that earlier changes may not have reached.
    pub(super) fn apply(&self, names: &mut Names) {
        if let Some(old) = &self.old {
            names.remove(old);
        }
        if let Some(new) = &self.new {
            names.retain(|_, inode| *inode != self.inode);
            names.insert(new.clone(), self.inode);
        }
    }
}

impl Locks {
    pub(super) fn add(&mut self, lock: FileLock) -> io::Result<()> {
        match lock {
            FileLock::Shared if !self.is_exclusive => self.shared += 1,
            FileLock::Exclusive if !self.is_exclusive && self.shared == 0 => self.is_exclusive = true,
            _ => return Err(io::ErrorKind::WouldBlock.into()),
        }
        Ok(())
    }

    pub(super) fn release(&mut self, lock: FileLock) {
        match lock {
            FileLock::Shared => self.shared -= 1,
            FileLock::Exclusive => self.is_exclusive = false,
        }
    }
}

impl Outcome {
    /// Makes `changes` durable by `apply`, or loses them.
    fn sync<C>(self, changes: &mut Vec<C>, apply: impl FnMut(C)) -> io::Result<()> {
        match self {
            Outcome::Done => changes.drain(..).for_each(apply),
            Outcome::Ignored => {}
            Outcome::Failed => {
                changes.clear();
                return Err(io::Error::from_raw_os_error(EIO));
            }
            Outcome::Down => return Err(io::Error::from_raw_os_error(EIO)),
        }
        Ok(())
    }
}
