//! How the bytes of packed integers come to lie in lanes.
//!
//! Eight integers of `width` bits take `width` bytes, so every group of eight begins with a byte, and one
//! pattern of a width serves all its groups. All are made by the compiler: a block of 512 integers is unpacked
//! in the time that it takes to make them.

use super::MAX_SPLIT_WIDTH;

/// The widest integers of which a register takes sixteen: wherever one begins in its byte, it ends in the 32
/// bits from there on.
pub(super) const NARROW: u8 = 25;

/// Eight integers of one width, to lanes of 64 bits.
pub(super) struct Eights {
    /// Byte k of lane i is byte k behind the one that integer i begins in: at most 49 + 7.
    pub(super) bytes: [u8; 64],
    /// The same behind the byte that integer i or the one before begins in, whichever is even: a lane of 16
    /// bytes that is loaded from there holds both, the second one's last byte being at most 7 + 8.
    pub(super) pairs: [u8; 64],
    pub(super) shifts: [u64; 8],
}

/// Sixteen integers of one width, to lanes of 32 bits.
pub(super) struct Sixteens {
    /// Byte k of lane i is byte k behind the one that integer i begins in: at most 46 + 3.
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

/// An index into a window, or fewer bits than a byte has.
const fn low_byte(index: usize) -> u8 {
    debug_assert!(index < 64);
    #[expect(clippy::cast_possible_truncation, reason = "below 64")]
    (index as u8)
}
