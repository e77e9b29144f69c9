//! Type promotion: exact conversion of columns of numbers of different types to a common type.

use docvalues_column::{LogicalType, promotion};

use crate::error::ErrorKind;
use crate::input::check_number;

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
            let converted = promotion::convert(stored, self.from, self.to);
            let value = promotion::integer(stored, self.from);
            target.push(converted.ok_or(ErrorKind::Inexact { value, types: [self.from, self.to] })?);
        }
        Ok(())
    }
}
