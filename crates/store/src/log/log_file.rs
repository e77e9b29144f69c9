//! The file of a log that is being written.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, DirectoryFile, Error as StorageError, Step};

use super::frame::{FrameHeader, LOG_HEADER, LogHeader, PreviousLog, Queued};
use crate::error::{Error, Result};
use crate::files::{FileName, random_id};

/// Frames are written in pieces of about this many bytes.
const PIECE: usize = 1 << 20;

/// The fewest and the most zeros that are written ahead of the frames.
const AHEAD: (u64, u64) = (64 << 10, 1 << 20);

/// The zeros of a page, so that they need not be read to be written.
const PAGE: u64 = 4 << 10;

/// Counts of what was written to the log of a store: [`StoreStats::log`](crate::StoreStats::log).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogStats {
    /// The number of frames.
    pub frames: u64,
    /// The bytes of frames, without the zeros ahead of them.
    pub bytes: u64,
    /// The number of times that frames were synced.
    pub syncs: u64,
    /// The time that these syncs took.
    pub sync_time: Duration,
}

/// The file of a log that is being written.
#[derive(Debug)]
pub(super) struct LogFile {
    directory: Arc<dyn Directory>,
    file: Box<dyn DirectoryFile>,
    header: LogHeader,
    /// The sequence number of the last frame.
    pub(super) last: u64,
    /// The end of the last frame.
    end: u64,
    /// The length of the file: zeros follow the last frame.
    len: u64,
    /// The offset below which all bytes are durable.
    synced_to: u64,
    /// Whether zeros are written ahead of frames: only if these are synced one by one.
    writes_ahead: bool,
    pub(super) stats: LogStats,
}

impl LogFile {
    /// Creates log `number`, whose first frame is that of the batch after `after`.
    pub(super) fn create(
        directory: &Arc<dyn Directory>,
        number: u64,
        epoch: u64,
        after: u64,
        writes_ahead: bool,
    ) -> Result<LogFile> {
        let file = directory.create(OsStr::new(&FileName::Log(number).to_string()))?;
        let header = LogHeader { number, id: random_id(number), epoch, after, previous: None };
        let (directory, stats, last) = (directory.clone(), LogStats::default(), after);
        Ok(LogFile { directory, file, header, last, end: 0, len: 0, synced_to: 0, writes_ahead, stats })
    }

    /// The number in its name.
    pub(super) fn number(&self) -> u64 {
        self.header.number
    }

    /// Creates the log after this one, which must be synced.
    pub(super) fn create_next(&self, number: u64) -> Result<LogFile> {
        let last = self.header.number;
        if number <= last {
            return Err(Error::Request(format!("expected a log after {last:08x}, found {number:08x}")));
        }
        let mut next = self.create_apart(number, self.header.epoch, self.last)?;
        next.header.previous = Some(PreviousLog { number: last, end: self.end });
        Ok(next)
    }

    /// Creates a log that goes on from none, after batch `after`.
    pub(super) fn create_apart(&self, number: u64, epoch: u64, after: u64) -> Result<LogFile> {
        let apart = LogFile::create(&self.directory, number, epoch, after, self.writes_ahead)?;
        Ok(LogFile { stats: self.stats, ..apart })
    }

    /// Makes the header and the name durable. Removes the file if it cannot: it has no batch, and a full disk needs its space.
    pub(super) fn write_header(&mut self) -> Result<()> {
        let written = self.try_to_write_header();
        if written.is_err() {
            drop(self.directory.remove(OsStr::new(&FileName::Log(self.header.number).to_string())));
        }
        written
    }

    fn try_to_write_header(&mut self) -> Result<()> {
        self.write(&self.header.encode(), 0)?;
        self.file.sync().map_err(|error| self.error(Step::Sync, error))?;
        self.directory.sync()?;
        self.end = LOG_HEADER as u64;
        (self.len, self.synced_to) = (self.end, self.end);
        Ok(())
    }

    /// Writes frames after the last one.
    pub(super) fn append(&mut self, batches: Vec<Queued>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut left = batches.len();
        for batch in batches {
            FrameHeader::encode(&self.header, &batch, self.synced_to, &mut bytes);
            (self.last, left) = (batch.sequence, left - 1);
            self.stats.frames += 1;
            if left == 0 || bytes.len() >= PIECE {
                self.append_bytes(&mut bytes)?;
                bytes.clear();
            }
        }
        Ok(())
    }

    /// Writes `bytes` after the last frame; if the file becomes longer, with zeros after them.
    fn append_bytes(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let end = self.end + bytes.len() as u64;
        self.stats.bytes += bytes.len() as u64;
        if end > self.len && !self.writes_ahead {
            self.len = end;
        } else if end > self.len {
            let ahead = self.len.clamp(AHEAD.0, AHEAD.1);
            self.len = (end + ahead).next_multiple_of(PAGE);
            // At most `AHEAD.1` and a page.
            let zeros = usize::try_from(self.len - end).unwrap_or(0);
            bytes.resize(bytes.len() + zeros, 0);
        }
        self.write(bytes, self.end)?;
        self.end = end;
        Ok(())
    }

    /// Makes all frames durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.synced_to < self.end {
            let start = Instant::now();
            self.file.sync().map_err(|error| self.error(Step::Sync, error))?;
            self.stats.syncs += 1;
            self.stats.sync_time += start.elapsed();
            self.require_named()?;
            self.synced_to = self.end;
        }
        Ok(())
    }

    /// Fails if the file was removed or replaced: the next writer would not read its batches.
    fn require_named(&self) -> Result<()> {
        match self.file.is_named(OsStr::new(&FileName::Log(self.header.number).to_string())) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Poisoned { why: "its log was removed or replaced".to_owned() }),
            Err(error) => Err(self.error(Step::Metadata, error)),
        }
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.file.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err(self.error(Step::Write, io::ErrorKind::WriteZero.into())),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(Step::Write, error)),
            }
        }
        Ok(())
    }

    fn error(&self, step: Step, error: io::Error) -> Error {
        let path = self.directory.path().join(FileName::Log(self.header.number).to_string());
        StorageError::new(step, path, error).into()
    }
}
