//! The file format of docvalues segments: encoders and decoders of every byte.
//!
//! This crate converts values to bytes and back. It does not access files or start threads, and is the lowest crate of
//! the workspace. `docs/format.md` specifies the same format for readers in other languages.
//!
//! | module | contents |
//! | --- | --- |
//! | [`id`] | types of document numbers, value indices and ords |
//! | [`error`] | decoding errors, with their position in the file |
//! | [`source`] | access to the verified bytes of a section |
//! | [`granule`] | checksums of sections, for each 4 KiB |
//! | [`cursor`] | decoding of fields, for the directory |
//! | [`stored`] | numbers of a type as 64-bit numbers of the same order |
//! | [`strings`] | byte strings: what they share, their order, and their digits |
//! | [`bits`] | packed integers |
//! | [`jump`] | jump tables, which locate blocks |
//! | [`presence`] | the documents with a value, and the rank of each |
//! | [`numeric`] | sequences of numbers, with their skip index |
//! | [`binary`] | byte strings, raw or compressed |
//! | [`dictionary`] | sorted dictionaries: ords to terms and back |
//! | [`mod@prefetch`] | prefetching of memory |
//! | [`mod@file`] | header, footer, directory and index sort |

pub mod binary;
pub mod bits;
pub mod cursor;
pub mod dictionary;
pub mod error;
pub mod file;
pub mod granule;
pub mod id;
pub mod jump;
mod named;
pub mod numeric;
pub mod prefetch;
pub mod presence;
pub mod source;
pub mod stored;
pub mod strings;

/// The number of values in a test: `values`, and under Miri about a hundredth of them.
#[cfg(test)]
const fn at_most(values: usize) -> usize {
    if cfg!(miri) { values / 100 + 10 } else { values }
}

/// A size for a test: `sample`, or `full` with `DOCVALUES_SWEEP=full`.
#[cfg(test)]
fn sweep<T>(sample: T, full: T) -> T {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    if is_full { full } else { sample }
}

/// A configuration of `cases` cases of a property. Miri is a thousand times slower and uses `PROPTEST_CASES`.
#[cfg(test)]
fn cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    if cfg!(miri) { Config::default() } else { Config::with_cases(cases) }
}
