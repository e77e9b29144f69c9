//! The tokenizer of CSV (RFC 4180): splits bytes into cells, and finds quotes in wrong places.
//!
//! It knows no lines and no files: its callers read bytes, count lines and report mistakes.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2, memchr3};

use crate::import::row::Form;

/// The bytes that separate, quote and escape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokenizer {
    pub(crate) delimiter: u8,
    /// Whether a `"` at the start of a cell begins a quoted cell.
    pub(crate) quotes: bool,
    /// The byte before a quote in a quoted cell that does not end it.
    pub(crate) escape: Option<u8>,
}

/// The token at the start of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Cell(CsvCell),
    /// The bytes end within the quoted cell.
    Open(OpenCell),
    /// Text follows the closing quote, which is at this byte.
    AfterQuote(usize),
}

/// A cell of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvCell {
    /// The text, without the quotes around it.
    pub(crate) text: Range<usize>,
    /// Bare or quoted.
    pub(crate) form: Form,
    /// Whether the text has doubled quotes or escapes.
    pub(crate) has_escapes: bool,
    /// The first byte after the delimiter or line end.
    pub(crate) end: usize,
    pub(crate) ends_record: bool,
}

/// A quoted cell without its closing quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenCell {
    /// The first byte of the text.
    start: usize,
    /// The closing quote is not before this byte.
    searched: usize,
    has_escapes: bool,
}

impl Tokenizer {
    /// That of commas and quotes, without escapes.
    pub(crate) const COMMAS: Tokenizer = Tokenizer { delimiter: b',', quotes: true, escape: None };

    /// Reads all cells of the first record of `text`, and returns its end, too; or the first token that is no cell.
    pub(crate) fn record(self, text: &str) -> Result<(Vec<(Form, String)>, usize), Token> {
        let (mut cells, mut at) = (Vec::new(), 0);
        loop {
            let cell = match self.cell_at(text.as_bytes(), at) {
                Token::Cell(cell) => cell,
                other => return Err(other),
            };
            let raw = text.get(cell.text.clone()).unwrap_or_default();
            cells.push((cell.form, self.text(raw, &cell).into_owned()));
            at = cell.end;
            if cell.ends_record {
                return Ok((cells, at));
            }
        }
    }

    /// Reads the cell that begins at `start`. The bytes end with a record, or within quotes.
    #[inline]
    pub(crate) fn cell_at(self, bytes: &[u8], start: usize) -> Token {
        if self.quotes && bytes.get(start) == Some(&b'"') {
            let start = start + 1;
            return self.go_on(bytes, OpenCell { start, searched: start, has_escapes: false });
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let end = memchr3(self.delimiter, b'\n', b'\r', rest).map_or(bytes.len(), |len| start + len);
        self.end_cell(bytes, start..end, Form::Bare, false)
    }

    /// Goes on with a quoted cell, after more bytes were read.
    pub(crate) fn go_on(self, bytes: &[u8], mut open: OpenCell) -> Token {
        while let Some(at) = self.quote_or_escape(bytes, open.searched) {
            if bytes.get(at) == Some(&b'"') && bytes.get(at + 1) != Some(&b'"') {
                return self.end_cell(bytes, open.start..at, Form::Quoted, open.has_escapes);
            }
            (open.searched, open.has_escapes) = (at + 2, true);
        }
        open.searched = open.searched.max(bytes.len());
        Token::Open(open)
    }

    /// The cell with this text, unless its closing quote is followed by more text.
    #[inline]
    fn end_cell(self, bytes: &[u8], text: Range<usize>, form: Form, has_escapes: bool) -> Token {
        let end = text.end + usize::from(form == Form::Quoted);
        let (end, ends_record) = match bytes.get(end) {
            None => (end, true),
            Some(byte) if *byte == self.delimiter => (end + 1, false),
            Some(_) => match line_end(bytes, end) {
                0 => return Token::AfterQuote(text.end),
                len => (end + len, true),
            },
        };
        Token::Cell(CsvCell { text, form, has_escapes, end, ends_record })
    }

    /// The text of a cell without the first byte of each doubled quote and escape; `raw` is its text with them.
    #[inline]
    pub(crate) fn text<'t>(self, raw: &'t str, cell: &CsvCell) -> Cow<'t, str> {
        if cell.has_escapes { Cow::Owned(self.unescape(raw)) } else { Cow::Borrowed(raw) }
    }

    fn unescape(self, raw: &str) -> String {
        let (mut text, mut copied, mut searched) = (String::with_capacity(raw.len()), 0, 0);
        while let Some(at) = self.quote_or_escape(raw.as_bytes(), searched) {
            text.push_str(raw.get(copied..at).unwrap_or_default());
            (copied, searched) = (at + 1, at + 2);
        }
        text.push_str(raw.get(copied..).unwrap_or_default());
        text
    }

    /// The first quote or escape from byte `from` on.
    fn quote_or_escape(self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let found = match self.escape {
            Some(escape) => memchr2(b'"', escape, rest),
            None => memchr(b'"', rest),
        };
        found.map(|len| from + len)
    }
}

/// The length of the line end at byte `at`; 0 if there is none.
#[inline]
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'\r', b'\n', ..]) => 2,
        Some([b'\r' | b'\n', ..]) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Tokenizer = Tokenizer { delimiter: b',', quotes: true, escape: None };

    /// The texts of all cells; a `;` begins a record.
    fn cells(tokenizer: Tokenizer, text: &str) -> Result<Vec<String>, Token> {
        let (mut cells, mut at, mut before) = (Vec::new(), 0, "");
        while at < text.len() {
            let cell = match tokenizer.cell_at(text.as_bytes(), at) {
                Token::Cell(cell) => cell,
                wrong => return Err(wrong),
            };
            cells.push(format!("{before}{}", tokenizer.text(&text[cell.text.clone()], &cell)));
            at = cell.end;
            before = if cell.ends_record { ";" } else { "" };
        }
        Ok(cells)
    }

    #[test]
    fn cells_end_at_delimiters_and_line_ends() {
        assert_eq!(cells(COMMA, "a,b\rc\r\nd\n\n,").unwrap(), ["a", "b", ";c", ";d", ";", ";"]);
        assert_eq!(cells(COMMA, "\"a,\r\n\",\"\"\r\"\"\"\"").unwrap(), ["a,\r\n", "", ";\""]);
        assert_eq!(cells(COMMA, "a\"b\",\\").unwrap(), ["a\"b\"", "\\"]);
        let tabs = Tokenizer { delimiter: b'\t', quotes: false, escape: None };
        assert_eq!(cells(tabs, "\"a\t,b\"").unwrap(), ["\"a", ",b\""]);
    }

    #[test]
    fn text_after_a_closing_quote_is_wrong() {
        assert_eq!(cells(COMMA, "a,\"b\"c"), Err(Token::AfterQuote(4)));
        assert_eq!(cells(COMMA, "\"\" "), Err(Token::AfterQuote(1)));
        assert_eq!(cells(COMMA, "\"a\\\"b\""), Err(Token::AfterQuote(3)));
        let escaped = Tokenizer { escape: Some(b'\\'), ..COMMA };
        assert_eq!(cells(escaped, "\"a\\\"b\"").unwrap(), ["a\"b"]);
    }

    #[test]
    fn an_open_cell_goes_on_where_the_search_ended() {
        let escaped = Tokenizer { escape: Some(b'\\'), ..COMMA };
        let whole = "\"a\n\"\"\\\n\"";
        for (tokenizer, cut) in
            [(COMMA, 3), (COMMA, 7), (escaped, 1), (escaped, 3), (escaped, 6), (escaped, 7)]
        {
            let Token::Open(open) = tokenizer.cell_at(&whole.as_bytes()[..cut], 0) else { panic!("{cut}") };
            assert_eq!(tokenizer.go_on(whole.as_bytes(), open), tokenizer.cell_at(whole.as_bytes(), 0));
        }
    }
}
