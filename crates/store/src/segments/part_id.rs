//! [`PartId`]: the identity of a part of a snapshot.

/// The identity of a part of a snapshot, which no other part of the store ever has.
///
/// | part | id |
/// | --- | --- |
/// | a segment | the [number](crate::SnapshotSegment::number) in the name of its file: the same in all openings, readers and replicas |
/// | a block of documents that are in no segment yet | another number, which ends with the opening of the store: it is of no use in a file |
///
/// A segment never gets other documents. A block gets more of them, after those that it has.
///
/// # Examples
///
/// See [`Snapshot::moves_since`](crate::Snapshot::moves_since).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(u64);

/// Set in the ids of blocks. Numbers of files are below 2^48.
const BLOCK: u64 = 1 << 63;

impl PartId {
    /// The id of the segment with this number.
    pub const fn of_segment(number: u64) -> PartId {
        PartId(number)
    }

    /// The id of a block.
    pub(crate) const fn of_block(number: u64) -> PartId {
        PartId(number | BLOCK)
    }

    /// The distance of this block from block `first`, as ids of blocks are consecutive: 0 for `first` itself.
    pub(crate) fn blocks_after(self, first: PartId) -> Option<usize> {
        usize::try_from(self.0.wrapping_sub(first.0) & !BLOCK).ok()
    }

    /// The number of the segment; `None` if it is a block.
    pub const fn segment(self) -> Option<u64> {
        if self.0 & BLOCK == 0 { Some(self.0) } else { None }
    }

    /// The id as a number, for keys and messages.
    pub const fn get(self) -> u64 {
        self.0
    }
}
