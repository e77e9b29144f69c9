//! JSON values that are not one a line: the elements of an array, and objects over several lines.
//!
//! The reader finds where a value ends by its brackets and strings, and leaves the rest of the syntax to the parser. So it
//! keeps one value in memory, not the file.

use std::io::{self, BufRead};

/// The longest value, in bytes.
const MAX_VALUE: usize = 256 << 20;

/// The greatest number of lines of a value, so that the ends of lines take no more memory than the value.
const MAX_LINES: usize = 32 << 20;

/// The deepest nesting of arrays and objects, which is that of the parser.
const MAX_DEPTH: usize = 128;

/// The arrangement of the documents of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layout {
    /// The first value has not been seen whole.
    #[default]
    Unknown,
    /// One object a line.
    Lines,
    /// Elements of arrays, or objects over several lines.
    Values,
}

/// The next part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A value, which the buffer has.
    Value,
    /// The first value of the file is cut, but has several lines. The buffer has them.
    CutLines,
    /// The rest of the file has one object a line.
    Lines,
    End,
    /// A mistake between two values.
    Bad(&'static str),
}

/// Reads value after value.
#[derive(Debug, Default)]
pub(super) struct ValueReader {
    pub(super) layout: Layout,
    in_array: bool,
    /// The state between the elements of an array.
    separator: Separator,
    /// Whether a value was read whole.
    has_value: bool,
    scan: Option<Scan>,
    /// The place of the next byte: the line from 1, and the bytes before it in this line.
    line: u64,
    column: usize,
    /// The place of the value in the buffer, and its line ends.
    pub(super) place: (u64, usize),
    pub(super) line_ends: Vec<u32>,
}

/// The separator before the next element of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Separator {
    /// The array has just begun, or an error has been reported.
    #[default]
    None,
    /// It has been read.
    Comma,
    /// It must come next, or the end of the array.
    Missing,
}

impl ValueReader {
    pub(super) fn new() -> ValueReader {
        ValueReader { line: 1, place: (1, 0), ..ValueReader::default() }
    }

    /// Reads the next value to `bytes`. After an error of `reader`, the next call reads on.
    pub(super) fn next(&mut self, reader: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<Next> {
        if self.scan.is_none() {
            bytes.clear();
            self.line_ends.clear();
            if let Some(next) = self.skip_to_value(reader)? {
                return Ok(next);
            }
            self.place = (self.line, self.column);
        }
        self.read_value(reader, bytes)
    }

    /// The place of the next byte: the line from 1, and the bytes before it in this line.
    pub(super) fn next_place(&self) -> (u64, usize) {
        (self.line, self.column)
    }

    /// Skips blanks and separators. Returns `None` before a value.
    fn skip_to_value(&mut self, reader: &mut dyn BufRead) -> io::Result<Option<Next>> {
        loop {
            let byte = match reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?.first().copied(),
            };
            let Some(byte) = byte else { return Ok(Some(self.end())) };
            if self.layout == Layout::Unknown && self.has_value {
                match byte {
                    b'\n' => self.layout = Layout::Lines,
                    b' ' | b'\t' | b'\r' => {}
                    _ => self.layout = Layout::Values,
                }
            }
            let next = match byte {
                b' ' | b'\t' | b'\r' | b'\n' => None,
                b'[' if !self.in_array => {
                    (self.in_array, self.separator) = (true, Separator::None);
                    self.layout = Layout::Values;
                    None
                }
                b',' if self.in_array && self.separator == Separator::Missing => {
                    self.separator = Separator::Comma;
                    None
                }
                b',' if self.in_array => Some(Next::Bad("expected a JSON object, found a comma")),
                b']' if self.in_array => {
                    self.in_array = false;
                    (self.separator == Separator::Comma).then_some(Next::Bad(
                        "expected a JSON object after the comma, found the end of the array",
                    ))
                }
                _ if self.in_array && self.separator == Separator::Missing => {
                    self.separator = Separator::None;
                    return Ok(Some(Next::Bad("expected a comma or the end of the array")));
                }
                b'{' => return Ok(None),
                // Such as a number, or text in another format.
                _ if self.layout == Layout::Unknown => {
                    self.layout = Layout::Lines;
                    return Ok(Some(Next::Lines));
                }
                _ => return Ok(None),
            };
            reader.consume(1);
            self.advance(byte);
            match next {
                _ if self.layout == Layout::Lines => return Ok(Some(Next::Lines)),
                Some(next) => return Ok(Some(next)),
                None => {}
            }
        }
    }

    /// The end of the file, which ends no array.
    fn end(&mut self) -> Next {
        self.place = (self.line, self.column);
        if std::mem::take(&mut self.in_array) {
            return Next::Bad("expected the end of the array, found the end of the file");
        }
        Next::End
    }

    /// Reads a value to its end, or to the byte that cannot be a part of it.
    fn read_value(&mut self, reader: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<Next> {
        let mut scan = self.scan.take().unwrap_or_default();
        let mut step = Step::More;
        while step == Step::More {
            let buffer = match reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.scan = Some(scan);
                    return Err(error);
                }
            };
            let start = bytes.len();
            let mut used = 0;
            while let Some(byte) = buffer.get(used).filter(|_| step == Step::More) {
                step = scan.add(*byte);
                if step != Step::Before {
                    if *byte == b'\n' {
                        // MAX_VALUE fits.
                        self.line_ends.push(u32::try_from(start + used).unwrap_or(u32::MAX));
                    }
                    used += 1;
                }
            }
            let is_last = buffer.is_empty();
            for byte in buffer.get(..used).unwrap_or_default() {
                self.advance(*byte);
            }
            bytes.extend_from_slice(buffer.get(..used).unwrap_or_default());
            reader.consume(used);
            if is_last && step == Step::More {
                step = Step::Before;
            }
            let problem = if bytes.len() > MAX_VALUE {
                Some("the value is longer than 256 MiB")
            } else {
                (self.line_ends.len() > MAX_LINES).then_some("the value has more than 33,554,432 lines")
            };
            if let Some(problem) = problem {
                self.separator = Separator::None;
                return Ok(Next::Bad(problem));
            }
        }
        self.separator = Separator::Missing;
        let is_first = self.layout == Layout::Unknown && !self.has_value;
        let has_lines = !self.line_ends.is_empty();
        if step == Step::Last {
            self.has_value = true;
            if has_lines {
                self.layout = Layout::Values;
            }
        } else if is_first && has_lines {
            return Ok(Next::CutLines);
        }
        Ok(Next::Value)
    }

    /// Counts a byte.
    fn advance(&mut self, byte: u8) {
        (self.line, self.column) =
            if byte == b'\n' { (self.line + 1, 0) } else { (self.line, self.column + 1) };
    }
}

/// The part of a value so far.
#[derive(Debug, Default)]
struct Scan {
    /// The brackets that are open.
    open: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    /// The last byte outside of strings that is not blank.
    last: Option<u8>,
}

/// The place of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// In the value, which goes on.
    More,
    /// The last one of the value.
    Last,
    /// After the value, which is cut if a bracket is open.
    Before,
}

impl Scan {
    fn add(&mut self, byte: u8) -> Step {
        if self.in_string {
            return self.add_to_string(byte);
        }
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        if self.open.is_empty()
            && self.last.is_some()
            && (is_blank || matches!(byte, b',' | b'[' | b']' | b'{' | b'}'))
        {
            return Step::Before;
        }
        let before = self.last;
        if !is_blank {
            self.last = Some(byte);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                Step::More
            }
            b'{' | b'[' => self.open(byte, before),
            b'}' | b']' => self.close(byte),
            b',' if self.open.is_empty() => Step::Last,
            _ => Step::More,
        }
    }

    fn add_to_string(&mut self, byte: u8) -> Step {
        match byte {
            // No string of JSON has it, so the line is cut.
            b'\n' => return Step::Before,
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => {
                self.in_string = false;
                if self.open.is_empty() {
                    return Step::Last;
                }
            }
            _ => {}
        }
        Step::More
    }

    /// Opens a bracket; `before` is the byte before it. A bracket where JSON has none begins another value.
    fn open(&mut self, byte: u8, before: Option<u8>) -> Step {
        let fits = match self.open.last() {
            Some(b'{') => before == Some(b':'),
            Some(_) => matches!(before, Some(b'[' | b',')),
            None => true,
        };
        if !fits || self.open.len() == MAX_DEPTH {
            return Step::Before;
        }
        self.open.push(byte);
        Step::More
    }

    fn close(&mut self, byte: u8) -> Step {
        let opened = self.open.pop();
        let fits = matches!((opened, byte), (Some(b'{'), b'}') | (Some(b'['), b']'));
        if fits && !self.open.is_empty() { Step::More } else { Step::Last }
    }
}
