//! Replicas: they have a state that their leader had, whatever happens to frames, files and processes, and its last one in
//! the end.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use docvalues_search::Query;
use docvalues_storage::{Directory, FsDirectory};
use docvalues_store::error::Result;
use docvalues_store::{
    Durability, Error, Feed, FolderDepot, Frame, Position, Received, Replica, Store, StoreOptions,
    StoreReader, StreamReader, StreamWriter, Taken,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{Contents, POLICY, Stop, add, apply, contents, dying, id, schema};

pub(crate) fn with_frames(keep_frames: u64) -> StoreOptions {
    StoreOptions::new().keep_frames(keep_frames)
}

/// A leader with three documents in a commit, and a replica with this commit.
pub(crate) fn pair() -> (Store, Replica) {
    let store =
        Store::create_in(Arc::new(PowerLossDirectory::new("/leader")), schema(), with_frames(1 << 30))
            .unwrap();
    apply(&store, &[(1, Some(1)), (2, Some(2)), (3, Some(3))]).unwrap();
    store.commit().unwrap();
    let replica = empty();
    install(&store, &replica).unwrap();
    assert_eq!(replica.position(), store.position());
    (store, replica)
}

pub(crate) fn empty() -> Replica {
    Replica::open_in(Arc::new(PowerLossDirectory::new("/replica")), StoreOptions::default()).unwrap()
}

pub(crate) fn install(store: &Store, replica: &Replica) -> Result<()> {
    let commit = store.hold_commit(None)?;
    replica.install(commit.files(), |file| commit.open(file)).map(drop)
}

/// All frames after batch `after`.
pub(crate) fn frames(store: &Store, after: u64) -> Vec<Frame> {
    let mut frames = store.frames(after).unwrap();
    std::iter::from_fn(|| frames.next_frame().unwrap()).collect()
}

pub(crate) fn now(replica: &Replica) -> Contents {
    replica.store().refresh().unwrap();
    contents(&replica.snapshot())
}

#[test]
fn frames_are_applied_in_order_only() {
    let (store, replica) = pair();
    let start = store.position().sequence;
    for batch in 0..4 {
        apply(&store, &[(batch, Some(-1)), (batch + 1, None)]).unwrap();
    }
    store.refresh().unwrap();
    let frames = frames(&store, start);
    let apply = |at: usize| replica.apply_frame(&frames[at].bytes);
    assert!(
        matches!(apply(1), Err(Error::Gap { expected, found }) if expected == start + 1 && found == start + 2)
    );
    assert_eq!(apply(0).unwrap(), Received::Applied);
    assert_eq!(apply(0).unwrap(), Received::Known);
    assert!(matches!(apply(3), Err(Error::Gap { .. })));
    for at in 1..4 {
        assert_eq!(apply(at).unwrap(), Received::Applied);
    }
    assert_eq!(apply(1).unwrap(), Received::Known);
    assert_eq!(replica.position(), store.position());
    assert_eq!(now(&replica), contents(&store.snapshot()));
    // What it had is there after a commit and a reopening.
    let directory = replica.store().directory().clone();
    replica.store().commit().unwrap();
    drop(replica);
    let replica = Replica::open_in(directory, StoreOptions::default()).unwrap();
    assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
}

#[test]
fn flipped_and_cut_frames_are_refused_whole() {
    let (store, replica) = pair();
    let before = (replica.position(), now(&replica));
    apply(&store, &[(7, Some(7)), (1, None)]).unwrap();
    let frame = frames(&store, before.0.sequence).remove(0).bytes;
    for len in 0..frame.len() {
        assert!(matches!(replica.apply_frame(&frame[..len]), Err(Error::Damaged { .. })));
    }
    for bit in 0..frame.len() * 8 {
        let mut frame = frame.clone();
        frame[bit / 8] ^= 1 << (bit % 8);
        let error = replica.apply_frame(&frame).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "bit {bit}: {error}");
    }
    assert_eq!((replica.position(), now(&replica)), before);
    replica.apply_frame(&frame).unwrap();
}

#[test]
fn frames_of_other_stores_and_old_leaders_are_refused() {
    let (store, replica) = pair();
    let (other, _) = pair();
    for store in [&store, &other] {
        apply(store, &[(9, Some(9))]).unwrap();
    }
    let start = replica.position();
    let error = replica.apply_frame(&frames(&other, start.sequence)[0].bytes).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    let commit = other.hold_commit(None).unwrap();
    let error = replica.install(commit.files(), |file| commit.open(file)).unwrap_err();
    assert!(matches!(error, Error::OtherStore { .. }), "{error}");
    assert_eq!(replica.position(), start);

    // A second replica, promoted, while the old leader goes on.
    let second = empty();
    install(&store, &second).unwrap();
    let leader = second.promote().unwrap();
    apply(&leader, &[(10, Some(10))]).unwrap();
    leader.commit().unwrap();
    install(&leader, &replica).unwrap();
    assert_eq!(replica.position(), leader.position());
    let epoch = leader.position().epoch;
    assert!(epoch > start.epoch);
    apply(&store, &[(11, Some(11))]).unwrap();
    store.commit().unwrap();
    for frame in frames(&store, start.sequence) {
        let error = replica.apply_frame(&frame.bytes).unwrap_err();
        assert!(matches!(error, Error::OldEpoch { known, found: 1 } if known == epoch), "{error}");
    }
    let error = install(&store, &replica).unwrap_err();
    assert!(matches!(error, Error::OldEpoch { known, found: 1 } if known == epoch), "{error}");
    assert_eq!(now(&replica), contents(&leader.snapshot()));
}

/// A replica that has no commit of the new leader follows it by frames, into its epoch, also when it has a log.
#[test]
fn a_replica_follows_a_new_leader_by_frames() {
    let (store, _) = pair();
    let options = StoreOptions::new().durability(Durability::EachBatch).keep_frames(1 << 30);
    let open = |name: &str| {
        let directory = Arc::new(PowerLossDirectory::new(name));
        let replica = Replica::open_in(directory.clone(), options).unwrap();
        install(&store, &replica).unwrap();
        (directory, replica)
    };
    let ((_, first), (directory, second)) = (open("/first"), open("/second"));
    let start = store.position().sequence;
    apply(&store, &[(5, Some(5))]).unwrap();
    for replica in [&first, &second] {
        replica.apply_frame(&frames(&store, start)[0].bytes).unwrap();
    }
    let leader = first.promote().unwrap();
    apply(&leader, &[(6, Some(6)), (1, None)]).unwrap();
    // The log of the new leader begins with its first frame, and those of the epoch before stay.
    for frame in frames(&leader, start) {
        second.apply_frame(&frame.bytes).unwrap();
    }
    assert_eq!(second.position(), leader.position());
    leader.refresh().unwrap();
    assert_eq!(now(&second), contents(&leader.snapshot()));
    // Each batch survives without a commit.
    drop(second);
    let image = Arc::new(directory.crash_image(7));
    let second = Replica::open_in(image, options).unwrap();
    assert_eq!((second.position(), now(&second)), (leader.position(), contents(&leader.snapshot())));
}

#[test]
fn a_replica_takes_changes_of_its_leader_only() {
    let (store, replica) = pair();
    let is_refused =
        |result: Result<()>| assert!(matches!(result, Err(Error::IsReplica { .. })), "{result:?}");
    let own = replica.store();
    is_refused(apply(own, &[(1, Some(2))]).map(drop));
    is_refused(add(own, &[(1, 2)]));
    is_refused(own.delete_ids([id(1)]).map(drop));
    is_refused(own.delete_where(&Query::range("size", 0..)).map(drop));
    // Before the search, which would find no such column.
    is_refused(own.delete_where(&Query::eq("unknown", 0)).map(drop));
    is_refused(own.set_fields([schema().fields()[0].clone()]));
    is_refused(own.add_field(schema().fields()[0].clone()));
    // Its files may change.
    own.commit().unwrap();
    own.merge(&POLICY).unwrap();
    assert_eq!(replica.position(), store.position());
    // Also when it is opened as a store, and not when it was promoted.
    let directory = own.directory().clone();
    drop(replica);
    let own = Store::open_in(directory.clone(), StoreOptions::default()).unwrap();
    is_refused(apply(&own, &[(1, Some(2))]).map(drop));
    drop(own);
    let own = Replica::open_in(directory.clone(), StoreOptions::default()).unwrap().promote().unwrap();
    apply(&own, &[(1, Some(2))]).unwrap();
    drop(own);
    let error = Replica::open_in(directory, StoreOptions::default()).unwrap_err().to_string();
    assert!(error.contains("expected a replica, found a store with changes of its own"), "{error}");
    assert!(empty().promote().is_err());
}

/// Changes that no frame has come with the files of the next commit.
#[test]
fn changes_by_query_come_as_files() {
    let (store, replica) = pair();
    let mut feed = Feed::open_in(store.directory().clone(), replica.position());
    apply(&store, &[(4, Some(4))]).unwrap();
    store.delete_where(&Query::range("size", ..=2)).unwrap();
    apply(&store, &[(5, Some(5))]).unwrap();
    add(&store, &[(6, 6)]).unwrap();
    apply(&store, &[(7, Some(7))]).unwrap();
    let taken = pump(&mut feed, &replica).unwrap();
    assert_eq!(feed.sent(), (2, 1), "{taken:?}");
    store.refresh().unwrap();
    assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
    let frame = frames(&store, replica.position().sequence - 2).remove(0);
    assert!(frame.needs_commit);
    assert!(matches!(replica.apply_frame(&frame.bytes), Ok(Received::Known)));
    // A replica that needs it does not take it for the change.
    let (store, replica) = pair();
    let before = (replica.position(), now(&replica));
    store.delete_where(&Query::range("size", ..=2)).unwrap();
    let refused = replica.apply_frame(&frames(&store, before.0.sequence)[0].bytes);
    assert!(matches!(refused, Err(Error::Gap { .. })), "{refused:?}");
    assert_eq!((replica.position(), now(&replica)), before);
}

/// Sends what there is through a stream. Returns what the replica took.
pub(crate) fn pump(feed: &mut Feed, replica: &Replica) -> Result<Vec<Taken>> {
    let mut pipe = Vec::new();
    while feed.send(&mut StreamWriter::new(&mut pipe))? {}
    let (mut stream, mut taken) = (StreamReader::new(&pipe[..]), Vec::new());
    while let Some(item) = replica.take(&mut stream)? {
        taken.push(item);
    }
    Ok(taken)
}

#[test]
fn a_store_without_a_log_sends_files() {
    let store =
        Store::create_in(Arc::new(PowerLossDirectory::new("/leader")), schema(), StoreOptions::default())
            .unwrap();
    assert!(matches!(store.frames(0), Err(Error::NoFrames { first: None, .. })));
    let (replica, mut feed) = (empty(), Feed::open_in(store.directory().clone(), Position::default()));
    pump(&mut feed, &replica).unwrap();
    assert_eq!(replica.position(), store.position());
    for round in 0..12 {
        apply(&store, &[(round, Some(0)), (round / 2, Some(1)), (round + 1, None)]).unwrap();
        assert!(pump(&mut feed, &replica).unwrap().is_empty(), "nothing is committed");
        store.commit().unwrap();
        // Only what is new: a segment and a delta at most, or a fold.
        let files = pump(&mut feed, &replica).unwrap().len() - 1;
        assert!((1..=3).contains(&files), "{files} files");
        assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
    }
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    apply(&store, &[(99, Some(9))]).unwrap();
    store.commit().unwrap();
    pump(&mut feed, &replica).unwrap();
    assert_eq!(now(&replica), contents(&store.snapshot()));
}

/// Somebody writes the leader without a log, and its frames end.
#[test]
fn a_log_that_ends_is_followed_by_files() {
    let (store, replica) = pair();
    let directory = store.directory().clone();
    let mut feed = Feed::open_in(directory.clone(), replica.position());
    apply(&store, &[(4, Some(4))]).unwrap();
    assert_eq!(pump(&mut feed, &replica).unwrap().len(), 1);
    drop(store);
    for round in 0..3 {
        let store = Store::open_in(directory.clone(), StoreOptions::default()).unwrap();
        apply(&store, &[(round, Some(9))]).unwrap();
        assert!(pump(&mut feed, &replica).unwrap().is_empty());
        store.commit().unwrap();
        pump(&mut feed, &replica).unwrap();
        assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
    }
    let store = Store::open_in(directory, with_frames(1 << 30)).unwrap();
    apply(&store, &[(8, Some(8))]).unwrap();
    assert_eq!(pump(&mut feed, &replica).unwrap(), [Taken::Frame(Received::Applied)]);
}

/// Frames that were removed, because they take more than is kept, are replaced by a commit.
#[test]
fn a_replica_that_is_behind_gets_files() {
    let directory: Arc<dyn Directory> = Arc::new(PowerLossDirectory::new("/leader"));
    let store = Store::create_in(directory.clone(), schema(), with_frames(5_000)).unwrap();
    let replica = empty();
    let mut feed = Feed::open_in(directory.clone(), Position::default());
    pump(&mut feed, &replica).unwrap();
    for round in 0..40 {
        apply(
            &store,
            &(0..50).map(|number| (round * 20 + number, Some(i64::from(round)))).collect::<Vec<_>>(),
        )
        .unwrap();
        store.commit().unwrap();
        if round == 2 {
            assert!(pump(&mut feed, &replica).unwrap().iter().all(|taken| matches!(taken, Taken::Frame(_))));
        }
    }
    let logs = directory
        .list()
        .unwrap()
        .into_iter()
        .filter(|entry| entry.name.to_string_lossy().starts_with("log-"));
    let logs = logs.count();
    assert!((2..=12).contains(&logs), "{logs} logs");
    let error = store.frames(4).unwrap_err();
    assert!(matches!(error, Error::NoFrames { after: 4, first: Some(first), .. } if first > 5), "{error}");
    pump(&mut feed, &replica).unwrap();
    assert_eq!(feed.sent().1, 2);
    assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
    // And then frames again.
    apply(&store, &[(1, None)]).unwrap();
    assert_eq!(pump(&mut feed, &replica).unwrap(), [Taken::Frame(Received::Applied)]);
}

/// A leader loses power, and batches that it had sent: the replica says so, whatever comes next, until it is told to go back.
#[test]
fn a_replica_notices_what_its_leader_lost() {
    let disk = PowerLossDirectory::new("/leader");
    let store = Store::create_in(Arc::new(disk.clone()), schema(), with_frames(1 << 30)).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    store.commit().unwrap();
    let replica = empty();
    let mut feed = Feed::open_in(store.directory().clone(), Position::default());
    pump(&mut feed, &replica).unwrap();
    apply(&store, &[(2, Some(2))]).unwrap();
    apply(&store, &[(3, Some(3))]).unwrap();
    pump(&mut feed, &replica).unwrap();
    let ahead = replica.position();
    let image = (0..).map(|seed| disk.crash_image(seed)).find(|image| {
        let store = Store::open_in(Arc::new(image.crash_image(0)), with_frames(1 << 30)).unwrap();
        store.position().sequence < ahead.sequence
    });
    drop(store);
    let directory: Arc<dyn Directory> = Arc::new(image.unwrap());
    let store = Store::open_in(directory.clone(), with_frames(1 << 30)).unwrap();
    let refuses =
        |result: Result<Vec<Taken>>| assert!(matches!(result, Err(Error::Diverged { .. })), "{result:?}");
    refuses(pump(&mut Feed::open_in(directory.clone(), ahead), &replica));
    // It goes on, past the batch that the replica has.
    for number in 0..6 {
        apply(&store, &[(20 + number, Some(0))]).unwrap();
    }
    refuses(pump(&mut Feed::open_in(directory.clone(), ahead), &replica));
    assert_eq!(replica.position(), ahead);
    store.commit().unwrap();
    let commit = store.hold_commit(None).unwrap();
    replica.install_over(commit.files(), |file| commit.open(file)).unwrap();
    assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
}

/// Commits of a leader that went back to an older one.
#[test]
fn a_replica_follows_a_recovery() {
    let options = with_frames(1 << 30).keep_commits(docvalues_store::KeepCommits::Newest(3));
    let directory: Arc<dyn Directory> = Arc::new(PowerLossDirectory::new("/leader"));
    let store = Store::create_in(directory.clone(), schema(), options).unwrap();
    apply(&store, &[(1, Some(1))]).unwrap();
    let good = store.commit().unwrap();
    apply(&store, &[(1, None), (2, Some(2))]).unwrap();
    store.commit().unwrap();
    let replica = empty();
    let mut feed = Feed::open_in(directory.clone(), Position::default());
    pump(&mut feed, &replica).unwrap();
    apply(&store, &[(3, Some(3))]).unwrap();
    pump(&mut feed, &replica).unwrap();
    drop(store);
    Store::recover_in(directory.clone(), good, Some(0), options).unwrap();
    let store = Store::open_in(directory.clone(), options).unwrap();
    // Its commit is of a later epoch, so the replica goes back.
    assert_eq!(pump(&mut feed, &replica).unwrap().last(), Some(&Taken::Commit));
    assert_eq!((replica.position(), now(&replica)), (store.position(), contents(&store.snapshot())));
    let mut feed = Feed::open_in(directory, replica.position());
    apply(&store, &[(4, Some(4))]).unwrap();
    assert_eq!(pump(&mut feed, &replica).unwrap(), [Taken::Frame(Received::Applied)]);
}

#[test]
fn damaged_and_wrong_files_are_refused() {
    let (store, replica) = pair();
    let before = (replica.position(), now(&replica));
    apply(&store, &[(4, Some(4)), (1, None)]).unwrap();
    store.commit().unwrap();
    let commit = store.hold_commit(None).unwrap();
    let missing = replica.lacks(commit.files()).unwrap();
    assert_eq!(missing.len(), 2, "a segment and a delta");
    for (at, file) in missing.iter().enumerate() {
        let len = usize::try_from(file.bytes()).unwrap();
        for damage in (0..len).step_by(23) {
            let open = |other: &_| {
                let mut bytes = Vec::new();
                commit.open(other)?.read_to_end(&mut bytes).unwrap();
                match other == file {
                    true if damage % 2 == 0 => bytes.truncate(damage),
                    true => bytes[damage] ^= 16,
                    false => {}
                }
                Ok(io::Cursor::new(bytes))
            };
            let error = replica.install(commit.files(), open).unwrap_err();
            assert!(error.to_string().contains(&file.name()), "file {at}, {damage}: {error}");
            assert_eq!(replica.position(), before.0);
        }
    }
    // A read that fails.
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the network is down"))
        }
    }
    let error = replica.install(commit.files(), |_| Ok(Failing)).unwrap_err().to_string();
    assert!(error.contains("the network is down"), "{error}");
    assert_eq!((replica.position(), now(&replica)), before);
    install(&store, &replica).unwrap();
    assert_eq!(now(&replica), contents(&store.snapshot()));
    // Its own commits and merges go on.
    replica.store().merge_to(1).unwrap();
    replica.store().commit().unwrap();
    assert_eq!(now(&replica), contents(&store.snapshot()));
}

/// A replica that is killed before each of its calls to the storage has a state that the leader had, and gets the rest.
#[test]
fn a_replica_that_dies_goes_on() {
    let (store, states) = {
        let directory = Arc::new(PowerLossDirectory::new("/leader"));
        let store = Store::create_in(directory, schema(), with_frames(1 << 30)).unwrap();
        let mut states = HashMap::from([(store.position().history, Contents::new()), (0, Contents::new())]);
        for round in 0..12_u32 {
            apply(
                &store,
                &(0..5)
                    .map(|number| (round * 3 + number, (number != 2).then_some(i64::from(round))))
                    .collect::<Vec<_>>(),
            )
            .unwrap();
            if round % 5 == 4 {
                store.commit().unwrap();
            }
            store.refresh().unwrap();
            states.insert(store.position().history, contents(&store.snapshot()));
        }
        (store, states)
    };
    let check = |replica: &Replica| {
        assert_eq!(Some(&now(replica)), states.get(&replica.position().history), "{:?}", replica.position());
    };
    let run = |directory: Arc<dyn Directory>, options: StoreOptions| -> Result<()> {
        let replica = Replica::open_in(directory, options)?;
        check(&replica);
        let mut feed = Feed::open_in(store.directory().clone(), replica.position());
        let mut pipe = Vec::new();
        while feed.send(&mut StreamWriter::new(&mut pipe))? {}
        let (mut stream, mut count) = (StreamReader::new(&pipe[..]), 0);
        while replica.take(&mut stream)?.is_some() {
            count += 1;
            if count % 3 == 0 {
                replica.store().commit()?;
            }
        }
        check(&replica);
        assert_eq!(replica.position(), store.position());
        Ok(())
    };
    let mut deaths = 0;
    for durability in [Durability::OnCommit, Durability::EachBatch] {
        let options = StoreOptions::new().durability(durability);
        for last in 0_u32.. {
            let disk = PowerLossDirectory::new("/replica");
            let died = run(dying(&disk, last), options).is_err();
            // Killed, or the power failed, too.
            for image in [disk.crash_image(u64::from(last)), disk] {
                run(Arc::new(image), options).unwrap();
            }
            if !died {
                break;
            }
            deaths += 1;
        }
    }
    assert!(deaths > 100, "{deaths}");
}

/// A replica copies files while the leader commits and removes them.
#[test]
fn files_stay_while_they_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let [leader, depot, copy, other] =
        ["leader", "depot", "copy", "other"].map(|name| folder.path().join(name));
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(1));
    let store = Store::create(&leader, schema(), options).unwrap();
    let replicas = [&copy, &other].map(|path| Replica::open(path, options).unwrap());
    let depot = FolderDepot::open(&depot).unwrap();
    let is_done = AtomicBool::new(false);
    let mut states = BTreeMap::new();
    let seen = std::thread::scope(|scope| {
        let [by_files, by_depot] = &replicas;
        let seen = [
            scope.spawn(|| {
                let mut seen = Vec::new();
                while !is_done.load(Relaxed) {
                    let commit = StoreReader::hold_commit(&leader, None).unwrap();
                    // Slowly.
                    by_files
                        .install(commit.files(), |file| {
                            std::thread::sleep(Duration::from_micros(300));
                            commit.open(file)
                        })
                        .unwrap();
                    seen.push((by_files.position().sequence, contents(&by_files.snapshot())));
                }
                seen
            }),
            scope.spawn(|| {
                let mut seen = Vec::new();
                while !is_done.load(Relaxed) {
                    by_depot.install_from(&depot).unwrap();
                    seen.push((by_depot.position().sequence, contents(&by_depot.snapshot())));
                }
                seen
            }),
        ];
        let stop = Stop(&is_done);
        for round in 0..60_u32 {
            let docs: Vec<_> = (0..9)
                .map(|number| (round * 4 + number, (number != 5).then_some(i64::from(round))))
                .collect();
            apply(&store, &docs).unwrap();
            store.refresh().unwrap();
            states.insert(store.position().sequence, contents(&store.snapshot()));
            store.commit().unwrap();
            if round % 7 == 3 {
                store.merge_to(1).unwrap();
                store.commit().unwrap();
            }
            store.hold_commit(None).unwrap().publish(&depot).unwrap();
        }
        drop(stop);
        seen.map(|seen| seen.join().unwrap())
    });
    states.insert(0, Contents::new());
    for (sequence, found) in seen.iter().flatten() {
        assert_eq!(Some(found), states.get(sequence));
    }
    for replica in &replicas {
        replica.install_from(&depot).unwrap();
        assert_eq!(
            (replica.position(), contents(&replica.snapshot())),
            (store.position(), contents(&store.snapshot()))
        );
        assert_eq!(replica.install_from(&depot).unwrap(), None);
    }
    // Two commits and their files, and nothing twice.
    let names = FsDirectory::new(folder.path().join("depot")).list().unwrap();
    assert_eq!(names.iter().filter(|entry| entry.name.to_string_lossy().starts_with("commit-")).count(), 2);
    assert_eq!(store.hold_commit(None).unwrap().publish(&depot).unwrap().files, 0);
}

/// A promoted copy overwrites what a folder has only if that is asked for, or if it has the same batches.
#[test]
fn a_folder_loses_nothing_to_a_promoted_copy() {
    let (store, replica) = pair();
    let depot = FolderDepot::of(Arc::new(PowerLossDirectory::new("/depot")));
    let publish = |store: &Store| store.hold_commit(None).unwrap().publish(&depot);
    let copy = replica.promote().unwrap();
    apply(&store, &[(8, Some(8))]).unwrap();
    store.commit().unwrap();
    let published = publish(&store).unwrap();
    let third = empty();
    let is_ahead = |leader: &Store| {
        third.install_from(&depot).unwrap();
        assert_eq!(third.position(), leader.position());
    };
    // With fewer batches, as many, and more.
    for id in [9, 10, 11] {
        let after = copy.hold_commit(None).unwrap().publish_after(&depot, &published);
        for error in [publish(&copy).unwrap_err(), after.unwrap_err()] {
            assert!(matches!(error, Error::LaterEpoch { known: 1, .. }), "{error}");
        }
        is_ahead(&store);
        apply(&copy, &[(id, Some(9))]).unwrap();
        copy.commit().unwrap();
    }
    publish(&store).unwrap();
    copy.hold_commit(None).unwrap().publish_over(&depot).unwrap();
    is_ahead(&copy);
    assert!(matches!(publish(&store), Err(Error::OldEpoch { .. })));
    apply(&copy, &[(12, None)]).unwrap();
    copy.commit().unwrap();
    publish(&copy).unwrap();
    is_ahead(&copy);
    // Nothing is lost.
    let leader = third.promote().unwrap();
    publish(&leader).unwrap();
    apply(&leader, &[(12, Some(12))]).unwrap();
    leader.commit().unwrap();
    publish(&leader).unwrap();
}

/// Two copies that were promoted have different epochs: none replaces the other's batches, also if it has more.
#[test]
fn a_folder_has_one_of_two_promoted_copies() {
    let (store, one) = pair();
    let two = empty();
    install(&store, &two).unwrap();
    let depot = FolderDepot::of(Arc::new(PowerLossDirectory::new("/depot")));
    let (one, two) = (one.promote().unwrap(), two.promote().unwrap());
    apply(&one, &[(8, Some(8))]).unwrap();
    one.commit().unwrap();
    one.hold_commit(None).unwrap().publish(&depot).unwrap();
    // Fewer batches than the depot, as many, and more.
    for id in [9, 10, 11] {
        let error = two.hold_commit(None).unwrap().publish(&depot).unwrap_err();
        assert!(matches!(error, Error::LaterEpoch { .. } | Error::OldEpoch { .. }), "{error}");
        apply(&two, &[(id, Some(9))]).unwrap();
        two.commit().unwrap();
    }
    let error = two.hold_commit(None).unwrap().publish(&depot).unwrap_err();
    assert!(matches!(error, Error::LaterEpoch { .. } | Error::OldEpoch { .. }), "{error}");
    let third = empty();
    third.install_from(&depot).unwrap();
    assert_eq!((third.position(), now(&third)), (one.position(), contents(&one.snapshot())));
}

/// A replica that published goes on with a promoted leader, in its epoch. It replaces what the old leader published itself only
/// if that is asked for.
#[test]
fn a_replica_publishes_for_a_new_leader() {
    let (store, replica) = pair();
    let second = empty();
    install(&store, &second).unwrap();
    let [mirror, backup] =
        ["/mirror", "/backup"].map(|name| FolderDepot::of(Arc::new(PowerLossDirectory::new(name))));
    let held = || replica.store().hold_commit(None).unwrap();
    let published = held().publish(&mirror).unwrap();
    store.hold_commit(None).unwrap().publish(&backup).unwrap();
    let directory = second.store().directory().clone();
    let leader = second.promote().unwrap();
    for id in [8, 9] {
        apply(&leader, &[(id, Some(8))]).unwrap();
        leader.commit().unwrap();
        pump(&mut Feed::open_in(directory.clone(), replica.position()), &replica).unwrap();
        replica.store().commit().unwrap();
    }
    assert_eq!(replica.position(), leader.position());
    held().publish_after(&mirror, &published).unwrap();
    let third = empty();
    third.install_from(&mirror).unwrap();
    assert_eq!((third.position(), now(&third)), (leader.position(), contents(&leader.snapshot())));
    let error = held().publish(&backup).unwrap_err();
    assert!(matches!(error, Error::LaterEpoch { known: 1, .. }), "{error}");
    held().publish_over(&backup).unwrap();
}

/// A damaged commit may have batches that a promoted copy lacks.
#[test]
fn a_damaged_commit_of_a_folder_is_not_replaced_by_a_promoted_copy() {
    let (store, replica) = pair();
    let folder = PowerLossDirectory::new("/depot");
    let depot = FolderDepot::of(Arc::new(folder.clone()));
    store.hold_commit(None).unwrap().publish(&depot).unwrap();
    apply(&store, &[(8, Some(8))]).unwrap();
    let number = store.commit().unwrap();
    store.hold_commit(None).unwrap().publish(&depot).unwrap();
    let name = format!("commit-{number:08}");
    folder.remove(name.as_ref()).unwrap();
    folder.create(name.as_ref()).unwrap().write_at(b"hurt", 0).unwrap();
    let copy = replica.promote().unwrap();
    let held = copy.hold_commit(None).unwrap();
    // It is not refused for its number.
    assert!(held.number() >= number);
    let error = held.publish(&depot).unwrap_err();
    assert!(matches!(error, Error::DamagedDepot { .. }), "{error}");
    assert_eq!(held.publish_over(&depot).unwrap().damage.len(), 1);
}

/// An old leader does not overwrite what the new one put into a folder, and neither does another store.
#[test]
fn a_folder_has_commits_of_one_history() {
    let (store, replica) = pair();
    let depot = FolderDepot::of(Arc::new(PowerLossDirectory::new("/depot")));
    store.hold_commit(None).unwrap().publish(&depot).unwrap();
    let leader = replica.promote().unwrap();
    apply(&leader, &[(8, Some(8))]).unwrap();
    leader.commit().unwrap();
    leader.hold_commit(None).unwrap().publish_over(&depot).unwrap();
    apply(&store, &[(9, Some(9))]).unwrap();
    store.commit().unwrap();
    let error = store.hold_commit(None).unwrap().publish(&depot).unwrap_err();
    assert!(matches!(error, Error::OldEpoch { .. }), "{error}");
    let (other, _) = pair();
    let error = other.hold_commit(None).unwrap().publish(&depot).unwrap_err();
    assert!(matches!(error, Error::OtherStore { .. }), "{error}");
    let third = empty();
    third.install_from(&depot).unwrap();
    assert_eq!((third.position(), now(&third)), (leader.position(), contents(&leader.snapshot())));
}
