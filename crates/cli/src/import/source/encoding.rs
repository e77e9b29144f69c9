//! Text in another encoding than UTF-8, decoded as it is read.

use std::io::{self, BufRead, Read};

use clap::ValueEnum;
use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The size of the decoded text in memory.
const BUFFER: usize = 64 * 1024;

/// The encoding of a text without a byte order mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoding {
    /// Unicode, one to four bytes a character
    #[default]
    #[value(name = "utf-8", alias = "utf8")]
    Utf8,
    /// ISO 8859-1; read as windows-1252, which differs only in control characters
    #[value(name = "latin-1", aliases = ["latin1", "iso-8859-1"])]
    Latin1,
    /// Western European on Windows, such as files of Excel
    #[value(name = "windows-1252", alias = "cp1252")]
    Windows1252,
    /// Unicode, two or four bytes a character; little-endian, unless a byte order mark says otherwise
    #[value(name = "utf-16", alias = "utf16")]
    Utf16,
}

impl Encoding {
    /// The decoder of a text with these first bytes; `None` for UTF-8. A byte order mark wins.
    pub(super) fn decoder(self, head: &[u8]) -> Option<Decoder> {
        let encoding = match (head, self) {
            ([0xff, 0xfe, ..], _) => UTF_16LE,
            ([0xfe, 0xff, ..], _) => UTF_16BE,
            (_, Encoding::Utf8) => return None,
            (_, Encoding::Latin1 | Encoding::Windows1252) => WINDOWS_1252,
            (_, Encoding::Utf16) => UTF_16LE,
        };
        Some(encoding.new_decoder_with_bom_removal())
    }
}

/// The text of a reader as UTF-8.
pub(super) struct Decoded<R> {
    reader: R,
    decoder: Decoder,
    text: Box<[u8]>,
    /// The range of `text` that is not read yet.
    start: usize,
    end: usize,
    is_at_end: bool,
}

impl<R: BufRead> Decoded<R> {
    pub(super) fn new(reader: R, decoder: Decoder) -> Decoded<R> {
        let text = vec![0; BUFFER].into();
        Decoded { reader, decoder, text, start: 0, end: 0, is_at_end: false }
    }

    fn decode(&mut self) -> io::Result<()> {
        let bytes = self.reader.fill_buf()?;
        let is_last = bytes.is_empty();
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
        self.reader.consume(read);
        (self.start, self.end) = (0, written);
        match result {
            DecoderResult::InputEmpty => self.is_at_end = is_last,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                let name = self.decoder.encoding().name();
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("the text is not {name}")));
            }
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end && !self.is_at_end {
            self.decode()?;
        }
        Ok(self.text.get(self.start..self.end).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.start = (self.start + amount).min(self.end);
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoding: Encoding, bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        let decoder = encoding.decoder(bytes).expect("an encoding other than UTF-8");
        // Characters are cut between the bytes that come at a time.
        let reader = io::BufReader::with_capacity(3, bytes);
        Decoded::new(reader, decoder).read_to_string(&mut text).map(|_| text)
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn texts_are_decoded_in_pieces() {
        let long = "Zürich, 5 €, 𝄞\r\n".repeat(10_000);
        assert_eq!(decode(Encoding::Utf16, &utf16(&long, u16::to_le_bytes)).unwrap(), long);
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked = format!("\u{feff}{long}");
            assert_eq!(decode(Encoding::Utf8, &utf16(&marked, bytes)).unwrap(), long);
        }
        for encoding in [Encoding::Latin1, Encoding::Windows1252] {
            assert_eq!(decode(encoding, b"Z\xfcrich, 5 \x80").unwrap(), "Zürich, 5 €");
        }
        assert_eq!(decode(Encoding::Latin1, b"").unwrap(), "");
    }

    #[test]
    fn half_characters_are_errors() {
        for bytes in [&b"a\0b"[..], b"\x00\xd8a\0", b"a\0\x00\xdc"] {
            assert_eq!(decode(Encoding::Utf16, bytes).unwrap_err().to_string(), "the text is not UTF-16LE");
        }
    }
}
