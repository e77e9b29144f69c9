//! Zip archives as inputs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::sandbox::Sandbox;

/// A zip archive of files, each a name and its text.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let start = u32::try_from(archive.len()).unwrap();
        // Version 2.0, no flags, DEFLATE, no time.
        let mut entry = [20_u16, 0, 8, 0, 0].map(u16::to_le_bytes).concat();
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let sizes = [packed.len(), text.len()].map(|len| u32::try_from(len).unwrap());
        entry.extend([crc.sum(), sizes[0], sizes[1]].map(u32::to_le_bytes).concat());
        entry.extend([u16::try_from(name.len()).unwrap(), 0].map(u16::to_le_bytes).concat());
        archive.extend([b"PK\x03\x04", &entry[..], name.as_bytes(), &packed].concat());
        // No comment, disk 0, no attributes.
        let rest = [&[0; 10], &start.to_le_bytes()[..]].concat();
        directory.extend([b"PK\x01\x02\x14\0", &entry[..], &rest, name.as_bytes()].concat());
    }
    let count = u16::try_from(files.len()).unwrap();
    let place =
        [directory.len(), archive.len()].map(|len| u32::try_from(len).unwrap().to_le_bytes()).concat();
    archive.extend(directory);
    archive.extend(
        [b"PK\x05\x06\0\0\0\0", &[count; 2].map(u16::to_le_bytes).concat()[..], &place, &[0; 2]].concat(),
    );
    archive
}

#[test]
fn an_archive_with_one_file_is_read_as_that_file() {
    let text = "a,b\n1,x\n2,y\n";
    for files in
        [&[("sub/a.csv", text)][..], &[("sub/", ""), ("sub/a.csv", text), ("__MACOSX/sub/._a.csv", "?")]]
    {
        let sandbox = Sandbox::with("data.zip", zip(files));
        let built = sandbox.dv(&["build", "data.zip", "-o", "a.dv"]);
        assert_eq!((built.code, built.err.as_str()), (0, ""));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    }
}

#[test]
fn other_archives_are_refused() {
    let refused = |name: &str, bytes: Vec<u8>, code: i32, expected: &str| {
        let sandbox = Sandbox::with(name, bytes);
        let run = sandbox.dv(&["build", name, "-o", "a.dv"]);
        assert_eq!((run.code, run.err.as_str()), (code, expected));
        assert!(!sandbox.exists("a.dv"));
    };
    let all = [("a.csv", "a\n"), ("b.csv", "b\n"), ("c.csv", "c\n"), ("d.csv", "d\n")];
    let expected = "dv: a.zip: expected a zip archive with one file, found 4: \"a.csv\", \"b.csv\", \"c.csv\", …\n    \
                    hint: unpack it first: unzip a.zip\n";
    refused("a.zip", zip(&all), 1, expected);
    let expected = "dv: a.zip: expected a zip archive with one file, found none\n    hint: unpack it first: unzip a.zip\n";
    refused("a.zip", zip(&[]), 1, expected);
    let expected = "dv: a.xlsx: expected a zip archive with one file, found 2: \"xl/workbook.xml\", \"x\"\n    \
                    hint: save the sheet of the workbook as CSV\n";
    refused("a.xlsx", zip(&[("xl/workbook.xml", ""), ("x", "")]), 1, expected);
    let mut wrong = zip(&[("a.csv", "a,b\n1,2\n")]);
    let checksum = wrong.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 16;
    wrong[checksum] ^= 1;
    refused("a.zip", wrong, 3, "dv: a.zip: the checksum of the file in the archive is wrong\n");
    let mut entries = zip(&[("a.csv", "a,b\n1,2\n")]);
    let count = entries.len() - 12;
    entries[count] = 2;
    refused("a.zip", entries, 3, "dv: a.zip: invalid Zip archive: Unexpected end of file\n");
    let whole = zip(&[("a.csv", "a,b\n1,2\n")]);
    for len in 4..whole.len() {
        let sandbox = Sandbox::with("a.zip", &whole[..len]);
        let run = sandbox.dv(&["build", "a.zip", "-o", "a.dv"]);
        assert!(run.code == 3 && run.err.starts_with("dv: a.zip: "), "{len}: {run:?}");
    }
    let sandbox = Sandbox::new();
    let run = sandbox.dv_with(&["build", "-", "-o", "a.dv"], &whole);
    assert!(run.err.starts_with("dv: <stdin>: a zip archive, which dv cannot read from a pipe\n"), "{run:?}");
}

/// Flags are at byte 8 of an entry of the directory, the method is at byte 10.
#[test]
fn other_ways_of_packing_are_refused() {
    for (at, value, how) in [(8, 1, "encrypted"), (10, 12, "compressed in a way that dv cannot read")] {
        let mut bytes = zip(&[("a.csv", "a,b\n1,2\n")]);
        let entry = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        bytes[entry + at] = value;
        let run = Sandbox::with("a.zip", bytes).dv(&["build", "a.zip", "-o", "a.dv"]);
        let expected = format!("dv: a.zip: the file \"a.csv\" in it is {how}\n    hint: unpack it first\n");
        assert_eq!((run.code, run.err), (1, expected));
    }
}

#[test]
fn a_file_that_unpacks_to_much_is_read_in_pieces() {
    let text = format!("a\n{}", "1\n".repeat(1_000_000));
    let bytes = zip(&[("a.csv", &text)]);
    assert!(bytes.len() < 20_000);
    let sandbox = Sandbox::with("a.zip", bytes);
    sandbox.ok(&["build", "a.zip", "-o", "a.dv"]);
    assert_eq!(sandbox.ok(&["count", "a.dv"]), "1000000\n");
}
