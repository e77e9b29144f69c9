//! Updates of columns, which write no text, and merges beside the writer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues::store::{MergePolicy, Outcome};
use docvalues_tantivy::{Index, Searcher, Writer};

use crate::fixture::{Contents, add, check, columns, create, doc, set_size};

/// The bytes of the files of a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn updates_write_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create(folder.path(), columns());
    (1..4).for_each(|key| add(&index, &mut writer, key, &doc("ant", 1)));
    writer.commit().unwrap();
    let (text, before) = (files(&folder.path().join("text")), index.searcher());
    let old = Contents::from([1, 2, 3].map(|key| (key, doc("ant", 1))));

    set_size(&mut writer, 2, 70);
    set_size(&mut writer, 9, 70);
    check(&index.searcher(), &old);
    assert_eq!(writer.refresh().unwrap(), [Outcome::Updated, Outcome::NotFound]);
    let mut new = old.clone();
    new.insert(2, doc("ant", 70));
    check(&index.searcher(), &new);
    set_size(&mut writer, 3, 71);
    assert_eq!(writer.commit().unwrap(), [Outcome::Updated]);
    new.insert(3, doc("ant", 71));
    check(&index.searcher(), &new);
    check(&before, &old);
    assert!(files(&folder.path().join("text")) == text, "text was written");

    // A document that the next commit adds is updated by the commit.
    add(&index, &mut writer, 4, &doc("bee", 4));
    set_size(&mut writer, 4, 44);
    let waiting = writer.pending_bytes();
    assert!(writer.refresh().unwrap().is_empty());
    check(&index.searcher(), &new);
    assert!(writer.commit().unwrap().is_empty());
    assert!(writer.pending_bytes() < waiting);
    new.insert(4, doc("bee", 44));
    check(&index.searcher(), &new);

    let before = writer.pending_bytes();
    writer.delete(1).unwrap();
    assert!(writer.pending_bytes() > before, "deletions wait in memory, too");
}

/// Tells another thread to stop when it is dropped, also by a panic.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn columns_are_merged_beside_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create(folder.path(), columns());
    let (is_done, merger) = (AtomicBool::new(false), index.clone());
    let mut contents = Contents::new();
    let merges = std::thread::scope(|scope| {
        let merging = scope.spawn(|| {
            let policy = MergePolicy::new().segments_per_tier(2).floor_bytes(1 << 10);
            let mut merges = 0;
            while !is_done.load(Ordering::Relaxed) {
                merges += merger.merge_columns(&policy).unwrap();
            }
            merges
        });
        let stop = Stop(&is_done);
        for round in 0..30 {
            for key in [round, round / 2] {
                let doc = doc("ant", i64::from(u32::try_from(round).unwrap()));
                add(&index, &mut writer, key, &doc);
                contents.insert(key, doc);
            }
            writer.commit().unwrap();
            let (key, size) = (round / 3, 100);
            set_size(&mut writer, key, size);
            writer.refresh().unwrap();
            contents.get_mut(&key).unwrap().size = Some(size);
            check(&index.searcher(), &contents);
        }
        drop(stop);
        merging.join().unwrap()
    });
    println!("{merges} merges");
    writer.refresh().unwrap();
    check(&index.searcher(), &contents);
}

#[test]
fn they_go_to_other_threads() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Send + Sync>() {}
    is_send::<Writer>();
    is_sync::<Index>();
    is_sync::<Searcher>();
}
