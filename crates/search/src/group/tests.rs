//! Tuples, as byte strings and as numbers, follow the rules of columns.

use std::sync::Arc;

use docvalues_column::{Column, Field, Kind, LogicalType};
use docvalues_format::file::kind::from_f64;
use docvalues_testkit::conformance::{check_column, check_panics};
use docvalues_testkit::model::ModelColumn;

use super::{TupleColumn, TupleNumbers};
use crate::engine::ColumnSet;

/// Several words, the last one partial.
const DOCS: u32 = 300;

/// A cell of a tuple for each document; `None` without a value.
type Cells = Vec<Option<Vec<u8>>>;

/// A column of a tuple, and its cells.
type Member = (Arc<dyn Column>, Cells);

fn numbers(name: &str, logical: LogicalType, number: impl Fn(u32) -> Option<i64>) -> Member {
    let slots: Vec<Option<i64>> = (0..DOCS).map(number).collect();
    let cell = |number: i64| {
        let is_negative_zero = logical == LogicalType::F64 && number == from_f64(-0.0);
        let number = if is_negative_zero { from_f64(0.0) } else { number };
        (number.cast_unsigned() ^ 1 << 63).to_be_bytes().to_vec()
    };
    let cells = slots.iter().map(|slot| slot.map(cell)).collect();
    (ModelColumn::Numeric(slots).open(Field::new(name, Kind::Numeric, logical), DOCS), cells)
}

fn strings(name: &str, kind: Kind, string: impl Fn(u32) -> Option<Vec<u8>>) -> Member {
    let slots: Cells = (0..DOCS).map(string).collect();
    let cell = |string: &Vec<u8>| {
        let escaped = string.iter().flat_map(|&byte| if byte == 0 { vec![0, 0xff] } else { vec![byte] });
        escaped.chain([0, 1]).collect::<Vec<u8>>()
    };
    let cells = slots.iter().map(|slot| slot.as_ref().map(cell)).collect();
    let column = if kind == Kind::Binary { ModelColumn::Binary(slots) } else { ModelColumn::Sorted(slots) };
    (column.open(Field::new(name, kind, LogicalType::Bytes), DOCS), cells)
}

/// From -3 to 3.
fn size(doc: u32) -> Option<i64> {
    (!doc.is_multiple_of(5)).then(|| i64::from(doc % 7) - 3)
}

/// -0.0, 0.0 and the least double above.
fn small(doc: u32) -> Option<i64> {
    (!doc.is_multiple_of(4)).then(|| from_f64([-0.0, 0.0, f64::from_bits(1)][doc as usize % 3]))
}

/// One of four strings, with zeros.
fn host(doc: u32) -> Option<Vec<u8>> {
    (!doc.is_multiple_of(11)).then(|| [&b""[..], b"a", b"a\0", b"b"][doc as usize % 4].to_vec())
}

/// Many long strings, with zeros.
fn path(doc: u32) -> Option<Vec<u8>> {
    (!doc.is_multiple_of(13)).then(|| [vec![b'p'; 300], vec![0, u8::try_from(doc % 256).unwrap()]].concat())
}

fn members() -> [Member; 5] {
    [
        numbers("size", LogicalType::I64, size),
        numbers("small", LogicalType::F64, small),
        strings("host", Kind::Sorted, host),
        strings("path", Kind::Sorted, path),
        strings("note", Kind::Binary, host),
    ]
}

fn sets(members: &[Member]) -> Vec<Arc<ColumnSet>> {
    let set = |(column, _): &Member| ColumnSet::new(column.info().field.clone(), vec![column.clone()]);
    members.iter().map(|member| Arc::new(set(member))).collect()
}

/// The tuple of each document.
fn tuples(members: &[Member], with_missing: bool) -> Cells {
    let tuple = |doc: usize| {
        let mut tuple = Vec::new();
        for (_, cells) in members {
            match (&cells[doc], with_missing) {
                (Some(cell), true) => tuple.extend([&[0], &cell[..]].concat()),
                (Some(cell), false) => tuple.extend_from_slice(cell),
                (None, true) => tuple.push(1),
                (None, false) => return None,
            }
        }
        Some(tuple)
    };
    (0..DOCS as usize).map(tuple).collect()
}

#[test]
fn tuples_follow_the_rules_of_a_binary_column() {
    let members = members();
    for with_missing in [false, true] {
        for members in [&members[..], &members[..1], &members[2..3], &members[3..]] {
            let set = TupleColumn::over(&sets(members), 1, with_missing);
            let model = ModelColumn::Binary(tuples(members, with_missing));
            check_column(&*set.parts[0], &*model.open(set.info().field.clone(), DOCS));
            check_panics(&*set.parts[0]);
        }
    }
}

/// A number has a digit for each column: the place of the value among all possible ones, or after them if it is missing.
#[test]
fn numbers_of_tuples_follow_the_rules_of_a_numeric_column() {
    const LENS: [i64; 3] = [7, 2, 4];
    let members = &members()[..3];
    let digits = |doc: u32| {
        let host = host(doc).map(|_| i64::from(doc % 4));
        [size(doc).map(|size| size + 3), small(doc).map(|_| i64::from(doc % 3 == 2)), host]
    };
    for with_missing in [false, true] {
        let number = |doc: u32| {
            LENS.into_iter().zip(digits(doc)).try_fold(0, |number, (len, digit)| {
                let digit = digit.or(with_missing.then_some(len))?;
                Some(number * (len + i64::from(with_missing)) + digit)
            })
        };
        let slots: Vec<Option<i64>> = (0..DOCS).map(number).collect();
        let (set, numbers) = TupleNumbers::over(&sets(members), with_missing).unwrap();
        let model = ModelColumn::Numeric(slots.clone());
        check_column(&*set.parts[0], &*model.open(set.info().field.clone(), DOCS));
        check_panics(&*set.parts[0]);
        for (number, tuple) in slots.into_iter().zip(tuples(members, with_missing)) {
            assert_eq!(number.map(|number| numbers.tuple(number).unwrap()), tuple);
        }
    }
}
