//! What queries find.

use docvalues_column::{DocId, bits};
use docvalues_search::{Bitset, Docs, Error, Query};
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

use crate::naive::{Rows, any_query, any_rows};

/// What the naive way finds; `None` if it cannot say, or the query cannot be bound.
fn expected(rows: &Rows, query: &Query) -> Option<Vec<u32>> {
    let judged: Option<Vec<bool>> = (0..rows.docs).map(|doc| rows.matches(query, doc)).collect();
    Some((0..rows.docs).zip(judged?).filter(|(_, matches)| *matches).map(|(doc, _)| doc).collect())
}

fn listed(found: &Bitset) -> Vec<u32> {
    found.iter().map(DocId::get).collect()
}

/// Asks in every way, and compares.
fn check(rows: &Rows, query: &Query, rng: &mut SplitMix64) {
    let source = rows.source();
    let bound = match query.bind(&source) {
        Ok(bound) => bound,
        Err(Error::Query(_)) => return,
        Err(error) => panic!("{query}: {error}"),
    };
    let Some(expected) = expected(rows, query) else { panic!("{query}: bound, but not known") };
    let all = bound.collect(Docs::All).unwrap();
    assert_eq!(listed(&all), expected, "{query}");
    assert_eq!(bound.count(Docs::All).unwrap() as usize, expected.len(), "{query}");
    assert!(!bound.is_none() || expected.is_empty());
    assert!(!bound.is_all() || expected.len() == rows.docs as usize);
    let (explained, explain) = bound.collect_explained(Docs::All).unwrap();
    assert_eq!(explained, all, "{query}, explained");
    assert!(explain.to_string().lines().count() >= 2);

    let (from, to) = (rng.below_u32(rows.docs + 1), rng.below_u32(rows.docs + 80));
    let within: Vec<u32> = expected.iter().copied().filter(|doc| (from..to).contains(doc)).collect();
    assert_eq!(listed(&bound.collect(from..to).unwrap()), within, "{query} in {from}..{to}");
    assert_eq!(bound.count(from..to).unwrap() as usize, within.len(), "{query} in {from}..{to}");
    assert_eq!(listed(&bound.collect_explained(from..to).unwrap().0), within, "{query} in {from}..{to}");
    if from <= to {
        let mut words = vec![0; bits::words(from..to)];
        bound.matching(from..to, &mut words).unwrap();
        let found: Vec<u32> = bits::ones(&words).map(|at| from + at as u32).collect();
        assert_eq!(found, within, "{query} in {from}..{to}");
    }

    let one_in = *rng.pick(&[1, 2, 50, 500]);
    let some: Vec<DocId> = (0..rows.docs).filter(|_| rng.chance(1, one_in)).map(DocId::new).collect();
    let of_some: Vec<u32> =
        some.iter().map(|doc| doc.get()).filter(|doc| expected.binary_search(doc).is_ok()).collect();
    assert_eq!(listed(&bound.collect(Docs::List(&some)).unwrap()), of_some, "{query} in a list");
    let some = Bitset::from_docs(some, rows.docs);
    assert_eq!(listed(&bound.collect(&some).unwrap()), of_some, "{query} in bits");
    assert_eq!(bound.count(&some).unwrap() as usize, of_some.len(), "{query} in bits");
    assert_eq!(listed(&bound.collect_explained(&some).unwrap().0), of_some, "{query} in bits");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_found_is_what_the_naive_way_finds(seed: u64, size in 0_usize..5) {
        let mut rng = SplitMix64::new(seed);
        let docs = [0, 1, 64, 131, 700][size];
        let rows = any_rows(docs, &mut rng);
        for depth in [0, 0, 0, 1, 1, 2, 3] {
            let query = any_query(&rows.columns, depth, &mut rng);
            check(&rows, &query, &mut rng);
        }
    }
}
