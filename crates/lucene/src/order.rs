//! The order of bytes: big-endian in segments of Lucene 7 and 8, little-endian in later ones.

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The most significant byte first.
    Big,
    /// The least significant byte first.
    Little,
}

/// Declares a method for each type of numbers.
macro_rules! numbers {
    ($($number:ident)*) => { $(
        #[doc = concat!("The `", stringify!($number), "` at byte `at`, if it lies in `bytes`.")]
        #[inline(always)]
        pub(crate) fn $number(self, bytes: &[u8], at: usize) -> Option<$number> {
            let bytes = *bytes.get(at..)?.first_chunk()?;
            Some(match self {
                Order::Big => $number::from_be_bytes(bytes),
                Order::Little => $number::from_le_bytes(bytes),
            })
        }
    )* };
}

impl Order {
    numbers!(u16 u32 u64 i16 i32 i64);
}
