use super::*;
use std::io::Cursor;
use std::io::Write as _;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

fn text(name: &str, bytes: Vec<u8>) -> Result<(String, InputFormat)> {
    let source = Source::new(Path::new(name));
    let mut opened = source.open_bytes(Box::new(Cursor::new(bytes)), None, Encoding::Utf8)?;
    let mut text = String::new();
    opened.reader.read_to_string(&mut text).map_err(|e| InputError::unreadable(&source.name, e))?;
    Ok((text, opened.format))
}

#[test]
fn compression_is_seen_in_the_bytes_and_format_in_the_name() {
    for (name, format) in [
        ("a.csv", InputFormat::Csv),
        ("A.CSV.GZ", InputFormat::Csv),
        ("a.b.tsv.zst", InputFormat::Tsv),
        ("a.ndjson", InputFormat::Ndjson),
        ("dir.csv/a.jsonl.gz", InputFormat::Ndjson),
    ] {
        for bytes in [b"a\n1\n".to_vec(), gzip(b"a\n1\n"), zstd(b"a\n1\n")] {
            assert_eq!(text(name, bytes).unwrap(), ("a\n1\n".to_owned(), format), "{name}");
        }
    }
}

#[test]
fn members_and_frames_follow_each_other() {
    let joined = [gzip(b"a,b\n"), gzip(b"1,2\n")].concat();
    assert_eq!(text("-", joined).unwrap().0, "a,b\n1,2\n");
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
    let joined = [skipped.to_vec(), zstd(b"a,b\n"), skipped.to_vec(), zstd(b"1,2\n"), zstd(b"")].concat();
    assert_eq!(text("-", joined).unwrap().0, "a,b\n1,2\n");
}

#[test]
fn a_large_file_survives_both() {
    let long: String = (0..200_000u64).map(|i| format!("{i},{}\n", i * i)).collect();
    assert_eq!(text("a.csv", gzip(long.as_bytes())).unwrap().0, long);
    assert_eq!(text("a.csv", zstd(long.as_bytes())).unwrap().0, long);
}

#[test]
fn damaged_files_are_errors_that_name_them() {
    let mut cut = gzip(&[b'x'; 10_000]);
    cut.truncate(cut.len() - 9);
    let mut flipped = zstd(b"hello, hello, hello, world");
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    for bytes in [cut, flipped, zstd(b"hello")[..8].to_vec(), vec![0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
        let error = text("a.csv", bytes).unwrap_err().to_string();
        assert!(error.starts_with("a.csv: "), "{error}");
    }
}

#[test]
fn the_first_line_tells_the_format_of_stdin() {
    assert_eq!(text("-", b"{\"a\":1}".to_vec()).unwrap().1, InputFormat::Ndjson);
    assert_eq!(text("x", b"a,b\t\n".to_vec()).unwrap().1, InputFormat::Csv);
    assert_eq!(text("x.txt", b"a\tb\n".to_vec()).unwrap().1, InputFormat::Tsv);
    let error = text("-", b"hello\n".to_vec()).unwrap_err();
    assert_eq!(error.to_string(), "<stdin>: unknown format: neither the name nor the first line gives it");
    assert!(error.hint().unwrap().contains("--input-format"));
}

#[test]
fn marks_are_dropped_and_other_packings_get_advice() {
    for bytes in [&b"\xef\xbb\xbfa,b"[..], b"\xff\xfea\0,\0b\0", b"\xfe\xff\0a\0,\0b"] {
        assert_eq!(text("a.csv", bytes.to_vec()).unwrap().0, "a,b");
        assert_eq!(text("a.csv", gzip(bytes)).unwrap().0, "a,b");
        assert_eq!(text("-", bytes.to_vec()).unwrap(), ("a,b".to_owned(), InputFormat::Csv));
    }
    for (bytes, hint) in [
        (&b"BZh91AY"[..], "bzip2 -dc a.csv | dv build - …"),
        (b"\xfd7zXZ\0", "xz -dc"),
        (b"\x04\x22\x4d\x18a", "lz4 -dc"),
        (b"PK\x03\x04", "unzip -p"),
    ] {
        let error = text("a.csv", bytes.to_vec()).unwrap_err();
        assert!(error.hint().unwrap().contains(hint), "{error}");
    }
    let error = text("a b.csv.br", b"\x0b\x03\x80a,b\n1,2\n\x03".to_vec()).unwrap_err();
    assert!(error.to_string().ends_with(": compressed with brotli, which dv cannot read"), "{error}");
    assert_eq!(error.hint(), Some("decompress it first: brotli -dc 'a b.csv.br' | dv build - …"));
}

#[test]
fn missing_files_are_unreadable() {
    let error = Source::new(Path::new("/no/such/file.csv")).open(None, Encoding::Utf8, None).err().unwrap();
    assert!(matches!(error, InputError::Unreadable { .. }));
    assert!(error.to_string().starts_with("/no/such/file.csv: "));
}
