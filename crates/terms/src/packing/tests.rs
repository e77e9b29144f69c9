use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use docvalues_format::error::{Place, Section};

const PLACE: Place = Place { section: Section::DirectoryRoot, offset: 0 };

fn packed(template: &Template, id: &[u8]) -> Option<Vec<u8>> {
    template.pack(id, &mut Packed::default()).map(<[u8]>::to_vec)
}

/// The template of ids, which ascend.
fn template_of(ids: &[impl AsRef<[u8]>]) -> Template {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Template::raw() };
    let all = |template: &Template| ids.iter().all(|id| packed(template, id.as_ref()).is_some());
    detect(first.as_ref(), last.as_ref()).into_iter().find(all).unwrap_or_else(Template::raw)
}

/// Texts of a template's characters, and some that are nearly such.
fn ids(kind: Kind, len: usize) -> impl Strategy<Value = Vec<u8>> {
    let digits = if kind == Kind::Uuid { 32 } else { len };
    vec(prop::sample::select(kind.alphabet()), digits).prop_map(move |mut chars| {
        if kind == Kind::Uuid {
            [8, 13, 18, 23].into_iter().for_each(|at| chars.insert(at, b'-'));
        }
        chars
    })
}

/// A template, and ids that fit it.
fn cases() -> impl Strategy<Value = (Template, BTreeSet<Vec<u8>>)> {
    let affix = || vec(prop::sample::select(b"-.:a0\x00\xff" as &[u8]), 0..5);
    let kinds = prop::sample::select(&Kind::ALL[1..]);
    (kinds, 1..=60_usize, affix(), affix()).prop_flat_map(|(kind, len, prefix, suffix)| {
        let len = match kind {
            Kind::Uuid => UUID_CHARS,
            Kind::Digits => len.min(MAX_DIGITS),
            _ => len,
        };
        let template = Template::new(kind, len, &prefix, &suffix).unwrap();
        let ids =
            btree_set(ids(kind, len).prop_map(move |chars| [&prefix[..], &chars, &suffix].concat()), 1..40);
        (Just(template), ids)
    })
}

proptest! {
    #[test]
    fn packing_keeps_the_order_and_can_be_undone((template, ids) in cases()) {
        let all: Vec<_> = ids.iter().map(|id| packed(&template, id).unwrap()).collect();
        prop_assert!(all.is_sorted_by(|a, b| a < b));
        for (id, packed) in ids.iter().zip(&all) {
            prop_assert_eq!(Some(packed.len()), template.packed_len());
            prop_assert_eq!(Some(id.len()), template.id_len());
            let mut again = Vec::new();
            template.unpack(packed, &mut again).unwrap();
            prop_assert_eq!(&again, id);
        }
        let mut bytes = Vec::new();
        template.encode(&mut bytes);
        prop_assert_eq!(Template::decode(&mut Cursor::new(PLACE, &bytes)).unwrap(), template);
    }

    #[test]
    fn what_does_not_fit_is_not_packed((template, ids) in cases(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for id in ids {
            let mut other = id.clone();
            other[at.index(id.len())] = byte;
            if let Some(packed) = packed(&template, &other) {
                let mut again = Vec::new();
                template.unpack(&packed, &mut again).unwrap();
                prop_assert_eq!(again, other);
            }
            prop_assert_eq!(packed(&template, &id[1..]), None);
            prop_assert_eq!(packed(&template, &[&id[..], b"0"].concat()), None);
        }
    }

    #[test]
    fn unpacking_takes_only_what_was_packed((template, _) in cases(), bytes in vec(any::<u8>(), 50)) {
        let bytes = &bytes[..bytes.len().min(template.packed_len().unwrap())];
        let mut id = Vec::new();
        if template.unpack(bytes, &mut id).is_some() {
            prop_assert_eq!(packed(&template, &id).unwrap(), bytes);
        }
    }

    /// The model: of ids, those that are not below the bound; of packed ones, those that are not below its key.
    #[test]
    fn bounds_divide_packed_ids_as_they_divide_ids(
        (template, ids) in cases(),
        cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        appended in vec(any::<u8>(), 0..3),
    ) {
        for id in &ids {
            let mut bound = id.clone();
            let at = at.index(id.len());
            bound[at] = byte;
            for bound in [&bound[..], &id[..cut.index(id.len() + 1)], &[&id[..], &appended].concat(), &appended] {
                let mut buffer = Packed::default();
                let key = template.pack_bound(bound, &mut buffer);
                for id in &ids {
                    let packed = packed(&template, id).unwrap();
                    let not_below = key.is_some_and(|key| &packed[..] >= key);
                    prop_assert_eq!(&id[..] >= bound, not_below, "{:?} {:?}", id, bound);
                }
                // And it is the least: it stands for an id that is not below the bound.
                if let Some(key) = key {
                    let mut id = Vec::new();
                    template.unpack(key, &mut id).unwrap();
                    prop_assert!(&id[..] >= bound);
                }
            }
        }
    }

    #[test]
    fn ids_of_a_kind_are_found_to_be_of_it((template, ids) in cases()) {
        let ids: Vec<_> = ids.into_iter().collect();
        let found = template_of(&ids);
        prop_assert!(ids.iter().all(|id| packed(&found, id).is_some()));
        let least = template.packed_len().unwrap();
        prop_assert!(found.packed_len().is_none_or(|len| len <= least.max(template.id_len().unwrap())));
        if usize::from(template.len) >= 6 {
            prop_assert!(found.packed_len().is_some_and(|len| len <= template.id_len().unwrap()), "{found}");
        }
    }
}

#[test]
fn ids_that_people_have() {
    let shown = |ids: &[&str]| template_of(ids).to_string();
    let uuids = ["00112233-4455-6677-8899-aabbccddeeff", "f0112233-4455-6677-8899-aabbccddeeff"];
    assert_eq!(shown(&uuids), "<UUID of 36>");
    assert_eq!(shown(&uuids[..1]), "<UUID of 36>");
    assert_eq!(shown(&["doc-0000000000", "doc-0000000001", "doc-0000000003"]), "doc-<digits of 10>");
    assert_eq!(shown(&["doc-0000000000"]), "doc-<digits of 10>");
    assert_eq!(shown(&["00ff00ff.txt", "ff00ff00.txt"]), "<hex of 8>.txt");
    assert_eq!(shown(&["5FB2C3D4E", "6FB2C3D4E"]), "<upper-case hex of 9>");
    assert_eq!(shown(&["AVx-_0123456789abcde", "AVx-_zzzzzzzzzzzzzzz"]), "<base64url of 20>");
    assert_eq!(
        shown(&["00112233-4455-6677-8899-AABBCCDDEEFF", "f0112233-4455-6677-8899-aabbccddeeff"]),
        "<base64url of 36>"
    );
    assert_eq!(shown(&["1", "2", "3"]), "raw");
    assert_eq!(shown(&["1000000", "20000000"]), "raw");
    assert_eq!(shown(&["a b c d e f", "a b c d e g"]), "raw");
    assert_eq!(shown(&[]), "raw");
    assert_eq!(shown(&[""]), "raw");
}

#[test]
fn a_template_that_cannot_be_is_refused() {
    let decode = |bytes: &[u8]| Template::decode(&mut Cursor::new(PLACE, bytes));
    assert_eq!(decode(&[0, 0, 0, 0]).unwrap(), Template::raw());
    assert!(decode(&[2, 10, 1, 1, b'a', b'b']).is_ok());
    let bad: [&[u8]; 9] = [
        &[6, 10, 0, 0],
        &[0, 1, 0, 0],
        &[0, 0, 1, 0, b'a'],
        &[1, 35, 0, 0],
        &[2, 39, 0, 0],
        &[3, 0, 0, 0],
        &[2, 10, 1, 1, b'a'],
        &[2, 10, 1],
        &[],
    ];
    bad.into_iter().for_each(|bytes| assert!(decode(bytes).is_err(), "{bytes:?}"));
}
