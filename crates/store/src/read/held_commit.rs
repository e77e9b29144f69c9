//! [`HeldCommit`]: a commit whose files stay, to be copied.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::sync::Arc;

use docvalues_format::error::Section;
use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, DirectoryFile, FileLock, Source};

use crate::error::{Error, Result};
use crate::files::{ATTEMPTS, CommitFile, FileEntry, FileName, Files, Position, no_calm};
use crate::locks;
use crate::log::{LogFrames, read_logs_after};
use crate::segments::{CommitState, segment, side_file};

/// A file of a commit: [`CommitFiles::files`]. [`HeldCommit::open`] reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub(crate) name: FileName,
    pub(crate) entry: FileEntry,
}

impl StoredFile {
    /// Its name in the folder of the store.
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.entry.bytes
    }

    /// Its content id: files with the same name and id have the same bytes.
    pub fn id(&self) -> u128 {
        self.entry.id
    }
}

/// The list of a commit's files, and what else a commit says: `commit-00000042` in memory. [`HeldCommit::files`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFiles {
    pub(crate) commit: CommitFile,
}

impl CommitFiles {
    /// The bytes of the commit, which [`decode`](Self::decode) reads.
    pub fn encode(&self) -> Vec<u8> {
        self.commit.encode()
    }

    /// Reads the bytes of a commit.
    ///
    /// # Errors
    ///
    /// If they are damaged, or of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<CommitFiles> {
        Ok(CommitFiles { commit: CommitFile::decode(bytes, "the leader's commit")? })
    }

    /// The number of the last batch that it contains.
    pub fn sequence(&self) -> u64 {
        self.commit.sequence
    }

    /// Its epoch.
    pub fn epoch(&self) -> u64 {
        self.commit.epoch
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = StoredFile> + '_ {
        self.commit.named_files().map(|(name, entry)| StoredFile { name, entry })
    }

    /// The bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes()).sum()
    }
}

/// A commit of a store whose files stay as long as this lives, whoever writes the store meanwhile: to copy them, as a backup or
/// to a replica.
///
/// # Examples
///
/// See [`FolderDepot`](crate::FolderDepot), which it is published to, and [`Replica`](crate::Replica), which installs its files.
#[derive(Debug)]
pub struct HeldCommit {
    directory: Arc<dyn Directory>,
    number: u64,
    files: CommitFiles,
    _held: Box<dyn DirectoryFile>,
}

impl HeldCommit {
    /// Holds commit `number`, or the newest: if the writer replaces it meanwhile, the one after it.
    pub(crate) fn of(directory: Arc<dyn Directory>, number: Option<u64>) -> Result<HeldCommit> {
        let mut tried = None;
        for _ in 0..ATTEMPTS {
            let files = Files::list_beside_writer(&*directory)?;
            let newest = files.require_commit(&*directory)?;
            let commit = number.unwrap_or(newest);
            if !files.commits.contains(&commit) {
                let folder = directory.path().display().to_string();
                return Err(Error::NoCommit { folder, commit, known: files.commits });
            }
            let name = FileName::Commit(commit).to_string();
            let held = directory.hold(OsStr::new(&name), FileLock::Shared).map_err(Error::from);
            match held.and_then(|held| Ok((held, CommitFile::read(&*directory, commit)?))) {
                Ok((held, file)) => {
                    let files = CommitFiles { commit: file };
                    return Ok(HeldCommit { directory, number: commit, files, _held: held });
                }
                // The writer is removing it.
                Err(Error::Storage(error)) if error.is_busy() => locks::yield_now(),
                // The same commit again: it is not being replaced.
                Err(error) if error.is_missing() && tried != Some(commit) => tried = Some(commit),
                Err(error) => return Err(error),
            }
        }
        Err(no_calm(&*directory))
    }

    /// The number in the name of the commit.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its files.
    pub fn files(&self) -> &CommitFiles {
        &self.files
    }

    /// Opens its segments, with what changed in them: see [`CommitState::of`].
    pub(crate) fn into_state(
        self,
        options: OpenOptions,
        before: Option<&CommitState>,
    ) -> Result<CommitState> {
        // Held until all files are open.
        let HeldCommit { directory, number, files, _held } = self;
        CommitState::of(&*directory, number, files.commit, options, before)
    }

    /// The frames of the logs after it.
    pub(crate) fn log_frames(&self) -> Result<LogFrames> {
        LogFrames::after(&*self.directory, self.number, &self.files.commit)
    }

    /// The last batch of the commit and of the logs after it.
    pub(crate) fn last_position(&self) -> Result<Position> {
        let commit = &self.files.commit;
        let mut position = Position::of(commit);
        read_logs_after(&*self.directory, (self.number, commit), |frame| {
            (position.sequence, position.history) = (frame.sequence, frame.history);
            Ok(())
        })?;
        Ok(position)
    }

    /// Compares one of its files with all its checksums.
    pub(crate) fn verify(&self, file: &StoredFile) -> Result<()> {
        segment::verify(&*self.directory, file.name, file.entry, OpenOptions::new())
    }

    /// Opens one of its files, to read its bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or has another length than the commit says.
    pub fn open(&self, file: &StoredFile) -> Result<FileReader> {
        Ok(FileReader::of(side_file::open_bytes(&*self.directory, file.name, file.entry)?))
    }
}

/// The bytes of a file, from the first to the last: [`HeldCommit::open`] reads files of a commit, and
/// [`Snapshot::side_file`](crate::Snapshot::side_file) those of an observer.
#[derive(Debug)]
pub struct FileReader {
    source: Arc<Source>,
    offset: u64,
}

impl FileReader {
    pub(crate) fn of(source: impl Into<Arc<Source>>) -> FileReader {
        FileReader { source: source.into(), offset: 0 }
    }
}

impl Read for FileReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.source.len() - self.offset).unwrap_or(usize::MAX);
        let len = out.len().min(left);
        let bytes = self.source.read_at(Section::Header, self.offset, len).map_err(io::Error::other)?;
        out[..len].copy_from_slice(&bytes);
        self.offset += len as u64;
        Ok(len)
    }
}
