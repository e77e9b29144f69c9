//! Byte strings of a column, by the index of a value.
//!
//! | encoding | of |
//! | --- | --- |
//! | of one length | all releases |
//! | with addresses | all releases |
//! | in chunks of 32, LZ4 | Lucene 8.5 to 8.11 |

use std::ops::Range;
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::lz4;
use crate::monotonic::{Monotonic, MonotonicEntry};
use crate::presence::PresenceEntry;

/// The most byte strings of a chunk, as a power of two; Lucene has 5.
const MAX_CHUNK_SHIFT: i32 = 16;

/// Bytes from which on a run of byte strings ends.
const RUN_BYTES: usize = 1 << 20;

/// The entry of a column of byte strings in metadata.
#[derive(Clone, Debug)]
pub(crate) struct BinaryEntry {
    pub(crate) presence: PresenceEntry,
    pub(crate) docs_with_value: u32,
    data: (i64, i64),
    min_len: i32,
    max_len: i32,
    addresses: Option<AddressEntry>,
    /// The chunks, if byte strings are compressed.
    chunks: Option<Chunks>,
}

/// Chunks of compressed byte strings.
#[derive(Clone, Copy, Debug)]
struct Chunks {
    /// Byte strings of each, as a power of two.
    shift: u32,
    /// Bytes of the longest, decompressed.
    longest: u64,
}

/// The entry of addresses in metadata, and the place of their packed numbers.
#[derive(Clone, Debug)]
pub(crate) struct AddressEntry {
    entry: MonotonicEntry,
    place: (i64, i64),
}

impl AddressEntry {
    /// Reads the entry of `count` addresses.
    pub(crate) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<AddressEntry> {
        let (offset, shift) = (cursor.i64()?, cursor.vint()?);
        let entry = MonotonicEntry::read(cursor, count, shift)?;
        Ok(AddressEntry { entry, place: (offset, cursor.i64()?) })
    }

    /// Bytes of the addresses, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.place.1
    }

    /// Opens the addresses.
    pub(crate) fn open(&self, data: &Body) -> Result<Monotonic> {
        Monotonic::open(&self.entry, data, self.place.0, self.place.1)
    }
}

impl BinaryEntry {
    /// Reads an entry. Those of Lucene 7 have no jump tables.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        has_tables: bool,
        is_compressed: bool,
    ) -> Result<BinaryEntry> {
        let (data, presence) = ((cursor.i64()?, cursor.i64()?), PresenceEntry::read(cursor, has_tables)?);
        let docs_with_value = cursor.natural("documents with a value")?;
        let count = u64::from(docs_with_value);
        let (min_len, max_len) = (cursor.i32()?, cursor.i32()?);
        let (mut addresses, mut chunks) = (None, None);
        if is_compressed && count > 0 {
            let (offset, found) = (cursor.i64()?, cursor.vint()?);
            let shift = cursor.vint()?;
            cursor.within("shift of chunks", shift.into(), 0, MAX_CHUNK_SHIFT.into())?;
            let shift = shift.unsigned_abs();
            let expected = i64::try_from(count.div_ceil(1 << shift)).unwrap_or(i64::MAX);
            cursor.within("chunks", found.into(), expected, expected)?;
            let longest = cursor.count("bytes of the longest chunk")?.into();
            chunks = Some(Chunks { shift, longest });
            let shift = cursor.vint()?;
            let entry = MonotonicEntry::read(cursor, found.unsigned_abs().into(), shift)?;
            addresses = Some(AddressEntry { entry, place: (offset, cursor.i64()?) });
        } else if min_len < max_len {
            addresses = Some(AddressEntry::read(cursor, count + 1)?);
        }
        Ok(BinaryEntry { presence, docs_with_value, data, min_len, max_len, addresses, chunks })
    }

    /// Bytes of the byte strings and their addresses, as metadata has them.
    pub(crate) fn bytes(&self) -> [i64; 2] {
        [self.data.1, self.addresses.as_ref().map_or(0, AddressEntry::bytes)]
    }
}

/// The byte strings of an open column.
#[derive(Debug)]
pub(crate) struct ByteStrings {
    body: Arc<Body>,
    count: u64,
    data: Range<usize>,
    encoding: Encoding,
}

#[derive(Debug)]
enum Encoding {
    OfLength(usize),
    WithAddresses(Monotonic),
    /// In chunks, which begin at these bytes of the file.
    Chunks(Chunks, Monotonic),
}

/// Buffers of a reader: the chunk that it decompressed last.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    chunk: Option<u64>,
    addresses: Vec<i64>,
    /// Where the byte strings of a run or of a chunk begin, and where the last one ends.
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

/// Byte strings side by side, and where each begins.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// One more than there are byte strings.
    pub(crate) offsets: &'a [u64],
    pub(crate) bytes: &'a [u8],
}

impl ByteStrings {
    /// The byte strings of `entry`, if there are any.
    pub(crate) fn open(entry: &BinaryEntry, body: &Arc<Body>) -> Result<ByteStrings> {
        let count = u64::from(entry.docs_with_value);
        let is_empty = count == 0;
        let data = if is_empty { 0..0 } else { body.region(entry.data.0, entry.data.1)? };
        let encoding = match (&entry.addresses, entry.chunks) {
            _ if is_empty => Encoding::OfLength(0),
            (Some(addresses), Some(chunks)) => Encoding::Chunks(chunks, addresses.open(body)?),
            (Some(addresses), None) => Encoding::WithAddresses(addresses.open(body)?),
            (None, _) => {
                let len = u64::try_from(entry.max_len).ok().filter(|_| entry.min_len == entry.max_len);
                let len = len.ok_or_else(|| body.broken(data.start, "byte strings without addresses"))?;
                let (needed, left) = (len.saturating_mul(count), data.len() as u64);
                if needed > left {
                    return Err(body.error(data.start, ErrorKind::Truncated { needed, left }));
                }
                Encoding::OfLength(usize::try_from(len).unwrap_or(usize::MAX))
            }
        };
        Ok(ByteStrings { body: Arc::clone(body), count, data, encoding })
    }

    /// Byte string `index`.
    pub(crate) fn get<'a>(&'a self, index: u64, scratch: &'a mut Scratch) -> Result<&'a [u8]> {
        if index >= self.count {
            return Err(self.past());
        }
        let bytes = self.body.bytes();
        match &self.encoding {
            Encoding::OfLength(len) => {
                // All of them are in the file.
                let start = usize::try_from(index).ok().and_then(|index| index.checked_mul(*len));
                let start = start.ok_or_else(|| self.past())? + self.data.start;
                bytes.get(start..start + len).ok_or_else(|| self.past())
            }
            Encoding::WithAddresses(addresses) => {
                let (start, end) = (addresses.get(&self.body, index)?, addresses.get(&self.body, index + 1)?);
                bytes.get(self.place(start, end)?).ok_or_else(|| self.past())
            }
            Encoding::Chunks(chunks, addresses) => {
                let shift = chunks.shift;
                self.read_chunk(*chunks, addresses, index >> shift, scratch)?;
                // A chunk has as many ends, in memory.
                let at = usize::try_from(index & ((1 << shift) - 1)).unwrap_or(usize::MAX);
                let [start, end] =
                    [at, at + 1].map(|at| usize::try_from(scratch.ends[at]).unwrap_or(usize::MAX));
                scratch.bytes.get(start..end).ok_or_else(|| self.past())
            }
        }
    }

    /// Some byte strings from `indices.start` on: at least one, and fewer than all of `indices` if they are long or of
    /// several chunks.
    pub(crate) fn run<'a>(&'a self, indices: Range<u64>, scratch: &'a mut Scratch) -> Result<Run<'a>> {
        if indices.is_empty() || indices.end > self.count {
            return Err(self.past());
        }
        let bytes = self.body.bytes();
        match &self.encoding {
            Encoding::OfLength(len) => {
                let most = (RUN_BYTES / (*len).max(1)).max(1) as u64;
                let count = (indices.end - indices.start).min(most);
                scratch.ends.clear();
                scratch.ends.extend((0..=count).map(|at| at * *len as u64));
                let start = usize::try_from(indices.start).ok().and_then(|index| index.checked_mul(*len));
                let start = start.ok_or_else(|| self.past())? + self.data.start;
                let bytes = bytes.get(start..).ok_or_else(|| self.past())?;
                Ok(Run { offsets: &scratch.ends, bytes })
            }
            Encoding::WithAddresses(addresses) => {
                addresses.decode(&self.body, indices.start..indices.end + 1, &mut scratch.addresses)?;
                let all = &scratch.addresses;
                let (first, last) = (all[0], all[all.len() - 1]);
                if !all.is_sorted() {
                    return Err(self.past());
                }
                let place = self.place(first, last)?;
                let limit = first.saturating_add(i64::try_from(RUN_BYTES).unwrap_or(i64::MAX));
                let count = all[1..].partition_point(|end| *end <= limit).max(1);
                scratch.ends.clear();
                scratch.ends.extend(all[..=count].iter().map(|address| address.cast_unsigned()));
                let bytes = bytes.get(place).ok_or_else(|| self.past())?;
                Ok(Run { offsets: &scratch.ends, bytes })
            }
            Encoding::Chunks(chunks, addresses) => {
                let (shift, chunk) = (chunks.shift, indices.start >> chunks.shift);
                self.read_chunk(*chunks, addresses, chunk, scratch)?;
                let (first, len) = (chunk << shift, indices.end - indices.start);
                let at = usize::try_from(indices.start - first).unwrap_or(usize::MAX);
                let end = at.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)).min(1 << shift);
                let offsets = scratch.ends.get(at..=end).ok_or_else(|| self.past())?;
                let start = usize::try_from(offsets[0]).unwrap_or(usize::MAX);
                let bytes = scratch.bytes.get(start..).ok_or_else(|| self.past())?;
                Ok(Run { offsets, bytes })
            }
        }
    }

    /// Decompresses a chunk, unless it is the last one that was.
    fn read_chunk(
        &self,
        Chunks { shift, longest }: Chunks,
        addresses: &Monotonic,
        chunk: u64,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if scratch.chunk == Some(chunk) {
            return Ok(());
        }
        scratch.chunk = None;
        let start = usize::try_from(addresses.get(&self.body, chunk)?).unwrap_or(usize::MAX);
        if !self.data.contains(&start) {
            return Err(self.past());
        }
        let mut cursor = Cursor::new(&self.body);
        cursor.seek(start);
        let first = cursor.vint()?.cast_unsigned();
        let (mut sum, mut len) = (0, u64::from(first >> 1));
        scratch.ends.clear();
        scratch.ends.push(0);
        for at in 0..1 << shift {
            if at > 0 && first & 1 == 0 {
                len = cursor.count("length of a byte string")?.into();
            }
            sum += len;
            scratch.ends.push(sum);
        }
        if sum > longest {
            return Err(self.body.broken(start, "a chunk of byte strings that is longer than the longest"));
        }
        scratch.bytes.clear();
        if sum > 0 {
            let (at, all) = (cursor.position(), self.body.bytes());
            let block = all.get(at..self.data.end).ok_or_else(|| self.past())?;
            let len = usize::try_from(sum).unwrap_or(usize::MAX);
            let read = lz4::decompress(block, len, 0, &mut scratch.bytes);
            read.ok_or_else(|| self.body.broken(at, "a damaged chunk of byte strings"))?;
        }
        scratch.chunk = Some(chunk);
        Ok(())
    }

    /// The bytes of the file between two addresses.
    fn place(&self, start: i64, end: i64) -> Result<Range<usize>> {
        let offsets = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let inside = offsets.filter(|(start, end)| start <= end && *end <= self.data.len());
        let (start, end) = inside.ok_or_else(|| self.past())?;
        Ok(self.data.start + start..self.data.start + end)
    }

    #[cold]
    fn past(&self) -> crate::error::Error {
        self.body
            .broken(self.data.start, "a byte string past the last one, or one that ends before it begins")
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests {
    use super::*;
    use crate::monotonic;
    use crate::order::Order;
    use crate::presence;
    use crate::testing::{Encoder, body};

    /// Appends the entry of byte strings of these documents, and their bytes.
    pub(crate) fn encode(
        meta: &mut Encoder,
        data: &mut Encoder,
        docs: u32,
        strings: &[(u32, &[u8])],
        (has_tables, is_compressed): (bool, bool),
    ) {
        let start = data.offset();
        let (mut chunks, mut addresses, mut longest) = (Vec::new(), vec![0], 0);
        if is_compressed {
            for chunk in strings.chunks(32) {
                chunks.push(data.offset());
                let lens: Vec<usize> =
                    (0..32).map(|at| chunk.get(at).map_or(0, |(_, bytes)| bytes.len())).collect();
                if lens.iter().all(|len| *len == lens[0]) {
                    data.vint((lens[0] << 1 | 1) as i32);
                } else {
                    data.vint((lens[0] << 1) as i32);
                    lens[1..].iter().for_each(|len| {
                        data.vint(*len as i32);
                    });
                }
                let all: Vec<u8> = chunk.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
                longest = longest.max(all.len());
                if !all.is_empty() {
                    data.bytes(&lz4::tests::compress(&[], &all));
                }
            }
        } else {
            for (_, bytes) in strings {
                data.bytes(bytes);
                addresses.push(data.offset() - start);
            }
        }
        meta.i64(start).i64(data.offset() - start);
        let with_value: Vec<u32> = strings.iter().map(|(doc, _)| *doc).collect();
        presence::tests::encode(meta, data, docs, &with_value, has_tables);
        let lens = || strings.iter().map(|(_, bytes)| bytes.len() as i32);
        let (min, max) = (lens().min().unwrap_or(i32::MAX), lens().max().unwrap_or(0));
        meta.i32(strings.len() as i32).i32(min).i32(max);
        if is_compressed && !strings.is_empty() {
            let offset = data.offset();
            meta.i64(offset).vint(chunks.len() as i32).vint(5).vint(longest as i32).vint(4);
            monotonic::tests::encode(meta, data, 4, &chunks);
            meta.i64(data.offset() - offset);
        } else if min < max {
            let offset = data.offset();
            meta.i64(offset).vint(6);
            monotonic::tests::encode(meta, data, 6, &addresses);
            meta.i64(data.offset() - offset);
        }
    }

    fn shapes() -> Vec<Vec<Vec<u8>>> {
        vec![
            vec![],
            vec![vec![]; 40],
            vec![b"same".to_vec(); 100],
            (0..100).map(|at| format!("{at:04}").into_bytes()).collect(),
            (0..500).map(|at: u32| format!("text {at}").repeat(at as usize % 4).into_bytes()).collect(),
            vec![vec![7; 1 << 20], vec![], vec![8; 1 << 20], vec![9; 5]],
        ]
    }

    fn open(order: Order, strings: &[Vec<u8>], has_tables: bool, is_compressed: bool) -> Result<ByteStrings> {
        let docs = strings.len() as u32 + 1;
        let all: Vec<(u32, &[u8])> = (1..).zip(strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
        let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
        encode(&mut meta, &mut data, docs, &all, (has_tables, is_compressed));
        let meta = body(meta);
        let mut cursor = Cursor::new(&meta);
        let entry = BinaryEntry::read(&mut cursor, has_tables, is_compressed)?;
        cursor.end()?;
        ByteStrings::open(&entry, &Arc::new(body(data)))
    }

    #[test]
    fn byte_strings_are_read_as_they_were_written() {
        for strings in shapes() {
            for order in [Order::Big, Order::Little] {
                for (has_tables, is_compressed) in [(false, false), (true, false), (true, true)] {
                    if is_compressed && strings.iter().map(Vec::len).sum::<usize>() > 1 << 16 {
                        continue; // The compressor of tests is slow.
                    }
                    let read = open(order, &strings, has_tables, is_compressed).unwrap();
                    let (mut scratch, count) = (Scratch::default(), strings.len() as u64);
                    for at in (0..strings.len()).chain((0..strings.len()).rev().step_by(7)) {
                        assert_eq!(read.get(at as u64, &mut scratch).unwrap(), strings[at]);
                    }
                    assert!(read.get(count, &mut scratch).is_err());
                    for from in [0, 1, count / 2] {
                        let mut at = from;
                        while at < count {
                            let run = read.run(at..count, &mut scratch).unwrap();
                            for pair in run.offsets.windows(2) {
                                let [start, end] =
                                    [pair[0], pair[1]].map(|end| (end - run.offsets[0]) as usize);
                                assert_eq!(run.bytes[start..end], strings[at as usize]);
                                at += 1;
                            }
                        }
                    }
                    assert!(read.run(0..count + 1, &mut scratch).is_err());
                }
            }
        }
    }

    #[test]
    fn a_chunk_is_no_longer_than_metadata_says() {
        let strings: Vec<Vec<u8>> = (0..40).map(|at: usize| vec![b'x'; at % 5]).collect();
        let all: Vec<(u32, &[u8])> = (1..).zip(&strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
        let (mut meta, mut data) = (Encoder::new(Order::Big), Encoder::new(Order::Big));
        encode(&mut meta, &mut data, 41, &all, (true, true));
        let (meta, data) = (body(meta), Arc::new(body(data)));
        let mut entry = BinaryEntry::read(&mut Cursor::new(&meta), true, true).unwrap();
        for less in [0, 1] {
            entry.chunks.as_mut().unwrap().longest -= less;
            let read = ByteStrings::open(&entry, &data).unwrap();
            assert_eq!(read.get(7, &mut Scratch::default()).is_ok(), less == 0);
            assert!(read.get(39, &mut Scratch::default()).is_ok(), "the last chunk is shorter");
        }
    }

    #[test]
    fn hostile_bytes_are_errors_or_other_strings() {
        let strings: Vec<Vec<u8>> = (0..40).map(|at: usize| vec![b'x'; at % 5]).collect();
        let all: Vec<(u32, &[u8])> = (1..).zip(&strings).map(|(doc, bytes)| (doc, &bytes[..])).collect();
        for kinds @ (has_tables, is_compressed) in [(true, true), (true, false)] {
            let (mut meta, mut data) = (Encoder::new(Order::Big), Encoder::new(Order::Big));
            encode(&mut meta, &mut data, 41, &all, kinds);
            let read = |meta: Vec<u8>, data: Vec<u8>| {
                let meta = body(Encoder::of_bytes(Order::Big, meta));
                let entry = BinaryEntry::read(&mut Cursor::new(&meta), has_tables, is_compressed)?;
                let data = Arc::new(body(Encoder::of_bytes(Order::Big, data)));
                let (read, mut scratch) = (ByteStrings::open(&entry, &data)?, Scratch::default());
                for at in [0, 39, 7, 33] {
                    let _ = read.get(at, &mut scratch);
                    let _ = read.run(at..40, &mut scratch);
                }
                Ok::<(), crate::error::Error>(())
            };
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                for at in 0..meta.out.len() {
                    let mut damaged = meta.out.clone();
                    damaged[at] = byte;
                    let _ = read(damaged, data.out.clone());
                }
                for at in 0..data.out.len() {
                    let mut damaged = data.out.clone();
                    damaged[at] = byte;
                    let _ = read(meta.out.clone(), damaged);
                }
            }
        }
    }
}
