//! Requests as bytes: there and back, damaged, and hostile.

use std::ops::Bound;

use docvalues_column::Bitset;
use docvalues_search::query::Literal;
use docvalues_search::{Parts, Search};
use proptest::prelude::*;

use super::dataset::{SegmentFile, StoreCommit};
use super::*;

fn literals() -> impl Strategy<Value = Literal> {
    prop_oneof![
        any::<i128>().prop_map(Literal::Int),
        any::<i64>().prop_map(Literal::from),
        any::<f64>().prop_map(Literal::Float),
        Just(Literal::Float(f64::NAN)),
        Just(Literal::Float(f64::NEG_INFINITY)),
        any::<bool>().prop_map(Literal::Bool),
        any::<String>().prop_map(Literal::Text),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Literal::Bytes),
    ]
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_@][a-z0-9_.-]{0,5}", any::<String>(), Just("Not".to_owned()), Just("a`b".to_owned())]
}

fn bounds() -> impl Strategy<Value = Bound<Literal>> {
    prop_oneof![
        literals().prop_map(Bound::Included),
        literals().prop_map(Bound::Excluded),
        Just(Bound::Unbounded)
    ]
}

fn conditions() -> impl Strategy<Value = Query> {
    let lists = || (names(), prop::collection::vec(literals(), 0..4));
    prop_oneof![
        Just(Query::All),
        Just(Query::None),
        lists().prop_map(|(name, values)| Query::is_in(name, values)),
        lists().prop_map(|(name, values)| Query::not_in(name, values)),
        (names(), bounds(), bounds()).prop_map(|(name, low, high)| Query::range(name, (low, high))),
        (names(), any::<String>()).prop_map(|(name, prefix)| Query::prefix(name, prefix)),
        (names(), any::<Vec<u8>>()).prop_map(|(name, bytes)| Query::prefix(name, Literal::Bytes(bytes))),
        names().prop_map(Query::exists),
        names().prop_map(Query::missing),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    conditions().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Query::all_of),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Query::any_of),
            inner.prop_map(|query| !query),
        ]
    })
}

fn datasets() -> impl Strategy<Value = Dataset> {
    let commit = (any::<String>(), any::<u64>(), any::<u64>(), any::<u64>());
    let file = (any::<String>(), any::<u64>(), any::<u128>());
    prop_oneof![
        commit.prop_map(|(path, number, store, hash)| {
            Dataset(Contents::Commit(StoreCommit { path, number, store, hash }))
        }),
        (
            prop::collection::vec(file.prop_map(|(path, bytes, id)| SegmentFile { path, bytes, id }), 0..4),
            any::<bool>()
        )
            .prop_map(|(files, are_objects)| {
                let contents = if are_objects { Contents::Objects(files) } else { Contents::Files(files) };
                Dataset(contents)
            }),
    ]
}

fn requests() -> impl Strategy<Value = ScanRequest> {
    let columns = prop::collection::vec(any::<String>(), 0..4);
    let rest = (any::<Option<u64>>(), any::<u32>());
    (datasets(), columns, queries(), rest).prop_map(|(dataset, columns, query, (limit, partitions))| {
        ScanRequest { dataset, columns, query, limit, partitions }
    })
}

#[test]
fn parts_of_files_have_paths() {
    let dataset = example().dataset;
    assert_eq!([0, 1, 2].map(|part| dataset.file(part)), [Some("/logs/a.dv"), Some("/logs/b.dv"), None]);
    let commit = StoreCommit { path: "/hits".to_owned(), number: 1, store: 2, hash: 3 };
    assert_eq!(Dataset(Contents::Commit(commit)).file(0), None);
}

fn example() -> ScanRequest {
    let file = |path: &str, id| SegmentFile { path: path.to_owned(), bytes: 4_096, id };
    ScanRequest {
        dataset: Dataset(Contents::Files(vec![file("/logs/a.dv", 7), file("/logs/b.dv", 9)])),
        columns: vec!["host".to_owned(), "size".to_owned()],
        query: Query::range("size", 100..).and(Query::prefix("host", "a")),
        limit: Some(10),
        partitions: 8,
    }
}

/// The bytes with their checksum made right.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes[HEADER..]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&crc.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn requests_are_decoded_as_they_were_encoded(request in requests()) {
        let bytes = request.encode().unwrap();
        prop_assert_eq!(ScanRequest::decode(&bytes).unwrap(), request);
    }

    #[test]
    fn changed_requests_are_refused_or_decoded(request in requests(), changes: Vec<(prop::sample::Index, u8)>) {
        let mut bytes = request.encode().unwrap();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes[HEADER..]) = byte;
        }
        if let Ok(request) = ScanRequest::decode(&sealed(bytes)) {
            prop_assert_eq!(ScanRequest::decode(&request.encode().unwrap()).unwrap(), request);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_decoded(bytes: Vec<u8>) {
        let header = [&MAGIC[..], &VERSION.to_le_bytes(), &[0; 4]].concat();
        let _ = ScanRequest::decode(&bytes);
        let _ = ScanRequest::decode(&sealed([header, bytes].concat()));
    }
}

#[test]
fn the_bytes_are_those_of_the_documentation() {
    let expected = b"dvsq\x01\0\0\0....\x08\x01\x0a\x01\x02\
        \x0a/logs/a.dv\x80\x20\x07\x0a/logs/b.dv\x80\x20\x09\
        \x02\x04host\x04size\x1bsize >= 100 and host ^= \"a\"";
    assert_eq!(example().encode().unwrap(), sealed(expected.to_vec()));
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    let bytes = example().encode().unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(ScanRequest::decode(&bytes).is_err(), "bit {bit}");
        // With the right checksum, it is another request or none.
        let _ = ScanRequest::decode(&sealed(bytes));
    }
    for len in 0..bytes.len() {
        assert!(ScanRequest::decode(&bytes[..len]).is_err(), "{len} bytes");
        if len >= HEADER {
            let error = ScanRequest::decode(&sealed(bytes[..len].to_vec())).unwrap_err().to_string();
            assert!(error.starts_with("scan request: expected the fields of a request"), "{error}");
        }
    }
}

#[test]
fn errors_say_what_was_expected() {
    type Change = fn(&mut Vec<u8>);
    let refusal = |change: Change| {
        let mut bytes = example().encode().unwrap();
        change(&mut bytes);
        ScanRequest::decode(&sealed(bytes)).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 6] = [
        (|bytes| bytes[0] = b'D', "byte 0: expected \"dvsq\", found \"Dvsq\""),
        (|bytes| bytes[4] = 2, "byte 4: expected version 1, found version 2: it needs a newer docvalues"),
        (|bytes| bytes[15] = 7, "expected the fields of a request, found "),
        (|bytes| bytes[17] = 0x7f, "expected the fields of a request, found "),
        (|bytes| bytes.push(0), "expected the end, found 1 more bytes"),
        (|bytes| *bytes.last_mut().unwrap() = b'x', "expected a query, found "),
    ];
    for (change, expected) in cases {
        let error = refusal(change);
        assert!(error.starts_with("scan request: ") && error.contains(expected), "{error}");
    }
    let mut bytes = example().encode().unwrap();
    bytes[8] ^= 1;
    let error = ScanRequest::decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("byte 8: expected the checksum"), "{error}");
}

#[test]
fn a_query_without_a_text_is_refused() {
    let deep = (0..2_000).fold(Query::eq("a", 1), |query, level| match level % 2 {
        0 => query.and(Query::exists("b")),
        _ => query.or(Query::exists("b")),
    });
    let long = Query::eq("a", "x".repeat(2 << 20));
    let no_parts = Parts::new(Vec::new());
    let hits = Query::hits(Search::over(&no_parts).filter(&Query::All).unwrap());
    for query in [Query::docs(Bitset::none(9)), hits, deep, long] {
        let error = ScanRequest { query, ..example() }.encode().unwrap_err().to_string();
        assert!(error.starts_with("scan request: expected a query that can be sent as text: "), "{error}");
    }
}
