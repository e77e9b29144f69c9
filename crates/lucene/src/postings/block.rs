//! Blocks of terms: a term is looked for among suffixes, and then what is known of its documents is decoded.

use std::borrow::Cow;

use crate::bytes::Bytes;
use crate::dictionary::MAX_TERM;
use crate::lz4;

/// The most entries of a block; Lucene has 48 unless it is told otherwise.
const MOST_ENTRIES: u32 = 1 << 16;

/// The most bytes of an entry's length and of the place of the block below it.
const MOST_LENGTHS: u32 = 5 + 9;

/// How blocks are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether suffixes, which may be compressed, and their lengths are apart.
    pub(super) has_suffix_areas: bool,
    /// Whether counts of documents, and single documents, have runs.
    pub(super) has_runs: (bool, bool),
    /// Whether terms of many documents have the place of a skip list.
    pub(super) has_skips: bool,
    /// Documents of a block of postings.
    pub(super) block: u32,
    pub(super) options: u8,
    pub(super) has_payloads: bool,
}

/// The documents of a term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// How many there are.
    pub(super) docs: u32,
    /// The place of their list in `.doc`.
    pub(super) pointer: u64,
    /// The document, if there is only one.
    pub(super) singleton: Option<u32>,
}

/// Looks for the term with this suffix in the block at the beginning of `bytes`. The outer `None` is damage.
pub(super) fn find(mut bytes: Bytes<'_>, wanted: &[u8], style: &Style) -> Option<Option<Found>> {
    let entries = bytes.vint()? >> 1;
    if entries > MOST_ENTRIES {
        return None;
    }
    let (area, lens);
    let (is_leaf, lengths, suffixes) = if style.has_suffix_areas {
        let code = bytes.vlong()?;
        area = suffixes(&mut bytes, code, entries)?;
        lens = lengths(&mut bytes, entries)?;
        (code & 4 == 4, &lens[..], Some(Bytes(&area)))
    } else {
        // Each suffix comes after its length.
        let code = bytes.vint()?;
        (code & 1 == 1, bytes.take(usize::try_from(code >> 1).ok()?)?, None)
    };
    let place = place_of(wanted, entries, is_leaf, (Bytes(lengths), suffixes))?;
    let (stats, meta) = (bytes.string()?, bytes.string()?);
    match place {
        Some(place) => documents(Bytes(stats), Bytes(meta), place, style).map(Some),
        None => Some(None),
    }
}

/// The suffixes of a block from Lucene 8.5 on, side by side. The lowest bits of `code` say how they are compressed.
fn suffixes<'a>(bytes: &mut Bytes<'a>, code: u64, entries: u32) -> Option<Cow<'a, [u8]>> {
    let len = usize::try_from(code >> 3).ok()?;
    if len > usize::try_from(entries).ok()?.saturating_mul(MAX_TERM) {
        return None;
    }
    Some(match code & 3 {
        0 => bytes.take(len)?.into(),
        1 => lowercase(bytes, len)?.into(),
        2 => {
            let mut out = Vec::new();
            let taken = lz4::decompress(bytes.0, len, &mut out)?;
            bytes.take(taken)?;
            out.into()
        }
        _ => return None,
    })
}

/// The place among the terms of a block of the one with this suffix.
fn place_of(
    wanted: &[u8],
    entries: u32,
    is_leaf: bool,
    (mut lengths, mut suffixes): (Bytes<'_>, Option<Bytes<'_>>),
) -> Option<Option<u32>> {
    let mut terms = 0;
    for _ in 0..entries {
        let code = lengths.vint()?;
        let (len, is_block) = if is_leaf { (code, false) } else { (code >> 1, code & 1 == 1) };
        let len = usize::try_from(len).ok()?;
        let suffix = match &mut suffixes {
            Some(suffixes) => suffixes.take(len)?,
            None => lengths.take(len)?,
        };
        if is_block {
            lengths.vlong()?;
        } else if suffix == wanted {
            return Some(Some(terms));
        } else {
            terms += 1;
        }
    }
    Some(None)
}

/// The lengths of suffixes, and places of blocks below: their bytes, or one that is repeated.
fn lengths<'a>(bytes: &mut Bytes<'a>, entries: u32) -> Option<Cow<'a, [u8]>> {
    let code = bytes.vint()?;
    let len = usize::try_from(code >> 1).ok()?;
    if code & 1 == 0 {
        return Some(bytes.take(len)?.into());
    }
    let is_right = code >> 1 <= MOST_LENGTHS * entries;
    if is_right { Some(vec![bytes.u8()?; len].into()) } else { None }
}

/// Takes `len` bytes that are mostly lower-case letters, six bits each.
fn lowercase(bytes: &mut Bytes<'_>, len: usize) -> Option<Vec<u8>> {
    let (saved, packed) = (len / 4, bytes.take(len - len / 4)?);
    let mut codes: Vec<u8> = packed.iter().map(|byte| byte & 0x3F).collect();
    for at in 0..saved {
        let top = |place: usize| packed.get(place).map(|byte| byte >> 6);
        codes.push(top(at)? << 4 | top(saved + at)? << 2 | top(2 * saved + at)?);
    }
    let mut out: Vec<u8> =
        codes.iter().map(|code| ((code & 0x1F) | 0x20 | ((code & 0x20) << 1)).wrapping_sub(1)).collect();
    let mut at = 0_usize;
    for _ in 0..bytes.vint()? {
        at = at.checked_add(bytes.u8()?.into())?;
        *out.get_mut(at)? = bytes.u8()?;
    }
    Some(out)
}

/// Decodes the documents of the term at `place`, after those of the terms before it.
fn documents(mut stats: Bytes<'_>, mut meta: Bytes<'_>, place: u32, style: &Style) -> Option<Found> {
    let (mut run, mut found) = (0, Found { docs: 0, pointer: 0, singleton: None });
    for _ in 0..=place {
        let total;
        (found.docs, total) = counts(&mut stats, &mut run, style)?;
        if found.docs == 0 {
            return None;
        }
        metadata(&mut meta, &mut found, total, style)?;
    }
    Some(found)
}

/// How many documents have a term, and how often it occurs.
fn counts(stats: &mut Bytes<'_>, run: &mut u32, style: &Style) -> Option<(u32, u64)> {
    let has_freqs = style.options != 1;
    let docs = if !style.has_runs.0 {
        stats.vint()?
    } else if *run > 0 {
        *run -= 1;
        return Some((1, 1));
    } else {
        let token = stats.vint()?;
        if token & 1 == 1 {
            *run = token >> 1;
            return Some((1, 1));
        }
        token >> 1
    };
    let more = if has_freqs { stats.vlong()? } else { 0 };
    Some((docs, u64::from(docs) + more))
}

/// Takes where the documents of a term are; `found` has those of the term before it.
fn metadata(meta: &mut Bytes<'_>, found: &mut Found, total: u64, style: &Style) -> Option<()> {
    let code = meta.vlong()?;
    if !style.has_runs.1 {
        found.pointer = found.pointer.checked_add(code)?;
    } else if code & 1 == 0 {
        found.pointer = found.pointer.checked_add(code >> 1)?;
        found.singleton = if found.docs == 1 { Some(meta.vint()?) } else { None };
    } else if found.docs == 1 {
        // The document of the term before, and a difference.
        let code = code >> 1;
        let difference = (code >> 1).cast_signed() ^ -(code & 1).cast_signed();
        let doc = i64::from(found.singleton?).checked_add(difference)?;
        found.singleton = Some(u32::try_from(doc).ok()?);
    } else {
        return None;
    }
    let (has_positions, has_offsets) = (style.options == 3 || style.options == 4, style.options == 4);
    if has_positions {
        meta.vlong()?;
        if has_offsets || style.has_payloads {
            meta.vlong()?;
        }
    }
    if !style.has_runs.1 {
        found.singleton = if found.docs == 1 { Some(meta.vint()?) } else { None };
    }
    if has_positions && total > style.block.into() {
        meta.vlong()?;
    }
    if style.has_skips && found.docs > style.block {
        meta.vlong()?;
    }
    Some(())
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;

    const NEW: Style = Style {
        has_suffix_areas: true,
        has_runs: (true, true),
        has_skips: false,
        block: 128,
        options: 1,
        has_payloads: false,
    };

    fn string(bytes: &[u8]) -> Vec<u8> {
        [&[bytes.len() as u8], bytes].concat()
    }

    #[test]
    fn terms_of_a_leaf_are_found() {
        // "a", "bb" and "c": documents 5, 9 and 11, the first two in a run, and "d" of three documents at 40.
        let suffixes = [&[4 << 1, 5 << 3 | 4][..], b"abbcd", &[4 << 1, 1, 2, 1, 1]].concat();
        let stats = string(&[1 << 1 | 1, 1, 3 << 1]);
        let meta = string(&[0, 5, (8 << 1) | 1, (4 << 1) | 1, 40 << 1]);
        let block = [suffixes, stats, meta].concat();
        let of = |term: &[u8]| find(Bytes(&block), term, &NEW).unwrap();
        let single = |doc| Some(Found { docs: 1, pointer: 0, singleton: Some(doc) });
        assert_eq!((of(b"a"), of(b"bb"), of(b"c")), (single(5), single(9), single(11)));
        assert_eq!(of(b"d"), Some(Found { docs: 3, pointer: 40, singleton: None }));
        assert_eq!((of(b"b"), of(b""), of(b"e")), (None, None, None));
        for at in 0..block.len() {
            for byte in [0, 1, 2, 3, 0x7F, 0x80, 0xFF] {
                let mut damaged = block.clone();
                damaged[at] = byte;
                let _ = find(Bytes(&damaged), b"d", &NEW);
            }
        }
    }

    #[test]
    fn terms_have_documents_and_only_single_ones_are_differences() {
        // "a" in document 5, and "b" in some with this code.
        let of = |docs: u8, code: u8| {
            let suffixes = [&[2 << 1, 2 << 3 | 4][..], b"ab", &[2 << 1, 1, 1]].concat();
            let block = [suffixes, string(&[1 << 1, docs << 1]), string(&[0, 5, code])].concat();
            find(Bytes(&block), b"b", &NEW)
        };
        assert_eq!(of(1, 2 << 1 | 1), Some(Some(Found { docs: 1, pointer: 0, singleton: Some(6) })));
        assert_eq!(of(3, 4 << 1), Some(Some(Found { docs: 3, pointer: 4, singleton: None })));
        assert_eq!((of(3, 2 << 1 | 1), of(0, 4 << 1)), (None, None));
    }

    #[test]
    fn suffixes_are_as_long_as_those_of_lucene() {
        // LZ4 of zeros for two terms: a literal, a match of the others but the last, and that one.
        for len in [2 * MAX_TERM, 2 * MAX_TERM + 1] {
            let mut block = vec![2 << 1];
            let mut code = len << 3 | 4 | 2;
            while code >= 0x80 {
                block.push(code as u8 | 0x80);
                code >>= 7;
            }
            let matched = len - 2 - 4 - 15;
            block.extend([code as u8, 0x1F, 0, 1, 0]);
            block.extend(std::iter::repeat_n(0xFF, matched / 255));
            // Both suffixes have no byte, and neither have counts and documents.
            block.extend([(matched % 255) as u8, 0x10, 0, 2 << 1 | 1, 0, 0, 0]);
            assert_eq!(find(Bytes(&block), b"none", &NEW), (len == 2 * MAX_TERM).then_some(None));
        }
    }

    #[test]
    fn lengths_that_are_the_same_are_one_byte() {
        let block = |len: u32, byte: u8| {
            let mut block = vec![2 << 1, 4 << 3 | 4, b'a', b'b', b'c', b'd'];
            let mut code = len << 1 | 1;
            while code >= 0x80 {
                block.push(code as u8 | 0x80);
                code >>= 7;
            }
            block.extend([code as u8, byte]);
            [block, string(&[2 << 1 | 1]), string(&[0, 5, (4 << 1) << 1 | 1])].concat()
        };
        let of = |len, byte, term: &[u8]| find(Bytes(&block(len, byte)), term, &NEW);
        let found = of(2, 2, b"cd").unwrap().unwrap();
        assert_eq!((found.docs, found.singleton), (1, Some(9)));
        assert_eq!(of(2, 2, b"bc"), Some(None));
        // Longer than the block, without an end, too few, and more than any entries have.
        assert_eq!((of(2, 3, b"x"), of(2, 0x80, b"x"), of(1, 2, b"x")), (None, None, None));
        assert_eq!((of(29, 2, b"x"), of(u32::MAX >> 2, 2, b"x")), (None, None));
    }

    #[test]
    fn blocks_below_are_no_terms() {
        // A term "a", a block below "b", and a term "c", with positions and frequencies.
        let suffixes = [&[3 << 1, 3 << 3][..], b"abc", &[4 << 1, 1 << 1, 1 << 1 | 1, 9, 1 << 1]].concat();
        let stats = string(&[1 << 1, 2, 1 << 1, 44]);
        let meta = string(&[0, 5, 1, 2 << 1, 7, 3]);
        let block = [suffixes, stats, meta].concat();
        let style = Style { options: 3, ..NEW };
        let found = find(Bytes(&block), b"c", &style).unwrap().unwrap();
        assert_eq!((found.singleton, found.pointer), (Some(7), 2));
        assert_eq!(find(Bytes(&block), b"b", &style), Some(None));
    }

    #[test]
    fn blocks_of_early_releases_are_read() {
        // "a" and "b", which have documents 5 and 9, at the places 0 and 4 that are not used.
        let suffixes = [&[2 << 1, 4 << 1 | 1][..], &[1, b'a', 1, b'b']].concat();
        let block = [suffixes, string(&[1, 1]), string(&[0, 5, 4, 9])].concat();
        let style = Style { has_suffix_areas: false, has_runs: (false, false), has_skips: true, ..NEW };
        let of = |term: &[u8]| find(Bytes(&block), term, &style).unwrap();
        assert_eq!(of(b"a"), Some(Found { docs: 1, pointer: 0, singleton: Some(5) }));
        assert_eq!(of(b"b"), Some(Found { docs: 1, pointer: 4, singleton: Some(9) }));
        assert_eq!(of(b"c"), None);
    }

    #[test]
    fn suffixes_are_decompressed() {
        // "abcdwxyz" of six bits a letter: codes are letters less 0x60 plus 0x21, of which the last two are spread.
        let code = |letter: u8| {
            let raised = letter + 1;
            (raised & 0x1F) | ((raised & 0x40) >> 1)
        };
        let codes: Vec<u8> = b"abcdwxyz".iter().map(|letter| code(*letter)).collect();
        let mut packed = codes[..6].to_vec();
        for (at, code) in codes[6..].iter().enumerate() {
            packed[at] |= (code >> 4 & 3) << 6;
            packed[2 + at] |= (code >> 2 & 3) << 6;
            packed[4 + at] |= (code & 3) << 6;
        }
        // Two exceptions: an upper-case letter at 1, and a digit at 4.
        packed.extend([2, 1, b'B', 3, b'7']);
        let mut bytes = Bytes(&packed);
        assert_eq!(lowercase(&mut bytes, 8).as_deref(), Some(&b"aBcd7xyz"[..]));
        assert!(bytes.0.is_empty());
    }
}
