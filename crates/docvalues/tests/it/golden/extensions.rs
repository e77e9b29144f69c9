//! Files with other directories: one of a later release with unknown extensions, of which readers read the columns and skip
//! the rest; files with invalid fine zones; one without a feature that it uses.

use std::fs;

use docvalues::column::Section;
use docvalues::format::file::directory::content_id;
use docvalues::format::file::frame::{FOOTER_LEN, Footer};
use docvalues::format::file::root::{Extension, ROOT_ENTRY_LEN, Root};
use docvalues::format::numeric::FineZones;
use docvalues::{OpenOptions, Segment};

use super::{python, stored, text, twin};

/// `whole-file.dv` with two extensions. The second has a section of 128 bytes that this release cannot check.
fn later() -> Vec<u8> {
    let bytes = stored("whole-file.dv");
    let footer = Footer::decode(bytes.last_chunk().unwrap(), bytes.len() as u64).unwrap();
    let (root_at, root_end) = (footer.root_offset as usize, footer.root().end as usize);
    let mut root = Root::parse(&bytes[root_at..root_end], &footer).unwrap();

    let pages_at = root.pages[0].bytes.start as usize;
    let sections_end = root.pages.last().unwrap().sections.end;
    let behind = pages_at as u64 + 128;
    for page in &mut root.pages {
        page.bytes = page.bytes.start + 128..page.bytes.end + 128;
    }
    let extension = |tag, sections, body: &[u8]| Extension { tag, sections, body: body.to_vec() };
    root.extensions.push(extension(7, sections_end..sections_end, b"says it all"));
    root.extensions.push(extension(1 << 31, sections_end..behind, &128_u64.to_le_bytes()));

    let out = [&bytes[..pages_at], &[0xa5; 128], &bytes[pages_at..root_at]].concat();
    ended(out, &root, footer)
}

/// The file that begins with `out`, up to its pages, and ends with `root`.
fn ended(mut out: Vec<u8>, root: &Root, footer: Footer) -> Vec<u8> {
    let encoded = root.encode();
    let (_, extensions) = encoded.split_at(root.pages.len() * ROOT_ENTRY_LEN);
    let pages = root.pages.iter().map(|page| &out[page.bytes.start as usize..page.bytes.end as usize]);
    let footer = Footer {
        id: content_id(footer.docs, pages, extensions),
        root_offset: out.len() as u64,
        root_len: encoded.len() as u32,
        root_crc: crc32fast::hash(&encoded),
        ..footer
    };
    out.extend(encoded);
    out.resize(out.len().next_multiple_of(FOOTER_LEN), 0);
    out.extend(footer.encode());
    out
}

#[test]
fn a_later_file_with_extensions_is_read() {
    let segment = Segment::from_bytes(later(), OpenOptions::new()).unwrap();
    segment.verify().unwrap();
    assert!(text::of(&segment).as_bytes() == stored(&twin("whole-file.dv")));
}

/// The footer must have the feature of a column's coding, so that releases without it refuse the file.
#[test]
fn a_footer_without_the_feature_of_a_column_is_refused() {
    let mut bytes = stored("binary-onpair.dv");
    Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap().verify().unwrap();
    let at = bytes.len() - FOOTER_LEN;
    let footer = Footer::decode(bytes.last_chunk().unwrap(), bytes.len() as u64).unwrap();
    assert_eq!(footer.required, 1);
    bytes[at..].copy_from_slice(&Footer { required: 0, ..footer }.encode());
    let segment = Segment::from_bytes(bytes, OpenOptions::new()).unwrap();
    let refused = segment.verify().unwrap_err().to_string();
    assert!(refused.contains("a column uses a feature that the footer does not have"), "{refused}");
}

/// The same for an id index without copies of the ids.
#[test]
fn a_footer_without_the_feature_of_ids_in_a_column_is_refused() {
    let mut bytes = stored("ids-in-column.dv");
    Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap().verify().unwrap();
    let at = bytes.len() - FOOTER_LEN;
    let footer = Footer::decode(bytes.last_chunk().unwrap(), bytes.len() as u64).unwrap();
    assert_eq!(footer.required, 2);
    bytes[at..].copy_from_slice(&Footer { required: 0, ..footer }.encode());
    let segment = Segment::from_bytes(bytes, OpenOptions::new()).unwrap();
    let refused = segment.verify().unwrap_err().to_string();
    assert!(refused.contains("the id index uses a feature that the footer does not have"), "{refused}");
}

/// `stretches.dv`, with a changed extension of fine zones.
fn with_fine_zones(change: impl FnOnce(&mut Vec<FineZones>)) -> Vec<u8> {
    let bytes = stored("stretches.dv");
    let footer = Footer::decode(bytes.last_chunk().unwrap(), bytes.len() as u64).unwrap();
    let (root_at, root_end) = (footer.root_offset as usize, footer.root().end as usize);
    let mut root = Root::parse(&bytes[root_at..root_end], &footer).unwrap();
    let mut fine_zones = root.fine_zones(&footer).unwrap();
    change(&mut fine_zones);
    root.extensions[0].body = FineZones::encode_all(&fine_zones);
    ended(bytes[..root_at].to_vec(), &root, footer)
}

type Change = fn(&mut Vec<FineZones>);

#[test]
fn invalid_fine_zones_are_refused() {
    let checked = |file: Vec<u8>| -> Result<(), docvalues::column::Error> {
        let segment = Segment::from_bytes(file, OpenOptions::new())?;
        for name in ["a", "few", "far", "times", "two"] {
            docvalues::ColumnSource::column(&segment, name)?;
        }
        segment.verify()
    };
    checked(with_fine_zones(|_| {})).unwrap();
    // Columns `a`, `far`, `few`, `times`, `two`. The second and the last two have a zone map.
    let columns: Vec<u32> = {
        let mut columns = Vec::new();
        with_fine_zones(|fine_zones| columns.extend(fine_zones.iter().map(|fine_zones| fine_zones.column)));
        columns
    };
    assert_eq!(columns, [1, 3, 4]);
    let breaks: [(Change, &str); 11] = [
        (|all| all.clear(), "expected 4 bytes, found 0"),
        (|all| all[1].column = 1, "do not ascend"),
        (|all| all[2].column = 5, "column with fine zones, counted from 1: expected at most 5, found 6"),
        (|all| all[0].column = 0, "fine zones without a zone map"),
        (|all| all[1].column = 2, "fine zones without a zone map"),
        (|all| all.truncate(2), "a zone map without fine zones"),
        (|all| all.retain(|of| of.column != 3), "a zone map without fine zones"),
        (|all| all[0].section.len -= 2, "length of the fine zones"),
        (|all| all[0].section.crc ^= 1, "checksum"),
        (|all| all[0].section.offset = 64, "lies elsewhere"),
        (|all| all[1].section = all[0].section, "lies elsewhere"),
    ];
    for (i, (change, words)) in breaks.into_iter().enumerate() {
        let error = checked(with_fine_zones(change)).unwrap_err().to_string();
        assert!(error.contains(words), "break {i}: {error}");
    }
}

#[test]
fn the_reader_in_python_refuses_invalid_fine_zones() {
    if !python::have_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stretches.dv");
    let mut wrong = stored("stretches.dv");
    let segment = Segment::from_bytes(wrong.clone(), OpenOptions::new()).unwrap();
    let columns = segment.usage().unwrap().columns;
    let section = columns[3].sections.last().unwrap();
    assert_eq!(section.section, Section::FineZones);
    wrong[section.offset as usize + 1] ^= 1;
    docvalues_fuzz::reseal(&mut wrong);
    let error = Segment::from_bytes(wrong.clone(), OpenOptions::new()).unwrap().verify().unwrap_err();
    assert!(error.to_string().contains("a fine zone is not from"), "{error}");
    fs::write(&file, wrong).unwrap();
    let printed = python::read_dv(&file, &[]);
    assert!(String::from_utf8(printed.stderr).unwrap().contains("fine zones that do not fit the numbers"));
}

#[test]
fn the_reader_in_python_skips_extensions() {
    if !python::have_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("later.dv");
    fs::write(&file, later()).unwrap();
    let printed = python::read_dv(&file, &[]);
    assert!(
        printed.stdout == stored(&twin("whole-file.dv")),
        "{}",
        String::from_utf8(printed.stderr).unwrap()
    );
}
