//! `Lookahead`: the rows of documents that are pushed one by one are those of `get`.

use std::sync::Arc;

use docvalues::column::{Changes, Element, GatherRows, Gathered, Lists, Overlay, Values};
use docvalues::prelude::*;
use docvalues::{BytesKind, Lookahead, Numeric};
use docvalues_testkit::concat::Concat;
use docvalues_testkit::damage::cases;
use docvalues_testkit::shapes;
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, in_batches};

/// Pushes `docs`, and calls `each` with each document, its position, and the rows.
fn push_all<C: GatherRows>(columns: C, docs: &[DocId], mut each: impl FnMut(DocId, usize, &C::Rows)) {
    let (mut ahead, mut left) = (Lookahead::new(columns), docs);
    let mut take = |(batch, rows): (&[DocId], &C::Rows)| {
        let (taken, rest) = left.split_at(batch.len());
        assert_eq!(batch, taken);
        left = rest;
        batch.iter().enumerate().for_each(|(at, doc)| each(*doc, at, rows));
    };
    for (pushed, doc) in (1_usize..).zip(docs) {
        let batch = ahead.push(*doc).unwrap();
        assert_eq!(batch.is_some(), pushed.is_multiple_of(64));
        batch.map(&mut take);
    }
    ahead.finish().unwrap().map(&mut take);
    assert!(left.is_empty());
    assert!(ahead.finish().unwrap().is_none());
}

fn check_rows<T: Element>(columns: &[&dyn Rows<T>], docs: &[DocId]) {
    let mut right = Vec::new();
    let mut check = |column: &dyn Rows<T>, doc, row: Option<&[T]>| {
        let has_value = column.get(doc, &mut right).unwrap();
        assert_eq!(row, has_value.then_some(&right[..]), "{doc:?}");
    };
    push_all(columns.to_vec(), docs, |doc, at, rows| {
        columns.iter().zip(rows).for_each(|(column, rows)| check(*column, doc, rows.row(at)));
    });
    for &column in columns {
        push_all(column, docs, |doc, at, rows| check(column, doc, rows.row(at)));
    }
}

fn check_column(column: &dyn Column, docs: &[DocId]) {
    match column.values() {
        Values::Numbers(rows) => check_rows(&[rows, rows], docs),
        Values::Ords(rows, _) => check_rows(&[rows, rows], docs),
        Values::Bytes(rows) => check_rows(&[rows, rows], docs),
    }
}

/// Documents in any order, with repeats, and some past the last one.
fn any_docs(all: u32) -> impl Strategy<Value = Vec<DocId>> {
    let count = prop_oneof![0..70_usize, 127..130_usize, 0..400_usize];
    let doc = prop_oneof![15 => 0..all + 2, 1 => Just(u32::MAX)];
    let docs =
        count.prop_flat_map(move |count| prop::collection::vec(doc.clone().prop_map(DocId::new), count));
    (docs, any::<bool>()).prop_map(|(mut docs, sorts)| {
        if sorts {
            docs.sort_unstable();
        }
        docs
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 60)))]

    #[test]
    fn rows_of_any_source_equal_get(
        (dataset, docs) in shapes::any_dataset(3).prop_flat_map(|dataset| {
            let docs = any_docs(dataset.docs);
            (Just(dataset), docs)
        }),
    ) {
        let file = in_batches(&dataset, 777, &COMPRESSIONS, WriterOptions::default());
        let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
        for field in segment.fields().unwrap() {
            let column = segment.column(&field.name).unwrap();
            check_column(&*column, &docs);
            if field.kind == Kind::Numeric {
                let mut changes = Changes::new(dataset.docs, false);
                let row = |doc: u32| doc.is_multiple_of(2).then_some(&[7_i64][..]);
                changes.set((0..dataset.docs).step_by(5).map(|doc| (DocId::new(doc), row(doc))));
                check_column(&Overlay::<i64>::new(Arc::clone(&column), changes), &docs);
                check_column(&Concat::new(vec![Arc::clone(&column), column]), &docs);
            }
        }
    }

    #[test]
    fn rows_of_typed_columns_equal_get(all in 1..200_u32, docs in any_docs(200), gap in 1..9_u32) {
        let segment = every_kind(all, gap);
        let (price, size, host) =
            (segment.typed::<f64>("price").unwrap(), segment.numeric("size").unwrap(), segment.sorted("host").unwrap());
        let (codes, tags, url) = (
            segment.typed_lists::<u64>("codes").unwrap(),
            segment.sorted_set("tags").unwrap(),
            segment.binary("url").unwrap(),
        );
        let (mut list, mut ords, mut text) = (Vec::new(), Vec::new(), Vec::new());
        push_all(
            (price.clone(), size.clone(), host.clone(), codes.clone(), tags.clone(), url.clone()),
            &docs,
            |doc, at, (prices, sizes, hosts, code_lists, tag_lists, urls)| {
                assert_eq!(prices.value(at), price.get(doc).unwrap());
                assert_eq!(sizes.value(at), size.get(doc).unwrap());
                assert_eq!(hosts.value(at), host.ord(doc).unwrap());
                codes.get(doc, &mut list).unwrap();
                assert_eq!(code_lists.slices().get(at), list);
                tags.ords(doc, &mut ords).unwrap();
                assert_eq!(tag_lists.slices().get(at), ords);
                assert_eq!(urls.row(at), url.get(doc, &mut text).unwrap());
            },
        );
    }
}

#[test]
fn rows_around_the_ends_of_blocks_equal_get() {
    let (dataset, file) = &*EVERY_KIND;
    let segment = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap();
    let ends = [64, 512, 4_096, 65_536, 131_072, dataset.docs];
    let docs: Vec<DocId> =
        ends.into_iter().flat_map(|end| end - 6..end + 6).chain([0]).map(DocId::new).collect();
    for (field, _) in &dataset.columns {
        check_column(&*segment.column(&field.name).unwrap(), &docs);
    }
}

/// A segment with a column of each kind. Every `gap`th document has no values.
fn every_kind(docs: u32, gap: u32) -> Segment {
    let mut schema = Schema::new();
    let mut add = |spec: FieldSpec| schema.add(spec).unwrap();
    let price = add(FieldSpec::new("price", LogicalType::F64));
    let size = add(FieldSpec::new("size", LogicalType::I64));
    let host = add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted));
    let codes = add(FieldSpec::new("codes", LogicalType::U64).multi_valued());
    let tags = add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued());
    let url = add(FieldSpec::new("url", LogicalType::Utf8).kind(BytesKind::Binary));
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for doc in 0..docs {
        let mut document = writer.document();
        if doc % gap != 0 || gap == 1 {
            document.f64(price, f64::from(doc) / 8.0).unwrap().i64(size, i64::from(doc) - 50).unwrap();
            document.str(host, ["a", "b", "c"][doc as usize % 3]).unwrap();
            for code in 0..doc % 4 {
                document.u64(codes, u64::MAX - u64::from(code)).unwrap();
                document.str(tags, &format!("{}", (doc + code) % 7)).unwrap();
            }
            document.str(url, &"/".repeat(doc as usize % 30)).unwrap();
        }
        document.finish().unwrap();
    }
    Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
}

#[test]
fn after_an_error_the_documents_are_dropped() {
    const DOCS: u32 = 20_000;
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for doc in 0..i64::from(DOCS) {
        let mut document = writer.document();
        document.i64(size, doc * doc).unwrap();
        document.finish().unwrap();
    }
    let mut bytes = writer.finish_bytes().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let size: Numeric = Segment::from_bytes(bytes, OpenOptions::new()).unwrap().numeric("size").unwrap();
    let bad = (0..DOCS).map(DocId::new).find(|doc| size.get(*doc).is_err()).unwrap();

    let mut ahead = Lookahead::new(size);
    for _ in 0..63 {
        assert!(ahead.push(DocId::new(0)).unwrap().is_none());
    }
    assert!(ahead.push(bad).is_err());
    assert!(ahead.finish().unwrap().is_none());
    ahead.push(DocId::new(3)).unwrap();
    let (docs, sizes) = ahead.finish().unwrap().unwrap();
    assert_eq!((docs, sizes.values()), (&[DocId::new(3)][..], &[9][..]));
}

/// The types that other code names.
#[test]
fn rows_have_these_types() {
    let segment = every_kind(3, 9);
    let mut ahead = Lookahead::new((segment.numeric("size").unwrap(), segment.sorted_set("tags").unwrap()));
    ahead.push(DocId::new(2)).unwrap();
    let (_, (sizes, tags)): (_, &(Gathered<i64>, Lists<TermOrd>)) = ahead.finish().unwrap().unwrap();
    assert_eq!((sizes.value(0), tags.len()), (Some(-48), 1));
}
