//! Filters an ascending list of documents by a bitmap with a bit for each group of 512 documents.
//!
//! The loop has no branch on a document's bit, which is unpredictable. The bits of 1,024 groups fill two AVX-512
//! registers: there a look-up is a permutation, and sixteen documents are compressed at once. The scalar loop is the
//! reference.

use crate::id::DocId;

/// Documents in a group.
pub const DOCS_PER_GROUP: u32 = 512;

/// Groups that a bitmap covers.
pub const GROUPS: usize = 1024;

/// A bit for each group, the lowest of the first word first.
pub type GroupBits = [u64; GROUPS / 64];

/// Appends to `out` the documents of `list` whose group has its bit set. Document *d* lies in group *d* / 512, modulo
/// 1,024.
///
/// O(list).
pub fn retain(list: &[DocId], open: &GroupBits, out: &mut Vec<DocId>) {
    let before = out.len();
    out.resize(before + list.len(), DocId::new(0));
    let kept = &mut out[before..];
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let (done, count) = x86::retain(list, open, kept);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let (done, count) = (0, 0);
    let count = count + retain_scalar(&list[done..], open, &mut kept[count..]);
    out.truncate(before + count);
}

/// Writes the retained documents to the front of `out`, which is as long as `list`. Returns their number.
fn retain_scalar(list: &[DocId], open: &GroupBits, out: &mut [DocId]) -> usize {
    let mut count = 0;
    for doc in list {
        out[count] = *doc;
        let group = (doc.get() / DOCS_PER_GROUP) as usize % GROUPS;
        count += usize::from(open[group / 64] >> (group % 64) & 1 == 1);
    }
    count
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{DocId, GroupBits};
    use crate::bits::has_avx512;

    const LANES: usize = 16;

    /// Filters as many documents as a kernel can. Returns how many it read, and how many it retained.
    pub(super) fn retain(list: &[DocId], open: &GroupBits, out: &mut [DocId]) -> (usize, usize) {
        // SAFETY: this CPU has every feature that the function is compiled for.
        if has_avx512() { unsafe { avx512(list, open, out) } } else { (0, 0) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn avx512(list: &[DocId], open: &GroupBits, out: &mut [DocId]) -> (usize, usize) {
        let (low, high) = open.split_at(open.len() / 2);
        // SAFETY: eight of the sixteen u64s are 64 bytes.
        let low = unsafe { _mm512_loadu_si512(low.as_ptr().cast()) };
        // SAFETY: as above.
        let high = unsafe { _mm512_loadu_si512(high.as_ptr().cast()) };
        let (bits, one) = (_mm512_set1_epi32(31), _mm512_set1_epi32(1));
        let (groups, _) = list.as_chunks::<LANES>();
        let (mut done, mut count) = (0, 0);
        for group in groups {
            // All sixteen lanes are written, however many are retained.
            let Some(out) = out.get_mut(count..).and_then(|out| out.first_chunk_mut::<LANES>()) else {
                break;
            };
            // SAFETY: sixteen documents, each of which is a u32, are 64 bytes.
            let docs = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            // A word of 32 groups has 16,384 documents. The permutation uses the five lowest bits of the word's
            // number.
            let words = _mm512_permutex2var_epi32(low, _mm512_srli_epi32::<14>(docs), high);
            let places = _mm512_and_si512(_mm512_srli_epi32::<9>(docs), bits);
            let is_open = _mm512_test_epi32_mask(_mm512_srlv_epi32(words, places), one);
            let kept = _mm512_maskz_compress_epi32(is_open, docs);
            // SAFETY: `out` is sixteen documents, as above.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), kept) };
            count += is_open.count_ones() as usize;
            done += LANES;
        }
        (done, count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn retained_documents_lie_in_open_groups(
            docs in prop::collection::vec(prop_oneof![0_u32..3_000_000, any::<u32>()], 0..300),
            open in any::<GroupBits>(),
            more in any::<GroupBits>(),
            before in 0_usize..3,
        ) {
            for open in [open, std::array::from_fn(|i| open[i] | more[i]), [0; 16], [u64::MAX; 16]] {
                let list: Vec<DocId> = docs.iter().copied().map(DocId::new).collect();
                let mut kept = vec![DocId::new(7); before];
                retain(&list, &open, &mut kept);
                let is_open = |doc: &&DocId| {
                    let group = doc.get() / 512 % 1024;
                    open[group as usize / 64] >> (group % 64) & 1 == 1
                };
                let expected = std::iter::repeat_n(DocId::new(7), before).chain(list.iter().filter(is_open).copied());
                prop_assert!(kept.into_iter().eq(expected));
            }
        }
    }
}
