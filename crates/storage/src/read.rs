//! A file's bytes through plain reads at a position.

use std::fs::File;
use std::io;

/// A file that many threads read at once, each where it wants.
#[derive(Debug)]
pub(crate) struct Reads(#[cfg(unix)] File, #[cfg(not(unix))] seeking::Seeking);

impl Reads {
    pub(crate) fn of(file: File) -> Reads {
        #[cfg(unix)]
        return Reads(file);
        #[cfg(not(unix))]
        return Reads(seeking::Seeking::of(file));
    }

    /// Fills `bytes` from byte `offset` of the file on.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        #[cfg(unix)]
        use std::os::unix::fs::FileExt as _;
        self.0.read_exact_at(bytes, offset)
    }
}

/// What serves where there is no `pread`: one reader at a time moves the file's position.
#[cfg(any(not(unix), test))]
mod seeking {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _, SeekFrom};
    use std::sync::{Mutex, PoisonError};

    #[derive(Debug)]
    pub(super) struct Seeking(Mutex<File>);

    impl Seeking {
        pub(super) fn of(file: File) -> Seeking {
            Seeking(Mutex::new(file))
        }

        pub(super) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn both_ways_read_the_same() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0123456789").unwrap();
        let positional = Reads::of(file.reopen().unwrap());
        let seeking = seeking::Seeking::of(file.reopen().unwrap());
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
        }
    }
}
