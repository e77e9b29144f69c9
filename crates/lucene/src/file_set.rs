//! The files of doc values: metadata, data, and from later releases on skip indexes and presence.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::compound::Compound;
use crate::doc_values::{self, Entry, Layout, PRESENCE, SKIP_INDEXES};
use crate::envelope::{self, Contents};
use crate::error::{Error, ErrorKind, Result};
use crate::field_infos::FieldInfo;
use crate::file::{Body, File};
use crate::files::{Files, is_suffix, segment_file};

/// The first versions of Lucene 9's doc values with a file of skip indexes, and with one of presence.
const WITH_SKIP_INDEXES: i32 = 1;
const WITH_PRESENCE: i32 = 3;

/// The files of a segment: those that it was written with, and those of later generations, which lie beside it.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFiles {
    pub(crate) files: Files,
    pub(crate) segment: String,
    pub(crate) id: [u8; 16],
    pub(crate) compound: Option<Arc<Compound>>,
}

impl SegmentFiles {
    /// Opens a file that the segment was written with.
    pub(crate) fn original(&self, suffix: &str, extension: &str) -> Result<File> {
        match &self.compound {
            Some(compound) => compound.member(&segment_file("", suffix, extension)),
            None => self.later(suffix, extension),
        }
    }

    /// Fails unless `suffix`, which comes from the contents of a file, is part of a name and no path.
    pub(crate) fn check_suffix(&self, suffix: &str) -> Result<()> {
        if is_suffix(suffix) {
            Ok(())
        } else {
            Err(self.error("fnm", ErrorKind::FileName(suffix.to_owned())))
        }
    }

    /// An error of the segment's file with this ending.
    #[cold]
    pub(crate) fn error(&self, extension: &str, kind: ErrorKind) -> Error {
        Error::new(self.files.path_of(&segment_file(&self.segment, "", extension)), 0, kind)
    }

    /// Opens a file of a later generation.
    pub(crate) fn later(&self, suffix: &str, extension: &str) -> Result<File> {
        self.files.open(&segment_file(&self.segment, suffix, extension))
    }
}

/// The doc values of some fields.
#[derive(Debug)]
pub(crate) struct FileSet {
    pub(crate) data: Arc<Body>,
    /// Where presence is: from version 3 of Lucene 9's doc values on, a file of its own.
    pub(crate) presence: Arc<Body>,
    /// Where skip indexes are: from version 1 on, a file of its own.
    pub(crate) skip_indexes: Arc<Body>,
    verified: OnceLock<()>,
}

impl FileSet {
    /// Opens the files with this suffix. `fields` are those that they were written for. Returns the entries of the fields.
    pub(crate) fn open(
        files: &SegmentFiles,
        layout: Layout,
        (suffix, is_original): (&str, bool),
        fields: &[FieldInfo],
    ) -> Result<(FileSet, BTreeMap<i32, Entry>)> {
        let file = |extension| {
            if is_original { files.original(suffix, extension) } else { files.later(suffix, extension) }
        };
        let meta = envelope::open(&file("dvm")?, &[layout.metadata()], Some(&files.id), suffix)?;
        let meta = envelope::verified(meta)?;
        let entries = doc_values::read(&meta, layout, fields)?;
        let body = |extension, contents: Contents| {
            let body = envelope::open(&file(extension)?, &[contents], Some(&files.id), suffix)?;
            match body.version == meta.version {
                true => Ok(Arc::new(body)),
                false => Err(body.broken(0, "another version than the metadata of these doc values")),
            }
        };
        let data = body("dvd", layout.data())?;
        let (mut presence, mut skip_indexes) = (Arc::clone(&data), Arc::clone(&data));
        if layout == Layout::V90 && meta.version >= WITH_PRESENCE {
            presence = body("dvp", PRESENCE)?;
        }
        let has_skip_index = entries.values().any(|entry| entry.skip.is_some());
        if layout == Layout::V90 && meta.version >= WITH_SKIP_INDEXES && has_skip_index {
            skip_indexes = body("dvs", SKIP_INDEXES)?;
        }
        Ok((FileSet { data, presence, skip_indexes, verified: OnceLock::new() }, entries))
    }

    /// The files, each once.
    fn bodies(&self) -> impl Iterator<Item = &Body> {
        let others = [&self.presence, &self.skip_indexes].into_iter();
        let others = others.filter(move |body| !Arc::ptr_eq(body, &self.data));
        std::iter::once(&self.data).chain(others).map(|body| &**body)
    }

    /// The bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bodies().map(|body| body.bytes().len() as u64).sum()
    }

    /// Compares the checksums of all files.
    pub(crate) fn verify(&self) -> Result<()> {
        self.bodies().try_for_each(envelope::verify)
    }

    /// Compares the checksums of small files, or of all: once.
    pub(crate) fn verify_once(&self, are_all: bool) -> Result<()> {
        if self.verified.get().is_none() {
            self.bodies().try_for_each(|body| envelope::verify_small(body, are_all))?;
            self.verified.get_or_init(|| ());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use docvalues_storage::Source;

    use super::*;
    use crate::envelope::SMALL;
    use crate::order::Order;

    #[test]
    fn checksums_of_small_files_are_compared_and_of_all_if_asked() {
        for (len, is_small) in [(SMALL, true), (SMALL + 1, false)] {
            // No checksum has these bytes.
            let file = File::new("a file", Source::memory(vec![1; len]));
            let body =
                Arc::new(Body { file, name: "Test", order: Order::Little, version: 0, place: 0..len - 16 });
            let open = || FileSet {
                data: Arc::clone(&body),
                presence: Arc::clone(&body),
                skip_indexes: Arc::clone(&body),
                verified: OnceLock::new(),
            };
            assert_eq!(open().verify_once(false).is_err(), is_small, "{len} bytes");
            let error = open().verify_once(true).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
        }
    }
}
