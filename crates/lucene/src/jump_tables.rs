//! The tables that lead to blocks of a column.

/// The way to blocks of presence and of numbers.
///
/// | | a look-up | the first one | memory |
/// | --- | --- | --- | --- |
/// | [`Walk`](Self::Walk) | O(blocks), as an iterator of Lucene 7 that begins anew | the same | none |
/// | [`BuildOnFirstUse`](Self::BuildOnFirstUse) | O(1) | O(blocks), and a pass over bitmaps | 24 bytes a block, 3 % of bitmaps |
/// | [`Baked`](Self::Baked) | O(1) | O(1) | 24 to 32 bytes a block, once look-ups are many |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JumpTables {
    /// Walks over all blocks before the one that is wanted: for comparisons.
    Walk,
    /// Walks over all blocks once, at the first look-up, and keeps a table on the heap (LUCENE-8374).
    BuildOnFirstUse,
    /// Reads the tables of the file, which those of Lucene 8.0 and later have (LUCENE-8585). Others are read as with
    /// [`BuildOnFirstUse`](Self::BuildOnFirstUse).
    #[default]
    Baked,
}

impl JumpTables {
    /// Every mode, for tests and benchmarks.
    pub const ALL: [JumpTables; 3] = [JumpTables::Walk, JumpTables::BuildOnFirstUse, JumpTables::Baked];
}
