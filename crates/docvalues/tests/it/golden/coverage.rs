//! Every layout of the format occurs in a golden file, and each file has the contents of its case.
//!
//! The matches name every variant, so a new variant does not compile without a golden column.

use docvalues::column::Section;
use docvalues::format::binary::Coding;
use docvalues::format::numeric::{Decimal, Encoding, Transform};
use docvalues::format::presence::Kind as PresenceKind;
use docvalues::reader::{ColumnUsage, IdForm, IdIndex};
use docvalues::terms::packing;
use docvalues::{Kind, LogicalType, OpenOptions, Segment};

use super::cases;
use super::stored;

/// The text that `dv info` shows for a column: encodings and sections.
fn shown(column: &ColumnUsage) -> String {
    let sections = column.sections.iter().map(|section| section.section.name().to_owned());
    column.encodings.iter().cloned().chain(sections).collect::<Vec<_>>().join("; ")
}

/// The columns of the golden file `file`.
fn columns(file: &str) -> Vec<ColumnUsage> {
    Segment::from_bytes(stored(file), OpenOptions::new()).unwrap().usage().unwrap().columns
}

/// Fails unless the column at `path`, `FILE/COLUMN`, shows `words`.
fn expect(path: &str, words: &str) {
    let (file, name) = path.split_once('/').unwrap();
    let columns = columns(&format!("{file}.dv"));
    let shown = shown(columns.iter().find(|column| column.field.name == name).unwrap());
    assert!(shown.contains(words), "{path} has no `{words}`: {shown}");
}

#[test]
fn columns_have_the_encodings_of_their_cases() {
    let mut missing = Vec::new();
    for golden in cases::all() {
        let columns = columns(&format!("{}.dv", golden.name));
        for ((field, _), shows) in golden.dataset.columns.iter().zip(&golden.shows) {
            let shown = shown(columns.iter().find(|column| column.field == *field).unwrap());
            missing.extend(
                shows
                    .iter()
                    .filter(|words| !shown.contains(**words))
                    .map(|words| format!("{}/{} has no `{words}`: {shown}", golden.name, field.name)),
            );
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn files_have_the_sorts_of_their_cases() {
    for golden in cases::all() {
        let segment =
            Segment::from_bytes(stored(&format!("{}.dv", golden.name)), OpenOptions::new()).unwrap();
        assert_eq!(segment.sort(), golden.sort, "{}", golden.name);
    }
    assert!(cases::all().iter().any(|golden| golden.sort.len() > 1));
}

#[test]
fn bare_files_have_no_jump_tables() {
    for golden in cases::all().into_iter().filter(|golden| golden.bare) {
        let has = |file: &str| columns(file).iter().any(|column| shown(column).contains("jump table"));
        assert!(
            has(&format!("{}.dv", golden.name)) && !has(&format!("{}.bare.dv", golden.name)),
            "{}",
            golden.name
        );
    }
}

#[test]
fn every_kind_and_type_has_a_golden_column() {
    let kind = |kind| match kind {
        Kind::Numeric => "numeric/constant",
        Kind::Binary => "binary/fixed",
        Kind::Sorted => "sorted/city",
        Kind::SortedNumeric => "sorted-numeric/few",
        Kind::SortedSet => "sorted-set/tags",
    };
    let logical = |logical| match logical {
        LogicalType::I64 => "logical-numbers/i64",
        LogicalType::U64 => "logical-numbers/u64",
        LogicalType::F64 => "logical-numbers/f64",
        LogicalType::Bool => "logical-numbers/bool",
        LogicalType::Date => "logical-numbers/date",
        LogicalType::TimestampMillis => "logical-numbers/ms",
        LogicalType::TimestampMicros => "logical-numbers/us",
        LogicalType::TimestampNanos => "logical-numbers/ns",
        LogicalType::Ip => "logical-bytes/ip",
        LogicalType::Uuid => "logical-bytes/uuid",
        LogicalType::Utf8 => "logical-bytes/string",
        LogicalType::Bytes => "logical-bytes/bytes",
        other => panic!("no golden column of type {}", other.name()),
    };
    let field = |path: &str| {
        let (file, name) = path.split_once('/').unwrap();
        columns(&format!("{file}.dv"))
            .into_iter()
            .map(|column| column.field)
            .find(|field| field.name == name)
            .unwrap()
    };
    Kind::ALL.into_iter().for_each(|each| assert_eq!(field(kind(each)).kind, each));
    LogicalType::ALL.into_iter().for_each(|each| assert_eq!(field(logical(each)).logical, each));
}

#[test]
fn every_encoding_has_a_golden_column() {
    let transforms = [
        Transform::Constant(0),
        Transform::Affine { base: 0, gcd: 1 },
        Transform::Decimal(Decimal { base: 0, gcd: 1, digits: 0 }),
        Transform::Table(()),
    ];
    for transform in transforms {
        let path = match transform {
            Transform::Constant(_) => "numeric/constant",
            Transform::Affine { .. } => "numeric/packed 13",
            Transform::Decimal(_) => "numeric/decimal",
            Transform::Table(()) => "numeric/table",
        };
        expect(path, &format!("values {}", transform.name()));
    }
    for encoding in Encoding::ALL {
        let path = match encoding {
            Encoding::Constant | Encoding::Linear => "numeric-blocks/mixed",
            Encoding::Packed => "numeric/packed 13",
        };
        expect(path, &format!(" {}", encoding.name()));
    }
    let fsst = Coding::Fsst { total_len: 0, symbols: () };
    let onpair = Coding::OnPair { total_len: 0, tokens: () };
    for coding in [Coding::Raw, fsst, onpair] {
        let (path, words) = match coding {
            Coding::Raw => ("binary/variable", "bytes, "),
            Coding::Fsst { .. } => ("binary-fsst/url", "bytes fsst"),
            Coding::OnPair { .. } => ("binary-onpair/url", "bytes onpair"),
        };
        expect(path, words);
    }
}

#[test]
fn every_kind_of_presence_has_a_golden_column() {
    for kind in PresenceKind::ALL {
        let path = match kind {
            PresenceKind::Empty => "presence-blocks/b",
            PresenceKind::Full => "presence-blocks/a",
            PresenceKind::List => "presence/list",
            PresenceKind::Sparse => "presence/sparse",
            PresenceKind::Dense => "presence/dense",
            PresenceKind::Runs => "presence/runs",
        };
        expect(path, kind.name());
    }
}

#[test]
fn every_section_has_a_golden_column() {
    let sections = cases::all().into_iter().flat_map(|golden| columns(&format!("{}.dv", golden.name)));
    let sections: Vec<Section> =
        sections.flat_map(|column| column.sections).map(|section| section.section).collect();
    for section in Section::OF_COLUMNS {
        // Term offsets have several blocks only above 16,384 terms: too many for a golden file.
        assert!(sections.contains(&section) || section == Section::TermOffsetsJump, "{section}");
    }
    assert!(sections.contains(&Section::FineZones));
}

/// The id index of a golden file.
fn ids(file: &str) -> IdIndex {
    Segment::from_bytes(stored(&format!("{file}.dv")), OpenOptions::new()).unwrap().ids().unwrap().unwrap()
}

/// The payload of a section of the id index.
fn id_section(file: &str, section: Section) -> Vec<u8> {
    let bytes = stored(&format!("{file}.dv"));
    let stats = Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap().usage().unwrap();
    let at = stats
        .ids
        .iter()
        .find(|at| at.section == section)
        .unwrap_or_else(|| panic!("{file} has no {section}"));
    bytes[at.offset as usize..][..at.payload as usize].to_vec()
}

#[test]
fn every_form_and_template_of_ids_has_a_golden_file() {
    for form in IdForm::ALL {
        let file = match form {
            IdForm::Blocks => "ids-one",
            IdForm::Exact => "ids-trie",
            IdForm::Fst => "ids-fst",
            IdForm::Column => "ids-in-column",
        };
        assert_eq!(ids(file).form(), form);
    }
    for kind in packing::Kind::ALL {
        let file = match kind {
            packing::Kind::Raw => "ids-raw",
            packing::Kind::Uuid => "ids-uuid",
            packing::Kind::Digits => "ids-digits",
            packing::Kind::HexLower => "ids-hex",
            packing::Kind::HexUpper => "ids-upper-case-hex",
            packing::Kind::Base64Url => "ids-base64url",
        };
        assert_eq!(ids(file).packed_as(), kind, "{file}");
    }
    let template = |file: &str| ids(file).reader().template().to_string();
    assert_eq!(template("ids-base64url"), "id:<base64url of 20>/v1");
    for (file, bits) in [("ids-raw", 0), ("ids-hex", 9), ("ids-uuid", 16)] {
        assert_eq!(ids(file).filter_bits(), bits, "{file}");
    }
    for (file, len, docs) in
        [("ids-no-documents", 0, 0), ("ids-none", 0, 9), ("ids-one", 1, 3), ("ids-uuid", 72, 90)]
    {
        assert_eq!((ids(file).len(), ids(file).reader().doc_count()), (len, docs), "{file}");
    }
}

#[test]
fn every_layout_of_ids_has_a_golden_file() {
    // Shapes of blocks: the second byte of the first one.
    for (shape, file) in [(0, "ids-raw"), (1, "ids-long"), (2, "ids-uuid"), (3, "ids-base64url")] {
        assert_eq!(id_section(file, Section::Ids)[1], shape, "{file}");
    }
    let index = id_section("ids-index", Section::IdIndex);
    assert_eq!(index[0] & 0b1110, 0b1100, "labels of the root, and nodes below");
    // Nodes end to end: prefixes, ends of separators, and more labels than are listed.
    let (mut flags, mut most, mut rest) = (0, 0, &index[..]);
    while let Some((&head, behind)) = rest.split_first() {
        rest = behind;
        if head & 2 > 0 {
            rest = &rest[2 + usize::from(u16::from_le_bytes([rest[0], rest[1]]))..];
        }
        if head & 4 > 0 {
            let count = usize::from(rest[0]) + 1;
            rest = &rest[1 + count.min(32) + if head & 8 > 0 { count.div_ceil(8) } else { 0 }..];
            most = most.max(count);
        }
        flags |= head;
    }
    assert_eq!((flags, most > 32), (0b1111, true), "{most} labels");
}

/// All sections of the id index, except the jump table of documents: up to at least 16,384 documents are one block.
#[test]
fn every_section_of_ids_has_a_golden_file() {
    for section in [Section::Ids, Section::IdStarts, Section::IdIndex, Section::IdFilter, Section::IdDocs] {
        let file = if section == Section::IdFilter { "ids-uuid" } else { "ids-index" };
        assert!(!id_section(file, section).is_empty());
    }
}
