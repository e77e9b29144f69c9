//! Conversion between characters and bits.
//!
//! Hex digits are converted eight at a time in a 64-bit register (SWAR).

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::{Kind, MAX_CHARS, MAX_DIGITS, UUID_CHARS};

/// Room for all packed bytes, and for those that are written beyond them.
type Out = [u8; MAX_CHARS + 1];

const ONES: u64 = 0x0101_0101_0101_0101;

/// Converts eight hex digits to four bytes in the same order; the first digit is the lowest byte of `chars`. The
/// second result is 0 if all are hex digits. `LETTERS` is the gap between the character after 9 and the letter for
/// ten.
#[inline(always)]
fn hex8<const LETTERS: u64>(chars: u64) -> (u64, u64) {
    // Letters have this bit, digits do not.
    let letters = chars >> 6 & ONES;
    let nibbles = (chars & (0x0f * ONES)) + 9 * letters;
    // Converting back must reproduce the characters.
    let above_nine = (nibbles + 0x76 * ONES) >> 7 & ONES;
    let again = nibbles + 0x30 * ONES + LETTERS * above_nine;
    let wrong = (again ^ chars) | nibbles & (0xf0 * ONES);
    let pairs = (nibbles << 4 | nibbles >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    ((fours | fours >> 16) & 0xffff_ffff, wrong)
}

/// Packs a UUID.
#[inline]
pub(super) fn uuid(chars: &[u8; UUID_CHARS], out: &mut [u8; 16]) -> Option<()> {
    let four = |at: usize| u64::from(LittleEndian::read_u32(&chars[at..]));
    let eight = |at: usize| LittleEndian::read_u64(&chars[at..]);
    let (a, wrong_a) = hex8::<0x27>(eight(0));
    let (b, wrong_b) = hex8::<0x27>(four(9) | four(14) << 32);
    let (c, wrong_c) = hex8::<0x27>(four(19) | four(24) << 32);
    let (d, wrong_d) = hex8::<0x27>(eight(28));
    let dashes = (chars[8] ^ b'-') | (chars[13] ^ b'-') | (chars[18] ^ b'-') | (chars[23] ^ b'-');
    LittleEndian::write_u64(&mut out[..8], a | b << 32);
    LittleEndian::write_u64(&mut out[8..], c | d << 32);
    (wrong_a | wrong_b | wrong_c | wrong_d | u64::from(dashes) == 0).then_some(())
}

/// The text of a UUID's bytes.
pub(super) fn uuid_chars(packed: &[u8], id: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in packed.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            id.push(b'-');
        }
        id.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Packs hex digits.
#[inline]
pub(super) fn hex<const LETTERS: u64>(chars: &[u8], out: &mut Out) -> Option<()> {
    let mut at = 0;
    for chars in chars.chunks(8) {
        // The last group is padded with zeros, which are packed to zeros.
        let mut eight = [b'0'; 8];
        eight[..chars.len()].copy_from_slice(chars);
        let (bytes, wrong) = hex8::<LETTERS>(u64::from_le_bytes(eight));
        let four = out.get_mut(at..at + 4)?;
        LittleEndian::write_u32(four, u32::try_from(bytes).ok().filter(|_| wrong == 0)?);
        at += 4;
    }
    Some(())
}

/// The position of each byte in the alphabet of base64url in ASCII order; 255 for other bytes.
const RANKS: [u8; 256] = {
    let (mut ranks, alphabet) = ([u8::MAX; 256], Kind::Base64Url.alphabet());
    let mut rank = 0_u8;
    while (rank as usize) < alphabet.len() {
        ranks[alphabet[rank as usize] as usize] = rank;
        rank += 1;
    }
    ranks
};

/// Packs base64url.
#[inline]
pub(super) fn base64(chars: &[u8], out: &mut Out) -> Option<()> {
    let (mut at, mut seen) = (0, 0);
    for chars in chars.chunks(4) {
        let mut word = 0;
        for (i, &char) in chars.iter().enumerate() {
            let rank = RANKS[usize::from(char)];
            seen |= rank;
            word |= u32::from(rank) << (26 - 6 * i);
        }
        BigEndian::write_u32(out.get_mut(at..at + 4)?, word);
        at += 3;
    }
    (seen < 64).then_some(())
}

/// Appends `len` characters of `bits` bits each. `None` if bits after them are set.
pub(super) fn bit_chars(
    packed: &[u8],
    bits: u32,
    len: usize,
    alphabet: &[u8],
    id: &mut Vec<u8>,
) -> Option<()> {
    let (mut held, mut have) = (0_u32, 0);
    let mut bytes = packed.iter();
    for _ in 0..len {
        if have < bits {
            held = held << 8 | u32::from(*bytes.next()?);
            have += 8;
        }
        have -= bits;
        id.push(*alphabet.get((held >> have) as usize)?);
        held &= (1 << have) - 1;
    }
    (held == 0 && bytes.len() == 0).then_some(())
}

/// Bytes of the number of `len` nines.
pub(super) fn digits_len(len: usize) -> usize {
    let above = 10_u128.checked_pow(u32::try_from(len).unwrap_or(u32::MAX));
    above.map_or(16, |above| (128 - (above - 1).leading_zeros()).div_ceil(8) as usize)
}

/// Packs digits.
#[inline]
pub(super) fn digits(chars: &[u8], out: &mut Out) -> Option<()> {
    let (mut number, mut wrong) = (0_u128, false);
    // 19 digits fit 64 bits, and 64-bit arithmetic is faster.
    for chars in chars.rchunks(19).rev() {
        let mut part = 0_u64;
        for char in chars {
            let digit = char.wrapping_sub(b'0');
            wrong |= digit > 9;
            part = part.wrapping_mul(10).wrapping_add(digit.into());
        }
        number = number.wrapping_mul(10_u128.pow(19)).wrapping_add(part.into());
    }
    let skipped = 16 - digits_len(chars.len());
    let bytes = number.to_be_bytes();
    out.first_chunk_mut::<16>()?[..16 - skipped].copy_from_slice(&bytes[skipped..]);
    (!wrong && chars.len() <= MAX_DIGITS).then_some(())
}

/// Appends the `len` digits of a number. `None` if it has more.
pub(super) fn digit_chars(packed: &[u8], len: usize, id: &mut Vec<u8>) -> Option<()> {
    let mut number = packed.iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
    let start = id.len();
    id.resize(start + len, b'0');
    for char in id[start..].iter_mut().rev() {
        *char += (number % 10) as u8;
        number /= 10;
    }
    (number == 0).then_some(())
}
