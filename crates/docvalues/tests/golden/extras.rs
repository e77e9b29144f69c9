//! A file of a later release, which has something beside its columns: all readers of today read the
//! columns, and leave the rest alone.

use std::fs;

use docvalues::format::file::directory::content_id;
use docvalues::format::file::frame::{FOOTER_LEN, Footer};
use docvalues::format::file::root::{Extra, ROOT_ENTRY_LEN, Root};
use docvalues::{OpenOptions, Segment};

use crate::{python, stored, text, twin};

/// `whole-file.dv` with two extras, of which the second has a section of 128 bytes that nobody can check.
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
    let extra = |tag, sections, body: &[u8]| Extra { tag, sections, body: body.to_vec() };
    root.extras.push(extra(7, sections_end..sections_end, b"says it all"));
    root.extras.push(extra(1 << 31, sections_end..behind, &128_u64.to_le_bytes()));

    let mut out = [&bytes[..pages_at], &[0xa5; 128], &bytes[pages_at..root_at]].concat();
    let encoded = root.encode();
    let (_, extras) = encoded.split_at(root.pages.len() * ROOT_ENTRY_LEN);
    let pages = root.pages.iter().map(|page| &out[page.bytes.start as usize..page.bytes.end as usize]);
    let footer = Footer {
        id: content_id(footer.docs, pages, extras),
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
fn a_later_file_with_extras_is_read() {
    let segment = Segment::from_bytes(later(), OpenOptions::new()).unwrap();
    segment.verify().unwrap();
    assert!(text::of(&segment).as_bytes() == stored(&twin("whole-file.dv")));
}

#[test]
fn the_reader_in_python_skips_extras() {
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
