//! [`shard_of`]: which of several stores has a document.

use docvalues_terms::hash::hash;

/// The store that has the document `id`, of `shards` stores: a number below `shards`. O(length).
///
/// The same id has the same shard in every version: `floor(XXH3_64(id) * shards / 2^64)`, with seed 0. Each shard gets as
/// many ids as the others, but for chance. With another number of shards, most ids move. 0 if there are no shards.
///
/// ```
/// use docvalues_store::shard_of;
///
/// assert_eq!(shard_of(b"123e4567-e89b-12d3-a456-426614174000", 10), 5);
/// assert!((0..1_000_u32).all(|id| shard_of(&id.to_le_bytes(), 7) < 7));
/// ```
pub fn shard_of(id: &[u8], shards: u32) -> u32 {
    let scaled = (u128::from(hash(id, 0)) * u128::from(shards)) >> 64;
    // Below `shards`.
    u32::try_from(scaled).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::shard_of;

    #[test]
    fn shards_never_change() {
        let shards: Vec<u32> = [b"" as &[u8], b"a", b"doc-1"].map(|id| shard_of(id, 1_000)).to_vec();
        // 0x2d06_8005_38d3_94c2 and 0xe6c6_32b6_1e96_4e1f of 2^64: see `docvalues_terms::hash`.
        assert_eq!(shards[..2], [175, 901]);
        let ids = (0..10_000_u32).map(|id| shard_of(&id.to_le_bytes(), 10));
        let mut counts = [0_u32; 10];
        ids.for_each(|shard| counts[shard as usize] += 1);
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
        assert_eq!((shard_of(b"a", 1), shard_of(b"a", 0)), (0, 0));
    }
}
