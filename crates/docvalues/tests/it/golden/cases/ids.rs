//! Golden files with an index of ids: each form, template and layout once.

use docvalues::LogicalType::*;
use docvalues::reader::IdForm;
use docvalues::writer::{Duplicates, IdOptions};

use super::{Golden, golden, mix, text};

pub(super) fn all() -> Vec<Golden> {
    vec![
        of("ids-no-documents", 0, BLOCKS, |_| None),
        of("ids-none", 9, BLOCKS, |_| None),
        of("ids-one", 3, BLOCKS, |doc| (doc == 1).then(|| text("the one"))),
        of("ids-raw", 70, UNFILTERED, any),
        of("ids-long", 30, BLOCKS, long),
        of("ids-uuid", 90, BLOCKS, |doc| (doc % 5 > 0).then(|| uuid(doc))),
        of("ids-digits", 60, UNFILTERED, |doc| Some(text(&format!("doc-{:010}", mix(doc) % 10_000_000_000)))),
        of("ids-hex", 60, SEEDED, |doc| Some(text(&format!("{:015x}", mix(doc) >> 4)))),
        of("ids-upper-case-hex", 40, UNFILTERED, |doc| Some(text(&format!("<{:08X}>", mix(doc) >> 32)))),
        of("ids-base64url", 60, UNFILTERED, |doc| Some(base64url(doc))),
        of("ids-index", 1_040, UNFILTERED, |doc| Some(grouped(doc))),
        of("ids-trie", 300, TRIE, |doc| any(doc).or_else(|| Some(word(doc)))),
        of("ids-trie-map", 300, TRIE, |doc| (doc % 7 > 0).then(|| mapped(doc))),
        of("ids-fst", 300, FST, |doc| any(doc).or_else(|| Some(word(doc)))),
        of("ids-fst-ends", 200, FST, |doc| {
            Some(text(&format!("user{:03}@mail.example.org", doc * 37 % 200)))
        }),
        of("ids-in-column", 300, IN_COLUMN, |doc| {
            Some([mix(doc).to_be_bytes(), mix(doc + 1_000).to_be_bytes()].concat())
        }),
        of("ids-fst-digits", 150, FST, |doc| Some(text(&format!("{:08}", doc * 7_919)))),
    ]
}

const BLOCKS: IdOptions =
    IdOptions::new().form(IdForm::Blocks).filter_bits(16).seed(0).duplicates(Duplicates::Refuse);
const UNFILTERED: IdOptions = BLOCKS.filter_bits(0);
const SEEDED: IdOptions = BLOCKS.filter_bits(9).seed(0x0123_4567_89ab_cdef);
const TRIE: IdOptions = BLOCKS.form(IdForm::Exact);
const FST: IdOptions = BLOCKS.form(IdForm::Fst);
const IN_COLUMN: IdOptions = BLOCKS.form(IdForm::Column);

fn of(name: &'static str, docs: u32, options: IdOptions, id: impl Fn(usize) -> Option<Vec<u8>>) -> Golden {
    let golden = golden(name, docs).binary("id", Bytes, &[], id);
    Golden { ids: Some(("id", options)), ..golden }
}

/// Ids of all lengths and bytes, of which some begin with others; also the empty one.
fn any(doc: usize) -> Option<Vec<u8>> {
    match doc {
        0 => Some(vec![]),
        1..9 => Some(vec![0; doc]),
        9..60 if doc.is_multiple_of(3) => Some(text("same beginning")[..14 - doc % 5].repeat(doc / 9)),
        9..60 => Some(
            [&mix(doc).to_le_bytes()[..], &mix(doc + 99).to_le_bytes()].concat()[..1 + doc % 16].to_vec(),
        ),
        60..63 => Some([&[b'y'; 90][..], &[doc as u8], &[b'z'; 70]].concat()),
        _ => None,
    }
}

/// Ids that need two bytes for their lengths, and whose hashes take all of the ways that XXH3 has.
fn long(doc: usize) -> Option<Vec<u8>> {
    let len = [0, 3, 8, 16, 17, 33, 65, 97, 128, 129, 200, 240, 241, 320, 1_000, 1_100];
    let byte = |at| b'a' + (mix(doc * 2_000 + at) % 26) as u8;
    len.get(doc / 2).filter(|_| doc.is_multiple_of(2)).map(|&len| (0..len).map(byte).collect())
}

fn uuid(doc: usize) -> Vec<u8> {
    let hex = format!("{:016x}{:016x}", mix(doc), mix(doc + 1_000));
    text(&format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

/// As what Lucene and Elasticsearch make: 20 characters, of which some change with time and some do not.
fn base64url(doc: usize) -> Vec<u8> {
    const CHARS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    let char = |at: usize| CHARS[(if at < 9 { mix(doc + 64 * at) } else { mix(at) }) as usize % 64];
    [b"id:", &(0..20).map(char).collect::<Vec<_>>()[..], b"/v1"].concat()
}

/// Words that have their beginnings in common, and lie apart behind these.
fn word(doc: usize) -> Vec<u8> {
    text(&format!("{}/{}/{:x}.{doc}", ["common", "other"][doc % 2], mix(doc % 50) % 40, mix(doc) % 700))
}

/// Groups that are blocks each: of the first 36, the index lists no labels any more; the others have a prefix there,
/// and separators of which one begins with another.
fn grouped(doc: usize) -> Vec<u8> {
    let (group, number) = (doc / 26, doc % 26);
    match group {
        ..36 => text(&format!("{}{number:02}", char::from(b'0' + group as u8))),
        _ => text(&format!("~common/{}{number:02}", ["a", "b", "bz", "c"][group - 36])),
    }
}

/// Keys whose next bytes lie apart, and are many.
fn mapped(doc: usize) -> Vec<u8> {
    [&[(doc % 100 * 2) as u8][..], &(doc as u16 * 37).to_be_bytes()].concat()
}
