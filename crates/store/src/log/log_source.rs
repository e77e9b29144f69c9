//! [`LogSource`]: a log to read: its frames, and the length up to which it was durable.

use std::borrow::Cow;
use std::ffi::OsStr;

use docvalues_format::error::{ErrorKind, Section};
use docvalues_storage::{Directory, Error as StorageError, Source, Step};

use super::frame::{ALIGNMENT, FRAME_HEADER, FrameHeader, LOG_HEADER, LogHeader};
use crate::error::{Error, Result};
use crate::files::FileName;

/// A log is searched in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// A log to read.
#[derive(Debug)]
pub(crate) struct LogSource {
    pub(super) source: Source,
    pub(super) file: String,
    pub(crate) header: LogHeader,
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

    pub(super) fn into_body(mut self) -> Vec<u8> {
        self.bytes.truncate(FRAME_HEADER + self.header.body());
        self.bytes.drain(..FRAME_HEADER);
        self.bytes
    }
}

impl LogSource {
    /// Opens log `number`, whatever it goes on from. `None` if it was removed, or is being created.
    pub(crate) fn open_alone(directory: &dyn Directory, number: u64) -> Result<Option<LogSource>> {
        let (source, file) = match open_file(directory, number) {
            Err(error) if error.is_missing() => return Ok(None),
            opened => opened?,
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
    pub(super) fn open(
        directory: &dyn Directory,
        number: u64,
        before: Option<&LogSource>,
    ) -> Result<Option<LogSource>> {
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
    pub(super) fn check_previous(&self, end: u64, last: u64) -> Result<()> {
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
    pub(super) fn synced_to(&self, offset: u64, next: Option<&LogSource>) -> Result<u64> {
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

    pub(crate) fn damaged(&self, what: String) -> Error {
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
    let mut source = directory.open(OsStr::new(&FileName::Log(number).to_string()))?;
    // Frames are written over the zeros at its end: these are read from the mapping, as all others.
    source.keep_end(u64::MAX);
    Ok((source, path(directory, number)))
}

/// The path of log `number`.
pub(super) fn path(directory: &dyn Directory, number: u64) -> String {
    directory.path().join(FileName::Log(number).to_string()).display().to_string()
}
