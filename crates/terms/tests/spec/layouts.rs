//! Checks every layout: each row of its table has the field's bytes at its offset, and every byte belongs to a row.

use std::convert::Infallible;

use docvalues_format::bits;
use docvalues_format::file::root::{Extension, Root};
use docvalues_format::granule::SectionRef;
use docvalues_format::id::DocId;
use docvalues_terms::build::{IdOptions, IdsBuilder};
use docvalues_terms::ids::{Form, IDS_TAG, Ids};
use docvalues_terms::packing::{Kind, Template};

use crate::document::{Document, Row};
use crate::examples::{block, blocks, in_column, index, trie};
use crate::rows::{Named, check, f};

macro_rules! module {
    ($path:literal) => {
        include_str!(concat!("../../src/", $path))
    };
}

/// Compares the table under `title` in the document, and the one from its first field in the module.
fn check_both(title: &str, module: &str, bytes: &[u8], fields: &[Named]) {
    check(&of(&Document::ids().layout(title), fields), bytes, fields);
    check(&of(&Document::new(module).layout_from(fields[0].0), fields), bytes, fields);
}

/// The rows of the fields there are: which these are is what other fields say.
fn of(rows: &[Row], fields: &[Named]) -> Vec<Row> {
    let there = |row: &&Row| row.field == "zero" || fields.iter().any(|(name, _)| *name == row.field);
    let copy = |row: &Row| Row { offset: row.offset, bytes: row.bytes, field: row.field.clone() };
    rows.iter().filter(there).map(copy).collect()
}

/// A reference like no other.
fn reference(seed: u8) -> SectionRef {
    SectionRef { offset: 0x0101 * u64::from(seed), len: 0x01_0001 * u64::from(seed), crc: u32::from(seed) }
}

fn encoded(section: SectionRef) -> Vec<u8> {
    let mut out = Vec::new();
    section.encode(&mut out);
    out
}

/// The ids of 100 documents, which are sorted by these, with references to their sections, and the order of these.
pub(crate) fn ids(form: Form, filter_bits: u8) -> (Ids<SectionRef>, Vec<&'static str>) {
    let ids: Vec<_> = (0..60).map(|i| (format!("key {:06}!", i * 7), DocId::new(i * 3 % 61))).collect();
    let options = IdOptions::new().form(form).filter_bits(filter_bits).seed(0x0807_0605_0403_0201);
    let made = IdsBuilder::new(options).build(&ids[..], 100).unwrap();
    let mut names = Vec::new();
    let Ok(ids) = made.try_map(&mut |section, _| {
        names.push(section.name());
        Ok::<_, Infallible>(reference(u8::try_from(names.len()).unwrap()))
    });
    (ids, names)
}

#[test]
fn body_of_the_extra() {
    for form in [Form::Blocks, Form::Exact, Form::Fst] {
        for filter_bits in [0, 16] {
            let (ids, names) = ids(form, filter_bits);
            let mut body = Vec::new();
            ids.encode_meta("größe", &mut body);
            let (mut template, mut docs) = (Vec::new(), Vec::new());
            ids.meta.template.encode(&mut template);
            ids.docs.encode_meta(&mut docs);
            let [least, greatest] = [0_u32, 59 * 7].map(|number| number.to_be_bytes()[1..].to_vec());
            let mut fields = vec![
                f("name_len", [7, 0, 0, 0]),
                f("name", "größe"),
                f("count", [60, 0, 0, 0]),
                f("doc_count", [100, 0, 0, 0]),
                f("seed", [1, 2, 3, 4, 5, 6, 7, 8]),
                f("form", [form as u8]),
                f("filter_bits", [filter_bits]),
                f("max_len", [11, 0]),
                f("least_len", [3]),
                f("greatest_len", [3]),
                f("least", least),
                f("greatest", greatest),
                f("template", template),
            ];
            let mut at = 0;
            let mut next = |name| {
                at += 1;
                f(name, encoded(reference(at)))
            };
            if form == Form::Blocks {
                fields.push(f("blocks", [2, 0, 0, 0]));
                fields.extend(["ids", "starts", "index"].map(&mut next));
            } else {
                fields.push(next("ids"));
            }
            if filter_bits > 0 {
                fields.push(next("filter"));
            }
            fields.push(f("docs", docs));
            check_both("Body of ids", module!("ids.rs"), &body, &fields);
            let prose = Document::ids().prose();
            let mut order = "ids, id block starts, id index, id filter, id documents".to_owned();
            assert!(prose.contains(&format!("{order}, id documents jump table.")));
            if filter_bits == 0 {
                order = order.replace(", id filter", "");
            }
            if form != Form::Blocks {
                order = order.replace(", id block starts, id index", "");
            }
            assert_eq!(names.join(", "), order);
        }
    }
}

#[test]
fn body_of_ids_in_a_column() {
    for filter_bits in [0, 1, 16] {
        let ids: Vec<_> = (0..60_u32).map(|i| ((i * 1_000).to_be_bytes(), DocId::new(i * 7 % 60))).collect();
        let options = IdOptions::new().form(Form::Column).filter_bits(filter_bits);
        let made = IdsBuilder::new(options).in_column(true).build(&ids[..], 60).unwrap();
        let mut names = Vec::new();
        let Ok(ids) = made.try_map(&mut |section, _| {
            names.push(section.name());
            Ok::<_, Infallible>(reference(u8::try_from(names.len()).unwrap()))
        });
        let mut body = Vec::new();
        ids.encode_meta("id", &mut body);
        let (mut template, mut docs) = (Vec::new(), Vec::new());
        ids.meta.template.encode(&mut template);
        ids.docs.encode_meta(&mut docs);
        let mut fields = vec![
            f("name_len", [2, 0, 0, 0]),
            f("name", "id"),
            f("count", [60, 0, 0, 0]),
            f("doc_count", [60, 0, 0, 0]),
            f("seed", [0; 8]),
            f("form", [3]),
            f("filter_bits", [filter_bits]),
            f("max_len", [4, 0]),
            f("least_len", [4]),
            f("greatest_len", [4]),
            f("least", [0; 4]),
            f("greatest", 59_000_u32.to_be_bytes()),
            f("template", template),
            f("ids", encoded(reference(1))),
            f("starts", encoded(reference(2))),
        ];
        // Half of the bits.
        if filter_bits > 1 {
            fields.push(f("filter", encoded(reference(3))));
        }
        fields.push(f("docs", docs));
        check_both("Body of ids", module!("ids.rs"), &body, &fields);
        let filter = if filter_bits > 1 { "id filter, " } else { "" };
        assert_eq!(names.join(", "), format!("ids, id block starts, {filter}id documents"));
    }
}

#[test]
fn groups_of_buckets() {
    let fields = [f("rank", [0; 4]), f("ends", [4; 12])];
    check_both("Ids in a column", module!("in_column/buckets.rs"), &in_column().starts, &fields);
}

#[test]
fn the_extra_is_one_of_the_root() {
    let row = &Document::spec().table("Extensions", "tag")[1];
    assert_eq!(row[..2], [IDS_TAG.to_string(), "`ids`".to_owned()]);
    let extension = Extension { tag: IDS_TAG, sections: 64..64, body: b"body".to_vec() };
    let root = Root { pages: Vec::new(), extensions: vec![extension] }.encode();
    assert_eq!(root[8..12], IDS_TAG.to_le_bytes());
}

#[test]
fn template() {
    let mut bytes = Vec::new();
    Template::new(Kind::HexUpper, 9, b"<a", b">").unwrap().encode(&mut bytes);
    let fields = [
        f("kind", [4]),
        f("len", [9]),
        f("prefix_len", [2]),
        f("suffix_len", [1]),
        f("prefix", "<a"),
        f("suffix", ">"),
    ];
    check_both("Template", module!("packing.rs"), &bytes, &fields);
}

#[test]
fn blocks_of_keys() {
    let module = module!("id_block.rs");
    let head = |shape, prefix| [f("n", [3]), f("shape", [shape]), f("prefix_len", [prefix])];
    let long = "x".repeat(300);
    let longer = format!("a{long}");
    for (shape, keys, fields) in [
        (
            0,
            ["pa", "pabcdef", "pb"],
            vec![
                f("prefix", "p"),
                f("heads", b"\0\0\0adcba\0\0\0b"),
                f("lengths", [1, 6, 1]),
                f("rests", "ef"),
            ],
        ),
        (
            1,
            ["", "a", &longer],
            vec![
                f("prefix", ""),
                f("heads", b"\0\0\0\0\0\0\0axxxa"),
                f("lengths", [0, 0, 1, 0, 45, 1]),
                f("rests", &long[..297]),
            ],
        ),
        (
            2,
            ["pabcde", "qbcdef", "rcdefg"],
            vec![f("len", [6, 0]), f("prefix", ""), f("heads", b"cbapdcbqedcr"), f("rests", "deeffg")],
        ),
        (
            3,
            ["pa-b=c", "pb-c=c", "pc-d=d"],
            vec![
                f("len", [5, 0]),
                f("columns", [0b01010]),
                f("prefix", "p"),
                f("constants", "-="),
                f("heads", b"\0cba\0ccb\0ddc"),
                f("rests", ""),
            ],
        ),
    ] {
        let prefix = fields.iter().find(|(name, _)| *name == "prefix").unwrap().1.len();
        let fields = [&head(shape, u8::try_from(prefix).unwrap())[..], &fields].concat();
        check_both("Block of keys", module, &block(&keys), &fields);
    }
}

/// Heads have as many bytes as the table says.
#[test]
fn widths_of_heads_and_lengths() {
    let row = &Document::ids().table("Block of keys", "tag");
    assert_eq!(row[2][2], "1 if tails have 0 or 1 bytes, 2 if 2, else 4");
    for (keys, width) in
        [(&[""][..], 1), (&["a", "b"], 1), (&["aa", "bb"], 2), (&["aaa", "bbb"], 4), (&["aaaa", "bbbb"], 4)]
    {
        // n, shape, prefix_len, len
        assert_eq!(block(keys).len(), 5 + keys.len() * width, "{keys:?}");
    }
    for (shape, width) in [(0, 1), (1, 2)] {
        assert_eq!(row[shape][2..], ["4".to_owned(), width.to_string()]);
    }
}

#[test]
fn block_starts() {
    let made = blocks((0..60).map(|i| format!("k{i:02}")));
    let packed = |numbers: &[u64], width| {
        let mut out = Vec::new();
        bits::pack(numbers, width, &mut out);
        out
    };
    let fields = [
        f("offset_width", [8]),
        f("rank_width", [6]),
        f("offsets", packed(&[0, 86, made.ids.len() as u64], 8)),
        f("ranks", packed(&[0, 40, 60], 6)),
    ];
    check_both("Block starts", module!("id_blocks/starts.rs"), &made.starts, &fields);
}

#[test]
fn id_index() {
    let bytes = index(&["a", "b", "c", "cat", "d"]);
    let root = [f("flags", [0x0c]), f("count", [2]), f("labels", "bcd"), f("inner", [2])];
    let cat = [f("flags", [5]), f("count", [0]), f("labels", "a")];
    check_both("Id index", module!("id_blocks/block_index.rs"), &bytes[..6], &root);
    check_both("Id index", module!("id_blocks/block_index.rs"), &bytes[6..], &cat);
    let bytes = index(&["ab0", "ab1", "ab2"]);
    let all =
        [f("flags", [6]), f("prefix_len", [2, 0]), f("prefix", "ab"), f("count", [1]), f("labels", "12")];
    check_both("Id index", module!("id_blocks/block_index.rs"), &bytes, &all);
}

#[test]
fn branch() {
    // The last branch of the example, which is the root.
    let bytes = trie(&["car", "care", "cat", "dog"]);
    let root = &bytes[bytes.len() - 4 - 10..bytes.len() - 4];
    let fields = [
        f("first", [0xa9]),
        f("second", [0x20]),
        f("labels", [b'c', 1]),
        f("entries", [0, 24, 0, 3, 5, b'o']),
    ];
    check(&Document::ids().layout("Branch"), root, &fields);
}
