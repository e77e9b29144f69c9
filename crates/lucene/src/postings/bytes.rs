//! Numbers and byte strings in a slice, front to back. `None` is the end of the slice, or a number that does not end.

/// The rest of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of up to 32 bits, the lowest seven first.
    pub(super) fn vint(&mut self) -> Option<u32> {
        u32::try_from(self.variable(5)?).ok()
    }

    /// A number of up to 63 bits, the lowest seven first.
    pub(super) fn vlong(&mut self) -> Option<u64> {
        self.variable(9)
    }

    fn variable(&mut self, most: u32) -> Option<u64> {
        let mut number = 0;
        for at in 0..most {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7F) << (7 * at);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of up to 63 bits, the highest seven first.
    pub(super) fn msb_vlong(&mut self) -> Option<u64> {
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

    /// A byte string after its length.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let len = self.vint()?;
        self.take(usize::try_from(len).ok()?)
    }
}

/// The number of `len` bytes at `at`, the lowest first; at most eight.
pub(super) fn little(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
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
