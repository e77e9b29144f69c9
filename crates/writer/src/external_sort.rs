//! External sorting: what has no room in memory is sorted in runs, which go to the temporary file and are merged.
//!
//! | module | sorts | for |
//! | --- | --- | --- |
//! | `doc_records` | codes of 96 bits, each with its document | the index sort |
//! | `string_runs` | byte strings, each with a number: the format of a run and the k-way merge | ids, terms |
//! | `term_runs` | the distinct byte strings of a field | dictionaries |
//! | `unsorted_terms` | keeps the same strings by their numbers, too | fields that may do without a dictionary |

pub(crate) mod doc_records;
pub(crate) mod string_runs;
pub(crate) mod term_runs;
pub(crate) mod unsorted_terms;
