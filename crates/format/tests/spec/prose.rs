//! The constants, and every number from 100 up in the prose: each must be part of a sentence that this test builds from
//! the code.

use docvalues_format::bits::{self, MAX_SPLIT_WIDTH, OVERREAD};
use docvalues_format::dictionary::{BLOCK_TERMS, KEY_LEN, MAX_PREFIX};
use docvalues_format::error::Section;
use docvalues_format::file::column::Statistics;
use docvalues_format::file::directory::PAGE_TARGET;
use docvalues_format::file::field::MAX_NAME;
use docvalues_format::file::frame::{FOOTER_LEN, HEADER_LEN, VERSION};
use docvalues_format::file::root::{MAX_COLUMNS, ROOT_ENTRY_LEN};
use docvalues_format::file::sort::MAX_SORT_KEYS;
use docvalues_format::granule::{ALIGN, GRANULE, LARGE_SECTION, Layout, SectionRef, extent, seal};
use docvalues_format::id::{BLOCK_DOCS, DocId, MAX_DOCS, MAX_VALUES_PER_DOC};
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{
    BLOCK_SHIFTS, DECIMAL_LIMIT, FINE_ZONE, MAX_DIGITS, MAX_TABLE, ONE_BLOCK, Stride, ZONE, ZONE_LEN,
    ZONES_PER_ZONE,
};
use docvalues_format::presence::{Presence, PresenceReader};
use docvalues_format::source::{Owned, TAIL};

use crate::document::{Document, number};
use crate::parts::{present_sections, whole_file};

/// Whether a reader accepts a presence block of kind `tag` in which `values` of 65,536 documents have a value.
fn is_read(tag: u8, values: u32) -> bool {
    let payload = match tag {
        2 => 2 * values as usize,
        _ => 520 + values as usize,
    };
    let mut blocks = vec![tag, 0, 0, 0];
    blocks.extend(values.to_le_bytes());
    blocks.resize(8 + payload.next_multiple_of(8), 0);
    // An empty block of one document, so that not all documents have a value.
    blocks.extend([0; 8]);
    let blocks = Owned::new(Section::Presence, blocks);
    let reader = PresenceReader::open(
        Presence::Blocks { values, blocks, jump: None },
        BLOCK_DOCS + 1,
        JumpTables::BuildOnFirstUse,
    );
    reader.unwrap().rank(DocId::new(0)).is_ok()
}

/// The largest number for which `holds` is true; it must be true for `low` and false for `high`.
fn most(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    assert!(holds(low) && !holds(high));
    while low + 1 < high {
        let mid = low.midpoint(high);
        *if holds(mid) { &mut low } else { &mut high } = mid;
    }
    low
}

/// The number of documents between two entries of a table, from the second entry of a block in which every second
/// document has a value.
fn step_of(tag: u8, values: u32) -> u64 {
    let (blocks, _) = present_sections(BLOCK_DOCS, (0..values).map(|i| i * 2));
    assert_eq!(blocks[0], tag);
    2 * u64::from(u16::from_le_bytes([blocks[10], blocks[11]]))
}

fn constant(name: &str) -> u64 {
    let int = |n: usize| n as u64;
    match name {
        "VERSION" => VERSION.into(),
        "HEADER_LEN" => int(HEADER_LEN),
        "FOOTER_LEN" => int(FOOTER_LEN),
        "ROOT_ENTRY_LEN" => int(ROOT_ENTRY_LEN),
        "SECTION_REF_LEN" => int(SectionRef::ENCODED_LEN),
        "STATISTICS_LEN" => int(Statistics::ENCODED_LEN),
        "MAX_SORT_KEYS" => int(MAX_SORT_KEYS),
        "ALIGN" => int(ALIGN),
        "TAIL" => int(TAIL),
        "GRANULE" => int(GRANULE),
        "LARGE_SECTION" => LARGE_SECTION,
        "PAGE_TARGET" => int(PAGE_TARGET),
        "MAX_DOCS" => MAX_DOCS.into(),
        "MAX_COLUMNS" => MAX_COLUMNS.into(),
        "MAX_NAME" => int(MAX_NAME),
        // Their lengths are a u8 and a u32: see the layouts.
        "MAX_FORMAT" => u8::MAX.into(),
        "MAX_TERMS" => u32::MAX.into(),
        "MAX_VALUE" => docvalues_format::binary::MAX_VALUE.into(),
        "MAX_VALUES_PER_DOC" => MAX_VALUES_PER_DOC.into(),
        "MIN_BLOCK_SHIFT" => (*BLOCK_SHIFTS.start()).into(),
        "MAX_BLOCK_SHIFT" => (*BLOCK_SHIFTS.end()).into(),
        "ONE_BLOCK" => ONE_BLOCK.into(),
        "MAX_SPLIT_WIDTH" => MAX_SPLIT_WIDTH.into(),
        "OVERREAD" => int(OVERREAD),
        "MAX_TABLE" => int(MAX_TABLE),
        "MAX_DIGITS" => int(MAX_DIGITS.into()),
        "DECIMAL_LIMIT" => DECIMAL_LIMIT.cast_unsigned(),
        "ZONE" => ZONE,
        "ZONES_PER_ZONE" => ZONES_PER_ZONE,
        "FINE_ZONE" => FINE_ZONE,
        "BLOCK_DOCS" => BLOCK_DOCS.into(),
        "LIST_MAX" => most(1, 1_000, |n| is_read(2, u32::try_from(n).unwrap())),
        "SPARSE_MAX" => most(1, BLOCK_DOCS.into(), |n| is_read(3, u32::try_from(n).unwrap())),
        "BUCKET" => step_of(3, 1_000),
        "RANK_STRIDE" => step_of(4, 20_000),
        "ESCAPE" => docvalues_format::binary::ESCAPE.into(),
        "MAX_SYMBOL" => docvalues_format::binary::MAX_SYMBOL.into(),
        "CODES" => int(docvalues_format::binary::CODES),
        "MAX_TOKENS" => int(docvalues_format::binary::MAX_TOKENS),
        "MAX_TOKEN" => int(docvalues_format::binary::MAX_TOKEN),
        "BLOCK_TERMS" => BLOCK_TERMS.into(),
        "KEY_LEN" => int(KEY_LEN),
        "MAX_PREFIX" => int(MAX_PREFIX),
        _ => panic!("an unknown constant: {name}"),
    }
}

#[test]
fn every_constant_is_the_code_s() {
    for row in Document::spec().table("Limits and constants", "constant") {
        let name = row[0].trim_matches('`');
        assert_eq!(number(&row[1]), Some(constant(name)), "{name}");
    }
}

#[test]
fn every_constant_has_one_meaning() {
    let names = |document: Document, title| {
        document.table(title, "constant").into_iter().map(|mut row| row.remove(0))
    };
    let of_ids: Vec<String> = names(Document::ids(), "Ids").collect();
    assert!(!of_ids.is_empty());
    assert!(!names(Document::spec(), "Limits and constants").any(|name| of_ids.contains(&name)));
}

/// A number with commas, as in the prose.
fn n(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// The longest payload that needs `levels` levels of checksums.
fn longest(levels: usize) -> u64 {
    let fits = |len| Layout::of(len).is_some_and(|layout| layout.levels().len() <= levels + 1);
    most(1, 1 << 40, fits)
}

/// The kind of a block of 65,536 documents of which `set` have a value.
fn kind(set: impl Iterator<Item = u32>) -> u8 {
    present_sections(BLOCK_DOCS, set).0[0]
}

/// Sentences with numbers from the code.
fn sentences() -> Vec<String> {
    let (block, zone) = (n(BLOCK_DOCS), ZONE);
    let bytes = constant("CODES") - constant("MAX_TOKENS");
    let upper = zone * ZONES_PER_ZONE;
    let (sealed, crc) = seal(vec![0x61; 5_000]);
    let level_1 = Layout::of(5_000).unwrap().levels()[1];
    let dense = present_sections(BLOCK_DOCS, (0..40_000).step_by(2)).0.len() - 8;
    let ranks = usize::try_from(u64::from(BLOCK_DOCS) / constant("RANK_STRIDE") * 2).unwrap();
    let int = |n: u64| u32::try_from(n).unwrap();
    let lists = most(3, 1_000, |n| kind((0..int(n)).map(|i| i * 2)) == 2);
    let sparse = most(300, 20_000, |n| kind((0..int(n)).map(|i| i * 3)) == 3);
    let runs = most(1, 3_000, |n| kind((0..int(n) * 20).filter(|i| i % 20 < 15)) == 5);
    let starts = (2 * (u64::from(BLOCK_DOCS) / constant("BUCKET") + 1)).next_multiple_of(8);
    let slope = (160_i64 << 16) / 64;
    let mut packed = Vec::new();
    bits::pack(&[5, 1, 7], 3, &mut packed);
    let crc_check = crc32fast::hash(b"123456789");
    assert_eq!((ZONE_LEN, level_1.len), (16, 64));
    vec![
        "every number from 100 up".to_owned(),
        format!("the nine bytes `123456789` is `0x{crc_check:08X}`"),
        format!("A *granule* is {} bytes of a level", n(GRANULE)),
        format!("A payload of up to {} bytes needs no level but the first.", n(longest(0))),
        format!("One of up to {} bytes has level 1 as well", n(longest(1))),
        format!("one of up to {} bytes has level 2", n(longest(2))),
        format!(
            "A payload of 5,000 bytes `61`. Level 0 takes {} bytes, in two granules: {} bytes `61`, then {} bytes `61` and {} zeros.",
            n(level_1.at),
            n(GRANULE),
            n(5_000 - GRANULE),
            n(level_1.at - 5_000),
        ),
        format!(
            "the reference holds their checksum, `0x{crc:08X}`. The section takes {} bytes.",
            n(sealed.len())
        ),
        format!("`ceil(count / {zone})` entries for {} numbers each", n(zone)),
        format!("`ceil(count / {upper})` entries for {} each.", n(upper)),
        format!("A file may also have bounds for every {FINE_ZONE} numbers"),
        format!("bounds for every {FINE_ZONE} numbers, in two bytes"),
        format!("A section holds `ceil(count / {FINE_ZONE})` entries"),
        format!("**Example.** 5,000 numbers, 0, 1, 2, …, {}.", n(4_999_u64)),
        format!("The second fine zone begins {FINE_ZONE} above the smallest number"),
        format!("ends {} below the largest, {};", n(ZONE - 2 * FINE_ZONE), n(ZONE - 1)),
        format!("the last one begins {FINE_ZONE} above the smallest number of the second zone"),
        "(take 128 bits)".to_owned(),
        "1,250, 1,275 and −325; `base` is −325 and `gcd` 25".to_owned(),
        "**Example.** 1000, 1030, 1010, 1070. `min` is 1,000 and `gcd` 10".to_owned(),
        format!("0, 2, 5, 7, 10, 15, 15, 17, …, 160: number *i* is `floor(5 × i / 2)`"),
        format!("a slope of 2.5, which is {} units", n(slope)),
        format!("a block for each {block} documents."),
        format!("In a block of {block} documents, that is `list` for up to {lists} scattered documents"),
        format!("`sparse` for up to {}, and `runs` for up to {} runs", n(sparse), n(runs)),
        format!("entry = jump[doc / {BLOCK_DOCS}]"),
        format!("lookup(entry, doc % {BLOCK_DOCS})"),
        format!("**Example.** {} documents. All of the first block have a value", n(BLOCK_DOCS + 30)),
        format!("**Example.** {block} documents, of which 3, 700 and 65,534 have a value"),
        format!("Documents lie in buckets of {}; *n* = ceil(*d* / {0})", constant("BUCKET")),
        format!("A document's bucket is *k* / {}.", constant("BUCKET")),
        format!("`lows` begin at byte {starts} of the payload in a block of {block} documents"),
        format!("Search *k* % {} in `lows[starts[k / {0}] .. starts[k / {0} + 1]]`", constant("BUCKET")),
        format!("**Example.** {block} documents, of which 0, 2, 4, … 512 have a value: 128 in each of"),
        format!("*n* = ceil(*d* / {}) is the number of rank entries", constant("RANK_STRIDE")),
        format!(
            "In a block of {block} documents, `words` begin at byte {ranks}, and the payload takes {} bytes",
            n(dense)
        ),
        format!("`ranks[k / {}]` plus the bits set from document {0} × (*k* / {0})", constant("RANK_STRIDE")),
        "**Example.** 600 documents, of which 0, 2, 4, …, 598 and also 599 have a value".to_owned(),
        format!("It has at most {}.", n(MAX_VALUES_PER_DOC)),
        "IEEE 754's *totalOrder*".to_owned(),
        format!("payload, then zeros: at least {TAIL}, to a multiple of {ALIGN}"),
        format!("A width is 0 to {MAX_SPLIT_WIDTH}, or 64. With at most {MAX_SPLIT_WIDTH} bits"),
        format!("`stride` is {} or {}.", Stride::Short.bytes(), Stride::Long.bytes()),
        format!("Terms lie in blocks of {BLOCK_TERMS}"),
        format!("block = ord / {BLOCK_TERMS}; i = ord % {BLOCK_TERMS}"),
        format!("A dictionary of at most {BLOCK_TERMS} terms has one block"),
        format!("A key for each block, {KEY_LEN} bytes each"),
        format!("{:08b} .......1 11|001|101, then the top bit of 7", packed[0]),
        format!(
            "Codes 0 to {} stand for the byte of that value, code {bytes} + *t* for token *t*.",
            bytes - 1
        ),
        format!("All codes are below {bytes} + *n*."),
        format!("has the codes `{:03x}`, `078` and `{:03x}`", bytes, bytes + 1),
        "`size` (numeric, i64) is 1000, 1030, 1010, 1070.".to_owned(),
        format!("The file takes {} bytes; those left out are zero.", n(whole_file().len())),
        format!("Each section fits one granule, and takes {} bytes.", extent(24).unwrap()),
        format!("Presence has a block for documents 0 to {}.", n(BLOCK_DOCS - 1)),
    ]
}

#[test]
fn every_number_from_100_up_is_the_code_s() {
    assert_eq!(extent(5_000), Some(seal(vec![0; 5_000]).0.len() as u64));
    let mut prose = Document::spec().prose();
    for sentence in sentences() {
        assert!(prose.contains(&sentence), "the document does not say {sentence:?}");
        prose = prose.replace(&sentence, "¶");
    }
    // Only words of letters and digits, and short numbers, may remain.
    let words = prose.split(|c: char| !c.is_alphanumeric() && c != ',' && c != '_');
    let left: Vec<&str> = words.filter(|word| number(word).is_some_and(|number| number >= 100)).collect();
    assert_eq!(left, <[&str; 0]>::default(), "numbers that no sentence here explains");
}

#[test]
fn every_part_of_a_file_that_errors_name_is_in_the_document() {
    let prose = Document::spec().prose();
    use Section::{DirectoryPage, DirectoryRoot, FineZones, Footer, Header, Padding};
    for section in [Header, Footer, DirectoryRoot, DirectoryPage, Padding, FineZones]
        .into_iter()
        .chain(Section::OF_COLUMNS)
    {
        assert!(prose.contains(section.name()), "{section}");
    }
}

/// The module docs repeat numbers of the document.
#[test]
fn the_numbers_in_the_modules_heads_are_the_document_s() {
    let spec = Document::spec().prose();
    let presence = Document::new(include_str!("../../src/presence.rs")).prose();
    for (number, head) in [
        ("`list` for up to 256 scattered", "up to 256 scattered documents"),
        ("`sparse` for up to 7,920,", "up to 7,920 scattered documents"),
        ("`runs` for up to 2,110 runs", "at most 2,110 runs"),
        ("begin at byte 520 of the payload", "| 520 + values |"),
        ("the payload takes 8,448 bytes", "| dense | 8,448 |"),
    ] {
        assert!(spec.contains(number) && presence.contains(head), "{number} | {head}");
    }
    let bitmap = present_sections(1_000, (0..1_000).step_by(2)).0.len() - 8;
    assert!(presence.contains(&format!("a bitmap of 1,000 of them takes {bitmap} bytes")));
    let granule = Document::new(include_str!("../../src/granule.rs")).prose();
    assert!(granule.contains(&format!("A payload of up to {} bytes has a single level", n(longest(0)))));
}
