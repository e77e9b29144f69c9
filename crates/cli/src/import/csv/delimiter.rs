//! Finds the delimiter of a CSV file by its first lines.

use super::tokens::{Token, Tokenizer, line_end};
use crate::import::row::Form;

/// The delimiters besides a comma.
const OTHERS: [u8; 3] = [b';', b'\t', b'|'];

/// The delimiter that gives all of the first lines the same number of cells, if that is more than a comma gives; a comma
/// otherwise. With `quotes`, cells may be quoted.
pub(crate) fn sniff_delimiter(head: &[u8], quotes: bool) -> u8 {
    let mut best = (b',', cells(head, b',', quotes).unwrap_or(1));
    for delimiter in OTHERS {
        if let Some(cells) = cells(head, delimiter, quotes).filter(|cells| *cells > best.1) {
            best = (delimiter, cells);
        }
    }
    best.0
}

/// The number of cells of each record; `None` if records differ. The last one counts only if it is the only one,
/// because it may be cut.
fn cells(head: &[u8], delimiter: u8, quotes: bool) -> Option<usize> {
    let tokenizer = Tokenizer { delimiter, quotes, escape: None };
    let (mut of_records, mut at) = (None, 0);
    loop {
        while let blank @ 1.. = line_end(head, at) {
            at += blank;
        }
        let mut cells = 0;
        let is_cut = loop {
            match tokenizer.cell_at(head, at) {
                Token::Cell(cell) => {
                    (cells, at) = (cells + 1, cell.end);
                    if cell.ends_record {
                        break at == cell.text.end + usize::from(cell.form == Form::Quoted);
                    }
                }
                // The mistake is reported with its row.
                Token::AfterQuote(quote) => at = quote + 1,
                Token::Open(_) => {
                    cells += 1;
                    break true;
                }
            }
        };
        if is_cut {
            return Some(of_records.unwrap_or(cells));
        }
        if *of_records.get_or_insert(cells) != cells {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_have_the_same_number_of_cells() {
        for (head, delimiter) in [
            ("a;b;c\n1;2;3\n", b';'),
            ("a;b;c", b';'),
            ("a;b\n1,5;2,5\n", b';'),
            ("a;b\r\n1,5;2\r\n\r\n3;4\r\n5;", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b|c\n\"x|\n\"\"|\"|2|3\n", b'|'),
            ("a,b;c\n1,2;3\n", b','),
            ("a,b\n1;2,3;4\n", b','),
            ("a;b\n1;2;3\n", b','),
            ("a\nx;y\n", b','),
            ("text\n", b','),
            ("a;b\n\"1\" ;2\n", b';'),
            ("", b','),
        ] {
            assert_eq!(char::from(sniff_delimiter(head.as_bytes(), true)), char::from(delimiter), "{head:?}");
        }
        assert_eq!(sniff_delimiter(b"a;b\n\"1;2\n", false), b';');
    }
}
