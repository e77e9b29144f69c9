//! [`Places`]: documents that are known by their numbers.

use std::fmt;

use datafusion_common::ScalarValue;
use datafusion_expr::expr::InList;
use datafusion_expr::{Between, BinaryExpr, Expr, Operator};
use docvalues::{DocId, DocRange};

use crate::filter::chain;

/// The column of the number of a row's part.
pub(crate) const PART: &str = "_part";

/// The column of the number of a row's document in its part.
pub(crate) const DOC: &str = "_doc";

/// The documents for which conditions on [`PART`] and [`DOC`] are true: those that are in each of these sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Vec<Set>);

/// The documents of any rectangle.
type Set = Vec<Rectangle>;

/// The most rectangles that two conditions become when they are combined.
const MOST_RECTANGLES: usize = 1_024;

/// All documents of some numbers in some parts.
#[derive(Clone, Debug)]
struct Rectangle {
    parts: Numbers,
    docs: Numbers,
}

/// Inclusive ranges, ascending, without numbers in common.
#[derive(Clone, Debug, PartialEq)]
struct Numbers(Vec<(i64, i64)>);

impl Places {
    /// Those for which `expr` is true; `None` if it has other conditions, or would take too many rectangles.
    pub(crate) fn of(expr: &Expr) -> Option<Places> {
        if let Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) = expr {
            let mut operands = chain(expr, *op).into_iter().map(Places::of);
            let first = operands.next()??;
            return operands.try_fold(first, |all, next| match op {
                Operator::And => Some(all.and(next?)),
                _ => all.or(next?),
            });
        }
        let (column, numbers) = Numbers::of(expr)?;
        let (parts, docs) = match column {
            PART => (numbers, Numbers::all()),
            DOC => (Numbers::all(), numbers),
            _ => return None,
        };
        Some(Places(vec![vec![Rectangle { parts, docs }]]))
    }

    pub(crate) fn and(mut self, mut other: Places) -> Places {
        if let ([a], [b]) = (&self.0[..], &other.0[..])
            && a.len() * b.len() <= MOST_RECTANGLES
        {
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| a.and(b)));
            return Places(vec![pairs.filter(|all| !all.is_empty()).collect()]);
        }
        self.0.append(&mut other.0);
        self
    }

    fn or(mut self, mut other: Places) -> Option<Places> {
        if let ([a], [b]) = (&mut self.0[..], &mut other.0[..]) {
            a.append(b);
            return Some(self);
        }
        let count = |places: &Places| places.0.iter().map(Vec::len).sum::<usize>();
        let rectangles = count(&self) * other.0.len() + count(&other) * self.0.len();
        let pairs = || self.0.iter().flat_map(|a| other.0.iter().map(move |b| [&a[..], b].concat()));
        (rectangles <= MOST_RECTANGLES).then(|| Places(pairs().collect()))
    }

    /// The documents in a range of a part, as ascending ranges.
    pub(crate) fn within(&self, part: usize, docs: DocRange) -> Vec<DocRange> {
        if docs.is_empty() {
            return Vec::new();
        }
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        let docs = Numbers(vec![(docs.start.into(), i64::from(docs.end) - 1)]);
        let within = self.0.iter().fold(docs, |docs, set| {
            let of_part = set.iter().filter(|all| all.parts.contains(part));
            Numbers::new(of_part.flat_map(|all| all.docs.and(&docs).0).collect())
        });
        // They lie in `docs`.
        let number = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        within.0.iter().map(|(first, last)| DocRange::new(number(*first), number(*last) + 1)).collect()
    }
}

impl Rectangle {
    fn and(&self, other: &Rectangle) -> Rectangle {
        Rectangle { parts: self.parts.and(&other.parts), docs: self.docs.and(&other.docs) }
    }

    fn is_empty(&self) -> bool {
        self.parts.0.is_empty() || self.docs.0.is_empty()
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = |numbers: &Numbers| numbers.0.len();
        let of =
            |all: &Rectangle| format!("{} of {PART}, {} of {DOC}", ranges(&all.parts), ranges(&all.docs));
        let set = |set: &Set| set.iter().map(of).collect::<Vec<_>>().join("; ");
        write!(f, "ranges [{}]", self.0.iter().map(set).collect::<Vec<_>>().join("] and ["))
    }
}

/// The documents of some ranges.
pub(crate) fn listed(ranges: &[DocRange]) -> Vec<DocId> {
    ranges.iter().flat_map(|range| (range.start..range.end).map(DocId::new)).collect()
}

impl Numbers {
    fn all() -> Numbers {
        Numbers(vec![(i64::MIN, i64::MAX)])
    }

    fn new(mut ranges: Vec<(i64, i64)>) -> Numbers {
        ranges.retain(|(first, last)| first <= last);
        ranges.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Numbers(joined)
    }

    fn and(&self, other: &Numbers) -> Numbers {
        let (mut a, mut b) = (self.from(other).peekable(), other.from(self).peekable());
        let mut both = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (first, last) = (x.0.max(y.0), x.1.min(y.1));
            if first <= last {
                both.push((first, last));
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        Numbers(both)
    }

    /// The ranges that do not end before all of `other` begin, and begin before these end.
    fn from<'a>(&'a self, other: &Numbers) -> impl Iterator<Item = &'a (i64, i64)> {
        let (Some((first, _)), Some((_, last))) = (other.0.first(), other.0.last()) else { return [].iter() };
        let start = self.0.partition_point(|range| range.1 < *first);
        let end = self.0.partition_point(|range| range.0 <= *last);
        self.0.get(start..end).unwrap_or_default().iter()
    }

    fn contains(&self, number: i64) -> bool {
        let before = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(before).is_some_and(|(first, _)| *first <= number)
    }

    /// A column, and its values for which a condition is true.
    fn of(expr: &Expr) -> Option<(&str, Numbers)> {
        let (expr, list) = match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let is_swapped = name(left).is_none();
                let (left, op, right) =
                    if is_swapped { (right, op.swap()?, left) } else { (left, *op, right) };
                return Some((name(left)?, compared(op, number(right)?)?));
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                return Some((name(expr)?, Numbers::new(vec![(number(low)?, number(high)?)])));
            }
            Expr::InList(InList { expr, list, negated: false }) => (expr, list),
            _ => return None,
        };
        // Nothing equals null.
        let some = list.iter().filter(|item| !matches!(item, Expr::Literal(value, _) if value.is_null()));
        let numbers = some.map(number).collect::<Option<Vec<_>>>()?;
        Some((name(expr)?, Numbers::new(numbers.into_iter().map(|number| (number, number)).collect())))
    }
}

fn compared(op: Operator, number: i64) -> Option<Numbers> {
    let (below, above) = (number.checked_sub(1), number.checked_add(1));
    let up_to = |last: Option<i64>| last.map(|last| (i64::MIN, last));
    let from = |first: Option<i64>| first.map(|first| (first, i64::MAX));
    let ranges = match op {
        Operator::Eq => [Some((number, number)), None],
        Operator::NotEq => [up_to(below), from(above)],
        Operator::Lt => [up_to(below), None],
        Operator::LtEq => [up_to(Some(number)), None],
        Operator::Gt => [from(above), None],
        Operator::GtEq => [from(Some(number)), None],
        _ => return None,
    };
    Some(Numbers::new(ranges.into_iter().flatten().collect()))
}

fn name(expr: &Expr) -> Option<&str> {
    if let Expr::Column(column) = expr { Some(&column.name) } else { None }
}

fn number(expr: &Expr) -> Option<i64> {
    if let Expr::Literal(ScalarValue::Int64(value), _) = expr { *value } else { None }
}

#[cfg(test)]
mod tests {
    use datafusion_expr::{col, lit};

    use super::*;

    #[test]
    fn places_are_those_for_which_conditions_are_true() {
        let (part, doc) = (|| col(PART), || col(DOC));
        let list = |numbers: &[i64]| numbers.iter().map(|number| lit(*number)).collect::<Vec<_>>();
        type Test = fn(i64, i64) -> bool;
        let cases: Vec<(Expr, Test)> = vec![
            (doc().eq(lit(5_i64)), |_, doc| doc == 5),
            (doc().in_list(list(&[9, 3, 3, 4, -1, 1 << 40]), false), |_, doc| [3, 4, 9].contains(&doc)),
            (doc().not_eq(lit(3_i64)), |_, doc| doc != 3),
            (doc().not_eq(lit(i64::MIN)), |_, _| true),
            (doc().gt(lit(i64::MAX)), |_, _| false),
            (doc().between(lit(2_i64), lit(6_i64)).and(part().eq(lit(1_i64))), |part, doc| {
                part == 1 && (2..=6).contains(&doc)
            }),
            (lit(4_i64).lt_eq(doc()).or(part().lt(lit(1_i64))), |part, doc| doc >= 4 || part == 0),
            (
                part()
                    .eq(lit(0_i64))
                    .and(doc().in_list(list(&[1, 7]), false))
                    .or(part().gt_eq(lit(2_i64)).and(doc().lt(lit(3_i64)).or(doc().gt(lit(8_i64))))),
                |part, doc| part == 0 && [1, 7].contains(&doc) || part >= 2 && !(3..=8).contains(&doc),
            ),
        ];
        for (expr, is_true) in cases {
            let places = Places::of(&expr).unwrap();
            check(&expr, &places, is_true);
        }
        for other in [
            col("size").eq(lit(5_i64)),
            doc().eq(lit("5")),
            doc().in_list(list(&[1]), true),
            doc().eq(part()),
        ] {
            assert!(Places::of(&other).is_none(), "{other}");
        }
    }

    /// Conditions that would take very many rectangles are kept apart, or refused.
    #[test]
    fn rectangles_do_not_multiply() {
        let at =
            |number: i64, from: i64| col(PART).eq(lit(number % 4)).and(col(DOC).eq(lit(number / 4 + from)));
        let any = |from| (1..33).fold(at(0, from), |any, number| any.or(at(number, from)));
        let both = any(0).and(any(2));
        let in_both = |part: i64, doc: i64| {
            (0..33).contains(&(4 * doc + part)) && (0..33).contains(&(4 * (doc - 2) + part))
        };
        let places = Places::of(&both).unwrap();
        assert_eq!(places.0.iter().map(Vec::len).collect::<Vec<_>>(), [33, 33]);
        check(&both, &places, in_both);
        let more = both.clone().or(at(44, 0));
        check(&more, &Places::of(&more).unwrap(), |part, doc| in_both(part, doc) || part == 0 && doc == 11);
        let four = both.and(any(1)).and(any(3));
        assert!(Places::of(&four).is_some() && Places::of(&four.clone().or(four)).is_none());
        let none = |number: i64| col(PART).not_eq(lit(0_i64)).or(col(DOC).not_eq(lit(number)));
        let not_some = (1..60).fold(none(0), |all, number| all.and(none(number)));
        check(&not_some, &Places::of(&not_some).unwrap(), |part, _| part != 0);
    }

    /// Compares places with a condition on the numbers of parts and documents.
    fn check(expr: &Expr, places: &Places, is_true: impl Fn(i64, i64) -> bool) {
        for part in 0..4 {
            for docs in [0..0, 0..12, 3..4, 2..9] {
                let found =
                    places.within(usize::try_from(part).unwrap(), DocRange::new(docs.start, docs.end));
                let expected: Vec<DocId> =
                    docs.filter(|doc| is_true(part, (*doc).into())).map(DocId::new).collect();
                assert_eq!(listed(&found), expected, "{expr} in part {part}");
                assert!(found.is_sorted_by(|a, b| a.end < b.start), "{found:?}");
            }
        }
    }
}
