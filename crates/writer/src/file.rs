//! The file of a segment: its columns before they are encoded, its ids, and its sections one after the other.
//!
//! A file does not know whether documents were added or merged, nor where its bytes go.
//!
//! | module | contents |
//! | --- | --- |
//! | `remove_deleted` | a copy of a field's buffer without deleted documents |
//! | `prepared_column` | a field before it is encoded; the order of the documents by some of them |
//! | `sorted_ids` | the ids of the documents, sorted, and their index |
//! | `file_writer` | header, sections, directory, footer |

mod file_writer;
pub(crate) mod prepared_column;
pub(crate) mod remove_deleted;
pub(crate) mod sorted_ids;

pub(crate) use file_writer::{Append, FileWriter};
