//! Compares every table of tags in the document with the enum or the bytes that it describes.

use docvalues_terms::ids::Form;
use docvalues_terms::packing::{Kind, Packed, Template};

use crate::document::Document;
use crate::examples::{block, fst, index, trie};

/// The tags and names under `title`, and the other cells of each row.
fn tags(title: &str) -> Vec<(u8, String, Vec<String>)> {
    let row = |mut cells: Vec<String>| {
        let rest = cells.split_off(2);
        (cells[0].parse().unwrap(), cells[1].trim_matches('`').to_owned(), rest)
    };
    Document::ids().table(title, "tag").into_iter().map(row).collect()
}

fn names(title: &str) -> Vec<(u8, String)> {
    tags(title).into_iter().map(|(tag, name, _)| (tag, name)).collect()
}

#[test]
fn forms() {
    assert_eq!(names("Forms"), Form::ALL.map(|form| (form as u8, form.name().to_owned())));
}

#[test]
fn kinds_of_templates_their_lengths_and_characters() {
    assert_eq!(names("Template"), Kind::ALL.map(|kind| (kind as u8, kind.name().to_owned())));
    for (row, kind) in tags("Template").iter().zip(Kind::ALL) {
        let lens: Vec<usize> =
            (0..=300).filter(|&len| Template::new(kind, len, b"", b"").is_some()).collect();
        let shown = match (lens[0], lens[lens.len() - 1]) {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        assert_eq!(row.2[0], shown, "{kind:?}");
        assert_eq!(lens.len(), lens[lens.len() - 1] - lens[0] + 1);
    }
    for (row, kind) in tags("Template").iter().zip(Kind::ALL).skip(2) {
        // `0-9a-f`: ranges of characters; a `-` in front is itself.
        let shown = row.2[1].trim_matches('`').as_bytes();
        let (dash, ranges) = shown.split_at(usize::from(shown[0] == b'-'));
        let mut allowed: Vec<u8> = dash.to_vec();
        let mut rest = ranges;
        while let Some((&first, tail)) = rest.split_first() {
            let last = if tail.first() == Some(&b'-') { tail[1] } else { first };
            allowed.extend(first..=last);
            rest = if tail.first() == Some(&b'-') { &tail[2..] } else { tail };
        }
        let template = Template::new(kind, 1, b"", b"").unwrap();
        let fits = |byte: &u8| template.pack(&[*byte], &mut Packed::default()).is_some();
        assert_eq!((0..=255).filter(fits).collect::<Vec<u8>>(), allowed, "{kind:?}");
    }
}

/// As the table puts it.
#[test]
fn packed_ids() {
    let packed = |kind, id: &str| {
        let mut buffer = Packed::default();
        Template::new(kind, id.len(), b"", b"").unwrap().pack(id.as_bytes(), &mut buffer).unwrap().to_vec()
    };
    let uuid = packed(Kind::Uuid, "123e4567-e89b-12d3-a456-426614174000");
    assert_eq!(uuid, 0x123e_4567_e89b_12d3_a456_4266_1417_4000_u128.to_be_bytes());
    for len in 1..=38 {
        let nines = packed(Kind::Digits, &"9".repeat(len));
        let number = 10_u128.pow(u32::try_from(len).unwrap()) - 1;
        let bytes: Vec<u8> = number.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect();
        assert_eq!(nines, bytes);
    }
    assert_eq!(packed(Kind::HexLower, "0af"), [0x0a, 0xf0]);
    assert_eq!(packed(Kind::HexUpper, "0AF"), [0x0a, 0xf0]);
    assert_eq!(packed(Kind::Base64Url, "-z0"), [0b0000_0011, 0b1111_0000, 0b0100_0000]);
}

#[test]
fn shapes_of_blocks() {
    let long = "x".repeat(300);
    let shapes = [
        (block(&["a", "bb"]), "lengths of one byte"),
        (block(&["a", &long]), "lengths of two bytes"),
        (block(&["aa", "bb"]), "one length"),
        (block(&["ax", "bx", "cx"]), "constant columns"),
    ];
    assert_eq!(names("Block of keys"), shapes.map(|(block, name)| (block[1], name.to_owned())));
}

#[test]
fn flags_of_the_id_index() {
    // One separator, `b`: a prefix and its end. Two, `b` and `c`: labels, and nodes below one of them.
    let (one, two) = (index(&["a", "b"]), index(&["a", "b", "c"]));
    let deep = index(&["a", "b", "cat", "cow", "d"]);
    let (ends, prefix, labels, inner) = (one[0] & !2, one[0] & !1, two[0], deep[0] & !two[0]);
    let expected = [(ends, "ends"), (prefix, "prefix"), (labels, "labels"), (inner, "inner")];
    assert_eq!(names("Id index"), expected.map(|(flag, name)| (flag, name.to_owned())));
}

#[test]
fn forms_of_labels() {
    let keys = |labels: &[u8]| -> Vec<String> {
        labels.iter().map(|&label| char::from(label).to_string()).collect()
    };
    let form = |labels: &[u8]| {
        let keys = keys(labels);
        let made = trie(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        (made[0] >> 4 & 3, made[1] & 31, made[2])
    };
    // Nine bytes of a map are too many for 4 arcs, and not for 20.
    let many: Vec<u8> = (0..20).map(|i| b'0' + 3 * i).collect();
    let [list, map, run] = [form(b"acegi"), form(&many), form(b"abc")];
    assert_eq!((list.1, list.2), (4, b'a'));
    assert_eq!((map.1, map.2), (1, b'0'));
    assert_eq!((run.1, run.2), (0, b'a'));
    let expected = [(list.0, "list"), (map.0, "map"), (run.0, "run")];
    assert_eq!(names("Branch"), expected.map(|(tag, name)| (tag, name.to_owned())));
}

/// The rows of nodes say which first bytes there are: each node of two sections has one of them.
#[test]
fn first_bytes_of_nodes() {
    let rows = Document::ids().table("Trie and automaton", "first byte");
    let bits: Vec<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(bits, ["00llllll", "01llllll", "01skwwww", "1kffpwww"]);
    let fits = |byte: u8, bits: &str| {
        let shown = format!("{byte:08b}");
        shown.chars().zip(bits.chars()).all(|(bit, mark)| mark.is_ascii_lowercase() || mark == bit)
    };
    let trie = trie(&["car", "care", "cat", "dog"]);
    for (at, row) in [(0, 3), (4, 1), (6, 3), (0x0e, 0), (0x10, 3)] {
        assert!(fits(trie[at], &bits[row]), "{at}");
    }
    let fst = fst(&["a1", "a1x", "b1", "b1x"]);
    for (at, row) in [(0, 2), (2, 2), (5, 3)] {
        assert!(fits(fst[at], &bits[row]), "{at}");
    }
}
