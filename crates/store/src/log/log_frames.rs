//! [`LogFrames`]: the frames in the logs of a store, for a description of them.

use docvalues_storage::Directory;

use super::log_reader::{LogReader, LogStart};
use super::log_source::Frame;
use crate::error::Result;
use crate::files::CommitFile;

/// A frame in a log of a store: [`StoreReader::log_frames`](crate::StoreReader::log_frames).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// The number in the name of the log.
    pub log: u64,
    /// The offset of the frame in the log.
    pub offset: u64,
    /// The sequence number of its batch.
    pub sequence: u64,
    /// The epoch in which it was written.
    pub epoch: u64,
    /// The length of the frame.
    pub bytes: u64,
    /// Whether a later frame or log says that this one was durable. If not, it may have been nevertheless.
    pub is_synced: bool,
}

/// The frames in the logs of a store, in order: [`StoreReader::log_frames`](crate::StoreReader::log_frames).
///
/// Ends after an error.
#[derive(Debug)]
pub struct LogFrames {
    reader: LogReader,
    /// The number of each log, and the offset below which it was durable.
    synced: Vec<(u64, u64)>,
    is_failed: bool,
}

impl LogFrames {
    /// The frames of the logs after commit `number`.
    pub(crate) fn after(directory: &dyn Directory, number: u64, commit: &CommitFile) -> Result<LogFrames> {
        match LogStart::of(directory, number, commit)? {
            Some(start) => LogFrames::open(directory, start),
            None => Ok(LogFrames { reader: LogReader::default(), synced: Vec::new(), is_failed: false }),
        }
    }

    pub(super) fn open(directory: &dyn Directory, start: LogStart) -> Result<LogFrames> {
        let reader = LogReader::open(directory, start.first_log)?;
        reader.require(&start)?;
        let synced = reader.synced()?;
        Ok(LogFrames { reader, synced, is_failed: false })
    }

    fn info(&self, frame: &Frame) -> FrameInfo {
        let is_synced = |&(log, end): &(u64, u64)| log == frame.log && frame.end <= end;
        FrameInfo {
            log: frame.log,
            offset: frame.offset,
            sequence: frame.header.sequence,
            epoch: frame.header.epoch,
            bytes: frame.end - frame.offset,
            is_synced: self.synced.iter().any(is_synced),
        }
    }
}

impl Iterator for LogFrames {
    type Item = Result<FrameInfo>;

    fn next(&mut self) -> Option<Result<FrameInfo>> {
        if self.is_failed {
            return None;
        }
        let next = self.reader.next_frame();
        self.is_failed = next.is_err();
        next.map(|frame| frame.map(|frame| self.info(&frame))).transpose()
    }
}
