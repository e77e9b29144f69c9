//! [`Observer`]: a hook before a segment is published, which may write files beside it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues_reader::Segment;
use docvalues_storage::Directory;

use crate::error::{Error, Result};
use crate::files::{FileName, SideEntry};
use crate::read::FileReader;
use crate::segments::side_file::SideWriter;
use crate::segments::{
    Block, Moves, NewNumbers, PartId, PartMoves, SegmentState, SideFile, Step, StoreSegment,
};

/// A hook that is called before a new segment of a store is published: after a flush, a merge, an added segment, and one that
/// [`Store::alter`](crate::Store::alter) writes again. It may write [side files](Publication::write), and may fail the
/// publication.
///
/// Calls are on the thread that writes the segment. Searches, and batches that fit the buffer, go on during a flush, a merge, and
/// while a segment is added; during `alter`, which keeps the old segments until all new ones are there, batches wait. The
/// observer may take and search [`Store::snapshot`](crate::Store::snapshot)s. No other call of the same store may be made, as it
/// may wait for the one that called the observer. Several calls may run at once. A lock that the observer takes must not be held
/// by who calls the store.
///
/// The segment may have documents that no snapshot had as yet, and a merge may read a segment of which no snapshot was taken.
///
/// What was published and not committed is lost with the process, with its side files. Opening the store applies the log again,
/// and calls the observer for the segments of it, which have other numbers.
///
/// Without an observer, a store whose segments have side files writes no segment: [`Error::NoObserver`]. It can be read and
/// checked, and documents can be deleted, and updated in segments. Segments from before the first observer have no side files.
///
/// # Examples
///
/// ```
/// use std::io::Read as _;
/// use std::sync::Arc;
///
/// use docvalues_store::{Observer, Publication, Store, StoreOptions, StoreSchema};
///
/// struct CountDocs;
///
/// impl Observer for CountDocs {
///     fn publish(
///         &self,
///         publication: &mut Publication<'_>,
///     ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         let docs = publication.segment().docs();
///         publication.write("docs", |out| out.write_all(&docs.to_le_bytes()))?;
///         Ok(())
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let options = StoreOptions::default();
/// let store = Store::create_with(folder.path(), StoreSchema::new(), options, Arc::new(CountDocs))?;
/// let mut batch = store.batch()?;
/// batch.upsert().finish()?;
/// store.apply(batch)?;
/// store.commit()?;
/// let snapshot = store.snapshot();
/// let number = snapshot.segments().next().expect("a segment").number;
/// let mut docs = Vec::new();
/// snapshot.side_file(number, "docs").expect("a side file").read_to_end(&mut docs)?;
/// assert_eq!(docs, 1_u32.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer: Send + Sync {
    /// Is called before a segment is published.
    ///
    /// # Errors
    ///
    /// Any fails the publication, and so does a side file that could not be written, whatever is returned here.
    /// [`Error::Observer`] names it; the error of such a file is returned as it is. Documents of the buffer
    /// stay in it, and are written again, to another segment; a merge leaves the segments as they are.
    fn publish(
        &self,
        publication: &mut Publication<'_>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// A segment that is about to be published: see [`Observer`].
pub struct Publication<'a> {
    directory: &'a Arc<dyn Directory>,
    next_number: &'a AtomicU64,
    segment: &'a StoreSegment,
    origin: Origin<'a>,
    side: Vec<SideFile>,
    created: &'a mut Vec<FileName>,
    /// Why a side file could not be written, which an observer may not hide.
    failed: Option<Error>,
}

impl fmt::Debug for Publication<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publication").field("segment", &self.segment.number).finish_non_exhaustive()
    }
}

/// The documents of a new segment before, with their numbers in it.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    Blocks(&'a [Block], &'a Arc<NewNumbers>),
    Segments(&'a [SegmentState], &'a [Arc<NewNumbers>]),
    /// Of a segment that was added.
    Outside,
}

impl Publication<'_> {
    /// The number of the segment, which is in the name of its file and in its [`PartId`].
    pub fn number(&self) -> u64 {
        self.segment.number
    }

    /// The segment as it was written.
    pub fn segment(&self) -> &Segment {
        &self.segment.segment
    }

    /// The moves of documents to the segment. O(parts).
    ///
    /// They are those at the call: documents that are deleted while the segment is written, or the observer runs, are in it, and are
    /// deleted in the first snapshot that has it. A copy that an update made in the buffer moves, and the document before does
    /// not: [`Snapshot::moves_since`](crate::Snapshot::moves_since) follows both. A segment that was added has no moves.
    pub fn moves(&self) -> Moves {
        let to = self.segment.record.id;
        let moved = |(from, docs), numbers: &Arc<NewNumbers>, first| {
            PartMoves::new((from, docs), vec![Step::new(numbers.clone(), first)], Some(to), Vec::new())
        };
        let mut parts: Vec<PartMoves> = Vec::new();
        match self.origin {
            Origin::Blocks(blocks, numbers) => {
                let mut first = 0;
                for block in blocks {
                    parts.push(moved((block.record.id, block.docs.docs()), numbers, first));
                    first += block.docs.docs();
                }
            }
            Origin::Segments(states, numbers) => {
                for (state, numbers) in states.iter().zip(numbers) {
                    let from: (PartId, u32) = (state.segment.record.id, state.now.live.docs());
                    parts.push(moved(from, numbers, 0));
                }
            }
            Origin::Outside => {}
        }
        Moves::of(parts)
    }

    /// Opens the side file `name` of segment `number`, from which documents come. `None` if there is none. Reading does not compare
    /// a checksum.
    pub fn side_file(&self, number: u64, name: &str) -> Option<FileReader> {
        let Origin::Segments(states, _) = self.origin else { return None };
        let state = states.iter().find(|state| state.number() == number)?;
        state.segment.side_file(name).map(FileReader::of)
    }

    /// Writes a side file of the segment, of the bytes that `write` writes. It is synced, committed, copied to replicas and removed
    /// with the segment. [`Snapshot::side_file`](crate::Snapshot::side_file) reads it.
    ///
    /// The store names the file; `name` is an entry of the commit, of up to 64 ASCII letters, digits, `-`, `_` and `.`, the
    /// first of which is no `.`. A segment may have 4 side files.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for another name, one that was written before, and a fifth file; [`Error::Observer`] with the error of
    /// `write`; or if the file cannot be written.
    pub fn write(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<()> {
        let entries: Vec<SideEntry> = self.side.iter().map(|side| side.entry.clone()).collect();
        SideEntry::check_next(&entries, name).map_err(Error::Request)?;
        let (segment, number) = (self.segment.number, self.next_number.fetch_add(1, Ordering::Relaxed));
        let file = FileName::Side { segment, number };
        self.created.push(file);
        let written = self.write_file(file, write).and_then(|(bytes, id)| {
            let entry = SideEntry { name: name.to_owned(), number, bytes, id };
            SideFile::open(&**self.directory, segment, entry)
        });
        match written {
            Ok(side) => self.side.push(side),
            Err(error @ Error::Observer { .. }) => return Err(error),
            Err(error) => {
                let found = failed(self.segment, error.to_string().into());
                self.failed = Some(error);
                return Err(found);
            }
        }
        Ok(())
    }

    /// Writes a file. Returns its length and content id.
    fn write_file(
        &self,
        file: FileName,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(u64, u128)> {
        let mut out = SideWriter::create(self.directory, file)?;
        let written = write(&mut out);
        match (out.failed.take(), written) {
            (Some(error), _) => Err(error.into()),
            (None, Ok(())) => out.finish(),
            (None, Err(error)) => Err(failed(self.segment, error.into())),
        }
    }
}

/// Calls an observer. Returns the side files that it wrote. `created` gets the names of all that it began.
pub(crate) fn observe(
    observer: &dyn Observer,
    (directory, next_number): (&Arc<dyn Directory>, &AtomicU64),
    (segment, origin): (&StoreSegment, Origin<'_>),
    created: &mut Vec<FileName>,
) -> Result<Arc<[SideFile]>> {
    let side = Vec::new();
    let mut publication =
        Publication { directory, next_number, segment, origin, side, created, failed: None };
    let published = observer.publish(&mut publication);
    match (publication.failed, published) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(publication.side.into()),
        (None, Err(error)) => Err(match error.downcast::<Error>() {
            Ok(error) if matches!(*error, Error::Observer { .. } | Error::Request(_)) => *error,
            Ok(error) => failed(segment, error),
            Err(error) => failed(segment, error),
        }),
    }
}

fn failed(segment: &StoreSegment, error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Observer { segment: segment.segment.file().to_owned(), error }
}
