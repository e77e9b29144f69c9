//! Readers beside a writer, and damaged files.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_store::{Error, MergePolicy, Store, StoreOptions, StoreReader};

use crate::cases;
use crate::fixture::{Contents, Stop, add, contents, files, id, schema};

#[test]
fn readers_see_whole_commits_while_a_writer_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let stop = AtomicBool::new(false);
    let policy = MergePolicy::new().segments_per_tier(3).floor_bytes(1 << 10);
    std::thread::scope(|scope| {
        let reader = || {
            let mut reader = StoreReader::open(folder.path(), StoreOptions::default().open).unwrap();
            let (mut seen, mut last) = (0, 0);
            loop {
                reader.reopen().unwrap();
                let snapshot = reader.snapshot();
                // Each round adds ten documents and deletes two: never a part of that.
                let found = contents(&snapshot);
                assert_eq!(found.len() % 8, 0, "half of a commit");
                assert!(snapshot.commit() >= last);
                (seen, last) = (seen + 1, snapshot.commit());
                if stop.load(Ordering::Relaxed) {
                    return seen;
                }
            }
        };
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(reader)).collect();
        let writing = Stop(&stop);
        for round in 0..60_u32 {
            let docs: Vec<_> = (0..10).map(|i| (round * 10 + i, i64::from(round))).collect();
            add(&store, &docs).unwrap();
            assert_eq!(store.delete_ids([id(round * 10), id(round * 10 + 5)]).unwrap(), 2);
            store.merge(&policy).unwrap();
            store.commit().unwrap();
        }
        drop(writing);
        let looks: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        println!("{looks} looks at 60 commits");
        assert!(looks > 0);
    });
    assert_eq!(store.snapshot().docs(), 480);
}

/// A store with segments, a fold and a delta, and what it contains.
fn store_of_all_files(folder: &Path) -> Contents {
    let store = Store::create(folder, schema(), StoreOptions::default()).unwrap();
    for part in 0..3_u32 {
        let docs: Vec<_> = (0..40).map(|i| (part * 40 + i, i64::from(i))).collect();
        add(&store, &docs).unwrap();
    }
    for gone in 0..10 {
        store.delete_ids([id(gone)]).unwrap();
        store.commit().unwrap();
    }
    let names = files(folder);
    for prefix in ["seg-000000.g", "delta-", "commit-", "seg-"] {
        assert!(names.keys().any(|name| name.starts_with(prefix)), "{prefix}: {:?}", names.keys());
    }
    contents(&store.snapshot())
}

/// The contents, or the error, of the store after a file was changed.
fn with_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<Contents, Error> {
    let good = std::fs::read(folder.join(name)).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
    let reader = StoreReader::open(folder, StoreOptions::default().open);
    let found = reader.and_then(|reader| {
        reader.snapshot().segments().try_for_each(|part| part.segment.verify())?;
        Ok(contents(&reader.snapshot()))
    });
    std::fs::write(folder.join(name), good).unwrap();
    found
}

#[test]
fn damage_to_any_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let expected = store_of_all_files(folder.path());
    let (mut refused, mut unchanged) = (0, 0);
    for (name, good) in files(folder.path()).iter().filter(|(name, _)| !name.starts_with("LOCK")) {
        let mut edits: Vec<Vec<u8>> = (0..good.len())
            .step_by(7)
            .map(|at| {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << (at % 8);
                bytes
            })
            .collect();
        edits.extend([0, 1, good.len() / 2, good.len() - 1].map(|len| good[..len].to_vec()));
        edits.push([good.as_slice(), b"more"].concat());
        edits.extend(files(folder.path()).into_values().filter(|other| other != good));
        for bytes in edits {
            match is_refused(folder.path(), name, &bytes, &expected) {
                true => refused += 1,
                false => unchanged += 1,
            }
        }
    }
    println!("{refused} edits refused, {unchanged} without effect");
    assert!(refused > 500);
}

/// Whether an edited file is refused, with its name or that of the commit; otherwise nothing else is read.
fn is_refused(folder: &Path, name: &str, bytes: &[u8], expected: &Contents) -> bool {
    match with_file(folder, name, bytes) {
        Ok(found) => {
            assert_eq!(&found, expected, "{name}");
            false
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(name) || message.contains("commit-"), "{name}: {message}");
            true
        }
    }
}

#[test]
fn random_edits_of_any_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let expected = store_of_all_files(folder.path());
    let good: Vec<(String, Vec<u8>)> =
        files(folder.path()).into_iter().filter(|(name, _)| !name.starts_with("LOCK")).collect();
    let mut random = Random(7);
    let mut refused = 0;
    let edits = cases(800, 1_000_000);
    for _ in 0..edits {
        let (name, good) = &good[random.below(good.len())];
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            edit(&mut bytes, &mut random);
        }
        refused += u32::from(bytes != *good && is_refused(folder.path(), name, &bytes, &expected));
    }
    println!("{refused} of {edits} random edits refused, the others without effect");
    assert!(refused > edits / 2);
}

/// Flips a bit, or overwrites, copies, cuts or adds some bytes.
fn edit(bytes: &mut Vec<u8>, random: &mut Random) {
    let len = bytes.len();
    if len == 0 {
        return bytes.push(7);
    }
    let (at, other) = (random.below(len), random.below(len));
    let most = 1 << random.below(10);
    let end = len.min(at + 1 + random.below(most));
    match random.below(5) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at..end].fill(u8::try_from(random.below(256)).unwrap()),
        2 => {
            let from = other.min(len - (end - at));
            bytes.copy_within(from..from + (end - at), at);
        }
        3 => drop(bytes.drain(at..end)),
        _ => {
            let more = bytes[at..end].to_vec();
            bytes.splice(other..other, more);
        }
    }
}

/// The generator of Knuth's MMIX.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[test]
fn a_missing_file_is_named_and_the_newest_commit_counts() {
    let folder = tempfile::tempdir().unwrap();
    store_of_all_files(folder.path());
    for name in files(folder.path()).keys().filter(|name| name.ends_with(".dv")) {
        let away = folder.path().join("away");
        std::fs::rename(folder.path().join(name), &away).unwrap();
        for error in [
            StoreReader::open(folder.path(), StoreOptions::default().open).unwrap_err(),
            Store::open(folder.path(), StoreOptions::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(name.as_str()), "{error}");
        }
        std::fs::rename(&away, folder.path().join(name)).unwrap();
    }
    Store::open(folder.path(), StoreOptions::default()).unwrap();
}

#[test]
fn segments_that_exist_are_copied_and_other_kinds_refused() {
    use docvalues_writer::{FieldSpec, Schema, SegmentWriter, WriterOptions};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(
        folder.path().join("store"),
        docvalues_store::StoreSchema::new()
            .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))
            .unwrap(),
        StoreOptions::default(),
    )
    .unwrap();
    let build = |name: &str, field: FieldSpec| {
        let path = folder.path().join(name);
        let mut schema = Schema::new();
        let field = schema.add(field).unwrap();
        let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
        for value in [7, 9] {
            let mut doc = writer.document();
            doc.stored(field, value).unwrap();
            doc.finish().unwrap();
        }
        writer.finish().unwrap();
        path
    };
    let good = build("good.dv", FieldSpec::new("size", LogicalType::I64));
    let other = build("other.dv", FieldSpec::new("size", LogicalType::F64));
    let more = build("more.dv", FieldSpec::new("more", LogicalType::I64));
    assert_eq!(store.add_segment(&good).unwrap().docs, 2);
    assert_eq!(store.add_segment(&more).unwrap().docs, 2);
    let error = store.add_segment(&other).unwrap_err();
    assert_eq!(error.to_string(), "field \"size\": expected numeric of type i64, found numeric of type f64");
    std::fs::remove_file(&good).unwrap();
    store.commit().unwrap();
    assert_eq!((store.snapshot().docs(), store.snapshot().schema().fields().len()), (4, 2));
    store.merge_to(1).unwrap();
    assert_eq!(store.snapshot().segments().len(), 1);
}
