//! LZ4 blocks: raw sequences, without a frame or a length.

use crate::bytes::{SHORT, append, append_again};

/// The least length of a match.
const MIN_MATCH: usize = 4;

/// Bytes that are reserved before any is there.
const RESERVED: usize = 64 << 10;

/// Appends the `len` bytes of a block to `out`. Matches may reach back into the bytes that are there already: a dictionary.
/// Returns the number of bytes that the block takes, or `None` if it is damaged.
///
/// A block grows by at most 255 times, so a wrong length fails before it takes much memory.
pub(crate) fn decompress(block: &[u8], len: usize, out: &mut Vec<u8>) -> Option<usize> {
    let mut decoder = Decoder::new(block, len, out)?;
    while !decoder.sequence(out)? {}
    Some(decoder.at)
}

/// A block that is decompressed piece by piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decoder<'b> {
    block: &'b [u8],
    /// The next byte of the block.
    at: usize,
    /// Bytes of the output with all of the block.
    end: usize,
}

impl<'b> Decoder<'b> {
    /// As [`decompress`], but nothing is appended before [`read`](Self::read) is called.
    pub(crate) fn new(block: &'b [u8], len: usize, out: &mut Vec<u8>) -> Option<Decoder<'b>> {
        let end = out.len().checked_add(len)?;
        out.reserve(len.min(RESERVED) + SHORT);
        Some(Decoder { block, at: 0, end })
    }

    /// Appends sequences to `out` until it has `until` bytes, or all. Returns whether it has all; `None` if the block is damaged.
    pub(crate) fn read(&mut self, until: usize, out: &mut Vec<u8>) -> Option<bool> {
        while out.len() < until.min(self.end) {
            self.sequence(out)?;
        }
        Some(out.len() == self.end)
    }

    /// Appends a sequence, of which some are left. Returns whether it is the last one.
    #[inline(always)]
    fn sequence(&mut self, out: &mut Vec<u8>) -> Option<bool> {
        let Decoder { block, mut at, end } = *self;
        let token = *block.get(at)?;
        at += 1;
        let literals = length(block, &mut at, token >> 4)?;
        if literals > end - out.len() {
            return None;
        }
        append(out, block.get(at..)?, literals)?;
        at += literals;
        // The last sequence has no match.
        let is_last = out.len() == end;
        if !is_last {
            // Little-endian in every release.
            let distance = usize::from(u16::from_le_bytes(*block.get(at..)?.first_chunk()?));
            at += 2;
            let matched = length(block, &mut at, token & 15)?.checked_add(MIN_MATCH)?;
            let start = out.len().checked_sub(distance).filter(|_| distance > 0)?;
            if matched > end - out.len() {
                return None;
            }
            append_again(out, start, matched)?;
        }
        self.at = at;
        Some(is_last)
    }
}

/// The length that begins with four bits of a token.
fn length(block: &[u8], at: &mut usize, bits: u8) -> Option<usize> {
    let mut len = usize::from(bits);
    if bits == 15 {
        loop {
            let byte = *block.get(*at)?;
            *at += 1;
            len = len.checked_add(byte.into())?;
            if byte < u8::MAX {
                break;
            }
        }
    }
    Some(len)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compresses `bytes`, with matches into `dictionary`, by a search of all places.
    pub(crate) fn compress(dictionary: &[u8], bytes: &[u8]) -> Vec<u8> {
        let all = [dictionary, bytes].concat();
        let (mut out, mut at, mut literals) = (Vec::new(), dictionary.len(), dictionary.len());
        let put_len = |out: &mut Vec<u8>, len: usize| {
            if len >= 15 {
                let left = len - 15;
                out.extend(std::iter::repeat_n(255, left / 255));
                out.push((left % 255) as u8);
            }
        };
        while at < all.len() {
            let len_at =
                |from: usize| (at..all.len()).take_while(|to| all[from + to - at] == all[*to]).count();
            let found = (at.saturating_sub(65_535)..at).map(|from| (len_at(from), from)).max();
            // The last byte is a literal, as the last sequence has no match.
            let found = found.map(|(len, from)| (len.min(all.len() - 1 - at), from));
            let Some((len, from)) = found.filter(|(len, _)| *len >= MIN_MATCH) else {
                at += 1;
                continue;
            };
            let run = &all[literals..at];
            out.push((run.len().min(15) << 4 | (len - MIN_MATCH).min(15)) as u8);
            put_len(&mut out, run.len());
            out.extend_from_slice(run);
            out.extend(((at - from) as u16).to_le_bytes());
            put_len(&mut out, len - MIN_MATCH);
            at += len;
            literals = at;
        }
        let run = &all[literals..];
        out.push((run.len().min(15) << 4) as u8);
        put_len(&mut out, run.len());
        out.extend_from_slice(run);
        out
    }

    proptest! {
        #[test]
        fn bytes_are_decompressed(
            dictionary in prop::collection::vec(0..4_u8, 0..60),
            bytes in prop::collection::vec(0..4_u8, 1..400),
            run in 0..700_usize,
        ) {
            let bytes = [bytes, vec![9; run]].concat();
            let block = compress(&dictionary, &bytes);
            let mut out = dictionary.clone();
            prop_assert_eq!(decompress(&block, bytes.len(), &mut out), Some(block.len()));
            let all = [&dictionary[..], &bytes].concat();
            prop_assert_eq!(&out, &all);
            let mut pieces = dictionary.clone();
            let mut decoder = Decoder::new(&block, bytes.len(), &mut pieces).unwrap();
            for until in (0..all.len() + 9).step_by(9) {
                let has_all = decoder.read(until, &mut pieces).unwrap();
                prop_assert!(pieces.len() >= until.min(all.len()) && has_all == (pieces.len() == all.len()));
                prop_assert!(all.starts_with(&pieces));
            }
        }

        #[test]
        fn any_bytes_end_in_a_bounded_time_and_memory(
            block in prop::collection::vec(any::<u8>(), 0..200), len in 0..100_000_usize,
        ) {
            let mut out = vec![1, 2, 3];
            if decompress(&block, len, &mut out).is_some() {
                prop_assert_eq!(out.len(), len + 3);
            }
            prop_assert!(out.len() <= 3 + 255 * block.len() + 40);
        }
    }

    #[test]
    fn the_bytes_of_lz4() {
        let mut out = Vec::new();
        // Three literals, a match of nine bytes three back, and a last literal.
        assert_eq!(decompress(b"\x35abc\x03\x00\x10d", 13, &mut out), Some(8));
        assert_eq!(out, b"abcabcabcabcd");
        for damaged in
            [&b"\x35abc\x04\x00\x10d"[..], b"\x35abc\x00\x00\x10d", b"\x35abc", b"", b"\xF0\xFF\xFF"]
        {
            assert_eq!(decompress(damaged, 13, &mut Vec::new()), None, "{damaged:?}");
        }
        assert_eq!(decompress(b"\x10d", usize::MAX, &mut Vec::new()), None);
    }
}
