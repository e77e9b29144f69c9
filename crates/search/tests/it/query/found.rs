//! Results of queries.

use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

use super::naive::{any_numbers, any_query, any_rows, check};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(150, 300)))]

    #[test]
    fn results_equal_the_naive_ones(seed: u64, size in 0_usize..5) {
        let mut rng = SplitMix64::new(seed);
        let docs = [0, 1, 64, 131, 700][size];
        let rows = any_rows(docs, &mut rng);
        let source = rows.source();
        let mut compared = 0;
        for depth in [0, 0, 0, 0, 0, 1, 1, 2, 3] {
            let mut query = any_query(&rows.columns, depth, &mut rng);
            if rng.chance(1, 4) {
                let numbers = any_numbers(docs, &mut rng);
                query = match rng.below(4) {
                    0 => query.and(numbers),
                    1 => query.or(numbers),
                    2 => query.and(!numbers),
                    _ => numbers,
                };
            }
            compared += u32::from(check(&rows, &source, &query, &mut rng));
        }
        prop_assert!(compared >= 3, "{} of 9 queries compared", compared);
    }
}
