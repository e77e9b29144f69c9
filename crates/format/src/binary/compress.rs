//! Compresses byte strings: all together, or groups of them side by side.

use super::Coding;
use super::coder::Coder;
use super::encode::{Compression, Values};
use super::onpair::Packer;

/// Compressed values.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The compressed bytes that the caller has not drained.
    pub bytes: Vec<u8>,
    /// The compression.
    pub coding: Coding<Vec<u8>>,
}

/// An encoder that is trained for the strings of a column. Several threads may compress groups of them, which a
/// [`CodeSection`] joins: the section is the same, whatever the groups.
///
/// ```
/// use docvalues_format::binary::{CodeSection, Compression, Compressor, InMemory};
///
/// let bytes = b"tea and teapots, ".repeat(10_000);
/// let ends: Vec<u64> = (1..=10_000).map(|n| n * 17).collect();
/// let strings = InMemory { bytes: &bytes, ends: &ends };
/// let compressor = Compressor::train(&strings, Compression::OnPair)?.ok_or("too few")?;
/// let groups = bytes.chunks(17 * 2_501).map(|group| compressor.codes(group.chunks(17)));
/// let (mut section, mut joined, mut ends) = (CodeSection::default(), Vec::new(), Vec::new());
/// for group in groups {
///     let start = section.append(&group, &mut joined);
///     ends.extend(group.ends().iter().map(|end| start + end));
/// }
/// assert_eq!(ends, compressor.codes(bytes.chunks(17)).ends());
/// let joined = compressor.finish(section, joined).ok_or("not shorter")?;
/// assert!(joined.bytes.len() < bytes.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compressor {
    coder: Coder,
    total_len: u64,
    compression: Compression,
}

impl Compressor {
    /// Trains an encoder; `None` if compressing the strings does not pay.
    ///
    /// # Errors
    ///
    /// When `strings` cannot be read.
    pub fn train<S: Values>(strings: &S, compression: Compression) -> Result<Option<Compressor>, S::Error> {
        let Some(coder) = Coder::train(strings, compression)? else { return Ok(None) };
        let (sampled, encoded) = coder.sample();
        // If the sample does not compress, the column is not worth a try.
        let pays = compression != Compression::Auto || encoded <= sampled - sampled / 10;
        Ok(pays.then(|| Compressor { coder, total_len: strings.total_len(), compression }))
    }

    /// The codes of consecutive strings.
    pub fn codes<'v>(&self, strings: impl IntoIterator<Item = &'v [u8]>) -> Codes {
        let mut ends = Vec::new();
        let kind = match &self.coder {
            Coder::Fsst(fsst) => {
                let mut bytes = Vec::new();
                for value in strings {
                    fsst.matcher.encode(value, &mut bytes);
                    ends.push(bytes.len() as u64);
                }
                Kind::Bytes(bytes)
            }
            Coder::OnPair(onpair) => {
                let mut codes = Vec::new();
                for value in strings {
                    onpair.matcher.codes(value, |code| codes.push(code));
                    ends.push(codes.len() as u64);
                }
                Kind::Numbers(codes)
            }
        };
        Codes { kind, ends }
    }

    /// Ends a section with all strings, of which the caller has not drained `bytes`. Returns `None` if compression does
    /// not pay.
    pub fn finish(self, section: CodeSection, mut bytes: Vec<u8>) -> Option<Compressed> {
        let Compressor { coder, total_len, compression } = self;
        let CodeSection { packer, mut len } = section;
        let before = bytes.len();
        packer.finish(&mut bytes);
        len += (bytes.len() - before) as u64;
        let limit = match compression {
            // Decoding costs time, so it must save at least a fifth of the bytes.
            Compression::Auto => total_len - total_len / 5,
            _ => total_len,
        };
        let pays = len + coder.overhead() < limit;
        pays.then(|| Compressed { bytes, coding: coder.coding(total_len) })
    }
}

/// The codes of consecutive strings.
#[derive(Clone, Debug)]
pub struct Codes {
    kind: Kind,
    ends: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Kind {
    Bytes(Vec<u8>),
    /// Codes of OnPair, which are packed when they are joined.
    Numbers(Vec<u16>),
}

impl Codes {
    /// The end of each string, from the start of the first one.
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }
}

/// A section of codes, as far as it is written.
#[derive(Debug, Default)]
pub struct CodeSection {
    packer: Packer,
    /// The number of bytes that were appended.
    len: u64,
}

impl CodeSection {
    /// Appends codes to `bytes`, which the caller may drain. Returns where they start, in bytes of the section or, for
    /// OnPair, in codes.
    pub fn append(&mut self, codes: &Codes, bytes: &mut Vec<u8>) -> u64 {
        let (before, len, packed) = (bytes.len(), self.len, self.packer.codes);
        let start = match &codes.kind {
            Kind::Bytes(more) => {
                bytes.extend_from_slice(more);
                len
            }
            Kind::Numbers(codes) => {
                codes.iter().for_each(|code| self.packer.push_code(*code, bytes));
                packed
            }
        };
        self.len += (bytes.len() - before) as u64;
        start
    }
}
