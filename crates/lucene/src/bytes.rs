//! Numbers and byte strings in a slice, front to back. `None` is the end of the slice, or a number that does not end.

/// Bytes that are copied together.
pub(crate) const SHORT: usize = 16;

/// Appends the first `len` of `bytes`; `None` if there are fewer. Up to [`SHORT`] are copied as so many, if they are there,
/// because a copy of a known length takes no call.
#[inline(always)]
pub(crate) fn append(out: &mut Vec<u8>, bytes: &[u8], len: usize) -> Option<()> {
    match bytes.first_chunk::<SHORT>() {
        Some(short) if len <= SHORT => {
            let end = out.len() + len;
            out.extend_from_slice(short);
            out.truncate(end);
        }
        _ => out.extend_from_slice(bytes.get(..len)?),
    }
    Some(())
}

/// As [`append`], of `len` bytes of `out` from byte `start` on, which may overlap what it appends.
#[inline(always)]
pub(crate) fn append_again(out: &mut Vec<u8>, start: usize, len: usize) -> Option<()> {
    let there = out.get(start..).filter(|there| !there.is_empty())?;
    if let Some(short) = there.first_chunk::<SHORT>().copied().filter(|_| len <= SHORT) {
        return append(out, &short, len);
    }
    // Each round copies as much as is there.
    let mut left = len;
    while left > 0 {
        let here = left.min(out.len() - start);
        out.extend_from_within(start..start + here);
        left -= here;
    }
    Some(())
}

/// The rest of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        self.0.split_off(..len)
    }

    /// A number of up to 32 bits, the lowest seven first.
    #[inline]
    pub(crate) fn vint(&mut self) -> Option<u32> {
        u32::try_from(variable(5, || self.u8())?).ok()
    }

    /// A number of up to 63 bits, the lowest seven first.
    pub(crate) fn vlong(&mut self) -> Option<u64> {
        variable(9, || self.u8())
    }

    /// A number of up to 63 bits, the highest seven first.
    pub(crate) fn msb_vlong(&mut self) -> Option<u64> {
        let mut number = 0;
        for _ in 0..9 {
            let byte = self.u8()?;
            number = number << 7 | u64::from(byte & 0x7F);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A length, as a number of up to 32 bits.
    #[inline]
    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.vint()?).ok()
    }

    /// A byte string after its length.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let len = self.length()?;
        self.take(len)
    }
}

/// A number of up to `most` bytes that `next` returns, the lowest seven bits first.
#[inline]
pub(crate) fn variable(most: u32, mut next: impl FnMut() -> Option<u8>) -> Option<u64> {
    let mut number = 0;
    for at in 0..most {
        let byte = next()?;
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The number of `len` bytes at `at`, the lowest first; at most eight.
pub(crate) fn little(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.get(..len)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        let mut bytes = Bytes(&[0x80, 0x01, 0x81, 0x00, 2, 7, 8, 9]);
        assert_eq!((bytes.vint(), bytes.msb_vlong()), (Some(128), Some(128)));
        assert_eq!((bytes.string(), bytes.u8(), bytes.u8()), (Some(&[7, 8][..]), Some(9), None));
        assert_eq!(Bytes(&[0xFF; 12]).vlong(), None);
        assert_eq!(Bytes(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]).vint(), None);
        assert_eq!((little(&[1, 2, 3], 1, 2), little(&[1, 2, 3], 2, 2)), (Some(0x0302), None));
    }

    #[test]
    fn bytes_are_appended() {
        let bytes: Vec<u8> = (0..40).collect();
        for count in 0..bytes.len() {
            for len in 0..bytes.len() {
                let mut out = vec![99];
                let is_there = append(&mut out, &bytes[..count], len).is_some();
                assert_eq!(is_there, len <= count);
                let expected = if is_there { &bytes[..len] } else { &[] };
                assert_eq!(&out[1..], expected);
                // Bytes that overlap what they append repeat.
                let mut out = bytes.clone();
                assert!(append_again(&mut out, count, len).is_some());
                let expected: Vec<u8> = bytes[count..].iter().cycle().take(len).copied().collect();
                assert_eq!(out[bytes.len()..], expected);
            }
        }
        assert_eq!(append_again(&mut vec![1], 1, 1), None);
        assert_eq!(append_again(&mut vec![1], 2, 0), None);
    }
}
