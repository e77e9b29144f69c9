//! Reproducible random numbers, the same on every machine and in every language.

/// SplitMix64 (Steele, Lea and Flood, 2014): a 64-bit state, any seed, five lines in any language.
///
/// # Examples
///
/// ```
/// use docvalues_testkit::rng::SplitMix64;
///
/// // The published first output for the seed 0.
/// assert_eq!(SplitMix64::new(0).next_u64(), 0xE220_A839_7B1D_CDAF);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with the seed `seed`.
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// A generator whose seed is a hash of `name`.
    pub fn named(name: &str) -> SplitMix64 {
        let seed = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        SplitMix64(seed)
    }

    /// 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random `i64`, uniformly distributed.
    pub const fn next_i64(&mut self) -> i64 {
        self.next_u64().cast_signed()
    }

    /// A number below `end`; 0 if `end` is 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        ((self.next_u64() as u128 * end as u128) >> 64) as u64
    }

    /// A `u32` below `end`; 0 if `end` is 0.
    pub const fn below_u32(&mut self, end: u32) -> u32 {
        self.below(end as u64) as u32
    }

    /// A place in a slice of `len` items; 0 if there are none.
    pub const fn place(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// `true` with probability `hits / of`.
    pub const fn chance(&mut self, hits: u64, of: u64) -> bool {
        self.below(of) < hits
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.place(items.len())]
    }

    /// Shuffles `items` (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            items.swap(end - 1, self.place(end));
        }
    }
}
