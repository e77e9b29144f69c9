//! The choice between decimals and doubles.

use proptest::prelude::*;

use super::*;
use crate::error::Place;
use crate::file::column::{Column, Statistics, Values};
use crate::file::field::Field;
use crate::file::kind::{self, LogicalType};
use crate::granule::SectionRef;
use crate::presence::Presence;

const DOUBLES: NumericOptions = NumericOptions { doubles: true, ..VALUES };

/// The transform of doubles that end with `special`. The others are ascending integers, too many for a table.
fn transform(special: &[f64]) -> Transform<Vec<u8>> {
    let values = (1_000..1_600).map(f64::from).chain(special.iter().copied());
    let values: Vec<i64> = values.map(from_f64).collect();
    let column = encode(&values, &DOUBLES);
    let (reader, mut all) = (open(&column, JumpTables::Baked).unwrap(), vec![0; values.len()]);
    reader.decode(0..values.len() as u64, &mut all).unwrap();
    assert_eq!(all, values);
    reader.verify().unwrap();
    column.transform
}

fn decimal(base: i64, gcd: u64, digits: u8) -> Transform<Vec<u8>> {
    Transform::Decimal(Decimal { base, gcd, digits })
}

#[test]
fn digits_are_as_many_as_some_value_has() {
    assert_eq!(transform(&[]), decimal(1_000, 1, 0));
    assert_eq!(transform(&[0.5]), decimal(5, 5, 1));
    assert_eq!(transform(&[-0.5, 0.125]), decimal(-500, 125, 3));
    assert_eq!(transform(&[1e11 / 8.0, 0.0]), decimal(0, 1, 0));
}

#[test]
fn a_column_with_one_value_that_is_no_decimal_stays_as_it_is() {
    let limit = DECIMAL_LIMIT as f64;
    assert_eq!(transform(&[limit - 1.0, 1.0 - limit]), decimal(1 - DECIMAL_LIMIT, 1, 0));
    let no_number = [f64::NAN, -f64::NAN, f64::INFINITY];
    // The third one has 17 digits.
    let others = [-0.0, 1.0 / 3.0, 0.1 + 0.2, f64::MIN, f64::MIN_POSITIVE, limit, -limit];
    for other in others.into_iter().chain(no_number) {
        assert!(matches!(transform(&[other]), Transform::Affine { .. }), "{other}");
    }
    // Each by itself is one, but not of the same digits.
    assert!(matches!(transform(&[1e15, 0.125]), Transform::Affine { .. }));
    assert!(matches!(transform(&[-1e15, 0.125]), Transform::Affine { .. }));
}

#[test]
fn only_values_that_are_said_to_be_doubles_are_decimals() {
    let values = Shape::Cents.values(5_000, 22);
    for options in [VALUES, NumericOptions { role: Role::Offsets, ..DOUBLES }] {
        assert!(matches!(encode(&values, &options).transform, Transform::Affine { .. }));
    }
}

#[test]
fn fields_that_do_not_go_together_are_refused() {
    let good = encode(&Shape::Cents.values(5_000, 23), &DOUBLES);
    let Transform::Decimal(decimal) = good.transform else { panic!("{:?}", good.transform) };
    type Break = fn(&mut Numeric<Vec<u8>>, Decimal);
    let breaks: [Break; 8] = [
        |c, d| c.transform = Transform::Decimal(Decimal { digits: 1, ..d }),
        |c, d| c.transform = Transform::Decimal(Decimal { digits: MAX_DIGITS + 1, ..d }),
        |c, d| c.transform = Transform::Decimal(Decimal { digits: 255, ..d }),
        |c, d| c.transform = Transform::Decimal(Decimal { base: d.base + 1, ..d }),
        |c, d| c.transform = Transform::Decimal(Decimal { gcd: 0, ..d }),
        |c, _| c.min = from_f64(-100.0 / 3.0),
        |c, _| c.max = from_f64(f64::INFINITY),
        |c, _| (c.role, c.zones) = (Role::Offsets, None),
    ];
    for (i, damage) in breaks.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad, decimal);
        assert!(open(&bad, JumpTables::Baked).is_err(), "break {i}");
    }
}

#[test]
fn a_column_of_decimals_is_one_of_doubles() {
    let mut offset = 64;
    let numbers = Numeric { fine_zones: None, ..encode(&Shape::Cents.values(5_000, 24), &DOUBLES) };
    let numbers = numbers.try_map(&mut |_, bytes: Vec<u8>| {
        let section = SectionRef { offset, len: bytes.len() as u64, crc: 0 };
        offset = section.end().unwrap();
        Ok::<_, ()>(section)
    });
    let decode = |logical, numbers: Numeric<SectionRef>| {
        let column = Column {
            field: Field::new("x", kind::Kind::Numeric, logical),
            presence: Presence::All,
            values: Values::Numbers { offsets: None, values: numbers, terms: None },
            statistics: Statistics::default(),
        };
        let mut entry = Vec::new();
        column.encode(offset, &mut entry);
        let place = Place { section: Section::DirectoryPage, offset: 0 };
        Column::decode(&mut Cursor::new(place, &entry), 5_000, 64).map(|read| assert_eq!(read, column))
    };
    assert_eq!(decode(LogicalType::F64, numbers.clone().unwrap()), Ok(()));
    let refused = decode(LogicalType::I64, numbers.unwrap()).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Broken(what) if what.starts_with("decimal ")), "{refused}");
}

proptest! {
    #[test]
    fn every_decimal_of_fifteen_digits_is_found(
        digits in 0..=MAX_DIGITS,
        first in -999_999_999_999_999_i64..=999_999_999_999_999,
        apart in 1_i64..3_000_000_000,
    ) {
        // Formatted and parsed, as numbers in text files are.
        let integers = (0..300).map(|i| (first + i * apart).min(999_999_999_999_999));
        let texts = integers.clone().map(|integer| format!("{integer}e-{digits}"));
        let values: Vec<i64> = texts.map(|text| from_f64(text.parse::<f64>().unwrap())).collect();
        let negative_zero = from_f64(-0.0);
        prop_assume!(!values.contains(&negative_zero));
        let column = encode(&values, &DOUBLES);
        if let Transform::Decimal(decimal) = column.transform {
            prop_assert!(decimal.digits <= digits);
        } else {
            let distinct: std::collections::BTreeSet<i64> = integers.collect();
            prop_assert!(distinct.len() <= MAX_TABLE, "{:?}", column.transform);
        }
        let (reader, mut all) = (open(&column, JumpTables::Baked).unwrap(), vec![0; values.len()]);
        reader.decode(0..values.len() as u64, &mut all).unwrap();
        prop_assert_eq!(all, values);
    }
}
