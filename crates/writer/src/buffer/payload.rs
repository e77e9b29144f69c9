//! [`Payload`]: the bytes of an encoded section.

use std::convert::Infallible;
use std::ops::Range;

use docvalues_format::error::Section;

use super::scratch::Scratch;
use crate::error::ErrorKind;

/// The bytes of a section: a prefix on disk, if it was spilled, and then pieces in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    pub(crate) on_disk: Option<Scratch>,
    pub(crate) in_memory: Vec<Vec<u8>>,
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload { on_disk: None, in_memory: vec![bytes] }
    }
}

impl Payload {
    pub(crate) fn len(&self) -> u64 {
        let in_memory = self.in_memory.iter().map(|piece| piece.len() as u64).sum::<u64>();
        self.on_disk.as_ref().map_or(0, Scratch::len) + in_memory
    }

    /// Calls `f` with all bytes, in order. Frees each piece after its call, so that the page cache of the written file
    /// can take its memory.
    pub(crate) fn for_each<E: From<docvalues_storage::Error>>(
        self,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.on_disk.iter().try_for_each(|on_disk| on_disk.for_each(&mut f))?;
        self.in_memory.into_iter().try_for_each(|piece| f(&piece))
    }

    /// The bytes of `range`, if they are contiguous in memory.
    pub(super) fn borrow(&self, range: &Range<u64>) -> Option<&[u8]> {
        let mut before = self.on_disk.as_ref().map_or(0, Scratch::len);
        for piece in &self.in_memory {
            if let Some(start) = range.start.checked_sub(before).filter(|&start| start < piece.len() as u64) {
                let (start, end) = (usize::try_from(start), usize::try_from(range.end - before));
                return piece.get(start.ok()?..end.ok()?);
            }
            before += piece.len() as u64;
        }
        None
    }

    /// Appends the bytes of `range` to `out`.
    pub(crate) fn read(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let mut before = 0;
        if let Some(on_disk) = &self.on_disk {
            before = on_disk.len();
            let here = range.start.min(before)..range.end.min(before);
            let there = out.len();
            out.resize(there + at(here.end - here.start), 0);
            on_disk.read(here.start, &mut out[there..])?;
        }
        for piece in &self.in_memory {
            let end = before + piece.len() as u64;
            let here = range.start.clamp(before, end)..range.end.clamp(before, end);
            out.extend_from_slice(&piece[at(here.start - before)..at(here.end - before)]);
            before = end;
        }
        Ok(())
    }
}

/// A conversion of a structure's sections to payloads. `on_disk` has the first bytes of one of them.
pub(crate) fn payloads(
    mut on_disk: Option<(Section, Scratch)>,
) -> impl FnMut(Section, Vec<u8>) -> Result<Payload, Infallible> {
    move |section, bytes| {
        let on_disk = on_disk.take_if(|(of, _)| *of == section).map(|(_, scratch)| scratch);
        Ok(Payload { on_disk, in_memory: vec![bytes] })
    }
}
