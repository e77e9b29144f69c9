//! Opening an input: its location, compression and format.

mod counting_reader;
mod encoding;
mod live;
mod zip_member;
mod zstd;

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use flate2::bufread::MultiGzDecoder;

use self::counting_reader::{Counted, Peeked, peek};
use self::encoding::Decoded;
pub(crate) use self::encoding::Encoding;
use self::live::LiveReader;
use self::zip_member::open_member;
use self::zstd::Zstd;
use super::error::{InputError, Result, file_name};
use crate::api::MAGIC;
use crate::process::end_signal::EndSignal;
use crate::text::quoting::shell_word;

/// The magic bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The magic bytes of an Arrow IPC file, and the first bytes of a stream.
const ARROW: [&[u8]; 2] = [b"ARROW1", &[0xff; 4]];

const BUFFER: usize = 256 * 1024;

/// Bytes of the text by which formats are recognized.
const PEEK: usize = 4096;

/// A format of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Comma-separated values (RFC 4180).
    Csv,
    /// Tab-separated values.
    #[value(alias = "tab")]
    Tsv,
    /// JSON: one object a line, an array of objects, or objects one after the other.
    #[value(aliases = ["jsonl", "json"])]
    Ndjson,
    /// Parquet (if dv was built with the feature `parquet`).
    #[value(alias = "pq")]
    Parquet,
    /// Arrow IPC, file or stream format (if dv was built with the feature `parquet`).
    #[value(aliases = ["arrows", "feather", "ipc"])]
    Arrow,
}

impl InputFormat {
    /// Whether the format is text.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, InputFormat::Parquet | InputFormat::Arrow)
    }

    /// The format with these magic bytes.
    fn of_magic(head: &[u8]) -> Option<InputFormat> {
        let arrow = || ARROW.iter().any(|magic| head.starts_with(magic)).then_some(InputFormat::Arrow);
        if head.starts_with(PARQUET) { Some(InputFormat::Parquet) } else { arrow() }
    }
}

/// An input to open.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    path: PathBuf,
    /// The name in messages.
    pub(crate) name: Arc<str>,
    /// Bytes read since the input was last opened, before and after decompression.
    read: Arc<AtomicU64>,
    text: Arc<AtomicU64>,
}

/// An opened and decompressed input. Text has no byte order mark.
pub(crate) struct Opened {
    pub(crate) reader: Box<dyn BufRead>,
    pub(crate) format: InputFormat,
    /// The first bytes.
    pub(crate) head: Vec<u8>,
    /// Whether the whole input is compressed.
    pub(crate) packed: bool,
    /// Set it to make pauses errors, see [`InputError::is_pause`]. Only an input that is opened until a signal has them.
    pub(crate) reports_pauses: Rc<Cell<bool>>,
}

impl Source {
    pub(crate) fn new(path: &Path) -> Source {
        Source { path: path.to_owned(), name: file_name(path), read: Arc::default(), text: Arc::default() }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Whether the input can be opened again. Standard input and pipes cannot.
    pub(crate) fn is_replayable(&self) -> bool {
        !self.is_stdin() && self.size().is_some()
    }

    /// The size of the file on disk; `None` for pipes.
    pub(crate) fn size(&self) -> Option<u64> {
        std::fs::metadata(&self.path).ok().filter(|meta| meta.is_file()).map(|meta| meta.len())
    }

    /// Opens the input; `format` and `encoding` are the user's choice. A pipe ends at a signal, if that is given.
    ///
    /// # Errors
    ///
    /// If the input cannot be opened, or its compression or format is unknown.
    pub(crate) fn open(
        &self,
        format: Option<InputFormat>,
        encoding: Encoding,
        end: Option<&EndSignal>,
    ) -> Result<Opened> {
        let raw: Box<dyn Read + Send> = if self.is_stdin() {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(&self.path).map_err(|e| InputError::unreadable(&self.name, e))?)
        };
        let reports_pauses = Rc::default();
        let raw: Box<dyn Read> = match end {
            Some(end) if !self.is_replayable() => {
                Box::new(LiveReader::new(raw, end.clone(), Rc::clone(&reports_pauses)))
            }
            _ => raw,
        };
        self.read.store(0, Ordering::Relaxed);
        self.text.store(0, Ordering::Relaxed);
        let raw = Box::new(Counted { reader: raw, read: self.read.clone() });
        let opened = self.open_bytes(raw, format, encoding)?;
        Ok(Opened { reports_pauses, ..opened })
    }

    /// Bytes read since the input was last opened, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Bytes read since the input was last opened, after decompression.
    pub(crate) fn text_read(&self) -> u64 {
        self.text.load(Ordering::Relaxed)
    }

    /// Opens an input whose bytes come from `raw`.
    pub(crate) fn open_bytes(
        &self,
        raw: Box<dyn Read>,
        format: Option<InputFormat>,
        encoding: Encoding,
    ) -> Result<Opened> {
        let unreadable = |e| InputError::unreadable(&self.name, e);
        let (head, raw) = peek(BufReader::with_capacity(BUFFER, raw), 6, true).map_err(unreadable)?;
        let packing = match FileCompression::of(&head) {
            // Brotli has no first bytes of its own.
            FileCompression::Plain if self.path.extension().is_some_and(|extension| extension == "br") => {
                FileCompression::Unknown("brotli")
            }
            packing => packing,
        };
        let packed = !matches!(packing, FileCompression::Plain);
        let mut member = None;
        let plain: Box<dyn BufRead> = match packing {
            FileCompression::Plain => Box::new(raw),
            FileCompression::Zip if self.is_replayable() => {
                self.read.store(0, Ordering::Relaxed);
                let file = File::open(&self.path).map_err(unreadable)?;
                let (name, reader) = open_member(file, &self.name, &self.read)?;
                member = Some(name);
                Box::new(BufReader::with_capacity(BUFFER, reader))
            }
            FileCompression::Zip => {
                return Err(InputError::refused(
                    format!("{}: a zip archive, which dv cannot read from a pipe", self.name),
                    "unpack it first: unzip -p FILE.zip | dv build - …",
                ));
            }
            FileCompression::Gzip => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw))),
            FileCompression::Zstd => Box::new(BufReader::with_capacity(BUFFER, Zstd::new(raw))),
            FileCompression::Unknown(program) => {
                let path = self.path.to_string_lossy();
                return Err(InputError::refused(
                    format!("{}: compressed with {program}, which dv cannot read", self.name),
                    format!("decompress it first: {program} -dc {} | dv build - …", shell_word(&path)),
                ));
            }
        };
        let (head, reader) = peek(plain, PEEK, !self.is_replayable()).map_err(unreadable)?;
        let known = format
            .or_else(|| InputFormat::of_magic(&head))
            .or_else(|| self.format_by_name(member.as_deref()));
        let (head, reader, format) = match known.filter(|format| !format.is_text()) {
            Some(format) => (head, reader, format),
            None => {
                let (head, reader) = self.utf8(head, reader, encoding)?;
                let format = known.map_or_else(|| self.sniff(&head), Ok)?;
                (head, reader, format)
            }
        };
        let reader = Box::new(Counted { reader, read: self.text.clone() });
        Ok(Opened { reader, format, head, packed, reports_pauses: Rc::default() })
    }

    /// The input as a file, for formats with a footer, which need to seek.
    #[cfg(feature = "parquet")]
    pub(crate) fn seekable(&self, packed: bool) -> Result<File> {
        let refuse = |what: &str, hint: String| {
            InputError::refused(format!("{}: this format cannot be read from {what}", self.name), hint)
        };
        if packed {
            return Err(refuse("a compressed file", "decompress it first".to_owned()));
        }
        if !self.is_replayable() {
            let hint = "write it to a file first, or use the Arrow stream format".to_owned();
            return Err(refuse("a pipe", hint));
        }
        File::open(&self.path).map_err(|e| InputError::unreadable(&self.name, e))
    }

    /// Reports progress in a file that is not read front to back.
    #[cfg(feature = "parquet")]
    pub(crate) fn reached(&self, part: u64, whole: u64) {
        let share = u128::from(self.size().unwrap_or(0)) * u128::from(part) / u128::from(whole.max(1));
        let bytes = u64::try_from(share).unwrap_or(u64::MAX);
        self.read.store(bytes, Ordering::Relaxed);
        self.text.store(bytes, Ordering::Relaxed);
    }

    /// The text as UTF-8 without a byte order mark. A mark wins over the encoding that the user chose.
    fn utf8(&self, head: Vec<u8>, mut reader: Peeked, encoding: Encoding) -> Result<(Vec<u8>, Peeked)> {
        if let Some(rest) = head.strip_prefix(b"\xef\xbb\xbf") {
            reader.consume(3);
            return Ok((rest.to_vec(), reader));
        }
        let Some(decoder) = encoding.decoder(&head) else { return Ok((head, reader)) };
        let decoded = peek(Decoded::new(reader, decoder), PEEK, !self.is_replayable());
        decoded.map_err(|e| InputError::unreadable(&self.name, e))
    }

    /// The format by the extension, without that of a compression, or by that of the file in an archive.
    fn format_by_name(&self, member: Option<&str>) -> Option<InputFormat> {
        let name = member.map_or_else(|| self.path.to_string_lossy(), Cow::Borrowed).to_ascii_lowercase();
        let name = [".gz", ".zst", ".zstd"].iter().find_map(|e| name.strip_suffix(e)).unwrap_or(&name);
        InputFormat::from_str(name.rsplit_once('.')?.1, false).ok()
    }

    /// The format by the first line: a JSON object is NDJSON, a line with a comma CSV, a line with tabs and no comma
    /// TSV.
    fn sniff(&self, head: &[u8]) -> Result<InputFormat> {
        let line = head.split(|b| *b == b'\n').next().unwrap_or(head);
        match head.trim_ascii_start().first() {
            Some(b'{' | b'[') => Ok(InputFormat::Ndjson),
            _ if head.starts_with(&MAGIC) => {
                let mut hint = "`dv merge` copies segments".to_owned();
                if !self.is_stdin() {
                    let path = self.path.to_string_lossy();
                    let file = shell_word(&path);
                    hint +=
                        &format!(", and `dv export {file} | dv put STORE -` puts its documents into a store");
                }
                Err(InputError::refused(format!("{}: expected text, found a segment", self.name), hint))
            }
            _ if line.contains(&b',') => Ok(InputFormat::Csv),
            _ if line.contains(&b'\t') => Ok(InputFormat::Tsv),
            _ => Err(InputError::refused(
                format!("{}: unknown format: neither the name nor the first line gives it", self.name),
                "set it with --input-format, such as csv, tsv or ndjson",
            )),
        }
    }
}

/// The compression of a file, by its first bytes.
enum FileCompression {
    Plain,
    Gzip,
    Zstd,
    Zip,
    /// That of a program, which also unpacks it.
    Unknown(&'static str),
}

impl FileCompression {
    fn of(head: &[u8]) -> FileCompression {
        match head {
            [0x1f, 0x8b, ..] => FileCompression::Gzip,
            // The second is a skippable frame, with which a zstd file may begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => FileCompression::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => FileCompression::Unknown("bzip2"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => FileCompression::Unknown("xz"),
            [0x04, 0x22, 0x4d, 0x18, ..] => FileCompression::Unknown("lz4"),
            // The second is an archive without files.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => FileCompression::Zip,
            _ => FileCompression::Plain,
        }
    }
}

#[cfg(test)]
#[path = "source/tests.rs"]
mod tests;
