//! The state of a commit: its opened segments and their live documents.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues_column::LiveDocs;
use docvalues_reader::OpenOptions;
use docvalues_storage::Directory;

use crate::commit_file::{CommitFile, FileEntry, SegmentEntry};
use crate::delta;
use crate::error::{Error, Result};
use crate::names::FileName;
use crate::segment::{self, StoreSegment};
use crate::versions::Tombstones;

/// A segment and what changed in it.
#[derive(Clone, Debug)]
pub(crate) struct SegmentState {
    pub(crate) segment: Arc<StoreSegment>,
    /// The file of folded deltas, if there is one, and what it says.
    pub(crate) fold: Option<FileEntry>,
    pub(crate) folded: LiveDocs,
    /// The live documents of the last commit: of the fold and all deltas.
    pub(crate) committed: LiveDocs,
    /// The live documents now.
    pub(crate) live: LiveDocs,
}

/// A commit, opened.
#[derive(Clone, Debug)]
pub(crate) struct CommitState {
    pub(crate) number: u64,
    pub(crate) file: CommitFile,
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) tombstones: Tombstones,
}

impl SegmentState {
    /// A segment in which nothing changed.
    pub(crate) fn new(segment: StoreSegment) -> SegmentState {
        let live = LiveDocs::all(segment.segment.docs());
        SegmentState {
            segment: Arc::new(segment),
            fold: None,
            folded: live.clone(),
            committed: live.clone(),
            live,
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.segment.number
    }

    /// The entry of a commit.
    pub(crate) fn entry(&self) -> SegmentEntry {
        let FileEntry { number, bytes, id } = self.segment.file;
        let (docs, live) = (self.live.docs(), self.live.count());
        SegmentEntry { number, docs, live, bytes, id, fold: self.fold }
    }

    fn open(
        directory: &dyn Directory,
        entry: &SegmentEntry,
        known: Option<&Arc<StoreSegment>>,
        options: OpenOptions,
    ) -> Result<SegmentState> {
        let segment = match known.filter(|known| known.file == entry.file()) {
            Some(known) => known.clone(),
            None => Arc::new(StoreSegment::open(directory, entry.file(), options)?),
        };
        let (file, docs) = (segment.segment.file(), segment.segment.docs());
        if docs != entry.docs {
            let what = format!("expected {} documents, found {docs}", entry.docs);
            return Err(Error::Damaged { file: file.to_owned(), what });
        }
        let folded = match entry.fold {
            None => LiveDocs::all(docs),
            Some(fold) => {
                let name = FileName::Fold { segment: entry.number, number: fold.number };
                delta::read_fold(&segment::open(directory, name, fold, options)?, docs)?
            }
        };
        let (committed, live) = (folded.clone(), folded.clone());
        Ok(SegmentState { segment, fold: entry.fold, folded, committed, live })
    }
}

impl CommitState {
    /// Opens all files of a commit but those that are `known`.
    ///
    /// # Errors
    ///
    /// If a file is missing, damaged or another one, or the files do not agree with the commit.
    pub(crate) fn open(
        directory: &dyn Directory,
        number: u64,
        options: OpenOptions,
        known: &[Arc<StoreSegment>],
    ) -> Result<CommitState> {
        let file = CommitFile::read(directory, number)?;
        let known: HashMap<u64, &Arc<StoreSegment>> =
            known.iter().map(|segment| (segment.number, segment)).collect();
        let open = |entry: &SegmentEntry| {
            SegmentState::open(directory, entry, known.get(&entry.number).copied(), options)
        };
        let segments = file.segments.iter().map(open).collect::<Result<Vec<_>>>()?;
        let mut state = CommitState { number, file, segments, tombstones: Tombstones::default() };
        state.apply_deltas(directory, options)?;
        state.check_counts(directory)?;
        Ok(state)
    }

    fn apply_deltas(&mut self, directory: &dyn Directory, options: OpenOptions) -> Result<()> {
        let numbers = self.segments.iter().map(SegmentState::number).zip(0..);
        let places: HashMap<u64, usize> = numbers.collect();
        let docs = self.segments.iter().map(|segment| u64::from(segment.live.docs())).sum();
        for entry in &self.file.deltas {
            let delta = segment::open(directory, FileName::Delta(entry.number), *entry, options)?;
            for row in delta::read(&delta, docs, &mut self.tombstones)? {
                // The segment may have been merged away since.
                let Some(state) = places.get(&row.segment).and_then(|at| self.segments.get_mut(*at)) else {
                    continue;
                };
                if row.doc.get() >= state.live.docs() {
                    let docs = state.live.docs();
                    let what =
                        format!("document {} of segment {:06x}, which has {docs}", row.doc, row.segment);
                    return Err(Error::Damaged { file: delta.file().to_owned(), what });
                }
                state.live.delete(row.doc);
            }
        }
        self.segments.iter_mut().for_each(|state| state.committed = state.live.clone());
        Ok(())
    }

    /// Compares live documents with the numbers in the commit.
    fn check_counts(&self, directory: &dyn Directory) -> Result<()> {
        for (state, entry) in self.segments.iter().zip(&self.file.segments) {
            if state.live.count() != entry.live {
                let file = directory.path().join(FileName::Commit(self.number).to_string());
                let (number, expected, found) = (entry.number, entry.live, state.live.count());
                let what = format!("segment {number:06x}: expected {expected} live documents, found {found}");
                return Err(Error::Damaged { file: file.display().to_string(), what });
            }
        }
        Ok(())
    }
}
