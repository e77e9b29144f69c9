//! Replicas: copies of a store that follow its writer, the leader.
//!
//! ```text
//! leader                                                  replica
//! log files  -> Frames       a batch, as in the log  ->   apply_frame    indexes it again
//! commit     -> HeldCommit   files                   ->   install        copies the files that it lacks, and switches
//!               Feed         either, as a stream     ->   take
//! ```
//!
//! A replica by frames receives each batch: the feed polls the log every 1 to 50 ms. A replica by files receives commits, and
//! indexes nothing. A feed switches between both: a replica that is empty, or was away too long, begins with files.
//!
//! The idea of epochs with a check of what comes before is Raft's (Ongaro and Ousterhout, 2014) and Kafka's (KIP-101);
//! the history is a hash of all batches, so that no list of epochs is needed.
//!
//! There is no leader election: [`Replica::promote`] makes a replica a leader when the caller decides so.

mod changes;
mod depot;
mod epoch;
mod feed;
mod frames;
mod install;
#[cfg(feature = "object_store")]
mod object_depot;
mod stream;

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use docvalues_storage::Directory;

pub use changes::{Changed, Changes, FieldChange, StoreChange};
pub use depot::{Depot, FolderDepot, Published};
use epoch::begin_epoch;
pub use feed::Feed;
pub use frames::{Frame, Frames};
pub use install::Installed;
#[cfg(feature = "object_store")]
pub use object_depot::ObjectDepot;
pub use stream::{Item, StreamReader, StreamWriter};

use crate::batch::body;
use crate::error::{Error, Result};
use crate::files::{CommitFile, Files, Position, next_epoch};
use crate::locks::{Mutex, lock};
use crate::log::decode_frame;
use crate::observer::Observer;
use crate::open::{create_with, open_in};
use crate::options::{StoreOptions, new_folder_at};
use crate::read::{HeldCommit, Snapshot, StoreReader};
use crate::schema::StoreSchema;
use crate::store::Store;
use crate::write::{Wrong, decode_next, make_room, replay_decoded, wait_for_log};

/// A copy of a store that follows its leader, by frames of batches and by files of commits.
///
/// Its store refuses all other changes, also when it is opened as a [`Store`], until it is [promoted](Self::promote).
/// All methods take `&self`; frames and commits wait for each other, readers for neither.
///
/// # Order of frames
///
/// | compared | refuses |
/// | --- | --- |
/// | sequence number | a frame after a gap: [`Error::Gap`]. One of the same epoch with an earlier number is skipped, without a check of its history |
/// | epoch | frames of a leader that was replaced: [`Error::OldEpoch`] |
/// | history | frames of another store, and of a leader that lost batches which the replica has: [`Error::Diverged`] |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{Replica, Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_id_field("id")?;
/// let options = StoreOptions::new().keep_frames(64 << 20);
/// let leader = Store::create(folder.path().join("leader"), schema, options)?;
/// let replica = Replica::open(folder.path().join("replica"), options)?;
///
/// // An empty replica begins with the files of a commit.
/// let commit = leader.hold_commit(None)?;
/// replica.install(commit.files(), |file| commit.open(file))?;
///
/// let mut batch = leader.batch()?;
/// let id = batch.field("id")?;
/// let mut doc = batch.upsert();
/// doc.str(id, "a")?;
/// doc.finish()?;
/// leader.apply(batch)?;
///
/// let mut frames = leader.frames(replica.position().sequence)?;
/// while let Some(frame) = frames.wait(Duration::ZERO)? {
///     replica.apply_frame(&frame.bytes)?;
/// }
/// replica.store().refresh()?;
/// assert_eq!(replica.snapshot().docs(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replica {
    store: Arc<Store>,
    /// Held by the frame or commit that is being taken.
    receiving: Mutex<()>,
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica").field("store", &self.store).finish_non_exhaustive()
    }
}

/// The outcome of [`Replica::apply_frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// The batch was applied.
    Applied,
    /// The replica has a batch with this number or a later one. It did not apply the frame.
    Known,
}

/// An item that [`Replica::take`] took from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Taken {
    /// A frame.
    Frame(Received),
    /// A file of a commit that comes later.
    File {
        /// Whether the replica did not have it.
        is_new: bool,
    },
    /// A commit: the replica has it now.
    Commit,
}

impl Replica {
    /// Opens the replica in the folder `path`, or makes an empty one if there is no store.
    ///
    /// The options are its own: with a log, it also survives between commits, and can send its frames to others.
    ///
    /// # Errors
    ///
    /// If the store there is no replica; and as [`Store::open`] and [`Store::create`].
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Replica> {
        Replica::open_in(Arc::new(new_folder_at(path, &options.open)?), options)
    }

    /// As [`open`](Self::open), in any directory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(directory: Arc<dyn Directory>, options: StoreOptions) -> Result<Replica> {
        Replica::open_observed(directory, options, None)
    }

    /// As [`open_in`](Self::open_in), with an observer of the segments that the replica writes itself: of frames, and merges. Side
    /// files of the leader come with its segments.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and those of the observer.
    pub fn open_in_with(
        directory: Arc<dyn Directory>,
        options: StoreOptions,
        observer: Arc<dyn Observer>,
    ) -> Result<Replica> {
        Replica::open_observed(directory, options, Some(observer))
    }

    fn open_observed(
        directory: Arc<dyn Directory>,
        options: StoreOptions,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<Replica> {
        let newest = Files::list_beside_writer(&*directory)?.newest_commit();
        let store = match newest {
            None => {
                let empty = CommitFile { is_replica: true, ..CommitFile::new(StoreSchema::new(), 0, 0) };
                create_with(directory, empty, options, observer)?
            }
            Some(_) => open_in(directory, options, observer, true)?,
        };
        if !store.change_quietly(|writer| Ok(writer.last_commit().1.is_replica))? {
            return Err(Error::Request(format!(
                "{}: expected a replica, found a store with changes of its own: give the replica another folder",
                store.directory().path().display()
            )));
        }
        Ok(Replica { store: Arc::new(store), receiving: Mutex::new(()) })
    }

    /// The last batch that it has. It is as durable as the options of its store say.
    pub fn position(&self) -> Position {
        self.store.position()
    }

    /// A snapshot of its contents. O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// Its store: to refresh, commit and merge, and for a [`Background`](crate::Background). It refuses changes of
    /// documents.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Applies the batch of a [`Frame`], as [`Store::apply`] did in the leader. O(operations).
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] if batches between are missing, or the change is only in the files of the next commit;
    /// [`Error::OldEpoch`] and [`Error::Diverged`] as the [table](Replica#order-of-frames) says; [`Error::Damaged`] if the
    /// frame is not whole. Nothing is changed then. And as [`Store::apply`].
    pub fn apply_frame(&self, frame: &[u8]) -> Result<Received> {
        let _one = lock(&self.receiving);
        let (epoch, frame) = decode_frame(frame)?;
        let (sequence, now) = (frame.sequence, self.position());
        if epoch < now.epoch {
            return Err(Error::OldEpoch { known: now.epoch, found: epoch });
        }
        let is_known = sequence < now.sequence || (sequence, frame.history) == (now.sequence, now.history);
        if is_known && epoch == now.epoch {
            return Ok(Received::Known);
        }
        let diverged = |history: u64| {
            let (known, at) = (now.history, now.sequence);
            Error::Diverged {
                what: format!(
                    "batch {sequence} of epoch {epoch} (history {history:016x}) does not follow batch {at} of epoch {} \
                     (history {known:016x}): it is of another store, or the leader lost batches that the replica has",
                    now.epoch
                ),
            }
        };
        if sequence <= now.sequence {
            return Err(diverged(frame.history));
        }
        if sequence != now.sequence + 1 || body::is_elsewhere(&frame.body) {
            return Err(Error::Gap { expected: now.sequence + 1, found: sequence });
        }
        make_room(&self.store)?;
        let damaged = |wrong| match wrong {
            Wrong::Frame(what) => Error::Damaged { file: format!("the frame of batch {sequence}"), what },
            Wrong::Store(error) => error,
        };
        let history = frame.history;
        let decoded = decode_next(&self.store, frame).map_err(damaged)?;
        if decoded.frame.history_after(now.history) != history {
            return Err(diverged(history));
        }
        if epoch > now.epoch {
            begin_epoch(&self.store, epoch, true)?;
        }
        replay_decoded(&self.store, decoded).map_err(damaged)?;
        // From now on, its files are its own, to be merged and folded.
        self.store.with_writer(|writer| writer.files.received.clear());
        wait_for_log(&self.store, sequence)?;
        Ok(Received::Applied)
    }

    /// Takes the next item of a stream; `None` at its end.
    ///
    /// # Errors
    ///
    /// As [`StreamReader::next_item`], [`apply_frame`](Self::apply_frame), [`copy`](Self::copy) and
    /// [`install`](Self::install). What came before stays.
    pub fn take<R: Read>(&self, stream: &mut StreamReader<R>) -> Result<Option<Taken>> {
        self.take_with(stream, false)
    }

    /// As [`take`](Self::take), but as [`install_over`](Self::install_over) does for commits. It stays a replica:
    /// [`promote`](Self::promote) makes it a leader.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take).
    pub fn take_over<R: Read>(&self, stream: &mut StreamReader<R>) -> Result<Option<Taken>> {
        self.take_with(stream, true)
    }

    fn take_with<R: Read>(&self, stream: &mut StreamReader<R>, over: bool) -> Result<Option<Taken>> {
        let Some(item) = stream.next_item()? else { return Ok(None) };
        let taken = match item {
            Item::Frame(frame) => Taken::Frame(self.apply_frame(&frame)?),
            Item::File(file) if self.keep(&file) => Taken::File { is_new: false },
            Item::File(file) => {
                self.copy(&file, stream.contents()).map_err(|error| match error {
                    Error::Damaged { file, what } => {
                        Error::Damaged { file: format!("the stream of the leader: {file}"), what }
                    }
                    error => error,
                })?;
                Taken::File { is_new: true }
            }
            Item::Commit(commit) => {
                self.install_with(&commit, over, &mut |file| {
                    let what = "expected the file before its commit, found none".to_owned();
                    Err(Error::Damaged { file: file.name(), what })
                })?;
                Taken::Commit
            }
        };
        Ok(Some(taken))
    }

    /// Makes it a leader, in a new epoch: replicas that follow it refuse what the old leader still sends. It is committed.
    /// [`publish`](HeldCommit::publish) to its depot before the first change: later, only
    /// [`publish_over`](HeldCommit::publish_over) may. [`FolderDepot`] has an example.
    ///
    /// # Errors
    ///
    /// If it is empty, or as [`Store::commit`].
    pub fn promote(self) -> Result<Arc<Store>> {
        let one = lock(&self.receiving);
        let now = self.position();
        if now.epoch == 0 {
            return Err(Error::Request(format!(
                "{}: expected a replica with a commit of its leader, found an empty one",
                self.store.directory().path().display()
            )));
        }
        begin_epoch(&self.store, next_epoch(now.epoch), false)?;
        // Its files are its own, to be merged and folded.
        self.store.with_writer(|writer| writer.files.received.clear());
        drop(one);
        Ok(self.store)
    }
}

impl Store {
    /// Holds a commit that the store keeps, or the newest, so that its files can be copied: [`FolderDepot`] has an example.
    ///
    /// # Errors
    ///
    /// [`Error::NoCommit`] if there is no such commit, or it is damaged.
    pub fn hold_commit(&self, number: Option<u64>) -> Result<HeldCommit> {
        HeldCommit::of(self.directory.clone(), number)
    }

    /// The frames of the batches after batch `after`.
    ///
    /// # Errors
    ///
    /// [`Error::NoFrames`] if the log no longer has all of them, or the store has no log; [`Error::Diverged`] if the
    /// store has no batch `after`: it lost batches that the replica has.
    pub fn frames(&self, after: u64) -> Result<Frames> {
        StoreReader::frames_in(self.directory.clone(), after)
    }

    /// The upserts, updates and deletes of the batches after batch `from_sequence`, such as
    /// [`Snapshot::sequence`](crate::Snapshot::sequence), read from the log. O(bytes of the log).
    /// [`Changes`] has an example.
    ///
    /// The log needs a [`Durability`](crate::Durability) other than `OnCommit`, or
    /// [`keep_frames`](crate::StoreOptions::keep_frames), and holds no change that was made by a query or by addresses, no
    /// added segment, and no [`alter`](Self::alter). Where one of them comes, there is `Error::TooOld`: scan a snapshot, and
    /// follow the changes after it.
    ///
    /// # Errors
    ///
    /// `Error::TooOld` if the log does not have all changes; `Error::NoFrames` if there is no log; `Error::Diverged` if the
    /// store has no batch `from_sequence`; `Error::Damaged` if a frame is damaged.
    pub fn changes(&self, from_sequence: u64) -> Result<Changes> {
        // The log has what led to this schema, as it is written first.
        let (schema, now) = (self.schema(), self.position().sequence);
        if let Some(log) = &self.log {
            log.write_to(now)?;
        }
        Changes::open(&self.directory, (schema, now), from_sequence)
    }
}
