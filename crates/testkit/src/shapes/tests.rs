//! Shapes match their names, and models of all shapes pass the conformance suite.

mod encodings;

use std::collections::BTreeSet;

use docvalues_column::ColumnSource;

use super::*;
use crate::conformance::{check_column, check_source};
use crate::model::{Cell, Flat, MemSource};

fn check(shapes: Vec<Shape>) {
    for shape in shapes {
        let open = || shape.column().open(shape.field(format!("{shape:?}")), shape.docs);
        check_column(&*open(), &*open());
    }
}

#[test]
fn models_of_small_shapes_conform() {
    check(small());
}

#[test]
fn models_of_large_shapes_conform() {
    // A third of them; tests of writers and readers use all.
    check(large().into_iter().step_by(3).collect());
}

#[test]
fn lists_of_all_values_hold_all() {
    let all = Values::all();
    let numbers = Numbers::ALL.iter().filter(|n| all.contains(&Values::Numeric(**n))).count();
    let strings = Strings::ALL.iter().filter(|s| all.contains(&Values::Sorted(**s))).count();
    assert_eq!((numbers, strings), (Numbers::ALL.len(), Strings::ALL.len()));
    let huge = all.iter().any(|v| matches!(v, Values::SortedSet(Counts::OneHuge, _)));
    assert!(huge, "no set of terms with a huge document");
    let presences = large().iter().map(|shape| format!("{:?}", shape.presence)).collect::<BTreeSet<_>>();
    assert_eq!(presences.len(), Presence::ALL.len());
}

#[test]
fn presences_match_their_names() {
    let ones = |presence: Presence, docs| -> Vec<u32> {
        let bits = presence.bits(docs, 3);
        assert_eq!(bits.len(), docs as usize);
        (0..docs).filter(|doc| bits[*doc as usize]).collect()
    };
    assert_eq!(ones(Presence::All, 5), [0, 1, 2, 3, 4]);
    assert_eq!(ones(Presence::None, 5), [0_u32; 0]);
    assert_eq!((ones(Presence::First, 5), ones(Presence::Last, 5)), (vec![0], vec![4]));
    assert_eq!(ones(Presence::Every(2), 5), [0, 2, 4]);
    assert_eq!(ones(Presence::Edges, 520), [0, 1, 510, 511, 512, 513]);
    assert_eq!(ones(Presence::AllButEdges, 520).len(), 514);
    assert_eq!(ones(Presence::LastBlock, 65_540), [65_536, 65_537, 65_538, 65_539]);
    assert_eq!(ones(Presence::FirstBlocks, 65_540).len(), 65_536);
    let random = ones(Presence::Random(120), 100_000).len();
    assert!((11_000..13_000).contains(&random), "{random}");
    for presence in Presence::ALL {
        assert_eq!(ones(presence, 0), [0_u32; 0]);
        assert_eq!(presence.bits(3000, 1), presence.bits(3000, 1));
    }
}

#[test]
fn numbers_match_their_names() {
    let make = |numbers: Numbers| numbers.make(3000, &mut SplitMix64::new(5));
    assert!(make(Numbers::Ascending).is_sorted());
    assert!(make(Numbers::Descending).is_sorted_by(|a, b| a >= b));
    assert!(make(Numbers::Gcd).windows(2).all(|pair| (pair[0] - pair[1]) % 3600 == 0));
    assert_eq!(make(Numbers::FewDistinct).into_iter().collect::<BTreeSet<_>>().len(), 5);
    let extremes = make(Numbers::Extremes);
    assert!(extremes.contains(&i64::MIN) && extremes.contains(&i64::MAX));
    let bits: BTreeSet<u64> = make(Numbers::Doubles)
        .into_iter()
        .map(|stored| docvalues_format::file::kind::to_f64(stored).to_bits())
        .collect();
    for odd in [1 << 63, f64::NAN.to_bits(), u64::MAX, f64::NEG_INFINITY.to_bits()] {
        assert!(bits.contains(&odd), "{odd:x}");
    }
}

#[test]
fn strings_fit_their_types() {
    for strings in Strings::ALL {
        let made = strings.make(500, &mut SplitMix64::new(5));
        match strings.logical() {
            LogicalType::Utf8 => assert!(made.iter().all(|s| std::str::from_utf8(s).is_ok()), "{strings:?}"),
            LogicalType::Bytes => assert!(made.iter().any(|s| std::str::from_utf8(s).is_err())),
            _ => assert!(made.iter().all(|s| s.len() == 16), "{strings:?}"),
        }
        let longest = made.iter().map(Vec::len).max();
        assert!(strings != Strings::SomeLong || longest >= Some(99_990), "{longest:?}");
    }
}

#[test]
fn cells_and_batches_give_back_the_column() {
    let numbers = ModelColumn::Numeric(vec![Some(1), None, Some(3)]);
    assert_eq!((numbers.cell(2), numbers.cell(1)), (Cell::Number(3), Cell::Missing));
    let Flat::Numbers { values, valid } = numbers.flat(1..5) else { panic!("numbers") };
    assert_eq!((values.len(), values[1], valid), (4, 3, vec![0b10]));

    let strings = ModelColumn::Sorted(vec![None, Some(b"ab".to_vec()), Some(vec![])]);
    let Flat::Bytes { offsets, data, valid } = strings.flat(1..3) else { panic!("bytes") };
    assert_eq!((offsets, &data[..], valid), (vec![6, 8, 8], &b"beforeab"[..], vec![0b11]));

    let lists = ModelColumn::SortedNumeric(vec![vec![5, 4], vec![], vec![6]]);
    let Flat::NumberLists { lists, values, valid } = lists.flat(0..3) else { panic!("lists") };
    assert_eq!((lists, valid), (vec![1, 3, 4, 5], vec![0b101]));
    assert_eq!((&values[1..3], values[4]), (&[5, 4][..], 6));

    let sets = [["b", "a"].map(Vec::from).into(), BTreeSet::new(), [Vec::from("c")].into()];
    let sets = ModelColumn::SortedSet(sets.to_vec());
    let Flat::ByteLists { lists, offsets, data, valid } = sets.flat(0..3) else { panic!("sets") };
    assert_eq!((lists, valid), (vec![0, 3, 4, 6], vec![0b101]));
    assert_eq!((&offsets[..4], &data[..]), (&[6, 7, 8, 9][..], &b"beforebaagarbagecc"[..]));
    assert_eq!(sets.cell(1), Cell::Missing);

    let dataset = Dataset { docs: 130, columns: vec![] };
    assert_eq!(dataset.batches(64).collect::<Vec<_>>(), [0..64, 64..128, 128..130]);
}

#[test]
fn every_kind_and_type_is_in_the_small_segment() {
    let dataset = small_of_every_kind();
    let fields = || dataset.columns.iter().map(|(field, _)| field);
    for kind in Kind::ALL {
        assert!(fields().any(|field| field.kind == kind), "{kind:?}");
    }
    for logical in LogicalType::ALL {
        assert!(fields().any(|field| field.logical == logical), "{logical:?}");
    }
    assert_eq!(dataset, small_of_every_kind());
    let source = dataset.source();
    check_source(&source, &source);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn models_of_any_shape_conform(shape in any_shape()) {
        check(vec![shape]);
    }

    #[test]
    fn a_segment_of_any_columns_conforms(dataset in any_dataset(4)) {
        let source: MemSource = dataset.source();
        assert_eq!(source.fields().unwrap().len(), dataset.columns.len());
        check_source(&source, &dataset.source());
    }
}

#[test]
fn a_column_with_other_values_is_refused() {
    let shape = Shape { docs: 64, presence: Presence::All, values: Values::Numeric(Numbers::Line), seed: 1 };
    let other = Shape { seed: 2, ..shape };
    let open = |shape: Shape| shape.column().open(shape.field("x"), shape.docs);
    let caught = std::panic::catch_unwind(|| check_column(&*open(shape), &*open(other)));
    assert!(caught.is_err());
}
