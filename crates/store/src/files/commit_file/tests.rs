//! Commits as bytes: there and back, damaged, and hostile.

use docvalues_column::{Field, Kind, LogicalType, SortKey};

use super::*;

fn commit() -> CommitFile {
    let file = |number| FileEntry { number, bytes: 7 * number, id: u128::from(number) << 90 };
    let segment = |number: u64, fold| SegmentEntry {
        number,
        docs: 1_000,
        live: 993,
        bytes: 20_480,
        id: 7,
        fold,
        side: Vec::new(),
    };
    let schema = StoreSchema::new()
        .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))
        .and_then(|schema| schema.with_field(Field::new("size", Kind::Numeric, LogicalType::I64)))
        .and_then(|schema| schema.with_id_field("id"))
        .and_then(|schema| schema.with_sort([SortKey::of("size").descending()]))
        .unwrap();
    CommitFile {
        version: VERSION,
        number: Some(42),
        previous: Some(PreviousCommit { number: 41, crc32: 0x0a1b_2c3d }),
        checksum: 0,
        sequence: 107,
        id: 7,
        epoch: 1,
        history: 0xfeed,
        is_replica: false,
        next_number: 184,
        highest_version: 0,
        assigns_versions: true,
        first_log: None,
        keep_commits: None,
        keep_seconds: Some(3_600),
        made: Some(1_790_000_000_000_000),
        schema,
        segments: vec![segment(161, Some(file(170))), segment(3, None)],
        deltas: vec![file(183)],
        user_data: Arc::new([0x00, 0x7f, 0xfe]),
    }
}

#[test]
fn commits_are_read_as_they_are_written() {
    let mut commit = commit();
    let bytes = commit.seal(42, (41, 0x0a1b_2c3d));
    assert_eq!(CommitFile::decode(&bytes, "c").unwrap(), commit);
    assert_eq!(
        String::from_utf8(bytes).unwrap().lines().last(),
        Some(&*format!("crc32 {:08x}", commit.checksum))
    );
    // As in version 1.
    let older = CommitFile { version: 1, number: None, previous: None, ..commit.clone() };
    let bytes = older.encode();
    assert!(bytes.starts_with(b"{\n  \"docvalues_store\": 1,\n  \"sequence\": 107,"));
    assert_eq!(CommitFile::decode(&bytes, "c").unwrap().encode(), bytes);
    let names: Vec<String> = commit.files().map(|name| name.to_string()).collect();
    assert_eq!(names, ["seg-0000a1.dv", "seg-0000a1.g0000aa.dv", "seg-000003.dv", "delta-0000b7.dv"]);
}

#[test]
fn a_commit_without_user_data_does_not_mention_it() {
    let cases: [Arc<[u8]>; 3] =
        [Vec::new().into(), (0..=255).collect(), vec![7; user_data::MAX_USER_DATA].into()];
    for user_data in cases {
        let commit = CommitFile { user_data, ..commit() };
        let bytes = commit.encode();
        let is_named = bytes.windows(9).any(|window| window == b"user_data");
        assert_eq!(is_named, !commit.user_data.is_empty());
        assert_eq!(CommitFile::decode(&bytes, "c").unwrap().user_data, commit.user_data);
    }
    let commit = CommitFile { user_data: vec![7; user_data::MAX_USER_DATA + 1].into(), ..commit() };
    let error = CommitFile::decode(&commit.encode(), "c").unwrap_err().to_string();
    assert_eq!(error, "c: expected at most 1048576 bytes of user data, found 1048577");
}

/// The bytes of a commit, with its checksum made right again.
fn sealed(json: &str) -> Vec<u8> {
    let crc = crc32fast::hash(json.as_bytes());
    format!("{json}crc32 {crc:08x}\n").into_bytes()
}

#[test]
fn every_flipped_bit_is_damage() {
    let bytes = commit().encode();
    for at in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        let error = CommitFile::decode(&bytes, "c").unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    for len in 0..bytes.len() {
        CommitFile::decode(&bytes[..len], "c").unwrap_err();
    }
}

#[test]
fn hostile_commits_are_refused() {
    let text = String::from_utf8(commit().encode()).unwrap();
    let json = text.rsplit_once("crc32").unwrap().0;
    CommitFile::decode(&sealed(json), "c").unwrap();
    let edits = [
        (
            "\"docvalues_store\": 2",
            "\"docvalues_store\": 3",
            "expected a store of version 2 at most, found version 3",
        ),
        ("\"docvalues_store\": 2", "\"docvalues_store\": 1", "expected no number in a commit of version 1"),
        ("\"number\": 42,\n", "", "expected a number in a commit of version 2"),
        ("\"number\": 41", "\"number\": 42", "expected a commit before 42, found 42 as the previous one"),
        ("0a1b2c3d", "0A1B2C3D", "expected 8 hexadecimal digits"),
        ("\"number\": 42", "\"number\": 18446744073709551615", "counters of at most"),
        ("\"number\": 161", "\"number\": 3", "number 000003 occurs twice"),
        ("\"number\": 161", "\"number\": -1", "expected a commit, found JSON"),
        ("\"next_number\": 184", "\"next_number\": 183", "expected numbers below 0000b7, found 0000b7"),
        ("\"next_number\": 184", "\"next_number\": 18446744073709551615", "counters of at most"),
        ("\"live\": 993", "\"live\": 1001", "segment 0000a1 has 1001 live of 1000 documents"),
        ("\"docs\": 1000", "\"docs\": 4294967295", "live of 4294967295 documents"),
        ("\"kind\": \"numeric\"", "\"kind\": \"tensor\"", "field \"size\": expected a kind and a type"),
        ("\"name\": \"size\"", "\"name\": \"id\"", "field \"id\" occurs twice"),
        ("\"id_field\": \"id\"", "\"id_field\": \"size\"", "expected a binary field of ids"),
        ("\"epoch\": 1", "\"epoch\": 1, \"more\": 1", "unknown field"),
        ("\"007ffe\"", "\"007ffE\"", "pairs of hexadecimal digits"),
        ("\"007ffe\"", "\"007ff\"", "pairs of hexadecimal digits"),
        ("\"007ffe\"", "\"+07ffe\"", "pairs of hexadecimal digits"),
        ("\"007ffe\"", "[0, 127, 254]", "expected a commit, found JSON"),
        (
            "0000000000000007\",\n      \"fold\"",
            "000000000000000G\",\n      \"fold\"",
            "32 hexadecimal digits",
        ),
    ];
    // More fields than a segment has, and more keys than one is sorted by: neither takes long.
    let many = |entry: &str, count: usize| {
        let entries: Vec<String> = (0..count).map(|at| entry.replace('#', &at.to_string())).collect();
        entries.join(",") + ","
    };
    let fields = many(r#"{"name":"f#","kind":"numeric","type":"i64"}"#, 200_000);
    let keys = many(r#"{"field":"size"}"#, 200_000);
    for (list, entries, expected) in [
        ("\"fields\": [", &fields, "expected at most 64984 fields"),
        ("\"sort\": [", &keys, "expected at most 16 sort keys, found 200001"),
    ] {
        let edited = json.replacen(list, &format!("{list}{entries}"), 1);
        assert_ne!(edited, json);
        let error = CommitFile::decode(&sealed(&edited), "c").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (from, to, expected) in edits {
        let edited = json.replacen(from, to, 1);
        assert_ne!(edited, json);
        let error = CommitFile::decode(&sealed(&edited), "c").unwrap_err().to_string();
        assert!(error.starts_with("c: ") && error.contains(expected), "{error}");
    }
}
