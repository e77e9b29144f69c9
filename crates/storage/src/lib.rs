//! Files, mappings and memory of docvalues segments: verified before use, written atomically.
//!
//! This crate knows where bytes are, not what they mean. It hands verified slices to the decoders of
//! `docvalues-format`, and writes finished files under their names.
//!
//! | type | purpose |
//! | --- | --- |
//! | [`Source`] | the bytes of one file: a mapping, memory, plain reads, or requests |
//! | [`ReadAt`] | a reader of bytes elsewhere, such as an object store |
//! | [`Section`] | one section of a file, compared with its checksums |
//! | [`Verify`] | when the checksums are compared |
//! | [`Directory`] | the files of one folder; everything that is written goes through it |
//! | [`AtomicFile`] | a file that appears under its name complete or not at all |
//! | [`NewFile`] | a file that is written once, under its final name |
//! | [`Spill`] | a temporary file for data that exceeds the memory of a build |
//! | [`Error`] | the call that failed, and its path |
//!
//! # Cost
//!
//! Opening a source is one `open` and, for a mapping, one `mmap` and two `pread`s, of the file's first 64 bytes and of its
//! last 4 KiB, whatever the file's length. Opening a section allocates a bit for each 4 KiB and reads none of its bytes.
//! The first read of a granule costs its CRC-32 (about 0.2 µs) and, without a mapping, one `pread`. Later reads test one
//! bit of the granule; once all granules of a section were read, they test a single counter.

mod atomic_file;
mod buffered_file;
mod demand_paging;
mod directory;
mod error;
mod granule_set;
mod huge_pages;
mod mmap;
mod new_file;
mod positioned_file;
mod request_waves;
mod section;
mod source;
mod spill;

pub use atomic_file::AtomicFile;
pub use demand_paging::SharedBytes;
pub use directory::{Directory, DirectoryEntry, DirectoryFile, FileLock, FsDirectory, check_name};
pub use error::{Error, Result, Step};
pub use huge_pages::prefer_huge_pages;
pub use mmap::Advice;
pub use new_file::NewFile;
pub use request_waves::ReadAt;
pub use section::{Section, Verify};
pub use source::{Memory, Source};
pub use spill::Spill;

/// A proptest configuration of `cases` cases; under Miri, which is a thousand times slower, as many as
/// `PROPTEST_CASES` says.
#[cfg(test)]
fn cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    if cfg!(miri) { Config::default() } else { Config::with_cases(cases) }
}
