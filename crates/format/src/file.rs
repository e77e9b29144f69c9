//! The structure of a file: header and footer, the directory, kinds and types of columns.
//!
//! ```text
//! header    64 B   magic, version, features, checksum              frame
//! sections         of every column, columns in order of names      granule, and a module each
//! pages            of column entries, sorted by name               directory, column
//! root             an entry for each page, then the extensions     root, sort
//! footer    64 B   position of the root, documents, id, checksum   frame
//! ```
//!
//! Sections begin at multiples of 64 and end with at least 64 zero bytes. All bytes between two parts of the file are
//! zero.

pub mod column;
pub mod directory;
pub mod field;
pub mod frame;
pub mod kind;
pub mod root;
pub mod sort;
