//! Bytes as the stream of a leader, for a replica of a genuine one: taken, or refused without a change.

use std::sync::{Arc, OnceLock};

use docvalues_store::error::Result;
use docvalues_store::{Feed, Position, Replica, StoreOptions, StreamReader, StreamWriter};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::neighbours::neighbours;
use crate::stores::{self, CHANGES, Change};

/// The length of the header of an item.
const HEADER: usize = 20;

/// Bytes of a stream that are damaged.
const DAMAGED: usize = 200;

/// A leader and its replica, which has all that the leader has.
struct Genuine {
    leader: PowerLossDirectory,
    replica: PowerLossDirectory,
    position: Position,
}

fn genuine() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build().expect("stores in memory"))
}

fn options() -> StoreOptions {
    StoreOptions::new().keep_frames(1 << 30)
}

fn build() -> Result<Genuine> {
    let (leader, store) = stores::with_two_segments("leader", options())?;
    let disk = PowerLossDirectory::new("replica");
    let replica = Replica::open_in(Arc::new(disk.clone()), options())?;
    let commit = store.hold_commit(None)?;
    replica.install(commit.files(), |file| commit.open(file))?;
    let position = replica.position();
    Ok(Genuine { leader, replica: disk, position })
}

/// The stream of a leader that makes these changes, and then commits if `commits`.
fn sent(changes: &[Change], commits: bool) -> Result<Vec<u8>> {
    let Genuine { leader, position, .. } = genuine();
    let (disk, store) = stores::fork(leader, options())?;
    changes.iter().try_for_each(|change| change(&store))?;
    if commits {
        store.commit()?;
    }
    let (mut feed, mut stream) = (Feed::open_in(Arc::new(disk), *position), Vec::new());
    while feed.send(&mut StreamWriter::new(&mut stream))? {}
    StreamWriter::new(&mut stream).end().map_err(docvalues_store::Error::Stream)?;
    Ok(stream)
}

/// A byte, which says whether checksums are made right, and a stream.
pub fn stream(input: &[u8]) {
    take(input);
}

/// Has a replica take a stream. Returns how many items it took, and whether that was all.
fn take(input: &[u8]) -> (usize, bool) {
    let Some(([is_sealed], bytes)) = input.split_first_chunk() else { return (0, true) };
    let mut bytes = bytes.to_vec();
    if is_sealed & 1 == 1 {
        seal(&mut bytes);
    }
    let Genuine { replica, position, .. } = genuine();
    // All of it is durable, so that an image is a copy.
    let disk = replica.crash_image(0);
    let open = || Replica::open_in(Arc::new(disk.crash_image(0)), StoreOptions::default());
    let Ok(replica) = Replica::open_in(Arc::new(disk.clone()), StoreOptions::default()) else {
        panic!("a genuine replica")
    };
    assert_eq!(replica.position(), *position);
    let (mut stream, mut taken) = (StreamReader::new(&bytes[..]), 0);
    let is_whole = loop {
        let before = replica.position();
        match replica.take(&mut stream) {
            Ok(Some(_)) => taken += 1,
            Ok(None) => break true,
            Err(_) => {
                assert_eq!(replica.position(), before);
                break false;
            }
        }
    };
    assert!(replica.store().commit().is_ok() && replica.store().merge_to(1).is_ok());
    let after = replica.position();
    drop(replica);
    // What it took opens again.
    match open() {
        Ok(replica) => assert_eq!(replica.position(), after),
        Err(error) => panic!("{error}"),
    }
    (taken, is_whole)
}

/// Makes the checksums of items, and those of commits and frames in them, right.
fn seal(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Some((header, after)) = rest.split_at_mut_checked(HEADER) {
        let crc = crc32fast::hash(&header[..16]);
        header[16..].copy_from_slice(&crc.to_le_bytes());
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (kind, len) = (number(4), (number(8) as usize).min(after.len()));
        let (item, next) = after.split_at_mut(len);
        match kind {
            1 => crate::log::seal_frame(item),
            3 => seal_commit(item),
            _ => {}
        }
        rest = next;
    }
}

fn seal_commit(bytes: &mut [u8]) {
    let line = "crc32 00000000\n".len();
    if let Some(at) = bytes.len().checked_sub(line) {
        let crc = format!("crc32 {:08x}\n", crc32fast::hash(&bytes[..at]));
        bytes[at..].copy_from_slice(crc.as_bytes());
    }
}

/// Streams of a genuine leader, one for each change and some for several; each once as it is, and once with its checksums to
/// be made right.
pub fn stream_inputs() -> Vec<Vec<u8>> {
    let streams = genuine_streams();
    let near = streams.iter().min_by_key(|stream| stream.len());
    let damaged: Vec<Vec<u8>> = near.map_or(Vec::new(), |stream| neighbours(stream, DAMAGED));
    let streams = streams.iter().chain(&damaged);
    streams.flat_map(|stream| [0, 1].map(|is_sealed| [&[is_sealed], &stream[..]].concat())).collect()
}

fn genuine_streams() -> Vec<Vec<u8>> {
    let alone = CHANGES.iter().map(std::slice::from_ref);
    let all = (2..=CHANGES.len()).step_by(7).map(|count| &CHANGES[..count]);
    let streams = alone.chain(all).flat_map(|changes| [false, true].map(|commits| sent(changes, commits)));
    // A merge that is not committed is nothing to a replica.
    streams.filter_map(Result::ok).filter(|stream| stream.len() > HEADER).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_streams_are_taken() {
        let streams = genuine_streams();
        assert!(streams.len() >= 2 * CHANGES.len(), "{}", streams.len());
        for (at, stream) in streams.iter().enumerate() {
            for is_sealed in [0, 1] {
                let (taken, is_whole) = take(&[&[is_sealed], &stream[..]].concat());
                assert!(taken >= 1 && is_whole, "{at}: {taken}");
            }
        }
    }
}
