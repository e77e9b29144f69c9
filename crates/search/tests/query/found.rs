//! Results of queries.

use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

use crate::naive::{any_query, any_rows, check};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn results_equal_the_naive_ones(seed: u64, size in 0_usize..5) {
        let mut rng = SplitMix64::new(seed);
        let docs = [0, 1, 64, 131, 700][size];
        let rows = any_rows(docs, &mut rng);
        let source = rows.source();
        let mut compared = 0;
        for depth in [0, 0, 0, 0, 0, 1, 1, 2, 3] {
            let query = any_query(&rows.columns, depth, &mut rng);
            compared += u32::from(check(&rows, &source, &query, &mut rng));
        }
        prop_assert!(compared >= 3, "{} of 9 queries compared", compared);
    }
}
