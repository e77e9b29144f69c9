//! What holds the sections together: header and footer, the directory, kinds and types.

pub mod field;
pub mod kind;
