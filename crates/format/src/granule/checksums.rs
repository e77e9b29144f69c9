//! The checksums of a section, computed while its bytes go by.

use byteorder::{ByteOrder, LittleEndian};
use crc32fast::Hasher;

use super::{ALIGN, CRC_LEN, GRANULE, TAIL};
use crate::cursor::Put;

/// A section that is being written: it is shown the payload, front to back, in pieces of any size, and then
/// knows what stands behind it.
///
/// Holds four bytes for each granule. What it knows does not depend on where the section will lie.
///
/// # Examples
///
/// ```
/// use docvalues_format::granule::{Sealer, extent, seal};
///
/// let mut file = Vec::new();
/// let mut sealer = Sealer::new();
/// for piece in [&b"doc "[..], b"values"] {
///     sealer.push(piece);
///     file.extend_from_slice(piece);
/// }
/// let (end, crc) = sealer.finish();
/// file.extend_from_slice(&end);
/// assert_eq!(extent(10), Some(file.len() as u64));
/// assert_eq!(crc, crc32fast::hash(&file)); // it fits one granule
/// assert_eq!((file, crc), seal(b"doc values".to_vec()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sealer {
    /// The checksums of the granules that are complete.
    crcs: Vec<u8>,
    /// That of the granule that is not.
    open: Hasher,
    /// The bytes that it has.
    filled: usize,
}

impl Sealer {
    /// Begins a section.
    pub fn new() -> Sealer {
        Sealer::default()
    }

    /// Takes note of the next bytes of the payload.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.filled > 0 {
            let fits = bytes.len().min(GRANULE - self.filled);
            self.fill(bytes.split_off(..fits).unwrap_or_default());
            if self.filled == GRANULE {
                self.close();
            }
        }
        let (granules, rest) = bytes.as_chunks::<GRANULE>();
        granules.iter().for_each(|granule| self.crcs.put_u32(crc32fast::hash(granule)));
        self.fill(rest);
    }

    /// All that stands behind the payload, which is complete: tail and checksums; and the checksum that all
    /// others hang from, for the [`SectionRef`](super::SectionRef).
    pub fn finish(mut self) -> (Vec<u8>, u32) {
        // Granules are whole multiples of what levels are aligned to.
        let mut end = vec![0; TAIL + (ALIGN - (self.filled + TAIL) % ALIGN) % ALIGN];
        self.push(&end);
        if self.filled > 0 {
            self.close();
        }
        let mut crcs = self.crcs;
        while crcs.len() > CRC_LEN {
            crcs.resize(crcs.len().next_multiple_of(ALIGN), 0);
            end.extend_from_slice(&crcs);
            crcs = crcs.chunks(GRANULE).flat_map(|granule| crc32fast::hash(granule).to_le_bytes()).collect();
        }
        (end, LittleEndian::read_u32(&crcs))
    }

    fn fill(&mut self, bytes: &[u8]) {
        self.open.update(bytes);
        self.filled += bytes.len();
    }

    fn close(&mut self) {
        self.crcs.put_u32(std::mem::take(&mut self.open).finalize());
        self.filled = 0;
    }
}

/// Makes a payload a section: all bytes to write, and the [`SectionRef`](super::SectionRef)'s checksum.
pub fn seal(mut payload: Vec<u8>) -> (Vec<u8>, u32) {
    let mut sealer = Sealer::new();
    sealer.push(&payload);
    let (end, crc) = sealer.finish();
    payload.extend_from_slice(&end);
    (payload, crc)
}
