//! Numbers as text: canonical integers and floats, and the styles of floats.

use std::fmt::Write as _;

/// Whether `text` is a canonical integer, such as `0`, `17` or `-4`; not `007`, `+5` or `-0`, which would be printed
/// differently.
pub(crate) fn is_canonical_integer(text: &str) -> bool {
    match text.as_bytes() {
        [b'0'] => true,
        [b'-', b'1'..=b'9', rest @ ..] | [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Parses a canonical integer, unless it has more than 18 digits.
pub(crate) fn parse_short_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if digits.len() > 18 || !matches!(digits, [b'1'..=b'9', ..]) {
        return (text == "0").then_some(0);
    }
    let digit = |b: &u8| b.is_ascii_digit().then(|| i64::from(b - b'0'));
    let number = digits.iter().try_fold(0, |number, b| Some(10 * number + digit(b)?))?;
    Some(if digits.len() < text.len() { -number } else { number })
}

/// Parses a decimal number without a leading plus sign or zeros, or NaN or an infinity as DuckDB, NumPy, pandas, PostgreSQL or
/// R writes it. Returns `None` if the number is too large for a double.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    match text {
        "NaN" | "nan" => return Some(f64::NAN),
        "inf" | "Inf" | "Infinity" => return Some(f64::INFINITY),
        "-inf" | "-Inf" | "-Infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let decimal = matches!(digits, [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..]);
    if !decimal || has_leading_zero(text) || text == "-0" {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whether a number begins with a zero that it does not need.
pub(crate) fn has_leading_zero(text: &str) -> bool {
    matches!(text.strip_prefix('-').unwrap_or(text).as_bytes(), [b'0', b'0'..=b'9', ..])
}

/// Parses a decimal number without an exponent, such as `-12.50` or `007`: its double, and the set of [`styles`] that print it
/// so. `None` for all other texts, and for numbers of more than [`SAFE_DIGITS`] digits, for those below 0.0001, and for -0.
pub(crate) fn parse_decimal(text: &str) -> Option<(f64, u32)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    // 19 digits do not overflow.
    if digits.len() > POWERS_OF_TEN.len() {
        return None;
    }
    let (mut number, mut point) = (0_u64, digits.len());
    for (at, byte) in digits.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => number = 10 * number + u64::from(byte - b'0'),
            b'.' if point == digits.len() => point = at,
            _ => return None,
        }
    }
    let (whole, fraction) = (digits.get(..point)?, digits.get(point + 1..).unwrap_or_default());
    let is_negative = digits.len() < text.len();
    let is_odd = whole.is_empty() || digits.ends_with('.') || number == 0 && is_negative;
    if is_odd || number >= LIMIT {
        return None;
    }
    // Both are exact, so the quotient is the nearest double.
    let value = number as f64 / POWERS_OF_TEN.get(fraction.len())?;
    let signed = if is_negative { -value } else { value };
    (number == 0 || value >= 1e-4).then(|| (signed, decimal_styles(text, signed, whole, fraction)))
}

/// Whether the fewest digits that identify `value` are the number `text`, from which it was parsed. `1.50` and `1e2` are
/// kept; 9007199254740993.0 and 1e400 are not.
pub(crate) fn keeps_number(text: &str, value: f64) -> bool {
    // Every number of up to 15 digits is kept, except among the subnormal ones.
    if value.is_normal() && text.len() <= SAFE_DIGITS {
        return true;
    }
    if !value.is_finite() {
        return !text.contains(|c: char| c.is_ascii_digit());
    }
    if value == 0.0 {
        let number = text.split(['e', 'E']).next().unwrap_or_default();
        return !number.contains(|c: char| matches!(c, '1'..='9'));
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    value.is_normal() && digits <= SAFE_DIGITS || significant(text) == significant(&format!("{value:e}"))
}

/// The digits of a number without leading and trailing zeros, and the power of ten of the first one; `None` if the
/// exponent is out of range.
fn significant(text: &str) -> Option<(String, i64)> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let number = number.trim_start_matches(['-', '+']);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let from_first = digits.trim_start_matches('0');
    let before = i64::try_from(whole.len()).ok()? - i64::try_from(digits.len() - from_first.len()).ok()?;
    Some((from_first.trim_end_matches('0').to_owned(), exponent.parse::<i64>().ok()?.checked_add(before)?))
}

/// Whether the double of the text is the same number; see [`keeps_number`].
pub(crate) fn float_keeps(text: &str) -> bool {
    text.parse().is_ok_and(|value| keeps_number(text, value))
}

/// The text format of the doubles of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatStyle {
    /// The fewest digits that identify the double: `32`, `0.01`, `1e300`.
    Shortest,
    /// As [`Shortest`](Self::Shortest), with a point in every number without an exponent: `32.0`.
    Point,
    /// [`Shortest`](Self::Shortest) in CSV, and [`Point`](Self::Point) in JSON.
    Cell,
    /// The fewest characters, with an exponent where that is shorter: `1e3`, but `100`.
    Compact,
    /// As Python prints them: [`Point`](Self::Point) with exponents of two digits, `1e-05`.
    Python,
    /// The fewest digits and never an exponent: `0.00001`.
    Plain,
    /// A fixed number of decimals: `32.00`.
    Fixed(u8),
}

/// Every style, as a set for [`styles`].
pub(crate) const ALL_STYLES: u32 = (1 << (FIXED + MAX_FIXED)) - 1;

/// Bits of a set of styles: those of [`NAMED`], then fixed 1, 2, …
const FIXED: u32 = 5;
const NAMED: [FloatStyle; 5] =
    [FloatStyle::Shortest, FloatStyle::Point, FloatStyle::Compact, FloatStyle::Python, FloatStyle::Plain];
const MAX_FIXED: u32 = 18;

/// The number of digits that every double keeps.
const SAFE_DIGITS: usize = 15;

/// The first number with more digits.
const LIMIT: u64 = 10_u64.pow(15);

/// Powers of ten, which are doubles without an error.
const POWERS_OF_TEN: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

impl FloatStyle {
    /// The preferred style of a set, if it has one.
    pub(crate) fn choose(set: u32) -> Option<FloatStyle> {
        if let Some((_, named)) = (0..).zip(NAMED).find(|(bit, _)| set >> bit & 1 == 1) {
            return Some(named);
        }
        let digits = (set >> FIXED).trailing_zeros() + 1;
        (digits <= MAX_FIXED).then(|| FloatStyle::Fixed(u8::try_from(digits).unwrap_or(u8::MAX)))
    }

    /// Appends `value` to `out`.
    pub(crate) fn print(self, value: f64, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            _ if value.is_nan() => out.write_str("NaN"),
            // `-0` is no canonical number.
            FloatStyle::Shortest | FloatStyle::Cell | FloatStyle::Compact | FloatStyle::Plain
                if value == 0.0 && value.is_sign_negative() =>
            {
                return out.push_str("-0.0");
            }
            FloatStyle::Fixed(digits) if value.is_finite() => {
                write!(out, "{value:.*}", usize::from(digits))
            }
            FloatStyle::Compact if value.is_finite() => {
                let (fixed, exponent) = (format!("{value}"), format!("{value:e}"));
                out.write_str(if exponent.len() < fixed.len() { &exponent } else { &fixed })
            }
            FloatStyle::Plain if value.is_finite() => write!(out, "{value}"),
            FloatStyle::Python => out.write_str(&python_exponent(&format!("{value:?}"))),
            _ => write!(out, "{value:?}"),
        };
        if matches!(self, FloatStyle::Shortest | FloatStyle::Cell) && out.ends_with(".0") {
            out.truncate(out.len() - 2);
        }
    }

    fn gives(self, value: f64, text: &str) -> bool {
        let mut printed = String::with_capacity(text.len());
        self.print(value, &mut printed);
        printed == text
    }
}

/// `1e-5` as `1e-05`, `1e16` as `1e+16`.
fn python_exponent(text: &str) -> String {
    match text.split_once('e') {
        None => text.to_owned(),
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(negative) => format!("{digits}e-{negative:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
    }
}

/// The set of styles that print `value` as `text`.
pub(crate) fn styles(text: &str, value: f64) -> u32 {
    if !value.is_finite() {
        return ALL_STYLES;
    }
    parse_decimal(text).map_or_else(|| styles_by_printing(text, value), |(_, styles)| styles)
}

/// The set of styles that print a decimal number of at most [`SAFE_DIGITS`] digits as `text`.
fn decimal_styles(text: &str, value: f64, whole: &str, fraction: &str) -> u32 {
    let trimmed = !fraction.ends_with('0');
    let shortest = u32::from(trimmed);
    let point = u32::from(!fraction.is_empty() && (trimmed || fraction.len() == 1));
    // An exponent is shorter only with leading or trailing zeros.
    let zeros = whole.ends_with("000") || (whole == "0" && fraction.starts_with("00"));
    let compact = u32::from(if zeros { FloatStyle::Compact.gives(value, text) } else { trimmed });
    shortest | point << 1 | compact << 2 | point << 3 | shortest << 4 | fixed_bit(fraction.len())
}

fn styles_by_printing(text: &str, value: f64) -> u32 {
    let has_exponent = text.contains(['e', 'E']);
    let fraction = text.split_once('.').filter(|_| !has_exponent);
    let digits = fraction.map_or(0, |(_, fraction)| fraction.len());
    let named = (0..).zip(NAMED).filter(|(_, style)| style.gives(value, text));
    let set = named.fold(0, |set, (bit, _)| set | 1 << bit);
    let fixed = u8::try_from(digits).is_ok_and(|n| FloatStyle::Fixed(n).gives(value, text));
    set | if fixed { fixed_bit(digits) } else { 0 }
}

/// The set of the style with `digits` decimals; all styles if there is none.
#[cfg(feature = "parquet")]
pub(crate) fn fixed_style(digits: usize) -> u32 {
    match fixed_bit(digits) {
        0 => ALL_STYLES,
        bit => bit,
    }
}

fn fixed_bit(digits: usize) -> u32 {
    match u32::try_from(digits) {
        Ok(digits @ 1..=MAX_FIXED) => 1 << (FIXED + digits - 1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_are_canonical_or_none() {
        for text in ["0", "7", "-7", "10", "18446744073709551616"] {
            assert!(is_canonical_integer(text), "{text}");
        }
        for text in ["", "-", "-0", "007", "+5", "1 ", " 1", "1.0", "1e3", "١", "0x10"] {
            assert!(!is_canonical_integer(text), "{text}");
        }
    }

    #[test]
    fn a_double_keeps_up_to_15_digits_and_some_numbers_with_more() {
        for text in [
            "0",
            "-0.0",
            "0e999999999999999999999",
            "1.50",
            "1e3",
            "-1E-3",
            ".5",
            "5.",
            "1e300",
            "5e-324",
            "NaN",
            "-inf",
            "123456789012345",
            "0.00123456789012345",
            "6.904679999999999",
            "1.50000000000000000000",
            "000000000000000000001.5",
            "9007199254740992",
            "9007199254740992.0",
            "100000000000000000000000",
            "1.7976931348623157e308",
        ] {
            assert!(float_keeps(text), "{text}");
        }
        for text in [
            "9007199254740993",
            "9007199254740993.0",
            "123456789012345678.5",
            "0.1234567890123456789",
            "0.10000000000000001",
            "18446744073709551616",
            "-9223372036854775807",
            "1e400",
            "-1e400",
            "1e-400",
            "1.2345e-320",
            "1e99999999999999999999",
            "1e-99999999999999999999",
        ] {
            assert!(!float_keeps(text), "{text}");
        }
    }

    #[test]
    fn floats_are_plain_decimals() {
        for text in ["0.5", "-0.0", "1e3", "1E-3", ".5", "5.", "12", "1e+5", "NaN", "inf", "-inf"] {
            assert!(parse_float(text).is_some(), "{text}");
        }
        for text in ["nan", "Infinity", "-Infinity", "Inf", "-Inf"] {
            assert!(parse_float(text).is_some_and(|value| !value.is_finite()), "{text}");
        }
        for text in [
            "", "007.5", "+1.5", "1e400", "infinity", "NAN", "+inf", "1,5", "0x1p3", "-", ".", "1_0", "-0",
            "e5",
        ] {
            assert!(parse_float(text).is_none(), "{text}");
        }
    }

    #[test]
    fn decimals_have_few_digits_and_no_exponent() {
        for text in ["0", "0.0", "7", "-12.50", "007", "0.0001", "123456789012345", "0.00123456789012345"] {
            assert!(parse_decimal(text).is_some(), "{text}");
        }
        for text in ["", "-", ".5", "5.", "-0", "-0.0", "1..5", "0.00001", "1e3", "1234567890123456", "NaN"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
    }

    #[test]
    fn the_style_of_a_column_is_what_all_values_share() {
        let style = |texts: &[&str]| {
            let set = texts.iter().fold(ALL_STYLES, |set, t| set & styles(t, t.parse().unwrap()));
            FloatStyle::choose(set)
        };
        assert_eq!(style(&["32", "0.01", "8.05546", "6.904679999999999"]), Some(FloatStyle::Shortest));
        assert_eq!(style(&["32.0", "0.01"]), Some(FloatStyle::Point));
        assert_eq!(style(&["32.00", "0.01", "1.10"]), Some(FloatStyle::Fixed(2)));
        assert_eq!(style(&["0.0", "-0.5"]), Some(FloatStyle::Point));
        assert_eq!(style(&["-0.0", "1.5", "2"]), Some(FloatStyle::Shortest));
        assert_eq!(style(&["0.00", "1.50"]), Some(FloatStyle::Fixed(2)));
        assert_eq!(style(&["1e300", "2"]), Some(FloatStyle::Shortest));
        assert_eq!(style(&["1012.3", "1e3", "100", "0.01", "1e-3"]), Some(FloatStyle::Compact));
        assert_eq!(style(&["32.0", "1e-05", "1.5e+16"]), Some(FloatStyle::Python));
        assert_eq!(style(&["32", "0.00001"]), Some(FloatStyle::Plain));
        assert_eq!(style(&["1000", "1e3"]), None);
        assert_eq!(style(&["1.50", "2"]), None);
        assert_eq!(style(&[".5"]), None);
        assert_eq!(style(&["1E5"]), None);
        assert_eq!(style(&["0.1234567890123456789"]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_short_integer_is_a_canonical_one(text in "-?[0-9]{0,20}[-. a]?") {
            let parsed = text.parse::<i64>().ok().filter(|_| is_canonical_integer(&text));
            let has_few_digits = text.trim_start_matches('-').len() <= 18;
            prop_assert_eq!(parse_short_integer(&text), parsed.filter(|_| has_few_digits));
        }

        #[test]
        fn a_decimal_number_is_parsed_as_any_float(text in "-?[0-9]{0,10}(\\.[0-9]{0,9})?[e.]?") {
            if let Some((value, set)) = parse_decimal(&text) {
                prop_assert_eq!(text.parse().map(f64::to_bits), Ok(value.to_bits()));
                prop_assert!(keeps_number(&text, value));
                if !has_leading_zero(&text) {
                    prop_assert_eq!(parse_float(&text), Some(value));
                    prop_assert_eq!(set, styles_by_printing(&text, value));
                }
            }
        }

        #[test]
        fn a_style_of_a_text_prints_that_text(whole in "(0|[1-9][0-9]{0,17})", fraction in "[0-9]{0,18}", minus: bool) {
            let mut text = whole;
            if !fraction.is_empty() {
                text = format!("{text}.{fraction}");
            }
            if minus {
                text.insert(0, '-');
            }
            let value: f64 = text.parse().unwrap();
            let set = styles(&text, value);
            for bit in 0..FIXED + MAX_FIXED {
                let style = FloatStyle::choose(1 << bit).unwrap();
                // The set is exact except for "-0" and 19 decimals.
                if set >> bit & 1 == 1 || bit < FIXED {
                    prop_assert_eq!(style.gives(value, &text), set >> bit & 1 == 1, "{} {:?}", text, style);
                }
            }
        }

        #[test]
        fn numbers_of_15_digits_are_kept(digits in "[1-9][0-9]{0,14}", exponent in -300i32..290, zeros in "0{0,9}") {
            let text = format!("{zeros}{digits}e{exponent}");
            prop_assert!(float_keeps(&text), "{}", text);
            let value: f64 = text.parse().unwrap();
            prop_assert_eq!(significant(&text), significant(&format!("{value:e}")));
        }

        #[test]
        fn a_double_keeps_every_text_of_itself(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for style in NAMED {
                let mut text = String::new();
                style.print(value, &mut text);
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
                prop_assert!(float_keeps(&text), "{}", text);
            }
        }
    }
}
