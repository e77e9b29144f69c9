//! Patterns of numbers.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{from_f64, from_u64};

use crate::rng::SplitMix64;

/// The pattern of a column's numbers, in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// One number.
    Constant,
    /// 0 or 1.
    Bools,
    /// A thousand numbers around zero.
    SmallRange,
    /// Multiples of 3,600 above a base.
    Gcd,
    /// A small range, with occasional outliers.
    Outliers,
    /// Ascending milliseconds, some of them late.
    Timestamps,
    /// A straight line.
    Line,
    /// Five numbers, far apart.
    FewDistinct,
    /// Uniform over `i64`.
    FullRange,
    /// The smallest and the largest `i64`, their neighbours, and zero.
    Extremes,
    /// Random numbers, ascending.
    Ascending,
    /// Random numbers, descending.
    Descending,
    /// A sawtooth of a thousand steps.
    Sawtooth,
    /// Long runs of one number.
    Stretches,
    /// Widths that change every thousand numbers.
    MixedWidths,
    /// Unsigned numbers, half of them above the largest `i64`.
    Unsigned,
    /// Prices: doubles with two decimals.
    Prices,
    /// Doubles with any bits, including NaNs, both zeros, infinities and subnormals.
    Doubles,
    /// Days.
    Days,
}

/// Doubles with special rules for comparing, sorting or printing.
const ODD_DOUBLES: [u64; 12] = [
    0,
    1 << 63,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF8_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    u64::MAX,
    1,
    0x3FF0_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
];

impl Numbers {
    /// Every pattern.
    pub const ALL: [Numbers; 19] = [
        Numbers::Constant,
        Numbers::Bools,
        Numbers::SmallRange,
        Numbers::Gcd,
        Numbers::Outliers,
        Numbers::Timestamps,
        Numbers::Line,
        Numbers::FewDistinct,
        Numbers::FullRange,
        Numbers::Extremes,
        Numbers::Ascending,
        Numbers::Descending,
        Numbers::Sawtooth,
        Numbers::Stretches,
        Numbers::MixedWidths,
        Numbers::Unsigned,
        Numbers::Prices,
        Numbers::Doubles,
        Numbers::Days,
    ];

    /// The type of such numbers.
    pub fn logical(self) -> LogicalType {
        match self {
            Numbers::Bools => LogicalType::Bool,
            Numbers::Timestamps => LogicalType::TimestampMillis,
            Numbers::Line => LogicalType::TimestampNanos,
            Numbers::Unsigned => LogicalType::U64,
            Numbers::Prices | Numbers::Doubles => LogicalType::F64,
            Numbers::Days => LogicalType::Date,
            Numbers::Ascending => LogicalType::TimestampMicros,
            _ => LogicalType::I64,
        }
    }

    /// `n` such stored numbers.
    pub fn make(self, n: usize, rng: &mut SplitMix64) -> Vec<i64> {
        let base = rng.below(1 << 40) as i64;
        let mut late = base;
        let mut numbers: Vec<i64> = (0..n as i64)
            .map(|i| match self {
                Numbers::Timestamps => {
                    late += rng.below(2000) as i64;
                    1_500_000_000_000 + late + rng.below(10_001) as i64 - 5000
                }
                _ => self.number(i, base, rng),
            })
            .collect();
        match self {
            Numbers::Ascending => numbers.sort_unstable(),
            Numbers::Descending => numbers.sort_unstable_by(|a, b| b.cmp(a)),
            _ => {}
        }
        numbers
    }

    fn number(self, i: i64, base: i64, rng: &mut SplitMix64) -> i64 {
        match self {
            Numbers::Constant => base,
            Numbers::Bools => i64::from(rng.chance(1, 3)),
            Numbers::SmallRange => rng.below(1000) as i64 - 500,
            Numbers::Gcd => base + 3600 * rng.below(500) as i64,
            Numbers::Outliers if rng.chance(1, 700) => rng.next_i64(),
            Numbers::Outliers => rng.below(16) as i64,
            Numbers::Line => base + 1_000_007 * i,
            Numbers::FewDistinct => *rng.pick(&[200, -404, 1 << 50, i64::MIN / 3, 301]),
            Numbers::Extremes => *rng.pick(&[i64::MIN, i64::MAX, i64::MIN + 1, i64::MAX - 1, 0]),
            Numbers::Sawtooth => base + i % 1000 * 17,
            Numbers::Stretches => (i / 777) * 5 - 3,
            Numbers::MixedWidths => rng.next_i64() >> (i / 1000 * 13 % 64),
            Numbers::Unsigned => from_u64(rng.next_u64()),
            Numbers::Prices => from_f64(rng.below(100_000) as f64 / 100.0),
            Numbers::Doubles if rng.chance(1, 2) => from_f64(f64::from_bits(*rng.pick(&ODD_DOUBLES))),
            Numbers::Doubles => from_f64(f64::from_bits(rng.next_u64())),
            Numbers::Days => 15_000 + i / 50,
            Numbers::Ascending | Numbers::Descending => rng.below(1 << 45) as i64,
            Numbers::FullRange | Numbers::Timestamps => rng.next_i64(),
        }
    }
}
