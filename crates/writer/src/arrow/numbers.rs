//! Conversion of arrays of numbers to stored numbers.

use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::{Array, PrimitiveArray, downcast_integer_array};
use arrow_schema::{DataType, TimeUnit};

use docvalues_format::file::kind::{LogicalType, from_f64, from_u64};

const DAY: i64 = 86_400_000;

/// Integers below this have at most 15 digits. Such an integer and 10^scale (up to 10^22) are exact as doubles, so their
/// quotient is rounded once: it is the double nearest to the decimal, and prints as the decimal again.
const SAFE: i128 = 1_000_000_000_000_000;

/// Converts `array`; a null becomes 0. Also returns the indexes of the values that the type `to` cannot hold. `None` if
/// arrays of this type do not convert to `to`.
pub(super) fn numbers(array: &dyn Array, to: LogicalType) -> Option<(Vec<i64>, Vec<usize>)> {
    use DataType as D;
    use LogicalType as L;
    Some(match (array.data_type(), to) {
        (D::Boolean, L::Bool) => (array.as_boolean().values().iter().map(i64::from).collect(), Vec::new()),
        (integer, _) if integer.is_integer() => {
            return downcast_integer_array!(array => integers(array, to), _ => None);
        }
        (D::Float16, L::F64) => each::<Float16Type>(array, |v| Some(from_f64(v.to_f64()))),
        (D::Float32, L::F64) => each::<Float32Type>(array, |v| Some(from_f64(v.into()))),
        (D::Float64, L::F64) => each::<Float64Type>(array, |v| Some(from_f64(v))),
        (D::Date32, L::Date) => each::<Date32Type>(array, |v| Some(v.into())),
        (D::Date64, L::Date) => each::<Date64Type>(array, |v| (v % DAY == 0).then_some(v / DAY)),
        (D::Date64, L::TimestampMillis) => each::<Date64Type>(array, Some),
        (D::Timestamp(from, _), _) => of_slice(array, array.to_data().buffer(0), change(*from, nanos(to)?)),
        // The unit is not stored.
        (D::Time32(_), L::I64) => of_slice(array, array.to_data().buffer(0), |v: i32| Some(v.into())),
        (D::Time64(_) | D::Duration(_), L::I64) => of_slice(array, array.to_data().buffer(0), Some),
        (D::Decimal32(_, scale), _) => return decimals::<Decimal32Type>(array, *scale, to),
        (D::Decimal64(_, scale), _) => return decimals::<Decimal64Type>(array, *scale, to),
        (D::Decimal128(_, scale), _) => return decimals::<Decimal128Type>(array, *scale, to),
        _ => return None,
    })
}

/// The numbers that `store` returns, and the indexes of the values for which it returns `None`.
fn each<T: ArrowPrimitiveType>(
    array: &dyn Array,
    store: impl Fn(T::Native) -> Option<i64>,
) -> (Vec<i64>, Vec<usize>) {
    of_slice(array, array.as_primitive::<T>().values(), store)
}

/// [`each`], for the values of `array` as a slice.
fn of_slice<T: Copy>(
    array: &dyn Array,
    values: &[T],
    store: impl Fn(T) -> Option<i64>,
) -> (Vec<i64>, Vec<usize>) {
    let mut refused = Vec::new();
    let stored = values.iter().take(array.len()).enumerate().map(|(at, value)| {
        store(*value).unwrap_or_else(|| {
            // The value of a null is arbitrary.
            if array.is_valid(at) {
                refused.push(at);
            }
            0
        })
    });
    (stored.collect(), refused)
}

/// Integers of any width and sign.
fn integers<T>(array: &PrimitiveArray<T>, to: LogicalType) -> Option<(Vec<i64>, Vec<usize>)>
where
    T: ArrowPrimitiveType<Native: Into<i128>>,
{
    match to {
        LogicalType::I64 => Some(each::<T>(array, |v| i64::try_from(v.into()).ok())),
        LogicalType::U64 => Some(each::<T>(array, |v| u64::try_from(v.into()).ok().map(from_u64))),
        _ => None,
    }
}

/// Nanoseconds in the unit of a timestamp type.
fn nanos(logical: LogicalType) -> Option<i64> {
    match logical {
        LogicalType::TimestampMillis => Some(1_000_000),
        LogicalType::TimestampMicros => Some(1_000),
        LogicalType::TimestampNanos => Some(1),
        _ => None,
    }
}

/// Converts counts of `from` to counts of a unit of `to` nanoseconds; `None` if the result is not whole or overflows.
fn change(from: TimeUnit, to: i64) -> impl Fn(i64) -> Option<i64> {
    let from = match from {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    move |count| match count.checked_mul(from / to) {
        _ if from < to => (count % (to / from) == 0).then_some(count / (to / from)),
        more => more,
    }
}

/// Decimals with `scale` digits after the point.
fn decimals<T>(array: &dyn Array, scale: i8, to: LogicalType) -> Option<(Vec<i64>, Vec<usize>)>
where
    T: DecimalType<Native: Into<i128>>,
{
    let power = 10_i128.checked_pow(u32::from(scale.unsigned_abs()));
    match to {
        LogicalType::I64 => Some(each::<T>(array, |v| {
            let digits: i128 = v.into();
            let whole = match (scale, power) {
                (_, None) => (digits == 0).then_some(0),
                (..=0, Some(power)) => digits.checked_mul(power),
                (_, Some(power)) => (digits % power == 0).then_some(digits / power),
            };
            i64::try_from(whole?).ok()
        })),
        LogicalType::F64 => {
            // `SAFE` says why one division is exact enough.
            let divisor = (0..=22).contains(&scale).then(|| format!("1e{scale}").parse::<f64>());
            let divisor = divisor.and_then(Result::ok);
            Some(each::<T>(array, |v| {
                let digits: i128 = v.into();
                match divisor {
                    #[expect(clippy::cast_precision_loss, reason = "there are no more than 53 bits")]
                    Some(divisor) if digits.abs() < SAFE => Some(from_f64(digits as f64 / divisor)),
                    _ => long_decimal(digits, scale).map(from_f64),
                }
            }))
        }
        _ => None,
    }
}

/// The double nearest to a decimal, if it prints as that decimal.
fn long_decimal(digits: i128, scale: i8) -> Option<f64> {
    let value: f64 = format!("{digits}e{}", -i32::from(scale)).parse().ok()?;
    let printed = format!("{value:.*}", usize::try_from(scale).unwrap_or(0));
    let zeros = "0".repeat(usize::try_from(-i32::from(scale)).unwrap_or(0));
    let expected = format!("{digits}{zeros}");
    (printed.replacen('.', "", 1).trim_start_matches(['-', '0']) == expected.trim_start_matches(['-', '0']))
        .then_some(value)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Decimal128Array, TimestampSecondArray};
    use docvalues_format::file::kind::to_f64;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A decimal becomes the double that its text parses to, or is refused if that double prints differently.
        #[test]
        fn a_decimal_is_the_double_of_its_text(
            digits in prop_oneof![-SAFE * 10..SAFE * 10, -100_000..100_000_i128, any::<i64>().prop_map(i128::from)],
            scale in 1..=30_i8,
        ) {
            let array = Decimal128Array::from(vec![digits]).with_precision_and_scale(38, scale).unwrap();
            let text = Decimal128Type::format_decimal(digits, 38, scale);
            let parsed: f64 = text.parse().unwrap();
            let is_printed_so = format!("{parsed:.*}", scale as usize).trim_start_matches('-')
                == text.trim_start_matches('-');
            let (stored, refused) = numbers(&array, LogicalType::F64).unwrap();
            prop_assert_eq!(refused.is_empty(), is_printed_so, "{}", text);
            if is_printed_so {
                prop_assert_eq!(to_f64(stored[0]).abs(), parsed.abs(), "{}", text);
            }
        }

        #[test]
        fn timestamps_convert_to_any_unit_or_are_refused(seconds: i64) {
            let array = TimestampSecondArray::from(vec![seconds]);
            for (unit, each) in [(LogicalType::TimestampMillis, 1_000), (LogicalType::TimestampNanos, 1_000_000_000)] {
                let (stored, refused) = numbers(&array, unit).unwrap();
                match seconds.checked_mul(each) {
                    Some(count) => prop_assert_eq!((stored, refused), (vec![count], vec![])),
                    None => prop_assert_eq!((stored, refused), (vec![0], vec![0])),
                }
            }
        }
    }

    #[test]
    fn finer_units_convert_to_coarser_ones_if_nothing_is_lost() {
        let array = arrow_array::TimestampMicrosecondArray::from(vec![Some(-2_000), None, Some(1_500)]);
        let (stored, refused) = numbers(&array, LogicalType::TimestampMillis).unwrap();
        assert_eq!((stored[0], refused), (-2, vec![2]));
    }
}
