//! Reads from an object store or over a network, with requests batched in waves.
//!
//! A request takes milliseconds, whatever its length. Many in parallel take as long as one; in sequence, they add
//! up. But decoders read a few bytes at a time and continue from what they find. So work is *attempted*: it records
//! the byte ranges that it lacks, gets an error for them, and continues with whatever else it can do. Then all
//! missing ranges are requested in parallel, as a *wave*, and the work is attempted again, until it lacks nothing.
//!
//! ```text
//! 20 documents, 1st attempt   presence: a granule of each block is missing         20 requests in one wave
//!               2nd attempt   presence is there; a granule of each value is not    20 requests in one wave
//!               3rd attempt   20 values
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Ranges with a smaller gap are merged into one request.
const GAP: u64 = 16 << 10;

/// Bytes of the file's end that are read at opening: the footer, the directory's root and, in most files, the whole
/// directory.
const END: u64 = 64 << 10;

/// Bytes of the file's beginning that are read at opening.
const BEGINNING: u64 = 64;

/// Immutable bytes that are read at any offset: an object in an object store, a file on another machine.
///
/// [`Vec<u8>`] implements it, for tests.
///
/// # Examples
///
/// An object in a store that answers range requests, here a counter around bytes:
///
/// ```
/// use std::io;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use docvalues_storage::{ReadAt, Source};
///
/// struct Object {
///     bytes: Vec<u8>,
///     requests: AtomicUsize,
/// }
///
/// impl ReadAt for Object {
///     fn len(&self) -> u64 {
///         self.bytes.len() as u64
///     }
///
///     fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
///         self.requests.fetch_add(1, Ordering::Relaxed); // an HTTP request with a `Range` header
///         self.bytes.read_at(offset, bytes)
///     }
/// }
///
/// let object = Arc::new(Object { bytes: vec![7; 1 << 20], requests: AtomicUsize::new(0) });
/// let source = Source::requests(Arc::clone(&object) as Arc<dyn ReadAt>, "bucket/a.dv")?;
/// assert_eq!(source.len(), 1 << 20);
/// assert_eq!(object.requests.load(Ordering::Relaxed), 2); // the beginning and the end, in one wave
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `bytes` from byte `offset` on.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or there are fewer.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Reads several ascending, disjoint ranges. The caller needs all of them before it continues.
    ///
    /// By default one after the other. If a request has a high latency, make them in parallel.
    ///
    /// # Errors
    ///
    /// As [`read_at`](Self::read_at).
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let read = |range: &Range<u64>| {
            let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            let mut bytes: Vec<u8> = Vec::new();
            bytes.try_reserve_exact(len)?;
            bytes.resize(len, 0);
            self.read_at(range.start, &mut bytes)?;
            Ok(bytes)
        };
        ranges.iter().map(read).collect()
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|at| self.get(at..)?.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A [`ReadAt`] with the beginning and the end of the file in memory.
pub(crate) struct Requests {
    reader: Arc<dyn ReadAt>,
    ends: RangeCache,
}

/// The ranges of the file that were read, by their start.
#[derive(Default)]
struct RangeCache(BTreeMap<u64, Vec<u8>>);

/// Work that is being attempted on this thread.
struct Wave {
    /// The address of the [`Requests`] it reads from.
    on: usize,
    wanted: Vec<Range<u64>>,
    there: RangeCache,
    /// The error of the last wave, if it failed.
    failed: Option<io::ErrorKind>,
}

thread_local! {
    /// One for each source that work on this thread is attempted on.
    static WAVES: RefCell<Vec<Wave>> = const { RefCell::new(Vec::new()) };
}

impl Requests {
    /// Requests the beginning and the end of the file.
    pub(crate) fn begin(reader: Arc<dyn ReadAt>) -> io::Result<Requests> {
        let mut requests = Requests { reader, ends: RangeCache::default() };
        let len = requests.reader.len();
        let ends = [0..BEGINNING.min(len), len.saturating_sub(END)..len];
        requests.ends = requests.request(ends.into())?;
        Ok(requests)
    }

    pub(crate) fn len(&self) -> u64 {
        self.reader.len()
    }

    /// Fills `bytes` from `offset` on: from ranges read before, or by a request.
    pub(crate) fn fill(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut copy =
            |there: &RangeCache| there.get(offset, bytes.len()).map(|from| bytes.copy_from_slice(from));
        if copy(&self.ends).or_else(|| self.with_wave(|wave| copy(&wave.there)).flatten()).is_some() {
            return Ok(());
        }
        self.reader.read_at(offset, bytes)
    }

    /// Runs `work` until it lacks no bytes, requesting in between the ranges that it failed to
    /// [`want`](Self::want). Returns the last result of `work`.
    pub(crate) fn in_waves<T>(&self, mut work: impl FnMut() -> T) -> T {
        // If it is nested, the outer work requests the missing ranges.
        if self.with_wave(|_| ()).is_some() {
            return work();
        }
        let _wave = WaveGuard::begin(self.address());
        loop {
            let done = work();
            if !self.request_wanted() {
                return done;
            }
        }
    }

    /// Requests the ranges that the work lacked. Returns whether there are any.
    fn request_wanted(&self) -> bool {
        let wanted = self.with_wave(|wave| std::mem::take(&mut wave.wanted)).unwrap_or_default();
        if wanted.is_empty() {
            return false;
        }
        let read = self.request(wanted);
        self.with_wave(|wave| match read {
            Ok(pieces) => pieces.0.into_iter().for_each(|(at, bytes)| wave.there.add(at, bytes)),
            Err(error) => wave.failed = Some(error.kind()),
        });
        true
    }

    /// Fails with [`WouldBlock`](io::ErrorKind::WouldBlock) unless `ranges` were read, and records them for the
    /// next wave. Does nothing outside of [`in_waves`](Self::in_waves).
    pub(crate) fn want(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> io::Result<()> {
        let wanted = self.with_wave(|wave| {
            let before = wave.wanted.len();
            let missing = |range: &Range<u64>| {
                let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
                self.ends.get(range.start, len).or_else(|| wave.there.get(range.start, len)).is_none()
            };
            wave.wanted.extend(ranges.into_iter().filter(missing));
            match wave.failed {
                _ if wave.wanted.len() == before => Ok(()),
                Some(failed) => {
                    wave.wanted.clear();
                    Err(failed.into())
                }
                None => Err(io::ErrorKind::WouldBlock.into()),
            }
        });
        wanted.unwrap_or(Ok(()))
    }

    /// Reads `ranges` of the file in one wave.
    fn request(&self, mut ranges: Vec<Range<u64>>) -> io::Result<RangeCache> {
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let near = next.start <= range.end.saturating_add(GAP);
            if near {
                range.end = range.end.max(next.end);
            }
            near
        });
        let read = self.reader.read_ranges(&ranges)?;
        let lens = read.iter().map(|bytes| bytes.len() as u64);
        if !lens.eq(ranges.iter().map(|range| range.end - range.start)) {
            let why = "`read_ranges` returned more or fewer bytes than the ranges have";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(RangeCache(ranges.into_iter().map(|range| range.start).zip(read).collect()))
    }

    /// Passes the current attempt to `with`, if there is one.
    fn with_wave<T>(&self, with: impl FnOnce(&mut Wave) -> T) -> Option<T> {
        let on = self.address();
        WAVES.with_borrow_mut(|waves| waves.iter_mut().find(|wave| wave.on == on).map(with))
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl RangeCache {
    fn add(&mut self, at: u64, bytes: Vec<u8>) {
        let there = self.0.entry(at).or_default();
        if there.len() < bytes.len() {
            *there = bytes;
        }
    }

    /// The `len` bytes at `offset`, if one range holds them all.
    fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        // Usually in the range that starts last. But that may be a short one inside of another.
        self.0.range(..=offset).rev().find_map(|(at, bytes)| {
            let from = usize::try_from(offset.checked_sub(*at)?).ok()?;
            bytes.get(from..from.checked_add(len)?)
        })
    }
}

/// Marks work on a source as being attempted while it lives.
struct WaveGuard(usize);

impl WaveGuard {
    fn begin(on: usize) -> WaveGuard {
        let wave = Wave { on, wanted: Vec::new(), there: RangeCache::default(), failed: None };
        WAVES.with_borrow_mut(|waves| waves.push(wave));
        WaveGuard(on)
    }
}

impl Drop for WaveGuard {
    fn drop(&mut self) {
        WAVES.with_borrow_mut(|waves| waves.retain(|wave| wave.on != self.0));
    }
}

// Without the bytes, which are a file's.
impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_range_hides_nothing_of_a_longer_one_around_it() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut pieces = RangeCache::default();
        for range in [40..44, 0..60, 40..42, 70..100] {
            pieces.add(range.start as u64, bytes[range].to_vec());
        }
        for (start, len) in (0..100).flat_map(|start| (0..40).map(move |len| (start, len))) {
            let expected =
                (start + len <= 60 || start >= 70).then(|| bytes.get(start..start + len)).flatten();
            // Nothing is nowhere, too.
            if len > 0 {
                assert_eq!(pieces.get(start as u64, len), expected, "{len} from {start} on");
            }
        }
    }
}
