//! Random documents in random groupings.

use docvalues_column::{DocId, Part};
use docvalues_search::group::{Group, GroupOrder, Metric};
use docvalues_search::stats::Distinct;
use docvalues_search::{Docs, Parts, Search};
use docvalues_testkit::damage::cases;
use proptest::prelude::*;

use super::documents::{By, Chosen, Row, metrics, rows, sort, source};
use super::naive;

fn any_by() -> impl Strategy<Value = By> {
    prop::sample::select(vec![By::Near, By::Far, By::Doubles, By::Sorted, By::Binary])
}

/// Small sizes, and sizes around the ends of windows.
fn any_docs() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => 0..4_usize,
        8 => 4..300_usize,
        8 => 4_094..4_099_usize,
        8 => 8_191..8_194_usize,
        1 => 32_766..32_771_usize,
    ]
}

/// An order by its number, which may be that of a metric.
fn order(choice: usize, metrics: usize) -> GroupOrder {
    match choice {
        0 => GroupOrder::Count,
        1 => GroupOrder::Value,
        2 | 3 => GroupOrder::Best,
        _ if metrics == 0 => GroupOrder::Count,
        metric => GroupOrder::Metric(metric % metrics),
    }
}

/// The documents in parts, of which part *i* begins at document `starts[i]`, and of each part those of `docs`.
fn in_parts(rows: &[Row], by: By, starts: &[usize], docs: &[u32]) -> (Parts, Vec<Vec<DocId>>) {
    let ends = starts[1..].iter().copied().chain([rows.len()]);
    let parts: Vec<_> = starts.iter().copied().zip(ends).collect();
    let sources = parts.iter().map(|&(start, end)| Part::new(source(&rows[start..end], by)));
    let lists = parts.iter().map(|&(start, end)| {
        let own = docs.iter().copied().filter(|doc| (start..end).contains(&(*doc as usize)));
        own.map(|doc| DocId::new(doc - u32::try_from(start).unwrap())).collect()
    });
    (Parts::new(sources), lists.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(128, 256), ..ProptestConfig::default() })]

    #[test]
    fn groups_equal_the_naive_ones(
        by in any_by(),
        docs in any_docs(),
        seed in any::<u64>(),
        values in prop_oneof![1..4_u64, 4..100_u64, 1_000..20_000_u64],
        missing in prop::sample::select(vec![0, 0, 10, 100_u64]),
        chosen in 0..6_u8,
        (metrics_of, sort_of, order_of) in (0..7_u8, 0..5_u8, 0..24_usize),
        (top, best) in (prop::sample::select(vec![0, 1, 3, 10, 100_000_usize]), 0..4_usize),
        budget in prop::sample::select(vec![0, 100_000, 1 << 28_usize]),
        threads in prop::sample::select(vec![1, 2, 8_usize]),
        cuts in (any::<usize>(), any::<usize>()),
    ) {
        let rows = rows(seed, docs, values, missing);
        let source = source(&rows, by);
        let some = Chosen::of(chosen, u32::try_from(docs).unwrap());
        let mut metrics = metrics(metrics_of);
        let order = order(order_of, metrics.len());
        let is_percentile = |metric: &Metric| matches!(metric, Metric::Percentile(..));
        if order == GroupOrder::Best {
            metrics.retain(|metric| !is_percentile(metric));
        }
        // The numbers of one group do not fit otherwise.
        let budget = if metrics.iter().any(is_percentile) { budget.max(16 << 20) } else { budget };
        let asked = metrics.into_iter().fold(Group::of("by"), Group::metric).order(order);
        let asked = asked.top(top).docs(best).sort(sort(sort_of));
        let found = Search::new(&source).threads(threads).memory(budget).group(some.docs(), &asked).unwrap();

        let docs: Vec<u32> = some.docs().iter(u32::try_from(docs).unwrap()).map(|doc| doc.get()).collect();
        let (groups, distinct, missing) = naive::group(&rows, by, &docs, &asked);
        prop_assert_eq!(&found.groups, &groups);

        let mut starts = [0, cuts.0 % (rows.len() + 1), cuts.1 % (rows.len() + 1)];
        starts.sort_unstable();
        let in_parts = in_parts(&rows, by, &starts, &docs);
        let lists: Vec<Docs<'_>> = in_parts.1.iter().map(|docs| Docs::list(docs).unwrap()).collect();
        let search = Search::over(&in_parts.0).threads(threads).memory(budget);
        let mut again = search.group(lists.as_slice(), &asked).unwrap();
        let shards = [in_parts.0.without(|part| part > 0), in_parts.0.without(|part| part == 0)];
        let [first, last] = shards.each_ref().map(|parts| Search::over(parts).threads(threads));
        let first = first.partial_group(&lists[..1], &asked).unwrap();
        let merged = first.merge(last.partial_group(&lists[1..], &asked).unwrap()).unwrap().finish();
        prop_assert_eq!(&merged, &again, "merged, in parts from {:?}", starts);
        for found in again.groups.iter_mut().flat_map(|group| &mut group.docs) {
            let start = u32::try_from(starts[found.part as usize]).unwrap();
            *found = DocId::new(start + found.doc.get()).into();
        }
        prop_assert_eq!(&again, &found, "in parts from {:?}", starts);

        let distinct = (asked.order != GroupOrder::Best).then_some(Distinct::Exact(distinct));
        prop_assert_eq!((found.docs, found.missing, found.distinct), (docs.len() as u64, missing, distinct));
    }
}
