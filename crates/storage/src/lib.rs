//! Where the bytes of a docvalues segment live, and that they are checked before use.
//!
//! This crate knows files, mappings and memory, and nothing of what the bytes mean: it hands
//! checked slices to the decoders of `docvalues-format` and puts finished files under their names.
//!
//! | type | question |
//! | --- | --- |
//! | [`Source`] | where do the bytes of one file come from: a mapping, memory, plain reads, requests? |
//! | [`ReadAt`] | how are bytes requested from elsewhere? |
//! | [`Section`] | are these bytes of a section what was written? |
//! | [`Verify`] | when is that found out? |
//! | [`AtomicFile`] | how does a file appear under its name, whole or not at all? |
//! | [`Spill`] | where is what a build has no memory for? |
//! | [`Faults`] | what if a call fails? |
//! | [`Error`] | which call failed, on which path? |
//!
//! # Cost
//!
//! Opening a source is one `open` and, for a mapping, one `mmap`, whatever the file's length.
//! Opening a section allocates a bit for each 4 KiB of it, and touches none of its bytes. The first
//! touch of a granule costs its CRC-32 (about 0.2 µs) and, without a mapping, one `pread`; later
//! ones cost a test of its bit, and once every granule of a section was touched, of one number.

mod atomic_file;
mod checksum_tree;
mod demand_paging;
mod error;
mod fault_injection;
mod granule_set;
mod huge_pages;
mod mmap;
mod positioned_file;
mod request_waves;
mod section;
mod source;
mod spill;

pub use atomic_file::AtomicFile;
pub use error::{Error, Result, Step};
pub use fault_injection::Faults;
pub use huge_pages::prefer_huge_pages;
pub use request_waves::ReadAt;
pub use section::{Section, Verify};
pub use source::{Advice, Memory, Source};
pub use spill::Spill;

/// So many cases of a property; under Miri, which takes a thousand times as long, as many as `PROPTEST_CASES` says.
#[cfg(test)]
fn cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    if cfg!(miri) { Config::default() } else { Config::with_cases(cases) }
}
