//! Byte strings: what they share, their order, and their hexadecimal digits.

/// The length of the common prefix of `a` and `b`, compared eight bytes at a time.
#[inline]
pub fn shared_len(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let words = a.chunks_exact(8).zip(b.chunks_exact(8));
    let equal = words.take_while(|(a, b)| a == b).count() * 8;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

/// The first eight bytes as a big-endian number, padded with zeros. It orders byte strings, but ties if those eight
/// bytes are equal.
#[inline]
pub fn leading(bytes: &[u8]) -> u64 {
    if let Some(&first) = bytes.first_chunk() {
        return u64::from_be_bytes(first);
    }
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The two halves may share bytes, which are equal in both.
        let (first, last) = (u32::from_be_bytes(first), u32::from_be_bytes(last));
        return u64::from(first) << 32 | u64::from(last) << (64 - 8 * bytes.len());
    }
    bytes.iter().rev().fold(0, |number, &byte| number >> 8 | u64::from(byte) << 56)
}

/// The least byte string above all that begin with `prefix`; `None` if none is, as for `\xff\xff`.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// Appends a byte for each pair of hexadecimal digits. Returns `None` for other characters and for half a pair; some
/// bytes may then be appended.
pub fn append_hex(digits: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    for [high, low] in pairs {
        bytes.push(nibble(*high)? << 4 | nibble(*low)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_bytes_are_padded_with_zeros() {
        for len in 0..12 {
            let bytes: Vec<u8> = (1..=len).map(|byte| byte * 23).collect();
            let padded = [&bytes[..], &[0; 8]].concat();
            assert_eq!(leading(&bytes), u64::from_be_bytes(*padded.first_chunk().unwrap()), "{len} bytes");
        }
    }

    #[test]
    fn a_successor_is_above_all_with_the_prefix_and_nothing_between() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(successor(b"\0"), Some(b"\x01".to_vec()));
        assert_eq!(successor(b"\xff\xff"), None);
        assert_eq!(successor(b""), None);
    }

    #[test]
    fn two_hexadecimal_digits_are_a_byte() {
        let bytes = |digits: &[u8]| {
            let mut bytes = vec![7];
            append_hex(digits, &mut bytes).map(|()| bytes)
        };
        assert_eq!(bytes(b""), Some(vec![7]));
        assert_eq!(bytes(b"00fFA9"), Some(vec![7, 0x00, 0xff, 0xa9]));
        assert_eq!([bytes(b"0"), bytes(b"0g"), bytes("é".as_bytes())], [None, None, None]);
    }
}
