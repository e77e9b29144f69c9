//! [`Replica::install`]: the files of a commit instead of the batches before it.
//!
//! ```text
//! copy      each file that is missing, under its own name: written, synced, every checksum compared
//! folder    synced: the names are durable
//! commit    the leader's, under the next number of the replica; with a log of its own, if it has one
//! switch    snapshots from now on are of the new files; older ones stay as they are
//! ```
//!
//! Files keep their names, because deltas name segments. So the files that a replica writes itself, as it merges and applies
//! frames, are numbered far above those of the leader.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read;
use std::sync::atomic::Ordering;

use docvalues_storage::NewFile;

use super::Replica;
use super::epoch::restart_log;
use crate::commit::{give_up_writing, remove_unnamed, write_commit_file};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileEntry, FileName, MAX_NUMBER, Position, copy, random_id};
use crate::locks::lock;
use crate::read::{CommitFiles, StoredFile};
use crate::segments::{CommitState, SegmentState, segment};
use crate::store::Store;
use crate::versions::Tombstones;

/// Numbers come in ranges of this size. A replica numbers its own files from a random number on, in the lower half of the range
/// after that of its leader.
const OWN_NUMBERS: u64 = 1 << 32;

/// The files that [`Replica::install`] copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Installed {
    /// The number of files that were copied.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Replica {
    /// The files of a commit that are not here. Those that an interrupted call has copied are compared again.
    ///
    /// # Errors
    ///
    /// If the commit is older than the replica: see [`install`](Self::install).
    pub fn lacks(&self, commit: &CommitFiles) -> Result<Vec<StoredFile>> {
        self.require_newer(commit)?;
        let named: HashMap<_, _> =
            self.store.with_writer(|writer| writer.last_commit().1.named_files().collect());
        Ok(commit.files().filter(|file| !self.has_beside(&named, file)).collect())
    }

    /// Whether the file is here, whole.
    pub fn has(&self, file: &StoredFile) -> bool {
        let named = self.store.with_writer(|writer| {
            writer.last_commit().1.named_files().any(|known| known == (file.name, file.entry))
        });
        named || self.verify(file).is_ok()
    }

    /// As [`has`](Self::has), for many files: `named` are those of the last commit.
    fn has_beside(&self, named: &HashMap<FileName, FileEntry>, file: &StoredFile) -> bool {
        named.get(&file.name) == Some(&file.entry) || self.verify(file).is_ok()
    }

    /// Whether the file is here, whole. If so, it stays until another commit is installed, or a frame applied.
    pub(super) fn keep(&self, file: &StoredFile) -> bool {
        // First, so that it is not removed while it is compared.
        self.store.with_writer(|writer| writer.files.received.insert(file.name));
        self.has(file)
    }

    /// Copies a file of a commit that will be installed. Nothing else changes.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of the file; if the replica has another file of this name; if a call fails. The file is not
    /// there then.
    pub fn copy(&self, file: &StoredFile, mut from: impl Read) -> Result<()> {
        let _one = lock(&self.receiving);
        self.copy_alone(file, &mut from)
    }

    /// Switches to a commit of the leader. Copies the files that are missing, from what `open` returns for them.
    ///
    /// Readers go on with the snapshots that they have. What the replica applied since the batch of the commit must come
    /// again as frames. O(bytes of missing files), and O(changed documents) to open the commit.
    ///
    /// # Errors
    ///
    /// [`Error::OtherStore`]; [`Error::OldEpoch`] if the commit is of a leader that was replaced; [`Error::Diverged`] if the
    /// replica has batches of the same epoch that the commit lacks: [`install_over`](Self::install_over) discards them;
    /// [`Error::Damaged`] with the name of a file that differs from the commit; the errors of `open`. The replica stays as it was then.
    pub fn install<R: Read>(
        &self,
        commit: &CommitFiles,
        mut open: impl FnMut(&StoredFile) -> Result<R>,
    ) -> Result<Installed> {
        self.install_with(commit, false, &mut |file| Ok(Box::new(open(file)?)))
    }

    /// As [`install`](Self::install), but accepts any commit: one that lacks batches of the replica, one of an older epoch,
    /// and one of another store. The replica discards its batches that the commit lacks. For a leader that lost batches after
    /// it had sent them.
    ///
    /// # Errors
    ///
    /// As [`install`](Self::install), except [`Error::OtherStore`], [`Error::OldEpoch`] and [`Error::Diverged`].
    pub fn install_over<R: Read>(
        &self,
        commit: &CommitFiles,
        mut open: impl FnMut(&StoredFile) -> Result<R>,
    ) -> Result<Installed> {
        self.install_with(commit, true, &mut |file| Ok(Box::new(open(file)?)))
    }

    fn require_newer(&self, commit: &CommitFiles) -> Result<()> {
        let known = (self.store.with_writer(|writer| writer.last_commit().1.id), self.position());
        require_newer(&commit.commit, known, |Position { sequence, history, .. }| {
            let found = commit.sequence();
            format!(
                "expected a commit with batch {sequence} (history {history:016x}), found one up to batch {found}: \
                 it is an older one, or the leader lost batches that the replica has"
            )
        })
    }

    pub(super) fn install_with<'r>(
        &self,
        commit: &CommitFiles,
        over: bool,
        open: &mut dyn FnMut(&StoredFile) -> Result<Box<dyn Read + 'r>>,
    ) -> Result<Installed> {
        let _one = lock(&self.receiving);
        if !over {
            self.require_newer(commit)?;
        }
        let mut installed = Installed::default();
        // As `keep` does for each.
        let named: HashMap<_, _> = self.store.with_writer(|writer| {
            writer.files.received.extend(commit.files().map(|file| file.name));
            writer.last_commit().1.named_files().collect()
        });
        for file in commit.files().filter(|file| !self.has_beside(&named, file)) {
            self.copy_alone(&file, &mut *open(&file)?)?;
            installed.files += 1;
            installed.bytes += file.bytes();
        }
        switch_to_leader(&self.store, &commit.commit)?;
        Ok(installed)
    }

    fn copy_alone(&self, file: &StoredFile, from: &mut dyn Read) -> Result<()> {
        let (store, name) = (&self.store, file.name());
        // No commit is being written: the writer knows the files of each, and none may be of this name.
        let flushing = lock(&store.flushing);
        store.change_quietly(|writer| {
            writer.require_lock()?;
            let used = writer.used();
            match writer.files.make_place_for(file.name, &used) {
                true => Ok(()),
                false => Err(Error::Request(format!(
                    "{}: expected no other {name}, found another file of this name: give the replica an empty folder",
                    store.directory().path().display()
                ))),
            }
        })?;
        // Of an attempt that was interrupted.
        let _ = store.directory.remove(OsStr::new(&name));
        let mut to = NewFile::create(store.directory.clone(), &name)?;
        drop(flushing);
        copy(from, (&name, file.bytes()), &mut to)?;
        to.finish()?;
        if let Err(error) = self.verify(file) {
            let path = store.directory.path().join(&name).display().to_string();
            drop(store.directory.remove(OsStr::new(&name)));
            let is_damage = match &error {
                Error::Read(error) => error.is_corrupt(),
                error => matches!(error, Error::Damaged { .. }),
            };
            // The bytes are those that came.
            let message = error.to_string();
            return Err(match message.strip_prefix(&format!("{path}: ")) {
                Some(what) if is_damage => Error::Damaged { file: name, what: what.to_owned() },
                _ => error,
            });
        }
        store.with_writer(|writer| {
            writer.files.received.insert(file.name);
            writer.files.add(file.name);
        });
        Ok(())
    }

    /// Compares the file with the commit, and all its checksums.
    fn verify(&self, StoredFile { name, entry }: &StoredFile) -> Result<()> {
        segment::verify(&*self.store.directory, *name, *entry, self.store.options.open)
    }
}

/// Fails unless a commit may follow the last batch of a store with this id.
pub(super) fn require_newer(
    commit: &CommitFile,
    (id, known): (u64, Position),
    diverged: impl FnOnce(Position) -> String,
) -> Result<()> {
    if known.epoch > 0 && id != commit.id {
        return Err(Error::OtherStore { known: id, found: commit.id });
    }
    if commit.epoch < known.epoch {
        return Err(Error::OldEpoch { known: known.epoch, found: commit.epoch });
    }
    let is_other = commit.sequence == known.sequence && commit.history != known.history;
    if commit.epoch == known.epoch && (commit.sequence < known.sequence || is_other) {
        return Err(Error::Diverged { what: diverged(known) });
    }
    Ok(())
}

/// Switches to a commit of the leader, all of whose files are here.
fn switch_to_leader(store: &Store, leader: &CommitFile) -> Result<()> {
    let _merging = lock(&store.merging);
    let _flushing = lock(&store.flushing);
    let (number, keep, before) = store.change_quietly(|writer| {
        writer.require_lock()?;
        let own = own_numbers(leader.next_number, store.next_number.load(Ordering::Relaxed));
        if own > MAX_NUMBER - OWN_NUMBERS {
            return Err(Error::Request(format!(
                "expected a commit with numbers far below {MAX_NUMBER}, found {}",
                leader.next_number
            )));
        }
        store.next_number.fetch_max(own, Ordering::Relaxed);
        let (number, committed) = writer.last_commit();
        // Only the opened files are of use: what changed in them is read again, with the tombstones.
        let fresh = |state: &SegmentState| SegmentState::new(state.segment.clone());
        let before = CommitState {
            number,
            file: CommitFile { deltas: Vec::new(), ..committed.clone() },
            segments: writer.docs.segments.iter().map(fresh).collect(),
            tombstones: Tombstones::default(),
        };
        Ok((writer.next_commit(), writer.keep, before))
    })?;
    let made = Some((store.clock)());
    // One number more than now, for the log.
    let next_number = store.next_number.load(Ordering::Relaxed) + 1;
    let mut commit = CommitFile { is_replica: true, first_log: None, next_number, made, ..leader.clone() };
    commit.set_keep(keep);
    commit.check().map_err(Error::Request)?;
    let state = CommitState::of(&*store.directory, number, commit, store.options.open, Some(&before))?;
    let adopted = switch_to(store, state, leader, (before.number, before.file.checksum));
    store.poison_after(adopted)?;
    // Its documents are no longer there.
    give_up_writing(store);
    remove_unnamed(store)
}

fn switch_to(store: &Store, mut state: CommitState, leader: &CommitFile, before: (u64, u32)) -> Result<()> {
    let synced = store.directory.sync().map_err(Into::into);
    store.change_quietly(|writer| writer.synced(synced))?;
    restart_log(store, leader.epoch, leader.sequence)?;
    state.file.first_log = store.log.as_ref().map(|log| log.number());
    let bytes = state.file.seal(state.number, before);
    let written = write_commit_file(store, state.number, &bytes);
    let gone = store.change(|writer| {
        writer.synced(written)?;
        let gone = writer.switch_to(state);
        store.note_room(writer);
        Ok(gone)
    })?;
    store.ids.remove(&gone);
    Ok(())
}

/// The first number for files of the replica's own, if the leader's next number is `leader` and the replica's is `own`.
fn own_numbers(leader: u64, own: u64) -> u64 {
    match own < leader + OWN_NUMBERS / 2 {
        true => {
            (leader / OWN_NUMBERS + 1).saturating_mul(OWN_NUMBERS) + random_id(leader) % (OWN_NUMBERS / 2)
        }
        false => own,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;

    use super::*;
    use crate::options::StoreOptions;
    use crate::schema::StoreSchema;

    /// Or it could replace a file that the commit is about to name.
    #[test]
    fn a_copy_takes_its_name_while_no_commit_is_written() {
        let disk = |name: &str| Arc::new(PowerLossDirectory::new(name));
        let size = Field::new("size", Kind::Numeric, LogicalType::I64);
        let schema = StoreSchema::new().with_field(size).unwrap();
        let leader = Store::create_in(disk("/leader"), schema, StoreOptions::default()).unwrap();
        let mut segment = leader.new_segment().unwrap();
        let size = segment.field("size").unwrap();
        let mut doc = segment.document();
        doc.i64(size, 7).unwrap();
        doc.finish().unwrap();
        segment.finish().unwrap();
        leader.commit().unwrap();
        let held = leader.hold_commit(None).unwrap();
        let file = held.files().files().next().unwrap();

        let replica = Replica::open_in(disk("/replica"), StoreOptions::default()).unwrap();
        let flushing = lock(&replica.store.flushing);
        thread::scope(|scope| {
            let copied = scope.spawn(|| replica.copy(&file, held.open(&file).unwrap()));
            thread::sleep(Duration::from_millis(20));
            let names = replica.store.directory.list().unwrap();
            assert!(names.iter().all(|entry| *entry.name != *file.name()), "{names:?}");
            drop(flushing);
            copied.join().unwrap().unwrap();
        });
        assert!(replica.has(&file));
    }

    #[test]
    fn numbers_of_a_replica_are_far_above_those_of_its_leader() {
        for leader in [0, 1, OWN_NUMBERS - 1, OWN_NUMBERS, 7 * OWN_NUMBERS + 5] {
            let own = own_numbers(leader, 3);
            assert!(own > leader + OWN_NUMBERS / 2 || leader % OWN_NUMBERS > OWN_NUMBERS / 2);
            // They stay, as long as the leader is far below.
            assert_eq!(own_numbers(leader, leader + OWN_NUMBERS), leader + OWN_NUMBERS);
            assert!(own < leader + 2 * OWN_NUMBERS);
        }
    }
}
