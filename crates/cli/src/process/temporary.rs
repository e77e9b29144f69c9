//! Temporary files and folders of a command, besides those of unfinished outputs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The attempts to remove a folder, in which threads may still create files.
const ATTEMPTS: usize = 10;

type Paths = Box<dyn Fn() -> Vec<PathBuf> + Send>;

/// Files and folders that are removed when this is dropped, or when a signal ends the process.
pub(crate) struct Temporary(usize);

impl Temporary {
    /// `paths` is called when they are removed. They need not exist.
    pub(crate) fn new(paths: impl Fn() -> Vec<PathBuf> + Send + 'static) -> Temporary {
        let mut all = all();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, Box::new(paths));
        Temporary(number)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A signal waits for the lock.
        let mut all = all();
        if let Some(paths) = all.remove(&self.0) {
            remove(&paths);
        }
    }
}

/// Removes those of the whole process.
#[cfg(unix)]
pub(super) fn remove_all() {
    all().values().for_each(remove);
}

fn all() -> MutexGuard<'static, BTreeMap<usize, Paths>> {
    static ALL: Mutex<BTreeMap<usize, Paths>> = Mutex::new(BTreeMap::new());
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Errors are ignored: the answer is not wrong if something stays.
fn remove(paths: &Paths) {
    for path in paths() {
        let _ = fs::remove_file(&path).is_ok() || (0..ATTEMPTS).any(|_| fs::remove_dir_all(&path).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, inner, missing] = ["a.dv", "inner", "missing"].map(|name| folder.path().join(name));
        fs::write(&file, "a").unwrap();
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("b"), "b").unwrap();
        let temporary = Temporary::new(move || vec![missing.clone(), file.clone(), inner.clone()]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(temporary);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
