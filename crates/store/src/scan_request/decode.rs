//! Bytes to a request. They may be hostile: everything is checked, and nothing is allocated for a number alone.

use docvalues_search::Query;

use super::dataset::{Contents, Dataset, SegmentFile, StoreCommit};
use super::{HEADER, MAGIC, ScanRequest, VERSION, refused};
use crate::error::Result;

pub(super) fn decode(bytes: &[u8]) -> Result<ScanRequest> {
    let mut fields = Fields { bytes, at: 0 };
    let magic = fields.take("a scan request")?;
    if magic != MAGIC {
        let (expected, found) = (MAGIC.escape_ascii(), magic.escape_ascii());
        return Err(refused(format!("byte 0: expected \"{expected}\", found \"{found}\"")));
    }
    let version = fields.number("the version")?;
    if version != VERSION {
        let newer = if version > VERSION { ": it needs a newer docvalues" } else { "" };
        return Err(refused(format!("byte 4: expected version {VERSION}, found version {version}{newer}")));
    }
    let crc = fields.number("the checksum")?;
    let found = crc32fast::hash(bytes.get(HEADER..).unwrap_or_default());
    if crc != found {
        return Err(refused(format!("byte 8: expected the checksum {crc:08x}, found {found:08x}")));
    }
    let partitions = fields.number("the number of partitions")?;
    let limit = match fields.tag("whether there is a limit", 2)? {
        0 => None,
        _ => Some(u64::from_le_bytes(fields.take("the limit")?)),
    };
    let dataset = Dataset(fields.dataset()?);
    let columns = 0..fields.number("the number of columns")?;
    let columns = columns.map(|_| Ok(fields.text("the name of a column")?.to_owned()));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let (at, text) = (fields.at, fields.text("the query")?);
    let query = Query::parse(text).map_err(|error| refused(format!("byte {at}: {error}")))?;
    match bytes.len() - fields.at {
        0 => Ok(ScanRequest { dataset, columns, query, limit, partitions }),
        more => Err(refused(format!("byte {}: expected the end, found {more} more bytes", fields.at))),
    }
}

/// The fields of a request, front to back.
struct Fields<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Fields<'b> {
    fn slice(&mut self, what: &str, len: usize) -> Result<&'b [u8]> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..len) else {
            let (at, left) = (self.at, left.len());
            return Err(refused(format!("byte {at}: expected {what}, of {len} bytes, found {left} bytes")));
        };
        self.at += len;
        Ok(taken)
    }

    fn take<const LEN: usize>(&mut self, what: &str) -> Result<[u8; LEN]> {
        let mut field = [0; LEN];
        field.copy_from_slice(self.slice(what, LEN)?);
        Ok(field)
    }

    fn number(&mut self, what: &str) -> Result<u32> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn long(&mut self, what: &str) -> Result<u64> {
        self.take(what).map(u64::from_le_bytes)
    }

    /// A byte below `count`.
    fn tag(&mut self, what: &str, count: u8) -> Result<u8> {
        let at = self.at;
        match self.take(what)? {
            [tag] if tag < count => Ok(tag),
            [tag] => {
                Err(refused(format!("byte {at}: expected {what} as a number below {count}, found {tag}")))
            }
        }
    }

    fn text(&mut self, what: &str) -> Result<&'b str> {
        // At most a `u32`.
        let len = self.number(what)? as usize;
        let at = self.at;
        let text = str::from_utf8(self.slice(what, len)?);
        text.map_err(|error| refused(format!("byte {at}: expected {what} in UTF-8, found {error}")))
    }

    fn dataset(&mut self) -> Result<Contents> {
        let kind = self.tag("the kind of dataset", 3)?;
        if kind == 0 {
            return Ok(Contents::Commit(StoreCommit {
                path: self.text("the path of a store")?.to_owned(),
                number: self.long("the number of a commit")?,
                store: self.long("the id of a store")?,
                hash: self.long("the hash of a commit")?,
            }));
        }
        let mut files = Vec::new();
        for _ in 0..self.number("the number of files")? {
            files.push(SegmentFile {
                path: self.text("the path of a file")?.to_owned(),
                bytes: self.long("the length of a file")?,
                id: u128::from_le_bytes(self.take("the content id of a file")?),
            });
        }
        Ok(if kind == 1 { Contents::Files(files) } else { Contents::Objects(files) })
    }
}
