//! External merge sort: sorted runs in the temporary file, and their k-way merge.
//!
//! | module | sorts | for |
//! | --- | --- | --- |
//! | `doc_records` | sort codes of 96 bits, each with its document | the index sort |
//! | `string_runs` | byte strings, each with a number: the format of a run, and the merge | ids, terms |
//! | `term_runs` | the distinct byte strings of a field | dictionaries |
//! | `unsorted_terms` | nothing: it keeps the same strings in id order | fields that may not need a dictionary |

pub(crate) mod doc_records;
pub(crate) mod string_runs;
pub(crate) mod term_runs;
pub(crate) mod unsorted_terms;
