//! Every byte of a docvalues segment: layouts with their encoders and decoders side by side.
//!
//! This crate turns bytes into values and back. It knows no files, no threads and no columns; it is
//! the lowest of the workspace and uses none of the others. `docs/format.md` is its prose.
//!
//! | module | question |
//! | --- | --- |
//! | [`id`] | which numbers must not be mixed up? |
//! | [`error`] | where and why were bytes refused? |
//! | [`source`] | how does a decoder get at bytes, checked? |
//! | [`granule`] | which checksums does a section have? |
//! | [`cursor`] | how do bytes become the fields of a directory? |
//! | [`bits`] | how are small integers packed? |
//! | [`jump`] | where does block *n* begin? |
//! | [`presence`] | which documents have a value, and the how-manieth is it? |
//! | [`numeric`] | what is number *i*? |
//! | [`binary`] | what is byte string *i*? |
//! | [`dictionary`] | which term has this ord, which ord this term? |
//! | [`mod@prefetch`] | which memory will be asked for soon? |
//! | [`mod@file`] | what stands at the file's ends, and which columns are there? |

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

/// So many values at most; under Miri a hundredth of them, and some.
#[cfg(test)]
const fn at_most(values: usize) -> usize {
    if cfg!(miri) { values / 100 + 10 } else { values }
}

/// So many cases of a property; under Miri, which takes a thousand times as long, as many as `PROPTEST_CASES` says.
#[cfg(test)]
fn cases(cases: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    if cfg!(miri) { Config::default() } else { Config::with_cases(cases) }
}
