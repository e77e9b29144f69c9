//! Decisions taken from the fuzzer's bytes.

use std::ops::Range;

use docvalues::DocId;
use docvalues_testkit::rng::SplitMix64;

/// Bytes as a source of decisions, each of which consumes some from the front. After their end, every byte is 0, so any
/// input is complete.
#[derive(Clone, Debug)]
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Choices<'a> {
        Choices(input)
    }

    /// Whether the input is used up.
    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// The remaining bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    pub(crate) fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`, from one byte if that suffices.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let choice: u32 = if end <= 256 { self.byte().into() } else { self.word().into() };
        choice % end.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(u32::try_from(items.len()).expect("few items")) as usize]
    }

    /// Any number; small numbers and limits of types are more frequent.
    pub(crate) fn number(&mut self) -> i64 {
        match self.byte() % 8 {
            0..3 => i64::from(self.byte().cast_signed()),
            3 => i64::from(self.word().cast_signed()),
            4 => (1_i64.wrapping_shl(self.byte().into())).wrapping_sub(i64::from(self.flag())),
            5 => self.pick(&[i64::MIN, i64::MAX, 0, -1, i64::MIN + 1, i64::MAX - 1]),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    /// A byte string, usually short.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte() % 80).min(self.0.len());
        self.0.split_off(..len).unwrap_or_default()
    }

    /// A random number generator, for decisions that need more numbers than an input has bytes.
    pub(crate) fn rng(&mut self) -> SplitMix64 {
        SplitMix64::new(self.byte().into())
    }

    /// A number of documents, at most `most`: usually small, seldom more than a block of presence.
    pub(crate) fn docs(&mut self, most: u32) -> u32 {
        let docs = match self.byte() {
            few @ 0..160 => u32::from(few % 40),
            160..240 => self.below(1_500),
            240..254 => 4_000 + self.below(600),
            _ => 65_400 + self.below(400),
        };
        docs.min(most)
    }

    /// A document of a segment with `docs` documents, or one shortly after its end.
    pub(crate) fn place(&mut self, docs: u32) -> u32 {
        let place = match self.byte() % 6 {
            0 => 0,
            1 => docs,
            2 => docs.saturating_sub(self.byte().into()),
            3 => 65_536_u32.saturating_add_signed(self.byte().cast_signed().into()),
            4 => self.byte().into(),
            _ => u32::try_from((u64::from(self.word()) * u64::from(docs)) >> 16).unwrap_or(0),
        };
        place.min(docs + 300)
    }

    /// A range of documents. It may be empty, reversed, or past the end.
    pub(crate) fn range(&mut self, docs: u32) -> Range<u32> {
        self.place(docs)..self.place(docs)
    }

    /// Documents in any order, with repeats, some past the end.
    pub(crate) fn some_docs(&mut self, docs: u32) -> Vec<DocId> {
        let (count, first) = (u32::from(self.byte()), self.place(docs));
        let list: Vec<u32> = match self.byte() % 5 {
            0 => (0..count % 16).map(|_| self.place(docs)).collect(),
            1 => (first..first + count).collect(),
            2 => (first..first + count).rev().collect(),
            3 => {
                let stride = 1 + u32::from(self.byte());
                (0..count).map(|i| first.saturating_add(i * stride)).collect()
            }
            _ => {
                let mut rng = self.rng();
                (0..count).map(|_| rng.below_u32(docs + 3)).collect()
            }
        };
        list.into_iter().map(DocId::new).collect()
    }
}
