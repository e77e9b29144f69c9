//! The file in a zip archive that has a single one.
//!
//! The crate `rawzip` reads the directory of the archive; the file is unpacked as it is read, so no size that the archive
//! claims is allocated.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, ErrorKind, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, RangeReader, ZipArchive,
    ZipArchiveEntryWayfinder,
};

use super::counting_reader::Counted;
use crate::import::error::{InputError, Result};
use crate::text::words::quoted_list;

/// The most names that an error lists.
const SHOWN: usize = 3;

/// A file in an archive.
struct Member {
    name: String,
    is_encrypted: bool,
    method: CompressionMethod,
    checksum: u32,
    place: ZipArchiveEntryWayfinder,
}

/// Opens the file in an archive; `read` counts the bytes of the archive. Returns its name, too.
pub(super) fn open_member(
    archive: File,
    name: &Arc<str>,
    read: &Arc<AtomicU64>,
) -> Result<(String, Box<dyn Read>)> {
    let unreadable = |error: rawzip::Error| {
        InputError::unreadable(name, io::Error::other(format!("invalid Zip archive: {error}")))
    };
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archive = ZipArchive::from_file(archive, &mut buffer).map_err(unreadable)?;
    let member = only_file(files(&archive, &mut buffer).map_err(unreadable)?, name)?;
    let (start, end) = archive.get_entry(member.place).map_err(unreadable)?.compressed_data_range();
    let is_known = matches!(member.method, CompressionMethod::STORE | CompressionMethod::DEFLATE);
    if member.is_encrypted || !is_known {
        let how = if member.is_encrypted { "encrypted" } else { "compressed in a way that dv cannot read" };
        return Err(InputError::refused(
            format!("{name}: the file {:?} in it is {how}", member.name),
            "unpack it first",
        ));
    }
    let packed = RangeReader::new(archive.into_inner(), start..end);
    let packed = BufReader::new(Counted { reader: packed, read: read.clone() });
    let reader: Box<dyn Read> = match member.method {
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed)),
        _ => Box::new(packed),
    };
    Ok((member.name, Box::new(Checked { reader, crc: Crc::new(), checksum: member.checksum })))
}

/// The files, apart from folders and the files that macOS adds.
fn files(archive: &ZipArchive<FileReader>, buffer: &mut [u8]) -> Result<Vec<Member>, rawzip::Error> {
    let (mut files, mut count) = (Vec::new(), 0);
    let mut entries = archive.entries(buffer);
    while let Some(entry) = entries.next_entry()? {
        count += 1;
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if name.ends_with('/') || name.starts_with("__MACOSX/") {
            continue;
        }
        files.push(Member {
            name,
            is_encrypted: entry.flags().is_encrypted(),
            method: entry.compression_method(),
            checksum: entry.crc32(),
            place: entry.wayfinder(),
        });
    }
    if count < archive.entries_hint() { Err(ErrorKind::Eof.into()) } else { Ok(files) }
}

/// The only file.
fn only_file(mut files: Vec<Member>, name: &Arc<str>) -> Result<Member> {
    if files.len() == 1
        && let Some(only) = files.pop()
    {
        return Ok(only);
    }
    let shown = quoted_list(files.iter().take(SHOWN).map(|file| file.name.as_str()));
    let found = match files.len() {
        0 => "none".to_owned(),
        count @ ..=SHOWN => format!("{count}: {shown}"),
        count => format!("{count}: {shown}, …"),
    };
    let hint = match files.iter().any(|file| file.name == "xl/workbook.xml") {
        true => "save the sheet of the workbook as CSV".to_owned(),
        false => format!("unpack it first: unzip {name}"),
    };
    Err(InputError::refused(format!("{name}: expected a zip archive with one file, found {found}"), hint))
}

/// A reader that compares the checksum of all bytes at their end.
struct Checked {
    reader: Box<dyn Read>,
    crc: Crc,
    checksum: u32,
}

impl Read for Checked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        self.crc.update(out.get(..read).unwrap_or_default());
        if read == 0 && !out.is_empty() && self.crc.sum() != self.checksum {
            let damaged = "the checksum of the file in the archive is wrong";
            return Err(io::Error::new(io::ErrorKind::InvalidData, damaged));
        }
        Ok(read)
    }
}
