//! The file in a zip archive that has a single one.
//!
//! The crate `zip` reads the directory of the archive; the file is unpacked as it is read, so no size that the archive
//! claims is allocated.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::counting_reader::Counted;
use crate::input::error::{InputError, Result, quoted_list};

/// The most names that an error lists.
const SHOWN: usize = 3;

/// Opens the file in an archive; `read` counts the bytes of the archive. Returns its name, too.
pub(super) fn open_member(
    archive: File,
    name: &Arc<str>,
    read: &Arc<AtomicU64>,
) -> Result<(String, Box<dyn Read>)> {
    let unreadable = |error: zip::result::ZipError| InputError::unreadable(name, io::Error::other(error));
    let mut archive = ZipArchive::new(BufReader::new(archive)).map_err(unreadable)?;
    let (index, member) = only_file(&archive, name)?;
    let entry = archive.by_index_raw(index).map_err(unreadable)?;
    let (len, checksum, method) = (entry.compressed_size(), entry.crc32(), entry.compression());
    let (start, is_encrypted) = (entry.data_start().unwrap_or_default(), entry.encrypted());
    drop(entry);
    let is_known = matches!(method, CompressionMethod::STORE | CompressionMethod::DEFLATE);
    if is_encrypted || !is_known {
        let how = if is_encrypted { "encrypted" } else { "compressed in a way that dv cannot read" };
        return Err(InputError::refused(
            format!("{name}: the file {member:?} in it is {how}"),
            "unpack it first",
        ));
    }
    let mut file = archive.into_inner().into_inner();
    file.seek(SeekFrom::Start(start)).map_err(|error| InputError::unreadable(name, error))?;
    let packed = BufReader::new(Counted { reader: file.take(len), read: read.clone() });
    let reader: Box<dyn Read> = match method {
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed)),
        _ => Box::new(packed),
    };
    Ok((member, Box::new(Checked { reader, crc: Crc::new(), checksum })))
}

/// The index and the name of the only file, apart from folders and the files that macOS adds.
fn only_file(archive: &ZipArchive<BufReader<File>>, name: &Arc<str>) -> Result<(usize, String)> {
    let names = archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned());
    let is_file = |(_, name): &(usize, String)| !name.ends_with('/') && !name.starts_with("__MACOSX/");
    let mut files: Vec<(usize, String)> = names.enumerate().filter(is_file).collect();
    if files.len() == 1
        && let Some(only) = files.pop()
    {
        return Ok(only);
    }
    let shown = quoted_list(files.iter().take(SHOWN).map(|(_, name)| name.as_str()));
    let found = match files.len() {
        0 => "none".to_owned(),
        count @ ..=SHOWN => format!("{count}: {shown}"),
        count => format!("{count}: {shown}, …"),
    };
    let hint = match files.iter().any(|(_, name)| name == "xl/workbook.xml") {
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
