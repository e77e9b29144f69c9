//! Bytes as the stream of a leader, for a replica of a genuine one: taken, or refused without a change.

use std::sync::{Arc, OnceLock};

use docvalues::search::Query;
use docvalues::{Field, Kind, LogicalType};
use docvalues_storage::PowerLossDirectory;
use docvalues_store::error::Result;
use docvalues_store::{
    Feed, Position, Replica, Store, StoreOptions, StoreSchema, StreamReader, StreamWriter,
};

/// The length of the header of an item.
const HEADER: usize = 20;

/// A replica, and what its leader sends next: a commit with files, and frames.
struct Genuine {
    replica: PowerLossDirectory,
    position: Position,
    stream: Vec<u8>,
}

fn genuine() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build().expect("stores in memory"))
}

fn build() -> Result<Genuine> {
    let schema = StoreSchema::new()
        .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
        .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?
        .with_id_field("id")?;
    let options = StoreOptions { keep_frames: 1 << 30, ..StoreOptions::default() };
    let directory = Arc::new(PowerLossDirectory::new("leader"));
    let leader = Store::create_in(directory.clone(), schema, options)?;
    let apply = |first: u32| {
        let mut batch = leader.batch()?;
        let (id, size) = (batch.field("id")?, batch.field("size")?);
        for number in first..first + 9 {
            let mut doc = batch.upsert();
            doc.str(id, &number.to_string())?.i64(size, number.into())?;
            doc.finish()?;
        }
        batch.delete((first / 2).to_string().as_bytes());
        leader.apply(batch).map(drop)
    };
    apply(0)?;
    leader.commit()?;
    let disk = PowerLossDirectory::new("replica");
    let replica = Replica::open_in(Arc::new(disk.clone()), options)?;
    let commit = leader.hold_commit(None)?;
    replica.install(commit.files(), |file| commit.open(file))?;
    apply(5)?;
    leader.delete_where(&Query::range("size", ..2))?;
    apply(11)?;
    apply(17)?;
    let (mut feed, mut stream) = (Feed::open_in(directory, replica.position()), Vec::new());
    while feed.send(&mut StreamWriter::new(&mut stream))? {}
    let position = replica.position();
    drop(replica);
    Ok(Genuine { replica: disk, position, stream })
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

/// What a genuine leader sends.
pub fn stream_inputs() -> Vec<Vec<u8>> {
    let stream = &genuine().stream;
    vec![[&[0], &stream[..]].concat(), [&[1], &stream[..]].concat()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_genuine_stream_is_taken() {
        for input in stream_inputs() {
            let (taken, is_whole) = take(&input);
            assert!(taken >= 5 && is_whole, "{taken}");
        }
    }
}
