//! Shuffle patterns that move the bytes of packed integers to vector lanes.
//!
//! Eight integers of `width` bits occupy `width` bytes, so every group of eight begins at a whole byte, and one pattern
//! serves all groups of a width. The patterns are computed at compile time, because computing one takes as long as
//! unpacking a block of 512 integers.

use super::MAX_SPLIT_WIDTH;

/// The widest integer that fits a 32-bit lane, whichever bit of a byte it begins at: 7 + 25 bits.
pub(super) const NARROW: u8 = 25;

/// The pattern that moves eight integers of one width to 64-bit lanes.
pub(super) struct Eights {
    /// Byte k of lane i is byte k of the eight from the one where integer i begins: at most 49 + 7.
    pub(super) bytes: [u8; 64],
    /// The same, counted from the first byte of the pair of integers that i belongs to. A 16-byte lane loaded from
    /// there holds both, as the last byte of the second is at most 7 + 8.
    pub(super) pairs: [u8; 64],
    pub(super) shifts: [u64; 8],
}

/// The pattern that moves sixteen integers of one width to 32-bit lanes.
pub(super) struct Sixteens {
    /// Byte k of lane i is byte k of the four from the one where integer i begins: at most 46 + 3.
    pub(super) bytes: [u8; 64],
    pub(super) shifts: [u32; 16],
}

/// By width.
pub(super) static EIGHTS: [Eights; MAX_SPLIT_WIDTH as usize + 1] = {
    const NONE: Eights = Eights { bytes: [0; 64], pairs: [0; 64], shifts: [0; 8] };
    let mut patterns = [NONE; MAX_SPLIT_WIDTH as usize + 1];
    let mut bits = 0;
    while bits < patterns.len() {
        let mut at = 0;
        while at < 64 {
            let byte = at / 8 * bits / 8 + at % 8;
            patterns[bits].bytes[at] = low_byte(byte);
            patterns[bits].pairs[at] = low_byte(byte - at / 16 * 2 * bits / 8);
            patterns[bits].shifts[at / 8] = (at / 8 * bits % 8) as u64;
            at += 1;
        }
        bits += 1;
    }
    patterns
};

/// By width, up to [`NARROW`].
pub(super) static SIXTEENS: [Sixteens; NARROW as usize + 1] = {
    const NONE: Sixteens = Sixteens { bytes: [0; 64], shifts: [0; 16] };
    let mut patterns = [NONE; NARROW as usize + 1];
    let mut bits = 0;
    while bits < patterns.len() {
        let mut at = 0;
        while at < 64 {
            let lane = at / 4;
            patterns[bits].bytes[at] = low_byte(lane * bits / 8 + at % 4);
            patterns[bits].shifts[lane] = low_byte(lane * bits % 8) as u32;
            at += 1;
        }
        bits += 1;
    }
    patterns
};

/// Narrows an index into a window, or a bit offset, to a byte.
const fn low_byte(index: usize) -> u8 {
    debug_assert!(index < 64);
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    (index as u8)
}
