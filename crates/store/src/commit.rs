//! Commits: what makes changes durable.
//!
//! ```text
//! 1  the segments that were added: written and synced when they were
//! 2  delta    what was deleted since the last commit, written and synced; every eighth time, deltas are folded
//! 3  folder   synced: the names of all these files are durable
//! 4  commit   written under a temporary name, synced, renamed to `commit-NNNNNNNN`
//! 5  folder   synced: the commit is durable
//! 6  older commits, and files that no commit names any more, are removed
//! ```
//!
//! A power loss before 5 leaves the commit before, or this one, whole. Without 3, the name of the commit could become
//! durable before those of the files that it names.

use std::ffi::OsStr;

use docvalues_storage::NewFile;

use crate::commit_file::{CommitFile, FileEntry};
use crate::delta::{self, Row};
use crate::error::{Error, Result};
use crate::names::FileName;
use crate::state::SegmentState;
use crate::store::{Store, Writer};

/// The most deltas of a commit.
const MAX_DELTAS: usize = 8;

/// A segment of which at least one in this many documents changed gets a fold of its own.
const FOLDED_SHARE: u64 = 500;

/// A commit of a store: [`StoreReader::commits`](crate::StoreReader::commits).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    /// The number in the name of its file.
    pub number: u64,
    /// The number of the last batch of changes that it contains.
    pub sequence: u64,
    /// Counts the histories of the store: [`Store::recover`] begins a new one.
    pub epoch: u64,
    /// The number of segments.
    pub segments: usize,
    /// The number of documents that are not deleted.
    pub docs: u64,
    /// The bytes of all its files.
    pub bytes: u64,
}

impl CommitInfo {
    pub(crate) fn of(number: u64, commit: &CommitFile) -> CommitInfo {
        let folds = commit.segments.iter().filter_map(|segment| segment.fold.as_ref());
        let others = folds.chain(&commit.deltas).map(|file| file.bytes);
        CommitInfo {
            number,
            sequence: commit.sequence,
            epoch: commit.epoch,
            segments: commit.segments.len(),
            docs: commit.segments.iter().map(|segment| u64::from(segment.live)).sum(),
            bytes: commit.segments.iter().map(|segment| segment.bytes).chain(others).sum(),
        }
    }
}

impl Store {
    /// Makes all changes so far durable. Returns the number of the commit; without changes, that of the last one.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. The changes are still there then, and visible, and may be committed by another
    /// call, unless the store is poisoned: after a failed sync, or if another process removed its lock.
    pub fn commit(&self) -> Result<u64> {
        self.change(|writer| {
            if writer.is_uncommitted() {
                self.write_commit(writer)?;
                self.remove_unnamed(writer)?;
            }
            Ok(writer.commit)
        })
    }

    pub(crate) fn write_commit(&self, writer: &mut Writer) -> Result<()> {
        writer.require_lock()?;
        let (segments, deltas) = self.write_deltas(writer)?;
        let commit = CommitFile {
            sequence: writer.sequence,
            next_number: writer.files.next_number(),
            schema: (*writer.schema).clone(),
            segments: segments.iter().map(SegmentState::entry).collect(),
            deltas: deltas.clone(),
            ..writer.committed.clone()
        };
        // A commit that no reader accepts must not replace one that is good.
        commit.check().map_err(Error::Request)?;
        let synced = self.directory.sync().map_err(Into::into);
        writer.synced(synced)?;
        let number = writer.files.newest_commit().map_or(1, |newest| newest + 1);
        let written = self.write_commit_file(number, &commit);
        writer.synced(written)?;
        writer.files.add_commit(number, &commit);
        (writer.segments, writer.deltas) = (segments, deltas);
        writer.committed_as(number, commit);
        Ok(())
    }

    fn write_commit_file(&self, number: u64, commit: &CommitFile) -> Result<()> {
        let name = FileName::Commit(number).to_string();
        let temporary = format!(".{name}.tmp");
        // Of an attempt that failed.
        let _ = self.directory.remove(OsStr::new(&temporary));
        let mut file = NewFile::create(self.directory.clone(), &temporary)?;
        file.append(&commit.encode())?;
        file.finish()?;
        self.directory.rename(OsStr::new(&temporary), OsStr::new(&name))?;
        Ok(self.directory.sync()?)
    }

    /// Writes what changed since the last commit. Returns the segments and the deltas of the next one.
    fn write_deltas(&self, writer: &mut Writer) -> Result<(Vec<SegmentState>, Vec<FileEntry>)> {
        let mut deltas = writer.deltas.clone();
        let mut segments = writer.segments.clone();
        segments.retain(|state| state.live.count() > 0);
        let mut rows: Vec<Row> = segments.iter().flat_map(|state| rows(state, state.changed())).collect();
        if !rows.is_empty() && deltas.len() >= MAX_DELTAS {
            (rows, deltas) = (self.fold(writer, &mut segments)?, Vec::new());
        }
        if !rows.is_empty() {
            rows.sort_unstable();
            let number = writer.next_number();
            let written = delta::write(&self.directory, number, &rows);
            deltas.push(writer.synced(written)?);
            writer.files.add(FileName::Delta(number));
        }
        segments.iter_mut().for_each(|state| state.committed = state.live.clone());
        Ok((segments, deltas))
    }

    /// Gives segments of which much changed a fold. Returns what changed in the others since theirs.
    fn fold(&self, writer: &mut Writer, segments: &mut [SegmentState]) -> Result<Vec<Row>> {
        let mut left = Vec::new();
        for state in segments {
            let changed: Vec<_> = state.live.deleted_since(&state.folded).collect();
            if (changed.len() as u64).saturating_mul(FOLDED_SHARE) < u64::from(state.live.docs()) {
                left.extend(rows(state, changed));
            } else if !changed.is_empty() {
                let (segment, number) = (state.number(), writer.next_number());
                let written = delta::write_fold(&self.directory, (segment, number), &state.live);
                state.fold = Some(writer.synced(written)?);
                state.folded = state.live.clone();
                writer.files.add(FileName::Fold { segment, number });
            }
        }
        Ok(left)
    }

    /// Removes what no kept commit needs. The newest commit is durable.
    pub(crate) fn remove_unnamed(&self, writer: &mut Writer) -> Result<()> {
        writer.require_lock()?;
        let used = writer.used();
        writer.files.remove_unnamed(&*self.directory, self.options.keep_commits, &used);
        Ok(())
    }
}

impl SegmentState {
    /// The documents that were deleted since the last commit.
    fn changed(&self) -> Vec<docvalues_column::DocId> {
        self.live.deleted_since(&self.committed).collect()
    }
}

fn rows(state: &SegmentState, docs: Vec<docvalues_column::DocId>) -> impl Iterator<Item = Row> + use<> {
    let segment = state.number();
    docs.into_iter().map(move |doc| Row { segment, doc })
}
