//! Bytes as the commit of a store, whose other files are genuine: refused, or opened, searched and written.

use std::sync::{Arc, OnceLock};

use docvalues::search::Query;
use docvalues::{Field, Kind, LogicalType, OpenOptions};
use docvalues_storage::{Directory as _, PowerLossDirectory};
use docvalues_store::error::Result;
use docvalues_store::{Store, StoreOptions, StoreReader, StoreSchema};

/// The name of the commit to replace. There is none that is newer.
const COMMIT: &str = "commit-00000900";

/// A folder with a store, which has two segments, a fold and deltas, and the JSON of its commit.
fn genuine() -> &'static (PowerLossDirectory, Vec<u8>) {
    static GENUINE: OnceLock<(PowerLossDirectory, Vec<u8>)> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build().expect("a store in memory"))
}

fn build() -> Result<(PowerLossDirectory, Vec<u8>)> {
    let disk = PowerLossDirectory::new("store");
    let schema = StoreSchema::new()
        .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
        .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?
        .with_id_field("id")?;
    let store = Store::create_in(Arc::new(disk.clone()), schema, StoreOptions::default())?;
    for first in [0, 20] {
        let mut segment = store.new_segment()?;
        let (id, size) = (segment.field("id")?, segment.field("size")?);
        for number in first..first + 20_u32 {
            let mut doc = segment.document();
            doc.str(id, &number.to_string())?.i64(size, number.into())?;
            doc.finish()?;
        }
        segment.finish()?;
    }
    let mut number = 0;
    for gone in 0..12_u32 {
        store.delete_ids([gone.to_string()])?;
        number = store.commit()?;
    }
    let commit = disk.open(format!("commit-{number:08}").as_ref())?;
    let len = usize::try_from(commit.len()).unwrap_or(0);
    let bytes = commit.read_at(docvalues::Section::Header, 0, len);
    let mut bytes = bytes.map(std::borrow::Cow::into_owned).unwrap_or_default();
    bytes.truncate(len - "crc32 00000000\n".len());
    let json = String::from_utf8_lossy(&bytes);
    let json = json.replacen(&format!("\"number\": {number},"), "\"number\": 900,", 1);
    Ok((disk, json.into_bytes()))
}

/// The JSON of a commit, with its checksum, beside genuine files.
pub fn store(input: &[u8]) {
    // All of it is durable, so that an image is a copy.
    let disk = genuine().0.crash_image(0);
    let sealed = [input, format!("crc32 {:08x}\n", crc32fast::hash(input)).as_bytes()].concat();
    let written = disk.create(COMMIT.as_ref()).map(|file| file.write_at(&sealed, 0));
    assert!(matches!(written, Ok(Ok(_))));
    let reader = StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new());
    let store = Store::open_in(Arc::new(disk), StoreOptions::default());
    // A folder without LOCK is as good for a reader.
    assert_eq!(reader.is_ok(), store.is_ok(), "{reader:?} {store:?}");
    let Ok(store) = store else { return };
    let found = store.snapshot().search().count(&Query::All);
    assert_eq!(found.ok(), Some(store.snapshot().docs()));
    let _ = std::hint::black_box((store.snapshot().find(b"7"), store.delete_ids(["30", "31"])));
    let _ = std::hint::black_box((store.merge_to(1), store.commit()));
}

/// A genuine commit, and others that are near it.
pub fn store_inputs() -> Vec<Vec<u8>> {
    let json = String::from_utf8_lossy(&genuine().1).into_owned();
    let edits =
        [("", ""), ("\"number\": 0", "\"number\": 1"), ("\"live\"", "\"alive\""), ("\"size\"", "\"price\"")];
    edits.iter().map(|(from, to)| json.replacen(from, to, 1).into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_genuine_commit_opens() {
        store_inputs().iter().for_each(|input| store(input));
        let disk = genuine().0.crash_image(0);
        let store = Store::open_in(Arc::new(disk), StoreOptions::default()).unwrap();
        assert_eq!(store.snapshot().docs(), 28);
    }
}
