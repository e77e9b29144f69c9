//! Finds the delimiter of a CSV file by its first lines.

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

/// The number of cells of each line; `None` if lines differ. The last line counts only if it is the only one, because it
/// may be cut.
fn cells(head: &[u8], delimiter: u8, quotes: bool) -> Option<usize> {
    let mut of_lines = None;
    let mut line = Line::default();
    for &byte in head {
        if byte != b'\n' || line.in_quotes {
            line.add(byte, delimiter, quotes);
            continue;
        }
        let line = std::mem::take(&mut line);
        if line.is_blank() {
            continue;
        }
        if *of_lines.get_or_insert(line.delimiters) != line.delimiters {
            return None;
        }
    }
    Some(of_lines.unwrap_or(line.delimiters) + 1)
}

/// A line so far.
#[derive(Default)]
struct Line {
    delimiters: usize,
    bytes: usize,
    /// Whether the cell has bytes, and whether it is quoted.
    has_bytes: bool,
    is_quoted: bool,
    in_quotes: bool,
}

impl Line {
    fn add(&mut self, byte: u8, delimiter: u8, quotes: bool) {
        self.bytes += usize::from(byte != b'\r');
        match byte {
            b'"' if self.in_quotes => self.in_quotes = false,
            _ if self.in_quotes => {}
            // Also the second of two quotes within quotes.
            b'"' if quotes && (self.is_quoted || !self.has_bytes) => {
                (self.is_quoted, self.in_quotes) = (true, true)
            }
            byte if byte == delimiter => {
                self.delimiters += 1;
                (self.has_bytes, self.is_quoted) = (false, false);
                return;
            }
            _ => {}
        }
        self.has_bytes = true;
    }

    fn is_blank(&self) -> bool {
        self.bytes == 0
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
            ("", b','),
        ] {
            assert_eq!(char::from(sniff_delimiter(head.as_bytes(), true)), char::from(delimiter), "{head:?}");
        }
        assert_eq!(sniff_delimiter(b"a;b\n\"1;2\n", false), b';');
    }
}
