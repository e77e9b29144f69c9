//! The bytes of log headers and frames: encoders and decoders side by side.

use crate::error::{Error, Result};
use crate::files::MAX_NUMBER;

/// The version of logs that this code writes.
pub(super) const VERSION: u32 = 1;

/// The length of the header of a log.
pub(crate) const LOG_HEADER: usize = 64;

/// The length of a frame without its body.
pub(crate) const FRAME_HEADER: usize = 56;

/// Frames begin at multiples of this.
pub(super) const ALIGNMENT: usize = 8;

/// The longest body of a frame.
pub(crate) const MAX_BODY: usize = 256 << 20;

const LOG_MAGIC: [u8; 4] = *b"dvlg";

const FRAME_MAGIC: [u8; 4] = *b"dvfr";

/// The number of the previous log if there is none.
const NONE: u64 = u64::MAX;

/// The header of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogHeader {
    pub(crate) number: u64,
    pub(super) id: u64,
    pub(crate) epoch: u64,
    /// The sequence number of the last batch before this log.
    pub(crate) after: u64,
    pub(super) previous: Option<PreviousLog>,
}

/// The log before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreviousLog {
    pub(super) number: u64,
    /// The end of its last frame. All of it was durable when the next log was created.
    pub(super) end: u64,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    body: u32,
    pub(super) log_id: u64,
    pub(super) sequence: u64,
    pub(super) epoch: u64,
    /// The offset in the log below which all bytes were durable when the frame was written.
    pub(super) synced_to: u64,
    /// The history up to the batch: see [`FrameBody`](crate::batch::body::FrameBody).
    pub(super) history: u64,
    body_crc: u32,
}

/// A batch that waits to be written.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) sequence: u64,
    /// The history up to this batch: see [`FrameBody`](crate::batch::body::FrameBody).
    pub(crate) history: u64,
    pub(crate) body: Vec<u8>,
}

impl LogHeader {
    pub(super) fn encode(&self) -> [u8; LOG_HEADER] {
        let previous = self.previous.unwrap_or(PreviousLog { number: NONE, end: 0 });
        let mut bytes = [0; LOG_HEADER];
        bytes[..4].copy_from_slice(&LOG_MAGIC);
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        let numbers = [self.number, self.id, self.epoch, self.after, previous.number, previous.end];
        for (at, number) in (8..).step_by(8).zip(numbers) {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let crc = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes the first bytes of `file`; `None` if they are no header. The magic, the version and the checksum have
    /// their places in all versions.
    ///
    /// # Errors
    ///
    /// [`Error::Version`] if the version is unknown, [`Error::Damaged`] if a number cannot be.
    pub(super) fn decode(bytes: &[u8], file: &str) -> Result<Option<LogHeader>> {
        let Some(bytes) = bytes.first_chunk::<LOG_HEADER>() else { return Ok(None) };
        if bytes[..4] != LOG_MAGIC || u32_at(bytes, 60) != crc32fast::hash(&bytes[..60]) {
            return Ok(None);
        }
        let version = u32_at(bytes, 4);
        if version != VERSION {
            return Err(Error::Version { file: file.to_owned(), found: version, known: VERSION });
        }
        let [number, id, epoch, after, previous, end] = [8, 16, 24, 32, 40, 48].map(|at| u64_at(bytes, at));
        let previous = (previous != NONE).then_some(PreviousLog { number: previous, end });
        if let Some(large) = [number, epoch, after].into_iter().find(|number| *number > MAX_NUMBER) {
            let what = format!("expected numbers of at most {MAX_NUMBER} in the header, found {large}");
            return Err(Error::Damaged { file: file.to_owned(), what });
        }
        Ok(Some(LogHeader { number, id, epoch, after, previous }))
    }
}

impl FrameHeader {
    /// Appends a frame to `out`.
    ///
    /// `synced_to` and the length of `out` are offsets in the file modulo [`ALIGNMENT`].
    pub(super) fn encode(log: &LogHeader, frame: &Queued, synced_to: u64, out: &mut Vec<u8>) {
        let Queued { sequence, history, body } = frame;
        // The writer refuses longer ones.
        let len = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let padding = &[0; ALIGNMENT][..padded(body.len()) - body.len()];
        let crc = body_crc(&[body, padding], log.id);
        let start = out.len();
        out.extend_from_slice(&FRAME_MAGIC);
        out.extend_from_slice(&len.to_le_bytes());
        for number in [log.id, *sequence, log.epoch, synced_to, *history] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&crc.to_le_bytes());
        let crc = crc32fast::hash(&out[start..]);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(body);
        out.extend_from_slice(padding);
    }

    /// Decodes the first bytes of `bytes`; `None` if they are no header of a frame.
    pub(super) fn decode(bytes: &[u8]) -> Option<FrameHeader> {
        let bytes = bytes.first_chunk::<FRAME_HEADER>()?;
        if bytes[..4] != FRAME_MAGIC || u32_at(bytes, 52) != crc32fast::hash(&bytes[..52]) {
            return None;
        }
        let body = u32_at(bytes, 4);
        let [log_id, sequence, epoch, synced_to, history] = [8, 16, 24, 32, 40].map(|at| u64_at(bytes, at));
        let is_short = usize::try_from(body).is_ok_and(|body| body <= MAX_BODY);
        is_short.then_some(FrameHeader {
            body,
            log_id,
            sequence,
            epoch,
            synced_to,
            history,
            body_crc: u32_at(bytes, 48),
        })
    }

    /// The length of the body.
    pub(super) fn body(&self) -> usize {
        // At most `MAX_BODY`.
        usize::try_from(self.body).unwrap_or(MAX_BODY)
    }

    /// The length of the body with its padding.
    pub(super) fn padded_body(&self) -> usize {
        padded(self.body())
    }

    /// Whether `padded` is the body with its padding.
    pub(super) fn is_body(&self, padded: &[u8]) -> bool {
        body_crc(&[padded], self.log_id) == self.body_crc
    }
}

/// Reads a frame alone. Returns its epoch, too.
pub(crate) fn decode_frame(bytes: &[u8]) -> Result<(u64, Queued)> {
    let damaged = |what: &str| Error::Damaged {
        file: "a frame".to_owned(),
        what: format!("expected {what}, found another"),
    };
    let header = FrameHeader::decode(bytes).ok_or_else(|| damaged("the header of a frame"))?;
    let padded = &bytes[FRAME_HEADER..];
    if padded.len() != header.padded_body() || !header.is_body(padded) {
        return Err(damaged("its body"));
    }
    let FrameHeader { sequence, history, epoch, .. } = header;
    if sequence.max(epoch) > MAX_NUMBER {
        return Err(damaged("a smaller number"));
    }
    Ok((epoch, Queued { sequence, history, body: padded[..header.body()].to_vec() }))
}

/// `len`, rounded up to a multiple of [`ALIGNMENT`].
pub(super) fn padded(len: usize) -> usize {
    len.next_multiple_of(ALIGNMENT)
}

fn body_crc(parts: &[&[u8]], log_id: u64) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.update(&log_id.to_le_bytes());
    crc.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> LogHeader {
        let previous = Some(PreviousLog { number: 0xb0, end: 4_096 });
        LogHeader { number: 0xc0, id: 0x0123_4567_89ab_cdef, epoch: 3, after: 107, previous }
    }

    #[test]
    fn headers_are_read_as_they_are_written() {
        for header in [header(), LogHeader { previous: None, ..header() }] {
            assert_eq!(LogHeader::decode(&header.encode(), "log").unwrap(), Some(header));
        }
        let bytes = header().encode();
        for bit in 0..LOG_HEADER * 8 {
            let mut bytes = bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(LogHeader::decode(&bytes, "log").unwrap(), None, "bit {bit}");
        }
        assert!((0..LOG_HEADER).all(|len| LogHeader::decode(&bytes[..len], "log").unwrap().is_none()));
    }

    /// A header with the checksum made right.
    fn sealed(at: usize, number: u64) -> [u8; LOG_HEADER] {
        let mut bytes = header().encode();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    #[test]
    fn unknown_versions_and_large_numbers_are_refused() {
        let mut newer = header().encode();
        newer[4] = 2;
        let crc = crc32fast::hash(&newer[..60]);
        newer[60..].copy_from_slice(&crc.to_le_bytes());
        let error = LogHeader::decode(&newer, "log").unwrap_err().to_string();
        assert!(error.starts_with("log: ") && error.contains("version 1") && error.contains("version 2"));
        for at in [8, 24, 32] {
            let error = LogHeader::decode(&sealed(at, MAX_NUMBER + 1), "log").unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_are_written(
            body in prop::collection::vec(any::<u8>(), 0..100),
            (sequence, synced_to, history) in any::<(u64, u64, u64)>(),
        ) {
            let mut bytes = Vec::new();
            let queued = Queued { sequence, history, body: body.clone() };
            FrameHeader::encode(&header(), &queued, synced_to, &mut bytes);
            let frame = FrameHeader::decode(&bytes).unwrap();
            prop_assert_eq!((frame.sequence, frame.synced_to, frame.history), (sequence, synced_to, history));
            prop_assert_eq!((frame.log_id, frame.epoch), (header().id, 3));
            prop_assert_eq!(bytes.len(), FRAME_HEADER + frame.padded_body());
            prop_assert!(frame.is_body(&bytes[FRAME_HEADER..]));
            prop_assert_eq!(&bytes[FRAME_HEADER..][..body.len()], &body[..]);
            for bit in 0..bytes.len() * 8 {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                let is_whole = FrameHeader::decode(&bytes).is_some_and(|frame| frame.is_body(&bytes[FRAME_HEADER..]));
                prop_assert!(!is_whole, "bit {}", bit);
            }
        }
    }
}
