//! Starts of buckets, and the bucket of a number.

use std::ops::RangeInclusive;

use docvalues_column::{Field, LogicalType};
use docvalues_format::file::kind::{from_f64, from_u64, to_f64, to_u64};

use super::{MAX_BUCKETS, Step};
use crate::calendar::{LastRun, Steps, too_many};
use crate::engine::value;
use crate::error::{Error, Result};

/// Buckets, of which the last has no end. NaN is in none.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    doubles: bool,
    steps: Steps,
    /// Whether the request listed the edges.
    pub(crate) is_given: bool,
}

impl Buckets {
    /// The buckets from the first to the last number of `bounds`.
    pub(crate) fn new(step: &Step, field: &Field, bounds: Option<RangeInclusive<i64>>) -> Result<Buckets> {
        let (low, high) = bounds.map_or((0, 0), RangeInclusive::into_inner);
        let doubles = field.logical == LogicalType::F64;
        let edges = match step {
            Step::Edges(edges)
                if edges.windows(2).all(|pair| pair[0] < pair[1]) && edges.len() <= MAX_BUCKETS =>
            {
                edges.clone()
            }
            Step::Edges(_) => {
                return Err(Error::Request(format!(
                    "expected at most {MAX_BUCKETS} edges in ascending order"
                )));
            }
            Step::Every(step) if step.recurs() => of_integers(1, field, low, high)?,
            Step::Every(step) => {
                let steps = step.between(field, low, high, MAX_BUCKETS)?;
                return Ok(Buckets { doubles, steps, is_given: false });
            }
            Step::Width(width) if doubles => of_doubles(*width, field, to_f64(low), to_f64(high))?,
            #[expect(clippy::cast_precision_loss, reason = "values are no more exact")]
            Step::Whole(width) if doubles => of_doubles(*width as f64, field, to_f64(low), to_f64(high))?,
            Step::Width(width) => of_integers(whole(*width), field, low, high)?,
            Step::Whole(width) => of_integers(*width, field, low, high)?,
        };
        Ok(Buckets { doubles, steps: Steps::whole(edges), is_given: matches!(step, Step::Edges(_)) })
    }

    /// The starts of the buckets, as stored numbers.
    pub(crate) fn starts(&self) -> &[i64] {
        self.steps.starts()
    }

    /// The bucket of a number. `last` caches the last one.
    #[inline]
    pub(super) fn place(&self, number: i64, last: &mut LastRun) -> Option<usize> {
        let number = match self.doubles {
            // −0.0 is 0.0, unless edges were given as numbers.
            true if !self.is_given && number == from_f64(-0.0) => from_f64(0.0),
            true if to_f64(number).is_nan() => return None,
            _ => number,
        };
        self.steps.find(number, last)
    }
}

/// The integer value of a width, or 0.
fn whole(width: f64) -> u64 {
    if (1.0..9e18).contains(&width) && width.fract() == 0.0 { value::whole(width) } else { 0 }
}

fn of_integers(width: u64, field: &Field, low: i64, high: i64) -> Result<Vec<i64>> {
    if width == 0 {
        let ty = field.logical.name();
        return Err(Error::Request(format!(
            "column \"{}\" is {ty}: expected a whole number of at least 1 as bucket width",
            field.name
        )));
    }
    let unsigned = field.logical == LogicalType::U64;
    let plain = |stored: i64| if unsigned { i128::from(to_u64(stored)) } else { i128::from(stored) };
    let width = i128::from(width);
    let (first, last) = (plain(low).div_euclid(width), plain(high).div_euclid(width));
    if last - first >= MAX_BUCKETS as i128 {
        return Err(too_many(field, MAX_BUCKETS));
    }
    // The first edge may lie below all numbers of the type.
    let stored = |edge: i128| match u64::try_from(edge) {
        Ok(edge) if unsigned => from_u64(edge),
        _ => i64::try_from(edge).unwrap_or(i64::MIN),
    };
    Ok((first..=last).map(|at| stored(at * width)).collect())
}

fn of_doubles(width: f64, field: &Field, low: f64, high: f64) -> Result<Vec<i64>> {
    if !(width > 0.0 && width.is_finite()) {
        return Err(Error::Request(format!("expected a positive and finite bucket width, found {width}")));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(Error::Request(format!(
            "column \"{}\" has infinite values: use edges in place of a width, or a query for finite values",
            field.name
        )));
    }
    let decimal = decimal(width);
    let times = |at: f64| times(at, width, decimal);
    // The quotient is rounded, so the bucket may be an adjacent one.
    let place = |number: f64| {
        let at = (number / width).floor();
        [at + 1.0, at].into_iter().find(|at| times(*at) <= number).unwrap_or(at - 1.0)
    };
    let (first, last) = (place(low), place(high));
    let len = last - first + 1.0;
    // Also rejects NaN, and quotients that are infinite.
    #[expect(clippy::cast_precision_loss, reason = "it is 65,536")]
    if !(len >= 1.0 && len <= MAX_BUCKETS as f64) {
        return Err(too_many(field, MAX_BUCKETS));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was just looked at")]
    let len = len as u32;
    let mut edges: Vec<i64> = (0..len).map(|at| from_f64(times(first + f64::from(at)) + 0.0)).collect();
    // A width may be less than the distance of two doubles.
    edges.dedup();
    Ok(edges)
}

/// A whole number times a width, rounded once. `decimal` has the digits of the width and a power of ten, if the user meant
/// a decimal: 3 times 0.1 is 0.3, not 0.30000000000000004.
fn times(at: f64, width: f64, decimal: Option<(i128, i32)>) -> f64 {
    match decimal {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        Some((digits, power)) if at.abs() < MAX_EXACT => {
            let product = format!("{}e{power}", at as i128 * digits);
            product.parse().unwrap_or(at * width)
        }
        _ => at * width,
    }
}

/// All whole numbers below it are doubles.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The digits and the power of ten of the shortest decimal that is this double; `None` if it has more than the 15 digits
/// that every double keeps.
fn decimal(double: f64) -> Option<(i128, i32)> {
    let text = format!("{double:e}");
    let (number, power) = text.split_once('e')?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let power = power.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
    (digits.len() <= 15).then(|| Some((digits.parse().ok()?, power)))?
}
