#![expect(clippy::cast_possible_truncation, reason = "the columns here are short")]

mod agree;
mod bytes;
mod choose_encoding;
mod damage;
mod decimal;
mod estimate;
mod lookup;
mod reads;

use super::*;
use crate::cursor::Cursor;
use crate::error::ErrorKind;
use crate::jump::JumpTables;
use crate::source::Owned;
use crate::stored::from_f64;

const VALUES: NumericOptions =
    NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };

/// Columns as they occur, and as they break things.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Constant,
    SmallRange,
    /// Multiples of 1,000 from an odd offset.
    Multiples,
    /// A step of about a minute in nanoseconds, now and then a late one.
    Timestamps,
    /// Rises by 3 or 4: what offsets do.
    Offsets,
    /// Four values, far apart.
    FewDistinct,
    /// 256 values, and one more at the end: a table that just does not come to be.
    TooManyDistinct,
    FullRange,
    Sawtooth,
    /// The two ends of an i64, and what is beside them.
    Extremes,
    /// A few blocks' worth of one value, then another: zones and blocks that are skipped.
    Plateaus,
    /// The same with a few bits of noise: blocks alike, at bases far apart.
    Steps,
    /// Cents, as doubles: below and above zero, none of them −0.0.
    Cents,
    /// Fifteen digits, seven of them after the point; all odd.
    Positions,
}

impl Shape {
    const ALL: [Shape; 14] = [
        Shape::Constant,
        Shape::SmallRange,
        Shape::Multiples,
        Shape::Timestamps,
        Shape::Offsets,
        Shape::FewDistinct,
        Shape::TooManyDistinct,
        Shape::FullRange,
        Shape::Sawtooth,
        Shape::Extremes,
        Shape::Plateaus,
        Shape::Steps,
        Shape::Cents,
        Shape::Positions,
    ];

    fn values(self, len: usize, seed: u64) -> Vec<i64> {
        let mut random = Random(seed);
        let mut at = 0_i64;
        let mut next = |i: usize| match self {
            Shape::Constant => -7,
            Shape::SmallRange => 100 + random.below(37),
            Shape::Multiples => 123 + 1000 * random.below(5_000),
            Shape::Timestamps => {
                at += 60_000_000_000 + random.below(2_000_000) - 1_000_000;
                at - if random.below(100) == 0 { 3_600_000_000_000 } else { 0 }
            }
            Shape::Offsets => {
                at += 3 + random.below(2);
                at
            }
            Shape::FewDistinct => [-1 << 40, 12, 700_000_000_000, i64::MAX][random.below(4) as usize],
            Shape::TooManyDistinct => {
                let spread = random.below(256) * random.below(1 << 20).min(1) * 999_999_937;
                if i + 1 == len { spread - 1 } else { spread }
            }
            Shape::FullRange => random.next().cast_signed(),
            Shape::Sawtooth => (i % 1000) as i64 * 17 - 300,
            Shape::Extremes => {
                [i64::MIN, i64::MAX, 0, -1, i64::MIN + 1, i64::MAX - 1][random.below(6) as usize]
            }
            Shape::Plateaus => (i / 5000) as i64 * 1_000_003,
            Shape::Steps => 100 + (i / 4096) as i64 % 3 * 1_000_003 + random.below(37),
            Shape::Cents => from_f64((random.below(2_001) - 1_000) as f64 / 100.0),
            Shape::Positions => from_f64((1 + 2 * random.below(400_000_000_000_000)) as f64 / 1e7),
        };
        (0..len).map(&mut next).collect()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> i64 {
        (self.next() % end).cast_signed()
    }

    fn range(&mut self, len: usize) -> std::ops::Range<u64> {
        let ends = [self.below(len as u64 + 1), self.below(len as u64 + 1)].map(i64::cast_unsigned);
        ends[0].min(ends[1])..ends[0].max(ends[1])
    }
}

fn in_memory(column: Numeric<Vec<u8>>) -> Numeric<Owned> {
    column.try_map(&mut |section, bytes| Ok::<_, ()>(Owned::new(section, bytes))).unwrap()
}

fn open(column: &Numeric<Vec<u8>>, mode: JumpTables) -> Result<NumericReader<Owned>> {
    NumericReader::open(in_memory(column.clone()), mode)
}
