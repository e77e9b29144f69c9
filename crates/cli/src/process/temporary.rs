//! Temporary files and folders of a command, besides those of unfinished outputs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Removal = Box<dyn Fn() + Send>;

/// Files and folders that are removed when this is dropped, or when a signal ends the process.
pub(crate) struct Temporary(usize);

impl Temporary {
    /// `remove` removes them, if they exist. It should ignore errors: the answer is not wrong if something stays.
    pub(crate) fn new(remove: impl Fn() + Send + 'static) -> Temporary {
        let mut all = all();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, Box::new(remove));
        Temporary(number)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The lock is held meanwhile, so that a signal does not end the process before.
        let mut all = all();
        if let Some(remove) = all.remove(&self.0) {
            remove();
        }
    }
}

/// Removes those of the whole process.
#[cfg(unix)]
pub(super) fn remove_all() {
    all().values().for_each(|remove| remove());
}

fn all() -> MutexGuard<'static, BTreeMap<usize, Removal>> {
    static ALL: Mutex<BTreeMap<usize, Removal>> = Mutex::new(BTreeMap::new());
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_removed_when_they_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            Temporary::new(move || drop(fs::remove_file(&path)))
        });
        let left = || fs::read_dir(folder.path()).unwrap().count();
        drop(first);
        assert_eq!(left(), 1);
        drop(second);
        assert_eq!(left(), 0);
    }
}
