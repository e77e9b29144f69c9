//! The files of an index directory: their names, and opening them.
//!
//! No name of a file comes from the contents of another one without a check, so nothing outside of the directory is opened.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use docvalues_format::error::Section;
use docvalues_storage::{Directory, Source};

use crate::error::{Error, ErrorKind, Result};
use crate::file::File;

/// The directory of an index.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    directory: Arc<dyn Directory>,
}

impl Files {
    pub(crate) fn new(directory: Arc<dyn Directory>) -> Files {
        Files { directory }
    }

    /// The path of the directory.
    pub(crate) fn path(&self) -> String {
        self.directory.path().display().to_string()
    }

    /// The path of a file in the directory.
    pub(crate) fn path_of(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// Opens the file `name`. Without mappings, reads it whole.
    pub(crate) fn open(&self, name: &str) -> Result<File> {
        let path = self.path_of(name);
        let failed = |error| Error::new(path.clone(), 0, ErrorKind::Io(error));
        let source = self.directory.open(OsStr::new(name)).map_err(|error| failed(error.into_io_error()))?;
        if source.bytes().is_some() {
            return Ok(File::new(path, source));
        }
        let len = usize::try_from(source.len()).map_err(|_| failed(io::ErrorKind::FileTooLarge.into()))?;
        // The section is only a word of this error, of which the cause is kept.
        let bytes = source.read_at(Section::Values, 0, len);
        let bytes = bytes.map_err(|error| failed(io::Error::other(error)))?.into_owned();
        Ok(File::new(path, Source::memory(bytes)))
    }

    /// The generation of the newest commit, as its file spells it.
    pub(crate) fn newest_commit(&self) -> Result<String> {
        let listed = self.directory.list();
        let listed =
            listed.map_err(|error| Error::new(self.path(), 0, ErrorKind::Io(error.into_io_error())))?;
        let generations = listed.iter().filter_map(|entry| {
            let generation = entry.name.to_str()?.strip_prefix("segments_")?;
            Some((from_base_36(generation)?, generation))
        });
        let newest = generations.max().map(|(_, generation)| generation.to_owned());
        newest.ok_or_else(|| Error::new(self.path(), 0, ErrorKind::NoCommit))
    }
}

/// The name of a file of a segment: `_0.fnm`, or `_0_1.fnm` of a generation.
pub(crate) fn segment_file(segment: &str, suffix: &str, extension: &str) -> String {
    match suffix {
        "" => format!("{segment}.{extension}"),
        _ => format!("{segment}_{suffix}.{extension}"),
    }
}

/// Whether Lucene gives a segment this name. Such a name is no path.
pub(crate) fn is_segment_name(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|number| from_base_36(number).is_some())
}

/// Whether a part of a file's name consists of letters, digits and `_`, as those of formats do.
pub(crate) fn is_suffix(suffix: &str) -> bool {
    !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads a number in base 36, in lower case.
fn from_base_36(text: &str) -> Option<u64> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    if text.bytes().all(is_digit) { u64::from_str_radix(text, 36).ok() } else { None }
}

/// A generation in base 36, as names of files have it.
pub(crate) fn to_base_36(generation: i64) -> String {
    let digits = std::iter::successors(Some(generation.unsigned_abs()), |left| {
        Some(left / 36).filter(|left| *left > 0)
    });
    let digit = |left: u64| u32::try_from(left % 36).ok().and_then(|digit| char::from_digit(digit, 36));
    digits.filter_map(digit).collect::<Vec<_>>().into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use docvalues_storage::FsDirectory;

    use super::*;

    #[test]
    fn generations_are_numbers_in_base_36() {
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (123_456, "2n9c")] {
            assert_eq!(to_base_36(number), text);
            assert_eq!(from_base_36(text), Some(number.unsigned_abs()));
        }
        for text in ["", "+1", "-1", "A", "1.", "zzzzzzzzzzzzzzzz"] {
            assert_eq!(from_base_36(text), None, "{text}");
        }
        assert!(is_segment_name("_1z") && !is_segment_name("_") && !is_segment_name("1z"));
        assert!(!is_segment_name("_../a") && !is_segment_name("/_0"));
        assert!(is_suffix("Lucene90_0") && !is_suffix("") && !is_suffix("../x") && !is_suffix("a/b"));
    }

    #[test]
    fn the_newest_commit_is_the_one_with_the_greatest_generation() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(Arc::new(FsDirectory::new(folder.path())));
        assert!(matches!(files.newest_commit().unwrap_err().kind(), ErrorKind::NoCommit));
        for name in
            ["segments_9", "segments_a", "segments_10", "segments.gen", "pending_segments_zz", "segments_A"]
        {
            fs::write(folder.path().join(name), name).unwrap();
        }
        assert_eq!(files.newest_commit().unwrap(), "10");
    }

    #[test]
    fn files_are_opened_with_and_without_mappings() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "bytes").unwrap();
        for directory in [FsDirectory::new(folder.path()), FsDirectory::new(folder.path()).without_mappings()]
        {
            let files = Files::new(Arc::new(directory));
            assert_eq!(files.open("a").unwrap().bytes(), b"bytes");
            let with_slash = Files::new(Arc::new(FsDirectory::new(format!("{}/", folder.path().display()))));
            assert_eq!(files.path_of("a"), with_slash.path_of("a"));
            assert!(files.open("b").unwrap_err().is_missing());
            for outside in ["../a", "/etc/passwd", "."] {
                assert!(matches!(files.open(outside).unwrap_err().kind(), ErrorKind::Io(_)), "{outside}");
            }
        }
    }
}
