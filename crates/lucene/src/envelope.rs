//! Headers, footers and checksums of files.
//!
//! ```text
//! header    magic, name of the contents, version, id of the segment, suffix
//! body
//! footer    magic, 0, CRC-32 of all bytes before it
//! ```
//!
//! The envelope is big-endian in every release.

use crate::error::{ErrorKind, Result};
use crate::file::{Body, FOOTER, File};
use crate::order::Order;

/// The first bytes of a file.
pub(crate) const MAGIC: u32 = 0x3FD7_6C17;

/// Files of data up to this length are compared with their checksums when they are used first.
pub(crate) const SMALL: usize = 64 << 20;

/// Contents that are read: their name, versions, and order of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents {
    pub(crate) name: &'static str,
    pub(crate) oldest: i32,
    pub(crate) newest: i32,
    pub(crate) order: Order,
}

/// Checks the header of a file, which has one of `contents`, and the shape of its footer. `id` is that of the segment, if
/// it is known.
pub(crate) fn open(file: &File, contents: &[Contents], id: Option<&[u8; 16]>, suffix: &str) -> Result<Body> {
    let bytes = file.bytes();
    let error = |at, kind| file.error(at, kind);
    let needed = |at: usize, len: usize| {
        let found = bytes.get(at..).and_then(|rest| rest.get(..len));
        found.ok_or_else(|| {
            let left = bytes.len().saturating_sub(at) as u64;
            error(at, ErrorKind::Truncated { needed: len as u64, left })
        })
    };
    if Order::Big.u32(needed(0, 4)?, 0) != Some(MAGIC) {
        return Err(error(0, ErrorKind::Magic));
    }
    let len = usize::from(needed(4, 1)?[0]);
    let name = needed(5, len)?;
    let Some(found) = contents.iter().find(|known| known.name.as_bytes() == name) else {
        let (expected, found) =
            (contents.first().map_or("", |known| known.name), name.escape_ascii().to_string());
        return Err(error(4, ErrorKind::Contents { expected, found }));
    };
    let Contents { name, oldest, newest, order } = *found;
    let at = 5 + len;
    let version = Order::Big.i32(needed(at, 4)?, 0).unwrap_or(i32::MIN);
    if !(oldest..=newest).contains(&version) {
        return Err(error(at, ErrorKind::Version { name, found: version, oldest, newest }));
    }
    let found = needed(at + 4, 16)?;
    if id.is_some_and(|id| id != found) {
        return Err(error(at + 4, ErrorKind::OtherSegment));
    }
    let at = at + 20;
    let len = usize::from(needed(at, 1)?[0]);
    if needed(at + 1, len)? != suffix.as_bytes() {
        return Err(error(at, ErrorKind::OtherSegment));
    }
    let start = at + 1 + len;
    let end = bytes.len().saturating_sub(FOOTER).max(start);
    let footer = needed(end, FOOTER)?;
    if Order::Big.u32(footer, 0) != Some(!MAGIC) || Order::Big.u64(footer, 4) != Some(0) {
        return Err(error(end, ErrorKind::Footer));
    }
    Ok(Body { file: file.clone(), name, order, version, place: start..end })
}

/// `body`, if the checksum of its file is the stored one: for metadata, all of which is read.
pub(crate) fn verified(body: Body) -> Result<Body> {
    verify(&body)?;
    Ok(body)
}

/// As [`verify`], of a file that is small, or of any if all are compared.
pub(crate) fn verify_small(body: &Body, are_all: bool) -> Result<()> {
    if are_all || body.bytes().len() <= SMALL { verify(body) } else { Ok(()) }
}

/// Compares the checksum of a file with the stored one. O(its length).
pub(crate) fn verify(body: &Body) -> Result<()> {
    let bytes = body.bytes();
    let (before, stored) = bytes.split_at(bytes.len().saturating_sub(8));
    let (found, expected) = (crc32fast::hash(before), Order::Big.u64(stored, 0).unwrap_or(0));
    if u64::from(found) == expected {
        return Ok(());
    }
    // The upper half is zero in all files of Lucene.
    let expected = u32::try_from(expected).unwrap_or(!found);
    Err(body.error(before.len(), ErrorKind::Checksum { expected, found }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ID, encode, file};

    const CONTENTS: [Contents; 2] = [
        Contents { name: "Old", oldest: 0, newest: 0, order: Order::Big },
        Contents { name: "New", oldest: 1, newest: 3, order: Order::Little },
    ];

    #[test]
    fn a_file_is_opened_by_its_header() {
        let bytes = encode("New", 2, "a_0", b"body");
        let body = open(&file(bytes.clone()), &CONTENTS, Some(&ID), "a_0").and_then(verified).unwrap();
        assert_eq!((body.name, body.version, body.order), ("New", 2, Order::Little));
        assert_eq!(&body.bytes()[body.place.clone()], b"body");
        open(&file(bytes), &CONTENTS, None, "a_0").and_then(verified).unwrap();
    }

    #[test]
    fn every_damaged_byte_is_found() {
        let good = encode("New", 2, "a_0", b"body");
        let read = |bytes| open(&file(bytes), &CONTENTS, Some(&ID), "a_0").and_then(verified);
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            assert!(read(bytes).is_err(), "byte {at}");
            assert!(read(good[..at].to_vec()).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn what_is_refused_is_named() {
        let refused = |bytes: Vec<u8>, suffix: &str| {
            open(&file(bytes), &CONTENTS, Some(&[7; 16]), suffix).unwrap_err().kind().to_string()
        };
        assert_eq!(refused(encode("New", 4, "", b""), ""), "New: expected version 1 to 3, found 4");
        assert_eq!(refused(encode("Other", 4, "", b""), ""), "expected Old, found Other");
        assert_eq!(refused(encode("New", 1, "", b""), ""), ErrorKind::OtherSegment.to_string());
        let bytes = encode("New", 1, "x", b"");
        let suffix = open(&file(bytes), &CONTENTS, None, "y").unwrap_err();
        assert!(matches!(suffix.kind(), ErrorKind::OtherSegment));
    }
}
