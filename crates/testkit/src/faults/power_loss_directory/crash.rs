//! Draws a disk as it might be after a power loss.

use super::disk::{Change, Disk, Inode};

/// The bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

impl Disk {
    pub(super) fn crash_image(&self, seed: u64) -> Disk {
        let mut random = Random::new(seed);
        let mut names = self.durable_names.clone();
        let kept = random.below(KEPT_OF + 1);
        // Each change tells what its names are afterwards, so the order between names makes no difference.
        let changes = self.name_changes.iter().filter(|_| random.keeps(kept));
        changes.for_each(|change| change.apply(&mut names));

        let kept = random.below(KEPT_OF + 1);
        let mut image = Disk::default();
        for (name, inode) in names {
            image.names.insert(name, image.inodes.len());
            let bytes = self.inodes[inode].after_crash(&mut random, kept);
            image.inodes.push(Inode { seen: bytes.clone(), durable: bytes, ..Inode::default() });
        }
        image.durable_names = image.names.clone();
        image
    }
}

impl Inode {
    fn after_crash(&self, random: &mut Random, kept: usize) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for change in &self.changes {
            if let Some(change) = change.after_crash(random, kept) {
                change.apply(&mut bytes);
            }
        }
        bytes
    }
}

impl Change {
    /// The part of this change that reached the disk; `None` if nothing did.
    fn after_crash(&self, random: &mut Random, kept: usize) -> Option<Change> {
        let (offset, mut bytes) = match self {
            _ if random.keeps(kept) => return Some(self.clone()),
            Change::Write { offset, bytes } if !bytes.is_empty() => (*offset, bytes.clone()),
            _ => return None,
        };
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => return None,
            1 => bytes.fill(0),
            2 => bytes.truncate(((offset + at) / SECTOR * SECTOR).saturating_sub(offset)),
            _ => bytes[at] ^= 1 << random.below(8),
        }
        Some(Change::Write { offset, bytes })
    }
}

/// An image keeps each change with a probability of 0, 1, 2, ... or all of these many.
const KEPT_OF: usize = 8;

/// A generator of pseudorandom numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random((seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9).max(1))
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let upper = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        // At most 31 bits.
        usize::try_from(upper).unwrap_or_default() % end
    }

    fn keeps(&mut self, kept: usize) -> bool {
        self.below(KEPT_OF) < kept
    }
}
