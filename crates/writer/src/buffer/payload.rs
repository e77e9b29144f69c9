//! What a section holds.

use super::region::Region;
use crate::error::ErrorKind;

/// Bytes end to end: the first in a file, if they had no room, then those in memory, in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    pub(crate) far: Option<Region>,
    pub(crate) near: Vec<Vec<u8>>,
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload { far: None, near: vec![bytes] }
    }
}

impl Payload {
    pub(crate) fn len(&self) -> u64 {
        let near = self.near.iter().map(|piece| piece.len() as u64).sum::<u64>();
        self.far.as_ref().map_or(0, Region::len) + near
    }

    /// Shows all bytes to `f`, front to back. Each piece is freed then: what keeps the file's pages in memory
    /// finds room where it was.
    pub(crate) fn for_each<E: From<docvalues_storage::Error>>(
        self,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.far.iter().try_for_each(|far| far.for_each(&mut f))?;
        self.near.into_iter().try_for_each(|piece| f(&piece))
    }

    /// All in one piece.
    pub(crate) fn joined(self) -> Result<Vec<u8>, ErrorKind> {
        let len = usize::try_from(self.len()).unwrap_or(usize::MAX);
        if let Payload { far: None, near } = &self
            && near.len() <= 1
        {
            return Ok(self.near.into_iter().next().unwrap_or_default());
        }
        let mut all = Vec::with_capacity(len);
        self.for_each(|bytes| {
            all.extend_from_slice(bytes);
            Ok::<_, ErrorKind>(())
        })?;
        Ok(all)
    }
}
