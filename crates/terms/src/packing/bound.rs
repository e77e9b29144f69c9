//! Arbitrary byte strings as bounds among packed ids.

use super::{Kind, Packed, Template};

/// The most bytes of an id that fits a template.
const MAX_ID: usize = 3 * u8::MAX as usize;

impl Template {
    /// The lower bound among packed ids for `bound`, which need not fit the template: ids that are not less are packed to this or
    /// more, all others to less. `None` if it is greater than all ids that fit. O(length).
    pub(crate) fn pack_bound<'a>(&self, bound: &'a [u8], packed: &'a mut Packed) -> Option<&'a [u8]> {
        if self.is_raw() {
            return Some(bound);
        }
        let mut buffer = [0; MAX_ID];
        let len = self.pack(self.least_from(bound, &mut buffer)?, packed)?.len();
        Some(&packed.0[..len])
    }

    /// The least id of the template that is not less than `bound`.
    fn least_from<'a>(&self, bound: &[u8], id: &'a mut [u8; MAX_ID]) -> Option<&'a [u8]> {
        let id = id.get_mut(..self.id_len()?)?;
        let mut at = 0;
        while at < id.len() {
            // All ids that begin with the whole bound are greater: take the least from here on.
            let Some(&byte) = bound.get(at) else { return Some(self.fill_least(id, at)) };
            let Some(&least) = self.allowed(at).iter().find(|&&allowed| allowed >= byte) else { break };
            id[at] = least;
            at += 1;
            if least > byte {
                return Some(self.fill_least(id, at));
            }
        }
        if at == id.len() && bound.len() == at {
            return Some(id);
        }
        // Every continuation is less than the bound: increment the last position that allows it.
        let greater = |at: usize| Some((at, *self.allowed(at).iter().find(|&&allowed| allowed > id[at])?));
        let (at, byte) = (0..at).rev().find_map(greater)?;
        id[at] = byte;
        Some(self.fill_least(id, at + 1))
    }

    /// Fills `id` from `at` on with the least allowed bytes.
    fn fill_least<'a>(&self, id: &'a mut [u8], at: usize) -> &'a [u8] {
        for (at, byte) in id.iter_mut().enumerate().skip(at) {
            *byte = self.allowed(at).first().copied().unwrap_or(0);
        }
        id
    }

    /// The bytes that are allowed at position `at`, in ascending order.
    fn allowed(&self, at: usize) -> &[u8] {
        let Some(inner) = at.checked_sub(self.prefix.len()) else { return &self.prefix[at..=at] };
        match (self.kind, inner.checked_sub(self.len.into())) {
            (_, Some(at)) => self.suffix.get(at..=at).unwrap_or(&[]),
            (Kind::Uuid, None) if matches!(inner, 8 | 13 | 18 | 23) => b"-",
            (kind, None) => kind.alphabet(),
        }
    }
}
