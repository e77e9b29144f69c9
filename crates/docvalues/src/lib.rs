//! A columnar, memory-mapped doc-values store: any value of any document in O(1).

pub use docvalues_column as column;
pub use docvalues_format as format;
pub use docvalues_reader as reader;
pub use docvalues_writer as writer;
