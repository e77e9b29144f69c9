//! Decoding errors.
//!
//! An [`Error`] names the [`Section`] of the file, the byte of the file, and what was expected and found there. The
//! layer above knows the file's name and adds it. Messages are formatted only when they are displayed.

use std::fmt;

use crate::named::named;

/// The result of a decoder.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes that cannot be read, are damaged, or break a rule of the format.
///
/// It is one pointer wide, so that a `Result<Option<i64>, Error>` takes only two words. The functions that create
/// errors are marked cold.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {}: {}", .0.section, .0.offset, .0.kind)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    section: Section,
    offset: u64,
    kind: ErrorKind,
}

impl Error {
    /// Creates an error at byte `offset` of the file, in `section`.
    #[cold]
    pub fn new(section: Section, offset: u64, kind: ErrorKind) -> Error {
        Error(Box::new(Inner { section, offset, kind }))
    }

    /// Creates an error at byte `at` of the section at `place`.
    #[cold]
    pub fn at(place: Place, at: usize, kind: ErrorKind) -> Error {
        Error::new(place.section, place.offset.saturating_add(at as u64), kind)
    }

    /// Creates an error of a section that ends too early: it has `left` of `needed` bytes at byte `at`.
    #[cold]
    pub fn truncated(place: Place, at: usize, needed: usize, left: usize) -> Error {
        Error::at(place, at, ErrorKind::Truncated { needed: needed as u64, left: left as u64 })
    }

    /// The part of the file, which displays as `docs/format.md` names it.
    pub fn section(&self) -> Section {
        self.0.section
    }

    /// The byte of the file at which the error was found, counted from its start.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The kind of an [`Error`]. New kinds may be added in any release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The section, or the file, ends before the field does.
    #[error("expected {needed} bytes, found {left}")]
    Truncated {
        /// Bytes of the field.
        needed: u64,
        /// Bytes left in the section or file.
        left: u64,
    },
    /// The checksum of these bytes differs from the stored one.
    #[error("expected checksum {expected:08x}, found {found:08x}: the bytes are damaged")]
    Checksum {
        /// The checksum of the bytes.
        found: u32,
        /// The stored checksum.
        expected: u32,
    },
    /// The file is not a docvalues segment: its first bytes are not the magic ones.
    #[error("not a docvalues segment: expected its magic bytes, found {found:02x?}")]
    Magic {
        /// The bytes in place of the magic ones.
        found: [u8; 8],
    },
    /// The file begins as a segment, but is too short for a header and a footer.
    #[error("the file is cut off: expected at least {least} bytes, found {found}")]
    TooShort {
        /// The length of the file.
        found: u64,
        /// The length of the shortest segment.
        least: u64,
    },
    /// The file begins as a segment, but its last bytes are not the magic ones of a footer.
    #[error(
        "the file is cut off or its end is damaged: expected the magic bytes of a footer, found {found:02x?}"
    )]
    NoFooter {
        /// The bytes in place of the magic ones.
        found: [u8; 8],
    },
    /// The format version is newer than this release. Upgrade, or rewrite the file with this release.
    #[error(
        "expected format version {newest} or earlier, found {found}{}: upgrade docvalues, or rewrite the file",
        by(*writer)
    )]
    TooNew {
        /// The version in the file.
        found: u16,
        /// The newest version this release reads.
        newest: u16,
        /// The release that wrote the file. Only the header has it, the footer does not.
        writer: Option<[u16; 3]>,
    },
    /// The format version is from before the format was stable. Write the file again from its source.
    #[error("expected format version {oldest} or later, found {found}: write the file again from its source")]
    TooOld {
        /// The version in the file.
        found: u16,
        /// The oldest version this release reads.
        oldest: u16,
    },
    /// An earlier release wrote the layout, and this one does not read it. Write the file again from its source.
    #[error("{0}")]
    Retired(&'static str),
    /// The file requires features that this release does not have. Upgrade.
    #[error("unknown required features {flags:#x}: upgrade docvalues")]
    UnknownFeatures {
        /// The unknown flags.
        flags: u32,
    },
    /// A tag byte has no known meaning.
    #[error("unknown {what} {tag:#04x}")]
    UnknownTag {
        /// The thing that the tag selects, such as `"block encoding"`.
        what: &'static str,
        /// The byte found.
        tag: u8,
    },
    /// A field holds a number above its maximum.
    #[error("{what}: expected at most {max}, found {found}")]
    OutOfRange {
        /// The field, in words.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The largest number allowed.
        max: u64,
    },
    /// A number differs from the one that other fields require.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// The field, in words.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The number that other fields require.
        expected: u64,
    },
    /// A rule of the format is broken, other than a limit or a required number.
    #[error("{0}")]
    Broken(&'static str),
    /// Two neighbouring documents are not in the order of the segment's index sort.
    #[error(
        "document {doc} sorts before document {}: the segment is not in the order of its index sort",
        doc.saturating_sub(1)
    )]
    Unsorted {
        /// The first document that sorts before its predecessor.
        doc: u32,
    },
    /// Reading from the underlying storage failed.
    #[error("reading failed: {0}")]
    Io(std::io::ErrorKind),
}

impl ErrorKind {
    /// Fails if `found` is above `max`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`].
    #[inline]
    pub fn at_most(what: &'static str, found: u64, max: u64) -> Result<(), ErrorKind> {
        if found <= max { Ok(()) } else { Err(ErrorKind::OutOfRange { what, found, max }) }
    }

    /// Fails unless `found` is `expected`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`].
    #[inline]
    pub fn equal(what: &'static str, found: u64, expected: u64) -> Result<(), ErrorKind> {
        if found == expected { Ok(()) } else { Err(ErrorKind::Mismatch { what, found, expected }) }
    }

    /// Fails with the message `why` unless a rule of the format holds.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Broken`].
    #[inline]
    pub fn rule(holds: bool, why: &'static str) -> Result<(), ErrorKind> {
        if holds { Ok(()) } else { Err(ErrorKind::Broken(why)) }
    }
}

/// The position of a section in its file, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The section.
    pub section: Section,
    /// The byte of the file at which it begins.
    pub offset: u64,
}

impl Place {
    /// Turns the error of a check into an [`Error`] at byte `at` of the section.
    ///
    /// # Errors
    ///
    /// If `checked` is an error.
    #[inline]
    pub fn check(self, at: usize, checked: Result<(), ErrorKind>) -> Result<()> {
        checked.map_err(|kind| Error::at(self, at, kind))
    }
}

fn by(writer: Option<[u16; 3]>) -> String {
    writer.map_or_else(String::new, |[major, minor, patch]| format!(", written by {major}.{minor}.{patch}"))
}

named! {
    /// The parts of a file, as `docs/format.md` names them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Section {
        /// The first 64 bytes.
        Header => "header",
        /// The last 64 bytes.
        Footer => "footer",
        /// The list of directory pages.
        DirectoryRoot => "directory root",
        /// One page of column entries.
        DirectoryPage => "directory page",
        /// Zero bytes between sections.
        Padding => "padding",
        /// Documents with a value.
        Presence => "presence",
        /// Jump table over the presence blocks.
        PresenceJump => "presence jump table",
        /// Offsets at which each document's bytes or values begin, as numeric blocks.
        Offsets => "offsets",
        /// Jump table over the offsets' blocks.
        OffsetsJump => "offsets jump table",
        /// Numbers, or the ords of terms, as numeric blocks.
        Values => "values",
        /// Jump table over the values' blocks.
        ValuesJump => "values jump table",
        /// The distinct values of a table-encoded column.
        ValuesTable => "values table",
        /// Smallest and largest value by zone: the skip index.
        ZoneMap => "zone map",
        /// Byte strings end to end.
        Bytes => "bytes",
        /// The symbol table of FSST-compressed byte strings, or the tokens of OnPair-compressed ones.
        Symbols => "symbols",
        /// Front-coded blocks of terms.
        Terms => "terms",
        /// Offsets at which each block of terms begins, as numeric blocks.
        TermOffsets => "term offsets",
        /// Jump table over the term offsets' blocks.
        TermOffsetsJump => "term offsets jump table",
        /// The first bytes of each term block's first term.
        TermKeys => "term keys",
        /// The ids, in the form of their index.
        Ids => "ids",
        /// Offset and first rank of each block of ids.
        IdStarts => "id block starts",
        /// The trie that finds the block of an id.
        IdIndex => "id index",
        /// The document of each id, as numeric blocks.
        IdDocs => "id documents",
        /// Jump table over the blocks of the ids' documents.
        IdDocsJump => "id documents jump table",
        /// A Bloom filter of the ids.
        IdFilter => "id filter",
        /// The finest level of the skip index: bounds of every 512 values.
        FineZones => "fine zones",
    }
}

impl Section {
    /// The sections that a column's directory entry may refer to: all but those of the file, which come first, and
    /// those of extensions, which come last.
    pub const OF_COLUMNS: [Section; 14] = {
        let [_, _, _, _, _, of_columns @ .., _, _, _, _, _, _, _] = Section::ALL;
        of_columns
    };
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
