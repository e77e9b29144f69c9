//! The place of a key between the least and the greatest key, as a bucket and a head.
//!
//! ```text
//! key       3f 9a c1 | 52 07 e8 11 9d 30 44 b6 | 7e ...
//!           prefix     window: a number of eight bytes
//!
//! place   = (window - least window) * factor / 2^64           below 256 * buckets
//! bucket  = place / 256       head = place % 256
//! factor  = buckets * 2^72 / (greatest window - least window + 1), at most 2^64 - 1
//! ```
//!
//! The *prefix* is what the least and the greatest key have in common, so all keys begin with it. A window that ends
//! after its key continues with zeros. Places ascend with the keys, up to ties.

use std::cmp::Ordering;

use docvalues_format::strings::{leading, shared_len};

/// The most bytes of a key.
pub const MAX_LEN: usize = 32;

/// Keys in each bucket, on average.
pub const BUCKET_KEYS: u32 = 8;

/// The number of buckets of `count` keys.
pub(super) fn buckets(count: u32) -> u32 {
    count.div_ceil(BUCKET_KEYS)
}

/// Maps keys to buckets and heads.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// The window of the least key.
    base: u64,
    /// The window of the greatest key, less `base`.
    span: u64,
    factor: u64,
    /// Bytes of each key.
    len: u8,
    prefix_len: u8,
    prefix: [u8; MAX_LEN],
}

impl Scale {
    /// The scale of `count` keys from `least` to `greatest`; `None` unless both have one length, of 1 to [`MAX_LEN`]
    /// bytes.
    pub(super) fn new(least: &[u8], greatest: &[u8], count: u32) -> Option<Scale> {
        let len = u8::try_from(least.len()).ok().filter(|len| (1..=MAX_LEN).contains(&usize::from(*len)))?;
        if greatest.len() != least.len() || least > greatest {
            return None;
        }
        let shared = shared_len(least, greatest);
        let mut prefix = [0; MAX_LEN];
        prefix[..shared].copy_from_slice(&least[..shared]);
        let base = leading(&least[shared..]);
        let span = leading(&greatest[shared..]).checked_sub(base)?;
        let factor = (u128::from(buckets(count)) << 72) / (u128::from(span) + 1);
        let factor = u64::try_from(factor).unwrap_or(u64::MAX);
        Some(Scale { base, span, factor, len, prefix_len: u8::try_from(shared).ok()?, prefix })
    }

    /// Bytes of each key.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len.into()
    }

    /// The bucket of a key or of any other bytes, and the head. Fails with the order of `key` and all keys, if it is
    /// not between the least and the greatest one.
    #[inline]
    pub(super) fn place(&self, key: &[u8]) -> Result<(u32, u8), Ordering> {
        let prefix = &self.prefix[..usize::from(self.prefix_len).min(MAX_LEN)];
        let (start, rest) = key.split_at(prefix.len().min(key.len()));
        match start.cmp(prefix) {
            Ordering::Equal => {}
            order => return Err(order),
        }
        let window = leading(rest);
        let Some(distance) = window.checked_sub(self.base) else { return Err(Ordering::Less) };
        if distance > self.span {
            return Err(Ordering::Greater);
        }
        // Below `256 * buckets`, because the distance is at most the span.
        let place = (u128::from(distance) * u128::from(self.factor)) >> 64;
        let [head, bucket @ .., _, _, _, _, _, _, _, _, _, _, _] = place.to_le_bytes();
        Ok((u32::from_le_bytes(bucket), head))
    }
}
