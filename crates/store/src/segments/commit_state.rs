//! [`CommitState`]: the opened segments of a commit, and their live documents.

use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_storage::Directory;

use super::delta;
use super::segment::{self, StoreSegment};
use super::segment_state::{SegmentState, places_by_number};
use super::side_file::SideFile;
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, SegmentEntry};
use crate::versions::Tombstones;

/// A commit, opened.
#[derive(Clone, Debug)]
pub(crate) struct CommitState {
    pub(crate) number: u64,
    pub(crate) file: CommitFile,
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) tombstones: Tombstones,
}

impl CommitState {
    /// Opens a commit. Segments of the one `before` stay open, and its deltas are not read again if this one has more.
    ///
    /// # Errors
    ///
    /// If a file is missing, damaged or another one, or the files do not agree with the commit.
    pub(crate) fn open(
        directory: &dyn Directory,
        number: u64,
        options: OpenOptions,
        before: Option<&CommitState>,
    ) -> Result<CommitState> {
        let file = CommitFile::read(directory, number)?;
        CommitState::of(directory, number, file, options, before)
    }

    /// As [`open`](Self::open), of a commit that has been read.
    pub(crate) fn of(
        directory: &dyn Directory,
        number: u64,
        file: CommitFile,
        options: OpenOptions,
        before: Option<&CommitState>,
    ) -> Result<CommitState> {
        let known = before.map_or(&[][..], |before| &before.segments);
        let places = places_by_number(known);
        let mut segments = Vec::with_capacity(file.segments.len());
        for entry in &file.segments {
            let known = places.get(&entry.number).map(|place| &known[*place]);
            segments.push(open_segment(directory, entry, known, options)?);
        }
        let mut state = CommitState { number, file, segments, tombstones: Tombstones::default() };
        let goes_on = |before: &&CommitState| state.file.deltas.starts_with(&before.file.deltas);
        let read = before.filter(goes_on).map(|before| before.file.deltas.len());
        let known = if read.is_some() { known } else { &[] };
        state.read_changes(directory, options, (read.unwrap_or(0), known))?;
        state.check_counts(directory)?;
        Ok(state)
    }

    /// Reads the folds, then the deltas; but of segments that were open with the first `read` deltas, only the others.
    fn read_changes(
        &mut self,
        directory: &dyn Directory,
        options: OpenOptions,
        (read, known): (usize, &[SegmentState]),
    ) -> Result<()> {
        let (schema, places) = (&self.file.schema, places_by_number(known));
        for state in &mut self.segments {
            let same = |known: &&SegmentState| {
                Arc::ptr_eq(&known.segment, &state.segment) && known.fold == state.fold
            };
            let known = places.get(&state.number()).map(|place| &known[*place]);
            if let Some(known) = known.filter(same) {
                (state.folded, state.now) = (known.folded.clone(), known.committed.clone());
            } else if let Some(fold) = state.fold {
                let name = FileName::Fold { segment: state.number(), number: fold.number };
                let fold = segment::open(directory, name, fold, options)?;
                delta::read(&fold, schema, std::slice::from_mut(state), &mut self.tombstones)?;
                state.folded = state.now.clone();
            }
        }
        for entry in &self.file.deltas[read..] {
            let delta = segment::open(directory, FileName::Delta(entry.number), *entry, options)?;
            delta::read(&delta, schema, &mut self.segments, &mut self.tombstones)?;
        }
        self.segments.iter_mut().for_each(|state| state.committed = state.now.clone());
        Ok(())
    }

    /// Compares live documents with the numbers in the commit.
    fn check_counts(&self, directory: &dyn Directory) -> Result<()> {
        for (state, entry) in self.segments.iter().zip(&self.file.segments) {
            if state.now.live.count() != entry.live {
                let file = directory.path().join(FileName::Commit(self.number).to_string());
                let (number, expected, found) = (entry.number, entry.live, state.now.live.count());
                let what = format!("segment {number:06x}: expected {expected} live documents, found {found}");
                return Err(Error::Damaged { file: file.display().to_string(), what });
            }
        }
        Ok(())
    }
}

/// Opens a segment of a commit, unless it is `known`.
fn open_segment(
    directory: &dyn Directory,
    entry: &SegmentEntry,
    known: Option<&SegmentState>,
    options: OpenOptions,
) -> Result<SegmentState> {
    let is_same = |known: &&SegmentState| {
        let (segment, side) = (&known.segment, known.segment.side.iter().map(|side| &side.entry));
        segment.file == entry.file() && side.eq(&entry.side)
    };
    let segment = match known.filter(is_same) {
        Some(known) => known.segment.clone(),
        None => {
            let mut segment = StoreSegment::open(directory, entry.file(), options)?;
            let side = entry.side.iter().map(|side| SideFile::open(directory, entry.number, side.clone()));
            segment.side = side.collect::<Result<_>>()?;
            Arc::new(segment)
        }
    };
    let (file, docs) = (segment.segment.file(), segment.segment.docs());
    if docs != entry.docs {
        let what = format!("expected {} documents, found {docs}", entry.docs);
        return Err(Error::Damaged { file: file.to_owned(), what });
    }
    let fold = entry.fold;
    Ok(SegmentState { fold, ..SegmentState::new(segment) })
}
