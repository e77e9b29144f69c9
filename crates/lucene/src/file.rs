//! The bytes of a file of an index, or of a member of a compound file.

use std::ops::Range;
use std::sync::Arc;

use docvalues_storage::{SharedBytes, Source};

use crate::error::{Error, ErrorKind, Result};
use crate::order::Order;

/// Bytes of the footer.
pub(crate) const FOOTER: usize = 16;

/// A file, or a member of a compound file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    name: Arc<str>,
    /// All bytes; `None` if the source has none in memory.
    bytes: Option<SharedBytes>,
}

impl File {
    /// The file with the path `name`, whose bytes are mapped or in memory.
    pub(crate) fn new(name: impl Into<Arc<str>>, source: Source) -> File {
        File { name: name.into(), bytes: SharedBytes::of(&Arc::new(source)) }
    }

    /// The member at `place` of this compound file. Bytes past the end of the file are left out.
    pub(crate) fn member(&self, name: &str, place: Range<usize>) -> File {
        File { name: format!("{}:{name}", self.name).into(), bytes: self.part(place) }
    }

    /// The bytes of a range, as far as there are any, with a share of their owner.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<SharedBytes> {
        self.bytes.as_ref().map(|bytes| bytes.part(range))
    }

    /// The path of the file; of a member, with its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All bytes, with header and footer.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    /// An error at byte `offset`.
    #[cold]
    pub(crate) fn error(&self, offset: usize, kind: ErrorKind) -> Error {
        Error::new(&*self.name, offset as u64, kind)
    }
}

/// The byte of an error at an offset of metadata: 0 if that is negative.
pub(crate) fn byte(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// A file whose header and footer were checked.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The file. Offsets of its metadata count from its first byte.
    pub(crate) file: File,
    /// The name of its contents.
    pub(crate) name: &'static str,
    /// The order of the bytes of numbers.
    pub(crate) order: Order,
    /// The version of its contents.
    pub(crate) version: i32,
    /// The bytes between header and footer.
    pub(crate) place: Range<usize>,
}

impl Body {
    /// All bytes, with header and footer: a load of eight bytes that begins in the body ends in the file.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.file.bytes()
    }

    /// The bytes of the file that `offset` and `len` name in its metadata.
    pub(crate) fn region(&self, offset: i64, len: i64) -> Result<Range<usize>> {
        let region = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let region = region.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        let is_inside =
            |region: &Range<usize>| self.place.start <= region.start && region.end <= self.place.end;
        region.filter(is_inside).ok_or_else(|| {
            let [least, most] =
                [self.place.start, self.place.end].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            let (what, found) = ("end of a part of the file", offset.saturating_add(len));
            self.error(byte(offset), ErrorKind::OutOfRange { what, found, least, most })
        })
    }

    /// An error at byte `offset`.
    #[cold]
    pub(crate) fn error(&self, offset: usize, kind: ErrorKind) -> Error {
        self.file.error(offset, kind)
    }

    /// An error of a broken rule at byte `offset`.
    #[cold]
    pub(crate) fn broken(&self, offset: usize, why: &'static str) -> Error {
        self.error(offset, ErrorKind::Broken(why))
    }
}
