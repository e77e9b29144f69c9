//! A condition on an open column: the stored values that match, simplified by what the directory and the dictionary
//! tell.

use std::ops::ControlFlow;

use docvalues_column::{Column, LogicalType, OrdRange, Terms};
use docvalues_format::file::kind::{to_f64, to_u64};

use super::convert_literal::{self, Mismatch};
use super::iso8601::print_nanos;
use super::pattern::{CompiledPatterns, Matcher};
use super::range_set::{End, Minimum, RangeSet};
use super::{Literal, Pattern, Test};
use crate::Result;
use crate::engine::{Interrupt, value_bounds};

/// The values of a column that match a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any value.
    Exists,
    /// These numbers or, of a column with a dictionary, the terms with these ords.
    Numbers(RangeSet<i64>),
    /// These byte strings.
    Strings(RangeSet<Vec<u8>>),
}

/// A literal that does not fit the column: its position in the test, and the error message.
pub(super) type Refused = (usize, String);

/// The values that match a test. For `NotIn`, the values in the list.
pub(super) fn wanted(column: &dyn Column, test: &Test) -> Result<Result<Wanted, Refused>> {
    if column.is_absent() {
        return Ok(Ok(Wanted::Exists));
    }
    let field = &column.info().field;
    match wanted_of_type(&field.name, field.logical, test) {
        Ok(Wanted::Strings(strings)) => in_dictionary(column, strings).map(Ok),
        wanted => Ok(wanted),
    }
}

/// As [`wanted`], for a column of this name and type that has no dictionary.
pub(super) fn wanted_of_type(name: &str, logical: LogicalType, test: &Test) -> Result<Wanted, Refused> {
    let refuse = |at: usize, literal: &Literal, mismatch: Mismatch| {
        let what =
            format!("column \"{name}\" is {}, and {} is not {mismatch}", logical.name(), short(literal));
        (at, what)
    };
    let is_bytes = logical.is_bytes();
    match test {
        // The others are not tests of single values by a literal.
        Test::Exists | Test::Missing | Test::Matches(_) | Test::Column(..) => Ok(Wanted::Exists),
        Test::In(literals) | Test::NotIn(literals) if is_bytes => {
            let equal = |literal: &Literal| convert_literal::equal_strings(logical, literal);
            any_of(literals, equal, refuse).map(Wanted::Strings)
        }
        Test::In(literals) | Test::NotIn(literals) => {
            let equal = |literal: &Literal| convert_literal::equal_numbers(logical, literal);
            any_of(literals, equal, refuse).map(Wanted::Numbers)
        }
        Test::Range(low, high) => {
            // Each end alone first, to find out which one is wrong.
            let (low, high) = (low.as_ref(), high.as_ref());
            let of = |low, high| match is_bytes {
                true => convert_literal::string_range(logical, low, high).map(Wanted::Strings),
                false => convert_literal::number_range(logical, low, high).map(Wanted::Numbers),
            };
            use std::ops::Bound::{Excluded, Included, Unbounded};
            let ends = [(0, low), (usize::from(!matches!(low, Unbounded)), high)];
            let wrong = ends.into_iter().find_map(|(at, end)| match end {
                Included(literal) | Excluded(literal) => {
                    of(end, Unbounded).err().map(|m| refuse(at, literal, m))
                }
                Unbounded => None,
            });
            match wrong {
                Some(wrong) => Err(wrong),
                None => of(low, high).map_err(|mismatch| (0, mismatch.to_owned())),
            }
        }
        Test::Prefix(prefix) if is_bytes => {
            let prefixed = convert_literal::prefixed(logical, prefix).map(Wanted::Strings);
            prefixed.map_err(|mismatch| refuse(0, prefix, mismatch))
        }
        Test::Prefix(_) => {
            Err((0, format!("column \"{name}\" is {}, and only byte strings have a prefix", logical.name())))
        }
    }
}

/// The compiled form of a pattern for a column of this name and type.
pub(super) fn compiled(
    name: &str,
    logical: LogicalType,
    pattern: &Pattern,
    patterns: &CompiledPatterns,
) -> Result<Matcher, Refused> {
    let refuse = |what: String| (0, format!("column \"{name}\" is {}, and {what}", logical.name()));
    if !matches!(logical, LogicalType::Utf8 | LogicalType::Bytes) {
        return Err(refuse("a pattern is for text and bytes".into()));
    }
    let compiled = patterns.get(pattern);
    let compiled =
        compiled.map_err(|mismatch| refuse(format!("{} is not {mismatch}", short(pattern.literal()))))?;
    compiled.map_err(|what| (0, what))
}

/// The ords of the terms that match a compiled pattern. Reads the whole dictionary.
pub(super) fn matching_terms(
    terms: &dyn Terms,
    pattern: &Matcher,
    stop: &Interrupt,
) -> Result<RangeSet<i64>> {
    let (mut pace, mut interrupted) = (stop.pace(), Ok(()));
    let mut spans: Vec<(i64, End<i64>)> = Vec::new();
    terms.each_term(OrdRange::new(0, terms.term_count()), &mut |ord, term| {
        let ord = i64::from(ord.get());
        interrupted = pace.step();
        if interrupted.is_err() {
            return ControlFlow::Break(());
        }
        if pattern.is_match(term) {
            match spans.last_mut() {
                Some((_, end)) if *end == End::Before(ord) => *end = End::Before(ord + 1),
                _ => spans.push((ord, End::Before(ord + 1))),
            }
        }
        ControlFlow::Continue(())
    })?;
    interrupted?;
    Ok(RangeSet::of(spans))
}

/// Shortens a literal for a message.
fn short(literal: &Literal) -> String {
    let text = literal.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("…".chars()).collect() }
}

/// The union of the values that each of several literals equals.
fn any_of<T: Minimum>(
    literals: &[Literal],
    equal: impl Fn(&Literal) -> Result<RangeSet<T>, Mismatch>,
    refuse: impl Fn(usize, &Literal, Mismatch) -> Refused,
) -> Result<RangeSet<T>, Refused> {
    let mut spans = Vec::new();
    for (at, literal) in literals.iter().enumerate() {
        spans.extend(equal(literal).map_err(|mismatch| refuse(at, literal, mismatch))?.into_list());
    }
    Ok(RangeSet::of(spans))
}

/// Converts byte strings to ords if the column has a dictionary. Two lookups for a range, one for a single value.
fn in_dictionary(column: &dyn Column, strings: RangeSet<Vec<u8>>) -> Result<Wanted> {
    let Some(terms) = column.values().terms() else { return Ok(Wanted::Strings(strings)) };
    let mut ords = Vec::with_capacity(strings.list().len());
    for (low, end) in strings.list() {
        let (start, end) = match end {
            End::Before(end) if end.strip_suffix(&[0]) == Some(low) => match terms.seek_exact(low)? {
                Some(ord) => (ord.get().into(), i64::from(ord.get()) + 1),
                None => continue,
            },
            End::Before(end) => (terms.seek_ceil(low)?.get().into(), terms.seek_ceil(end)?.get().into()),
            End::Never => (terms.seek_ceil(low)?.get().into(), terms.term_count().into()),
        };
        ords.push((start, End::Before(end)));
    }
    Ok(Wanted::Numbers(RangeSet::of(ords)))
}

impl Wanted {
    /// The values that do not match.
    pub(super) fn complement(&self) -> Option<Wanted> {
        match self {
            Wanted::Exists => None,
            Wanted::Numbers(spans) => Some(Wanted::Numbers(spans.complement())),
            Wanted::Strings(spans) => Some(Wanted::Strings(spans.complement())),
        }
    }

    /// The values that match either of two conditions.
    pub(super) fn union(self, other: Wanted) -> Wanted {
        match (self, other) {
            (Wanted::Numbers(a), Wanted::Numbers(b)) => Wanted::Numbers(a.union(b)),
            (Wanted::Strings(a), Wanted::Strings(b)) => Wanted::Strings(a.union(b)),
            _ => Wanted::Exists,
        }
    }

    /// The values that match both conditions.
    pub(super) fn intersection(self, other: Wanted) -> Wanted {
        match (self, other) {
            (Wanted::Exists, other) => other,
            (Wanted::Numbers(a), Wanted::Numbers(b)) => Wanted::Numbers(a.intersection(&b)),
            (Wanted::Strings(a), Wanted::Strings(b)) => Wanted::Strings(a.intersection(&b)),
            (this, _) => this,
        }
    }

    /// Simplifies the condition by directory and dictionary: leaves out values that the column cannot have. The error is
    /// the reason why no document matches.
    pub(super) fn simplify(self, column: &dyn Column) -> Result<Wanted, String> {
        let info = column.info();
        if info.with_value.most() == 0 {
            return Err("the column has no values".into());
        }
        let bounds = value_bounds(column).unwrap_or(i64::MIN..=i64::MAX);
        let there = || if bounds.is_empty() { RangeSet::none() } else { RangeSet::numbers(bounds.clone()) };
        let all = || match column.values().terms() {
            Some(terms) => format!("none of its {} terms", terms.term_count()),
            None => ends(info.field.logical, &bounds),
        };
        match self {
            Wanted::Numbers(wanted) => narrowed(wanted, there(), Wanted::Numbers, all),
            Wanted::Strings(wanted) => {
                narrowed(wanted, RangeSet::all(), Wanted::Strings, || "no value".to_owned())
            }
            Wanted::Exists => Ok(Wanted::Exists),
        }
    }
}

/// The wanted values that the column can have; the error is the reason why there are none.
fn narrowed<T: Minimum>(
    wanted: RangeSet<T>,
    there: RangeSet<T>,
    of: impl Fn(RangeSet<T>) -> Wanted,
    what_there_is: impl Fn() -> String,
) -> Result<Wanted, String> {
    let both = wanted.intersection(&there);
    if both == there && !there.is_empty() {
        Ok(Wanted::Exists)
    } else if !both.is_empty() {
        Ok(of(both))
    } else if wanted.is_empty() {
        Err("no value can match".into())
    } else {
        Err(what_there_is())
    }
}

/// Describes the column's values, if numbers outside of them are wanted.
fn ends(logical: LogicalType, bounds: &std::ops::RangeInclusive<i64>) -> String {
    let [low, high] = [*bounds.start(), *bounds.end()].map(|number| number_text(logical, number));
    format!("its values lie between {low} and {high}")
}

/// A stored number as text, by its type.
pub(super) fn number_text(logical: LogicalType, stored: i64) -> String {
    match (logical, convert_literal::nanos_of_unit(logical)) {
        (LogicalType::U64, _) => to_u64(stored).to_string(),
        (LogicalType::F64, _) => format!("{:?}", to_f64(stored)),
        (LogicalType::Bool, _) => (stored != 0).to_string(),
        (_, Some(unit)) => print_nanos(i128::from(stored) * unit, logical == LogicalType::Date),
        _ => stored.to_string(),
    }
}
