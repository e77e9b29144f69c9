//! Encoders of files of Lucene, for tests.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use docvalues_storage::Source;

use crate::envelope::MAGIC;
use crate::file::{Body, FOOTER, File};
use crate::order::Order;

/// The id of the segment of all test files.
pub(crate) const ID: [u8; 16] = *b"an id of a test.";

/// Appends fields.
pub(crate) struct Encoder {
    pub(crate) order: Order,
    pub(crate) out: Vec<u8>,
    /// Bytes of the header of the file.
    header: usize,
}

/// Declares a method for each type of numbers, which appends one.
macro_rules! numbers {
    ($($number:ident)*) => { $(
        pub(crate) fn $number(&mut self, number: $number) -> &mut Encoder {
            match self.order {
                Order::Big => self.bytes(&number.to_be_bytes()),
                Order::Little => self.bytes(&number.to_le_bytes()),
            }
        }
    )* };
}

impl Encoder {
    /// The body of a file by [`body`].
    pub(crate) fn new(order: Order) -> Encoder {
        Encoder::of_file(order, "Test", "")
    }

    /// The body of a file by [`encode`].
    pub(crate) fn of_file(order: Order, name: &str, suffix: &str) -> Encoder {
        Encoder { order, out: Vec::new(), header: header(name, 0, suffix).len() }
    }

    /// These bytes as the body of a file by [`body`].
    pub(crate) fn of_bytes(order: Order, out: Vec<u8>) -> Encoder {
        Encoder { out, ..Encoder::new(order) }
    }

    numbers!(u8 u16 i16 i32 i64 u64 f32);

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Encoder {
        self.out.extend_from_slice(bytes);
        self
    }

    pub(crate) fn vint(&mut self, number: i32) -> &mut Encoder {
        self.variable(number.cast_unsigned().into())
    }

    pub(crate) fn vlong(&mut self, number: i64) -> &mut Encoder {
        self.variable(number.cast_unsigned())
    }

    fn variable(&mut self, mut number: u64) -> &mut Encoder {
        while number >= 0x80 {
            self.out.push((number & 0x7F) as u8 | 0x80);
            number >>= 7;
        }
        self.u8(number as u8)
    }

    pub(crate) fn string(&mut self, text: &str) -> &mut Encoder {
        self.vint(text.len() as i32).bytes(text.as_bytes())
    }

    pub(crate) fn map(&mut self, map: &[(&str, &str)]) -> &mut Encoder {
        self.vint(map.len() as i32);
        map.iter().fold(self, |out, (key, value)| out.string(key).string(value))
    }

    pub(crate) fn set(&mut self, set: &[&str]) -> &mut Encoder {
        self.vint(set.len() as i32);
        set.iter().fold(self, |out, text| out.string(text))
    }

    /// The offset of the next byte in its file.
    pub(crate) fn offset(&self) -> i64 {
        (self.header + self.out.len()) as i64
    }
}

fn header(name: &str, version: i32, suffix: &str) -> Vec<u8> {
    let mut out = MAGIC.to_be_bytes().to_vec();
    out.push(name.len() as u8);
    out.extend(name.as_bytes());
    out.extend(version.to_be_bytes());
    out.extend(ID);
    out.push(suffix.len() as u8);
    out.extend(suffix.as_bytes());
    out
}

/// A whole file.
pub(crate) fn encode(name: &str, version: i32, suffix: &str, body: &[u8]) -> Vec<u8> {
    let mut out = header(name, version, suffix);
    out.extend(body);
    seal(&mut out);
    out
}

/// Appends a footer.
fn seal(out: &mut Vec<u8>) {
    out.extend((!MAGIC).to_be_bytes());
    out.extend([0; 4]);
    let checksum = crc32fast::hash(out);
    out.extend(u64::from(checksum).to_be_bytes());
}

/// Replaces the checksum of a file by the right one.
pub(crate) fn reseal(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() - FOOTER);
    seal(bytes);
}

/// A file in memory.
pub(crate) fn file(bytes: Vec<u8>) -> File {
    File::new("a file", Source::memory(bytes))
}

/// A file of contents that have no name of their own.
pub(crate) fn body(fields: Encoder) -> Body {
    let (start, order) = (fields.header, fields.order);
    let bytes = encode("Test", 0, "", &fields.out);
    let end = bytes.len() - FOOTER;
    Body { file: file(bytes), name: "Test", order, version: 0, place: start..end }
}
