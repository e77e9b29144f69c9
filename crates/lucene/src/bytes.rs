//! Numbers and byte strings in a slice, front to back. `None` is the end of the slice, or a number that does not end.

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
}
