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
//!
//! # From the footer to a value
//!
//! ```text
//! footer   root_offset, root_len, root_crc
//!            |
//! root     | page 0: offset, len, crc, sections_end, columns_end | page 1 | ... | extensions: sort, ids, fine zones |
//!            |                                                     binary search over the pages, each by its names
//! page     | count | offsets[0 ..= count] | entry 0 | entry 1 | ... |
//!                                           |                      binary search by name
//! entry    | sections_end | name | kind, type, format | presence | offsets | values | terms | statistics |
//!                                                       |                    |
//! sections                                              presence blocks      numbers, bytes: any value in O(1)
//! ```
//!
//! Each step has the checksum of the next one, so bytes are verified on the way: the footer verifies the root, the root
//! a page, the page (in its [`SectionRef`](crate::granule::SectionRef)s) the sections. Opening a segment reads the
//! footer and the root; a column with a name costs the pages of a binary search and one entry. The footer is at the
//! end, as in Parquet and ORC, because the writer knows the offsets only after the sections are written.

pub mod column;
pub mod directory;
pub mod field;
pub mod frame;
pub mod kind;
pub mod root;
pub mod sort;
