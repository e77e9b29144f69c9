//! Reading and writing the fixed-size fields of the directory.

use crate::error::{Error, ErrorKind, Place, Result};

/// Reads fields front to back.
///
/// For the few fields that are read once: header, footer, directory, and block headers on a walk. Values are read by
/// the kernels of [`crate::bits`].
///
/// # Examples
///
/// ```
/// use docvalues_format::cursor::{Cursor, Put};
/// use docvalues_format::error::{Place, Section};
///
/// let mut bytes = Vec::new();
/// bytes.put_u32(7);
/// bytes.put_u64(1 << 40);
///
/// let mut cursor = Cursor::new(Place { section: Section::Header, offset: 0 }, &bytes);
/// assert_eq!((cursor.u32()?, cursor.u64()?, cursor.left()), (7, 1 << 40, 0));
/// assert!(cursor.u8().is_err()); // the error names section and offset
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    place: Place,
    bytes: &'a [u8],
    at: usize,
    /// The start of the field that was read last.
    field: usize,
}

/// Declares a method for each type of numbers, which reads one.
macro_rules! numbers {
    ($($number:ident)*) => { $(
        #[doc = concat!("Reads a `", stringify!($number), "`.")]
        ///
        /// # Errors
        ///
        /// As [`take`](Self::take).
        pub fn $number(&mut self) -> Result<$number> {
            let mut bytes = [0; size_of::<$number>()];
            bytes.copy_from_slice(self.take(size_of::<$number>())?);
            Ok($number::from_le_bytes(bytes))
        }
    )* };
}

impl<'a> Cursor<'a> {
    /// A cursor at the first of `bytes`, which lie at `place`.
    pub fn new(place: Place, bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { place, bytes, at: 0, field: 0 }
    }

    /// The number of bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Reads the next `len` bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] when fewer are left; the cursor then stays where it was.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (at, left) = (self.at, self.left());
        let bytes = self.bytes[at..].get(..len).ok_or_else(|| Error::truncated(self.place, at, len, left))?;
        self.field = at;
        self.at += len;
        Ok(bytes)
    }

    numbers!(u8 u16 u32 u64 i64);

    /// Reads `len` reserved bytes, which must be zero.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Broken`] when one is not, or as [`take`](Self::take).
    pub fn zeros(&mut self, len: usize) -> Result<()> {
        let zeros = self.take(len)?.iter().all(|&b| b == 0);
        self.rule(zeros, "reserved bytes are not zero")
    }

    /// Reads a tag byte: the index of a variant in `all`. `what` names the kind of tag in errors.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownTag`] when there is no such variant, or as [`take`](Self::take).
    pub fn tag<T: Copy>(&mut self, what: &'static str, all: &[T]) -> Result<T> {
        let tag = self.u8()?;
        all.get(usize::from(tag)).copied().ok_or_else(|| self.refuse(ErrorKind::UnknownTag { what, tag }))
    }

    /// An error at the field that was read last.
    #[cold]
    pub fn refuse(&self, kind: ErrorKind) -> Error {
        Error::at(self.place, self.field, kind)
    }

    /// Returns an error if `found` is above `max`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`].
    pub fn at_most(&self, what: &'static str, found: u64, max: u64) -> Result<()> {
        self.check(ErrorKind::at_most(what, found, max))
    }

    /// Returns an error unless `found` is `expected`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`].
    pub fn equal(&self, what: &'static str, found: u64, expected: u64) -> Result<()> {
        self.check(ErrorKind::equal(what, found, expected))
    }

    /// Returns the error `why` unless a rule of the format `holds`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Broken`].
    pub fn rule(&self, holds: bool, why: &'static str) -> Result<()> {
        self.check(ErrorKind::rule(holds, why))
    }

    /// Turns the error of `checked` into one at the field that was read last.
    ///
    /// # Errors
    ///
    /// When `checked` is an error.
    pub fn check(&self, checked: Result<(), ErrorKind>) -> Result<()> {
        self.place.check(self.field, checked)
    }
}

/// Declares a method for each type of numbers, which appends one.
macro_rules! put_numbers {
    ($($put:ident: $number:ty),*) => { $(
        #[doc = concat!("Appends a `", stringify!($number), "`.")]
        fn $put(&mut self, number: $number) {
            self.put(&number.to_le_bytes());
        }
    )* };
}

/// Appends fields to a buffer; the inverse of [`Cursor`].
pub trait Put {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]);

    put_numbers!(put_u8: u8, put_u16: u16, put_u32: u32, put_u64: u64, put_i64: i64);
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
