//! Random scripts of operations that continue when one fails, and what the store may contain after each.

use std::sync::Arc;

use docvalues_storage::{Directory, Step};
use docvalues_store::error::Result;
use docvalues_store::{Error, Store, StoreOptions, StoreReader};
use docvalues_writer::ErrorKind;

use crate::fixture::{Contents, add, apply, contents, count, id, schema};
use crate::id_files::{Ids, check};

/// The memory for the values of a segment: so little that the first one has a temporary file.
const BUDGET: usize = 32_000;

/// An operation of a script.
pub(crate) enum Operation {
    Add(Vec<(u32, i64)>),
    Delete(Vec<u32>),
    Apply(Vec<(u32, Option<i64>)>),
    /// Adds to sizes.
    Count(Vec<(u32, i64)>),
    MergeTo(usize),
    Commit,
    Reopen,
}

/// A script with this many commits. The first segment is so large that few deletes do not make it worth a fold.
pub(crate) fn script(seed: u64, commits: u32) -> Vec<Operation> {
    let mut random = Random(seed);
    let mut script = vec![Operation::Add((0..1_000).map(|number| (number, 0)).collect())];
    for commit in 0..commits {
        if commit % 3 == 1 {
            let first = random.below(1_000);
            let docs = first..=first + random.below(20);
            script.push(Operation::Add(docs.map(|number| (number, commit.into())).collect()));
        }
        if commit % 2 == 1 {
            let first = random.below(1_000);
            let docs = first..=first + random.below(20);
            let is_written = |number: u32| (!number.is_multiple_of(5)).then_some(-i64::from(commit));
            script.push(Operation::Apply(docs.map(|number| (number, is_written(number))).collect()));
        }
        if commit % 4 == 2 {
            let first = random.below(1_000);
            // The first one twice.
            let counted = (first..first + 20).chain([first]);
            script.push(Operation::Count(counted.map(|number| (number, commit.into())).collect()));
        }
        let gone = if random.below(3) == 0 { random.below(1_000) } else { commit };
        script.push(Operation::Delete(vec![commit, gone]));
        if commit % 10 == 4 {
            script.push(Operation::MergeTo(1 + commit as usize % 2));
        }
        script.push(Operation::Commit);
        if commit % 8 == 5 {
            script.push(Operation::Reopen);
        }
    }
    script
}

/// A generator of pseudorandom numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() >> 33).unwrap() % end
    }
}

/// A store with an observer that a script changes, as long as calls of its directory may fail.
///
/// A failed operation must not have changed anything, except that a failed commit may be there when the store is opened
/// again. A store that is poisoned, or could not be opened, is opened again by the next operation.
pub(crate) struct Run {
    directory: Arc<dyn Directory>,
    store: Option<Store>,
    /// The contents of the snapshot.
    now: Contents,
    /// The contents that the store may have when it is opened: the last commit that returned, and those tried after it. `None` if
    /// there may be no store.
    possible: Vec<Option<Contents>>,
    /// The number of operations that failed.
    pub(crate) failed: usize,
    /// The number of them after which nothing could be written any more.
    pub(crate) poisoned: usize,
}

impl Run {
    /// A folder without a store.
    pub(crate) fn new(directory: Arc<dyn Directory>) -> Run {
        Run { directory, store: None, now: Contents::new(), possible: vec![None], failed: 0, poisoned: 0 }
    }

    /// Runs a script. Calls `succeeded` after each operation that did, with what the store contains.
    pub(crate) fn run(&mut self, script: &[Operation], mut succeeded: impl FnMut(&Operation, &Contents)) {
        for (at, operation) in script.iter().enumerate() {
            let done = self.operate(operation);
            if done.is_ok() {
                succeeded(operation, &self.now);
            }
            self.failed += usize::from(done.is_err());
            if let Some(store) = &self.store {
                assert_eq!(contents(&store.snapshot()), self.now, "operation {at}: {done:?}");
                check(&store.snapshot());
            }
        }
    }

    fn operate(&mut self, operation: &Operation) -> Result<()> {
        let store = self.store.take().map_or_else(|| self.open(), Ok)?;
        let done = self.apply(&store, operation);
        let is_poisoned = is_poisoned(&store);
        let is_failed_sync = done.as_ref().is_err_and(is_failed_sync);
        assert!(is_poisoned || !is_failed_sync, "a writer goes on after a failed sync");
        self.poisoned += usize::from(is_poisoned);
        if !is_poisoned && !matches!(operation, Operation::Reopen) {
            self.store = Some(store);
        }
        done
    }

    /// Opens the store, or creates it if there is none.
    fn open(&mut self) -> Result<Store> {
        let (directory, mut options) = (&self.directory, StoreOptions::default());
        options.writer.budget = BUDGET;
        let store = match Store::open_in_with(directory.clone(), options, Ids::new()) {
            Err(Error::NoStore { .. }) => {
                assert!(self.possible.contains(&None), "the store is gone");
                self.possible.push(Some(Contents::new()));
                Store::create_in_with(directory.clone(), schema(), options, Ids::new())?
            }
            opened => opened?,
        };
        self.now = contents(&store.snapshot());
        let now = Some(self.now.clone());
        assert!(self.possible.contains(&now), "opened with other contents");
        self.possible = vec![now];
        Ok(store)
    }

    fn apply(&mut self, store: &Store, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Add(docs) => {
                add(store, docs)?;
                self.now.extend(docs.iter().copied());
            }
            Operation::Delete(ids) => {
                store.delete_ids(ids.iter().map(|number| id(*number)))?;
                self.now.retain(|number, _| !ids.contains(number));
            }
            Operation::Apply(operations) => {
                apply(store, operations)?;
                self.now.retain(|number, _| !operations.contains(&(*number, None)));
                self.now.extend(operations.iter().filter_map(|(number, size)| Some((*number, (*size)?))));
                store.refresh()?;
            }
            Operation::Count(amounts) => {
                count(store, amounts)?;
                for (number, amount) in amounts {
                    if let Some(size) = self.now.get_mut(number) {
                        *size += amount;
                    }
                }
                store.refresh()?;
            }
            Operation::MergeTo(segments) => store.merge_to(*segments)?,
            Operation::Commit => {
                self.possible.push(Some(self.now.clone()));
                store.commit()?;
                self.possible = vec![Some(self.now.clone())];
            }
            Operation::Reopen => {}
        }
        Ok(())
    }

    /// Whether the store may be found with these contents; `None` if there is no store.
    pub(crate) fn allows(&self, found: &Option<Contents>) -> bool {
        self.possible.contains(found)
    }
}

/// The contents that a reader finds in a folder, whose side files it checks; `None` if there is no store.
pub(crate) fn read(directory: Arc<dyn Directory>) -> Option<Contents> {
    match StoreReader::open_in(directory, StoreOptions::default().open) {
        Err(Error::NoStore { .. }) => None,
        reader => {
            let snapshot = reader.unwrap().snapshot();
            check(&snapshot);
            Some(contents(&snapshot))
        }
    }
}

/// Whether the store refuses changes. Adding a field that it has changes nothing.
fn is_poisoned(store: &Store) -> bool {
    let field = store.snapshot().schema().fields()[0].clone();
    matches!(store.add_field(field), Err(Error::Poisoned { .. }))
}

fn is_failed_sync(error: &Error) -> bool {
    let step = match error {
        Error::Storage(error) => error.step(),
        Error::Write(error) => match error.kind() {
            ErrorKind::Storage(error) => error.step(),
            _ => return false,
        },
        _ => return false,
    };
    matches!(step, Step::Sync | Step::SyncFolder)
}
