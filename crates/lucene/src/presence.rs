//! Presence: the documents with a value, as Lucene's `IndexedDISI` stores them.
//!
//! Documents are cut into blocks of 65,536. Blocks without a value are left out; the others are
//!
//! | kind | values | bytes after the header |
//! | --- | --- | --- |
//! | sparse | up to 4,095 | two for each document |
//! | dense | up to 65,535 | from Lucene 8 on a table of ranks, then a bitmap |
//! | full | 65,536 | none |
//!
//! A block without documents ends the sequence. From Lucene 8 on, a jump table follows: for each block, also those that were
//! left out, the values before it and its place.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use docvalues_column::{DocId, DocRange, bits};
use docvalues_format::bits::{Work, multiversioned, or_at, push_docs};
use docvalues_format::id::BLOCK_DOCS;
use docvalues_format::presence::NO_VALUE;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::jump_tables::JumpTables;
use crate::order::Order;

/// Bytes of a block's header: its number, and its values less one.
const HEADER: usize = 4;

/// The most values of a sparse block.
const SPARSE: u32 = 4095;

/// Bytes and words of a bitmap.
const BITMAP: usize = BLOCK_DOCS as usize / 8;
const WORDS: usize = BITMAP / 8;

/// Documents of a rank, as a power of two, in tables that are built.
const POWER: u32 = 9;

/// The number of the block at the end. A real block may have it, but not only its last document.
const END: u32 = 0x7FFF;

/// The place of presence, in metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresenceEntry {
    offset: i64,
    len: i64,
    jumps: i16,
    power: i8,
}

impl PresenceEntry {
    /// Reads an entry. Those of Lucene 7 have no tables.
    pub(crate) fn read(cursor: &mut Cursor<'_>, has_tables: bool) -> Result<PresenceEntry> {
        let (offset, len) = (cursor.i64()?, cursor.i64()?);
        cursor.within("offset of presence", offset, -2, i64::MAX)?;
        let (jumps, power) = if has_tables { (cursor.i16()?, cursor.u8()?.cast_signed()) } else { (-1, -1) };
        Ok(PresenceEntry { offset, len, jumps, power })
    }
}

/// The documents of a segment that have a value.
#[derive(Debug)]
pub(crate) struct Presence {
    docs: u32,
    values: u32,
    /// Without blocks, all documents have a value, or none.
    blocks: Option<Blocks>,
}

impl Presence {
    /// The presence of `values` of `docs` documents.
    pub(crate) fn open(
        entry: PresenceEntry,
        docs: u32,
        values: i64,
        body: &Arc<Body>,
        mode: JumpTables,
    ) -> Result<Presence> {
        let (least, most) = match entry.offset {
            -2 => return Ok(Presence { docs, values: 0, blocks: None }),
            -1 => (docs.into(), docs.into()),
            _ => (1, i64::from(docs) - 1),
        };
        let fitting = u32::try_from(values).ok().filter(|_| (least..=most).contains(&values));
        let Some(values) = fitting else {
            let (what, found) = ("documents with a value", values);
            return Err(body.error(0, ErrorKind::OutOfRange { what, found, least, most }));
        };
        let blocks = (entry.offset >= 0).then(|| Blocks::open(entry, docs, values, body, mode));
        Ok(Presence { docs, values, blocks: blocks.transpose()? })
    }

    /// The number of documents, with and without a value.
    pub(crate) fn docs(&self) -> u32 {
        self.docs
    }

    /// The number of documents with a value.
    pub(crate) fn values(&self) -> u32 {
        self.values
    }

    /// Whether all documents have a value, so that each is the index of its value.
    #[inline]
    pub(crate) fn is_all(&self) -> bool {
        self.values == self.docs
    }

    /// The index of the value of a document; `None` if it has none, or is past the last one.
    #[inline]
    pub(crate) fn rank(&self, doc: DocId) -> Result<Option<u32>> {
        if self.is_all() {
            return Ok((doc.get() < self.docs).then_some(doc.get()));
        }
        let mut index = [NO_VALUE];
        self.ranks(&[doc], &mut index)?;
        Ok((index[0] != NO_VALUE).then_some(index[0]))
    }

    /// Writes the index of the value of each document to `out`, which is as long: [`NO_VALUE`] for those without. Returns
    /// whether all have a value.
    pub(crate) fn ranks(&self, docs: &[DocId], out: &mut [u32]) -> Result<bool> {
        if let Some(blocks) = &self.blocks {
            return multiversioned(Ranks { blocks, docs, out });
        }
        let end = if self.values > 0 { self.docs } else { 0 };
        let mut are_all = true;
        for (doc, out) in docs.iter().zip(out) {
            let is_there = doc.get() < end;
            are_all &= is_there;
            *out = if is_there { doc.get() } else { NO_VALUE };
        }
        Ok(are_all)
    }

    /// The number of values of documents below `doc`.
    pub(crate) fn before(&self, doc: u32) -> Result<u32> {
        match &self.blocks {
            _ if doc >= self.docs => Ok(self.values),
            None => Ok(if self.values > 0 { doc } else { 0 }),
            Some(blocks) => blocks.before(doc),
        }
    }

    /// The indices of the values of a range of documents.
    pub(crate) fn values_in(&self, docs: DocRange) -> Result<Range<u32>> {
        let start = self.before(docs.start)?;
        Ok(start..self.before(docs.end)?.max(start))
    }

    /// Sets the bit of each document of a range that has a value.
    pub(crate) fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        let docs = docs.clip(self.docs);
        match &self.blocks {
            Some(blocks) => {
                let each = |block: Block, part: Part| blocks.add_to(block, part, docs.start, out);
                blocks.each_part(docs, each)
            }
            None if self.values > 0 => {
                bits::set_range(out, 0..docs.len());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Appends the documents of a range that have a value.
    pub(crate) fn collect(&self, docs: DocRange, out: &mut Vec<DocId>) -> Result<()> {
        let docs = docs.clip(self.docs);
        match &self.blocks {
            Some(blocks) => blocks.each_part(docs, |block, part| blocks.push_to(block, part, out)),
            None if self.values > 0 => {
                out.extend(docs.iter());
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The blocks of a column in which some documents have no value.
#[derive(Debug)]
struct Blocks {
    body: Arc<Body>,
    docs: u32,
    values: u32,
    /// The blocks, without the jump table.
    region: Range<usize>,
    /// Documents of a rank of the file, as a power of two; `None` if dense blocks have no ranks.
    power: Option<u32>,
    tables: Tables,
}

#[derive(Debug)]
enum Tables {
    Walk,
    Built(OnceLock<Table>),
    /// The place of the entries in the file, and how many there are. Without any, there is only block 0.
    Baked {
        start: usize,
        count: u32,
    },
}

/// A jump table on the heap.
#[derive(Debug)]
struct Table {
    /// All blocks, with those that have no value.
    blocks: Vec<Block>,
    /// The ranks of dense blocks.
    ranks: Vec<u16>,
}

/// A block of documents.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Values in earlier blocks.
    before: u32,
    values: u32,
    /// The byte of the file at which its documents or its bitmap begin.
    start: usize,
    /// The index of its first rank in [`Table::ranks`].
    ranks: usize,
}

/// The part of a block that lies in a range of documents.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first document of the block.
    base: u32,
    /// The documents of the part, counted from there. They are not empty.
    start: u32,
    end: u32,
}

/// A document in its block.
struct Probe {
    is_present: bool,
    /// Values of earlier documents of the block.
    before: u32,
}

impl Blocks {
    fn open(
        entry: PresenceEntry,
        docs: u32,
        values: u32,
        body: &Arc<Body>,
        mode: JumpTables,
    ) -> Result<Blocks> {
        let mut region = body.region(entry.offset, entry.len)?;
        let range = |what, found: i64, least, most| {
            Err(body.error(region.start, ErrorKind::OutOfRange { what, found, least, most }))
        };
        let power = match entry.power {
            -1 => None,
            power @ 7..=15 => Some(u32::from(power.unsigned_abs())),
            power => return range("documents of a rank, as a power of two", power.into(), 7, 15),
        };
        let count = u32::try_from(entry.jumps).ok();
        let bytes = 8 * count.unwrap_or(0) as usize;
        if bytes > region.len() {
            return range("entries of a jump table", entry.jumps.into(), 0, (region.len() / 8) as i64);
        }
        region.end -= bytes;
        let tables = match (mode, count) {
            (JumpTables::Walk, _) => Tables::Walk,
            (JumpTables::Baked, Some(count)) if power.is_some() => Tables::Baked { start: region.end, count },
            _ => Tables::Built(OnceLock::new()),
        };
        Ok(Blocks { body: Arc::clone(body), docs, values, region, power, tables })
    }

    /// Bytes of the ranks of a dense block.
    fn rank_bytes(&self) -> usize {
        self.power.map_or(0, |power| 2 << (16 - power))
    }

    /// The number of the block whose header is at byte `at`, the block, and the byte after it.
    fn header(&self, bytes: &[u8], at: usize, before: u32) -> Result<(u32, Block, usize)> {
        let order = self.body.order;
        let header = order.u16(bytes, at).zip(order.u16(bytes, at.saturating_add(2)));
        let Some((number, last)) = header.filter(|_| self.region.contains(&at)) else {
            return Err(self.body.broken(at, "a block of presence past the end"));
        };
        let values = u32::from(last) + 1;
        let (start, len) = match values {
            ..=SPARSE => (at + HEADER, 2 * values as usize),
            BLOCK_DOCS => (at + HEADER, 0),
            _ => (at + HEADER + self.rank_bytes(), BITMAP),
        };
        if start + len > self.region.end {
            let (needed, left) = ((start + len - at) as u64, (self.region.end - at) as u64);
            return Err(self.body.error(at, ErrorKind::Truncated { needed, left }));
        }
        Ok((number.into(), Block { before, values, start, ranks: 0 }, start + len))
    }

    /// Fails if a block has more values than the column.
    fn check(&self, block: Block) -> Result<Block> {
        match block.before.checked_add(block.values).is_some_and(|end| end <= self.values) {
            true => Ok(block),
            false => Err(self.body.broken(block.start, "more documents with a value than the column has")),
        }
    }

    /// Calls `each` with the number of each block and the block, until it breaks. Returns the number of values before the
    /// last one of them, or of all blocks.
    fn each_block(&self, bytes: &[u8], mut each: impl FnMut(u32, Block) -> ControlFlow<()>) -> Result<u32> {
        let (mut at, mut before, mut next) = (self.region.start, 0, 0);
        loop {
            let (number, block, end) = self.header(bytes, at, before)?;
            let only = self.body.order.u16(bytes, block.start);
            if number == END && block.values == 1 && only == Some(u16::MAX) {
                return Ok(before);
            }
            if number < next || number >= self.docs.div_ceil(BLOCK_DOCS) {
                return Err(self.body.broken(at, "blocks of presence out of order"));
            }
            let block = self.check(block)?;
            if each(number, block).is_break() {
                return Ok(before);
            }
            (at, before, next) = (end, before + block.values, number + 1);
        }
    }

    /// The block of this number. It has no values if it was left out.
    fn block(&self, bytes: &[u8], number: u32) -> Result<Block> {
        let absent = |before| Block { before, values: 0, start: self.region.start, ranks: 0 };
        match &self.tables {
            Tables::Walk => {
                let mut found = None;
                let before = self.each_block(bytes, |here, block| {
                    found = (here == number).then_some(block);
                    if here < number { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                Ok(found.unwrap_or(absent(before)))
            }
            Tables::Built(table) => {
                let blocks = &self.table(bytes, table)?.blocks;
                Ok(blocks.get(number as usize).copied().unwrap_or(absent(self.values)))
            }
            Tables::Baked { count: 0, .. } if number > 0 => Ok(absent(self.values)),
            Tables::Baked { start, count } => {
                let (order, entry) =
                    (self.body.order, start + 8 * number.min(count.saturating_sub(1)) as usize);
                let (before, offset) = match *count {
                    0 => (0, 0),
                    _ => order.u32(bytes, entry).zip(order.u32(bytes, entry + 4)).unwrap_or((0, u32::MAX)),
                };
                let at = self.region.start.saturating_add(offset as usize);
                let (found, block, _) = self.header(bytes, at, before)?;
                self.check(if found == number { block } else { absent(before) })
            }
        }
    }

    /// The table on the heap, which the first call builds.
    fn table<'t>(&self, bytes: &[u8], table: &'t OnceLock<Table>) -> Result<&'t Table> {
        if let Some(table) = table.get() {
            return Ok(table);
        }
        let (mut blocks, mut ranks) = (Vec::new(), Vec::new());
        let before = self.each_block(bytes, |number, mut block| {
            let absent = Block { values: 0, ..block };
            blocks.resize(number as usize, absent);
            block.ranks = ranks.len();
            if (SPARSE + 1..BLOCK_DOCS).contains(&block.values) {
                self.add_ranks(bytes, block, &mut ranks);
            }
            blocks.push(block);
            ControlFlow::Continue(())
        })?;
        let last = Block { before, values: 0, start: self.region.start, ranks: 0 };
        blocks.resize(self.docs.div_ceil(BLOCK_DOCS) as usize, last);
        Ok(table.get_or_init(|| Table { blocks, ranks }))
    }

    /// Appends the ranks of a dense block.
    fn add_ranks(&self, bytes: &[u8], block: Block, ranks: &mut Vec<u16>) {
        let mut rank = 0_u32;
        for word in 0..WORDS {
            if word.is_multiple_of(1 << (POWER - 6)) {
                // A damaged bitmap may have 65,536 bits; the count of a probe is checked.
                ranks.push(u16::try_from(rank).unwrap_or(u16::MAX));
            }
            rank += self.body.order.u64(bytes, block.start + 8 * word).unwrap_or(0).count_ones();
        }
    }

    /// Whether the block has its document `low`, and how many before it. `None` only in damaged bytes.
    #[inline(always)]
    fn probe(&self, bytes: &[u8], block: Block, low: u16) -> Option<Probe> {
        match block.values {
            0 => Some(Probe { is_present: false, before: 0 }),
            ..=SPARSE => {
                let (lows, order) = (block.lows(bytes)?, self.body.order);
                Some(probe_at(lows, order, low, lower_bound(lows, order, low)))
            }
            BLOCK_DOCS => Some(Probe { is_present: true, before: low.into() }),
            _ => self.probe_dense(bytes, block, low.into()),
        }
    }

    #[inline(always)]
    fn probe_dense(&self, bytes: &[u8], block: Block, low: u32) -> Option<Probe> {
        let order = self.body.order;
        let (rank, first) = match (&self.tables, self.power) {
            (Tables::Baked { .. }, Some(power)) => {
                let place = block.start.checked_sub(self.rank_bytes())? + 2 * (low >> power) as usize;
                // The most significant byte is the first one in every release.
                (Order::Big.u16(bytes, place)?, (low >> power << power) / 64)
            }
            (Tables::Built(table), _) => {
                let rank = table.get()?.ranks.get(block.ranks + (low >> POWER) as usize);
                (*rank?, (low >> POWER << POWER) / 64)
            }
            _ => (0, 0),
        };
        let mut before = u32::from(rank);
        let word = |at: u32| order.u64(bytes, block.start + 8 * at as usize);
        for at in first..low / 64 {
            before += word(at)?.count_ones();
        }
        let last = word(low / 64)?;
        before += (last & ((1 << (low % 64)) - 1)).count_ones();
        let is_present = last >> (low % 64) & 1 == 1;
        // A rank of damaged bytes may be too great.
        (before + u32::from(is_present) <= block.values).then_some(Probe { is_present, before })
    }

    /// [`Presence::ranks`].
    #[inline(always)]
    fn ranks(&self, docs: &[DocId], out: &mut [u32]) -> Result<bool> {
        let bytes = self.body.bytes();
        let mut block = Block { before: 0, values: 0, start: 0, ranks: 0 };
        let (mut number, mut are_all) = (u32::MAX, true);
        // The document before, and its place in a sparse block: the next one of an ascending list is close.
        let (mut place, mut before) = (0, None);
        for (doc, out) in docs.iter().zip(out) {
            *out = NO_VALUE;
            if doc.get() >= self.docs {
                are_all = false;
                continue;
            }
            let (here, low) = doc.split();
            if here != number {
                (block, number, before) = (self.block(bytes, here)?, here, None);
            }
            let is_near = before.is_some_and(|before| before <= low);
            let probe = if is_near && (1..=SPARSE).contains(&block.values) {
                block.lows(bytes).map(|lows| {
                    place = gallop(lows, self.body.order, place, low);
                    probe_at(lows, self.body.order, low, place)
                })
            } else {
                let probe = self.probe(bytes, block, low);
                place = probe.as_ref().map_or(0, |probe| probe.before as usize);
                probe
            };
            before = Some(low);
            let Some(probe) = probe else {
                return Err(self.body.broken(block.start, "a damaged block of presence"));
            };
            if probe.is_present {
                *out = block.before + probe.before;
            }
            are_all &= probe.is_present;
        }
        Ok(are_all)
    }

    /// [`Presence::before`], of a document that exists.
    fn before(&self, doc: u32) -> Result<u32> {
        let (number, low) = DocId::new(doc).split();
        let bytes = self.body.bytes();
        let block = self.block(bytes, number)?;
        match self.probe(bytes, block, low) {
            Some(probe) => Ok(block.before + probe.before),
            None => Err(self.body.broken(block.start, "a damaged block of presence")),
        }
    }

    /// Calls `each` with the parts of blocks that lie in `docs`, if these have values. It returns `None` in damaged bytes.
    fn each_part(&self, docs: DocRange, mut each: impl FnMut(Block, Part) -> Option<()>) -> Result<()> {
        let (bytes, mut start) = (self.body.bytes(), docs.start);
        while start < docs.end {
            let number = start / BLOCK_DOCS;
            let base = number * BLOCK_DOCS;
            let end = (docs.end - base).min(BLOCK_DOCS);
            let part = Part { base, start: start - base, end };
            let block = self.block(bytes, number)?;
            if block.values > 0 && each(block, part).is_none() {
                return Err(self.body.broken(block.start, "a damaged block of presence"));
            }
            start = base.saturating_add(end);
        }
        Ok(())
    }

    /// Sets the bits of the documents of a part. Bit 0 is document `first`.
    fn add_to(&self, block: Block, part: Part, first: u32, out: &mut [u64]) -> Option<()> {
        let place = |low: u32| (part.base + low - first) as usize;
        match block.values {
            ..=SPARSE => part.lows(block.lows(self.body.bytes())?, self.body.order, |low| {
                bits::set(out, place(low));
            }),
            BLOCK_DOCS => bits::set_range(out, place(part.start)..place(part.end - 1) + 1),
            _ => {
                for word in part.start / 64..part.end.div_ceil(64) {
                    let some = self.word(block, part, word)?;
                    match (part.base + 64 * word).checked_sub(first) {
                        Some(place) => or_at(out, place as usize, some),
                        // The bits below the first one of the part are clear.
                        None => or_at(out, 0, some >> (first - part.base - 64 * word)),
                    }
                }
            }
        }
        Some(())
    }

    /// Appends the documents of a part.
    fn push_to(&self, block: Block, part: Part, out: &mut Vec<DocId>) -> Option<()> {
        match block.values {
            ..=SPARSE => part.lows(block.lows(self.body.bytes())?, self.body.order, |low| {
                out.push(DocId::new(part.base + low));
            }),
            BLOCK_DOCS => out.extend((part.start..part.end).map(|low| DocId::new(part.base + low))),
            _ => {
                let (first, mut words) = (part.start / 64, [0; WORDS]);
                let words = &mut words[..(part.end.div_ceil(64) - first) as usize];
                for (word, at) in words.iter_mut().zip(first..) {
                    *word = self.word(block, part, at)?;
                }
                push_docs(words, part.base + 64 * first, out);
            }
        }
        Some(())
    }

    /// Word `at` of the bitmap of a dense block, without bits outside of the part.
    #[inline]
    fn word(&self, block: Block, part: Part, at: u32) -> Option<u64> {
        let word = self.body.order.u64(self.body.bytes(), block.start + 8 * at as usize)?;
        let below = u64::MAX.unbounded_shl(part.start.saturating_sub(64 * at));
        let above = u64::MAX.unbounded_shr((64 * at + 64).saturating_sub(part.end));
        Some(word & below & above)
    }
}

/// [`Blocks::ranks`], compiled for several CPUs, because bits of bitmaps are counted.
struct Ranks<'a> {
    blocks: &'a Blocks,
    docs: &'a [DocId],
    out: &'a mut [u32],
}

impl Work for Ranks<'_> {
    type Output = Result<bool>;

    #[inline(always)]
    fn run(self) -> Result<bool> {
        self.blocks.ranks(self.docs, self.out)
    }
}

impl Block {
    /// The documents of a sparse block, as two bytes each.
    #[inline(always)]
    fn lows(self, bytes: &[u8]) -> Option<&[[u8; 2]]> {
        Some(bytes.get(self.start..)?.get(..2 * self.values as usize)?.as_chunks().0)
    }
}

impl Part {
    /// Calls `each` with the documents of a sparse block that lie in the part, ascending.
    fn lows(self, lows: &[[u8; 2]], order: Order, each: impl FnMut(u32)) {
        let first = u16::try_from(self.start).map_or(lows.len(), |start| lower_bound(lows, order, start));
        // A damaged block may have documents out of order.
        let inside = lows[first..].iter().map(|pair| u32::from(low_of(*pair, order)));
        inside.take_while(|low| *low < self.end).filter(|low| self.start <= *low).for_each(each);
    }
}

#[inline(always)]
fn low_of(pair: [u8; 2], order: Order) -> u16 {
    match order {
        Order::Big => u16::from_be_bytes(pair),
        Order::Little => u16::from_le_bytes(pair),
    }
}

/// The place of the first document that is at least `low`.
#[inline(always)]
fn lower_bound(lows: &[[u8; 2]], order: Order, low: u16) -> usize {
    lows.partition_point(|pair| low_of(*pair, order) < low)
}

/// As [`lower_bound`], if it is at `from` or after it: O(log of the distance).
#[inline(always)]
fn gallop(lows: &[[u8; 2]], order: Order, from: usize, low: u16) -> usize {
    let (mut start, mut step) = (from.min(lows.len()), 1);
    while lows.get(start + step - 1).is_some_and(|pair| low_of(*pair, order) < low) {
        start += step;
        step *= 2;
    }
    start + lower_bound(&lows[start..(start + step).min(lows.len())], order, low)
}

/// Whether the document at `place` is `low`.
#[inline(always)]
fn probe_at(lows: &[[u8; 2]], order: Order, low: u16, place: usize) -> Probe {
    let is_present = lows.get(place).is_some_and(|pair| low_of(*pair, order) == low);
    // A place of a sparse block, of which there are 4,095.
    Probe { is_present, before: u32::try_from(place).unwrap_or(0) }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "documents have 32 bits")]
pub(crate) mod tests {
    use docvalues_testkit::rng::SplitMix64;

    use super::*;
    use crate::testing::{Encoder, body};

    /// Appends the region of `docs`, and their entry in metadata: of Lucene 8 and 9 if there are tables.
    pub(crate) fn encode(
        meta: &mut Encoder,
        data: &mut Encoder,
        docs: u32,
        with_value: &[u32],
        has_tables: bool,
    ) {
        let kind = match with_value.len() {
            0 => Some(-2),
            all if all == docs as usize => Some(-1),
            _ => None,
        };
        let (offset, mut jumps) = (kind.unwrap_or(data.offset()), -1);
        let start = data.out.len();
        if kind.is_none() {
            let mut table = Vec::new();
            let (mut before, mut rest) = (0, with_value);
            while let Some(first) = rest.first() {
                let number = first >> 16;
                let (block, after) = rest.split_at(rest.partition_point(|doc| doc >> 16 == number));
                table.resize(number as usize + 1, (before, data.out.len() - start));
                encode_block(data, number as u16, block, has_tables);
                (before, rest) = (before + block.len() as u32, after);
            }
            table.push((before, data.out.len() - start));
            data.u16(0x7FFF).u16(0).u16(u16::MAX);
            // With a single block, the table is left out.
            jumps = if table.len() == 2 { 0 } else { table.len() as i16 };
            if has_tables && jumps > 0 {
                table.iter().for_each(|(before, at)| {
                    data.i32(*before as i32).i32(*at as i32);
                });
            }
        }
        meta.i64(offset).i64((data.out.len() - start) as i64);
        if has_tables {
            meta.i16(jumps).u8(if kind.is_none() { 9 } else { 0xFF });
        }
    }

    fn encode_block(data: &mut Encoder, number: u16, docs: &[u32], has_ranks: bool) {
        data.u16(number).u16((docs.len() - 1) as u16);
        match docs.len() {
            ..=4095 => docs.iter().for_each(|doc| {
                data.u16(*doc as u16);
            }),
            65_536 => {}
            _ => {
                let mut words = [0_u64; 1024];
                docs.iter().for_each(|doc| bits::set(&mut words, (*doc as u16).into()));
                for words in words.chunks(8).scan(0, |sum, words| {
                    let before = *sum;
                    *sum += bits::count(words);
                    Some(before)
                }) {
                    if has_ranks {
                        data.bytes(&(words as u16).to_be_bytes());
                    }
                }
                words.iter().for_each(|word| {
                    data.u64(*word);
                });
            }
        }
    }

    /// Sets of documents that have blocks of all kinds.
    pub(crate) fn shapes(docs: u32) -> Vec<Vec<u32>> {
        let mut rng = SplitMix64::new(docs.into());
        let mut some = |from: u32, count: u32| {
            let end = docs.min(from.saturating_add(65_536));
            let mut left = count;
            let picked = (from..end).filter(|doc| {
                let is_picked = rng.below_u32(end - doc) < left;
                left -= u32::from(is_picked);
                is_picked
            });
            picked.collect::<Vec<_>>()
        };
        let edges: Vec<u32> = [1, 4095, 4096, 65_535, 65_536, 30_000]
            .iter()
            .zip(0..)
            .flat_map(|(count, block)| {
                // The third block is left out.
                if block == 2 { Vec::new() } else { some(block << 16, *count) }
            })
            .collect();
        let last = some((docs - 1) >> 16 << 16, 1);
        vec![
            edges,
            (0..docs).collect(),
            (1..docs).collect(),
            vec![],
            vec![docs - 1],
            last,
            (0..docs).step_by(3).collect(),
            (0..docs).step_by(1_000).collect(),
            (0..docs.min(70_000)).collect(),
        ]
    }

    fn open(order: Order, docs: u32, with_value: &[u32], has_tables: bool, mode: JumpTables) -> Presence {
        let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
        encode(&mut meta, &mut data, docs, with_value, has_tables);
        let meta = body(meta);
        let mut cursor = Cursor::new(&meta);
        let entry = PresenceEntry::read(&mut cursor, has_tables).unwrap();
        cursor.end().unwrap();
        Presence::open(entry, docs, with_value.len() as i64, &Arc::new(body(data)), mode).unwrap()
    }

    fn check(presence: &Presence, docs: u32, with_value: &[u32]) {
        let mut index = vec![NO_VALUE; docs as usize + 70];
        (0..).zip(with_value).for_each(|(at, doc)| index[*doc as usize] = at);
        assert_eq!((presence.values() as usize, presence.docs()), (with_value.len(), docs));
        let mut rng = SplitMix64::new(7);
        let ascending: Vec<u32> = (0..docs + 3).step_by(1 + docs as usize / 5_000).collect();
        let random: Vec<u32> = (0..5_000).map(|_| rng.below_u32(docs + 60)).collect();
        let descending: Vec<u32> = ascending.iter().rev().copied().collect();
        for list in [ascending, random, descending, with_value.iter().take(3_000).copied().collect()] {
            let list: Vec<DocId> = list.into_iter().map(DocId::new).collect();
            let mut found = vec![7; list.len()];
            let are_all = presence.ranks(&list, &mut found).unwrap();
            let expected: Vec<u32> = list.iter().map(|doc| index[doc.get() as usize]).collect();
            assert_eq!(found, expected);
            assert_eq!(are_all, !expected.contains(&NO_VALUE));
        }
        for _ in 0..60 {
            let longest = [100, 5_000, docs][rng.place(3)];
            let (start, len) = (rng.below_u32(docs + 1), rng.below_u32(longest + 1));
            let range = DocRange::new(start, start + len);
            let below = with_value.partition_point(|doc| *doc < start);
            let inside = &with_value[below..with_value.partition_point(|doc| *doc < start + len)];
            let below = below as u32;
            assert_eq!(presence.values_in(range).unwrap(), below..below + inside.len() as u32);
            let mut collected = vec![DocId::new(9)];
            presence.collect(range, &mut collected).unwrap();
            assert!(collected[1..].iter().map(|doc| doc.get()).eq(inside.iter().copied()), "{range:?}");
            let mut found = vec![0; range.words()];
            presence.exists(range, &mut found).unwrap();
            assert!(bits::ones(&found).eq(inside.iter().map(|doc| (doc - start) as usize)), "{range:?}");
        }
    }

    #[test]
    fn documents_are_found_in_blocks_of_all_kinds() {
        for docs in [1, 100, 65_536, 70_001, 6 * 65_536 - 5] {
            for (number, with_value) in shapes(docs).iter().enumerate() {
                let order = if number % 2 == 0 { Order::Little } else { Order::Big };
                for has_tables in [false, true] {
                    for mode in JumpTables::ALL {
                        check(&open(order, docs, with_value, has_tables, mode), docs, with_value);
                    }
                }
            }
        }
    }

    #[test]
    fn a_single_document_is_looked_up() {
        let presence = open(Order::Big, 70_000, &[3, 66_000], false, JumpTables::Baked);
        assert_eq!(presence.rank(DocId::new(66_000)).unwrap(), Some(1));
        assert_eq!(presence.rank(DocId::new(4)).unwrap(), None);
        let all = open(Order::Big, 9, &(0..9).collect::<Vec<_>>(), true, JumpTables::Baked);
        assert_eq!((all.rank(DocId::new(8)).unwrap(), all.rank(DocId::new(9)).unwrap()), (Some(8), None));
    }

    #[test]
    fn the_bytes_of_lucene() {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, 10, &[3, 5], true);
        assert_eq!(data.out, [0, 0, 1, 0, 3, 0, 5, 0, 0xFF, 0x7F, 0, 0, 0xFF, 0xFF]);
        assert_eq!(meta.out[8..], [14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
    }

    #[test]
    fn hostile_bytes_are_errors_or_other_answers() {
        for (with_value, has_tables) in [
            ((0..9_000).step_by(2).collect::<Vec<u32>>(), true),
            (vec![3, 5, 131_080], true),
            (vec![3, 5], false),
        ] {
            let docs = 131_090;
            let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
            encode(&mut meta, &mut data, docs, &with_value, has_tables);
            let meta = body(meta);
            let entry = PresenceEntry::read(&mut Cursor::new(&meta), has_tables).unwrap();
            for at in (0..300).chain(8_440..data.out.len()).filter(|at| *at < data.out.len()) {
                for byte in [0, 0x40, 0xFF] {
                    let mut damaged = Encoder::new(Order::Little);
                    damaged.bytes(&data.out);
                    damaged.out[at] = byte;
                    let damaged = Arc::new(body(damaged));
                    for mode in JumpTables::ALL {
                        let values = with_value.len() as i64;
                        let presence = Presence::open(entry, docs, values, &damaged, mode).unwrap();
                        let list: Vec<DocId> = (0..docs + 9).step_by(97).map(DocId::new).collect();
                        let mut found = vec![0; list.len()];
                        if presence.ranks(&list, &mut found).is_ok() {
                            let is_index = |index: &u32| *index == NO_VALUE || i64::from(*index) < values;
                            assert!(found.iter().all(is_index), "byte {at}");
                        }
                        let range = DocRange::new(70, docs);
                        let (mut bits, mut collected) = (vec![0; range.words()], Vec::new());
                        let _ = (presence.exists(range, &mut bits), presence.collect(range, &mut collected));
                        assert!(collected.iter().all(|doc| range.contains(*doc)), "byte {at}");
                        if let Ok(inside) = presence.values_in(range) {
                            assert!(i64::from(inside.end) <= values, "byte {at}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn hostile_entries_are_refused() {
        let body = Arc::new(body(Encoder::new(Order::Little)));
        let start = body.place.start as i64;
        for (offset, len, values, jumps, power) in [
            (-1, 0, 9, -1, -1),
            (-1, 0, -1, -1, -1),
            (start, 0, 10, 0, 9),
            (start, 0, 0, 0, 9),
            (start, 1, 5, 0, 9),
            (start, 0, 5, 1, 9),
            (start, 0, 5, 0, 3),
            (0, 8, 5, 0, 9),
            (i64::MAX, i64::MAX, 5, 0, 9),
        ] {
            let entry = PresenceEntry { offset, len, jumps, power };
            assert!(
                Presence::open(entry, 10, values, &body, JumpTables::Baked).is_err(),
                "{entry:?}, {values}"
            );
        }
        let empty = PresenceEntry { offset: start, len: 0, jumps: 0, power: 9 };
        for mode in JumpTables::ALL {
            let presence = Presence::open(empty, 10, 5, &body, mode).unwrap();
            assert!(presence.rank(DocId::new(1)).is_err());
        }
    }
}
