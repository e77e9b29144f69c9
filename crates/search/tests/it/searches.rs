//! All searches except filters.

use docvalues_column::Part;
use docvalues_search::Parts;
use docvalues_testkit::damage::cases;
use docvalues_testkit::searches::{check_searches, check_searches_in_parts};
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(16, 32), ..ProptestConfig::default() })]

    #[test]
    fn columns_of_any_shape(dataset in any_dataset(3)) {
        check_searches(&dataset.source(), &dataset);
    }
}

/// Checks searches over `dataset`, cut at these documents.
fn check_cut(dataset: &Dataset, cuts: impl IntoIterator<Item = u32>) {
    let mut starts: Vec<u32> = cuts.into_iter().map(|cut| cut % (dataset.docs + 1)).chain([0]).collect();
    starts.sort_unstable();
    let parts = dataset.cut(&starts).into_iter().map(|part| Part::new(part.source()));
    check_searches_in_parts(&Parts::new(parts), &starts, dataset);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12, 32), ..ProptestConfig::default() })]

    #[test]
    fn parts_of_any_sizes(dataset in any_dataset(3), cuts in prop::collection::vec(any::<u32>(), 0..5)) {
        check_cut(&dataset, cuts);
    }
}

#[test]
fn parts_of_every_kind_and_type() {
    let Dataset { docs, columns } = small_of_every_kind();
    for (columns, cut) in columns.chunks(2).skip(cases(2, 0)).step_by(cases(13, 2)).zip(1..) {
        let dataset = Dataset { docs, columns: columns.to_vec() };
        // Also an empty part, and parts of one document.
        check_cut(&dataset, [0, 1, 2, docs / 3 + cut, docs / 2, docs]);
    }
}

#[test]
fn columns_of_every_kind_and_type() {
    let Dataset { docs, columns } = small_of_every_kind();
    // Others than the tests of segments.
    for columns in columns.chunks(2).skip(cases(1, 0)).step_by(cases(13, 1)) {
        let dataset = Dataset { docs, columns: columns.to_vec() };
        check_searches(&dataset.source(), &dataset);
    }
}
