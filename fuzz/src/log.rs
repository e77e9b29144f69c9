//! Bytes as the logs of a store, with and without their checksums made right: listed, or refused.

use std::sync::{Arc, OnceLock};

use docvalues::OpenOptions;
use docvalues_storage::Directory as _;
use docvalues_store::error::Result;
use docvalues_store::{FrameInfo, Store, StoreOptions, StoreReader, StoreSchema};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::neighbours::neighbours;
use crate::stores;

/// The lengths of the headers of logs and frames.
const LOG_HEADER: usize = 64;
const FRAME_HEADER: usize = 56;

/// Bytes of an input that are damaged: both headers, and frames.
const DAMAGED: usize = 400;

/// A folder with a store without documents. Its commit says that log 1 follows.
fn genuine() -> &'static PowerLossDirectory {
    static GENUINE: OnceLock<PowerLossDirectory> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build().expect("a store in memory"))
}

fn build() -> Result<PowerLossDirectory> {
    let disk = PowerLossDirectory::new("store");
    Store::create_in(Arc::new(disk.clone()), StoreSchema::new(), StoreOptions::default())?;
    stores::recommit(&disk, 2, |json| json.replace("\"first_log\": null", "\"first_log\": 1"))?;
    assert!(stores::json_of(&disk, "commit-00000002")?.contains("\"first_log\": 1"));
    Ok(disk)
}

/// A byte, which says whether checksums are made right, the length of the first of two logs in units of 8 bytes, and
/// the bytes of both.
pub fn log(input: &[u8]) {
    list(input);
}

/// Lists the frames of two logs. Returns their number; `None` if the logs or one of their frames are refused.
fn list(input: &[u8]) -> Option<usize> {
    let ([is_sealed, low, high], logs) = input.split_first_chunk()?;
    let len = 8 * usize::from(u16::from_le_bytes([*low, *high]));
    let (one, two) = logs.split_at(len.min(logs.len()));
    // All of it is durable, so that an image is a copy.
    let disk = genuine().crash_image(0);
    for (number, bytes) in [(1_u64, one), (2, two)] {
        let mut bytes = bytes.to_vec();
        if is_sealed & 1 == 1 {
            seal(&mut bytes);
        }
        let written = disk.create(format!("log-{number:08x}").as_ref()).map(|file| file.write_at(&bytes, 0));
        assert!(matches!(written, Ok(Ok(_))));
    }
    // Logs are nothing to a reader of commits.
    assert!(StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new()).is_ok());
    let listed: Vec<Result<FrameInfo>> = StoreReader::log_frames_in(Arc::new(disk)).ok()?.collect();
    let count = listed.len();
    let frames: Vec<FrameInfo> = listed.into_iter().filter_map(Result::ok).collect();
    assert!(frames.len() + 1 >= count, "more than one error");
    check(&frames, [one.len(), two.len()]);
    (frames.len() == count).then_some(count)
}

/// Frames follow each other, and are in their logs.
fn check(frames: &[FrameInfo], lens: [usize; 2]) {
    for frame in frames {
        let len = if frame.log == 1 { lens[0] } else { lens[1] } as u64;
        assert!(
            frame.offset.is_multiple_of(8) && frame.offset >= 64 && frame.offset + frame.bytes <= len,
            "{frame:?}"
        );
    }
    for pair in frames.windows(2) {
        let [before, after] = [pair[0], pair[1]];
        assert_eq!(after.sequence, before.sequence + 1);
        if before.log == after.log {
            assert_eq!((after.offset, after.epoch), (before.offset + before.bytes, before.epoch));
            assert!(before.is_synced || !after.is_synced);
        } else {
            assert!(before.is_synced && (before.log, after.log, after.offset) == (1, 2, 64));
        }
    }
}

/// Makes the checksums of a log right.
pub(crate) fn seal(bytes: &mut [u8]) {
    if bytes.len() < LOG_HEADER {
        return;
    }
    put_crc(bytes, 60, crc32fast::hash(&bytes[..60]));
    let id: [u8; 8] = std::array::from_fn(|at| bytes[16 + at]);
    let mut rest = &mut bytes[LOG_HEADER..];
    while rest.len() >= FRAME_HEADER {
        let len = u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        let len = len.next_multiple_of(8).min((rest.len() - FRAME_HEADER) / 8 * 8);
        let (frame, after) = rest.split_at_mut(FRAME_HEADER + len);
        seal_as(frame, id);
        rest = after;
    }
}

/// Makes the checksums of a frame right.
pub(crate) fn seal_frame(frame: &mut [u8]) {
    if frame.len() >= FRAME_HEADER {
        seal_as(frame, std::array::from_fn(|at| frame[8 + at]));
    }
}

fn seal_as(frame: &mut [u8], id: [u8; 8]) {
    put_crc(frame, 48, crc32fast::hash(&[&frame[FRAME_HEADER..], &id[..]].concat()));
    put_crc(frame, 52, crc32fast::hash(&frame[..52]));
}

fn put_crc(bytes: &mut [u8], at: usize, crc: u32) {
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

/// A log of frames with bodies of these lengths. Each says that the ones before it are durable.
fn written(number: u64, after: u64, previous: (u64, u64), lens: &[u32]) -> Vec<u8> {
    let id = 0x1d * number;
    let mut bytes = [*b"dvlg", 1_u32.to_le_bytes()].concat();
    for field in [number, id, 1, after, previous.0, previous.1, 0] {
        bytes.extend(field.to_le_bytes());
    }
    for (sequence, len) in (after + 1..).zip(lens) {
        let synced_to = bytes.len() as u64;
        bytes.extend([*b"dvfr", len.to_le_bytes()].concat());
        for field in [id, sequence, 1, synced_to, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend((0..*len).map(|at| (at % 255 + 1) as u8));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    seal(&mut bytes);
    bytes
}

/// Genuine logs, and damaged ones.
pub fn log_inputs() -> Vec<Vec<u8>> {
    let mut inputs = genuine_inputs();
    let damaged: Vec<Vec<u8>> = inputs.iter().flat_map(|input| neighbours(input, DAMAGED)).collect();
    inputs.extend(damaged);
    inputs
}

/// Two logs that follow each other, and one alone; with zeros after them; sealed or not.
fn genuine_inputs() -> Vec<Vec<u8>> {
    let lens: [&[u32]; 4] = [&[], &[0], &[5, 40, 8], &[1; 12]];
    let mut inputs = Vec::new();
    for (first, second) in lens.iter().zip(lens.iter().rev()) {
        let one = written(1, 0, (u64::MAX, 0), first);
        let two = written(2, first.len() as u64, (1, one.len() as u64), second);
        let len = ((one.len() / 8) as u16).to_le_bytes();
        for is_sealed in [0, 1] {
            inputs.push([&[is_sealed], &len[..], &one, &two, &[0; 32]].concat());
            inputs.push([&[is_sealed], &len[..], &one].concat());
        }
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_logs_are_listed() {
        let counts: Vec<_> = genuine_inputs().iter().map(|input| list(input)).collect();
        let expected = [12, 0, 12, 0, 4, 1, 4, 1, 4, 3, 4, 3, 12, 12, 12, 12];
        assert_eq!(counts, expected.map(Some));
    }
}
