//! Estimates of the n-th best value.

use super::*;

/// An estimate is one of the values, and the smaller `n`, the better it is.
pub(super) fn check(values: &[i64], reader: &NumericReader<Owned>) {
    for greatest in [true, false] {
        let estimates: Vec<_> =
            [1, 20, 1_000, u64::MAX].map(|n| reader.estimate_nth(n, greatest).unwrap()).into_iter().collect();
        assert!(estimates.iter().flatten().all(|estimate| values.contains(estimate)));
        assert!(estimates.iter().flatten().is_sorted_by(|a, b| if greatest { a >= b } else { a <= b }));
        assert_eq!(estimates[0].is_some(), reader.meta().zones.is_some() && values.len() > 4096);
        assert_eq!(estimates[3], None);
    }
}

#[test]
fn an_estimate_admits_about_n_values() {
    let mut random = Random(4);
    // With so many zones a sample is read, unless few zones match.
    let values: Vec<i64> = (0..6_000_000).map(|_| random.below(1_000_000_000)).collect();
    let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
    for (n, greatest) in (10..70).chain([90, 400, 1_000]).flat_map(|n| [(n, true), (n, false)]) {
        let estimate = reader.estimate_nth(n, greatest).unwrap().unwrap();
        let is_good = |value: &&i64| if greatest { **value >= estimate } else { **value <= estimate };
        let found = values.iter().filter(is_good).count() as u64;
        assert!((n / 2..2 * n).contains(&found), "{found} values for {n}");
    }
}
