//! Top documents of segments with many zones, for sets of any size: skipped zones have none of them.

use docvalues::column::Part;
use docvalues::format::file::kind::from_f64;
use docvalues::search::{Bitset, Docs, Parts, Search};
use docvalues::{
    DocId, Field, Kind, LogicalType, OpenOptions, Segment, SegmentWriter, SortKey, WriterOptions,
};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::searches::check_top;
use docvalues_testkit::shapes::Dataset;

use crate::write::{COMPRESSIONS, add_batches, in_batches, schema};

/// Two blocks, and part of a third.
const DOCS: u32 = 140_001;

/// Documents that a thread takes at a time.
const PART: u32 = 524_288;

/// Numbers whose extremes are clustered, spread or everywhere, with ties and gaps.
fn dataset() -> Dataset {
    let mut rng = SplitMix64::named("tops");
    let mut column = |name: &str, logical, number: &dyn Fn(i64, i64) -> Option<i64>| {
        let mut noise = || i64::try_from(rng.below(1_000_000)).unwrap();
        let numbers = (0..i64::from(DOCS)).map(|doc| number(doc, noise())).collect();
        (Field::new(name, Kind::Numeric, logical), ModelColumn::Numeric(numbers))
    };
    let double = |number: i64| {
        let number = if number % 50 == 0 { f64::NAN } else { f64::from(number as i32) / 8.0 };
        Some(from_f64(number))
    };
    let columns = vec![
        column("rising", LogicalType::I64, &|doc, noise| Some(doc * 5 + noise % 900)),
        column("falling", LogicalType::I64, &|doc, noise| Some(-doc * 3 + noise % 90_000)),
        column("anywhere", LogicalType::I64, &|_, noise| Some(noise)),
        column("few", LogicalType::I64, &|doc, noise| Some(noise % 3 + i64::from(doc / 9_000 == 7))),
        column("hill", LogicalType::F64, &|doc, noise| double(80_000 - (doc - 70_000).abs() + noise % 99)),
        column("some", LogicalType::I64, &|doc, noise| (noise % 2 == 0).then_some(doc / 7 + noise % 40)),
    ];
    Dataset { docs: DOCS, columns }
}

fn by(name: &str) -> [SortKey; 4] {
    let up = SortKey::of(name);
    [up.clone(), up.clone().descending(), up.clone().missing_first(), up.descending().missing_first()]
}

#[test]
fn sets_of_any_size() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let mut rng = SplitMix64::new(1);
    let mut one_of =
        |some: u64| -> Vec<DocId> { (0..DOCS).filter(|_| rng.below(some) == 0).map(DocId::new).collect() };
    // Set sizes for which the search uses a filter, zones, or neither; as a list and as bits.
    let lists = [4, 40, 100, 6_000].map(&mut one_of);
    let sets = [5, 50, 130, 7_000].map(one_of).map(|list| Bitset::from_docs(list, DOCS));
    let at_the_end: Vec<DocId> = (DOCS - 5_000..DOCS + 3).step_by(2).map(DocId::new).collect();
    let mut docs = vec![Docs::All, Docs::Range(70, DOCS - 66_000), Docs::list(&at_the_end).unwrap()];
    docs.extend(lists.iter().map(|list| Docs::list(list).unwrap()));
    docs.extend(sets.iter().map(Docs::Bits));
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    for (at, name) in names.iter().enumerate() {
        for (turn, key) in (at..).zip(by(name)) {
            // All in the full sweep; otherwise by turns.
            let some = docs.iter().copied().skip(cases(turn % 2, 0)).step_by(cases(2, 1));
            check_top(&segment, &dataset, &some.collect::<Vec<_>>(), &[key], &[1, 20, 700]);
        }
        let second = SortKey::of(names[(at + 1) % names.len()]).descending();
        check_top(&segment, &dataset, &docs, &[by(name)[at % 4].clone(), second], &[20]);
    }
}

/// The latest documents of a log, whose times ascend.
#[test]
fn ascending_numbers_visit_few_documents() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (3..DOCS).step_by(37).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), DOCS);
    for docs in [Docs::All, Docs::list(&list).unwrap(), Docs::Bits(&bits), Docs::Range(1, DOCS)] {
        let (found, profile) =
            Search::new(&segment).top_explained(docs, &[SortKey::of("rising").descending()], 20).unwrap();
        assert_eq!(found.len(), 20);
        // Neighbours are out of order by some hundreds of steps.
        assert!(profile.visited <= 4_096 * 2, "{} documents of {docs:?} were visited", profile.visited);
    }
}

/// The documents of the set are worse than others, except for a few of the best, so the search's guess is wrong.
#[test]
fn a_set_below_the_guess_is_searched_again() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let ModelColumn::Numeric(numbers) = &dataset.columns[2].1 else { panic!("`anywhere` has numbers") };
    let up = SortKey::of("anywhere");
    for (worst, best, key) in
        [(0..500_000, 999_900..1_000_000, up.clone().descending()), (500_000..1_000_000, 0..100, up)]
    {
        for few in [0, 5] {
            let mut left = few;
            let mut is_in = |number: i64| {
                let is_good = left > 0 && best.contains(&number);
                left -= i32::from(is_good);
                is_good || worst.contains(&number)
            };
            let list: Vec<DocId> = (0..DOCS)
                .filter(|&doc| numbers[doc as usize].is_some_and(&mut is_in))
                .map(DocId::new)
                .collect();
            assert_eq!(left, 0);
            let bits = Bitset::from_docs(list.iter().copied(), DOCS);
            let sets = [Docs::list(&list).unwrap(), Docs::Bits(&bits)];
            check_top(&segment, &dataset, &sets, std::slice::from_ref(&key), &[1, 20, 700]);
            check_top(&segment, &dataset, &sets, &[key.clone(), SortKey::of("few")], &[20]);
        }
    }
}

/// Few documents of a random set are visited.
#[test]
fn random_numbers_skip_most_documents() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (3..DOCS).step_by(23).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), DOCS);
    for docs in [Docs::list(&list).unwrap(), Docs::Bits(&bits)] {
        let key = SortKey::of("anywhere").descending();
        let (found, profile) = Search::new(&segment).top_explained(docs, &[key], 1).unwrap();
        assert_eq!(found.len(), 1);
        assert!(
            profile.visited < list.len() as u64 / 2,
            "{} of {} documents were looked at",
            profile.visited,
            list.len()
        );
    }
}

/// Documents of the second chunk have their own fine zones, and are found by another thread.
#[test]
fn documents_of_two_chunks() {
    let docs = PART + 70_000;
    let mut rng = SplitMix64::named("two parts");
    let mut column = |name: &str, number: &dyn Fn(u32, u64) -> Option<i64>| {
        let numbers = (0..docs).map(|doc| number(doc, rng.below(1 << 40))).collect();
        (Field::new(name, Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers))
    };
    let columns = vec![
        column("rising", &|doc, noise| Some(i64::from(doc) + noise.cast_signed() % 2_000)),
        column("some", &|_, noise| (noise % 3 > 0).then_some(noise.cast_signed() % 1_000)),
    ];
    let dataset = Dataset { docs, columns };
    let file = in_batches(&dataset, 300_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (3..docs).step_by(41).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), docs);
    let after = &list[list.partition_point(|doc| doc.get() < PART + 9_000)..];
    let sets = [
        Docs::list(&list).unwrap(),
        Docs::Bits(&bits),
        Docs::list(after).unwrap(),
        Docs::Range(PART - 7, PART + 66_000),
    ];
    let [rising, some] = ["rising", "some"].map(SortKey::of);
    for key in [rising.clone(), rising.clone().descending()] {
        check_top(&segment, &dataset, &sets, &[key], &[1, 30]);
    }
    check_top(&segment, &dataset, &sets, &[some.missing_first().descending(), rising.descending()], &[30]);
}

/// A source with an exact `may_hold`, also for documents without a value, and with good or bad guesses.
#[test]
fn a_source_with_exact_hooks() {
    let docs = 60_000;
    let column = |name: &str, logical, number: &dyn Fn(u32) -> Option<i64>| {
        (Field::new(name, Kind::Numeric, logical), ModelColumn::Numeric((0..docs).map(number).collect()))
    };
    let double = |doc: u32| match doc * 7 % 31 {
        0..4 => f64::NAN,
        4 => -0.0,
        5 => 0.0,
        number => f64::from(number) - 12.0,
    };
    let columns = vec![
        column("some", LogicalType::I64, &|doc| (doc % 3 > 0).then_some(i64::from(doc * 7 % 911))),
        column("most", LogicalType::I64, &|doc| (doc % 1_000 != 5).then_some(i64::from(doc))),
        column("all", LogicalType::I64, &|doc| Some(i64::from(doc * 7 % 911 + doc / 9_000))),
        column("doubles", LogicalType::F64, &|doc| Some(from_f64(double(doc)))),
    ];
    let dataset = Dataset { docs, columns };
    let list: Vec<DocId> = (5..docs).step_by(40).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), docs);
    for key in ["some", "most", "all", "doubles"].iter().flat_map(|name| by(name)) {
        let sets = [Docs::list(&list).unwrap(), Docs::Bits(&bits), Docs::All];
        check_top(&dataset.source(), &dataset, &sets, &[key], &[1, 7, 100, 250, 300, 350, 400]);
    }
}

/// Without a lower bound, the first numbers bound the queue, unless it holds most of the documents.
#[test]
fn few_documents() {
    let docs = 1_000;
    let column = |name: &str, number: &dyn Fn(u32) -> Option<i64>| {
        let numbers = (0..docs).map(number).collect();
        (Field::new(name, Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers))
    };
    let columns = vec![
        column("different", &|doc| Some((doc * 7 % 1_009).into())),
        column("equal", &|doc| Some((doc * 7 % 3).into())),
        column("extremes", &|doc| Some([i64::MIN, i64::MAX, i64::MIN + 1, -1][doc as usize * 7 % 4])),
        column("some", &|doc| (doc % 5 > 0).then_some((doc * 7 % 31).into())),
    ];
    let dataset = Dataset { docs, columns };
    let file = in_batches(&dataset, docs, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (5..docs).step_by(3).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), docs);
    let sets = [Docs::All, Docs::list(&list).unwrap(), Docs::Bits(&bits)];
    let tops = [0, 1, 2, 166, 167, 332, 500, 501, 1_000, 2_000];
    for name in ["different", "equal", "extremes"] {
        for (key, second) in by(name).into_iter().zip(by("some")) {
            check_top(&segment, &dataset, &sets, std::slice::from_ref(&key), &tops);
            check_top(&segment, &dataset, &sets, &[key, second], &tops);
        }
    }
}

/// A search visits only the first documents of parts that are sorted by its keys, even if one of these has a single value.
#[test]
fn parts_in_order() {
    let docs = 3_000;
    let column = |name: &str, number: &dyn Fn(u32) -> Option<i64>| {
        let numbers = (0..docs).map(number).collect();
        (Field::new(name, Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers))
    };
    let columns = vec![column("size", &|doc| Some((doc * 7 % 911).into())), column("tenant", &|_| Some(3))];
    let dataset = Dataset { docs, columns };
    let part = |sort: &[SortKey]| {
        let (schema, fields) = schema(&dataset, &COMPRESSIONS);
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        writer.sort_by(sort.to_vec()).unwrap();
        add_batches(&mut writer, &fields, &dataset, 1_000);
        Part::new(Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap())
    };
    let [size, tenant] = ["size", "tenant"].map(SortKey::of);
    let by_size = [size.clone(), tenant.clone()];
    let by_tenant = [tenant.clone(), size.clone()];
    let down = [tenant, size.descending()];
    for (sort, keys, is_in_order) in [
        (&by_tenant[..], &by_tenant[..], true),
        (&by_size[..], &by_size[..], true),
        (&by_size[..1], &by_tenant[..], true),
        (&by_tenant[..1], &by_tenant[..], false),
        (&by_tenant[..], &down[..], false),
    ] {
        let parts = Parts::new([part(sort), part(sort)]);
        let search = Search::over(&parts).threads(1);
        let (found, profile) = search.top_explained(Docs::All, keys, 20).unwrap();
        assert_eq!(found, search.sorted(Docs::All, keys).unwrap()[..20], "{keys:?} of parts by {sort:?}");
        assert_eq!(profile.visited <= 2 * 20, is_in_order, "{profile} by {keys:?} of parts by {sort:?}");
    }
}
