//! The arcs of a branching node: labels, targets, and the number of keys before each.
//!
//! ```text
//! T·ffpwww  bbbnnnnn  labels  entry … entry
//! │ │ │└ bytes of `back`, 0 to 7     └ for each arc: `before`, bbb bytes, 0 to 4; `back`, www bytes;
//! │ │ └ whether entries have `peek`                    `peek`, a byte, if p
//! │ └ form of the labels
//! └ two bits of the node's owner
//! ```
//!
//! | form | `n` | labels | when |
//! | --- | --- | --- | --- |
//! | 0: list | arcs − 1 | each, ascending | up to 32 arcs, and no more than a map would have bytes |
//! | 1: map | words `k` | u8 `base`, then `k` words of 64 bits: bit *i* is set if there is an arc with the label `base` + *i*; then for each word but the first the bits set before it, u8 | 9 `k` bytes, for more arcs than that |
//! | 2: run | 0 | u8 first label, u8 arcs − 1: labels without a gap | whenever there is none |
//!
//! `before` is the number of keys under the arcs before it; if it has no bytes, it is the number of the arc,
//! because each arc has one key. `back` is the distance back to the target node; 0 if a key ends and nothing
//! follows. With p, it is twice that, plus 1 if `peek` is the byte after the label on that arc; `peek` is 0
//! otherwise. The suffix of a single key has its first byte there, where it costs no more than in its leaf. So most
//! absent keys are rejected without reading a leaf, which saves one cache miss of two or three.
//!
//! An entry is contiguous, so that an arc costs one load. A list is searched 8 labels at a time (Mycroft's test for
//! a zero byte, exact for the lowest). A map costs a load, a mask and a population count.

use docvalues_format::cursor::Put;
use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::broken;
use crate::search;

const LIST: u8 = 0;
const MAP: u8 = 1;
const RUN: u8 = 2;
/// The bit of a node whose entries have `peek`.
const PEEKS: u8 = 8;

/// Bytes before the labels.
const HEAD: usize = 2;
/// The most arcs in a list.
const MAX_LIST: usize = 32;
/// Bytes of an entry that are loaded, whatever its width.
const LOADED: usize = 12;

/// The target of an arc that ends a key.
pub(crate) const END: u64 = u64::MAX;

/// An arc, as the builder passes it to writers.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    pub(crate) label: u8,
    /// The number of keys under it.
    pub(crate) keys: u32,
    /// The byte after the label, if the arc holds it.
    pub(crate) peek: Option<u8>,
    /// The position of the target node, or [`END`].
    pub(crate) to: u64,
}

/// The number of bytes that `value` takes.
pub(crate) fn width(value: u64) -> u8 {
    u8::try_from((u64::BITS - value.leading_zeros()).div_ceil(8)).unwrap_or(8)
}

/// Appends the lowest `width` bytes of `value`.
pub(crate) fn put(out: &mut Vec<u8>, value: u64, width: u8) {
    out.put(&value.to_le_bytes()[..usize::from(width.min(8))]);
}

/// The distance from `at` back to `to`.
pub(crate) fn back(at: u64, to: u64) -> u64 {
    if to == END { 0 } else { at.saturating_sub(to) }
}

/// Encodes `arcs`, at least one, for the node at `at`. `owner` has the two highest bits of the node's first byte.
pub(crate) fn encode(out: &mut Vec<u8>, owner: u8, at: u64, arcs: &[Arc]) {
    let Some((last, rest)) = arcs.split_last() else { return };
    let alone = rest.iter().all(|arc| arc.keys == 1);
    let before: u64 = rest.iter().map(|arc| u64::from(arc.keys)).sum();
    let before_width = if alone { 0 } else { width(before) };
    let peeks = arcs.iter().any(|arc| arc.peek.is_some());
    let raw = |arc: &Arc| match peeks {
        true => back(at, arc.to) << 1 | u64::from(arc.peek.is_some()),
        false => back(at, arc.to),
    };
    let back_width = arcs.iter().map(|arc| width(raw(arc))).max().unwrap_or(0);
    let first = arcs.first().map_or(0, |arc| arc.label);
    let span = usize::from(last.label - first) + 1;
    let words = span.div_ceil(64);
    let (form, n) = match arcs.len() {
        len if len == span => (RUN, 0),
        len if len <= MAX_LIST && len <= map_len(words) => (LIST, len - 1),
        _ => (MAP, words),
    };
    out.put_u8(owner | form << 4 | if peeks { PEEKS } else { 0 } | back_width);
    out.put_u8(before_width << 5 | low(n));
    match form {
        LIST => out.extend(arcs.iter().map(|arc| arc.label)),
        MAP => put_map(out, first, words, arcs),
        _ => out.put(&[first, last.label - first]),
    }
    let mut before = 0;
    for arc in arcs {
        put(out, before, before_width);
        put(out, raw(arc), back_width);
        if peeks {
            out.put_u8(arc.peek.unwrap_or(0));
        }
        before += u64::from(arc.keys);
    }
}

fn put_map(out: &mut Vec<u8>, base: u8, words: usize, arcs: &[Arc]) {
    let mut map = [0u64; 4];
    for arc in arcs {
        let bit = usize::from(arc.label - base);
        map[bit / 64] |= 1 << (bit % 64);
    }
    out.put_u8(base);
    map[..words].iter().for_each(|&word| out.put_u64(word));
    let mut before = 0;
    for word in &map[..words - 1] {
        before += word.count_ones() as usize;
        out.put_u8(low(before));
    }
}

/// A number of arcs or words as a byte: it is below 256.
fn low(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// Bytes of a map's labels.
const fn map_len(words: usize) -> usize {
    9 * words
}

/// The arcs of a node: the positions of their parts.
#[derive(Clone, Copy)]
pub(crate) struct Arcs {
    form: u8,
    /// `n` of the table.
    n: usize,
    before_width: usize,
    back_width: usize,
    /// Bytes of `peek`: 1 or 0.
    peek_width: usize,
    labels: usize,
}

/// The contents of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) before: u32,
    /// The byte after the label, if it is the arc's.
    pub(crate) peek: Option<u8>,
    pub(crate) back: u64,
}

/// The mask of each width; more than 8 bytes count as 8.
const MASKS: [u64; 16] = {
    let mut masks = [u64::MAX; 16];
    let mut width = 0;
    while width < 8 {
        masks[width] = (1 << (8 * width)) - 1;
        width += 1;
    }
    masks
};

/// The lowest `width` bytes of `value`.
pub(crate) fn masked(value: u64, width: usize) -> u64 {
    value & MASKS[width % 16]
}

impl Arcs {
    /// The arcs at `at`, which begin with `head`.
    #[inline(always)]
    pub(crate) fn new(at: usize, head: [u8; 2]) -> Arcs {
        let [a, b] = head;
        Arcs {
            form: a >> 4 & 3,
            n: usize::from(b & 31),
            before_width: usize::from(b >> 5),
            back_width: usize::from(a & 7),
            peek_width: usize::from(a >> 3 & 1),
            labels: at + HEAD,
        }
    }

    /// The entry of the arc with `label`, if there is one.
    #[inline(always)]
    pub(crate) fn find(&self, section: &impl SectionBytes, label: u8) -> Result<Option<Entry>> {
        let found = match self.form {
            LIST => self.find_in_list(section, label)?.map(|arc| (self.n + 1, arc)),
            MAP => self.find_in_map(section, label)?.map(|arc| (self.map_bytes(), arc)),
            _ => {
                let [first, last] = *section.array::<2>(self.labels)?;
                let arc = label.wrapping_sub(first);
                (arc <= last).then_some((2, usize::from(arc)))
            }
        };
        match found {
            Some((labels, arc)) => self.load(section, self.labels + labels, arc).map(Some),
            None => Ok(None),
        }
    }

    #[inline(always)]
    fn find_in_list(&self, section: &impl SectionBytes, label: u8) -> Result<Option<usize>> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let wanted = ONES * u64::from(label);
        let mut arc = 0;
        while arc <= self.n {
            let word = u64::from_le_bytes(*section.array(self.labels + arc)?) ^ wanted;
            let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
            if zeros != 0 {
                arc += zeros.trailing_zeros() as usize / 8;
                return Ok((arc <= self.n).then_some(arc));
            }
            arc += 8;
        }
        Ok(None)
    }

    #[inline(always)]
    fn find_in_map(&self, section: &impl SectionBytes, label: u8) -> Result<Option<usize>> {
        let base = section.array::<1>(self.labels)?[0];
        let bit = usize::from(label.wrapping_sub(base));
        let (word, bit) = (bit / 64, bit % 64);
        if word >= self.n {
            return Ok(None);
        }
        let bits = self.word(section, word)?;
        if bits >> bit & 1 == 0 {
            return Ok(None);
        }
        let below = (bits & ((1 << bit) - 1)).count_ones() as usize;
        Ok(Some(self.bits_before(section, word)? + below))
    }

    /// Bytes of the map's labels.
    #[inline(always)]
    fn map_bytes(&self) -> usize {
        map_len(self.n)
    }

    #[inline(always)]
    fn word(&self, section: &impl SectionBytes, word: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(*section.array(self.labels + 1 + 8 * word)?))
    }

    #[inline(always)]
    fn bits_before(&self, section: &impl SectionBytes, word: usize) -> Result<usize> {
        match word {
            0 => Ok(0),
            _ => Ok(usize::from(section.array::<1>(self.labels + 8 * self.n + word)?[0])),
        }
    }

    /// Bytes of an entry.
    #[inline(always)]
    fn entry_len(&self) -> usize {
        self.before_width + self.back_width + self.peek_width
    }

    #[inline(always)]
    fn load(&self, section: &impl SectionBytes, entries: usize, arc: usize) -> Result<Entry> {
        // One load gets all numbers, and the widths mask them.
        let bytes = section.array::<LOADED>(entries + arc * self.entry_len())?;
        let Some(numbers) = bytes.get(self.before_width..).and_then(|numbers| numbers.first_chunk()) else {
            return Err(broken(section.place(), self.labels, "a sum of more than four bytes"));
        };
        let before = match self.before_width {
            0 => u32::try_from(arc).unwrap_or(0),
            width => {
                let before = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                u32::try_from(masked(before.into(), width)).unwrap_or(0)
            }
        };
        let numbers = u64::from_le_bytes(*numbers);
        let back = masked(numbers, self.back_width);
        if self.peek_width == 0 {
            return Ok(Entry { before, peek: None, back });
        }
        let [peek, ..] = (numbers >> (8 * self.back_width)).to_le_bytes();
        Ok(Entry { before, peek: (back & 1 == 1).then_some(peek), back: back >> 1 })
    }

    /// The number of arcs, and the bytes of their labels. O(1).
    pub(crate) fn shape(&self, section: &impl SectionBytes) -> Result<(usize, usize)> {
        let refuse = |rule| Err(broken(section.place(), self.labels, rule));
        match self.form {
            LIST => Ok((self.n + 1, self.n + 1)),
            MAP if !(1..=4).contains(&self.n) => refuse("a map of more than 256 labels, or of none"),
            MAP => {
                let last = self.word(section, self.n - 1)?.count_ones() as usize;
                let arcs = self.bits_before(section, self.n - 1)? + last;
                if arcs == 0 {
                    return refuse("a node without arcs");
                }
                Ok((arcs, self.map_bytes()))
            }
            RUN => Ok((usize::from(section.array::<2>(self.labels)?[1]) + 1, 2)),
            _ => refuse("a form of labels that there is not"),
        }
    }

    /// The entry of arc `arc`.
    pub(crate) fn entry(&self, section: &impl SectionBytes, arc: usize) -> Result<Entry> {
        let (_, labels) = self.shape(section)?;
        self.load(section, self.labels + labels, arc)
    }

    /// The label of arc `arc`, which must exist.
    pub(crate) fn label(&self, section: &impl SectionBytes, arc: usize) -> Result<u8> {
        match self.form {
            LIST => Ok(section.array::<1>(self.labels + arc)?[0]),
            MAP => self.select(section, arc),
            _ => Ok(section.array::<1>(self.labels)?[0].wrapping_add(low(arc))),
        }
    }

    /// The label of the bit with `arc` set bits before it.
    fn select(&self, section: &impl SectionBytes, arc: usize) -> Result<u8> {
        let mut left = arc;
        for word in 0..self.n {
            let mut bits = self.word(section, word)?;
            let ones = bits.count_ones() as usize;
            if left >= ones {
                left -= ones;
                continue;
            }
            for _ in 0..left {
                bits &= bits - 1;
            }
            let bit = 64 * word + bits.trailing_zeros() as usize;
            let base = section.array::<1>(self.labels)?[0];
            return Ok(base.wrapping_add(low(bit)));
        }
        Err(broken(section.place(), self.labels, "a map of fewer labels than it says"))
    }

    /// The number of arcs with a label below `label`.
    pub(crate) fn below(&self, section: &impl SectionBytes, label: u8) -> Result<usize> {
        let (arcs, _) = self.shape(section)?;
        search(0..arcs, |arc| Ok(self.label(section, arc)? < label))
    }

    /// The last arc with at most `rank` keys before it. The node must have more than `rank` keys.
    pub(crate) fn of_rank(&self, section: &impl SectionBytes, rank: u32) -> Result<usize> {
        let (arcs, _) = self.shape(section)?;
        Ok(search(1..arcs, |arc| Ok(self.entry(section, arc)?.before <= rank))? - 1)
    }

    /// The end of the arcs. Checks that they are encoded as by [`encode`], apart from the values of their entries.
    pub(crate) fn verify(&self, section: &impl SectionBytes) -> Result<usize> {
        let refuse = |rule| Err(broken(section.place(), self.labels, rule));
        let (arcs, labels) = self.shape(section)?;
        if self.before_width > 4 || self.form == RUN && self.n != 0 {
            return refuse("a width that there is not");
        }
        let mut before = None;
        for arc in 0..arcs {
            let label = self.label(section, arc)?;
            if before.is_some_and(|before| before >= label) {
                return refuse("labels do not ascend");
            }
            before = Some(label);
        }
        if self.form == MAP {
            for word in 1..self.n {
                let before = self.bits_before(section, word - 1)?;
                let ones = self.word(section, word - 1)?.count_ones() as usize;
                if self.bits_before(section, word)? != before + ones {
                    return refuse("the bits of a map are not as many as it says");
                }
            }
        }
        Ok(self.labels + labels + arcs * self.entry_len())
    }
}
