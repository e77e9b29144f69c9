//! Reading the fields of metadata, front to back.

use crate::error::{Error, ErrorKind, Result};
use crate::file::Body;

/// Reads the fields of a file from its header to its footer.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    body: &'a Body,
    bytes: &'a [u8],
    at: usize,
    /// The start of the field that was taken last.
    field: usize,
}

/// Declares a method for each type of numbers, which takes one.
macro_rules! numbers {
    ($($number:ident)*) => { $(
        #[doc = concat!("Takes an `", stringify!($number), "`.")]
        pub(crate) fn $number(&mut self) -> Result<$number> {
            let (bytes, at) = (self.take(size_of::<$number>())?, self.field);
            let number = self.body.order.$number(bytes, 0);
            number.ok_or_else(|| self.body.broken(at, "a number ends too early"))
        }
    )* };
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte after the header.
    pub(crate) fn new(body: &'a Body) -> Cursor<'a> {
        let at = body.place.start;
        Cursor { body, bytes: body.bytes().get(..body.place.end).unwrap_or_default(), at, field: at }
    }

    /// The file.
    pub(crate) fn body(&self) -> &'a Body {
        self.body
    }

    /// The number of bytes before the footer.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Moves to byte `at` of the file.
    pub(crate) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// The next byte of the file to be taken.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Takes the next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let Some(taken) = taken else {
            let (needed, left) = (len as u64, self.left() as u64);
            return Err(self.body.error(self.at, ErrorKind::Truncated { needed, left }));
        };
        self.field = self.at;
        self.at += len;
        Ok(taken)
    }

    numbers!(i16 i32 i64 u32);

    /// Takes a byte.
    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// Takes a flag: a byte that is 0 or 1.
    pub(crate) fn flag(&mut self) -> Result<bool> {
        let byte = self.u8()?;
        self.within("flag", byte.into(), 0, 1)?;
        Ok(byte == 1)
    }

    /// Takes a float.
    pub(crate) fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_bits(self.u32()?))
    }

    /// Takes a number of up to 32 bits, seven to a byte.
    pub(crate) fn vint(&mut self) -> Result<i32> {
        let (long, start) = (self.variable(5)?, self.field);
        // A negative number takes five bytes, and so has its top bit at 31.
        match u32::try_from(long) {
            Ok(number) => Ok(number.cast_signed()),
            Err(_) => Err(self.body.broken(start, "a number of more than 32 bits")),
        }
    }

    /// Takes a number of up to 63 bits, seven to a byte.
    pub(crate) fn vlong(&mut self) -> Result<i64> {
        Ok(self.variable(9)?.cast_signed())
    }

    fn variable(&mut self, most: usize) -> Result<u64> {
        let start = self.at;
        let (mut number, mut shift) = (0_u64, 0);
        for _ in 0..most {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                self.field = start;
                return Ok(number);
            }
        }
        Err(self.body.broken(start, "a number that does not end"))
    }

    /// Takes a number of things, which is not negative. Nothing is allocated for them before they are read.
    pub(crate) fn count(&mut self, what: &'static str) -> Result<u32> {
        let count = self.vint()?;
        self.within(what, count.into(), 0, i32::MAX.into())?;
        Ok(count.cast_unsigned())
    }

    /// As [`count`](Self::count), of a number of 32 bits.
    pub(crate) fn natural(&mut self, what: &'static str) -> Result<u32> {
        let number = self.i32()?;
        self.within(what, number.into(), 0, i32::MAX.into())?;
        Ok(number.cast_unsigned())
    }

    /// Takes a generation, of which −1 is none.
    pub(crate) fn generation(&mut self) -> Result<i64> {
        let generation = self.i64()?;
        self.within("generation", generation, -1, i64::MAX)?;
        Ok(generation)
    }

    /// Takes a text.
    pub(crate) fn string(&mut self) -> Result<&'a str> {
        let len = self.count("length of a text")?;
        let bytes = self.take(len as usize)?;
        std::str::from_utf8(bytes).map_err(|_| self.refuse(ErrorKind::Broken("a text that is no UTF-8")))
    }

    /// Takes a map of texts.
    pub(crate) fn map(&mut self) -> Result<Vec<(String, String)>> {
        let (count, mut map) = (self.count("entries of a map")?, Vec::new());
        for _ in 0..count {
            map.push((self.string()?.to_owned(), self.string()?.to_owned()));
        }
        Ok(map)
    }

    /// Skips a set of texts.
    pub(crate) fn skip_set(&mut self) -> Result<()> {
        for _ in 0..self.count("entries of a set")? {
            self.string()?;
        }
        Ok(())
    }

    /// Takes the id of a segment.
    pub(crate) fn id(&mut self) -> Result<[u8; 16]> {
        let mut id = [0; 16];
        id.copy_from_slice(self.take(16)?);
        Ok(id)
    }

    /// Fails unless all bytes before the footer were taken.
    pub(crate) fn end(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            _ => Err(self.body.broken(self.at, "bytes between the last field and the footer")),
        }
    }

    /// Fails unless `found` lies between two bounds.
    pub(crate) fn within(&self, what: &'static str, found: i64, least: i64, most: i64) -> Result<()> {
        match (least..=most).contains(&found) {
            true => Ok(()),
            false => Err(self.refuse(ErrorKind::OutOfRange { what, found, least, most })),
        }
    }

    /// Fails unless a rule of the format `holds`.
    pub(crate) fn rule(&self, holds: bool, why: &'static str) -> Result<()> {
        if holds { Ok(()) } else { Err(self.refuse(ErrorKind::Broken(why))) }
    }

    /// An error at the field that was taken last.
    #[cold]
    pub(crate) fn refuse(&self, kind: ErrorKind) -> Error {
        self.body.error(self.field, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use crate::testing::{Encoder, body};

    #[test]
    fn fields_are_read_as_they_were_written() {
        for order in [Order::Big, Order::Little] {
            let mut out = Encoder::new(order);
            out.u8(7).i16(-2).i32(-3).i64(i64::MIN).string("größe");
            out.vint(0).vint(127).vint(128).vint(-1).vlong(1 << 62).map(&[("a", "b")]).set(&["x", ""]);
            let body = body(out);
            let mut cursor = Cursor::new(&body);
            assert_eq!(cursor.u8().unwrap(), 7);
            assert_eq!((cursor.i16().unwrap(), cursor.i32().unwrap()), (-2, -3));
            assert_eq!((cursor.i64().unwrap(), cursor.string().unwrap()), (i64::MIN, "größe"));
            assert_eq!([0; 4].map(|_: i32| cursor.vint().unwrap()), [0, 127, 128, -1]);
            assert_eq!(cursor.vlong().unwrap(), 1 << 62);
            assert_eq!(cursor.map().unwrap(), [("a".to_owned(), "b".to_owned())]);
            cursor.skip_set().unwrap();
            cursor.end().unwrap();
            assert!(cursor.u8().is_err(), "the footer is no field");
        }
    }

    #[test]
    fn hostile_lengths_are_errors() {
        let read = |bytes: &[u8]| {
            let mut out = Encoder::new(Order::Big);
            out.bytes(bytes);
            let body = body(out);
            let mut cursor = Cursor::new(&body);
            cursor.map().unwrap_err().to_string()
        };
        // A count of 2^31 - 1, a negative one, one that does not end, and a text that is no UTF-8.
        assert!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x07]).contains("expected 1 bytes, found 0"));
        assert!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]).contains("entries of a map"));
        assert!(read(&[0xFF; 12]).contains("does not end"));
        assert!(read(&[1, 1, 0xFF]).contains("no UTF-8"));
    }
}
