//! Jump tables: two ways to find block *n* of a chain of blocks.
//!
//! Presence and numbers are stored in blocks of different lengths. Each block has a header, so a reader can walk the
//! chain from the first block to any other, as Lucene 7 did for every look-up. A *jump table* saves the walk: it has one
//! entry of fixed size for each block. Both ways give the same answers:
//!
//! | way | finding block *n* | as in |
//! | --- | --- | --- |
//! | [`BuildOnFirstUse`](JumpTables::BuildOnFirstUse) | O(1) after one walk, entries on the heap | LUCENE-8374 |
//! | [`Baked`](JumpTables::Baked) | O(1), entries in the file | LUCENE-8585 |
//!
//! ```text
//! chain   | header 0 | payload 0 | header 1 | payload 1        | header 2 | payload 2 | ...
//! table   | entry 0 | entry 1 | entry 2 | ...                    entry n at byte n * stride
//!
//! BuildOnFirstUse   header 0 -> header 1 -> ...                  once, entries kept on the heap; then as Baked
//! Baked             entry n                                      one load from the file
//! ```
//!
//! An entry repeats the header, so that a lookup reads the entry and then the value, and not the header between them.

use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::source::{PartlyVerified, SectionBytes};

/// The way in which a reader finds a block. The answers are the same in every mode.
///
/// # Examples
///
/// Whatever the mode, and whether the file has a table, the values are the same:
///
/// ```
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// use docvalues_format::source::Owned;
///
/// let values: Vec<i64> = (0..100_000).map(|i| i * i % 1_009 << (i / 20_000)).collect();
/// for jump_tables in [true, false] {
///     let options = NumericOptions { role: Role::Values, doubles: false, jump_tables, zones: false };
///     let column = numeric::encode(&values, &options);
///     let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
///     for mode in JumpTables::ALL {
///         let reader = NumericReader::open(column.clone(), mode)?;
///         assert_eq!(reader.get(99_999)?, values[99_999]);
///     }
/// }
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JumpTables {
    /// Walks the chain once, at the first look-up, and keeps the entries on the heap (LUCENE-8374): for files without
    /// jump tables, and for comparisons.
    BuildOnFirstUse,
    /// Reads the entries that the writer stored in the file (LUCENE-8585). A file without them is read as with
    /// [`BuildOnFirstUse`](Self::BuildOnFirstUse).
    #[default]
    Baked,
}

impl JumpTables {
    /// Every mode, for tests and benchmarks.
    pub const ALL: [JumpTables; 2] = [JumpTables::BuildOnFirstUse, JumpTables::Baked];
}

/// An entry of a jump table: all that a reader needs to decode a block, in a fixed number of bytes.
pub trait Entry: Copy + Send + Sync {
    /// Reads an entry of a baked table.
    ///
    /// # Errors
    ///
    /// When a field has an illegal value; `place` and `at` are for the message.
    fn parse(place: Place, at: usize, bytes: &[u8]) -> Result<Self>;
}

/// A chain of self-describing blocks.
pub trait Chain {
    /// The jump entry of one of its blocks.
    type Entry: Entry;

    /// The number of blocks.
    fn blocks(&self) -> usize;

    /// Bytes of an entry in a baked table.
    fn stride(&self) -> usize;

    /// Appends `entry` in the form of a baked table.
    fn put(&self, entry: &Self::Entry, out: &mut Vec<u8>);

    /// The place of the chain, for error messages.
    fn place(&self) -> Place;

    /// Reads the header of `block`, which begins at byte `at`. `values` is the number of values in the blocks before
    /// it.
    ///
    /// # Errors
    ///
    /// When the header cannot be read, or holds what it may not.
    fn step(&self, block: usize, at: usize, values: u64) -> Result<Step<Self::Entry>>;

    /// Checks `entry`, which was read from a baked table, against what the chain knows about `block`, such as the
    /// most values that it may hold.
    ///
    /// # Errors
    ///
    /// When `entry` cannot be that of `block`.
    fn admit(&self, block: usize, entry: &Self::Entry) -> Result<(), ErrorKind> {
        let _ = (block, entry);
        Ok(())
    }
}

/// One block of a [`Chain`], and the start of the next one.
#[derive(Clone, Copy, Debug)]
pub struct Step<E> {
    /// The block's entry.
    pub entry: E,
    /// The first byte of the next block's header, which always lies after this block's.
    pub next: usize,
    /// Values in all blocks up to and including this one.
    pub values: u64,
}

/// The jump table of one chain, in one of the two modes.
#[derive(Debug)]
pub struct Jump<B, E> {
    /// The file's own table. Every mode keeps it, so that it can be verified in each.
    baked: Option<B>,
    mode: Mode,
    entry: PhantomData<E>,
}

// With `repr(u8)` a match is one comparison. A tag in a niche of other fields takes eight instructions.
#[derive(Debug)]
#[repr(u8)]
enum Mode {
    Baked,
    /// The bytes of the table, as if baked, and [`SPARE`] zeros.
    Built(OnceLock<Box<[u8]>>),
}

/// Bytes after the last entry that a load may touch.
pub(crate) const SPARE: usize = 8;

impl<B: SectionBytes, E: Entry> Jump<B, E> {
    /// Opens the table in `mode`. `baked` is the file's own table, if it has one.
    ///
    /// # Errors
    ///
    /// When the baked table does not have one entry for each block of the `chain`.
    pub fn open<C: Chain<Entry = E>>(mode: JumpTables, baked: Option<B>, chain: &C) -> Result<Jump<B, E>> {
        if let Some(baked) = &baked {
            let expected = (chain.blocks() as u64).saturating_mul(chain.stride() as u64);
            let checked = ErrorKind::equal("length of the jump table", baked.len() as u64, expected);
            baked.place().check(0, checked)?;
        }
        let mode = match mode {
            JumpTables::Baked if baked.is_some() => Mode::Baked,
            JumpTables::Baked | JumpTables::BuildOnFirstUse => Mode::Built(OnceLock::new()),
        };
        Ok(Jump { baked, mode, entry: PhantomData })
    }

    /// The file's own table.
    pub fn baked(&self) -> Option<&B> {
        self.baked.as_ref()
    }

    /// The file's own table, if look-ups read it.
    pub(crate) fn in_file(&self) -> Option<&B> {
        match self.mode {
            Mode::Baked => self.baked(),
            Mode::Built(_) => None,
        }
    }

    /// The entries in memory, with at least [`SPARE`] bytes after them, and which of them are verified. `None` if the
    /// table is not built yet or not in memory yet.
    ///
    /// Look-ups of one value after the other read entries from here. An entry that is passed through memory, written
    /// field by field and read back as a whole, would wait for its own stores.
    #[inline(always)]
    pub(crate) fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        match &self.mode {
            Mode::Baked => self.baked.as_ref()?.partly_verified(),
            Mode::Built(table) => Some(PartlyVerified { bytes: table.get()?, granules: None }),
        }
    }

    /// The entries, if all of them are verified.
    #[inline(always)]
    pub(crate) fn verified(&self) -> Option<&[u8]> {
        match &self.mode {
            Mode::Baked => self.baked.as_ref()?.verified(),
            Mode::Built(table) => table.get().map(|table| &**table),
        }
    }

    /// The heap bytes of the table, if it was built.
    pub fn heap_bytes(&self) -> usize {
        if let Mode::Built(table) = &self.mode { table.get().map_or(0, |table| table.len()) } else { 0 }
    }

    /// The entry of `block`, which must be one of the `chain`'s.
    ///
    /// # Errors
    ///
    /// When bytes on the way to it cannot be read or are illegal.
    pub fn locate<C: Chain<Entry = E>>(&self, chain: &C, block: usize) -> Result<E> {
        let (at, stride) = (block.saturating_mul(chain.stride()), chain.stride());
        let range = at..at.saturating_add(stride);
        let (place, bytes) = match &self.mode {
            Mode::Baked => {
                // `open` chooses this mode only if there is a table.
                let table = self.baked.as_ref().ok_or_else(|| no_block(chain, block))?;
                (table.place(), table.slice(range)?)
            }
            Mode::Built(table) => {
                let table = match table.get() {
                    Some(table) => table,
                    None => build(table, chain)?,
                };
                let entry = table.get(range).filter(|_| block < chain.blocks());
                (chain.place(), entry.ok_or_else(|| no_block(chain, block))?)
            }
        };
        let entry = E::parse(place, at, bytes)?;
        place.check(at, chain.admit(block, &entry))?;
        Ok(entry)
    }
}

/// Calls `each` for every block of the chain, in order, with its number and the offset of its header. Returns the end
/// of the last block.
///
/// # Errors
///
/// When a header cannot be read or is illegal, and the errors of `each`.
pub fn walk<C: Chain>(
    chain: &C,
    mut each: impl FnMut(usize, usize, &Step<C::Entry>) -> Result<()>,
) -> Result<usize> {
    let (mut at, mut values) = (0, 0);
    for block in 0..chain.blocks() {
        let step = chain.step(block, at, values)?;
        each(block, at, &step)?;
        (at, values) = (step.next, step.values);
    }
    Ok(at)
}

/// Builds the table by walking the whole chain. If two threads do so at once, one table is kept.
#[cold]
fn build<'t, C: Chain>(table: &'t OnceLock<Box<[u8]>>, chain: &C) -> Result<&'t [u8]> {
    let mut entries = Vec::with_capacity(chain.blocks().saturating_mul(chain.stride()).saturating_add(SPARE));
    walk(chain, |_, _, step| {
        chain.put(&step.entry, &mut entries);
        Ok(())
    })?;
    entries.resize(entries.len() + SPARE, 0);
    Ok(table.get_or_init(|| entries.into_boxed_slice()))
}

#[cold]
fn no_block<C: Chain>(chain: &C, block: usize) -> Error {
    let (found, max) = (block as u64, (chain.blocks() as u64).saturating_sub(1));
    Error::at(chain.place(), 0, ErrorKind::OutOfRange { what: "block number", found, max })
}

#[cfg(test)]
mod tests;
