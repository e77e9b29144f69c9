//! [`WriterOptions`]: options of writers and merges.

/// Options of [`SegmentWriter`](crate::SegmentWriter) and [`Merger`](crate::Merger). Equal documents and options give
/// equal bytes.
///
/// # Examples
///
/// ```
/// use docvalues_writer::WriterOptions;
///
/// // A build in the background: 64 MiB of values in memory, at most 10 GiB of temporary file, all cores to encode.
/// let options = WriterOptions::new().budget(64 << 20).spill_limit(10 << 30).threads(0);
/// assert!(options.jump_tables && options.zones);
/// ```
///
/// | option | saves | costs |
/// | --- | --- | --- |
/// | `jump_tables: false` | 16 or 32 bytes a block of 512 to 16,384 numbers | O(1) lookups, until a reader builds the tables |
/// | `zones: false` | 16 bytes and 16 fine ones for each 4,096 numbers | filters and top-k then read all values |
/// | a smaller `budget` | memory | a write and a read of the temporary file for each value |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct WriterOptions {
    /// Whether to store jump tables, with which a reader finds any value in constant time. Without them the file is a
    /// little smaller, and readers scan, or build the tables on first use.
    pub jump_tables: bool,
    /// Whether to store zone maps: the minimum and maximum of every 4,096 values. Range filters skip zones by them.
    pub zones: bool,
    /// The memory budget of buffered values, in bytes.
    ///
    /// With a temporary file, the largest buffers are spilled to it once half of the budget is used; the segment's
    /// bytes stay the same. The other half is for one document or batch: a larger one is refused. A segment in a file
    /// has a temporary file beside it; for memory and streams, see
    /// [`SegmentWriter::spill_to`](crate::SegmentWriter::spill_to). Without one, every value beyond the budget is
    /// refused. Presence is never spilled: it takes up to one bit a document for each field with gaps.
    ///
    /// If documents are [sorted](crate::SegmentWriter::sort_by), the sort has three quarters of the budget, and
    /// buffered values have one.
    ///
    /// The budget does not include encoding, which takes memory for one column for each of the
    /// [`threads`](WriterOptions::threads): about the size of its sections, or a hundredth of that if it was spilled.
    pub budget: usize,
    /// The number of threads that encode columns in parallel when a segment is finished or merged, at most 1,024; 0 for the
    /// available parallelism of this machine. They are started and joined within that call, and the caller's thread writes. The
    /// bytes do not depend on it.
    ///
    /// Without the feature `rayon`, the caller's thread encodes all columns, and so does one of a rayon pool: while it waits for
    /// others, it would do other work of that pool, which may need a lock that the caller has.
    pub threads: usize,
    /// The maximum size of the temporary file, in bytes. Writing fails beyond it.
    pub spill_limit: u64,
}

impl Default for WriterOptions {
    /// Jump tables and zone maps, a budget of 256 MiB, the caller's thread only, and temporary files of any size.
    fn default() -> WriterOptions {
        let (budget, spill_limit) = (256 << 20, u64::MAX);
        WriterOptions { jump_tables: true, zones: true, budget, threads: 1, spill_limit }
    }
}

impl WriterOptions {
    /// The default options.
    pub fn new() -> WriterOptions {
        WriterOptions::default()
    }

    /// Sets whether to store jump tables.
    pub fn jump_tables(self, jump_tables: bool) -> WriterOptions {
        WriterOptions { jump_tables, ..self }
    }

    /// Sets whether to store zone maps.
    pub fn zones(self, zones: bool) -> WriterOptions {
        WriterOptions { zones, ..self }
    }

    /// Sets the memory budget of buffered values, in bytes.
    pub fn budget(self, budget: usize) -> WriterOptions {
        WriterOptions { budget, ..self }
    }

    /// Sets the number of threads that encode columns; 0 for all of the machine.
    pub fn threads(self, threads: usize) -> WriterOptions {
        WriterOptions { threads, ..self }
    }

    /// Sets the maximum size of the temporary file, in bytes.
    pub fn spill_limit(self, spill_limit: u64) -> WriterOptions {
        WriterOptions { spill_limit, ..self }
    }
}
