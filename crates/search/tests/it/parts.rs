//! Sets of parts: what they share, and totals beyond 32 bits.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, ColumnSource, Count, DocAddress, DocId, DocRange, Each, ErrorKind,
    Field, Gathered, Kind, Lists, LiveDocs, LogicalType, Part, Result, Rows, SortKey, TermOrd, Terms, Value,
    Values, bits, scan_by_gather,
};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::Group;
use docvalues_search::stats::Stats;
use docvalues_search::{Docs, Error, MissingColumns, MixedTypes, PartError, Parts, Query, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

pub(crate) fn source(names: &[&str]) -> MemSource {
    let field = Field::new("name", Kind::Sorted, LogicalType::Utf8);
    let slots = names.iter().map(|name| Some(name.as_bytes().to_vec())).collect();
    MemSource::new(names.len().try_into().unwrap(), [(field, ModelColumn::Sorted(slots))])
}

pub(crate) fn part(names: &[&str]) -> Part {
    Part::new(source(names))
}

fn counts(parts: &Parts, facet: &Facet) -> Vec<(String, u64)> {
    let found = Search::over(parts).facet(Docs::All, facet).unwrap();
    let text = |value| match value {
        Value::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other:?}"),
    };
    found.values.into_iter().map(|(value, count)| (text(value), count)).collect()
}

fn expected(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn sets_share_what_they_know_of_a_part() {
    let facet = Facet::of("name");
    let one = Parts::new([part(&["cat", "ant", "cat"])]);
    let two = one.with(part(&["bee", "cat"]));
    assert_eq!(counts(&two, &facet), expected(&[("cat", 3), ("ant", 1), ("bee", 1)]));
    // The terms of the second part are known to the table, but the first set has none of them.
    assert_eq!(counts(&one, &facet), expected(&[("cat", 2), ("ant", 1)]));
    let memory = two.term_memory("name").unwrap();
    assert_eq!(memory.terms, 3);
    assert_eq!(two.with(part(&[])).docs(), 5);

    let three = two.with(part(&["dog", "bee", "bee"]));
    assert_eq!(counts(&three, &facet), expected(&[("bee", 3), ("cat", 3), ("ant", 1), ("dog", 1)]));
    let by_value = facet.clone().order(FacetOrder::Value).top(2);
    assert_eq!(counts(&three, &by_value), expected(&[("ant", 1), ("bee", 3)]));

    let without = three.without(|part| part == 1);
    assert_eq!(counts(&without, &facet), expected(&[("bee", 2), ("cat", 2), ("ant", 1), ("dog", 1)]));
    // A value that no document of the set has, and one that no part has.
    let live = LiveDocs::all(3);
    let mut fewer = live.clone();
    assert!(fewer.delete(DocId::new(1)));
    let without = two.without(|part| part == 1).with(part(&["cat"])).with_live(0, &fewer);
    let every = facet.clone().min_count(0);
    assert_eq!(counts(&without, &every), expected(&[("cat", 3), ("ant", 0)]));
    assert_eq!(counts(&without.with_live(0, &live), &every), expected(&[("cat", 3), ("ant", 1)]));
}

#[test]
fn terms_of_dropped_parts_are_forgotten_once_they_are_most() {
    let names: Vec<String> = (0..100).map(|name| format!("name {name}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let parts = Parts::new([part(&["cat", "name 7"]), part(&many)]);
    let facet = Facet::of("name");
    assert_eq!(counts(&parts, &facet)[0], ("name 7".to_owned(), 2));
    assert_eq!(parts.term_memory("name").unwrap().terms, 101);
    let fewer = parts.without(|part| part == 1).with(part(&["dog"]));
    assert_eq!(counts(&fewer, &facet), expected(&[("cat", 1), ("dog", 1), ("name 7", 1)]));
    assert_eq!(fewer.term_memory("name").unwrap().terms, 3);
    // The older set goes on with the older table.
    assert_eq!(counts(&parts, &facet)[0], ("name 7".to_owned(), 2));
}

#[test]
fn columns_of_different_types_are_refused_or_promoted() {
    let of =
        |kind, logical, column| Part::new(MemSource::new(2, [(Field::new("it", kind, logical), column)]));
    let integers = of(Kind::Numeric, LogicalType::I64, ModelColumn::Numeric(vec![Some(3), None]));
    let doubles = vec![
        Some(docvalues_format::file::kind::from_f64(2.5)),
        Some(docvalues_format::file::kind::from_f64(3.0)),
    ];
    let doubles = of(Kind::Numeric, LogicalType::F64, ModelColumn::Numeric(doubles));
    let lists =
        of(Kind::SortedNumeric, LogicalType::I64, ModelColumn::SortedNumeric(vec![vec![3, 5], vec![]]));
    let bytes = |names: [&str; 2]| names.map(|name| Some(name.as_bytes().to_vec())).to_vec();
    let terms = of(Kind::Sorted, LogicalType::Utf8, ModelColumn::Sorted(bytes(["b", "a"])));
    let strings = of(Kind::Binary, LogicalType::Utf8, ModelColumn::Binary(bytes(["b", "c"])));
    let long = {
        let docs = (1 << 16) + 1;
        let field = Field::new("it", Kind::Binary, LogicalType::Utf8);
        Part::new(MemSource::new(docs, [(field, ModelColumn::Binary(bytes(["b", "c"])))]))
    };
    let sets = of(
        Kind::SortedSet,
        LogicalType::Utf8,
        ModelColumn::SortedSet(vec![[b"a".to_vec(), b"b".to_vec()].into(), [].into()]),
    );

    let facet = |parts: &[&Part]| {
        let parts = Parts::new(parts.iter().map(|part| (*part).clone()));
        let refused = Search::over(&parts).facet(Docs::All, &Facet::of("it"));
        assert!(matches!(refused, Err(Error::MixedTypes { .. })), "{refused:?}");
        let search = Search::over(&parts).mixed_types(MixedTypes::Promote);
        let found = search.facet(Docs::All, &Facet::of("it"))?;
        let top = search.top(Docs::All, &[SortKey::of("it").descending()], 1)?;
        Ok::<_, Error>((found.values, found.missing, top[0]))
    };
    let at = |part, doc| DocAddress { part, doc: DocId::new(doc) };
    let text = |name: &str| Value::Bytes(name.as_bytes().to_vec());
    let (values, missing, top) = facet(&[&integers, &doubles]).unwrap();
    assert_eq!(values, [(Value::F64(3.0), 2), (Value::F64(2.5), 1)]);
    assert_eq!((missing, top), (1, at(0, 0)));
    let (values, missing, top) = facet(&[&integers, &lists]).unwrap();
    assert_eq!(values, [(Value::I64(3), 2), (Value::I64(5), 1)]);
    assert_eq!((missing, top), (2, at(1, 0)));
    let (values, missing, top) = facet(&[&terms, &strings]).unwrap();
    assert_eq!(values, [(text("b"), 2), (text("a"), 1), (text("c"), 1)]);
    assert_eq!((missing, top), (0, at(1, 1)));
    let (values, missing, top) = facet(&[&sets, &terms]).unwrap();
    assert_eq!(values, [(text("a"), 2), (text("b"), 2)]);
    assert_eq!((missing, top), (1, at(0, 0)));
    let refused = facet(&[&terms, &terms, &integers]).unwrap_err();
    assert_eq!(refused.to_string(), "column \"it\" is sorted string in part 0 and numeric i64 in part 2");
    let (values, missing, top) = facet(&[&strings, &sets]).unwrap();
    assert_eq!(values, [(text("b"), 2), (text("a"), 1), (text("c"), 1)]);
    assert_eq!((missing, top), (1, at(0, 1)));
    let (values, missing, top) = facet(&[&terms, &long]).unwrap();
    assert_eq!(values, [(text("b"), 2), (text("a"), 1), (text("c"), 1)]);
    assert_eq!((missing, top), ((1 << 16) - 1, at(1, 1)));
    let small = Parts::new([strings.clone(), sets.clone()]);
    let search = Search::over(&small).mixed_types(MixedTypes::Promote);
    assert_eq!(search.count(&Query::range("it", "b"..)).unwrap(), 3);
    assert_eq!(search.count(&Query::prefix("it", "c")).unwrap(), 1);
    // Single terms go with either, but lists do not go with the strings of many documents.
    let refused = facet(&[&terms, &sets, &long]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "column \"it\" is sorted-set string in part 1 and binary string in part 2"
    );

    let large = of(Kind::Numeric, LogicalType::I64, ModelColumn::Numeric(vec![Some((1 << 53) + 1), None]));
    let refused = facet(&[&doubles, &large]).unwrap_err().to_string();
    assert!(refused.contains("9007199254740993 has no equal of type f64"), "{refused}");
}

#[test]
fn a_column_that_a_part_lacks_has_no_values_there() {
    let parts = Parts::new([part(&["cat"]), Part::new(MemSource::new(3, []))]);
    let search = Search::over(&parts);
    assert_eq!(search.count(&Query::missing("name")).unwrap(), 3);
    assert!(search.count(&Query::exists("none")).is_err());
    let search = search.missing_columns(MissingColumns::NoValues);
    assert_eq!(search.count(&Query::missing("none")).unwrap(), 4);
    let nothing = Parts::new([]);
    assert_eq!(Search::over(&nothing).count(&Query::All).unwrap(), 0);
    let search = Search::over(&nothing);
    let facet = search.facet(Docs::All, &Facet::of("name")).unwrap();
    assert_eq!((facet.docs, facet.values.len()), (0, 0));
    assert_eq!(search.top(Docs::All, &[SortKey::of("name")], 3).unwrap(), []);
}

/// Documents that all have the same number and the same term.
struct Same {
    docs: u32,
}

struct SameColumn {
    info: ColumnInfo,
}

impl ColumnSource for Same {
    fn docs(&self) -> u32 {
        self.docs
    }

    fn fields(&self) -> Result<Vec<Field>> {
        Ok(vec![self.column("number")?.info().field.clone(), self.column("term")?.info().field.clone()])
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let (kind, logical, bounds) = match name {
            "number" => (Kind::Numeric, LogicalType::I64, Bounds::Exact(7..=7)),
            "term" => (Kind::Sorted, LogicalType::Utf8, Bounds::Unknown),
            _ => return Err(ErrorKind::NoSuchColumn { file: "same".into(), field: name.into() }.into()),
        };
        let count = Count::Exact(self.docs.into());
        let sum = (kind == Kind::Numeric).then(|| 7 * i128::from(self.docs));
        let field = Field::new(name, kind, logical);
        let info = ColumnInfo { field, docs: self.docs, with_value: count, value_count: count, bounds, sum };
        Ok(Arc::new(SameColumn { info }))
    }
}

impl Column for SameColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        bits::set_range(out, 0..docs.len());
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        if self.info.kind() == Kind::Numeric { Values::Numbers(self) } else { Values::Ords(self, self) }
    }
}

impl Rows<i64> for SameColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
        out.begin_one(docs.len()).0.fill(7);
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
        scan_by_gather::<i64>(self, docs, each)
    }
}

impl Rows<TermOrd> for SameColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<TermOrd>) -> Result<()> {
        out.begin_one(docs.len()).0.fill(TermOrd::new(0));
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, TermOrd>) -> Result<()> {
        scan_by_gather::<TermOrd>(self, docs, each)
    }

    // Without this, the documents would be scanned.
    fn filter(
        &self,
        docs: DocRange,
        wanted: &docvalues_column::OrdRange,
        out: &mut [u64],
        _: &mut docvalues_column::Pruning,
    ) -> Result<()> {
        if wanted.contains(TermOrd::new(0)) {
            bits::set_range(out, 0..docs.len());
        }
        Ok(())
    }
}

impl Terms for SameColumn {
    fn term_count(&self) -> u32 {
        1
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        out.clear();
        ords.iter().for_each(|_| out.push(b"same"));
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        Ok(TermOrd::new(u32::from(term > b"same".as_slice())))
    }
}

#[test]
fn totals_exceed_32_bits() {
    const ALL: u64 = 89 * 300_000_000;
    let parts = Parts::new((0..89).map(|_| Part::new(Same { docs: 300_000_000 })));
    let search = Search::over(&parts);
    assert_eq!((search.docs(), search.count(&Query::All).unwrap()), (ALL, ALL));
    assert_eq!(search.count(&Query::eq("number", 7)).unwrap(), ALL);
    assert_eq!(search.count(&Query::eq("term", "same").and(Query::range("number", 8..))).unwrap(), 0);

    for (column, value) in [("number", Value::I64(7)), ("term", Value::Bytes(b"same".to_vec()))] {
        let found = search.facet(Docs::All, &Facet::of(column)).unwrap();
        assert_eq!((found.values, found.docs, found.distinct), (vec![(value.clone(), ALL)], ALL, 1));
        let found = search.group(Docs::All, &Group::of(column).docs(1)).unwrap();
        assert_eq!((found.groups[0].values[0].as_ref(), found.groups[0].count), (Some(&value), ALL));
        assert_eq!(found.groups[0].docs, [DocAddress { part: 0, doc: DocId::new(0) }]);
        let top = search.top(Docs::All, &[SortKey::of(column).descending()], 2).unwrap();
        assert_eq!(top, [0, 1].map(|doc| DocAddress { part: 0, doc: DocId::new(doc) }));
    }
    let stats = search.stats(Docs::All, &Stats::of("number").distinct()).unwrap();
    assert_eq!((stats.docs, stats.values, stats.mean), (ALL, ALL, Some(7.0)));
    // More documents than fit in memory one by one.
    assert!(matches!(
        search.memory(1 << 30).sorted(Docs::All, &[SortKey::of("number")]),
        Err(Error::Memory { .. })
    ));
}

/// A source whose columns cannot be opened.
pub(crate) struct Damaged;

impl ColumnSource for Damaged {
    fn docs(&self) -> u32 {
        2
    }

    fn fields(&self) -> Result<Vec<Field>> {
        Ok(vec![Field::new("name", Kind::Sorted, LogicalType::Utf8)])
    }

    fn column(&self, _: &str) -> Result<Arc<dyn Column>> {
        Err(ErrorKind::Source { name: "damaged".into(), source: "bad bytes".into() }.into())
    }
}

#[test]
fn an_error_names_its_part_and_the_others_can_be_searched() {
    let parts = Parts::new([part(&["cat", "ant"]), Part::new(Damaged), part(&["cat"])]);
    let search = Search::over(&parts);
    let keys = [SortKey::of("name")];
    let errors = [
        search.facet(Docs::All, &Facet::of("name")).unwrap_err(),
        search.count(&Query::eq("name", "cat").or(Query::None)).unwrap_err(),
        search.top(Docs::All, &keys, 2).unwrap_err(),
        search.sorted(Docs::All, &keys).unwrap_err(),
        search.export(Docs::All, &["name"]).unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.part(), error.to_string()), (Some(1), "damaged: bad bytes".to_owned()));
        assert!(matches!(error.inner(), Error::Column(_)), "{error:?}");
    }
    let others = parts.without(|part| part == 1);
    assert_eq!(counts(&others, &Facet::of("name")), expected(&[("cat", 2), ("ant", 1)]));

    // Addresses stay those of the whole set.
    let (top, left_out) =
        parts.search_undamaged(|parts| Search::over(parts).top(Docs::All, &keys, 9)).unwrap();
    let addresses: Vec<_> = top.iter().map(|top| (top.part, top.doc.get())).collect();
    assert_eq!(addresses, [(0, 1), (0, 0), (2, 0)]);
    assert_eq!(left_out.iter().map(PartError::part).collect::<Vec<_>>(), [1]);
    // Neither a request that is wrong nor the last part is left out.
    let wrong = |parts: &Parts| Search::over(parts).facet(Docs::All, &Facet::of("nothing"));
    assert!(parts.without(|part| part == 1).search_undamaged(wrong).is_err());
    let damaged = Parts::new([Part::new(Damaged), Part::new(Damaged)]);
    assert!(damaged.search_undamaged(wrong).is_err());
    // One that was left out does not say that there is no column: it is no file any more.
    let parts = Parts::new([Part::new(Damaged), Part::new(Same { docs: 2 })]);
    assert_eq!(parts.search_undamaged(wrong).unwrap_err().to_string(), "same: no column \"nothing\"");
}
