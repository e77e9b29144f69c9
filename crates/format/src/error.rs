//! Why bytes were refused.
//!
//! Every refusal names the [`Section`] of the file, the byte of the file at which it was found and
//! the two things that disagreed. The file's own name is known one layer up, which adds it. No text
//! is made before it is shown.

use std::fmt;

use crate::named::named;

/// Shorthand for what every decoder returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Some bytes are not what a docvalues file holds there.
///
/// One pointer wide: a `Result<Option<i64>, Error>` stays two words, and the branch that makes an
/// error is cold.
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
    /// An error at byte `offset` of the file, in `section`.
    #[cold]
    pub fn new(section: Section, offset: u64, kind: ErrorKind) -> Error {
        Error(Box::new(Inner { section, offset, kind }))
    }

    /// An error `at` bytes behind the beginning of the section at `place`.
    #[cold]
    pub fn at(place: Place, at: usize, kind: ErrorKind) -> Error {
        Error::new(place.section, place.offset.saturating_add(at as u64), kind)
    }

    /// An error of a section that ends too early: of `needed` bytes at `at`, `left` are there.
    #[cold]
    pub fn truncated(place: Place, at: usize, needed: usize, left: usize) -> Error {
        Error::at(place, at, ErrorKind::Truncated { needed: needed as u64, left: left as u64 })
    }

    /// The part of the file; prints as `docs/format.md` names it.
    pub fn section(&self) -> Section {
        self.0.section
    }

    /// Where in the file, in bytes from its start.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What was wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// What was wrong. New kinds may be added in any release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The section, or the file, ends before the field does.
    #[error("expected {needed} bytes, found {left}")]
    Truncated {
        /// Bytes the field takes.
        needed: u64,
        /// Bytes that were left.
        left: u64,
    },
    /// The checksum of these bytes is not the one that was written.
    #[error("expected checksum {expected:08x}, found {found:08x}: the bytes are damaged")]
    Checksum {
        /// What the bytes give now.
        found: u32,
        /// What was written.
        expected: u32,
    },
    /// Not a docvalues segment at all.
    #[error("not a docvalues segment: expected its magic bytes, found {found:02x?}")]
    Magic {
        /// The bytes that were found.
        found: [u8; 8],
    },
    /// Written by a release newer than this one. Upgrade, or rewrite the file.
    #[error(
        "expected format version {newest} or earlier, found {found}{}: upgrade docvalues, or rewrite the file",
        by(*writer)
    )]
    TooNew {
        /// The version in the file.
        found: u16,
        /// The newest version this release reads.
        newest: u16,
        /// The release that wrote the file, where that is known: in the header.
        writer: Option<[u16; 3]>,
    },
    /// Written before the format was settled. Write the file again from its source.
    #[error("expected format version {oldest} or later, found {found}: write the file again from its source")]
    TooOld {
        /// The version in the file.
        found: u16,
        /// The oldest version this release reads.
        oldest: u16,
    },
    /// The file needs features that this release does not have.
    #[error("unknown required features {flags:#x}: upgrade docvalues")]
    UnknownFeatures {
        /// The flags that are not known.
        flags: u32,
    },
    /// A tag byte names none of the known alternatives.
    #[error("unknown {what} {tag:#04x}")]
    UnknownTag {
        /// What the tag selects, such as `"block encoding"`.
        what: &'static str,
        /// The byte found.
        tag: u8,
    },
    /// A field holds a number it may not hold.
    #[error("{what}: expected at most {max}, found {found}")]
    OutOfRange {
        /// The field, in words.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The largest number allowed.
        max: u64,
    },
    /// Two fields that must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch {
        /// The field, in words.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The number that other fields ask for.
        expected: u64,
    },
    /// A rule of the format that involves no single number is broken.
    #[error("{0}")]
    Broken(&'static str),
    /// A document lies in front of one that the segment's sort has before it.
    #[error("document {doc} sorts before document {}: the segment is not in the order of its index sort", doc.saturating_sub(1))]
    Unsorted {
        /// The first that does not belong behind the one before.
        doc: u32,
    },
    /// Reading the bytes from where they are kept failed.
    #[error("reading failed: {0}")]
    Io(std::io::ErrorKind),
}

impl ErrorKind {
    /// Refuses `found` if it is above `max`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`].
    #[inline]
    pub fn at_most(what: &'static str, found: u64, max: u64) -> Result<(), ErrorKind> {
        if found <= max { Ok(()) } else { Err(ErrorKind::OutOfRange { what, found, max }) }
    }

    /// Refuses `found` unless it is `expected`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`].
    #[inline]
    pub fn equal(what: &'static str, found: u64, expected: u64) -> Result<(), ErrorKind> {
        if found == expected { Ok(()) } else { Err(ErrorKind::Mismatch { what, found, expected }) }
    }

    /// Refuses with `why` unless a rule of the format `holds`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Broken`].
    #[inline]
    pub fn rule(holds: bool, why: &'static str) -> Result<(), ErrorKind> {
        if holds { Ok(()) } else { Err(ErrorKind::Broken(why)) }
    }
}

/// Where a section lies, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which section of the file.
    pub section: Section,
    /// Its first byte, counted from the start of the file.
    pub offset: u64,
}

impl Place {
    /// Says of what was `checked` that it lies `at` bytes behind the beginning of the section.
    ///
    /// # Errors
    ///
    /// When it was refused.
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
        /// Which documents have a value.
        Presence => "presence",
        /// Jump table over the presence blocks.
        PresenceJump => "presence jump table",
        /// Where each document's bytes or values begin, as numeric blocks.
        Offsets => "offsets",
        /// Jump table over the offsets' blocks.
        OffsetsJump => "offsets jump table",
        /// Numbers, or the ords of terms, as numeric blocks.
        Values => "values",
        /// Jump table over the values' blocks.
        ValuesJump => "values jump table",
        /// The distinct values of a table-encoded column.
        ValuesTable => "values table",
        /// Smallest and largest value by fine zones: the skip index.
        ZoneMap => "zone map",
        /// Byte strings end to end.
        Bytes => "bytes",
        /// What the codes of byte strings stand for.
        Symbols => "symbols",
        /// Where blocks of compressed byte strings end.
        BlockEnds => "block ends",
        /// What blocks of compressed byte strings may copy from.
        Preset => "preset dictionary",
        /// Front-coded blocks of terms.
        Terms => "terms",
        /// Where each block of terms begins, as numeric blocks.
        TermOffsets => "term offsets",
        /// Jump table over the term offsets' blocks.
        TermOffsetsJump => "term offsets jump table",
        /// The first bytes of each term block's first term.
        TermKeys => "term keys",
        /// The ids, in the form of their index.
        Ids => "ids",
        /// Where each block of ids begins.
        IdStarts => "id block starts",
        /// Which block an id is in.
        IdIndex => "id index",
        /// The document of each id, as numeric blocks.
        IdDocs => "id documents",
        /// Jump table over the blocks of the ids' documents.
        IdDocsJump => "id documents jump table",
        /// Which ids there may be: a Bloom filter.
        IdFilter => "id filter",
        /// Below the zone map, about the smallest and largest value of every few.
        FineZones => "fine zones",
    }
}

impl Section {
    /// Every section that a column's entry in the directory refers to.
    pub const OF_COLUMNS: [Section; 16] = [
        Section::Presence,
        Section::PresenceJump,
        Section::Offsets,
        Section::OffsetsJump,
        Section::Values,
        Section::ValuesJump,
        Section::ValuesTable,
        Section::ZoneMap,
        Section::Bytes,
        Section::Symbols,
        Section::BlockEnds,
        Section::Preset,
        Section::Terms,
        Section::TermOffsets,
        Section::TermOffsetsJump,
        Section::TermKeys,
    ];
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
