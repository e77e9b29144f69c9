//! The hash of an id, for the Bloom filter and for fingerprint tables.
//!
//! XXH3 with 64 bits over the id's bytes (not packed), with a seed. Ids come from users: without knowing the seed,
//! nobody can choose ids that all hit one line of a filter. All segments of a store should share a seed, so that a
//! look-up hashes once.

/// The hash of `id`. Frozen: filters in files depend on it.
///
/// O(length); some nanoseconds for a UUID.
///
/// ```
/// use docvalues_terms::hash::hash;
///
/// assert_ne!(hash(b"doc-1", 7), hash(b"doc-1", 8));
/// ```
#[inline]
pub fn hash(id: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(id, seed)
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// Those of `""` and `"a"` without a seed are in the test vectors of xxHash 0.8; the others were frozen here.
    #[test]
    fn hashes_are_the_ones_in_files() {
        let uuid = b"123e4567-e89b-12d3-a456-426614174000";
        let long: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let found =
            [b"" as &[u8], b"a", uuid, &long].map(|id| (hash(id, 0), hash(id, 0x9e37_79b9_7f4a_7c15)));
        assert_eq!(found, FROZEN);
    }

    const FROZEN: [(u64, u64); 4] = [
        (0x2d06_8005_38d3_94c2, 0x602b_0e2c_d666_2c8b),
        (0xe6c6_32b6_1e96_4e1f, 0x7b01_3ec7_3230_c3a1),
        (0x827b_d1a3_caa9_f20c, 0x06a9_ea82_2d1a_5236),
        (0xd33d_d80b_46f6_0e50, 0xc51f_31df_d07c_0b06),
    ];
}
