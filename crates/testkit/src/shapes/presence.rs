//! Patterns of documents with a value.

use crate::rng::SplitMix64;

/// Documents of a presence block.
const BLOCK: u32 = 1 << 16;

/// The pattern of documents with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All.
    All,
    /// None.
    None,
    /// The first only.
    First,
    /// The last only.
    Last,
    /// One in the middle.
    One,
    /// All but one in the middle.
    AllButOne,
    /// Every n-th, beginning with the first.
    Every(u32),
    /// This many per thousand, at random.
    Random(u32),
    /// Long runs with and without a value, of up to 2,000 documents.
    Runs,
    /// Dense clusters of some hundred documents, far apart.
    Clustered,
    /// Documents within two of a multiple of 512, and so those around 65,536.
    Edges,
    /// The complement of [`Edges`](Self::Edges).
    AllButEdges,
    /// All documents of the first block of 65,536; none if there is only one block.
    FirstBlocks,
    /// All documents of the last block, which may be partial.
    LastBlock,
    /// Blocks that are full, empty, sparse, dense, in runs and nearly empty, in turn.
    EachBlockItsOwn,
}

impl Presence {
    /// Every pattern, with some parameters.
    pub const ALL: [Presence; 20] = [
        Presence::All,
        Presence::Random(500),
        Presence::None,
        Presence::EachBlockItsOwn,
        Presence::First,
        Presence::Every(2),
        Presence::Last,
        Presence::Random(10),
        Presence::One,
        Presence::Runs,
        Presence::AllButOne,
        Presence::Every(64),
        Presence::Clustered,
        Presence::Random(120),
        Presence::Edges,
        Presence::Every(1000),
        Presence::AllButEdges,
        Presence::FirstBlocks,
        Presence::Random(990),
        Presence::LastBlock,
    ];

    /// Whether each of `docs` documents has a value.
    pub fn bits(self, docs: u32, seed: u64) -> Vec<bool> {
        // A generator other than that of the values.
        let mut rng = SplitMix64::new(!seed);
        match self {
            Presence::Runs => runs(docs, &mut rng, 2000, 2000),
            Presence::Clustered => runs(docs, &mut rng, 300, 10_000),
            Presence::EachBlockItsOwn => by_block(docs, &mut rng),
            _ => (0..docs).map(|doc| self.has(doc, docs, &mut rng)).collect(),
        }
    }

    fn has(self, doc: u32, docs: u32, rng: &mut SplitMix64) -> bool {
        match self {
            Presence::All => true,
            Presence::First => doc == 0,
            Presence::Last => doc == docs - 1,
            Presence::One => doc == docs / 2,
            Presence::AllButOne => doc != docs / 2,
            Presence::Every(n) => doc.is_multiple_of(n),
            Presence::Random(per_mille) => rng.chance(per_mille.into(), 1000),
            Presence::Edges => (doc + 2) % 512 < 4,
            Presence::AllButEdges => (doc + 2) % 512 >= 4,
            Presence::FirstBlocks => doc / BLOCK < (docs - 1) / BLOCK,
            Presence::LastBlock => doc / BLOCK == (docs - 1) / BLOCK,
            _ => false,
        }
    }
}

/// Alternating runs with a value, of up to `with` documents, and without, of up to `without`.
fn runs(docs: u32, rng: &mut SplitMix64, with: u64, without: u64) -> Vec<bool> {
    let mut bits = Vec::with_capacity(docs as usize);
    let mut present = rng.chance(1, 2);
    while bits.len() < docs as usize {
        let longest = if present { with } else { without };
        // A random maximum, so that short runs are as frequent as long ones.
        let longest = 1 + rng.below(longest);
        let len = 1 + rng.below(longest) as usize;
        bits.resize((bits.len() + len).min(docs as usize), present);
        present = !present;
    }
    bits
}

fn by_block(docs: u32, rng: &mut SplitMix64) -> Vec<bool> {
    let kinds = [
        Presence::Random(30),
        Presence::None,
        Presence::Random(400),
        Presence::All,
        Presence::Every(600),
        Presence::Runs,
    ];
    let first = rng.place(kinds.len());
    let block = |start: u32| {
        let kind = kinds[((start / BLOCK) as usize + first) % kinds.len()];
        kind.bits(BLOCK.min(docs - start), u64::from(start))
    };
    (0..docs).step_by(BLOCK as usize).flat_map(block).collect()
}
