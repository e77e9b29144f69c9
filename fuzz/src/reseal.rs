//! A hostile writer: recomputes every checksum of a file, and its id.

use std::ops::Range;

use docvalues::terms::ids::{IDS_TAG, Ids};
use docvalues_format::cursor::Cursor;
use docvalues_format::error::Place;
use docvalues_format::error::Section as Role;
use docvalues_format::file::column::Column;
use docvalues_format::file::directory::content_id;
use docvalues_format::file::frame::{FOOTER_LEN, HEADER_LEN};
use docvalues_format::granule::{CRC_LEN, GRANULE, Layout, SectionRef};
use docvalues_format::numeric::{FINE_ZONES_TAG, FineZones};

/// Bytes of the entry of a page in the directory root.
const ROOT_ENTRY: usize = docvalues_format::file::root::ROOT_ENTRY_LEN;

/// Bytes of the entry of a column in the extension of fine zones.
const FINE_ZONES_ENTRY: usize = size_of::<u32>() + SectionRef::ENCODED_LEN;

/// Recomputes the checksums of `file`, from the sections up to the footer, and its id. Skips references that point out
/// of the file.
pub fn reseal(file: &mut [u8]) {
    // A range outside of the file is skipped.
    let _ = try_reseal(file);
}

fn try_reseal(file: &mut [u8]) -> Option<()> {
    let footer = file.len().checked_sub(FOOTER_LEN)?;
    let root_at = usize::try_from(u64_at(file, footer)?).ok()?;
    let root_len = u32_at(file, footer + 8)? as usize;
    let docs = u32_at(file, footer + 16)?;
    let root_end = root_at.checked_add(root_len).filter(|&end| end <= footer)?;
    let (mut sections_start, columns) = (HEADER_LEN as u64, u32_at(file, footer + 20)?);
    let (mut pages, mut extensions) = (Vec::new(), root_at);
    for entry in (root_at..root_end.saturating_sub(ROOT_ENTRY - 1)).step_by(ROOT_ENTRY) {
        let page_at = usize::try_from(u64_at(file, entry)?).ok()?;
        let page_len = u32_at(file, entry + 8)? as usize;
        let page = page_at..page_at.checked_add(page_len)?;
        if file.get(page.clone()).is_some() {
            reseal_page(file, page.clone(), docs, sections_start);
            let crc = crc32(file, page.clone())?;
            put_u32(file, entry + 12, crc)?;
            pages.push(page);
        }
        extensions = entry + ROOT_ENTRY;
        sections_start = u64_at(file, entry + 16)?;
        if u32_at(file, entry + 24)? >= columns {
            // Extensions follow.
            break;
        }
    }
    reseal_extensions(file, extensions..root_end);
    let crc = crc32(file, root_at..root_end)?;
    put_u32(file, footer + 12, crc)?;
    let id = content_id(docs, pages.iter().map(|page| &file[page.clone()]), file.get(extensions..root_end)?);
    file[footer + 24..footer + 40].copy_from_slice(&id.to_le_bytes());
    let crc = crc32(file, footer..footer + 48)?;
    put_u32(file, footer + 48, crc)?;
    let crc = crc32(file, 0..HEADER_LEN - 4)?;
    put_u32(file, HEADER_LEN - 4, crc)
}

fn reseal_page(file: &mut [u8], page: Range<usize>, docs: u32, mut start: u64) -> Option<()> {
    let count = u32_at(file, page.start)? as usize;
    for i in 0..count {
        let offsets = page.start.checked_add(4 + 4 * i)?;
        let [from, to] = [u32_at(file, offsets)? as usize, u32_at(file, offsets + 4)? as usize];
        let entry = page.start.checked_add(from)?..page.start.checked_add(to)?;
        let bytes = file.get(entry.clone()).filter(|_| entry.end <= page.end)?;
        let sections_end = u64_at(bytes, 0)?;
        let place = Place { section: Role::DirectoryPage, offset: 0 };
        if let Ok(column) = Column::decode(&mut Cursor::new(place, bytes), docs, start) {
            let Ok(column) = column.try_map(&mut |_, at: SectionRef| {
                let crc = reseal_section(file, at).unwrap_or(at.crc);
                Ok::<SectionRef, std::convert::Infallible>(SectionRef { crc, ..at })
            });
            let mut encoded = Vec::new();
            column.encode(sections_end, &mut encoded);
            file.get_mut(entry)?.copy_from_slice(encoded.get(..to - from)?);
        }
        start = sections_end;
    }
    Some(())
}

/// The sections of the id index and of fine zones. Other extensions have none.
fn reseal_extensions(file: &mut [u8], mut extensions: Range<usize>) -> Option<()> {
    while !extensions.is_empty() {
        let (tag, len) = (u32_at(file, extensions.start + 8)?, u32_at(file, extensions.start + 12)? as usize);
        let start = extensions.start + 16;
        let body = start..start.checked_add(len).filter(|&end| end <= extensions.end)?;
        let place = Place { section: Role::DirectoryRoot, offset: 0 };
        let bytes = file.get(body.clone()).filter(|_| tag == IDS_TAG).map(<[u8]>::to_vec);
        if let Some(Ok((field, ids))) =
            bytes.as_ref().map(|bytes| Ids::decode_meta(&mut Cursor::new(place, bytes)))
        {
            let Ok(ids) = ids.try_map(&mut |_, at: SectionRef| {
                let crc = reseal_section(file, at).unwrap_or(at.crc);
                Ok::<SectionRef, std::convert::Infallible>(SectionRef { crc, ..at })
            });
            let mut encoded = Vec::new();
            ids.encode_meta(field, &mut encoded);
            // Bytes after the last field stay.
            file.get_mut(body.clone())?.get_mut(..encoded.len())?.copy_from_slice(&encoded);
        }
        if tag == FINE_ZONES_TAG {
            let bytes = file.get(body.clone())?.to_vec();
            for (at, entry) in
                (body.start..).step_by(FINE_ZONES_ENTRY).zip(bytes.chunks_exact(FINE_ZONES_ENTRY))
            {
                let mut cursor = Cursor::new(place, entry);
                let (column, section) = (cursor.u32().ok()?, SectionRef::decode(&mut cursor).ok()?);
                let section =
                    SectionRef { crc: reseal_section(file, section).unwrap_or(section.crc), ..section };
                let encoded = FineZones::encode_all(&[FineZones { column, section }]);
                file.get_mut(at..at + FINE_ZONES_ENTRY)?.copy_from_slice(&encoded);
            }
        }
        extensions.start = body.end.checked_next_multiple_of(8)?;
    }
    Some(())
}

/// Recomputes the checksums of a section, and returns the one for the directory.
fn reseal_section(file: &mut [u8], at: SectionRef) -> Option<u32> {
    let (start, end) = (usize::try_from(at.offset).ok()?, usize::try_from(at.end()?).ok()?);
    let (layout, bytes) = (Layout::of(at.len)?, file.get_mut(start..end)?);
    for pair in layout.levels().windows(2) {
        // The extent is the length of a slice, so every offset below it fits a `usize`.
        let (from, to) = (usize::try_from(pair[0].at).ok()?, usize::try_from(pair[1].at).ok()?);
        let used = usize::try_from(pair[1].used).ok()?;
        let (below, above) = bytes.split_at_mut(to);
        let granules = below[from..].chunks(GRANULE);
        for (granule, crc) in granules.zip(above[..used].chunks_exact_mut(CRC_LEN)) {
            crc.copy_from_slice(&crc32fast::hash(granule).to_le_bytes());
        }
    }
    let last = usize::try_from(layout.levels().last()?.at).ok()?;
    Some(crc32fast::hash(&bytes[last..]))
}

fn crc32(file: &[u8], range: Range<usize>) -> Option<u32> {
    file.get(range).map(crc32fast::hash)
}

fn u32_at(file: &[u8], at: usize) -> Option<u32> {
    file.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(file: &[u8], at: usize) -> Option<u64> {
    file.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn put_u32(file: &mut [u8], at: usize, value: u32) -> Option<()> {
    *file.get_mut(at..)?.first_chunk_mut()? = value.to_le_bytes();
    Some(())
}

#[cfg(test)]
mod tests {
    use docvalues_format::granule::seal;

    use super::*;

    #[test]
    fn a_section_is_sealed_anew_after_a_change() {
        // One level, two and three.
        for len in [100, 5_000, 5_000_000] {
            let (mut bytes, crc) = seal(vec![7; len]);
            let at = SectionRef { offset: 0, len: len as u64, crc };
            assert_eq!(reseal_section(&mut bytes, at), Some(crc), "{len} bytes");
            assert_eq!(reseal_section(&mut bytes[1..], at), None, "not the whole section");
            bytes[len / 2] ^= 1;
            let again = reseal_section(&mut bytes, at).unwrap();
            assert_ne!(again, crc, "{len} bytes");
            assert!(seal(bytes[..len].to_vec()) == (bytes, again), "{len} bytes");
        }
    }
}
