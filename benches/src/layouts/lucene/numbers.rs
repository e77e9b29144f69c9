//! Numbers and ords: `Lucene70DocValuesConsumer` and `Lucene80DocValuesConsumer`.
//!
//! | form | when | finding a value |
//! | --- | --- | --- |
//! | constant | all values are equal, or 0 | |
//! | table | at most 256 values, of fewer bits than their range | one packed array |
//! | single | ords; other numbers without a better form | one packed array |
//! | blocks | they take at most nine tenths of a single one | a walk over headers, or the jump table |
//!
//! A block is a byte with the bits of a value, the least value, and unless the bits are 0, a length and the packed
//! values. The jump table has the offset of each block. All values are differences from the least one, divided by their
//! greatest common divisor.

use std::collections::BTreeSet;
use std::fmt;

/// The bits that `DirectWriter` packs values in.
const BITS: [usize; 14] = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64];

/// Bytes that a load may read past a packed array.
const PAD: usize = 8;

/// Numbers without gaps.
#[derive(Clone)]
pub struct Numbers {
    pub(super) bytes: Vec<u8>,
    form: Form,
    least: i64,
    gcd: u64,
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbers")
            .field("form", &self.form)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
enum Form {
    Constant,
    Table {
        values: Vec<i64>,
        bits: usize,
    },
    Single {
        bits: usize,
    },
    /// Blocks of 2^`shift` values; the jump table begins at byte `table`.
    Blocks {
        shift: u32,
        table: usize,
    },
}

impl Numbers {
    /// Encodes `values`, in blocks of `block` values, a power of two, if that is smaller. Lucene's have 16,384.
    pub fn encode(values: &[i64], block: usize) -> Numbers {
        let least = values.iter().copied().min().unwrap_or(0);
        let greatest = values.iter().copied().max().unwrap_or(0);
        let offset = |value: i64| value.wrapping_sub(least).cast_unsigned();
        let gcd =
            values.iter().fold(0, |gcd, &value| if gcd == 1 { 1 } else { self::gcd(gcd, offset(value)) });
        let gcd = gcd.max(1);
        let mut bytes = Vec::new();
        let single = bits(offset(greatest) / gcd);
        let form = if single == 0 {
            Form::Constant
        } else if let Some(table) = table(values).filter(|table| bits(table.len() as u64 - 1) < single) {
            let bits = bits(table.len() as u64 - 1);
            let index = |value: &i64| table.partition_point(|other| other < value) as u64;
            pack(values.iter().map(index), bits, &mut bytes);
            Form::Table { values: table, bits }
        } else {
            let in_blocks = values.chunks(block).map(|chunk| chunk.len() * spread(chunk, gcd)).sum::<usize>();
            if in_blocks * 10 <= values.len() * single * 9 {
                let table = encode_blocks(values, block, gcd, &mut bytes);
                Form::Blocks { shift: block.ilog2(), table }
            } else {
                pack(values.iter().map(|&value| offset(value) / gcd), single, &mut bytes);
                Form::Single { bits: single }
            }
        };
        Numbers { bytes, form, least, gcd }
    }

    /// Encodes ords, always as one packed array, of the bits of the greatest one.
    pub fn encode_ords(ords: &[i64]) -> Numbers {
        let bits = bits(ords.iter().copied().max().unwrap_or(0).cast_unsigned());
        let mut bytes = Vec::new();
        let form = if bits == 0 {
            Form::Constant
        } else {
            pack(ords.iter().map(|ord| ord.cast_unsigned()), bits, &mut bytes);
            Form::Single { bits }
        };
        Numbers { bytes, form, least: 0, gcd: 1 }
    }

    /// An iterator over the values.
    pub fn iterator(&self, use_jumps: bool) -> NumberIterator<'_> {
        NumberIterator {
            numbers: self,
            use_jumps,
            block: -1,
            next: 0,
            bits: 0,
            least: 0,
            payload: 0,
            headers: 0,
        }
    }

    /// The number of blocks, or 0 in another form.
    pub fn blocks(&self) -> usize {
        match self.form {
            Form::Blocks { table, .. } => (self.bytes.len() - PAD - table) / 8,
            _ => 0,
        }
    }

    #[inline]
    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(*self.bytes[at..].first_chunk().expect("inside"))
    }

    /// Packed value `index` of an array at byte `at`.
    #[inline]
    fn packed(&self, at: usize, bits: usize, index: usize) -> u64 {
        let bit = index * bits;
        let mask = u64::MAX >> (64 - bits);
        self.u64(at + bit / 8) >> (bit % 8) & mask
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The bits to pack numbers up to `most` in.
fn bits(most: u64) -> usize {
    let needed = 64 - most.leading_zeros() as usize;
    BITS.into_iter().find(|&bits| bits >= needed && needed > 0).unwrap_or(0)
}

/// The distinct values, if they are at most 256.
fn table(values: &[i64]) -> Option<Vec<i64>> {
    let mut found = BTreeSet::new();
    for value in values {
        found.insert(*value);
        if found.len() > 256 {
            return None;
        }
    }
    Some(found.into_iter().collect())
}

/// The bits of a value of a block.
fn spread(values: &[i64], gcd: u64) -> usize {
    let (least, greatest) =
        (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
    bits(greatest.wrapping_sub(least).cast_unsigned() / gcd)
}

fn pack(values: impl Iterator<Item = u64>, bits: usize, bytes: &mut Vec<u8>) {
    let (mut word, mut used) = (0_u128, 0);
    for value in values {
        word |= u128::from(value) << used;
        used += bits;
        if used >= 64 {
            bytes.extend((word as u64).to_le_bytes());
            word >>= 64;
            used -= 64;
        }
    }
    let left = (word as u64).to_le_bytes();
    bytes.extend(&left[..used.div_ceil(8)]);
    bytes.extend([0; PAD]);
}

/// Appends blocks, and their jump table. Returns where the table begins.
fn encode_blocks(values: &[i64], block: usize, gcd: u64, bytes: &mut Vec<u8>) -> usize {
    let mut offsets = Vec::new();
    for chunk in values.chunks(block) {
        offsets.push(bytes.len() as u64);
        let least = chunk.iter().min().copied().unwrap_or(0);
        let bits = spread(chunk, gcd);
        bytes.push(bits as u8);
        bytes.extend(least.to_le_bytes());
        if bits > 0 {
            let len = bytes.len();
            bytes.extend([0; 4]);
            pack(chunk.iter().map(|value| value.wrapping_sub(least).cast_unsigned() / gcd), bits, bytes);
            let packed = (bytes.len() - len - 4) as u32;
            bytes[len..len + 4].copy_from_slice(&packed.to_le_bytes());
        }
    }
    let table = bytes.len();
    bytes.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    bytes.extend([0; PAD]);
    table
}

/// An iterator over values. One before the last block begins a new iterator.
#[derive(Clone, Debug)]
pub struct NumberIterator<'n> {
    numbers: &'n Numbers,
    use_jumps: bool,
    block: isize,
    /// The offset of the next block.
    next: usize,
    bits: usize,
    least: i64,
    payload: usize,
    headers: u64,
}

impl NumberIterator<'_> {
    /// Value `index`.
    #[inline]
    pub fn get(&mut self, index: usize) -> i64 {
        let numbers = self.numbers;
        let scaled =
            |least: i64, number: u64| least.wrapping_add(number.wrapping_mul(numbers.gcd).cast_signed());
        match &numbers.form {
            Form::Constant => numbers.least,
            Form::Table { values, bits } => values[numbers.packed(0, *bits, index) as usize],
            Form::Single { bits } => scaled(numbers.least, numbers.packed(0, *bits, index)),
            Form::Blocks { shift, table } => {
                let block = (index >> shift) as isize;
                if block != self.block {
                    self.seek(block, *table);
                }
                if self.bits == 0 {
                    return self.least;
                }
                scaled(self.least, numbers.packed(self.payload, self.bits, index & ((1 << shift) - 1)))
            }
        }
    }

    /// The block headers that were read so far.
    pub fn headers(&self) -> u64 {
        self.headers
    }

    fn seek(&mut self, block: isize, table: usize) {
        if block < self.block {
            (self.block, self.next) = (-1, 0);
        }
        // The next block is found without the table, as in Lucene 8.
        if self.use_jumps && block != self.block + 1 {
            self.next = self.numbers.u64(table + 8 * block as usize) as usize;
            self.block = block - 1;
        }
        while self.block != block {
            self.headers += 1;
            self.bits = self.numbers.bytes[self.next].into();
            self.least = self.numbers.u64(self.next + 1).cast_signed();
            self.payload = self.next + 9;
            self.next = self.payload;
            if self.bits > 0 {
                let len =
                    u32::from_le_bytes(*self.numbers.bytes[self.payload..].first_chunk().expect("inside"));
                self.payload += 4;
                self.next = self.payload + len as usize;
            }
            self.block += 1;
        }
    }
}
