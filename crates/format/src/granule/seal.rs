//! Computing the checksums of a section as its bytes are written.

use byteorder::{ByteOrder, LittleEndian};
use crc32fast::Hasher;

use super::{ALIGN, CRC_LEN, GRANULE, TAIL};
use crate::cursor::Put;

/// Computes the tail and the checksums of a section from its payload, which is pushed in pieces of any size.
///
/// Holds four bytes for each granule. The result does not depend on the section's offset in the file.
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
    /// The checksums of the complete granules.
    crcs: Vec<u8>,
    /// The checksum of the incomplete granule so far.
    open: Hasher,
    /// Bytes in the incomplete granule.
    filled: usize,
}

impl Sealer {
    /// Begins a section.
    pub fn new() -> Sealer {
        Sealer::default()
    }

    /// Adds the next bytes of the payload.
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

    /// Ends the payload. Returns the bytes that follow it (tail and checksums), and the checksum for the
    /// [`SectionRef`](super::SectionRef).
    pub fn finish(mut self) -> (Vec<u8>, u32) {
        // A granule is a multiple of the alignment of levels.
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

/// Appends tail and checksums to a payload. Returns all bytes of the section, and the checksum for the
/// [`SectionRef`](super::SectionRef).
pub fn seal(mut payload: Vec<u8>) -> (Vec<u8>, u32) {
    let mut sealer = Sealer::new();
    sealer.push(&payload);
    let (end, crc) = sealer.finish();
    payload.extend_from_slice(&end);
    (payload, crc)
}
