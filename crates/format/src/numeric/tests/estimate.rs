//! Guesses of how good so many values are.

use super::*;

/// A estimate is a value's, and the better, the fewer are asked for; of values in any order it is not far off.
pub(super) fn check(values: &[i64], reader: &NumericReader<Owned>) {
    for greatest in [true, false] {
        let guesses: Vec<_> =
            [1, 20, 1_000, u64::MAX].map(|n| reader.estimate_nth(n, greatest).unwrap()).into_iter().collect();
        assert!(guesses.iter().flatten().all(|estimate| values.contains(estimate)));
        assert!(guesses.iter().flatten().is_sorted_by(|a, b| if greatest { a >= b } else { a <= b }));
        assert_eq!(guesses[0].is_some(), reader.meta().zones.is_some() && values.len() > 4096);
        assert_eq!(guesses[3], None);
    }
}

#[test]
fn a_guess_is_about_as_good_as_as_many_values_as_were_asked_for() {
    let mut random = Random(4);
    // Of so many zones a part is looked at, but for those that are sought being few.
    let values: Vec<i64> = (0..6_000_000).map(|_| random.below(1_000_000_000)).collect();
    let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
    for (n, greatest) in (10..70).chain([90, 400, 1_000]).flat_map(|n| [(n, true), (n, false)]) {
        let estimate = reader.estimate_nth(n, greatest).unwrap().unwrap();
        let is_good = |value: &&i64| if greatest { **value >= estimate } else { **value <= estimate };
        let found = values.iter().filter(is_good).count() as u64;
        assert!((n / 2..2 * n).contains(&found), "{found} values for {n}");
    }
}
