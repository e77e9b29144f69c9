//! The bytes of a section that is being built, the first of which may be flushed to a storage.

/// Encoded bytes.
#[derive(Debug, Default)]
pub struct Output {
    /// The bytes that are not flushed.
    pub(crate) bytes: Vec<u8>,
    /// The number of flushed bytes before them.
    pub(crate) flushed: u64,
}

impl Output {
    /// The number of all bytes.
    pub(crate) fn end(&self) -> u64 {
        self.flushed + self.bytes.len() as u64
    }

    /// Calls `write` with the bytes, which are the next of the section. It may remove all of them.
    pub(crate) fn flush<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.bytes.len();
        write(&mut self.bytes)?;
        self.flushed += before.saturating_sub(self.bytes.len()) as u64;
        Ok(())
    }
}
