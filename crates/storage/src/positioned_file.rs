//! A file that is read and written at given offsets, as by `pread` and `pwrite`.

use std::fs::File;
use std::io;

#[cfg(unix)]
use std::os::unix::fs::FileExt as _;

/// A file that many threads read at once, at any offset, while one appends.
#[derive(Debug)]
pub(crate) struct PositionedFile(#[cfg(unix)] File, #[cfg(not(unix))] seeking::Seeking);

impl PositionedFile {
    pub(crate) fn of(file: File) -> PositionedFile {
        #[cfg(unix)]
        return PositionedFile(file);
        #[cfg(not(unix))]
        return PositionedFile(seeking::Seeking::of(file));
    }

    /// Calls `call` with the file.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&File) -> T) -> T {
        #[cfg(unix)]
        return call(&self.0);
        #[cfg(not(unix))]
        return self.0.with(call);
    }

    /// Reads some of `bytes` at `offset`. Returns how many.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(bytes, offset)
    }

    /// Fills `bytes` from `offset` on.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    /// Writes some of `bytes` at `offset`. Returns how many.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }
}

/// The fallback for systems without `pread`: a mutex over the file's position.
#[cfg(any(not(unix), test))]
mod seeking {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    #[derive(Debug)]
    pub(super) struct Seeking(Mutex<File>);

    impl Seeking {
        pub(super) fn of(file: File) -> Seeking {
            Seeking(Mutex::new(file))
        }

        #[cfg(not(unix))]
        pub(super) fn with<T>(&self, call: impl FnOnce(&File) -> T) -> T {
            call(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }

        pub(super) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
            self.seek(offset)?.read(bytes)
        }

        pub(super) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            self.seek(offset)?.read_exact(bytes)
        }

        pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            self.seek(offset)?.write(bytes)
        }

        fn seek(&self, offset: u64) -> io::Result<MutexGuard<'_, File>> {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset))?;
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_and_write_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let (positional, seeking) = (PositionedFile::of(open()), seeking::Seeking::of(open()));
        assert_eq!(positional.write_at(b"01234", 0).unwrap(), 5);
        assert_eq!(seeking.write_at(b"56789", 5).unwrap(), 5);
        for range in [0..10, 7..10, 3..4, 10..10, 0..2] {
            let (mut one, mut other) = (vec![0; range.len()], vec![0; range.len()]);
            let offset = range.start as u64;
            positional.read_exact_at(&mut one, offset).unwrap();
            seeking.read_exact_at(&mut other, offset).unwrap();
            assert_eq!(one, other);
            assert_eq!(one, b"0123456789"[range]);
        }
        for (offset, len) in [(9, 2), (11, 1)] {
            let mut bytes = vec![0; len];
            let one = positional.read_exact_at(&mut bytes, offset).unwrap_err().kind();
            let other = seeking.read_exact_at(&mut bytes, offset).unwrap_err().kind();
            assert_eq!((one, other), (io::ErrorKind::UnexpectedEof, io::ErrorKind::UnexpectedEof));
            let (one, other) = (positional.read_at(&mut bytes, offset), seeking.read_at(&mut bytes, offset));
            assert_eq!(one.unwrap(), other.unwrap(), "what is there, if anything");
        }
    }
}
