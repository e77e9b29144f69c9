//! Bytes as a request for a scan, with and without their checksum made right: decoded and encoded again, or refused.

use docvalues::search::query::MAX_TEXT;
use docvalues_store::ScanRequest;

use crate::neighbours::neighbours;

/// The length of magic, version and checksum.
const HEADER: usize = 12;

/// A byte, which says whether the checksum is made right, and a request.
pub fn scan_request(input: &[u8]) {
    decode(input);
}

/// Decodes a request, encodes it, and decodes it again.
fn decode(input: &[u8]) -> Option<ScanRequest> {
    let ([is_sealed], bytes) = input.split_first_chunk()?;
    let mut bytes = bytes.to_vec();
    if is_sealed & 1 == 1 {
        seal(&mut bytes);
    }
    let request = ScanRequest::decode(&bytes).ok()?;
    match request.encode() {
        Ok(again) => assert_eq!(ScanRequest::decode(&again).ok().as_ref(), Some(&request)),
        // Numbers in full may be longer than as they were written.
        Err(error) => assert!(request.query.to_string().len() > MAX_TEXT, "{error}"),
    }
    Some(request)
}

/// Makes the checksum right.
fn seal(bytes: &mut [u8]) {
    if bytes.len() >= HEADER {
        let crc = crc32fast::hash(&bytes[HEADER..]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&crc.to_le_bytes());
    }
}

/// A request with this limit, dataset and query.
fn written(limit: Option<u64>, dataset: &[u8], columns: &[&str], query: &str) -> Vec<u8> {
    let mut bytes = b"dvsq\x01\0\0\0\0\0\0\0\x08".to_vec();
    bytes.push(limit.is_some().into());
    bytes.extend(limit.into_iter().flat_map(varint));
    bytes.extend(dataset);
    bytes.extend(varint(columns.len() as u64));
    for text in columns.iter().chain(&[query]) {
        bytes.extend(written_text(text));
    }
    seal(&mut bytes);
    bytes
}

fn written_text(text: &str) -> Vec<u8> {
    [&varint(text.len() as u64)[..], text.as_bytes()].concat()
}

/// A number as `postcard` encodes it.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Genuine requests, requests with each of these queries, and damaged ones.
pub fn scan_request_inputs(queries: &[String]) -> Vec<Vec<u8>> {
    let mut inputs = genuine_inputs();
    let sealed = inputs.iter().filter(|input| input[0] == 1);
    let damaged: Vec<Vec<u8>> = sealed.flat_map(|input| neighbours(input, input.len())).collect();
    inputs.extend(damaged);
    let no_files = [1, 0];
    inputs.extend(queries.iter().map(|text| [&[1], &written(None, &no_files, &[], text)[..]].concat()));
    inputs
}

/// Requests for a commit of a store, for no, one and three files, and for two objects: as they are, and to be sealed.
fn genuine_inputs() -> Vec<Vec<u8>> {
    let numbers = [3, 0xfeed, 0xbeef].map(varint).concat();
    let commit = [&[0], &written_text("/data/hits")[..], &numbers].concat();
    let file = |name: &u32| {
        let path = written_text(&format!("/data/{name}.dv"));
        [path, varint(4_096), varint(u64::from(*name))].concat()
    };
    let files = |kind: u8, names: &[u32]| {
        let files = names.iter().map(file).collect::<Vec<_>>().concat();
        [&[kind], &varint(names.len() as u64)[..], &files].concat()
    };
    let requests = [
        written(None, &commit, &["host", "size"], "true"),
        written(Some(10), &commit, &[], "host = \"a\" or not size in (1, 2, 3)"),
        written(None, &files(1, &[]), &["size"], "false"),
        written(Some(u64::MAX), &files(1, &[7]), &["a b", ""], "`a b` in x'00ff' ..= x'01' and size missing"),
        written(None, &files(1, &[1, 2, 3]), &["ts"], "ts >= \"2024-01-31\" and host ^= \"www.\""),
        written(Some(1), &files(2, &[4, 5]), &["host"], "host exists"),
    ];
    [0, 1].iter().flat_map(|sealed| requests.iter().map(|bytes| [&[*sealed], &bytes[..]].concat())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genuine_requests_are_decoded() {
        for input in genuine_inputs() {
            assert!(decode(&input).is_some(), "{}", input.escape_ascii());
        }
    }
}
