//! Small files that say they have many documents: each call ends soon, with an answer or an error.

use std::io::Write as _;

use docvalues::format::file::column::{Column, Statistics, Values};
use docvalues::format::file::directory::DirectoryBuilder;
use docvalues::format::file::frame::Header;
use docvalues::format::granule::{SectionRef, seal};
use docvalues::format::numeric::{self, NumericOptions, Role};
use docvalues::format::presence::Presence;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};
use docvalues::{ErrorKind, Field, Kind, LogicalType, OpenOptions, Segment, SortKey};

/// As many as a signed number of 32 bits counts.
pub(crate) const DOCS: u32 = i32::MAX as u32;

/// A segment of [`DOCS`] documents with the same values, which takes no byte for each.
pub(crate) fn claims() -> Vec<u8> {
    let mut file = Header::current().encode().to_vec();
    let mut directory = DirectoryBuilder::default();
    for (name, value) in [("five", 5), ("seven", 7)] {
        let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
        let mut values = numeric::encode(&[value; 3], &options);
        values.count = DOCS.into();
        let column = Column {
            field: Field::new(name, Kind::Numeric, LogicalType::I64),
            presence: Presence::All,
            values: Values::Numeric(values),
            statistics: Statistics {
                sum: Some(i128::from(value) * i128::from(DOCS)),
                distinct: Some(1),
                ascending: true,
                descending: true,
            },
        };
        let column = column.try_map(&mut |_, payload: Vec<u8>| {
            let (offset, len) = (file.len() as u64, payload.len() as u64);
            let (bytes, crc) = seal(payload);
            file.extend(bytes);
            Ok::<_, std::convert::Infallible>(SectionRef { offset, len, crc })
        });
        let Ok(column) = column;
        directory.push(&column, file.len() as u64);
    }
    let (end, _) = directory.finish(file.len() as u64, DOCS);
    file.extend(end);
    file
}

#[test]
fn a_stranger_may_not_say_so() {
    let bytes = claims();
    assert!(bytes.len() < 1_024, "{} bytes", bytes.len());
    let most = (1 << 20) + 64 * bytes.len();
    let refused = Segment::from_bytes(bytes.clone(), OpenOptions::new().untrusted()).unwrap_err();
    let said = format!("number of documents is {DOCS}, above {most}");
    assert!(refused.to_string().contains(&said), "{refused}");
    assert!(matches!(refused.kind(), ErrorKind::Corrupt { .. }));
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
    let segment = Segment::from_bytes(claims(), OpenOptions::new()).unwrap();
    segment.verify().unwrap();
    let search = Search::new(&segment);
    let top = search.top(Docs::All, &[SortKey::new("five").descending()], 3).unwrap();
    assert_eq!(top.iter().map(|found| found.doc.get()).collect::<Vec<_>>(), [0, 1, 2]);
    let facet = search.facet(Docs::Range(0, 1_000), &Facet::on("seven")).unwrap();
    assert_eq!(facet.values[0].1, 1_000);
}
