//! Bytes as a delta, or as the body of a frame of the log, of a store whose other files are genuine.

use std::sync::{Arc, OnceLock};

use docvalues::search::Query;
use docvalues::{OpenOptions, Segment};
use docvalues_store::error::Result;
use docvalues_store::{Changes, Durability, Store, StoreOptions, StoreReader};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::neighbours::neighbours;
use crate::reseal;
use crate::stores::{self, CHANGES, Change, put};

/// The length of the header of a log, and of a frame.
const LOG_HEADER: usize = 64;
const FRAME_HEADER: usize = 56;

/// Bodies up to this length are damaged.
const SHORT: usize = 300;

/// A folder of a store that was killed.
struct Genuine {
    disk: PowerLossDirectory,
    /// The JSON of its commit.
    commit: String,
    /// The file that is replaced.
    name: String,
    bytes: Vec<u8>,
}

/// A store with two segments, and a delta with every kind of change.
fn of_delta() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build(Durability::OnCommit, "delta-", CHANGES[0]).expect("a store in memory"))
}

/// The same with a log.
fn of_log() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build(Durability::EachBatch, "log-", CHANGES[0]).expect("a store in memory"))
}

fn build(durability: Durability, replaced: &str, change: Change) -> Result<Genuine> {
    let options = StoreOptions::new().durability(durability);
    let (disk, store) = stores::with_two_segments("store", options)?;
    change(&store)?;
    if durability == Durability::OnCommit {
        store.commit()?;
    }
    drop(store);
    let (commit, name) = (stores::newest(&disk, "commit-")?, stores::newest(&disk, replaced)?);
    let commit = stores::numbered(&stores::json_of(&disk, &commit)?, 900);
    let bytes = stores::read(&disk, &name)?;
    Ok(Genuine { disk, commit, name, bytes })
}

/// Any bytes as the delta of a store, with correct checksums: refused, or opened, searched, updated and merged.
pub fn delta(input: &[u8]) {
    let Genuine { disk, commit, name, bytes } = of_delta();
    let mut file = input.to_vec();
    reseal(&mut file);
    let open = |bytes: &[u8]| Segment::from_bytes(bytes.to_vec(), OpenOptions::new());
    let (Ok(genuine), Ok(segment)) = (open(bytes), open(&file)) else { return };
    let (before, deltas) = commit.split_once("\"deltas\"").unwrap_or_default();
    let of = |bytes: &[u8], segment: &Segment| {
        [format!("\"bytes\": {}", bytes.len()), format!("{:032x}", segment.id())]
    };
    let entries = of(bytes, &genuine).into_iter().zip(of(&file, &segment));
    let deltas = entries.fold(deltas.to_owned(), |text, (old, new)| text.replacen(&old, &new, 1));
    let mut json = format!("{before}\"deltas\"{deltas}");
    // The delta says how many documents are live.
    for _ in 0..3 {
        let disk = disk.crash_image(0);
        put(&disk, name, &file);
        put(&disk, "commit-00000900", &stores::sealed(json.as_bytes()));
        let Err(error) = StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new()) else {
            return work(&disk);
        };
        let error = error.to_string();
        let Some((expected, found)) = error.split_once(" live documents, found ") else { return };
        let expected = expected.rsplit(' ').next().unwrap_or_default();
        json = json.replacen(&format!("\"live\": {expected}"), &format!("\"live\": {found}"), 1);
    }
}

/// Any bytes as the body of the only frame of a store's log.
pub fn body(input: &[u8]) {
    let Genuine { disk, name, bytes, .. } = of_log();
    let disk = disk.crash_image(0);
    let mut log = bytes[..LOG_HEADER + FRAME_HEADER].to_vec();
    log.extend_from_slice(input);
    log.resize(log.len().next_multiple_of(8), 0);
    let frame = &mut log[LOG_HEADER..];
    frame[4..8].copy_from_slice(&u32::try_from(input.len()).unwrap_or(0).to_le_bytes());
    crate::log::seal(&mut log);
    put(&disk, name, &log);
    work(&disk);
}

/// Opens a store that may be refused, and does with it what users do.
fn work(disk: &PowerLossDirectory) {
    if let Ok(reader) = StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new()) {
        for from in [0, reader.snapshot().sequence()] {
            read(StoreReader::changes_in(Arc::new(disk.clone()), from));
        }
    }
    // With a log, of which there are changes to read.
    let options = StoreOptions::new().keep_frames(1 << 20);
    let Ok(store) = Store::open_in(Arc::new(disk.clone()), options) else { return };
    let opened = store.position().sequence;
    let count = |query: Query| store.snapshot().search().count(&query);
    for query in [Query::range("size", ..5), Query::eq("host", "new.example"), Query::prefix("tags", "n")] {
        drop(std::hint::black_box(count(query)));
    }
    drop(std::hint::black_box((stores::operate(&store, 10, 60), store.merge_to(1), store.commit())));
    drop(std::hint::black_box(store.snapshot().find(b"7")));
    for from in [0, opened] {
        read(store.changes(from));
    }
}

/// Reads changes to their end, which an error is, too. Returns their number.
fn read(changes: Result<Changes>) -> usize {
    let Ok(mut changes) = changes else { return 0 };
    let count = changes.by_ref().take_while(Result::is_ok).count();
    assert!(changes.next().is_none(), "no end after {count} changes");
    count
}

/// The deltas of all changes.
pub fn delta_inputs() -> Vec<Vec<u8>> {
    let deltas = CHANGES.iter().filter_map(|change| build(Durability::OnCommit, "delta-", *change).ok());
    deltas.map(|genuine| genuine.bytes).filter(|bytes| !bytes.is_empty()).collect()
}

/// The bodies of the frames of all changes, and damaged ones.
pub fn body_inputs() -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> =
        CHANGES.iter().filter_map(|change| bodies_of(*change).ok()).flatten().collect();
    let short = bodies.iter().filter(|body| body.len() < SHORT);
    let damaged: Vec<Vec<u8>> = short.flat_map(|body| neighbours(body, body.len())).collect();
    bodies.extend(damaged);
    bodies
}

/// The bodies of the frames of a change.
fn bodies_of(change: Change) -> Result<Vec<Vec<u8>>> {
    // What is committed stays in the log, too.
    let options = StoreOptions::new().durability(Durability::EachBatch).keep_frames(1 << 30);
    let (disk, store) = stores::with_two_segments("store", options)?;
    let before = store.snapshot().sequence();
    change(&store)?;
    drop(store);
    let mut frames = StoreReader::frames_in(Arc::new(disk), before)?;
    let mut bodies = Vec::new();
    while let Some(frame) = frames.next_frame()? {
        let len = frame.bytes[4..8].try_into().map_or(0, u32::from_le_bytes) as usize;
        bodies.push(frame.bytes[FRAME_HEADER..FRAME_HEADER + len].to_vec());
    }
    Ok(bodies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_bytes_are_accepted() {
        let found = |disk: &PowerLossDirectory| {
            let store = Store::open_in(Arc::new(disk.clone()), StoreOptions::default()).unwrap();
            store.snapshot().search().count(&Query::eq("host", "new.example")).unwrap()
        };
        assert_eq!(found(&of_delta().disk.crash_image(0)), 6);
        assert_eq!(found(&of_log().disk.crash_image(0)), 6);
        let log = || Arc::new(of_log().disk.crash_image(0));
        let committed = StoreReader::open_in(log(), OpenOptions::new()).unwrap().snapshot().sequence();
        assert!(read(StoreReader::changes_in(log(), committed)) > 0);
        delta_inputs().iter().for_each(|input| delta(input));
        body_inputs().iter().for_each(|input| body(input));
        // Changes of segments and fields have no delta.
        assert!(delta_inputs().len() >= 10 && delta_inputs().iter().all(|delta| delta.len() > 100));
        assert!(body_inputs().len() > CHANGES.len());
    }
}
