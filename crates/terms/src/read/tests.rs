use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use docvalues_format::source::Owned;
use docvalues_testkit::damage::cases;
use proptest::collection::btree_set;
use proptest::prelude::*;

use super::*;
use crate::build::{IdOptions, IdsBuilder};
use crate::id_block::tests::{asked, keys};
use crate::ids::Form;

mod damage;
mod in_column;

/// Ids and documents in no order.
type Model = BTreeMap<Vec<u8>, u32>;

/// Documents from 1 on, every second one.
fn model(ids: impl IntoIterator<Item = Vec<u8>>) -> Model {
    let ids: Vec<_> = ids.into_iter().collect();
    let count = ids.len() as u32;
    ids.into_iter()
        .zip((0..count).map(|i| 1 + 2 * (i.wrapping_mul(7) % count.max(1))))
        .collect::<Vec<_>>()
        .into_iter()
        .scan(std::collections::BTreeSet::new(), |seen, (id, doc)| {
            let doc = (doc..).step_by(2).find(|&doc| seen.insert(doc)).unwrap();
            Some((id, doc))
        })
        .collect()
}

fn encode(model: &Model, options: IdOptions) -> Ids<Vec<u8>> {
    let ids: Vec<_> = model.iter().map(|(id, &doc)| (id, DocId::new(doc))).collect();
    IdsBuilder::new(options).build(&ids[..], 4 * model.len() as u32 + 4).unwrap()
}

fn open(ids: Ids<Vec<u8>>) -> Result<IdsReader<Owned>> {
    IdsReader::open(ids.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?)
}

fn found<'a>(from: impl Iterator<Item = (&'a Vec<u8>, &'a u32)>) -> Vec<(Vec<u8>, u32)> {
    from.map(|(id, &doc)| (id.clone(), doc)).collect()
}

/// What `scan` gives.
fn scanned(
    scan: impl FnOnce(&mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()>,
) -> Vec<(Vec<u8>, u32)> {
    let mut out = Vec::new();
    scan(&mut |id, doc| {
        out.push((id.to_vec(), doc.get()));
        ControlFlow::Continue(())
    })
    .unwrap();
    out
}

fn check(model: &Model, options: IdOptions) {
    let reader = open(encode(model, options)).unwrap();
    reader.verify().unwrap();
    assert_eq!(reader.len() as usize, model.len());
    assert_eq!(usize::from(reader.meta().max_len), model.keys().map(Vec::len).max().unwrap_or(0));
    assert_eq!(scanned(|f| reader.each(f)), found(model.iter()));
    for id in asked(&model.keys().cloned().collect()) {
        let expected = model.get(&id).copied().map(DocId::new);
        assert_eq!(reader.find(&id).unwrap(), expected, "{id:?}");
        let mut buffer = Packed::default();
        let packed = reader.template().pack(&id, &mut buffer);
        assert_eq!(packed.and_then(|key| reader.find_packed(key).unwrap()), expected, "{id:?}");
        assert_eq!(reader.lower_bound(&id).unwrap() as usize, model.range(..id.clone()).count());
    }
}

/// What scans give, for some bounds.
fn check_scans(model: &Model, reader: &IdsReader<Owned>, bounds: &[&[u8]]) {
    for &from in bounds {
        let expected = found(model.iter().filter(|(id, _)| id.starts_with(from)));
        assert_eq!(scanned(|f| reader.prefix(from, f)), expected, "{from:?}");
        for &to in bounds {
            let kinds = |id| [Bound::Included(id), Bound::Excluded(id), Bound::Unbounded];
            for (from, to) in kinds(from).into_iter().flat_map(|from| kinds(to).map(|to| (from, to))) {
                let inside = |id: &[u8]| {
                    (match from {
                        Bound::Included(from) => id >= from,
                        Bound::Excluded(from) => id > from,
                        Bound::Unbounded => true,
                    }) && match to {
                        Bound::Included(to) => id <= to,
                        Bound::Excluded(to) => id < to,
                        Bound::Unbounded => true,
                    }
                };
                let expected = found(model.iter().filter(|(id, _)| inside(id)));
                assert_eq!(scanned(|f| reader.range((from, to), f)), expected, "{from:?} {to:?}");
            }
        }
    }
}

/// Ids of all templates, and of none.
fn ids(max: usize) -> impl Strategy<Value = std::collections::BTreeSet<Vec<u8>>> {
    let shaped =
        |shape: &'static str| prop::string::string_regex(shape).unwrap().prop_map(String::into_bytes);
    prop_oneof![
        3 => keys(max),
        1 => btree_set(shaped("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), 0..=max),
        1 => btree_set(shaped("doc-[0-9]{10}"), 0..=max),
        1 => btree_set(shaped("doc-00000[0-9]{4}"), 0..=max),
        1 => btree_set(shaped("[0-9a-f]{7}\\.txt"), 0..=max),
        1 => btree_set(shaped("[0-9A-F]{12}"), 0..=max),
        1 => btree_set(shaped("[-_0-9a-zA-Z]{20}"), 0..=max),
        1 => btree_set(shaped("AVx[-_0-9a-z]{2}mac0123[-_0-9a-z]{6}"), 0..=max),
    ]
}

fn options() -> impl Strategy<Value = IdOptions> {
    (prop::sample::select(&Form::ALL[..]), prop::sample::select(&[0, 4, 16, 32][..]), any::<u64>())
        .prop_map(|(form, filter_bits, seed)| IdOptions { form, filter_bits, seed, ..IdOptions::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96, 256), ..ProptestConfig::default() })]

    #[test]
    fn look_ups_agree_with_a_map(ids in ids(150), options in options()) {
        check(&model(ids), options);
    }

    #[test]
    fn scans_agree_with_a_map(ids in ids(100), options in options(), picks in prop::collection::vec(any::<prop::sample::Index>(), 3)) {
        let model = model(ids);
        let reader = open(encode(&model, options)).unwrap();
        let asked = asked(&model.keys().cloned().collect());
        let bounds: Vec<_> = picks.iter().map(|pick| &asked[pick.index(asked.len())][..]).collect();
        let cut = &bounds[0][..bounds[0].len() / 2];
        check_scans(&model, &reader, &[&bounds[..], &[cut, b"", b"\xff\xff"]].concat());
    }
}

#[test]
fn sizes_at_the_edges() {
    for form in Form::ALL {
        for n in [0_u32, 1, 2, 23, 24, 25, 47, 48, 49, 71, 72, 73, 96, 97] {
            check(
                &model((0..n).map(|i| format!("doc-{:010}", i * 17).into_bytes())),
                IdOptions { form, ..IdOptions::default() },
            );
            check(&model((0..n).map(|i| vec![0xff; i as usize])), IdOptions { form, ..IdOptions::default() });
        }
        let long = (0..60_u8).map(|i| [&vec![i / 20; 65_534 - usize::from(i % 3)][..], &[i]].concat());
        check(&model(long.chain([vec![]])), IdOptions { form, ..IdOptions::default() });
    }
}

#[test]
fn scans_stop_at_a_break() {
    let reader = open(encode(&model((0..100_u8).map(|i| vec![i])), IdOptions::default())).unwrap();
    let mut seen = 0;
    reader
        .each(|_, _| {
            seen += 1;
            if seen == 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 60);
}

#[test]
fn the_directory_entry_round_trips() {
    use docvalues_format::cursor::Cursor;
    use docvalues_format::granule::SectionRef;
    for form in Form::ALL {
        for n in [0, 1, 2, 60, 2_000] {
            for filter_bits in [0, 16] {
                let ids = encode(
                    &model((0..n).map(|i| format!("{i:07}").into_bytes())),
                    IdOptions { form, filter_bits, seed: 7, ..IdOptions::default() },
                );
                let mut offset = 64;
                let placed = ids
                    .try_map(&mut |_, bytes| {
                        offset += 64;
                        Ok::<_, Error>(SectionRef { offset, len: bytes.len() as u64, crc: 5 })
                    })
                    .unwrap();
                let mut bytes = Vec::new();
                placed.encode_meta("id", &mut bytes);
                let mut cursor = Cursor::new(NOWHERE, &bytes);
                assert_eq!(Ids::decode_meta(&mut cursor).unwrap(), ("id", placed));
                assert_eq!(cursor.left(), 0);
                for len in 0..bytes.len() {
                    assert!(Ids::decode_meta(&mut Cursor::new(NOWHERE, &bytes[..len])).is_err());
                }
                // Whatever a byte becomes: no panic.
                for at in 0..bytes.len() {
                    for byte in [0, 1, 2, 33, 127, 255] {
                        let mut bad = bytes.clone();
                        bad[at] = byte;
                        let _ = Ids::decode_meta(&mut Cursor::new(NOWHERE, &bad));
                    }
                }
            }
        }
    }
}

/// Each document has one id, also if there are more of them than are looked at together.
#[test]
fn ids_of_many_documents_are_verified() {
    let ids: Vec<_> = (0..70_000_u32).map(|doc| (doc.to_be_bytes(), DocId::new(doc))).collect();
    let made = IdsBuilder::new(IdOptions::default()).build(&ids[..], 70_000).unwrap();
    open(made).unwrap().verify().unwrap();
}
