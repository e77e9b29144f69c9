//! The bytes of a section that is being built, of which a storage may take the first ones.

/// Encoded bytes.
#[derive(Debug, Default)]
pub struct Output {
    /// Those that were not taken.
    pub(crate) bytes: Vec<u8>,
    /// The number of those that were.
    pub(crate) taken: u64,
}

impl Output {
    /// The number of all bytes.
    pub(crate) fn end(&self) -> u64 {
        self.taken + self.bytes.len() as u64
    }

    /// Offers the bytes to `take`, which may take all of them, as the next part of the section.
    pub(crate) fn offer<E>(&mut self, take: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.bytes.len();
        take(&mut self.bytes)?;
        self.taken += before.saturating_sub(self.bytes.len()) as u64;
        Ok(())
    }
}
