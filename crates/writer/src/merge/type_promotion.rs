//! Type promotion: exact conversion of columns of numbers of different types to a common type.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{from_f64, to_u64};

use crate::error::ErrorKind;
use crate::field_buffers::check_number;

/// The common type of two types; `None` if there is no conversion.
pub(crate) fn common(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    use LogicalType::{F64, I64, U64};
    match (a, b) {
        (I64 | U64, F64) | (F64, I64 | U64) => Some(F64),
        (I64, U64) | (U64, I64) => Some(I64),
        _ => (a == b).then_some(a),
    }
}

/// A conversion of stored numbers from a source's type to that of the merged column.
#[derive(Clone, Copy)]
pub(super) struct Promotion {
    from: LogicalType,
    to: LogicalType,
}

impl Promotion {
    pub(super) fn new(from: LogicalType, to: LogicalType) -> Promotion {
        Promotion { from, to }
    }

    /// Appends stored numbers, converted.
    pub(super) fn append(self, stored: &[i64], target: &mut Vec<i64>) -> Result<(), ErrorKind> {
        if self.from == self.to {
            if self.to == LogicalType::Bool {
                stored.iter().try_for_each(|&number| check_number(self.to, number))?;
            }
            target.extend_from_slice(stored);
            return Ok(());
        }
        for &stored in stored {
            let value =
                if self.from == LogicalType::U64 { to_u64(stored).into() } else { i128::from(stored) };
            let converted = if self.to == LogicalType::F64 {
                exact_f64(value).map(from_f64)
            } else {
                i64::try_from(value).ok()
            };
            target.push(converted.ok_or(ErrorKind::Inexact { value, types: [self.from, self.to] })?);
        }
        Ok(())
    }
}

/// The double that equals an integer, if there is one: the integer has at most 53 significant bits.
fn exact_f64(value: i128) -> Option<f64> {
    let magnitude = value.unsigned_abs();
    let odd = magnitude.checked_shr(magnitude.trailing_zeros()).unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "there are no more than 53 bits")]
    (odd >> f64::MANTISSA_DIGITS == 0).then_some(value as f64)
}
