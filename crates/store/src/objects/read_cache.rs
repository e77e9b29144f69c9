//! [`ReadCache`]: what was read last, in pieces.
//!
//! ```text
//! object      [ piece 0      | piece 1      | piece 2      | piece 3   ]     16 KiB each, but the last
//! cached        yes            no             no             yes
//! wanted            [--------------------------------]
//! requested                    [---------------------]
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docvalues_storage::ReadAt;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The length of a piece: what a segment reads ahead at random access.
const PIECE_LEN: usize = 16 << 10;
const PIECE: u64 = PIECE_LEN as u64;

/// Bytes of objects that were read last, in memory, bounded in bytes.
///
/// Any number of objects share it, each through a [`reader`](Self::reader). The open columns of a segment also keep the bytes
/// that they touched. To free these, replace the segment by its
/// [`without_columns`](docvalues_reader::Segment::without_columns), which rereads from the cache the bytes that it still has.
///
/// Threads that need the same bytes at the same time may each request them.
///
/// # Examples
///
/// See [`ObjectReader`](crate::ObjectReader).
#[cfg_attr(docsrs, doc(cfg(feature = "object_store")))]
pub struct ReadCache {
    /// Pieces by the number of their reader and their own.
    pieces: Cache<(u64, u64), Arc<[u8]>, ByBytes>,
    /// The number of the next reader.
    readers: AtomicU64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<(u64, u64), Arc<[u8]>> for ByBytes {
    fn weight(&self, _: &(u64, u64), piece: &Arc<[u8]>) -> u64 {
        piece.len() as u64
    }
}

impl ReadCache {
    /// A cache of at most `bytes` bytes, and some 100 more for each 16 KiB.
    pub fn new(bytes: u64) -> ReadCache {
        let items = usize::try_from(bytes / PIECE).unwrap_or(usize::MAX).max(1);
        ReadCache { pieces: Cache::with_weighter(items, bytes, ByBytes), readers: AtomicU64::new(0) }
    }

    /// The bytes of `inner`, with those that were read last taken from the cache. They must never change.
    pub fn reader(self: &Arc<Self>, inner: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        let number = self.readers.fetch_add(1, Ordering::Relaxed);
        Arc::new(CachedReader { cache: Arc::clone(self), number, inner })
    }

    /// The number of bytes in the cache.
    pub fn bytes(&self) -> u64 {
        self.pieces.weight()
    }
}

impl fmt::Debug for ReadCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, most) = (self.bytes(), self.pieces.capacity());
        f.debug_struct("ReadCache").field("bytes", &bytes).field("most", &most).finish_non_exhaustive()
    }
}

struct CachedReader {
    cache: Arc<ReadCache>,
    number: u64,
    inner: Arc<dyn ReadAt>,
}

impl ReadAt for CachedReader {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let range = self.inside(&(offset..offset.saturating_add(bytes.len() as u64)))?;
        self.copy(&range, &self.pieces(std::slice::from_ref(&range))?, bytes)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let ranges = ranges.iter().map(|range| self.inside(range)).collect::<io::Result<Vec<_>>>()?;
        let pieces = self.pieces(&ranges)?;
        let copy = |range: &Range<u64>| {
            let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(io::Error::other)?];
            self.copy(range, &pieces, &mut bytes)?;
            Ok(bytes)
        };
        ranges.iter().map(copy).collect()
    }
}

impl CachedReader {
    fn inside(&self, range: &Range<u64>) -> io::Result<Range<u64>> {
        let is_inside = range.start <= range.end && range.end <= self.len();
        if is_inside { Ok(range.clone()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// All pieces with bytes of `ranges`: from the cache, or requested together.
    fn pieces(&self, ranges: &[Range<u64>]) -> io::Result<BTreeMap<u64, Arc<[u8]>>> {
        let (mut pieces, mut missing) = (BTreeMap::new(), Vec::<Range<u64>>::new());
        for piece in ranges.iter().flat_map(pieces_of) {
            if pieces.contains_key(&piece) || missing.last().is_some_and(|last| last.contains(&piece)) {
                continue;
            }
            match (self.cache.pieces.get(&(self.number, piece)), missing.last_mut()) {
                (Some(bytes), _) => drop(pieces.insert(piece, bytes)),
                (None, Some(last)) if last.end == piece => last.end += 1,
                (None, _) => missing.push(piece..piece + 1),
            }
        }
        if missing.is_empty() {
            return Ok(pieces);
        }
        let len = self.len();
        let wanted: Vec<_> =
            missing.iter().map(|run| run.start * PIECE..len.min(run.end.saturating_mul(PIECE))).collect();
        let read = self.inner.read_ranges(&wanted)?;
        let lens = wanted.iter().map(|range| range.end - range.start);
        if !lens.eq(read.iter().map(|bytes| bytes.len() as u64)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (run, bytes) in missing.into_iter().zip(&read) {
            for (piece, bytes) in run.zip(bytes.chunks(PIECE_LEN)) {
                let bytes: Arc<[u8]> = bytes.into();
                self.cache.pieces.insert((self.number, piece), Arc::clone(&bytes));
                pieces.insert(piece, bytes);
            }
        }
        Ok(pieces)
    }

    /// Copies a range from the pieces that have its bytes.
    fn copy(
        &self,
        range: &Range<u64>,
        pieces: &BTreeMap<u64, Arc<[u8]>>,
        mut to: &mut [u8],
    ) -> io::Result<()> {
        for piece in pieces_of(range) {
            let from = range.start.saturating_sub(piece * PIECE);
            let end = range.end.saturating_sub(piece * PIECE).min(PIECE);
            let [from, end] = [from, end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let part = pieces.get(&piece).and_then(|bytes| bytes.get(from..end));
            let part = part.ok_or(io::ErrorKind::UnexpectedEof)?;
            let (first, rest) = to.split_at_mut(part.len());
            first.copy_from_slice(part);
            to = rest;
        }
        Ok(())
    }
}

/// The pieces that have bytes of a range.
fn pieces_of(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() { 0..0 } else { range.start / PIECE..range.end.div_ceil(PIECE) }
}

#[cfg(all(test, not(shuttle)))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    /// Bytes, and the ranges of them that were requested.
    struct Watched(Vec<u8>, Mutex<Vec<Range<u64>>>);

    impl Watched {
        fn new(len: usize) -> Arc<Watched> {
            Arc::new(Watched((0..=250).cycle().take(len).collect(), Mutex::default()))
        }

        fn requests(&self) -> Vec<Range<u64>> {
            std::mem::take(&mut self.1.lock().unwrap())
        }
    }

    impl ReadAt for Watched {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
            self.1.lock().unwrap().push(offset..offset + bytes.len() as u64);
            self.0.read_at(offset, bytes)
        }
    }

    #[test]
    fn what_was_read_is_not_requested_again() {
        let inner = Watched::new(100_000);
        let reader = Arc::new(ReadCache::new(10 << 20)).reader(Arc::clone(&inner) as Arc<dyn ReadAt>);
        reader.read_at(20_000, &mut [0; 10]).unwrap();
        assert_eq!(inner.requests(), vec![PIECE..2 * PIECE]);
        reader.read_ranges(&[16_384..32_768, 20_000..20_000]).unwrap();
        assert_eq!(inner.requests(), []);
        // Around the piece that is there, to the end of the file.
        reader.read_ranges(&[0..40_000, 40_001..40_002, 99_999..100_000]).unwrap();
        assert_eq!(inner.requests(), [0..PIECE, 2 * PIECE..3 * PIECE, 6 * PIECE..100_000]);
        reader.read_at(99_999, &mut [0; 2]).unwrap_err();
        assert_eq!(inner.requests(), []);
    }

    #[test]
    fn readers_of_a_cache_share_its_memory_and_not_their_bytes() {
        let cache = Arc::new(ReadCache::new(4 * PIECE));
        let (ones, twos) =
            (cache.reader(Arc::new(vec![1; 1 << 20])), cache.reader(Arc::new(vec![2; 1 << 20])));
        for at in (0..1 << 20).step_by(10_000) {
            let mut read = [0; 2];
            ones.read_at(at, &mut read[..1]).unwrap();
            twos.read_at(at, &mut read[1..]).unwrap();
            assert_eq!(read, [1, 2]);
            assert!(cache.bytes() <= 4 * PIECE);
        }
        assert!(cache.bytes() > 0);
    }

    proptest! {
        #[test]
        fn reads_as_without(
            len in prop_oneof![Just(0), Just(1), Just(16_384), Just(16_385), 0..300_000_usize],
            most in prop_oneof![Just(0), Just(20_000), Just(200_000)],
            waves in prop::collection::vec(prop::collection::vec((0..=1_000_usize, 0..=1_000_usize), 0..6), 1..20),
        ) {
            let inner = Watched::new(len);
            let reader = Arc::new(ReadCache::new(most)).reader(Arc::clone(&inner) as Arc<dyn ReadAt>);
            for wave in waves {
                let mut edges: Vec<u64> = wave.iter().flat_map(|(a, b)| [*a, *b]).map(|at| (at * len / 1_000) as u64).collect();
                edges.sort_unstable();
                let ranges: Vec<Range<u64>> = edges.chunks_exact(2).map(|edge| edge[0]..edge[1]).collect();
                prop_assert_eq!(reader.read_ranges(&ranges).unwrap(), inner.0.read_ranges(&ranges).unwrap());
                // No byte twice in a wave, and none beyond the end.
                let requests = inner.requests();
                prop_assert!(requests.windows(2).all(|pair| pair[0].end <= pair[1].start));
                prop_assert!(requests.last().is_none_or(|last| last.end <= len as u64));
            }
        }
    }
}
