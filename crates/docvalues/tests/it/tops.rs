//! The first documents of segments with many zones, of sets of any size: what is skipped must not have been among them.

use docvalues::format::file::kind::from_f64;
use docvalues::search::{Bitset, Docs, Search};
use docvalues::{DocId, Field, Kind, LogicalType, OpenOptions, Segment, SortKey, WriterOptions};
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::searches::check_top;
use docvalues_testkit::shapes::Dataset;

use crate::write::{COMPRESSIONS, in_batches};

/// Two blocks, and a part of one.
const DOCS: u32 = 140_001;

/// Numbers whose greatest, or least, lie together, or here and there, or everywhere; that tie, and that are missing.
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
    let up = SortKey::new(name);
    [up.clone(), up.clone().descending(), up.clone().missing_first(), up.descending().missing_first()]
}

#[test]
fn of_sets_of_any_size() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let mut rng = SplitMix64::new(1);
    let mut one_of =
        |some: u64| -> Vec<DocId> { (0..DOCS).filter(|_| rng.below(some) == 0).map(DocId::new).collect() };
    // Enough for a filter to be asked, for zones to be asked, and for neither, as a list and as bits.
    let lists = [4, 40, 100, 6_000].map(&mut one_of);
    let sets = [5, 50, 130, 7_000].map(one_of).map(|list| Bitset::from_docs(list, DOCS));
    let at_the_end: Vec<DocId> = (DOCS - 5_000..DOCS + 3).step_by(2).map(DocId::new).collect();
    let mut docs = vec![Docs::All, Docs::Range(70, DOCS - 66_000), Docs::List(&at_the_end)];
    docs.extend(lists.iter().map(|list| Docs::List(list)));
    docs.extend(sets.iter().map(Docs::Bits));
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    for (at, name) in names.iter().enumerate() {
        for key in by(name) {
            check_top(&segment, &dataset, &docs, &[key], &[1, 20, 700]);
        }
        let second = SortKey::new(names[(at + 1) % names.len()]).descending();
        check_top(&segment, &dataset, &docs, &[by(name)[at % 4].clone(), second], &[20]);
    }
}

/// The latest documents of a log, where each is later than those before.
#[test]
fn of_numbers_that_rise_hardly_any_document_is_looked_at() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (3..DOCS).step_by(37).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), DOCS);
    for docs in [Docs::All, Docs::List(&list), Docs::Bits(&bits), Docs::Range(1, DOCS)] {
        let (found, ran) =
            Search::new(&segment).top_explained(docs, &[SortKey::new("rising").descending()], 20).unwrap();
        assert_eq!(found.len(), 20);
        // Of documents near each other, some hundreds of steps are noise.
        assert!(ran.seen <= 4_096 * 2, "{} documents of {docs:?} were looked at", ran.seen);
    }
}

/// All documents of the set are worse than most others: what is guessed of them is not so.
#[test]
fn of_a_set_of_which_too_much_is_expected() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let ModelColumn::Numeric(numbers) = &dataset.columns[2].1 else { panic!("`anywhere` has numbers") };
    for (worst, key) in
        [(0..40_000, SortKey::new("anywhere").descending()), (960_000..1_000_000, SortKey::new("anywhere"))]
    {
        let is_bad = |number: Option<i64>| number.is_some_and(|number| worst.contains(&number));
        let list: Vec<DocId> =
            (0..DOCS).filter(|&doc| is_bad(numbers[doc as usize])).map(DocId::new).collect();
        let bits = Bitset::from_docs(list.iter().copied(), DOCS);
        let sets = [Docs::List(&list), Docs::Bits(&bits)];
        check_top(&segment, &dataset, &sets, std::slice::from_ref(&key), &[1, 20, 700]);
        check_top(&segment, &dataset, &sets, &[key, SortKey::new("few")], &[20]);
    }
}

/// Of a set of any documents, few are looked at.
#[test]
fn of_numbers_anywhere_most_documents_are_passed_over() {
    let dataset = dataset();
    let file = in_batches(&dataset, 50_000, &COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let list: Vec<DocId> = (3..DOCS).step_by(23).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), DOCS);
    for docs in [Docs::List(&list), Docs::Bits(&bits)] {
        let key = SortKey::new("anywhere").descending();
        let (found, ran) = Search::new(&segment).top_explained(docs, &[key], 1).unwrap();
        assert_eq!(found.len(), 1);
        assert!(ran.seen < list.len() as u64 / 2, "{} of {} documents were looked at", ran.seen, list.len());
    }
}

/// A source that knows just which documents match: of those without a value, too.
#[test]
fn of_a_source_that_knows_more() {
    let docs = 60_000;
    let numbers = (0..docs).map(|doc| (doc % 3 > 0).then_some(i64::from(doc * 7 % 911))).collect();
    let column = (Field::new("some", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers));
    let dataset = Dataset { docs, columns: vec![column] };
    let list: Vec<DocId> = (5..docs).step_by(40).map(DocId::new).collect();
    let bits = Bitset::from_docs(list.iter().copied(), docs);
    for key in by("some") {
        let sets = [Docs::List(&list), Docs::Bits(&bits), Docs::All];
        check_top(&dataset.source(), &dataset, &sets, &[key], &[1, 7, 400]);
    }
}
