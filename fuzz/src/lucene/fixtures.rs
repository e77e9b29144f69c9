//! Segments of indexes that Lucene wrote, each alone in an index: with gaps, lists, byte strings, compound files, deletes, updates,
//! overlays and terms.

use std::path::Path;
use std::{fs, io};

use docvalues_testkit::lucene::reseal_lucene;

/// An index of each family of formats, and a segment of 63 or 65 documents. Those of odd numbers are compound.
const SEGMENTS: [(&str, &str); 6] = [
    ("7.0", "_2"),
    ("8.0", "_1"),
    ("8.11-compressed", "_2"),
    ("9.0", "_2"),
    ("10.5", "_1"),
    ("10.6-overlays", "_2"),
];

/// The ends of files that are never opened: stored fields and positions.
const UNREAD: [&str; 6] = [".fdt", ".fdx", ".fdm", ".pos", ".psm", ".pay"];

/// The postings of the last of [`SEGMENTS`], and the Bloom filter that wraps them in [`behind_bloom_filter`].
const POSTINGS: &str = "Lucene104";
const FILTER: &str = "ES87BloomFilter";

/// The files of each segment, by the names that those of a segment `_0` have; then the last one
/// [behind a Bloom filter](behind_bloom_filter). No files if the fixtures are missing.
pub(super) fn segments() -> Vec<Vec<(String, Vec<u8>)>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/lucene/fixtures/data");
    let mut segments: Vec<_> =
        SEGMENTS.iter().filter_map(|(index, segment)| files(&data.join(index), segment).ok()).collect();
    let filtered = segments.last().cloned().map(behind_bloom_filter);
    segments.extend(filtered);
    segments
}

/// The files as Elasticsearch writes them if each indexed field has a Bloom filter: a `.bfm` names the postings.
fn behind_bloom_filter(mut files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let string = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    let format = |name: &str| [string("PerFieldPostingsFormat.format"), string(name)].concat();
    let (suffix, mut id) = (format!("{FILTER}_0"), Vec::new());
    for (name, bytes) in &mut files {
        match name.as_str() {
            // In its header, after magic, name and version.
            "_0.si" => id = bytes[9 + usize::from(bytes[4])..][..16].to_vec(),
            "_0.fnm" => {
                *bytes = replace(bytes, &format(POSTINGS), &format(FILTER));
                reseal_lucene(bytes);
            }
            _ => {}
        }
    }
    let mut meta = 0x3FD7_6C17_u32.to_be_bytes().to_vec();
    meta.extend(string(FILTER));
    meta.extend([0; 4]);
    meta.extend(id);
    meta.extend(string(&suffix));
    // One group, of all fields: there are fewer than 100.
    meta.push(1);
    meta.extend(string(POSTINGS));
    meta.extend(string(&format!("{POSTINGS}_0")));
    meta.push(100);
    meta.extend(0..100_u8);
    // The footer.
    meta.extend([0; 16]);
    reseal_lucene(&mut meta);
    files.push((format!("_0_{suffix}.bfm"), meta));
    files
}

/// The bytes with `to` in place of each `from`.
fn replace(mut bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(at) = bytes.windows(from.len()).position(|here| here == from) {
        out.extend([&bytes[..at], to].concat());
        bytes = &bytes[at + from.len()..];
    }
    out.extend(bytes);
    out
}

fn files(index: &Path, segment: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(index)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_read = !UNREAD.iter().any(|end| name.ends_with(end));
        if name.starts_with("segments_") {
            files.push(("segments_1".to_owned(), alone(&fs::read(&path)?, segment)));
        } else if let Some(rest) = name.strip_prefix(segment)
            && rest.starts_with(['_', '.'])
            && is_read
        {
            files.push((format!("_0{rest}"), fs::read(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

/// The commit `segments_1` of one of the segments of a commit, which becomes `_0`.
///
/// Each segment begins with its name and its id, whose first bytes are those of the commit's own id. The last one ends before an
/// empty map and the footer. Before the first are the number of segments and the oldest release.
fn alone(commit: &[u8], segment: &str) -> Vec<u8> {
    let (id, name) = (&commit[17..29], segment.as_bytes());
    let begins = |at: &usize| commit[*at..].starts_with(b"\x02_") && commit[*at + 3..].starts_with(id);
    let starts: Vec<usize> = (35..commit.len() - 17).filter(begins).chain([commit.len() - 17]).collect();
    let mut out = commit[..starts[0] - 7].to_vec();
    // The suffix of the header: the generation.
    out[34] = b'1';
    out.extend(1_u32.to_be_bytes());
    out.extend(&commit[starts[0] - 3..starts[0]]);
    out.extend(b"\x02_0");
    for pair in starts.windows(2).filter(|pair| commit[pair[0] + 1..].starts_with(name)) {
        out.extend(&commit[pair[0] + 3..pair[1]]);
    }
    // An empty map, and the footer.
    out.extend([0; 17]);
    reseal_lucene(&mut out);
    out
}
