//! Results of queries over several parts.

use docvalues_column::{DocAddress, Part};
use docvalues_search::{Docs, Error, Parts, Query, Search};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;
use proptest::prelude::*;

use crate::naive::{any_query, any_rows, expected};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn results_equal_those_of_all_rows_together(seed: u64, size in 0_usize..4, cuts: [u32; 3]) {
        let mut rng = SplitMix64::new(seed);
        let rows = any_rows([0, 3, 131, 700][size], &mut rng);
        for depth in [0, 0, 0, 1, 1, 2, 3] {
            check_parts(&rows, cuts, &any_query(&rows.columns, depth, &mut rng));
        }
    }
}

#[test]
fn a_set_of_one_source_is_refused() {
    let rows = any_rows(10, &mut SplitMix64::new(1));
    let parts = Parts::new(rows.cut(&[0, 5]).into_iter().map(|part| Part::new(part.source())));
    let set = Query::docs(docvalues_search::Bitset::all(5));
    let refused = Search::over(&parts).count(&(!set.clone()).and(Query::All));
    assert!(matches!(refused, Err(Error::Request(_))), "{refused:?}");
    let one = parts.without(|part| part == 1);
    assert_eq!(Search::over(&one).count(&set).unwrap(), 5);
}

/// Runs the query over these rows, cut into parts, and compares the results with those of all rows together.
fn check_parts(rows: &Dataset, cuts: [u32; 3], query: &Query) {
    let Some(expected) = expected(rows, query) else { return };
    let mut starts = cuts.map(|cut| cut % (rows.docs + 1)).to_vec();
    starts.push(0);
    starts.sort_unstable();
    let parts = Parts::new(rows.cut(&starts).into_iter().map(|part| Part::new(part.source())));
    for threads in [1, 2] {
        let bound = match Search::over(&parts).threads(threads).bind(query) {
            Ok(bound) => bound,
            Err(Error::Query(_)) => return,
            Err(error) => panic!("{query}: {error}"),
        };
        let of = |found: DocAddress| starts[found.part as usize] + found.doc.get();
        let (found, explained) =
            (bound.collect(Docs::All).unwrap(), bound.collect_explained(Docs::All).unwrap());
        assert!(found.iter().map(of).eq(expected.iter().copied()), "{query} in parts from {starts:?}");
        assert_eq!(found.count(), expected.len() as u64, "{query}");
        assert!(explained.0.iter().eq(found.iter()), "{query}, explained");
        assert_eq!(bound.count(Docs::All).unwrap(), found.count(), "{query}");
        assert_eq!(bound.count(&found).unwrap(), found.count(), "{query}");
        assert!(!bound.is_none() || expected.is_empty());
        assert!(!bound.is_all() || found.count() == u64::from(rows.docs));
        let halves: Vec<Docs<'_>> =
            rows.cut(&starts).iter().map(|part| Docs::Range(0, part.docs / 2)).collect();
        let within = found.iter().filter(|found| {
            let ends = starts[1..].iter().copied().chain([rows.docs]);
            let docs = ends.zip(&starts).map(|(end, start)| end - start).nth(found.part as usize).unwrap();
            found.doc.get() < docs / 2
        });
        assert_eq!(bound.count(halves.as_slice()).unwrap(), within.count() as u64, "{query}");
    }
}
