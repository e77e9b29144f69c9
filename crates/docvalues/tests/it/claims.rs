//! Small files that say they have many documents: each call ends soon, with an answer or an error.

use std::io::Write as _;

use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};
use docvalues::{OpenOptions, ReadErrorKind, Segment, SortKey};
use docvalues_testkit::claims::claims;

/// As many as a signed number of 32 bits counts.
const DOCS: u32 = i32::MAX as u32;

#[test]
fn a_stranger_may_not_say_so() {
    let bytes = claims(DOCS);
    assert!(bytes.len() < 1_024, "{} bytes", bytes.len());
    let most = (1 << 20) + 64 * bytes.len();
    let refused = Segment::from_bytes(bytes.clone(), OpenOptions::new().untrusted()).unwrap_err();
    let said = format!("number of documents is {DOCS}, above {most}");
    assert!(refused.to_string().contains(&said), "{refused}");
    assert!(matches!(refused.kind(), ReadErrorKind::Corrupt { .. }));
    for (most, opens) in [(DOCS, true), (DOCS - 1, false)] {
        let segment = Segment::from_bytes(bytes.clone(), OpenOptions::new().max_docs(most));
        assert_eq!(segment.is_ok(), opens);
    }
    let mut path = tempfile::NamedTempFile::new().unwrap();
    path.write_all(&bytes).unwrap();
    assert!(Segment::open_with(path.path(), OpenOptions::new().untrusted()).is_err());
}

#[test]
fn a_friend_may() {
    let segment = Segment::from_bytes(claims(DOCS), OpenOptions::new()).unwrap();
    segment.verify().unwrap();
    let search = Search::new(&segment);
    let top = search.top(Docs::All, &[SortKey::new("five").descending()], 3).unwrap();
    assert_eq!(top.iter().map(|found| found.doc.get()).collect::<Vec<_>>(), [0, 1, 2]);
    let facet = search.facet(Docs::Range(0, 1_000), &Facet::on("seven")).unwrap();
    assert_eq!(facet.values[0].1, 1_000);
}
