//! [`Mixed`]: a fast hash of numbers, for what training counts.

use std::hash::Hasher;

/// A fast hash of numbers. It need not resist attacks, because a sample bounds how many there are.
#[derive(Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (u64::from(number) ^ self.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // The map uses the lowest bits, which multiplication mixes least.
        self.0 = mixed ^ mixed >> 32;
    }

    fn write_u128(&mut self, number: u128) {
        /// The golden ratio in 128 bits.
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let mixed = (number ^ u128::from(self.0)).wrapping_mul(ODD);
        let high = u64::try_from(mixed >> 64).unwrap_or(0);
        self.0 = high ^ high >> 32;
    }
}
