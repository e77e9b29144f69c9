//! The dialect of a CSV file.

use super::header::Header;
use super::tokens::Tokenizer;

/// The CSV dialect of a file.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Whether a `"` at the start of a cell begins a quoted cell.
    pub(crate) quotes: bool,
    pub(crate) header: Header,
    pub(crate) extras: Extras,
}

impl Dialect {
    pub(crate) fn tokenizer(&self) -> Tokenizer {
        Tokenizer { delimiter: self.delimiter, quotes: self.quotes, escape: self.extras.escape }
    }
}

/// Rarely needed options of a dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    /// The number of lines before the header.
    pub(crate) skip_lines: u64,
    /// The first byte of lines that are left out.
    pub(crate) comment: Option<u8>,
    /// The byte before a quote in a quoted cell that does not end it.
    pub(crate) escape: Option<u8>,
    /// Whether blanks around a cell without quotes are left out.
    pub(crate) trim: bool,
}
