//! Results of queries over several parts.

use docvalues_column::{DocAddress, DocId, LiveDocs, Part, bits};
use docvalues_search::{Bitset, Docs, Error, Parts, Query, Search};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;
use proptest::prelude::*;

use super::naive::{any_query, any_rows, expected};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40, 100)))]

    #[test]
    fn results_equal_those_of_all_rows_together(seed: u64, size in 0_usize..4, cuts: [u32; 3]) {
        let mut rng = SplitMix64::new(seed);
        let rows = any_rows([0, 3, 131, 700][size], &mut rng);
        // None deleted, one in ten, half, all but one in a hundred, and all.
        let shares = [0, 0, 10, 50, 99, 100];
        for depth in [0, 0, 0, 1, 1, 2, 3] {
            let share = *rng.pick(&shares);
            let mut deleted: Vec<u32> = (0..rows.docs).filter(|_| rng.chance(share, 100)).collect();
            if share == 0 && rows.docs > 0 && rng.chance(1, 2) {
                deleted.push(rng.below_u32(rows.docs));
            }
            check_parts(&rows, cuts, &deleted, &any_query(&rows.columns, depth, &mut rng));
        }
    }
}

#[test]
fn a_set_of_one_source_is_refused() {
    let rows = any_rows(10, &mut SplitMix64::new(1));
    let parts = Parts::new(rows.cut(&[0, 5]).into_iter().map(|part| Part::new(part.source())));
    let set = Query::docs(Bitset::all(5));
    let refused = Search::over(&parts).count(&(!set.clone()).and(Query::All));
    assert!(matches!(refused, Err(Error::Request(_))), "{refused:?}");
    let one = parts.without(|part| part == 1);
    assert_eq!(Search::over(&one).count(&set).unwrap(), 5);
}

#[test]
fn hits_of_each_part_are_those_of_a_query() {
    // Around words and windows, and an empty part.
    let starts = [0, 64, 64, 129];
    let rows = any_rows(66_000, &mut SplitMix64::new(2));
    let parts = Parts::new(rows.cut(&starts).into_iter().map(|part| Part::new(part.source())));
    check_hits(&parts);
    let of_part = |parts: Parts, part: usize| {
        let mut live = LiveDocs::all(parts.source(part).docs());
        (0..live.docs()).step_by(5).for_each(|doc| assert!(live.delete(DocId::new(doc))));
        parts.with_live(part, &live)
    };
    check_hits(&(0..parts.len()).fold(parts, of_part));
}

/// Compares hits of parts with a query for the same documents.
fn check_hits(parts: &Parts) {
    let search = Search::over(parts);
    // The same documents in each part, by their ids.
    let wanted =
        |docs: u32| [0, 1, 62, 63, 64, 65, 65_535, 65_536, 65_537].into_iter().filter(move |doc| *doc < docs);
    let by_query = Query::is_in("_doc", wanted(u32::MAX).map(i64::from));
    let lists: Vec<Vec<DocId>> =
        (0..parts.len()).map(|part| wanted(parts.source(part).docs()).map(DocId::new).collect()).collect();
    let docs: Vec<Docs<'_>> = lists.iter().map(|list| Docs::list(list).unwrap()).collect();
    let bits: Vec<Bitset> = lists
        .iter()
        .enumerate()
        .map(|(part, list)| Bitset::from_docs(list.iter().copied(), parts.source(part).docs()))
        .collect();
    let as_bits: Vec<Docs<'_>> = bits.iter().map(Docs::Bits).collect();
    let expected: Vec<DocAddress> = search.filter(&by_query).unwrap().iter().collect();
    assert!(!expected.is_empty());
    for docs in [&docs, &as_bits] {
        let hits = Query::hits(search.doc_set(docs).unwrap());
        for query in [hits.clone(), hits.clone().and(Query::All), hits.clone().or(by_query.clone())] {
            assert_eq!(search.filter(&query).unwrap().iter().collect::<Vec<_>>(), expected, "{query}");
            assert_eq!(search.count(&query).unwrap(), expected.len() as u64, "{query}");
        }
        let others = search.count(&Query::is_in("_doc", [0, 1])).unwrap();
        assert_eq!(search.count(&hits.clone().and(Query::is_in("_doc", [0, 1]))).unwrap(), others);
        let not_hits = search.count(&!hits).unwrap();
        assert_eq!(not_hits, search.count(&Query::All).unwrap() - expected.len() as u64);
    }
    // No document of the first part, and all of the others.
    let mut some = vec![Docs::All; parts.len()];
    some[0] = Docs::list(&[]).unwrap();
    let set = search.doc_set(&some).unwrap();
    assert_eq!(set.count(), parts.docs() - u64::from(parts.source(0).docs()));
    let found: Vec<DocAddress> = search.filter(&Query::hits(set)).unwrap().iter().collect();
    let all = search.filter(&Query::All).unwrap();
    assert_eq!(found, all.iter().filter(|address| address.part > 0).collect::<Vec<_>>());
}

#[test]
fn documents_of_no_part_are_refused() {
    let rows = any_rows(10, &mut SplitMix64::new(1));
    let parts = Parts::new(rows.cut(&[0, 5]).into_iter().map(|part| Part::new(part.source())));
    let search = Search::over(&parts);
    let (outside, set) = ([5].map(DocId::new), Bitset::from_docs([DocId::new(5)], 6));
    for docs in [Docs::list(&outside).unwrap(), Docs::Bits(&set)] {
        let refused = search.doc_set(&[Docs::All, docs]).unwrap_err();
        assert_eq!(refused.to_string(), "expected documents below 5 in part 1, found document 5");
    }
    let refused = search.doc_set(&[Docs::All]).unwrap_err();
    assert_eq!(refused.to_string(), "expected documents of 2 parts, found documents of 1");
    // A set of two parts, in a search of one.
    let set = search.doc_set(Docs::All).unwrap();
    let one = parts.without(|part| part == 1);
    let refused = Search::over(&one).count(&Query::hits(set)).unwrap_err();
    assert_eq!(refused.to_string(), "expected documents of 1 parts, found documents of 2");
}

/// Runs the query over these rows but the deleted ones, cut into parts, and compares the results with those of all rows
/// together.
fn check_parts(rows: &Dataset, cuts: [u32; 3], deleted: &[u32], query: &Query) {
    let Some(mut expected) = expected(rows, query) else { return };
    expected.retain(|doc| deleted.binary_search(doc).is_err());
    let mut starts = cuts.map(|cut| cut % (rows.docs + 1)).to_vec();
    starts.push(0);
    starts.sort_unstable();
    let ends = starts[1..].iter().copied().chain([rows.docs]);
    let parts = rows.cut(&starts).into_iter().zip(starts.iter().zip(ends)).map(|(part, (start, end))| {
        let mut live = LiveDocs::all(part.docs);
        for doc in deleted.iter().filter(|doc| (*start..end).contains(*doc)) {
            assert!(live.delete(DocId::new(doc - start)));
        }
        Part::new(part.source()).live(live.into())
    });
    let parts = Parts::new(parts);
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
        assert!(bound.quick_count().unwrap().is_none_or(|count| count == found.count()), "{query}");
        assert_eq!(bound.count(&found).unwrap(), found.count(), "{query}");
        let every = Bitset::all(rows.docs);
        let every = vec![Docs::Bits(&every); starts.len()];
        assert!(bound.collect(every.as_slice()).unwrap().iter().eq(found.iter()), "{query} in bits");
        assert_eq!(bound.count(every.as_slice()).unwrap(), found.count(), "{query} in bits");
        for (part, of_part) in rows.cut(&starts).iter().enumerate() {
            // Bits that were set are replaced.
            let mut words = vec![u64::MAX; bits::words(0..of_part.docs)];
            bound.matching(part, 0..of_part.docs, &mut words).unwrap();
            let found = found.iter().filter(|found| found.part as usize == part);
            let found = found.map(|found| found.doc.get() as usize);
            assert!(bits::ones(&words).eq(found), "{query} in part {part}");
        }
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
