//! Columns end to end equal one column with all their values.

use docvalues_column::{Field, Kind, LogicalType};

use super::*;
use crate::conformance::{check_column, check_panics};
use crate::model::ModelColumn;
use crate::rng::SplitMix64;

/// Sizes of parts: 0, 1, whole words, and sizes that end within a word.
const PARTS: [&[u32]; 5] = [&[0], &[130], &[64, 64, 1], &[0, 63, 0, 1, 65, 0], &[1000, 300, 7]];

/// The concatenation of parts, and the expected column. One of `some` documents has a value.
fn both(kind: Kind, parts: &[u32], some: u64) -> (Arc<dyn Column>, Arc<dyn Column>) {
    let mut rng = SplitMix64::new(some);
    let open = |column: &ModelColumn, docs| column.open(Field::new("whole", kind, LogicalType::I64), docs);
    let mut number = || rng.chance(1, some).then(|| rng.below(200) as i64 - 100);
    let docs = parts.iter().sum::<u32>();
    let whole = match kind {
        Kind::Numeric => ModelColumn::Numeric((0..docs).map(|_| number()).collect()),
        _ => {
            let list = |doc| (0..doc % 4).filter_map(|_| number()).collect();
            ModelColumn::SortedNumeric((0..docs).map(list).collect())
        }
    };
    let mut start = 0;
    let mut cut = |docs: &u32| {
        let own = start..start + docs;
        start = own.end;
        open(&whole.pick(own.map(Some)), *docs)
    };
    let parts = parts.iter().map(&mut cut).collect();
    (Arc::new(Concat::new(parts)), open(&whole, docs))
}

#[test]
fn parts_end_to_end_are_one_column() {
    for parts in PARTS {
        for (kind, some) in
            [Kind::Numeric, Kind::SortedNumeric].into_iter().flat_map(|kind| [(kind, 1), (kind, 3)])
        {
            let (concat, model) = both(kind, parts, some);
            check_column(&*concat, &*model);
            check_panics(&*concat);
            assert_eq!(concat.info().with_value, model.info().with_value, "{parts:?}");
            assert_eq!(concat.info().sum, model.info().sum, "{parts:?}");
        }
    }
}

#[test]
fn a_concatenation_may_be_a_part() {
    let (left, left_model) = both(Kind::Numeric, PARTS[3], 2);
    let (right, right_model) = both(Kind::Numeric, PARTS[2], 3);
    let nested = Concat::new(vec![left, right]);
    check_column(&nested, &Concat::new(vec![left_model, right_model]));
}

#[test]
#[should_panic(expected = "the kind of \"whole\"")]
fn parts_are_of_one_kind() {
    Concat::new(vec![both(Kind::Numeric, &[1], 1).0, both(Kind::SortedNumeric, &[1], 1).0]);
}
