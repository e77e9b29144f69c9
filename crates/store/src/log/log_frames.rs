//! [`LogFrames`]: the frames in the logs of a store, for a description of them.

use std::ffi::OsStr;
use std::io;

use docvalues_storage::{Directory, FileLock};

use super::log_reader::{Frame, LogReader, LogStart};
use crate::error::{Error, Result};
use crate::files::{ATTEMPTS, CommitFile, FileName, Files, no_calm};
use crate::locks;

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
    /// The frames of the logs after the newest commit.
    pub(crate) fn of_newest(directory: &dyn Directory) -> Result<LogFrames> {
        let no_store = || Error::NoStore { folder: directory.path().display().to_string() };
        for _ in 0..ATTEMPTS {
            let newest = Files::list_beside_writer(directory)?.newest_commit().ok_or_else(no_store)?;
            // Its logs stay as long as the commit is held.
            match directory.hold(OsStr::new(&FileName::Commit(newest).to_string()), FileLock::Shared) {
                Ok(_held) => {
                    return LogFrames::after(directory, newest, &CommitFile::read(directory, newest)?);
                }
                // The writer replaced it.
                Err(error) if error.is_busy() || error.io_error().kind() == io::ErrorKind::NotFound => {
                    locks::yield_now();
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(no_calm(directory))
    }

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
