//! Parses a cell as a value of its column's type.

use jiff::tz::Offset;

use crate::api::search::Value;
use crate::api::{LogicalType, append_hex, from_f64, from_u64};

use super::column_type::value_name;
use super::row::Form;
use super::schema::TimeRequest;
use crate::text::number::{
    float_keeps, has_leading_zero, is_canonical_integer, keeps_number, parse_decimal, parse_float,
    parse_short_integer, styles,
};
use crate::text::print_value::print_ip;
use crate::text::time::{Moment, Rfc3339, TimeFormat, days, is_timestamp, parse_date, to_units, unit_name};

/// A value as the segment stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A number, after the order-preserving transform of its type.
    Number(i64),
    /// Bytes, which were appended to the caller's buffer.
    Bytes,
}

/// The format in which a value was written, as far as the type does not imply it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueStyle {
    /// The canonical format of the type.
    Canonical,
    /// A format that a column does not store.
    Lost,
    /// A set of possible float styles.
    Float { styles: u32, json: bool },
    /// An RFC 3339 timestamp. Bits 0 to 9 of `fractions` are fixed numbers of decimals, bit 10 is as many as needed.
    Time { separator: char, fractions: u16, suffix: [u8; Rfc3339::MAX_SUFFIX] },
    /// The format that the user gave, with this offset.
    Formatted(Offset),
}

/// Parses the cells of a column.
pub(crate) struct CellParser<'a> {
    pub(crate) logical: LogicalType,
    /// Whether the user requested the type. If so, values are accepted that will be printed in another format.
    pub(crate) explicit: bool,
    /// Whether timestamps of an inferred type are without an offset.
    pub(crate) has_no_offsets: bool,
    pub(crate) time: Option<&'a TimeRequest>,
}

/// A cell that is not a value of its column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    /// The mismatch, such as `expected an i64`.
    pub(crate) problem: String,
    /// The name of a type that accepts the cell.
    pub(crate) wider: &'static str,
}

impl CellParser<'_> {
    /// Parses a cell; appends the bytes of a string or an id to `bytes`.
    pub(crate) fn read(
        &self,
        form: Form,
        text: &str,
        bytes: &mut Vec<u8>,
    ) -> Result<(Stored, ValueStyle), TypeMismatch> {
        if !self.explicit && !fits_form(self.logical, form) {
            let problem = format!("expected {}, found {}", value_name(self.logical), form_name(form));
            return Err(self.refuse(text, form, &problem));
        }
        let value = match self.logical {
            LogicalType::I64 => self.integer(text).map(|v| (Stored::Number(v), self.integer_mark(text))),
            LogicalType::U64 => {
                self.integer(text).map(|v| (Stored::Number(from_u64(v)), self.integer_mark(text)))
            }
            LogicalType::F64 => self.float(form, text),
            LogicalType::Bool => self.boolean(text),
            LogicalType::Date => self.date(text),
            LogicalType::TimestampMillis | LogicalType::TimestampMicros | LogicalType::TimestampNanos => {
                return self.timestamp(form, text);
            }
            LogicalType::Ip | LogicalType::Uuid => read_fixed(self.logical, text, bytes)
                .filter(|(_, mark)| self.explicit || *mark == ValueStyle::Canonical),
            LogicalType::Utf8 => {
                bytes.extend_from_slice(text.as_bytes());
                Some((Stored::Bytes, lost_unless(!matches!(form, Form::Number | Form::Bool))))
            }
            LogicalType::Bytes => read_hex(text, bytes),
            _ => None,
        };
        value.ok_or_else(|| self.refuse(text, form, ""))
    }

    /// Parses a cell as a value of its own.
    pub(crate) fn value(&self, form: Form, text: &str) -> Result<Value, TypeMismatch> {
        let mut bytes = Vec::new();
        Ok(match self.read(form, text, &mut bytes)? {
            (Stored::Number(number), _) => Value::of(self.logical, number),
            (Stored::Bytes, _) => Value::Bytes(bytes),
        })
    }

    fn integer<T: std::str::FromStr + TryFrom<i64>>(&self, text: &str) -> Option<T> {
        if let Some(number) = parse_short_integer(text) {
            return T::try_from(number).ok();
        }
        (self.explicit || is_canonical_integer(text)).then(|| text.parse().ok())?
    }

    /// The style of an integer that was read. If the type is inferred, all are canonical.
    fn integer_mark(&self, text: &str) -> ValueStyle {
        lost_unless(!self.explicit || is_canonical_integer(text))
    }

    fn float(&self, form: Form, text: &str) -> Option<(Stored, ValueStyle)> {
        if let Some((value, styles)) = parse_decimal(text)
            && (self.explicit || !has_leading_zero(text))
        {
            let mark = ValueStyle::Float { styles, json: !form.is_csv() };
            return Some((Stored::Number(from_f64(value)), mark));
        }
        let value = if self.explicit {
            text.parse()
                .ok()
                .filter(|value: &f64| value.is_finite() || !text.contains(|c: char| c.is_ascii_digit()))?
        } else if form == Form::Number {
            // JSON has -0, and no NaN or infinity.
            text.parse().ok().filter(|value: &f64| value.is_finite())?
        } else {
            parse_float(text)?
        };
        if !self.explicit && !keeps_number(text, value) {
            return None;
        }
        let mark = ValueStyle::Float { styles: styles(text, value), json: !form.is_csv() };
        Some((Stored::Number(from_f64(value)), mark))
    }

    fn boolean(&self, text: &str) -> Option<(Stored, ValueStyle)> {
        let value = match text {
            "1" if self.explicit => true,
            "0" if self.explicit => false,
            text => parse_bool(text)?,
        };
        Some((Stored::Number(value.into()), lost_unless(matches!(text, "true" | "false"))))
    }

    fn date(&self, text: &str) -> Option<(Stored, ValueStyle)> {
        match self.time {
            Some(TimeRequest::Format(format)) => {
                let (moment, mark) = formatted(format, text)?;
                Some((Stored::Number(days(moment)), mark))
            }
            _ => Some((Stored::Number(parse_date(text)?), ValueStyle::Canonical)),
        }
    }

    fn timestamp(&self, form: Form, text: &str) -> Result<(Stored, ValueStyle), TypeMismatch> {
        let (moment, mark) = match self.time {
            Some(TimeRequest::Epoch) => {
                let units = self
                    .integer(text)
                    .ok_or_else(|| self.refuse(text, form, "expected a number of units since 1970"))?;
                return Ok((Stored::Number(units), ValueStyle::Canonical));
            }
            Some(TimeRequest::Format(format)) => formatted(format, text).ok_or_else(|| {
                let problem = format!("expected the format {:?}", format.pattern);
                TypeMismatch { problem, wider: "string" }
            })?,
            None => self.rfc3339(text).ok_or_else(|| self.refuse(text, form, ""))?,
        };
        if let Some(units) = to_units(moment, self.logical) {
            return Ok((Stored::Number(units), mark));
        }
        let (unit, fits) = (unit_name(self.logical), |logical| to_units(moment, logical).is_some());
        let (problem, wider) = if fits(LogicalType::TimestampMillis) {
            (format!("the moment does not fit 64 bits of {unit}"), "timestamp[us]")
        } else {
            let is_micros = fits(LogicalType::TimestampMicros);
            (
                format!("the moment is finer than {unit}"),
                if is_micros { "timestamp[us]" } else { "timestamp[ns]" },
            )
        };
        Err(TypeMismatch { problem, wider })
    }

    /// Parses a timestamp of which the user gave no format.
    #[inline(always)]
    pub(super) fn rfc3339(&self, text: &str) -> Option<(Moment, ValueStyle)> {
        let parsed = Rfc3339::parse(text)?;
        if !self.explicit && parsed.suffix.is_empty() != self.has_no_offsets {
            return None;
        }
        let mut suffix = [0; Rfc3339::MAX_SUFFIX];
        suffix.get_mut(..parsed.suffix.len())?.copy_from_slice(parsed.suffix.as_bytes());
        let fractions = 1 << parsed.digits | u16::from(parsed.shortest) << Rfc3339::SHORTEST;
        Some((parsed.moment, ValueStyle::Time { separator: parsed.separator, fractions, suffix }))
    }

    /// A mismatch; an empty `problem` stands for "expected" and the type.
    fn refuse(&self, text: &str, form: Form, problem: &str) -> TypeMismatch {
        let wider = self.wider(text, form);
        let problem = match problem {
            "" if wider == "f64" && self.logical == LogicalType::F64 => {
                "a double rounds this number".to_owned()
            }
            "" => format!("expected {}", value_name(self.logical)),
            problem => problem.to_owned(),
        };
        TypeMismatch { problem, wider }
    }

    /// The type to suggest for a column that also has this text; the type of the column if the user has to request
    /// it.
    fn wider(&self, text: &str, form: Form) -> &'static str {
        let integer = is_canonical_integer(text);
        match self.logical {
            _ if matches!(form, Form::Str | Form::Bool) => "string",
            LogicalType::I64 if integer && text.parse::<u64>().is_ok() => "u64",
            LogicalType::U64 if integer && text.parse::<i64>().is_ok() => "i64",
            LogicalType::I64 | LogicalType::U64 if parse_float(text).is_some() && float_keeps(text) => "f64",
            LogicalType::F64 if !self.explicit && parse_float(text).is_some() => "f64",
            logical if self.explicit && self.time.is_none() && integer && is_timestamp(logical) => "i64",
            _ => "string",
        }
    }
}

/// Parses a boolean as JSON, Python or R writes it.
pub(super) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn lost_unless(canonical: bool) -> ValueStyle {
    if canonical { ValueStyle::Canonical } else { ValueStyle::Lost }
}

/// Whether an inferred type accepts this syntax at all; a JSON string is not a number.
fn fits_form(logical: LogicalType, form: Form) -> bool {
    match form {
        Form::Bare | Form::Quoted => true,
        Form::Str => {
            !matches!(logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64 | LogicalType::Bool)
        }
        Form::Number => matches!(logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64),
        Form::Bool => logical == LogicalType::Bool,
        Form::Null | Form::EmptyArray => false,
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Str => "a JSON string",
        Form::Number => "a JSON number",
        Form::Bool => "a JSON boolean",
        Form::Null => "null",
        Form::EmptyArray => "an empty array",
        Form::Bare | Form::Quoted => "a cell",
    }
}

/// Parses a text in the user's format.
fn formatted(format: &TimeFormat, text: &str) -> Option<(Moment, ValueStyle)> {
    let (moment, offset) = format.read(text)?;
    let given_back = format.round_trips(moment, offset, text);
    Some((moment, if given_back { ValueStyle::Formatted(offset) } else { ValueStyle::Lost }))
}

/// Whether an address or UUID is printed as this text.
pub(super) fn is_canonical(logical: LogicalType, text: &str) -> bool {
    // Neither is longer than 45 bytes.
    if text.len() > 45 {
        return false;
    }
    let value = read_fixed(logical, text, &mut Vec::new());
    value.is_some_and(|(_, mark)| mark == ValueStyle::Canonical)
}

/// Parses an address or a UUID.
fn read_fixed(logical: LogicalType, text: &str, bytes: &mut Vec<u8>) -> Option<(Stored, ValueStyle)> {
    let value = logical.parse_fixed(text)?;
    bytes.extend_from_slice(&value);
    let is_canonical = match logical {
        LogicalType::Ip => print_ip(value) == text,
        _ => text.contains('-') && !text.contains(|c: char| c.is_ascii_uppercase()),
    };
    Some((Stored::Bytes, lost_unless(is_canonical)))
}

fn read_hex(text: &str, bytes: &mut Vec<u8>) -> Option<(Stored, ValueStyle)> {
    append_hex(text.as_bytes(), bytes)?;
    let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
    Some((Stored::Bytes, lost_unless(lower)))
}

#[cfg(test)]
#[path = "parse_cell/tests.rs"]
mod tests;
