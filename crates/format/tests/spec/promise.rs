//! Compares `docs/format-promise.md` with the code: the version, its features and extensions, and the messages of refusals.

use docvalues_format::error::ErrorKind;
use docvalues_format::file::frame::{
    FEATURE_IDS_IN_COLUMN, FEATURE_ONPAIR, Header, KNOWN_FEATURES, OLDEST, VERSION,
};

use crate::document::Document;

const PROMISE: &str = include_str!("../../../../docs/format-promise.md");

/// The numbers and names of the table under `title` whose first column is `first`.
fn numbered(document: &Document, title: &str, first: &str) -> Vec<(u32, String)> {
    let row = |cells: Vec<String>| (cells[0].parse().unwrap(), cells[1].trim_matches('`').to_owned());
    document.table(title, first).into_iter().map(row).collect()
}

#[test]
fn the_promise_lists_all_features_and_extensions() {
    let promise = Document::new(PROMISE);
    let features = numbered(&promise, "Features of version 1", "bit");
    let expected = [(FEATURE_ONPAIR, "onpair"), (FEATURE_IDS_IN_COLUMN, "ids-in-column")];
    assert_eq!(features, expected.map(|(flag, name)| (flag.trailing_zeros(), name.to_owned())));
    assert_eq!(features.iter().map(|(bit, _)| 1_u32 << *bit).sum::<u32>(), KNOWN_FEATURES);
    assert_eq!((OLDEST, VERSION, Header::current().optional), (1, 1, 0));
    assert_eq!(numbered(&promise, "Extensions", "tag"), numbered(&Document::spec(), "Extensions", "tag"));
}

#[test]
fn the_promise_shows_the_messages_of_refusals() {
    let unknown = Header { required: KNOWN_FEATURES + 1, ..Header::current() };
    let unknown = Header::decode(&unknown.encode()).unwrap_err().kind().clone();
    let refusals = [
        ErrorKind::Magic { found: *b"PK\x03\x04\x14\0\x08\0" },
        ErrorKind::TooNew { found: VERSION + 1, newest: VERSION, writer: Some([0, 9, 0]) },
        ErrorKind::TooOld { found: OLDEST - 1, oldest: OLDEST },
        unknown,
    ];
    for refusal in refusals {
        assert!(PROMISE.contains(&format!("| `{refusal}` |")), "{refusal}");
    }
}
