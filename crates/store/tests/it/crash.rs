//! Power loss at every sync: the store is as its last commit that returned, or as the one that was being made.

use std::cell::Cell;
use std::sync::Arc;

use docvalues_store::error::Result;
use docvalues_store::{Error, Store, StoreOptions, StoreReader};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{Contents, add, contents, id, schema};
use crate::id_files::{Ids, are_right, side_files};

/// Images of the disk that are drawn at each moment.
fn draws() -> u64 {
    crate::cases(4, 800)
}

/// A script of commits of a store with side files, with enough of them that deltas are folded. Calls `at` after each operation with what was
/// committed for sure, and what may be.
fn script(disk: &PowerLossDirectory, mut at: impl FnMut(&Contents, &Contents)) -> Result<()> {
    let options = StoreOptions::default();
    let mut store = Store::create_in_with(Arc::new(disk.clone()), schema(), options, Ids::new())?;
    let (mut now, mut committed) = (Contents::new(), Contents::new());
    for round in 0..24_u32 {
        if round % 3 == 0 {
            let docs: Vec<(u32, i64)> =
                (0..30).map(|i| (round * 7 + i, i64::from(round * 100 + i))).collect();
            add(&store, &docs)?;
            now.extend(docs);
        }
        let gone = round * 5;
        store.delete_ids([id(gone)])?;
        now.remove(&gone);
        at(&committed, &committed);
        if round % 7 == 6 {
            store.merge_to(2)?;
            at(&committed, &committed);
        }
        store.commit()?;
        committed.clone_from(&now);
        at(&committed, &now);
        if round % 10 == 9 {
            drop(store);
            store = Store::open_in_with(Arc::new(disk.clone()), options, Ids::new())?;
            at(&committed, &committed);
        }
    }
    Ok(())
}

/// Opens an image of the disk, and commits to it. Returns what it had.
fn recover(image: &PowerLossDirectory) -> Result<Contents> {
    let reader = StoreReader::open_in(Arc::new(image.clone()), StoreOptions::default().open)?;
    let store = Store::open_in_with(Arc::new(image.clone()), StoreOptions::default(), Ids::new())?;
    store.snapshot().segments().try_for_each(|part| part.segment.verify())?;
    let found = contents(&store.snapshot());
    assert_eq!(contents(&reader.snapshot()), found);
    if !are_right(&store.snapshot()) {
        return Err(Error::Request("expected the side files of the columns".to_owned()));
    }
    add(&store, &[(99_999, 1)])?;
    store.commit()?;
    assert_eq!(side_files(image), store.snapshot().segments().len(), "none orphaned, none missing");
    Ok(found)
}

/// The contents after each commit of the script.
fn histories() -> Vec<Contents> {
    let mut all = vec![Contents::new()];
    script(&PowerLossDirectory::new("/disk"), |committed, _| {
        if all.last() != Some(committed) {
            all.push(committed.clone());
        }
    })
    .unwrap();
    all
}

/// How the n-th sync ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It fails, and what it was to write is lost, while the process goes on.
    Fails,
    /// The machine goes down: anything may be lost.
    PowerLoss,
}

/// Runs the script until the n-th sync, and looks at what a machine could find after it. Returns the number of images,
/// and of those that were wrong.
fn crash_at((n, end, draws): (u64, End, u64), histories: &[Contents], without: Option<u64>) -> (u64, u64) {
    let disk = PowerLossDirectory::new("/disk");
    let disk = match end {
        End::Fails => disk.with_failing_sync(n),
        End::PowerLoss => disk.down_at_sync(n),
    };
    let disk = without.map_or(disk.clone(), |without| disk.without_sync(without));
    let safe = Cell::new(0);
    let created = Cell::new(false);
    let _ = script(&disk, |committed, _| {
        created.set(true);
        safe.set(histories.iter().position(|known| known == committed).unwrap());
    });
    let mut wrong = 0;
    for seed in 0..draws {
        let image = disk.crash_image(n * draws + seed);
        let is_right = match recover(&image) {
            // What was being committed may be there, too.
            Ok(found) => histories[safe.get()..].iter().take(2).any(|known| *known == found),
            Err(_) => !created.get(),
        };
        wrong += u64::from(!is_right);
        // One is enough if a sync is left out.
        if wrong > 0 && without.is_some() {
            break;
        }
    }
    (draws, wrong)
}

#[test]
fn a_power_loss_at_any_sync_loses_nothing_committed() {
    let histories = histories();
    let disk = PowerLossDirectory::new("/disk");
    script(&disk, |_, _| {}).unwrap();
    let syncs = disk.sync_count();
    let (mut images, mut wrong) = (0, 0);
    for n in 0..syncs {
        for end in [End::Fails, End::PowerLoss] {
            let (drawn, bad) = crash_at((n, end, draws()), &histories, None);
            (images, wrong) = (images + drawn, wrong + bad);
        }
    }
    println!("{images} images at {syncs} syncs");
    assert_eq!(wrong, 0, "of {images} images");
}

/// Each sync is there for a reason: without it, something is lost.
#[test]
fn without_any_sync_something_is_lost() {
    let histories = histories();
    let disk = PowerLossDirectory::new("/disk");
    script(&disk, |_, _| {}).unwrap();
    let syncs = disk.sync_count();
    let (draws, mut needless) = (crate::cases(50, 160), Vec::new());
    for without in 0..syncs {
        let is_needed = (without + 1..without + 10)
            .any(|n| crash_at((n, End::PowerLoss, draws), &histories, Some(without)).1 > 0);
        if !is_needed {
            needless.push(without);
        }
    }
    println!("{syncs} syncs, {} without effect", needless.len());
    // The first sync of a new store, and that of each opening, find nothing to write: the latter is for a process that
    // was killed between a renaming and its sync.
    assert_eq!(needless.len(), 3, "{needless:?}");
    assert_eq!(needless[0], 0);
}
