//! Replicas at the wrong moment: between the steps of a commit, beside their own merges, after a leader went back or was
//! replaced.

use std::io::Read as _;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::Query;
use docvalues_storage::{Directory, Step};
use docvalues_store::{
    Background, BackgroundOptions, CommitFiles, Durability, Error, Feed, FolderDepot, Outcome, Position,
    Replica, Snapshot, Store, StoreOptions, StoreReader, StoreSchema, StreamWriter, Taken,
};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::background::wait_until;
use crate::fixture::{Stop, add, apply, contents, schema};
use crate::replicas::{empty, frames, install, now, pair, pump, with_frames};

fn disk(name: &str) -> Arc<dyn Directory> {
    Arc::new(PowerLossDirectory::new(name))
}

fn assert_equal(replica: &Replica, leader: &Store) {
    leader.refresh().unwrap();
    assert_eq!((replica.position(), now(replica)), (leader.position(), contents(&leader.snapshot())));
}

/// A replica takes a commit whose name the leader loses with the power. What it did is in no frame, so the leader is another
/// one than the replica from then on, though both have the same number of batches.
#[test]
fn a_commit_that_was_sent_and_lost_is_noticed() {
    let disk = PowerLossDirectory::new("/leader");
    let replica = Arc::new(empty());
    let images = Arc::new(Mutex::new(Vec::new()));
    let after_rename = {
        let (disk, replica, images) = (disk.clone(), replica.clone(), images.clone());
        let mut is_renamed = false;
        move |call: &docvalues_testkit::faults::Call<'_>| {
            if std::mem::replace(&mut is_renamed, call.step == Step::Rename) {
                let mut feed = Feed::open_in(Arc::new(disk.clone()), replica.position());
                pump(&mut feed, &replica).unwrap();
                let mut images: std::sync::MutexGuard<'_, Vec<_>> = images.lock().unwrap();
                images.extend((0..20).map(|seed| disk.crash_image(seed)));
            }
            Ok(call.bytes)
        }
    };
    let directory = Arc::new(FaultyDirectory::new(Arc::new(disk.clone()), after_rename));
    let store = Store::create_in(directory, schema(), with_frames(1 << 30)).unwrap();
    apply(&store, &[(1, Some(1)), (2, Some(2)), (3, Some(3))]).unwrap();
    store.commit().unwrap();
    images.lock().unwrap().clear();
    store.delete_where(&Query::range("size", ..=1)).unwrap();
    let (mut lost, taken) = (0, (replica.position(), now(&replica)));
    assert_eq!(taken.1.len(), 2);
    for image in images.lock().unwrap().drain(..) {
        let directory: Arc<dyn Directory> = Arc::new(image);
        let store = Store::open_in(directory.clone(), with_frames(1 << 30)).unwrap();
        let has_lost = contents(&store.snapshot()).len() == 3;
        lost += usize::from(has_lost);
        assert_eq!(store.position() == taken.0, !has_lost);
        if has_lost {
            apply(&store, &[(7, Some(7))]).unwrap();
            let refused = pump(&mut Feed::open_in(directory, taken.0), &replica);
            assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
        }
    }
    assert!(lost > 0);
    assert_eq!((replica.position(), now(&replica)), taken);
}

/// What is acknowledged while a replica is promoted stays, and the store can be opened again.
#[test]
fn batches_beside_a_promotion() {
    let (leader, _) = pair();
    let mut acknowledged = 0;
    for _ in 0..crate::cases(8, 800) {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions::new().durability(Durability::EachBatch);
        let replica = Replica::open(folder.path(), options).unwrap();
        install(&leader, &replica).unwrap();
        let (store, is_done) = (replica.store().clone(), AtomicBool::new(false));
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut written = Vec::new();
                while !is_done.load(Relaxed) || written.is_empty() {
                    let number = 100 + u32::try_from(written.len()).unwrap();
                    match apply(&store, &[(number, Some(5))]) {
                        Ok(_) => written.push(number),
                        Err(error) => assert!(matches!(error, Error::IsReplica { .. }), "{error}"),
                    }
                }
                written
            });
            let _stop = Stop(&is_done);
            replica.promote().unwrap();
            std::thread::sleep(Duration::from_millis(5));
            drop(_stop);
            writer.join().unwrap()
        });
        drop(store);
        let store = Store::open(folder.path(), options).unwrap();
        let found = contents(&store.snapshot());
        assert!(written.iter().all(|number| found.contains_key(number)));
        assert_eq!(store.position().sequence, leader.position().sequence + written.len() as u64);
        acknowledged += written.len();
    }
    assert!(acknowledged > 0);
}

/// After a recovery, the logs of the history that ended are still there, and are sent to nobody.
#[test]
fn frames_of_a_history_that_ended() {
    let options = with_frames(1 << 30).keep_commits(docvalues_store::KeepCommits::Newest(9));
    let directory = disk("/leader");
    let store = Store::create_in(directory.clone(), schema(), options).unwrap();
    let middle = Replica::open_in(disk("/middle"), options).unwrap();
    let last = empty();
    let mut feed = Feed::open_in(directory.clone(), middle.position());
    let mut second = Feed::open_in(middle.store().directory().clone(), last.position());
    // An empty replica has nothing to send.
    assert!(pump(&mut second, &last).unwrap().is_empty());
    pump(&mut feed, &middle).unwrap();
    pump(&mut second, &last).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    pump(&mut feed, &middle).unwrap();
    pump(&mut second, &last).unwrap();
    assert_eq!(last.position(), store.position());
    apply(&store, &[(2, Some(2))]).unwrap();
    let good = store.commit().unwrap();
    let state = store.position();
    for number in 100..106 {
        apply(&store, &[(number, Some(-1))]).unwrap();
    }
    store.commit().unwrap();
    pump(&mut feed, &middle).unwrap();
    drop(store);
    Store::recover_in(directory.clone(), good, None, options).unwrap();
    // Before somebody opens the leader, and after it.
    for round in 0..2_u32 {
        let replica = empty();
        pump(&mut Feed::open_in(directory.clone(), Position::default()), &replica).unwrap();
        assert_eq!(
            (replica.position().sequence, replica.position().history),
            (state.sequence, state.history)
        );
        assert_eq!(now(&replica).len(), 2);
        pump(&mut Feed::open_in(directory.clone(), middle.position()), &middle).unwrap();
        assert_eq!(middle.position(), replica.position());
        let mut second = Feed::open_in(middle.store().directory().clone(), last.position());
        pump(&mut second, &last).unwrap();
        assert!(second.sent().0 <= 1, "only the batch before the recovery");
        assert_eq!((last.position().sequence, now(&last).len()), (state.sequence, 2));
        drop(Store::open_in(directory.clone(), with_frames(u64::from(round) << 30)).unwrap());
    }
}

/// A replica that merges and commits by itself does not remove what its leader will not send again.
#[test]
fn files_of_the_leader_stay_until_the_next_commit() {
    let store = Store::create_in(disk("/leader"), schema(), StoreOptions::default()).unwrap();
    let replica = empty();
    let mut feed = Feed::open_in(store.directory().clone(), Position::default());
    for round in 0..30_u32 {
        apply(&store, &[(round, Some(0)), (round / 2, Some(1)), (round + 3, None)]).unwrap();
        store.commit().unwrap();
        pump(&mut feed, &replica).unwrap();
        assert_equal(&replica, &store);
        replica.store().merge_to(1 + round as usize % 2).unwrap();
        replica.store().commit().unwrap();
    }
    // Those of older commits go.
    let of_leader = |name: &str| name.starts_with("seg-00") || name.starts_with("delta-00");
    let names = replica.store().directory().list().unwrap();
    let found = names.iter().filter(|entry| of_leader(&entry.name.to_string_lossy())).count();
    assert!(found <= store.hold_commit(None).unwrap().files().files().count() + 1, "{names:?}");
    // Also while the files are being copied.
    apply(&store, &[(1, Some(8)), (99, Some(9))]).unwrap();
    store.commit().unwrap();
    let commit = store.hold_commit(None).unwrap();
    replica
        .install(commit.files(), |file| {
            replica.store().merge_to(1).unwrap();
            replica.store().commit().unwrap();
            commit.open(file)
        })
        .unwrap();
    assert_equal(&replica, &store);
    // With frames, they are the replica's own, and go.
    let (store, replica) = pair();
    apply(&store, &[(4, Some(4))]).unwrap();
    replica.apply_frame(&frames(&store, replica.position().sequence)[0].bytes).unwrap();
    replica.store().commit().unwrap();
    replica.store().merge_to(1).unwrap();
    replica.store().commit().unwrap();
    let is_old = |name: &str| name.starts_with("seg-00");
    let names = replica.store().directory().list().unwrap();
    assert!(!names.iter().any(|entry| is_old(&entry.name.to_string_lossy())), "{names:?}");
}

/// A replica that has the same number of batches, but others, is not overwritten.
#[test]
fn as_many_batches_are_not_the_same_batches() {
    let disk = PowerLossDirectory::new("/leader");
    let store = Store::create_in(Arc::new(disk.clone()), schema(), with_frames(1 << 30)).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    store.commit().unwrap();
    let (image, replica) = (disk.crash_image(0), empty());
    install(&store, &replica).unwrap();
    let (other, start) = (Store::open_in(Arc::new(image), with_frames(1 << 30)).unwrap(), replica.position());
    apply(&store, &[(2, Some(2))]).unwrap();
    replica.apply_frame(&frames(&store, start.sequence)[0].bytes).unwrap();
    apply(&other, &[(3, Some(3))]).unwrap();
    other.commit().unwrap();
    let before = (replica.position(), now(&replica));
    assert_eq!(other.position().sequence, before.0.sequence);
    let refused = install(&other, &replica);
    assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
    let refused = replica.apply_frame(&frames(&other, start.sequence)[0].bytes);
    assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
    assert_eq!((replica.position(), now(&replica)), before);

    // Neither does a depot take a commit that is older than its own, or another one.
    let depot = FolderDepot::of(Arc::new(PowerLossDirectory::new("/depot")));
    store.commit().unwrap();
    let publish = |store: &Store| store.hold_commit(None).unwrap().publish(&depot);
    publish(&store).unwrap();
    let refused = publish(&other);
    assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
    // A replica with frames after the newest commit there is ahead, which is fine.
    apply(&store, &[(5, Some(5))]).unwrap();
    replica.apply_frame(&frames(&store, before.0.sequence)[0].bytes).unwrap();
    assert_eq!(replica.install_from(&depot).unwrap(), None);
    assert_equal(&replica, &store);
    replica.install_over_from(&depot).unwrap().unwrap();
    assert_eq!(replica.position().sequence, before.0.sequence);
}

/// What an interrupted call, or a failing disk, left in a depot.
#[test]
fn a_depot_is_repaired() {
    let (store, replica) = pair();
    let folder = PowerLossDirectory::new("/depot");
    let depot = FolderDepot::of(Arc::new(folder.clone()));
    let commit = store.hold_commit(None).unwrap();
    let files: Vec<_> = commit.files().files().collect();
    // One that is whole, but of no commit yet, and one with other bytes.
    let put = |name: &str, bytes: &[u8]| {
        drop(folder.remove(name.as_ref()));
        folder.create(name.as_ref()).unwrap().write_at(bytes, 0).unwrap();
    };
    let mut whole = Vec::new();
    commit.open(&files[0]).unwrap().read_to_end(&mut whole).unwrap();
    put(&files[0].name(), &whole);
    put("notes.txt", b"of somebody else");
    // It may be of a leader that replaced this one.
    put("commit-00000077", b"{}");
    let refused = commit.publish(&depot).unwrap_err();
    assert!(
        matches!(&refused, Error::DamagedDepot { file, .. } if file == "/depot/commit-00000077"),
        "{refused}"
    );
    folder.remove("commit-00000077".as_ref()).unwrap();
    put("commit-00000000", b"{}");
    let published = commit.publish(&depot).unwrap();
    assert_eq!((published.files, published.damage.len()), (1, 1), "{published:?}");
    whole[100] ^= 1;
    for damaged in [&whole[..], &whole[..99], b""] {
        let folder = PowerLossDirectory::new("/depot");
        folder.create(files[0].name().as_ref()).unwrap().write_at(damaged, 0).unwrap();
        let depot = FolderDepot::of(Arc::new(folder));
        assert_eq!(commit.publish(&depot).unwrap().files, 2);
        let replica = empty();
        replica.install_from(&depot).unwrap().unwrap();
        assert_equal(&replica, &store);
    }
    let names: Vec<_> = folder.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(names.len() == 3 && names.contains(&"notes.txt".into()), "{names:?}");
    // The newest commit is damaged.
    apply(&store, &[(3, None)]).unwrap();
    store.commit().unwrap();
    let newest = store.hold_commit(None).unwrap();
    newest.publish(&depot).unwrap();
    put(&format!("commit-{:08}", newest.number()), b"torn");
    let refused = replica.install_from(&depot).unwrap_err();
    assert!(
        matches!(&refused, Error::DamagedDepot { file, .. } if file.starts_with("/depot/commit-")),
        "{refused}"
    );
    let published = newest.publish(&depot).unwrap();
    assert_eq!((published.files, published.damage.len()), (1, 1), "{published:?}");
    replica.install_from(&depot).unwrap().unwrap();
    assert_equal(&replica, &store);
    // Whoever keeps what is there compares new files only.
    let entry = newest.files().files().next().unwrap();
    put(&entry.name(), b"torn");
    assert_eq!(newest.publish_after(&depot, &published).unwrap().files, 0);
    assert_eq!(newest.publish(&depot).unwrap().damage.len(), 1);
    // A store is no depot.
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let refused = FolderDepot::open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("found a store"), "{refused}");
}

/// A replica goes back and forth while a thread syncs its log.
#[test]
fn installs_beside_syncs() {
    let options = with_frames(1 << 30).keep_commits(docvalues_store::KeepCommits::Newest(9));
    let store = Store::create_in(disk("/leader"), schema(), options).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    let older = store.commit().unwrap();
    apply(&store, &[(2, Some(1))]).unwrap();
    store.commit().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let durability = Durability::Within(Duration::from_millis(1));
    let replica = Replica::open(folder.path(), StoreOptions::new().durability(durability)).unwrap();
    let background = Background::start(BackgroundOptions::default()).unwrap();
    background.add(replica.store()).unwrap();
    for _ in 0..crate::cases(40, 4_000) {
        for number in [None, Some(older)] {
            let commit = store.hold_commit(number).unwrap();
            replica.install_over(commit.files(), |file| commit.open(file)).unwrap();
        }
    }
    background.remove(replica.store()).unwrap();
}

/// A position is read beside a writer that commits and removes logs.
#[test]
fn a_position_beside_commits() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create(folder.path(), schema(), options).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..crate::cases(60, 6_000) {
                apply(&store, &[(number, Some(1))]).unwrap();
                store.commit().unwrap();
            }
        });
        let mut last = 0;
        while !writer.is_finished() {
            let position = StoreReader::position(folder.path()).unwrap();
            assert!(position.sequence >= last);
            last = position.sequence;
        }
    });
    assert_eq!(StoreReader::position(folder.path()).unwrap(), store.position());
}

#[test]
fn what_a_replica_cannot_be_asked() {
    let (store, replica) = pair();
    // A commit whose numbers leave none for files of its own.
    let bytes = String::from_utf8(store.hold_commit(None).unwrap().files().encode()).unwrap();
    let json = bytes.rsplit_once("crc32").unwrap().0;
    let (before, after) = json.split_once("\"next_number\": ").unwrap();
    let after = after.split_once(',').unwrap().1;
    for next in [1_u64 << 48, (1 << 48) - (1 << 31)] {
        let json = format!("{before}\"next_number\": {next},{after}");
        let sealed = format!("{json}crc32 {:08x}\n", crc32fast::hash(json.as_bytes()));
        let hostile = CommitFiles::decode(sealed.as_bytes()).unwrap();
        let commit = store.hold_commit(None).unwrap();
        let refused = replica.install(&hostile, |file| commit.open(file));
        assert!(matches!(refused, Err(Error::Request(_))), "{refused:?}");
    }
    // Going back by itself, and files.
    let directory = replica.store().directory().clone();
    let file = tempfile::tempdir().unwrap();
    let other = Store::create(file.path().join("other"), schema(), StoreOptions::default()).unwrap();
    add(&other, &[(1, 1)]).unwrap();
    let segment = std::fs::read_dir(file.path().join("other")).unwrap().flatten();
    let segment =
        segment.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|dv| dv == "dv")).unwrap();
    let before = directory.list().unwrap().len();
    assert!(matches!(replica.store().add_segment(segment), Err(Error::IsReplica { .. })));
    assert_eq!(directory.list().unwrap().len(), before);
    let older = replica.snapshot().commit() - 1;
    drop(replica);
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(5));
    let replica = Replica::open_in(directory.clone(), options).unwrap();
    apply(&store, &[(5, Some(5))]).unwrap();
    replica.apply_frame(&frames(&store, replica.position().sequence)[0].bytes).unwrap();
    replica.store().commit().unwrap();
    drop(replica);
    let refused = Store::recover_in(directory, older + 1, None, options);
    assert!(matches!(refused, Err(Error::IsReplica { .. })), "{refused:?}");
}

/// A leader of a later epoch that has fewer batches takes over its replicas, by frames and by files.
#[test]
fn a_leader_that_has_less_takes_over() {
    let (store, first) = pair();
    let second = empty();
    install(&store, &second).unwrap();
    apply(&store, &[(4, Some(4))]).unwrap();
    pump(&mut Feed::open_in(store.directory().clone(), second.position()), &second).unwrap();
    let directory = first.store().directory().clone();
    let leader = first.promote().unwrap();
    assert!(leader.position().sequence < second.position().sequence);
    let taken = pump(&mut Feed::open_in(directory.clone(), second.position()), &second).unwrap();
    assert_eq!(taken.last(), Some(&Taken::Commit));
    assert_equal(&second, &leader);
    // A frame of the old leader, and one of the new leader that does not follow.
    let refused = second.apply_frame(&frames(&store, 0).last().unwrap().bytes);
    assert!(matches!(refused, Err(Error::OldEpoch { .. })), "{refused:?}");
    // A feed that only knows the number says that something is wrong.
    let mut pipe = Vec::new();
    let sent = Feed::open_in(directory, Position { sequence: 99, ..leader.position() })
        .send(&mut StreamWriter::new(&mut pipe));
    assert!(matches!(sent, Err(Error::Diverged { .. })), "{sent:?}");
}

/// Fields come as frames, and documents need no ids.
#[test]
fn fields_come_as_frames() {
    let number = |name: &str| Field::new(name, Kind::Numeric, LogicalType::I64);
    let schema = StoreSchema::new().with_field(number("size")).unwrap();
    let store = Store::create_in(disk("/leader"), schema, with_frames(1 << 30)).unwrap();
    let write = |names: &[&str]| {
        let mut batch = store.batch().unwrap();
        let fields: Vec<_> = names.iter().map(|name| batch.field(name).unwrap()).collect();
        for value in 0..10 {
            let mut doc = batch.upsert();
            for field in &fields {
                doc.i64(*field, value).unwrap();
            }
            doc.finish().unwrap();
        }
        store.apply(batch).unwrap();
    };
    let replica = empty();
    let mut feed = Feed::open_in(store.directory().clone(), Position::default());
    write(&["size"]);
    pump(&mut feed, &replica).unwrap();
    store.set_fields([number("late")]).unwrap();
    write(&["size", "late"]);
    store.add_field(number("later")).unwrap();
    // A change of fields is sent with the next batch.
    store.set_fields([Field { format: Some("%x".into()), ..number("size") }]).unwrap();
    write(&["later"]);
    pump(&mut feed, &replica).unwrap();
    assert_eq!(feed.sent(), (6, 1), "{:?}", (store.position(), replica.position()));
    replica.store().refresh().unwrap();
    store.refresh().unwrap();
    assert_eq!(replica.position(), store.position());
    let (found, expected) = (replica.snapshot(), store.snapshot());
    assert_eq!(found.schema(), expected.schema());
    assert_eq!(found.docs(), 30);
    for name in ["size", "late", "later"] {
        let count = |snapshot: &Snapshot| snapshot.search().count(&Query::range(name, 3..)).unwrap();
        assert_eq!(count(&found), count(&expected), "{name}");
        assert!(count(&found) > 0, "{name}");
    }
}

/// A replica that takes over knows the versions of documents that were deleted, by whichever way they came.
#[test]
fn versions_of_deleted_documents() {
    let schema = schema().with_field(Field::new("version", Kind::Numeric, LogicalType::I64)).unwrap();
    let schema = schema.with_version_field("version").unwrap();
    let write = |store: &Store, version: i64| {
        let mut batch = store.batch().unwrap();
        let [id, size, field] = ["id", "size", "version"].map(|name| batch.field(name).unwrap());
        let mut doc = batch.upsert();
        doc.str(id, "doc-00001").unwrap().i64(size, version).unwrap().i64(field, version).unwrap();
        doc.finish().unwrap();
        store.apply(batch).unwrap().outcomes[0]
    };
    for by_files in [false, true] {
        let store = Store::create_in(disk("/leader"), schema.clone(), with_frames(1 << 30)).unwrap();
        let replica = empty();
        install(&store, &replica).unwrap();
        assert_eq!(write(&store, 5), Outcome::Added);
        let mut batch = store.batch().unwrap();
        batch.delete_version(b"doc-00001", 8);
        store.apply(batch).unwrap();
        store.commit().unwrap();
        match by_files {
            true => install(&store, &replica).unwrap(),
            false => drop(
                pump(&mut Feed::open_in(store.directory().clone(), replica.position()), &replica).unwrap(),
            ),
        }
        let leader = replica.promote().unwrap();
        assert_eq!(write(&leader, 7), Outcome::Stale { current: 8 });
        assert_eq!(write(&leader, 9), Outcome::Added);
    }
}

/// A frame that is damaged is not waited for, if a later one says that it was durable.
#[test]
fn a_damaged_frame_is_not_waited_for() {
    let disk = PowerLossDirectory::new("/leader");
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create_in(Arc::new(disk.clone()), schema(), options).unwrap();
    for number in 0..5 {
        apply(&store, &[(number, Some(1))]).unwrap();
    }
    let log = disk.list().unwrap().into_iter().map(|entry| entry.name);
    let log = log.filter(|name| name.to_string_lossy().starts_with("log-")).max().unwrap();
    let first = store.frames(0).unwrap().next_frame().unwrap().unwrap();
    // A byte of the second frame, after the header of the log.
    let file = disk.claim(&log).unwrap();
    file.write_at(b"x", 64 + first.bytes.len() as u64 + 60).unwrap();
    let mut frames = store.frames(0).unwrap();
    assert_eq!(frames.next_frame().unwrap().as_ref(), Some(&first));
    assert_eq!(frames.next_frame().unwrap(), None);
    let waited = frames.wait(Duration::from_secs(20));
    assert!(matches!(waited, Err(Error::NoFrames { after: 1, .. })), "{waited:?}");
}

/// The leader merges the files that a replica takes, and its background threads leave them as they are.
#[test]
fn files_of_the_leader_are_not_merged_in_the_background() {
    let store = Store::create_in(disk("/leader"), schema(), StoreOptions::default()).unwrap();
    for number in 0..40 {
        apply(&store, &[(number, Some(1))]).unwrap();
        store.commit().unwrap();
    }
    let background = Background::start(BackgroundOptions::default()).unwrap();
    let merges = |store: &Arc<Store>| {
        background.add(store).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        background.remove(store).unwrap();
        store.snapshot().segments().len() < 40
    };
    let replica = empty();
    install(&store, &replica).unwrap();
    assert!(!merges(replica.store()));
    assert!(merges(&replica.promote().unwrap()), "as a leader does");
}

/// Frames go on while a thread writes a large buffer. A commit that discards its documents takes its file, too.
#[test]
fn a_switch_beside_the_writing_of_a_large_buffer() {
    let disk = PowerLossDirectory::new("/replica");
    let (is_writing, is_done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (writing, done) = (is_writing.clone(), is_done.clone());
    let directory = FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
        let is_flush = std::thread::current().name() == Some("dv-flush") && call.step == Step::Sync;
        while is_flush && !done.load(Relaxed) {
            writing.store(true, Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(call.bytes)
    });
    let options = StoreOptions::new().buffer_bytes(4 << 20);
    let replica = Replica::open_in(Arc::new(directory), options).unwrap();
    let _stop = Stop(&is_done);
    let (leader, _) = pair();
    install(&leader, &replica).unwrap();
    let (held, start) = (leader.hold_commit(None).unwrap(), leader.position());
    let mut applied = 0;
    let mut take_some = || {
        let docs: Vec<_> = (applied..applied + 2_000).map(|number| (number, Some(1))).collect();
        apply(&leader, &docs).unwrap();
        applied += 2_000;
        for frame in frames(&leader, replica.position().sequence) {
            replica.apply_frame(&frame.bytes).unwrap();
        }
        replica.store().stats().unwrap()
    };
    while take_some().sealed_bytes == 0 {}
    // The thread waits.
    wait_until(|| is_writing.load(Relaxed));
    assert_eq!(take_some().flushes.count, 0);
    is_done.store(true, Relaxed);
    replica.install_over(held.files(), |file| held.open(file)).unwrap();
    assert_eq!(replica.position(), start);
    let named: Vec<String> = held.files().files().map(|file| file.name()).collect();
    let names = disk.list().unwrap().into_iter().map(|entry| entry.name.to_string_lossy().into_owned());
    let segments: Vec<String> = names.filter(|name| name.starts_with("seg-")).collect();
    assert!(!segments.is_empty() && segments.iter().all(|name| named.contains(name)), "{segments:?}");
    // The same frames again.
    for frame in frames(&leader, start.sequence) {
        replica.apply_frame(&frame.bytes).unwrap();
    }
    assert_equal(&replica, &leader);
}
