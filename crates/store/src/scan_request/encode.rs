//! A request to bytes.

use docvalues_search::Query;

use super::dataset::{Contents, SegmentFile, StoreCommit};
use super::{HEADER, MAGIC, ScanRequest, VERSION, refused};
use crate::error::Result;

pub(super) fn encode(request: &ScanRequest) -> Result<Vec<u8>> {
    let query = request.query.to_string();
    Query::parse(&query)
        .map_err(|error| refused(format!("expected a query that can be sent as text: {error}")))?;
    let mut bytes = [MAGIC, VERSION.to_le_bytes(), [0; 4], request.partitions.to_le_bytes()].concat();
    match request.limit {
        None => bytes.push(0),
        Some(limit) => {
            bytes.push(1);
            bytes.extend(limit.to_le_bytes());
        }
    }
    put_dataset(&mut bytes, &request.dataset.0)?;
    put_count(&mut bytes, request.columns.len())?;
    for name in &request.columns {
        put_text(&mut bytes, name)?;
    }
    put_text(&mut bytes, &query)?;
    let crc = crc32fast::hash(&bytes[HEADER..]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&crc.to_le_bytes());
    Ok(bytes)
}

fn put_dataset(bytes: &mut Vec<u8>, contents: &Contents) -> Result<()> {
    match contents {
        Contents::Commit(StoreCommit { path, number, store, hash }) => {
            bytes.push(0);
            put_text(bytes, path)?;
            bytes.extend([number, store, hash].into_iter().flat_map(|field| field.to_le_bytes()));
        }
        Contents::Files(files) | Contents::Objects(files) => {
            bytes.push(if matches!(contents, Contents::Files(_)) { 1 } else { 2 });
            put_count(bytes, files.len())?;
            for SegmentFile { path, bytes: len, id } in files {
                put_text(bytes, path)?;
                bytes.extend(len.to_le_bytes());
                bytes.extend(id.to_le_bytes());
            }
        }
    }
    Ok(())
}

fn put_count(bytes: &mut Vec<u8>, count: usize) -> Result<()> {
    let most = u32::MAX;
    let count =
        u32::try_from(count).map_err(|_| refused(format!("expected at most {most}, found {count}")))?;
    bytes.extend(count.to_le_bytes());
    Ok(())
}

fn put_text(bytes: &mut Vec<u8>, text: &str) -> Result<()> {
    put_count(bytes, text.len())?;
    bytes.extend(text.as_bytes());
    Ok(())
}
