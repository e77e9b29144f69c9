//! Hits in runs: the sets of lists, and searches over them, compared with the lists.

use docvalues_column::DocId;
use docvalues_search::{Docs, Query, Search};
use docvalues_testkit::model::MemSource;
use proptest::prelude::*;

/// Documents around the ends of words, of groups and of blocks.
const EDGES: [u32; 10] = [0, 63, 64, 65, 511, 512, 513, 65_535, 65_536, 65_537];

/// The documents of runs, each from its first number up to, and excluding, its second.
fn listed(runs: impl IntoIterator<Item = (u32, u32)>) -> Vec<DocId> {
    runs.into_iter().flat_map(|(start, end)| start..end).map(DocId::new).collect()
}

/// All runs from one edge to a later one.
fn between_edges() -> impl Iterator<Item = (u32, u32)> {
    let starts = EDGES.into_iter().enumerate();
    starts.flat_map(|(at, start)| EDGES.into_iter().skip(at + 1).map(move |end| (start, end)))
}

/// Checks the set of a list in a source of `docs` documents, and that of its documents in a source half as long.
fn check_set(list: &[DocId], docs: u32) {
    let of_list = Docs::list(list).unwrap();
    let source = MemSource::new(docs, []);
    let set = Search::new(&source).doc_set(of_list).unwrap();
    assert_eq!(set.count(), list.len() as u64, "{} documents", list.len());
    assert!(set.iter().map(|found| found.doc).eq(list.iter().copied()), "{list:?}");

    let source = MemSource::new(docs / 2, []);
    let set = Search::new(&source).bind(&Query::All).unwrap().collect(of_list).unwrap();
    let within = list.iter().copied().take_while(|doc| doc.get() < docs / 2);
    assert!(set.iter().map(|found| found.doc).eq(within), "below {} of {list:?}", docs / 2);
}

#[test]
fn a_run_may_begin_and_end_anywhere() {
    for (start, end) in between_edges() {
        let run = listed([(start, end)]);
        check_set(&run, end);
        check_set(&run, end + 1);
        // Between single documents, and before another run.
        let around = [(start, start + 1), (start + 2, end + 2), (end + 4, end + 5), (end + 7, end + 147)];
        check_set(&listed(around), end + 200);
    }
    // Several blocks.
    check_set(&listed([(100, 200_001)]), 200_001);
    check_set(&listed([(0, 200_000)]), 200_000);
}

proptest! {
    #[test]
    fn a_set_has_the_documents_of_its_list(
        runs in prop::collection::vec((0..130_u32, prop_oneof![Just(1_u32), 60..70_u32, 1..700_u32]), 0..40),
        more in 0..70_u32,
    ) {
        let mut end = 0;
        let runs = runs.into_iter().map(|(gap, len)| {
            let start = end + gap;
            end = start + len;
            (start, end)
        });
        let list = listed(runs.collect::<Vec<_>>());
        check_set(&list, end + more);
    }
}

/// The first and the last document may be those of a run.
#[test]
fn a_list_with_a_document_twice_is_refused() {
    let run = listed([(0, 200)]);
    for at in [1, 63, 64, 65, 127, 128, 198, 199] {
        let (mut replaced, mut longer) = (run.clone(), run.clone());
        replaced[at] = run[at - 1];
        longer.insert(at, run[at - 1]);
        for list in [replaced, longer] {
            let refused = Docs::list(&list).unwrap_err().to_string();
            let twice = at - 1;
            assert_eq!(
                refused,
                format!("expected documents in strictly ascending order: {twice} follows {twice}")
            );
        }
    }
}
