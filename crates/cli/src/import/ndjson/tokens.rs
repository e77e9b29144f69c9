//! The strings, numbers and words of JSON: where they end.

/// A byte in each byte of a word.
const ONES: u64 = u64::MAX / 255;

/// The highest bit of each byte of a word.
const HIGH: u64 = ONES << 7;

/// The end of the string whose first byte after the quote is at `at`: the place of the closing quote, and whether the string
/// has escapes. `None` if it does not end, or has a control character.
#[inline]
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    loop {
        at = special(bytes, at)?;
        match bytes.get(at)? {
            b'"' => return Some((at, has_escapes)),
            b'\\' => (at, has_escapes) = (at + 2, true),
            _ => return None,
        }
    }
}

/// The first quote, backslash or control character from `at` on.
#[inline]
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut rest = bytes.get(at..)?;
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        // The lowest bit that is set is that of the first byte that is 0, or less than a blank.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
        let controls = word.wrapping_sub(ONES * 0x20) & !word;
        let quotes = zeros(word ^ (ONES * 0x22));
        let backslashes = zeros(word ^ (ONES * 0x5c));
        let found = (controls | quotes | backslashes) & HIGH;
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        (rest, at) = (after, at + 8);
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    rest.iter().position(is_special).map(|len| at + len)
}

/// The end of the number that begins at `at`.
#[inline]
pub(super) fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some_digits = |at| Some(digits(at)).filter(|end| *end > at);
    let mut at = at + usize::from(bytes.get(at) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { some_digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at = some_digits(at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-'))))?;
    }
    Some(at)
}
