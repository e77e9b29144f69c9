//! Bytes as a delta, or as the body of a frame of the log, of a store whose other files are genuine.

use std::sync::{Arc, OnceLock};

use docvalues::search::Query;
use docvalues::{Field, Kind, LogicalType, OpenOptions, Section, Segment};
use docvalues_storage::{Directory as _, PowerLossDirectory};
use docvalues_store::error::Result;
use docvalues_store::{Durability, Store, StoreOptions, StoreReader, StoreSchema, Update};

use crate::reseal;

/// The length of the header of a log, and of a frame.
const LOG_HEADER: usize = 64;
const FRAME_HEADER: usize = 56;

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
    GENUINE.get_or_init(|| build(Durability::OnCommit, "delta-").expect("a store in memory"))
}

/// The same with a log that has every kind of operation.
fn of_log() -> &'static Genuine {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build(Durability::EachBatch, "log-").expect("a store in memory"))
}

fn build(durability: Durability, replaced: &str) -> Result<Genuine> {
    let disk = PowerLossDirectory::new("store");
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("size", Kind::Numeric, LogicalType::I64),
        Field::new("title", Kind::Binary, LogicalType::Utf8),
        Field::new("host", Kind::Sorted, LogicalType::Utf8),
        Field::new("numbers", Kind::SortedNumeric, LogicalType::I64),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("version", Kind::Numeric, LogicalType::I64),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field)?;
    let schema = schema.with_id_field("id")?.with_version_field("version")?;
    let options = StoreOptions { durability, ..StoreOptions::default() };
    let store = Store::create_in(Arc::new(disk.clone()), schema, options)?;
    for first in [0, 20] {
        operate(&store, first)?;
        store.commit()?;
    }
    let mut batch = store.batch()?;
    let [id, size, title, host, numbers, tags, version] =
        ["id", "size", "title", "host", "numbers", "tags", "version"].map(|name| batch.field(name));
    let [id, size, title, host] = [id?, size?, title?, host?];
    let [numbers, tags, version] = [numbers?, tags?, version?];
    // Each with the fields that it gives values.
    let updates = [
        (Update::new(), [true; 3]),
        (Update::new().unset(title), [false, true, true]),
        (Update::new().add_to(tags).remove_from(numbers), [true; 3]),
        (Update::new().unset(host).unset(tags), [true, false, false]),
    ];
    for (number, (update, [has_title, has_host, has_tags])) in
        (3..27_u32).step_by(3).zip(updates.iter().cycle())
    {
        let mut row = batch.update_with(update);
        row.str(id, &number.to_string())?.i64(size, -1)?.i64(version, 9)?.i64(numbers, number.into())?;
        if *has_title {
            row.str(title, "another")?;
        }
        if *has_host {
            row.str(host, "new.example")?;
        }
        if *has_tags {
            row.str(tags, "new")?;
        }
        row.finish()?;
    }
    batch.delete(b"7");
    batch.delete_version(b"8", 70);
    store.apply(batch)?;
    if durability == Durability::OnCommit {
        store.commit()?;
    }
    drop(store);
    let names = disk.list()?.into_iter().map(|entry| entry.name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let newest =
        |prefix: &str| names.iter().rfind(|name| name.starts_with(prefix)).cloned().unwrap_or_default();
    let (commit, name) = (newest("commit-"), newest(replaced));
    let text = String::from_utf8_lossy(&read(&disk, &commit)?).into_owned();
    let json = text.rsplit_once("crc32").map_or("", |(json, _)| json);
    let number = commit.trim_start_matches("commit-").trim_start_matches('0');
    let json = json.replacen(&format!("\"number\": {number},"), "\"number\": 900,", 1);
    let bytes = read(&disk, &name)?;
    Ok(Genuine { disk, commit: json, name, bytes })
}

/// Writes documents, some of them with other versions.
fn operate(store: &Store, first: u32) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = ["id", "size", "title", "host", "tags", "version"].map(|name| batch.field(name));
    let [id, size, title, host, tags, version] = fields;
    let [id, size, title, host, tags, version] = [id?, size?, title?, host?, tags?, version?];
    for number in first..first + 20 {
        let mut doc = batch.upsert();
        doc.str(id, &number.to_string())?.i64(size, number.into())?.str(title, &format!("title {number}"))?;
        doc.str(host, &format!("host-{}", number % 5))?.str(tags, "a")?.i64(version, 5)?;
        doc.finish()?;
    }
    store.apply(batch).map(drop)
}

fn read(disk: &PowerLossDirectory, name: &str) -> Result<Vec<u8>> {
    let file = disk.open(name.as_ref())?;
    let bytes = file.read_at(Section::Header, 0, usize::try_from(file.len()).unwrap_or(0));
    Ok(bytes.map(std::borrow::Cow::into_owned).unwrap_or_default())
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
        let crc = format!("crc32 {:08x}\n", crc32fast::hash(json.as_bytes()));
        put(&disk, "commit-00000900", [json.as_bytes(), crc.as_bytes()].concat().as_slice());
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

fn put(disk: &PowerLossDirectory, name: &str, bytes: &[u8]) {
    drop(disk.remove(name.as_ref()));
    let written = disk.create(name.as_ref()).map(|file| file.write_at(bytes, 0));
    assert!(matches!(written, Ok(Ok(_))));
}

/// Opens a store that may be refused, and does with it what users do.
fn work(disk: &PowerLossDirectory) {
    let reader = StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new());
    drop(std::hint::black_box(reader));
    let Ok(store) = Store::open_in(Arc::new(disk.clone()), StoreOptions::default()) else { return };
    let count = |query: Query| store.snapshot().search().count(&query);
    for query in [Query::range("size", ..5), Query::eq("host", "new.example"), Query::prefix("tags", "n")] {
        drop(std::hint::black_box(count(query)));
    }
    drop(std::hint::black_box((operate(&store, 10), store.merge_to(1), store.commit())));
    drop(std::hint::black_box(store.snapshot().find(b"7")));
}

/// A genuine delta.
pub fn delta_inputs() -> Vec<Vec<u8>> {
    vec![of_delta().bytes.clone()]
}

/// The body of a genuine frame.
pub fn body_inputs() -> Vec<Vec<u8>> {
    let bytes = &of_log().bytes;
    let len = bytes.get(LOG_HEADER + 4..LOG_HEADER + 8).and_then(|len| len.try_into().ok());
    let len = len.map_or(0, u32::from_le_bytes) as usize;
    let start = LOG_HEADER + FRAME_HEADER;
    vec![bytes.get(start..start + len).unwrap_or_default().to_vec()]
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
        delta_inputs().iter().for_each(|input| delta(input));
        body_inputs().iter().for_each(|input| body(input));
        assert!(delta_inputs()[0].len() > 100 && body_inputs()[0].len() > 100);
    }
}
