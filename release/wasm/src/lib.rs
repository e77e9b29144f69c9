//! Reads a segment from memory in WebAssembly: the host writes its bytes, and asks for numbers.

use std::sync::{Mutex, PoisonError};

use docvalues::prelude::*;
use docvalues::search::SearchRequest;

/// The bytes of the segment.
static BYTES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A place of `len` bytes, into which the host writes the segment.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(len: usize) -> *mut u8 {
    let mut bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    *bytes = vec![0; len];
    bytes.as_mut_ptr()
}

/// The sum of column `line`.
#[unsafe(no_mangle)]
pub extern "C" fn sum() -> i64 {
    let segment = segment();
    let line = segment.numeric("line").expect("a column of numbers");
    (0..segment.docs()).filter_map(|doc| line.get(DocId::new(doc)).expect("good bytes")).sum()
}

/// The number of documents whose `line` is less than `limit`.
#[unsafe(no_mangle)]
pub extern "C" fn below(limit: i64) -> u64 {
    let query = Query::parse(&format!("line < {limit}")).expect("a query");
    Search::new(&segment()).count(&query).expect("good bytes")
}

/// The greatest `line` below `limit`, by a request that explains how it was found.
#[unsafe(no_mangle)]
pub extern "C" fn greatest(limit: i64) -> i64 {
    let query = Query::parse(&format!("line < {limit}")).expect("a query");
    let request = SearchRequest::new().query(query).sort([SortKey::of("line").descending()]).top(1);
    let segment = segment();
    let answer = Search::new(&segment).request(&request.explain(true)).expect("good bytes");
    let line = segment.numeric("line").expect("a column of numbers");
    line.get(answer.top[0].doc).expect("good bytes").expect("a value")
}

fn segment() -> Segment {
    let bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Segment::from_bytes(bytes, OpenOptions::new()).expect("a segment")
}
