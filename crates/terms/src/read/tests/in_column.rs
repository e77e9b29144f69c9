//! Ids that are values of a column.

use super::*;
use crate::packing::Kind;

/// Each document has an id, evenly distributed ones, in no order.
pub(super) fn ids(count: u32) -> Model {
    let id = |i: u32| [hash(&i.to_le_bytes(), 3), hash(&i.to_le_bytes(), 4)].map(u64::to_be_bytes).concat();
    (0..count).map(|doc| (id(doc), doc)).collect()
}

pub(super) fn build(model: &Model, filter_bits: u8) -> Ids<Vec<u8>> {
    let sorted: Vec<_> = model.iter().map(|(id, &doc)| (id, DocId::new(doc))).collect();
    let options = IdOptions::new().form(Form::Column).filter_bits(filter_bits);
    IdsBuilder::new(options).in_column(true).build(&sorted[..], model.len() as u32).unwrap()
}

/// The values of all documents, end to end.
pub(super) fn values(model: &Model) -> Owned {
    let mut by_doc: Vec<_> = model.iter().map(|(id, &doc)| (doc, id)).collect();
    by_doc.sort_unstable();
    Owned::new(Section::Bytes, by_doc.into_iter().flat_map(|(_, id)| id).copied().collect())
}

pub(super) fn open_in(made: Ids<Vec<u8>>, values: Owned) -> Result<IdsReader<Owned>> {
    IdsReader::open_in(made.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?, values)
}

#[test]
fn look_ups_and_scans_agree_with_a_map() {
    for count in [1, 2, 8, 9, 95, 96, 97, 1_500] {
        let model = ids(count);
        for filter_bits in [0, 1, 2, 16] {
            let made = build(&model, filter_bits);
            assert_eq!((made.meta.form, made.meta.filter_bits), (Form::Column, filter_bits));
            // Half of the bits.
            assert_eq!(made.filter.is_some(), filter_bits > 1);
            let reader = open_in(made, values(&model)).unwrap();
            reader.verify().unwrap();
            assert_eq!(scanned(|f| reader.each(f)), found(model.iter()));
            for id in asked(&model.keys().cloned().collect()) {
                let expected = model.get(&id).copied().map(DocId::new);
                assert_eq!(reader.find(&id).unwrap(), expected, "{id:?}");
                assert_eq!(reader.find_packed(&id).unwrap(), expected, "{id:?}");
                assert_eq!(reader.lower_bound(&id).unwrap() as usize, model.range(..id.clone()).count());
            }
            let some: Vec<&[u8]> = model.keys().step_by(400).map(|id| &id[..3]).collect();
            check_scans(&model, &reader, &[&some[..], &[&b""[..], b"\x80", b"\xff\xff"]].concat());
        }
    }
}

#[test]
fn an_id_takes_few_bytes() {
    let model = ids(5_000);
    let reader = open_in(build(&model, 16), values(&model)).unwrap();
    let IdSizes { keys, starts, index, filter, .. } = reader.sizes();
    // A byte of each, 16 bytes for 96 of them, and 8 bits.
    assert_eq!((keys, starts, index), (5_000, 5_000_u64.div_ceil(8).div_ceil(12) * 16, 0));
    assert_eq!(filter, 5_000_u64.div_ceil(64) * 64);
}

#[test]
fn others_get_blocks() {
    let form = |ids: &[(Vec<u8>, DocId)], docs: u32, in_column: bool| {
        let options = IdOptions::new().form(Form::Column);
        let made = IdsBuilder::new(options).in_column(in_column).build(ids, docs).unwrap();
        assert_eq!(made.meta.filter_bits, 16);
        made.meta.form
    };
    let sorted =
        |model: &Model| -> Vec<_> { model.iter().map(|(id, &doc)| (id.clone(), DocId::new(doc))).collect() };
    let all = sorted(&ids(100));
    assert_eq!(form(&all, 100, true), Form::Column);
    assert_eq!(form(&all, 100, false), Form::Blocks);
    // A document without an id.
    assert_eq!(form(&all, 101, true), Form::Blocks);
    assert_eq!(form(&[], 0, true), Form::Blocks);
    // An id of another length, in the middle.
    let mut longer = all.clone();
    longer[50].0.push(0);
    assert_eq!(form(&longer, 100, true), Form::Blocks);
    // Ids of 33 bytes.
    let long = ids(100).into_iter().map(|(id, doc)| ([&id[..], &[7; 17]].concat(), doc)).collect();
    assert_eq!(form(&sorted(&long), 100, true), Form::Blocks);
    // All but one close to each other.
    let close = (0..100_u32).map(|doc| ([&[u8::from(doc > 0); 12][..], &doc.to_be_bytes()].concat(), doc));
    assert_eq!(form(&sorted(&close.collect()), 100, true), Form::Blocks);
}

#[test]
fn a_column_is_needed_that_fits() {
    let model = ids(300);
    let refused = |made: Result<IdsReader<Owned>>| made.map(drop).unwrap_err().to_string();
    assert!(refused(open(build(&model, 16))).contains("values of a column"));
    let short = Owned::new(Section::Bytes, vec![0; 299 * 16]);
    assert!(refused(open_in(build(&model, 16), short)).contains("length of the column of ids"));
    let mut packed = build(&model, 16);
    packed.meta.template = Template::new(Kind::HexLower, 8, b"", b"").unwrap();
    assert!(refused(open_in(packed, values(&model))).contains("packed"));
    let mut more = build(&model, 16);
    more.meta.doc_count = 301;
    assert!(refused(open_in(more, values(&model))).contains("packed, or a document has none"));
    // Values of other documents: they are found nowhere, or not in order.
    let other =
        ids(600).into_iter().filter(|(_, doc)| *doc >= 300).map(|(id, doc)| (id, doc - 300)).collect();
    let reader = open_in(build(&model, 0), values(&other)).unwrap();
    for id in model.keys() {
        assert_eq!(reader.find(id).unwrap(), None);
    }
    assert!(reader.verify().is_err());
}
