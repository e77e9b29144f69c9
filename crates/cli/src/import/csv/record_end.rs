//! The end of the last whole record of a part of a CSV file.
//!
//! A quote may hide a line end, so this follows the quoted cells. Where quotes are wrong, the rest of the file is read record
//! by record, which finds the place of the mistake.

use memchr::{memchr, memrchr};

use super::tokens::{Token, Tokenizer};
use crate::import::chunk_reader::RecordEnd;

/// The end of the last whole record; wrong is one with a quote in a wrong place.
pub(in crate::import) fn record_end(text: &[u8], tokenizer: Tokenizer, is_at_end: bool) -> RecordEnd {
    let line_end = |text: &[u8]| memrchr(b'\n', text).map(|at| at + 1);
    let (mut at, mut end) = (0, 0);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let quote = if tokenizer.quotes { memchr(b'"', rest) } else { None };
        let before = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        end = line_end(before).map_or(end, |of| at + of);
        let Some(quote) = quote.map(|quote| at + quote) else {
            return RecordEnd::At(if is_at_end { text.len() } else { end });
        };
        let before = quote.checked_sub(1).and_then(|before| text.get(before));
        let begins_cell = before.is_none_or(|b| *b == tokenizer.delimiter || matches!(b, b'\n' | b'\r'));
        if !begins_cell {
            at = quote + 1;
            continue;
        }
        match tokenizer.cell_at(text, quote) {
            // The next byte may double the quote.
            Token::Cell(cell) if cell.text.end + 1 == text.len() && !is_at_end => return RecordEnd::At(end),
            Token::Cell(cell) => at = cell.text.end + 1,
            Token::Open(_) if !is_at_end => return RecordEnd::At(end),
            Token::Open(_) | Token::AfterQuote(_) => return RecordEnd::Wrong(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Tokenizer = Tokenizer { delimiter: b',', quotes: true, escape: None };

    #[test]
    fn records_end_outside_of_quotes() {
        let end = |text: &str| record_end(text.as_bytes(), COMMA, false);
        assert_eq!(end("a,b\nc,d\ne"), RecordEnd::At(8));
        assert_eq!(end("a,\"b\nc\",d\ne"), RecordEnd::At(10));
        assert_eq!(end("x\na,\"b\nc"), RecordEnd::At(2));
        assert_eq!(end("x\na,\"b\"\"\nc\"\ny"), RecordEnd::At(12));
        // A quote within a cell is text.
        assert_eq!(end("5\",b\nc\"\n"), RecordEnd::At(8));
        // The next byte may double the quote.
        assert_eq!(end("x\n\"b\""), RecordEnd::At(2));
        assert_eq!(end("x\n\"b\"c\ny\n"), RecordEnd::Wrong(2));
        assert_eq!(end("no line end"), RecordEnd::At(0));
    }

    #[test]
    fn the_last_record_ends_with_the_file() {
        let end = |text: &str| record_end(text.as_bytes(), COMMA, true);
        assert_eq!(end("a\nb"), RecordEnd::At(3));
        assert_eq!(end("a\n\"b\""), RecordEnd::At(5));
        assert_eq!(end("a\n\"b"), RecordEnd::Wrong(2));
        assert_eq!(record_end(b"a\n\"b", Tokenizer { quotes: false, ..COMMA }, true), RecordEnd::At(4));
    }
}
