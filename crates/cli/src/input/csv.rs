//! CSV and TSV rows (RFC 4180), with the place of every cell.
//!
//! Written for this tool because it wants what other parsers throw away: where a cell stood and
//! whether it was quoted, and errors for what they let pass: text behind a closing quote, and a
//! quote that is never closed, which else swallows the rest of a file.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use super::error::{BadRow, InputError, Result};
use super::row::{FieldId, Fields, Form, Row};

/// What a file's lines look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Whether a `"` at the beginning of a cell is a quote.
    pub(crate) quotes: bool,
    /// Whether the first row has the names.
    pub(crate) header: bool,
}

/// The rows of a file.
pub(crate) struct CsvRows {
    file: Arc<str>,
    lines: Lines,
    dialect: Dialect,
    columns: Vec<FieldId>,
    /// The bytes of the record being read, its line ends included.
    record: Vec<u8>,
    /// A cell in which doubled quotes became single ones.
    unquoted: String,
    /// Without a header, the first record has been read to count its cells, and waits here.
    first: Option<(Vec<Span>, u64)>,
    spans: Vec<Span>,
}

/// Where a cell stands in a record.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Of the text, without its quotes.
    start: usize,
    end: usize,
    quoted: bool,
    /// Whether the text holds doubled quotes.
    doubled: bool,
    /// Lines below the record's first, and bytes from the beginning of that line, from 1.
    line: u64,
    column: usize,
}

/// Lines of a reader; those of a bad record can be put back.
struct Lines {
    reader: Box<dyn BufRead>,
    /// Bytes to read again before the reader's.
    pending: Vec<u8>,
    at: usize,
    /// Lines given so far.
    count: u64,
}

impl Lines {
    /// Appends the next line with its end to `out`. `false` at the end of the input.
    fn read(&mut self, out: &mut Vec<u8>) -> std::io::Result<bool> {
        let before = out.len();
        if self.at < self.pending.len() {
            self.at += (&self.pending[self.at..]).read_until(b'\n', out)?;
        } else {
            self.reader.read_until(b'\n', out)?;
        }
        let some = out.len() > before;
        self.count += u64::from(some);
        Ok(some)
    }

    /// Gives these lines once more.
    fn put_back(&mut self, lines: &[u8], count: u64) {
        let rest = self.pending.split_off(self.at);
        self.pending = [lines, &rest].concat();
        self.at = 0;
        self.count -= count;
    }
}

/// Why a record is bad, before the file's name is known.
struct Fault {
    at: usize,
    problem: &'static str,
    advice: &'static str,
}

impl CsvRows {
    /// Begins to read a file: its header, or its first row to count the columns.
    pub(crate) fn open(
        file: &Arc<str>,
        reader: Box<dyn BufRead>,
        dialect: Dialect,
        fields: &mut Fields,
    ) -> Result<CsvRows> {
        let lines = Lines { reader, pending: Vec::new(), at: 0, count: 0 };
        let file = file.clone();
        let mut rows = CsvRows {
            file,
            lines,
            dialect,
            columns: Vec::new(),
            record: Vec::new(),
            unquoted: String::new(),
            first: None,
            spans: Vec::new(),
        };
        if !rows.read_record()? {
            return Ok(rows);
        }
        if let Some(at) = rows.record.iter().position(|b| *b == b'\r')
            && rows.record.get(at + 1).is_some_and(|next| *next != b'\n')
        {
            return Err(InputError::refused(
                format!("{}: lines end with a carriage return alone", rows.file),
                "turn them into newlines on the way: tr '\\r' '\\n'",
            ));
        }
        if dialect.header {
            rows.read_header(fields)?;
        } else {
            rows.columns = (1..=rows.spans.len()).map(|n| fields.id(&format!("c{n}"))).collect();
            rows.first = Some((std::mem::take(&mut rows.spans), rows.first_line()));
        }
        Ok(rows)
    }

    /// The columns of this file.
    pub(crate) fn columns(&self) -> &[FieldId] {
        &self.columns
    }

    fn read_header(&mut self, fields: &mut Fields) -> Result<()> {
        let (mut seen, line) = (HashSet::new(), self.first_line());
        for (index, span) in std::mem::take(&mut self.spans).into_iter().enumerate() {
            let name = self.unquote(&span).to_owned();
            let place = (line + span.line, span.column as u64);
            let bad = |problem: String| BadRow::new(&self.file, place.0, place.1, problem);
            if name.is_empty() {
                return Err(bad(format!("the name of column {} is empty", index + 1))
                    .advice("name it in the header, or read the file with --no-header")
                    .into());
            }
            let id = fields.id(&name);
            if !seen.insert(id) {
                return Err(bad("two columns have the same name".to_owned())
                    .text(name.as_bytes())
                    .advice("rename one in the header, or read the file with --no-header")
                    .into());
            }
            self.columns.push(id);
        }
        Ok(())
    }

    /// Reads the next row. `false` at the end of the file.
    ///
    /// # Errors
    ///
    /// After [`InputError::Bad`], the next call reads the row behind the bad one.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool> {
        let line = match self.first.take() {
            Some((spans, line)) => {
                self.spans = spans;
                line
            }
            None => {
                if !self.read_record()? {
                    return Ok(false);
                }
                self.first_line()
            }
        };
        row.clear(line);
        if self.spans.len() != self.columns.len() {
            return Err(self.wrong_count(line).into());
        }
        let spans = std::mem::take(&mut self.spans);
        for (&field, span) in self.columns.iter().zip(&spans) {
            let form = if span.quoted { Form::Quoted } else { Form::Bare };
            let text = text_of(&self.record, span, &mut self.unquoted);
            if !row.push(field, form, text, (line + span.line, span.column)) {
                return Err(BadRow::new(&self.file, line, 1, "the row is larger than 4 GiB").into());
            }
        }
        self.spans = spans;
        Ok(true)
    }

    fn wrong_count(&self, line: u64) -> BadRow {
        let (found, expected) = (self.spans.len(), self.columns.len());
        let problem =
            format!("the row has {found} cell{}, not {expected}", if found == 1 { "" } else { "s" });
        let column = self.spans.get(expected).or(self.spans.last()).map_or(1, |span| span.column);
        let first_line = self.record.split(|b| *b == b'\n').next().unwrap_or_default();
        BadRow::new(&self.file, line, column as u64, problem).text(first_line.trim_ascii_end()).advice(
            if found < expected {
                "is a line broken, or the delimiter another one (--delimiter)?"
            } else {
                "a cell that holds the delimiter needs quotes"
            },
        )
    }

    /// The line on which the record begins.
    fn first_line(&self) -> u64 {
        let newlines = self.record.iter().filter(|b| **b == b'\n').count() as u64;
        let open = u64::from(self.record.last().is_some_and(|b| *b != b'\n'));
        (self.lines.count + 1).saturating_sub(newlines + open)
    }

    fn unquote(&mut self, span: &Span) -> &str {
        text_of(&self.record, span, &mut self.unquoted)
    }

    /// Reads the next record that is no blank line, and finds its cells. `false` at the end.
    fn read_record(&mut self) -> Result<bool> {
        loop {
            self.record.clear();
            self.spans.clear();
            if !self.read_line()? {
                return Ok(false);
            }
            // With one column, a blank line is a row whose cell is missing.
            let blank = matches!(self.record.as_slice(), b"\n" | b"\r\n" | b"\r");
            if !blank || self.columns.len() == 1 {
                break;
            }
        }
        match self.split()? {
            None => match std::str::from_utf8(&self.record) {
                Ok(_) => Ok(true),
                Err(error) => {
                    let from = self.record.get(error.valid_up_to()..).unwrap_or_default();
                    let text = from.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
                    let bad = self.bad_at(error.valid_up_to(), "the text is not UTF-8");
                    Err(bad.text(text).advice("convert it on the way: iconv -f LATIN1 -t UTF-8").into())
                }
            },
            Some(fault) => {
                let from = self.record.get(fault.at..).unwrap_or_default();
                let text = from.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
                let bad = self.bad_at(fault.at, fault.problem).text(text).advice(fault.advice);
                self.resume_behind_first_line();
                Err(bad.into())
            }
        }
    }

    fn read_line(&mut self) -> Result<bool> {
        self.lines.read(&mut self.record).map_err(|e| InputError::unreadable(&self.file, e))
    }

    /// The place of byte `at` of the record.
    fn bad_at(&self, at: usize, problem: &str) -> BadRow {
        let before = self.record.get(..at).unwrap_or(&self.record);
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        let lines = before.iter().filter(|b| **b == b'\n').count() as u64;
        BadRow::new(&self.file, self.first_line() + lines, (at - line_start + 1) as u64, problem)
    }

    /// After a bad quote, only the line on which it stands is lost.
    fn resume_behind_first_line(&mut self) {
        let end = self.record.iter().position(|b| *b == b'\n').map_or(self.record.len(), |at| at + 1);
        let rest = self.record.get(end..).unwrap_or_default();
        if !rest.is_empty() {
            let lines = rest.iter().filter(|b| **b == b'\n').count() + usize::from(!rest.ends_with(b"\n"));
            self.lines.put_back(rest, lines as u64);
        }
    }

    /// Finds the cells of the record, and reads more lines where a quoted cell goes on.
    fn split(&mut self) -> Result<Option<Fault>> {
        let (mut at, mut line, mut line_start) = (0, 0, 0);
        loop {
            let opening = at;
            let column = at - line_start + 1;
            let place = (line, column);
            let (span, next) = if self.dialect.quotes && self.record.get(at) == Some(&b'"') {
                let mut span = Span { start: at + 1, end: 0, quoted: true, doubled: false, line, column };
                at += 1;
                loop {
                    let Some(found) = self.record.get(at..).and_then(find_quote_or_newline) else {
                        if !self.read_line()? {
                            return Ok(Some(Fault {
                                at: opening,
                                problem: "a quote is opened and never closed",
                                advice: "close it, double it if it is text, or read the file with --no-quotes",
                            }));
                        }
                        continue;
                    };
                    at += found + 1;
                    if self.record[at - 1] == b'\n' {
                        (line, line_start) = (line + 1, at);
                    } else if self.record.get(at) == Some(&b'"') {
                        span.doubled = true;
                        at += 1;
                    } else {
                        break;
                    }
                }
                span.end = at - 1;
                (span, at)
            } else {
                let rest = self.record.get(at..).unwrap_or_default();
                let len = rest
                    .iter()
                    .position(|b| *b == self.dialect.delimiter || *b == b'\n')
                    .unwrap_or(rest.len());
                let mut end = at + len;
                if rest.get(len).is_none_or(|b| *b == b'\n') && rest[..len].ends_with(b"\r") {
                    end -= 1;
                }
                let (line, column) = place;
                (Span { start: at, end, quoted: false, doubled: false, line, column }, end)
            };
            self.spans.push(span);
            match self.record.get(next..).unwrap_or_default() {
                [b, ..] if *b == self.dialect.delimiter => at = next + 1,
                [] | [b'\n'] | [b'\r'] | [b'\r', b'\n'] => return Ok(None),
                _ => {
                    return Ok(Some(Fault {
                        at: next,
                        problem: "there is text behind a closing quote",
                        advice: "a quote within quotes is doubled (\"\"); for data without quotes: --no-quotes",
                    }));
                }
            }
        }
    }
}

fn find_quote_or_newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|b| matches!(b, b'"' | b'\n'))
}

/// The text of a cell of a record that is known to be UTF-8.
fn text_of<'a>(record: &'a [u8], span: &Span, buffer: &'a mut String) -> &'a str {
    let bytes = record.get(span.start..span.end).unwrap_or_default();
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    if !span.doubled {
        return text;
    }
    buffer.clear();
    for part in text.split_inclusive("\"\"") {
        match part.strip_suffix("\"\"") {
            Some(part) => {
                buffer.push_str(part);
                buffer.push('"');
            }
            None => buffer.push_str(part),
        }
    }
    buffer
}

#[cfg(test)]
#[path = "csv/tests.rs"]
mod tests;
