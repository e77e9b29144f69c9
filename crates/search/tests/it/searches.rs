//! All searches except filters.

use docvalues_testkit::searches::check_searches;
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn columns_of_any_shape(dataset in any_dataset(3)) {
        check_searches(&dataset.source(), &dataset);
    }
}

#[test]
fn columns_of_every_kind_and_type() {
    let Dataset { docs, columns } = small_of_every_kind();
    for columns in columns.chunks(2) {
        let dataset = Dataset { docs, columns: columns.to_vec() };
        check_searches(&dataset.source(), &dataset);
    }
}
