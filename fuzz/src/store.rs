//! Bytes as the commit of a store, whose other files are genuine: refused, or opened, searched and written.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::{Arc, OnceLock};

use docvalues::OpenOptions;
use docvalues::search::Query;
use docvalues_store::error::Result;
use docvalues_store::{KeepCommits, Observer, Publication, Snapshot, Store, StoreOptions, StoreReader};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::stores::{self, CHANGES};

/// The name of the commit to replace. There is none that is newer.
const COMMIT: &str = "commit-00000900";

/// A folder with a store, and the JSON of its commits: one after each of the changes, whose files are all there.
fn genuine() -> &'static (PowerLossDirectory, Vec<String>) {
    static GENUINE: OnceLock<(PowerLossDirectory, Vec<String>)> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "nothing fails in memory")]
    GENUINE.get_or_init(|| build().expect("a store in memory"))
}

fn build() -> Result<(PowerLossDirectory, Vec<String>)> {
    let keep_commits = Some(KeepCommits::Newest(1_000));
    let options = StoreOptions::new().keep_commits(keep_commits);
    let (disk, store) = stores::with_two_segments("store", options)?;
    for change in CHANGES {
        if change(&store).is_ok() {
            store.commit()?;
        }
    }
    drop(store);
    // At last, so that the files of inputs that were found earlier have the same numbers.
    let store = Store::open_in_with(Arc::new(disk.clone()), options, Arc::new(SideFiles))?;
    for first in [100, 120] {
        put(&store, first)?;
        store.commit()?;
    }
    store.delete_ids(["100", "139"])?;
    store.commit()?;
    store.merge_to(1)?;
    put(&store, 140)?;
    store.commit()?;
    drop(store);
    let names = stores::names(&disk, "commit-")?;
    let commits = names.iter().map(|name| Ok(stores::numbered(&stores::json_of(&disk, name)?, 900)));
    let commits = commits.collect::<Result<Vec<_>>>()?;
    Ok((disk, commits))
}

/// Writes documents of an id only, whatever other fields there are.
fn put(store: &Store, first: u32) -> Result<()> {
    let mut batch = store.batch()?;
    let id = batch.field("id")?;
    for number in first..first + 20 {
        let mut doc = batch.upsert();
        doc.str(id, &number.to_string())?;
        doc.finish()?;
    }
    store.apply(batch).map(drop)
}

/// Writes two side files: one has the number of documents, and what those of the segments before have; the other is empty.
struct SideFiles;

impl Observer for SideFiles {
    fn publish(
        &self,
        publication: &mut Publication<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut bytes = publication.segment().docs().to_le_bytes().to_vec();
        let before: BTreeSet<u64> = publication.moves().filter_map(|run| run.from.segment()).collect();
        for mut file in before.into_iter().filter_map(|number| publication.side_file(number, "docs")) {
            file.read_to_end(&mut bytes)?;
        }
        publication.write("docs", |out| out.write_all(&bytes))?;
        publication.write("empty", |_| Ok(()))?;
        Ok(())
    }
}

/// Reads all side files.
fn read_side_files(snapshot: &Snapshot) {
    for segment in snapshot.segments() {
        for name in ["docs", "empty"] {
            let file = snapshot.side_file(segment.number, name);
            let _ = std::hint::black_box(file.map(|mut file| file.read_to_end(&mut Vec::new())));
        }
    }
}

/// The JSON of a commit, with its checksum, beside genuine files.
pub fn store(input: &[u8]) {
    // All of it is durable, so that an image is a copy.
    let disk = genuine().0.crash_image(0);
    stores::put(&disk, COMMIT, &stores::sealed(input));
    let reader = StoreReader::open_in(Arc::new(disk.clone()), OpenOptions::new());
    let store = Store::open_in_with(Arc::new(disk), StoreOptions::default(), Arc::new(SideFiles));
    // A folder without LOCK is as good for a reader, and so is one that lacks the log that the commit names.
    let lacks_log = store.as_ref().err().is_some_and(|error| error.to_string().contains("/log-"));
    assert!(reader.is_ok() == store.is_ok() || reader.is_ok() && lacks_log, "{reader:?} {store:?}");
    let Ok(store) = store else { return };
    let found = store.snapshot().search().count(&Query::All);
    assert_eq!(found.ok(), Some(store.snapshot().docs()));
    read_side_files(&store.snapshot());
    let _ = std::hint::black_box((store.snapshot().find(b"7"), store.delete_ids(["30", "31"])));
    let _ = std::hint::black_box((store.merge_to(1), store.commit()));
}

/// Genuine commits, and others that are near them.
pub fn store_inputs() -> Vec<Vec<u8>> {
    let commits = &genuine().1;
    let edits = [
        ("\"live\"", "\"alive\""),
        ("\"size\"", "\"price\""),
        ("\"number\": 9", "\"number\": 8"),
        ("\"docvalues_store\": 2", "\"docvalues_store\": 3"),
        ("\"docvalues_store\": 2,\n  \"number\": 900", "\"docvalues_store\": 1"),
        ("\"first_log\": null", "\"first_log\": 1"),
        ("\"keep_commits\": 1000", "\"keep_seconds\": 60"),
        ("\"sequence\"", "\"is_replica\": true, \"sequence\""),
        ("\"kind\": \"binary\"", "\"kind\": \"sorted\""),
        ("\"type\": \"i64\"", "\"type\": \"f64\""),
        ("\"id_field\": \"id\"", "\"id_field\": \"size\""),
        ("\"user_data\": \"", "\"user_data\": \"007ffe"),
        ("\"version_field\": \"version\"", "\"version_field\": \"id\""),
        ("\"side\"", "\"sides\""),
        ("\"name\": \"docs\"", "\"name\": \"../docs\""),
        ("\"name\": \"docs\"", "\"name\": \"other\""),
        ("\"name\": \"empty\"", "\"name\": \"docs\""),
    ];
    let newest = commits.last().map_or("", String::as_str);
    let edited = edits.iter().map(|(from, to)| newest.replacen(from, to, 1));
    commits.iter().cloned().chain(edited).map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_commits_open() {
        store_inputs().iter().for_each(|input| store(input));
        for json in &genuine().1 {
            let disk = genuine().0.crash_image(0);
            stores::put(&disk, COMMIT, &stores::sealed(json.as_bytes()));
            Store::open_in(Arc::new(disk), StoreOptions::default()).unwrap();
        }
        // One after the store was created, one after each of two batches, and one after each change, or two; and four with side
        // files.
        assert!(genuine().1.len() > CHANGES.len() + 2 + 4);
        assert_eq!(genuine().1.iter().filter(|json| json.contains("\"side\"")).count(), 4);
    }
}
