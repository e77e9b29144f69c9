//! Packs ids into fewer bytes by the shape that all ids of a segment share.
//!
//! Most ids are text of one shape: a UUID, hex digits, base64url, a number. A [`Template`] stores the shape once
//! and packs such ids. An id of another shape is known to be absent without reading anything else. Packed ids order
//! as the ids do, byte by byte, and no two ids are packed alike, so an index over packed ids is an index over the
//! ids.
//!
//! | kind | an id | packed |
//! | --- | --- | --- |
//! | raw | any bytes | the same |
//! | UUID | 36 bytes: lower-case hex with `-` at 8, 13, 18, 23 | its 16 bytes |
//! | digits | `len` of `0-9` | their number, big-endian, in the fewest bytes that hold `len` nines |
//! | hex, lower or upper | `len` hex digits | four bits each |
//! | base64url | `len` of `-0-9A-Z_a-z` | six bits each: the position of the byte *in that order*, which is that of ASCII |
//!
//! Bits are packed from the highest down, and padded with zeros to whole bytes. Unless ids are raw, a *prefix* and
//! a *suffix* around the characters are the same in all ids, and all ids have the same length. (A suffix after a
//! variable number of characters would change the order: `a!` < `a"!`, but without the `!` the order of `a` and
//! `a"` would decide.)
//!
//! # Encoding
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `kind` | 0 raw, 1 UUID, 2 digits, 3 hex lower, 4 hex upper, 5 base64url |
//! | 1 | 1 | `len` | characters: 0 if raw, 36 of a UUID, at most 38 digits, at least 1 otherwise |
//! | 2 | 1 | `prefix_len` | 0 if raw |
//! | 3 | 1 | `suffix_len` | 0 if raw |
//! | 4 | … | `prefix` | |
//! | … | … | `suffix` | |
//!
//! # Drawing
//!
//! ```text
//! id        doc-0000000258                           14 bytes
//! template  02 0a 04 00  doc-                        digits, 10 characters, prefix of 4 bytes, no suffix
//! packed    00 00 00 01 02                            5 bytes: 258, big-endian
//!
//! id        123e4567-e89b-12d3-a456-426614174000     36 bytes
//! template  01 24 00 00                              UUID, 36 characters
//! packed    12 3e 45 67 e8 9b 12 d3 a4 56 42 66 14 17 40 00
//! ```

use docvalues_format::cursor::{Cursor, Put};
use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::named;

mod bound;
mod detect;
mod kernels;
#[cfg(test)]
mod tests;

pub use detect::detect;

/// The most characters of a template: an id with more is not packed.
const MAX_CHARS: usize = u8::MAX as usize;

/// The most digits: their number fits 128 bits.
const MAX_DIGITS: usize = 38;

/// Characters of a UUID as text.
const UUID_CHARS: usize = 36;

named! {
    /// The character set of the packed part of an id. The discriminants are the tags on disk.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Kind {
        /// Any bytes; ids are not packed.
        Raw = 0 => "raw",
        /// A UUID in lower case.
        Uuid = 1 => "UUID",
        /// Decimal digits.
        Digits = 2 => "digits",
        /// Hex digits in lower case.
        HexLower = 3 => "hex",
        /// Hex digits in upper case.
        HexUpper = 4 => "upper-case hex",
        /// The alphabet of base64url, without padding.
        Base64Url = 5 => "base64url",
    }
}

impl Kind {
    /// The allowed characters, in ascending order; for a UUID, those between the dashes.
    const fn alphabet(self) -> &'static [u8] {
        match self {
            Kind::Raw => b"",
            Kind::Digits => b"0123456789",
            Kind::Uuid | Kind::HexLower => b"0123456789abcdef",
            Kind::HexUpper => b"0123456789ABCDEF",
            Kind::Base64Url => b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
        }
    }

    /// Bytes of `len` packed characters.
    fn packed_len(self, len: usize) -> usize {
        match self {
            Kind::Raw => len,
            Kind::Uuid => 16,
            Kind::Digits => kernels::digits_len(len),
            Kind::HexLower | Kind::HexUpper => len.div_ceil(2),
            Kind::Base64Url => (len * 6).div_ceil(8),
        }
    }
}

/// A reusable buffer for a packed id, not on the heap.
#[derive(Clone, Debug)]
pub struct Packed([u8; MAX_CHARS + 1]);

impl Default for Packed {
    fn default() -> Packed {
        Packed([0; MAX_CHARS + 1])
    }
}

/// The shape shared by all ids of a segment: a prefix, a fixed number of characters of one [`Kind`], and a suffix.
///
/// ```
/// use docvalues_terms::packing::{Kind, Packed, Template};
///
/// let template = Template::new(Kind::Digits, 10, b"doc-", b"").expect("lengths of a number");
/// let mut packed = Packed::default();
/// assert_eq!(template.pack(b"doc-0000000258", &mut packed), Some(&[0, 0, 0, 1, 2][..]));
/// assert_eq!(template.pack(b"dog-0000000258", &mut packed), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    kind: Kind,
    len: u8,
    prefix: Box<[u8]>,
    suffix: Box<[u8]>,
}

impl Template {
    /// The template that every id fits. It packs nothing.
    pub fn raw() -> Template {
        Template { kind: Kind::Raw, len: 0, prefix: [].into(), suffix: [].into() }
    }

    /// A template of `len` characters of `kind` between `prefix` and `suffix`; `None` if the kind does not allow
    /// these lengths.
    pub fn new(kind: Kind, len: usize, prefix: &[u8], suffix: &[u8]) -> Option<Template> {
        let lens = match kind {
            Kind::Raw => 0..=0,
            Kind::Uuid => UUID_CHARS..=UUID_CHARS,
            Kind::Digits => 1..=MAX_DIGITS,
            Kind::HexLower | Kind::HexUpper | Kind::Base64Url => 1..=MAX_CHARS,
        };
        let bare = prefix.is_empty() && suffix.is_empty();
        let fits = prefix.len() <= MAX_CHARS && suffix.len() <= MAX_CHARS && lens.contains(&len);
        if !fits || kind == Kind::Raw && !bare {
            return None;
        }
        Some(Template { kind, len: u8::try_from(len).ok()?, prefix: prefix.into(), suffix: suffix.into() })
    }

    /// The kind of the characters.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether ids are stored unpacked.
    #[inline]
    pub fn is_raw(&self) -> bool {
        self.kind == Kind::Raw
    }

    /// Bytes of every packed id; `None` if raw.
    pub fn packed_len(&self) -> Option<usize> {
        (!self.is_raw()).then(|| self.kind.packed_len(self.len.into()))
    }

    /// Bytes of every id; `None` if raw.
    pub fn id_len(&self) -> Option<usize> {
        (!self.is_raw()).then(|| self.prefix.len() + usize::from(self.len) + self.suffix.len())
    }

    /// Packs `id`; `None` if it does not fit the template, so that no segment with this template has it.
    ///
    /// O(length), some nanoseconds for a UUID; a raw id is not copied.
    #[inline]
    pub fn pack<'a>(&self, id: &'a [u8], packed: &'a mut Packed) -> Option<&'a [u8]> {
        if self.is_raw() {
            return Some(id);
        }
        let chars = self.chars(id)?;
        let out = &mut packed.0;
        match self.kind {
            Kind::Raw => return Some(id),
            Kind::Uuid => kernels::uuid(chars.first_chunk()?, out.first_chunk_mut()?)?,
            Kind::Digits => kernels::digits(chars, out)?,
            Kind::HexLower => kernels::hex::<0x27>(chars, out)?,
            Kind::HexUpper => kernels::hex::<0x07>(chars, out)?,
            Kind::Base64Url => kernels::base64(chars, out)?,
        }
        packed.0.get(..self.kind.packed_len(chars.len()))
    }

    /// The characters between prefix and suffix, if the id has these and the right length.
    #[inline]
    fn chars<'a>(&self, id: &'a [u8]) -> Option<&'a [u8]> {
        let chars = match self.prefix.is_empty() && self.suffix.is_empty() {
            true => id,
            false => id.strip_prefix(&*self.prefix)?.strip_suffix(&*self.suffix)?,
        };
        (chars.len() == usize::from(self.len)).then_some(chars)
    }

    /// Replaces `id` by the id of `packed`; `None` if no id is packed to that. O(length).
    pub fn unpack(&self, packed: &[u8], id: &mut Vec<u8>) -> Option<()> {
        id.clear();
        if self.is_raw() {
            id.extend_from_slice(packed);
            return Some(());
        }
        let len = usize::from(self.len);
        if packed.len() != self.kind.packed_len(len) {
            return None;
        }
        id.extend_from_slice(&self.prefix);
        match self.kind {
            Kind::Raw => {}
            Kind::Uuid => kernels::uuid_chars(packed, id),
            Kind::Digits => kernels::digit_chars(packed, len, id)?,
            Kind::HexLower | Kind::HexUpper => kernels::bit_chars(packed, 4, len, self.kind.alphabet(), id)?,
            Kind::Base64Url => kernels::bit_chars(packed, 6, len, self.kind.alphabet(), id)?,
        }
        id.extend_from_slice(&self.suffix);
        Some(())
    }

    /// Appends the template's fields.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.kind as u8);
        out.put_u8(self.len);
        // `new` made sure that neither is longer.
        out.put_u8(u8::try_from(self.prefix.len()).unwrap_or(u8::MAX));
        out.put_u8(u8::try_from(self.suffix.len()).unwrap_or(u8::MAX));
        out.put(&self.prefix);
        out.put(&self.suffix);
    }

    /// Reads a template that [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    ///
    /// When a field is invalid, or bytes are missing.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Template> {
        let kind = cursor.tag("kind of ids", &Kind::ALL)?;
        let (len, prefix, suffix) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        let prefix = cursor.take(prefix.into())?;
        let suffix = cursor.take(suffix.into())?;
        let broken = ErrorKind::Broken("the kind of the id template does not allow its lengths");
        Template::new(kind, len.into(), prefix, suffix).ok_or_else(|| cursor.refuse(broken))
    }
}

impl std::fmt::Display for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (prefix, suffix) = (self.prefix.escape_ascii(), self.suffix.escape_ascii());
        match self.kind {
            Kind::Raw => f.write_str(self.kind.name()),
            kind => write!(f, "{prefix}<{} of {}>{suffix}", kind.name(), self.len),
        }
    }
}
