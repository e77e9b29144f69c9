//! [`Files`]: which commits there are, which numbers are free, and what can be removed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use docvalues_storage::Directory;

use super::commit_file::CommitFile;
use super::names::{self, FileName};
use crate::error::{Error, Result};
use crate::locks;
use crate::options::KeepCommits;

/// The number of times that a folder without a commit is listed.
const LISTINGS: usize = 10;

/// The files of a store, as its writer knows them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The numbers of all commits, ascending.
    pub(crate) commits: Vec<u64>,
    /// All other files that are numbered.
    numbered: HashSet<FileName>,
    /// Temporary files of commits that were not finished.
    pub(crate) temporary: Vec<String>,
    /// Above all in the folder when it was listed.
    pub(crate) next_number: u64,
    /// The leader's files that a replica has, as long as no frame came after them: they are not sent again, stay although no
    /// commit may name them yet, and are merged by the leader.
    pub(crate) received: HashSet<FileName>,
    /// The contents of commits that were read, by number, and the number of these that name a file.
    read: HashMap<u64, ReadCommit>,
    named: HashMap<FileName, usize>,
    /// The bytes of logs to which nothing is added any more, of those that were asked for.
    log_bytes: HashMap<u64, u64>,
}

/// The part of a commit's contents that decides which files stay.
#[derive(Debug)]
struct ReadCommit {
    /// The files that it names.
    files: HashSet<FileName>,
    /// The microseconds since 1970 when it was made; 0 if it does not say so.
    made: u64,
}

impl Files {
    /// The files in `directory`, of which there are none if there is no such folder. Names of other files are ignored.
    pub(crate) fn list(directory: &dyn Directory) -> Result<Files> {
        let mut files = Files::default();
        for entry in names::entries(directory)? {
            let Some(name) = entry.name.to_str() else { continue };
            match FileName::parse(name) {
                Some(FileName::Commit(number)) => files.commits.push(number),
                Some(file) => {
                    files.numbered.insert(file);
                    files.reserve_below(file.number().map_or(0, |number| number.saturating_add(1)));
                }
                None if names::is_temporary(name) => files.temporary.push(name.to_owned()),
                None => {}
            }
        }
        files.commits.sort_unstable();
        Ok(files)
    }

    /// As [`list`](Self::list), of a folder that another process may be writing. A folder in which no commit is found is
    /// listed again: files that are renamed and removed meanwhile may be missed.
    pub(crate) fn list_beside_writer(directory: &dyn Directory) -> Result<Files> {
        for _ in 1..LISTINGS {
            let files = Files::list(directory)?;
            if files.newest_commit().is_some() {
                return Ok(files);
            }
            locks::yield_now();
        }
        Files::list(directory)
    }

    pub(crate) fn newest_commit(&self) -> Option<u64> {
        self.commits.last().copied()
    }

    /// The newest commit of the store in `directory`, whose files these are.
    pub(crate) fn require_commit(&self, directory: &dyn Directory) -> Result<u64> {
        self.newest_commit().ok_or_else(|| Error::NoStore { folder: directory.path().display().to_string() })
    }

    /// The next number becomes at least `next`.
    pub(crate) fn reserve_below(&mut self, next: u64) {
        self.next_number = self.next_number.max(next);
    }

    /// Adds a file that was created. A commit removes it if it is not used.
    pub(crate) fn add(&mut self, file: FileName) {
        self.numbered.insert(file);
    }

    /// Makes place for a file of the leader. Returns false if a commit, or `used`, names another file of this name.
    pub(crate) fn make_place_for(&mut self, file: FileName, used: &HashSet<FileName>) -> bool {
        self.received.remove(&file);
        let is_free = !used.contains(&file) && !self.named.contains_key(&file);
        if is_free {
            self.numbered.remove(&file);
        }
        is_free
    }

    /// Adds a commit that was written.
    pub(crate) fn add_commit(&mut self, number: u64, commit: &CommitFile) {
        self.commits.push(number);
        self.note_read(number, commit);
    }

    fn note_read(&mut self, number: u64, commit: &CommitFile) {
        self.forget_read(number);
        let read = ReadCommit::of(commit);
        for file in &read.files {
            *self.named.entry(*file).or_default() += 1;
        }
        self.read.insert(number, read);
    }

    fn forget_read(&mut self, number: u64) {
        for file in self.read.remove(&number).into_iter().flat_map(|read| read.files) {
            if let Entry::Occupied(mut commits) = self.named.entry(file) {
                *commits.get_mut() -= 1;
                if *commits.get() == 0 {
                    commits.remove();
                }
            }
        }
    }

    /// All commits but those to keep, `now` being the microseconds since 1970.
    pub(crate) fn older_commits(
        &mut self,
        directory: &dyn Directory,
        keep: KeepCommits,
        now: u64,
    ) -> Vec<u64> {
        let time = match keep {
            KeepCommits::Newest(count) => {
                return self.commits[..self.commits.len().saturating_sub(count.max(1))].to_vec();
            }
            KeepCommits::Within(time) => u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
        };
        let mut older = Vec::new();
        for pair in self.commits.clone().windows(2) {
            // It was the newest until then. A commit that is damaged does not tell.
            let until = self.read(directory, pair[1]).map_or(u64::MAX, |next| next.made);
            if until < now.saturating_sub(time) {
                older.push(pair[0]);
            }
        }
        older
    }

    /// The contents of a commit; `None` if it is damaged.
    fn read(&mut self, directory: &dyn Directory, number: u64) -> Option<&ReadCommit> {
        if !self.read.contains_key(&number) {
            let commit = CommitFile::read(directory, number).ok()?;
            self.note_read(number, &commit);
        }
        self.read.get(&number)
    }

    /// Forgets commits that were removed.
    pub(crate) fn forget_commits(&mut self, removed: &[u64]) {
        self.commits.retain(|number| !removed.contains(number));
        removed.iter().for_each(|number| self.forget_read(*number));
    }

    /// The first of the logs that stay: those from `first_log` on, and before it the newest that take at most `bytes`.
    pub(crate) fn first_kept_log(
        &mut self,
        directory: &dyn Directory,
        first_log: u64,
        mut bytes: u64,
    ) -> u64 {
        let older = |file: &FileName| match file {
            FileName::Log(number) if *number < first_log && bytes > 0 => Some(*number),
            _ => None,
        };
        let mut older: Vec<u64> = self.numbered.iter().filter_map(older).collect();
        older.sort_unstable();
        let mut first = first_log;
        for number in older.into_iter().rev() {
            let len = match self.log_bytes.entry(number) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => match directory.open(FileName::Log(number).to_string().as_ref()) {
                    Ok(log) => *unknown.insert(log.len()),
                    Err(_) => break,
                },
            };
            let Some(left) = bytes.checked_sub(len) else { break };
            (bytes, first) = (left, number);
        }
        first
    }

    /// Takes out the files that can be removed: those that neither a commit nor `used` names, and that no leader sent. Logs from
    /// `first_log` on stay: the newest commit or a replica may need them. So do all files if a commit is damaged, so that its
    /// files are not known.
    pub(crate) fn take_unnamed(
        &mut self,
        directory: &dyn Directory,
        used: &HashSet<FileName>,
        first_log: Option<u64>,
    ) -> Vec<FileName> {
        // All others were read before.
        if self.read.len() < self.commits.len() {
            for number in self.commits.clone() {
                if self.read(directory, number).is_none() {
                    return Vec::new();
                }
            }
        }
        let is_log = |file: &FileName| match file {
            FileName::Log(number) => first_log.is_some_and(|first| first <= *number),
            _ => false,
        };
        let named = &self.named;
        let is_used = |file: &FileName| used.contains(file) || self.received.contains(file);
        let is_needed = |file: &FileName| is_log(file) || is_used(file) || named.contains_key(file);
        let unnamed = self.numbered.extract_if(|file| !is_needed(file)).collect();
        self.log_bytes.retain(|log, _| self.numbered.contains(&FileName::Log(*log)));
        unnamed
    }
}

impl ReadCommit {
    fn of(commit: &CommitFile) -> ReadCommit {
        ReadCommit { files: commit.files().collect(), made: commit.made.unwrap_or(0) }
    }
}
