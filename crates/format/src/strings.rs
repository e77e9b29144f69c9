//! Byte strings: what they share, and their order.

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
    let mut first = [0; size_of::<u64>()];
    first[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(first)
}

/// The least byte string above all that begin with `prefix`; `None` if none is, as for `\xff\xff`.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_is_above_all_with_the_prefix_and_nothing_between() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(successor(b"\0"), Some(b"\x01".to_vec()));
        assert_eq!(successor(b"\xff\xff"), None);
        assert_eq!(successor(b""), None);
    }
}
