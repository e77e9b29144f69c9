//! Stores that are there before a measurement: built once, and linked for each round.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docvalues::store::{Background, BackgroundOptions, MergePolicy, Store, StoreOptions};

use super::ours::{Ours, apply, docs, remove, schema};

/// Options of a store that is refreshed after so many seconds.
pub(super) fn refreshed(seconds: u64) -> StoreOptions {
    StoreOptions::new().refresh_every(Duration::from_secs(seconds))
}

/// Threads for a store.
pub(super) fn background(store: &Arc<Store>, merges: MergePolicy) -> Background {
    let options = BackgroundOptions::new().merges(merges);
    let background = Background::start(options).expect("threads can be started");
    background.add(store).expect("a store without threads");
    background
}

/// A policy that merges nothing.
pub(super) fn no_merges() -> MergePolicy {
    MergePolicy::new().segments_per_tier(usize::MAX)
}

impl Ours<'_> {
    /// A copy of the store with all documents, in as many segments; an empty one for no segments.
    pub(super) fn open(&self, options: StoreOptions) -> Store {
        let copy = self.folder.join("copy.docvalues");
        remove(&copy);
        if self.segments == 0 {
            return Store::create(&copy, schema(true), options).expect("a folder");
        }
        link(&self.base(self.args.docs), &copy);
        let store = Store::open(&copy, options).expect("a store");
        let snapshot = store.snapshot();
        let (segments, docs) = (self.segments as usize, u64::from(self.args.docs));
        assert!(snapshot.segments().len() == segments && snapshot.docs() == docs);
        store
    }

    /// The folder of a store with `docs` documents in as many segments, which is built when it is first needed.
    pub(super) fn base(&self, docs: u32) -> PathBuf {
        let built = self.folder.join(format!("base-{docs}-{}.docvalues", self.segments));
        if !built.join("built").exists() {
            remove(&built);
            build(&built, docs, self.segments);
        }
        built
    }
}

/// Copies the store `built` to a new folder: no file of a store changes, apart from its lock, so names are enough.
pub(super) fn link(built: &Path, copy: &Path) {
    std::fs::create_dir_all(copy).expect("a folder");
    for entry in std::fs::read_dir(built).expect("a folder") {
        let entry = entry.expect("a folder");
        if !entry.file_name().to_string_lossy().starts_with("LOCK") && entry.file_name() != "built" {
            std::fs::hard_link(entry.path(), copy.join(entry.file_name())).expect("one file system");
        }
    }
}

/// Drops the files of an index from the page cache.
pub(super) fn forget_all(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        docvalues_benches::forget(&entry.expect("a folder").path()).expect("a file");
    }
}

/// A store of `docs` documents in `segments` segments of one size.
fn build(path: &Path, docs: u32, segments: u32) {
    let options = StoreOptions::new().buffer_bytes(usize::MAX);
    let store = Store::create(path, schema(true), options).expect("a folder");
    for segment in 0..u64::from(segments) {
        let at = |segment: u64| {
            u32::try_from(segment * u64::from(docs) / u64::from(segments)).expect("below docs")
        };
        let numbers: Vec<u32> = (at(segment)..at(segment + 1)).collect();
        for numbers in numbers.chunks(10_000) {
            let some = self::docs(numbers.iter().copied(), |number| i64::from(number) + 2);
            apply(&store, &some, true);
        }
        store.commit().expect("a disk with room");
    }
    std::fs::write(path.join("built"), "").expect("a disk with room");
}
