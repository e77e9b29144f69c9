//! Prints a value of an array as text, for columns with a requested type.

use std::fmt::Write as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::{Array, downcast_integer_array};
use arrow_schema::{DataType, TimeUnit};
use jiff::SignedDuration;
use jiff::civil::Time;

use crate::api::for_each;
use crate::text::number::FloatStyle;
use crate::text::quoting::hex;
use crate::text::time::{Moment, TimeFormat, day};

/// Appends the value at `at`, which is not null, as in CSV.
pub(super) fn text(array: &dyn Array, at: usize, out: &mut String) {
    use DataType as D;
    macro_rules! plain {
        ($type:ty) => {{
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", array.as_primitive::<$type>().value(at));
        }};
    }
    macro_rules! decimal {
        ($type:ty, $precision:expr, $scale:expr) => {{
            let value = array.as_primitive::<$type>().value(at);
            out.push_str(&<$type>::format_decimal(value, *$precision, *$scale));
        }};
    }
    match array.data_type() {
        D::Boolean => out.push_str(if array.as_boolean().value(at) { "true" } else { "false" }),
        integer if integer.is_integer() => {
            let _ = downcast_integer_array!(array => write!(out, "{}", array.value(at)), _ => Ok(()));
        }
        // The fewest digits that identify the number among those of its width.
        D::Float16 => plain!(Float16Type),
        D::Float32 => plain!(Float32Type),
        D::Float64 => FloatStyle::Shortest.print(array.as_primitive::<Float64Type>().value(at), out),
        D::Decimal32(p, s) => decimal!(Decimal32Type, p, s),
        D::Decimal64(p, s) => decimal!(Decimal64Type, p, s),
        D::Decimal128(p, s) => decimal!(Decimal128Type, p, s),
        D::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(at).into();
            moment(&TimeFormat::iso_date(), day(days), days, out);
        }
        D::Date64 => {
            let millis = array.as_primitive::<Date64Type>().value(at);
            moment(&TimeFormat::iso_date(), SignedDuration::from_millis(millis), millis, out);
        }
        D::Timestamp(unit, _) => {
            let count = count(array, at);
            moment(&TimeFormat::canonical(), since_epoch(*unit, count), count, out);
        }
        D::Time32(unit) | D::Time64(unit) => {
            let count = count(array, at);
            let _ = match Time::midnight().checked_add(since_epoch(*unit, count)) {
                Ok(time) => write!(out, "{time}"),
                // No time of a day.
                Err(_) => write!(out, "{count}"),
            };
        }
        D::Duration(_) => {
            let _ = write!(out, "{}", count(array, at));
        }
        D::Utf8 => out.push_str(array.as_string::<i32>().value(at)),
        D::LargeUtf8 => out.push_str(array.as_string::<i64>().value(at)),
        D::Utf8View => out.push_str(array.as_string_view().value(at)),
        // Nothing for arrays of other types.
        _ => for_each(&*array.slice(at, 1), |bytes| {
            bytes.unwrap_or_default().iter().for_each(|byte| hex(*byte, out));
        }),
    }
}

/// Appends a moment in a format, or its number if its year is out of range.
fn moment(format: &TimeFormat, moment: Moment, count: i64, out: &mut String) {
    if !format.print(moment, out) {
        let _ = write!(out, "{count}");
    }
}

/// The number that an array of times stores at `at`.
fn count(array: &dyn Array, at: usize) -> i64 {
    match array.data_type() {
        DataType::Time32(_) => array.to_data().buffer::<i32>(0)[at].into(),
        _ => array.to_data().buffer::<i64>(0)[at],
    }
}

fn since_epoch(unit: TimeUnit, count: i64) -> Moment {
    match unit {
        TimeUnit::Second => SignedDuration::from_secs(count),
        TimeUnit::Millisecond => SignedDuration::from_millis(count),
        TimeUnit::Microsecond => SignedDuration::from_micros(count),
        TimeUnit::Nanosecond => SignedDuration::from_nanos(count),
    }
}
