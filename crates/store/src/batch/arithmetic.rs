//! Numbers that an update computes from those before: sums and products.

use std::fmt;

use docvalues_column::{Field, Kind, LogicalType, Value};
use docvalues_format::file::kind::{from_f64, from_u64, to_f64, to_u64};
use serde::{Deserialize, Serialize};

/// A sum or a product that an update computes: [`Update::add`](crate::Update::add) and
/// [`Update::multiply`](crate::Update::multiply).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arithmetic {
    pub(crate) operand: Operand,
    /// Whether the nearest number of the type takes the place of one out of range.
    pub(crate) saturates: bool,
}

/// As `+5`, `-0.5` or `*1.1`.
impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operand {
            Operand::Add(amount) => write!(f, "{amount:+}"),
            Operand::AddF64(bits) => write!(f, "{:+?}", f64::from_bits(bits)),
            Operand::Multiply(bits) => write!(f, "*{:?}", f64::from_bits(bits)),
        }
    }
}

/// The second operand. A double is held as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operand {
    Add(i64),
    AddF64(u64),
    Multiply(u64),
}

impl Arithmetic {
    /// Computes the number of a field of type `logical` from the one `before`; `None` stands for no number. A result out of
    /// range, which an update refuses unless it is [saturating](crate::Update::saturating), is the nearest number in it.
    pub fn after(self, before: Option<&Value>, logical: LogicalType) -> Option<Value> {
        let (after, _) = self.apply(before.and_then(Value::stored), logical);
        after.map(|stored| Value::of(logical, stored))
    }

    /// Refuses a field of another type, and what is not finite. Returns what is expected.
    pub(crate) fn check(self, field: &Field) -> Result<(), String> {
        use LogicalType as T;
        let (name, is_number) = (&field.name, matches!(field.logical, T::I64 | T::U64 | T::F64));
        let (is_fit, expected, operand) = match self.operand {
            Operand::Add(_) => {
                let is_time =
                    matches!(field.logical, T::TimestampMillis | T::TimestampMicros | T::TimestampNanos);
                (is_number || is_time || field.logical == T::Date, "a number, date or timestamp", 0.0)
            }
            Operand::AddF64(bits) => (field.logical == T::F64, "a double", f64::from_bits(bits)),
            Operand::Multiply(bits) => (is_number, "a number", f64::from_bits(bits)),
        };
        if field.kind != Kind::Numeric || !is_fit {
            return Err(format!("{expected} in a single-valued field to compute with, found \"{name}\""));
        }
        if !operand.is_finite() {
            return Err(format!("a finite number to compute \"{name}\" with, found {operand}"));
        }
        Ok(())
    }

    /// The stored number after `before`, and whether it is the nearest one to a result out of range. A sum counts from 0; there is
    /// no product without a number.
    pub(crate) fn apply(self, before: Option<i64>, logical: LogicalType) -> (Option<i64>, bool) {
        if let (None, Operand::Multiply(_)) = (before, self.operand) {
            return (None, false);
        }
        let (after, is_out) = match logical {
            LogicalType::F64 => {
                let (after, is_out) = self.of_double(before.map_or(0.0, to_f64));
                (from_f64(after), is_out)
            }
            LogicalType::U64 => {
                let exact = self.of_integer(before.map_or(0, to_u64).into());
                let after = exact.clamp(0, u64::MAX.into());
                (from_u64(u64::try_from(after).unwrap_or_default()), after != exact)
            }
            _ => {
                let exact = self.of_integer(before.unwrap_or(0).into());
                let after = match logical {
                    LogicalType::Date => exact.clamp(i32::MIN.into(), i32::MAX.into()),
                    _ => exact.clamp(i64::MIN.into(), i64::MAX.into()),
                };
                (i64::try_from(after).unwrap_or_default(), after != exact)
            }
        };
        (Some(after), is_out)
    }

    fn of_double(self, before: f64) -> (f64, bool) {
        let after = match self.operand {
            Operand::Add(amount) => before + amount as f64,
            Operand::AddF64(bits) => before + f64::from_bits(bits),
            Operand::Multiply(bits) => before * f64::from_bits(bits),
        };
        match after.is_infinite() && before.is_finite() {
            true => (f64::MAX.copysign(after), true),
            // Other processors give other bits, and replicas must not.
            false if after.is_nan() => (f64::NAN, false),
            false => (after, false),
        }
    }

    /// The exact result for 64-bit numbers and integers; otherwise the nearest integer, halves away from zero.
    #[expect(clippy::cast_possible_truncation, reason = "far doubles are out of the field's range, too")]
    fn of_integer(self, before: i128) -> i128 {
        match self.operand {
            Operand::Add(amount) => before + i128::from(amount),
            Operand::AddF64(bits) => (before as f64 + f64::from_bits(bits)).round() as i128,
            Operand::Multiply(bits) => {
                let factor = f64::from_bits(bits);
                match factor.fract() == 0.0 && factor.abs() < 1e18 {
                    true => before * factor as i128,
                    false => (before as f64 * factor).round() as i128,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(operand: Operand, before: Option<i64>, logical: LogicalType) -> (Option<i64>, bool) {
        Arithmetic { operand, saturates: false }.apply(before, logical)
    }

    #[test]
    fn integers_are_exact_and_end_at_the_range_of_their_type() {
        use LogicalType::{Date, I64, U64};
        let times = |factor: f64| Operand::Multiply(factor.to_bits());
        let unsigned = |value| Some(from_u64(value));
        let all = [
            (Operand::Add(-3), None, I64, (Some(-3), false)),
            (Operand::Add(1), Some(i64::MAX - 1), I64, (Some(i64::MAX), false)),
            (Operand::Add(1), Some(i64::MAX), I64, (Some(i64::MAX), true)),
            (Operand::Add(-1), Some(i64::MIN), I64, (Some(i64::MIN), true)),
            (Operand::Add(5), None, U64, (unsigned(5), false)),
            (Operand::Add(-1), unsigned(0), U64, (unsigned(0), true)),
            (Operand::Add(i64::MAX), unsigned(u64::MAX - 7), U64, (unsigned(u64::MAX), true)),
            (Operand::Add(-7), unsigned(u64::MAX), U64, (unsigned(u64::MAX - 7), false)),
            (Operand::Add(1), Some(i32::MAX.into()), Date, (Some(i32::MAX.into()), true)),
            (times(2.0), None, I64, (None, false)),
            // 2^53 + 1 is no double.
            (times(3.0), Some((1 << 53) + 1), I64, (Some(3 * ((1 << 53) + 1)), false)),
            (times(0.5), Some(3), I64, (Some(2), false)),
            (times(0.5), Some(-3), I64, (Some(-2), false)),
            (times(-1.0), Some(i64::MIN), I64, (Some(i64::MAX), true)),
            (times(1e300), Some(-1), I64, (Some(i64::MIN), true)),
            (times(-0.5), unsigned(3), U64, (unsigned(0), true)),
        ];
        for (operand, before, logical, expected) in all {
            assert_eq!(after(operand, before, logical), expected, "{operand:?} {before:?}");
        }
    }

    #[test]
    fn an_operand_is_printed_with_its_operator() {
        let printed = |operand| Arithmetic { operand, saturates: false }.to_string();
        assert_eq!([5, -1].map(|amount| printed(Operand::Add(amount))), ["+5", "-1"]);
        assert_eq!(printed(Operand::AddF64(0.5_f64.to_bits())), "+0.5");
        assert_eq!(printed(Operand::Multiply(1e300_f64.to_bits())), "*1e300");
    }

    #[test]
    fn doubles_are_those_of_ieee_754_but_for_overflows() {
        let of = |operand, before: f64| {
            let (stored, is_out) = after(operand, Some(from_f64(before)), LogicalType::F64);
            (stored.map(to_f64).map(f64::to_bits), is_out)
        };
        let bits = |value: f64| Some(value.to_bits());
        let add = |amount: f64| Operand::AddF64(amount.to_bits());
        assert_eq!(of(add(0.2), 0.1), (bits(0.1 + 0.2), false));
        assert_eq!(of(Operand::Add(2), 0.5), (bits(2.5), false));
        assert_eq!(of(add(f64::MAX), f64::MAX), (bits(f64::MAX), true));
        assert_eq!(of(Operand::Multiply((-2.0_f64).to_bits()), f64::MAX), (bits(-f64::MAX), true));
        assert_eq!(of(add(1.0), f64::INFINITY), (bits(f64::INFINITY), false));
        assert_eq!(of(add(1.0), f64::from_bits(f64::NAN.to_bits() | 7)), (bits(f64::NAN), false));
        assert_eq!(after(add(0.5), None, LogicalType::F64), (Some(from_f64(0.5)), false));
    }
}
