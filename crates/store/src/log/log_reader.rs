//! Reads the frames of all logs after a commit.

use std::borrow::Cow;
use std::ffi::OsStr;

use docvalues_format::error::{ErrorKind, Section};
use docvalues_storage::{Directory, Error as StorageError, Source, Step};

use super::frame::{ALIGNMENT, FRAME_HEADER, FrameHeader, LOG_HEADER, LogHeader, Queued};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, commit_numbers, log_numbers};

/// A log is searched in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// What a commit says of the logs after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStart {
    /// The number of the first log.
    pub(crate) first_log: u64,
    /// The last batch that the commit contains.
    pub(crate) sequence: u64,
    pub(crate) epoch: u64,
}

/// The end of all logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// The number of the last log.
    pub(super) log: u64,
    /// The end of its last frame.
    pub(super) offset: u64,
    /// The last batch: that of the commit if no frame is after it.
    pub(super) sequence: u64,
    /// The number of frames after the commit.
    pub(super) frames: u64,
}

/// A frame that is whole.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(super) log: u64,
    pub(super) offset: u64,
    /// The offset of the next frame.
    pub(crate) end: u64,
    pub(super) header: FrameHeader,
    /// With the header, and zeros after the body.
    pub(crate) bytes: Vec<u8>,
}

impl Frame {
    pub(crate) fn history(&self) -> u64 {
        self.header.history
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[FRAME_HEADER..][..self.header.body()]
    }

    fn into_body(mut self) -> Vec<u8> {
        self.bytes.truncate(FRAME_HEADER + self.header.body());
        self.bytes.drain(..FRAME_HEADER);
        self.bytes
    }
}

/// A cursor over the frames of all logs.
#[derive(Debug, Default)]
pub(super) struct LogReader {
    /// Each log is the previous one of the next.
    logs: Vec<LogSource>,
    /// The index of the log.
    at: usize,
    /// The offset of the next frame in it.
    offset: u64,
    /// The last batch.
    sequence: u64,
}

/// A log to read.
#[derive(Debug)]
pub(crate) struct LogSource {
    pub(super) source: Source,
    pub(super) file: String,
    pub(crate) header: LogHeader,
}

impl LogStart {
    /// The logs after commit `number`, if it names one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if there are batches in a log of a later commit, which is missing.
    pub(crate) fn of(
        directory: &dyn Directory,
        number: u64,
        commit: &CommitFile,
    ) -> Result<Option<LogStart>> {
        let &CommitFile { first_log, sequence, epoch, next_number, .. } = commit;
        if let Some(first_log) = first_log {
            return Ok(Some(LogStart { first_log, sequence, epoch }));
        }
        for log in log_numbers(directory, |log| log >= next_number)? {
            let ((source, file), mut found) = match open_file(directory, log) {
                // The writer removed it.
                Err(error) if error.is_missing() => continue,
                opened => (opened?, None),
            };
            search(&source, &file, 0, |_, header| found = found.or(Some(header.sequence)))?;
            // Of a commit that was made meanwhile, if this process does not write the store.
            let is_newest = || Ok::<_, Error>(commit_numbers(directory)?.last().copied() <= Some(number));
            if let Some(batch) = found
                && is_newest()?
            {
                let newest = if number == 0 { "none".to_owned() } else { format!("commit {number}") };
                let what = format!(
                    "expected the commit that names this log, found {newest}: its batches from {batch} on would be lost, \
                     unless an older commit is recovered, to which they are applied again"
                );
                return Err(Error::Damaged { file, what });
            }
        }
        Ok(None)
    }
}

/// As [`read_logs`], of the logs after commit `number`, if there are any. Returns the number of batches.
pub(crate) fn read_logs_after(
    directory: &dyn Directory,
    (number, commit): (u64, &CommitFile),
    apply: impl FnMut(Queued) -> Result<()>,
) -> Result<u64> {
    let start = LogStart::of(directory, number, commit)?;
    start.map_or(Ok(0), |start| Ok(read_logs(directory, start, apply)?.frames))
}

/// Reads the frames of all batches after a commit. Calls `apply` with each, in order. One frame at a time is in memory.
///
/// # Errors
///
/// [`Error::Damaged`] if a log that the commit or a later log names is missing, or a frame that was durable is damaged
/// or missing; [`Error::Version`] if a log has an unknown version; if a call to the operating system fails; the error
/// of `apply`.
pub(super) fn read_logs(
    directory: &dyn Directory,
    start: LogStart,
    mut apply: impl FnMut(Queued) -> Result<()>,
) -> Result<LogEnd> {
    let mut reader = LogReader::open(directory, start.first_log)?;
    reader.require(&start)?;
    let mut frames = 0;
    while let Some(frame) = reader.next_frame()? {
        if frame.header.sequence > start.sequence {
            frames += 1;
            let FrameHeader { sequence, history, .. } = frame.header;
            apply(Queued { sequence, history, body: frame.into_body() })?;
        }
    }
    let log = reader.logs.last().map_or(start.first_log, |log| log.header.number);
    Ok(LogEnd { log, offset: reader.offset, sequence: reader.sequence.max(start.sequence), frames })
}

impl LogReader {
    /// Opens log `first` and all after it.
    pub(super) fn open(directory: &dyn Directory, first: u64) -> Result<LogReader> {
        let numbers = log_numbers(directory, |number| number >= first)?;
        if numbers.first() != Some(&first) {
            let what = "expected the log that the commit names, found no file".to_owned();
            return Err(Error::Damaged { file: path(directory, first), what });
        }
        let mut logs: Vec<LogSource> = Vec::new();
        for number in numbers {
            logs.extend(LogSource::open(directory, number, logs.last())?);
        }
        let sequence = logs.first().map_or(0, |log| log.header.after);
        Ok(LogReader { logs, at: 0, offset: LOG_HEADER as u64, sequence })
    }

    /// Fails unless the logs go on after a commit.
    pub(super) fn require(&self, start: &LogStart) -> Result<()> {
        for log in &self.logs {
            if log.header.epoch != start.epoch {
                let (expected, found) = (start.epoch, log.header.epoch);
                return Err(log.damaged(format!("expected epoch {expected}, found epoch {found}")));
            }
        }
        match self.logs.first() {
            Some(log) if log.header.after > start.sequence => {
                let (expected, found) = (start.sequence + 1, log.header.after + 1);
                Err(log.damaged(format!("expected batch {expected} first, found batch {found}")))
            }
            _ => Ok(()),
        }
    }

    /// The next frame; `None` at the end of the last log.
    ///
    /// # Errors
    ///
    /// If there should be a frame, because it was durable once.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>> {
        while let Some(log) = self.logs.get(self.at) {
            if let Some(frame) = log.next_frame(self.offset, self.logs.get(self.at + 1))? {
                log.check(&frame, self.sequence + 1)?;
                (self.offset, self.sequence) = (frame.end, frame.header.sequence);
                return Ok(Some(frame));
            }
            let Some(next) = self.logs.get(self.at + 1) else { return Ok(None) };
            next.check_previous(self.offset, self.sequence)?;
            (self.at, self.offset) = (self.at + 1, LOG_HEADER as u64);
        }
        Ok(None)
    }

    /// For each log, its number and an offset below which all bytes were durable.
    pub(super) fn synced(&self) -> Result<Vec<(u64, u64)>> {
        let all = self.logs.iter().zip(1..).map(|(log, next)| {
            let synced = log.synced_to(LOG_HEADER as u64, self.logs.get(next))?;
            Ok((log.header.number, synced))
        });
        all.collect()
    }
}

impl LogSource {
    /// Opens log `number`, whatever it goes on from. `None` if it was removed, or is being created.
    pub(crate) fn open_alone(directory: &dyn Directory, number: u64) -> Result<Option<LogSource>> {
        let file = path(directory, number);
        let source = match directory.open(OsStr::new(&FileName::Log(number).to_string())) {
            Err(error) if error.is_missing() => return Ok(None),
            source => source?,
        };
        let header = header_of(&source, &file)?;
        Ok(header.filter(|header| header.number == number).map(|header| LogSource { source, file, header }))
    }

    /// Opens it again, as it may be longer by now. It stays as it is if it was removed. Returns whether it is there.
    pub(crate) fn reopen(&mut self, directory: &dyn Directory) -> Result<bool> {
        let again = LogSource::open_alone(directory, self.header.number)?;
        let again = again.filter(|again| again.header == self.header);
        let Some(again) = again else { return Ok(false) };
        *self = again;
        Ok(true)
    }

    /// Whether a later frame says that the log was durable beyond `offset`. O(bytes after it).
    pub(crate) fn is_synced_beyond(&self, offset: u64) -> Result<bool> {
        Ok(self.synced_to(offset, None)? > offset)
    }

    /// Opens log `number`, which comes after `before`, or is the first one. `None` if it was being created when the
    /// process ended: it has no header, or does not go on from another log, and has no frames.
    fn open(directory: &dyn Directory, number: u64, before: Option<&LogSource>) -> Result<Option<LogSource>> {
        let (source, file) = open_file(directory, number)?;
        let header = header_of(&source, &file)?;
        let damaged = |what: String| Error::Damaged { file: file.clone(), what };
        let expected = before.map(|log| log.header.number);
        match header {
            Some(header) if header.number != number => {
                Err(damaged(format!("expected log {number:08x}, found log {:08x}", header.number)))
            }
            Some(header) if before.is_none() => Ok(Some(LogSource { source, file, header })),
            Some(header) if header.previous.map(|log| log.number) == expected => {
                Ok(Some(LogSource { source, file, header }))
            }
            Some(LogHeader { previous: Some(previous), .. }) => {
                let (file, name) = (path(directory, previous.number), FileName::Log(number));
                let what = format!("expected the log from which {name} goes on, found none");
                Err(Error::Damaged { file, what })
            }
            _ if before.is_none() => {
                Err(damaged("expected the header of a log, found other bytes".to_owned()))
            }
            _ => {
                let mut found = None;
                search(&source, &file, 0, |offset, _| found = found.or(Some(offset)))?;
                match found {
                    Some(offset) => Err(damaged(format!(
                        "expected a header that goes on from an older log, found a frame at offset {offset}: \
                         the commit that names this log is missing"
                    ))),
                    None => Ok(None),
                }
            }
        }
    }

    /// Whether it begins where log `number` ended.
    pub(super) fn goes_on_from(&self, number: u64) -> bool {
        self.header.previous.is_some_and(|previous| previous.number == number)
    }

    /// The frame at `offset`; `None` if the log ends there. `next` is the log after it.
    pub(super) fn next_frame(&self, offset: u64, next: Option<&LogSource>) -> Result<Option<Frame>> {
        if let Some(frame) = self.frame_at(offset)? {
            return Ok(Some(frame));
        }
        let synced_to = self.synced_to(offset, next)?;
        if offset >= synced_to {
            return Ok(None);
        }
        // A writer may have written it meanwhile.
        match self.frame_at(offset)? {
            Some(frame) => Ok(Some(frame)),
            None => Err(self.damaged(format!(
                "expected a frame at offset {offset}, as the log was synced up to offset {synced_to}"
            ))),
        }
    }

    /// The frame at `offset` if it is whole.
    pub(crate) fn frame_at(&self, offset: u64) -> Result<Option<Frame>> {
        let left = self.source.len().saturating_sub(offset);
        if left < FRAME_HEADER as u64 {
            return Ok(None);
        }
        let header = FrameHeader::decode(&self.read(offset, FRAME_HEADER)?);
        let Some(header) = header.filter(|header| header.log_id == self.header.id) else { return Ok(None) };
        let end = offset + FRAME_HEADER as u64 + header.padded_body() as u64;
        if end > self.source.len() {
            return Ok(None);
        }
        let bytes = self.read(offset, FRAME_HEADER + header.padded_body())?;
        if !header.is_body(&bytes[FRAME_HEADER..]) {
            return Ok(None);
        }
        Ok(Some(Frame { log: self.header.number, offset, end, header, bytes: bytes.into_owned() }))
    }

    /// Fails unless a whole frame is that of batch `sequence`.
    pub(crate) fn check(&self, frame: &Frame, sequence: u64) -> Result<()> {
        let Frame { offset, header, .. } = frame;
        let rules = [
            ("batch", sequence, header.sequence),
            ("epoch", self.header.epoch, header.epoch),
            ("a synced length of at most", header.synced_to.min(*offset), header.synced_to),
        ];
        match rules.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => {
                Err(self.damaged(format!("offset {offset}: expected {what} {expected}, found {found}")))
            }
            None => Ok(()),
        }
    }

    /// Fails unless the previous log ends at offset `end` with batch `last`.
    fn check_previous(&self, end: u64, last: u64) -> Result<()> {
        let stated = self.header.previous.map_or(end, |previous| previous.end);
        if stated != end {
            return Err(self.damaged(format!("expected a previous log of {end} bytes, found {stated}")));
        }
        if self.header.after != last {
            let (expected, found) = (last + 1, self.header.after + 1);
            return Err(self.damaged(format!("expected batch {expected} first, found batch {found}")));
        }
        Ok(())
    }

    /// An offset below which all bytes were durable, as frames from `offset` on and the next log say. 0 if they say
    /// nothing.
    ///
    /// A header of a frame counts, whether its body is whole or not. So does a copy of one in a body: it is as true.
    fn synced_to(&self, offset: u64, next: Option<&LogSource>) -> Result<u64> {
        let mut synced_to = next.and_then(|next| next.header.previous).map_or(0, |log| log.end);
        search(&self.source, &self.file, offset, |_, header| {
            if header.log_id == self.header.id {
                synced_to = synced_to.max(header.synced_to);
            }
        })?;
        Ok(synced_to)
    }

    fn read(&self, offset: u64, len: usize) -> Result<Cow<'_, [u8]>> {
        read(&self.source, &self.file, offset, len)
    }

    fn damaged(&self, what: String) -> Error {
        Error::Damaged { file: self.file.clone(), what }
    }
}

/// Calls `found` with each header of a frame from `offset` on.
pub(super) fn search(
    source: &Source,
    file: &str,
    mut offset: u64,
    mut found: impl FnMut(u64, &FrameHeader),
) -> Result<()> {
    while offset < source.len() {
        let left = source.len() - offset;
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE + FRAME_HEADER);
        let bytes = read(source, file, offset, len)?;
        for at in (0..len.min(PIECE)).step_by(ALIGNMENT) {
            if let Some(header) = bytes.get(at..).and_then(FrameHeader::decode) {
                found(offset + at as u64, &header);
            }
        }
        offset += PIECE as u64;
    }
    Ok(())
}

fn header_of(source: &Source, file: &str) -> Result<Option<LogHeader>> {
    let len = usize::try_from(source.len()).map_or(LOG_HEADER, |len| len.min(LOG_HEADER));
    LogHeader::decode(&read(source, file, 0, len)?, file)
}

fn read<'a>(source: &'a Source, file: &str, offset: u64, len: usize) -> Result<Cow<'a, [u8]>> {
    source.read_at(Section::Header, offset, len).map_err(|error| match error.kind() {
        ErrorKind::Io(kind) => StorageError::new(Step::Read, file, (*kind).into()).into(),
        _ => Error::Damaged { file: file.to_owned(), what: error.to_string() },
    })
}

/// Opens the file of log `number`, and returns its path, too.
pub(super) fn open_file(directory: &dyn Directory, number: u64) -> Result<(Source, String)> {
    let source = directory.open(OsStr::new(&FileName::Log(number).to_string()))?;
    Ok((source, path(directory, number)))
}

/// The path of log `number`.
fn path(directory: &dyn Directory, number: u64) -> String {
    directory.path().join(FileName::Log(number).to_string()).display().to_string()
}
