//! Whether byte strings without a declared kind repeat often enough to be interned.
//!
//! A dictionary of strings that hardly repeat is expensive to build, and is larger than the strings. So the first
//! [`SAMPLE`] values decide, in the order of their documents: if nearly all are distinct, and the binary encoding of
//! the sample is smaller, all values are kept as they are. If it turns out in the end that they repeat nevertheless,
//! they are interned then. The decision depends on the values only, and not on batches, budgets or threads.

use std::collections::HashSet;

use docvalues_format::binary::Values as _;
use docvalues_format::file::kind::Kind;
use docvalues_storage::Spill;
use docvalues_terms::hash::hash;

use crate::buffer::{FieldBuffer, Items, MemoryBudget, PresenceBuffer, Scratch, StringBuffer, Values};
use crate::encode::Encoder;
use crate::error::ErrorKind;
use crate::index::index;
use crate::intern::Interner;
use crate::schema::{BytesKind, FieldSpec};

/// The number of values that decide.
pub(crate) const SAMPLE: u32 = if cfg!(test) { 1 << 9 } else { 1 << 16 };

/// The memory for terms of values that were spilled, in bytes. Then they are spilled, too.
const RUN: usize = if cfg!(test) { 1 << 13 } else { 32 << 20 };

/// The state of the decision about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// The field has a declared kind, or several values a document.
    Declared,
    /// The field has fewer values than the sample.
    Unknown,
    /// Values are interned.
    Often,
    /// Values are kept as they are, and checked again in the end.
    Rarely,
}

impl Repeats {
    pub(crate) fn of(spec: &FieldSpec) -> Repeats {
        let is_open = spec.logical().is_bytes() && !spec.is_multi_valued();
        if is_open && spec.bytes_kind() == BytesKind::Auto { Repeats::Unknown } else { Repeats::Declared }
    }
}

impl FieldBuffer {
    /// Whether the field has enough values to decide.
    pub(crate) fn is_sample_due(&self) -> bool {
        self.repeats == Repeats::Unknown && self.presence.count() >= SAMPLE
    }

    /// Decides from the first values, if that is due. All documents must be committed. After an error, the values are
    /// unchanged.
    pub(crate) fn sample(&mut self, spec: &FieldSpec, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        if !self.is_sample_due() {
            return Ok(());
        }
        let rarely = match &self.values {
            Values::Terms { ids, terms } => {
                let sample = &ids.values.in_memory[..index(SAMPLE)];
                // Ids are numbered in the order of their first occurrence.
                let distinct = sample.iter().max().map_or(0, |id| id + 1);
                is_distinct(distinct) && {
                    let strings = sample.iter().map(|&id| terms.get(id));
                    is_smaller_binary(spec, interned(strings)?)?
                }
            }
            Values::Strings(strings) => {
                let mut sample = (Items::singles(), Interner::unsorted());
                let mut unlimited = MemoryBudget::new(usize::MAX);
                strings.strings.for_each(|value| match sample.0.values.len() < index(SAMPLE) {
                    true => push(&mut sample, value, &mut unlimited),
                    false => Ok(()),
                })?;
                is_distinct(sample.1.len()) && is_smaller_binary(spec, sample)?
            }
            Values::Numbers(_) => false,
        };
        if rarely {
            // Without memory for both forms, values are interned as before.
            let _ = self.keep_as_they_are(memory);
            self.repeats = Repeats::Rarely;
        } else {
            self.intern_all(memory)?;
            self.repeats = Repeats::Often;
        }
        Ok(())
    }

    /// Decides for good: interns the values if they are few, or repeat.
    pub(crate) fn settle(mut self, spec: &FieldSpec) -> Result<FieldBuffer, ErrorKind> {
        let mut memory = MemoryBudget::new(usize::MAX);
        self.sample(spec, &mut memory)?;
        if self.repeats == Repeats::Rarely && !self.repeats_in_all()? {
            self.keep_as_they_are(&mut memory)?;
        } else if matches!(self.repeats, Repeats::Unknown | Repeats::Rarely) {
            self.intern_all(&mut memory)?;
            self.repeats = Repeats::Often;
        }
        Ok(self)
    }

    /// Replaces interned values, which are in memory, by byte strings. After an error, nothing has changed.
    pub(crate) fn keep_as_they_are(&mut self, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let Values::Terms { ids, terms } = &self.values else { return Ok(()) };
        let (mut strings, mut used) = (StringBuffer::default(), MemoryBudget::new(memory.left()));
        ids.values.in_memory.iter().try_for_each(|&id| strings.push(terms.get(id), &mut used))?;
        memory.charge(used.used())?;
        memory.release(self.heap());
        self.values = Values::Strings(strings);
        Ok(())
    }

    /// Interns byte strings. After an error, nothing has changed.
    fn intern_all(&mut self, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let Values::Strings(strings) = &self.values else { return Ok(()) };
        let spill = strings.strings.bytes.on_disk.as_ref().map(Scratch::spill);
        let (mut interned, mut used) =
            ((Items::singles(), Interner::unsorted()), MemoryBudget::new(memory.left()));
        strings.strings.for_each(|value| {
            push(&mut interned, value, &mut used)?;
            spill_if_large(&mut interned, spill, &mut used)
        })?;
        memory.charge(used.used())?;
        memory.release(self.heap());
        let (ids, terms) = interned;
        self.values = Values::Terms { ids, terms };
        Ok(())
    }

    /// Whether more than an eighth of the values are repetitions. The number of distinct values is estimated by those
    /// whose hashes begin with some zeros.
    fn repeats_in_all(&self) -> Result<bool, ErrorKind> {
        let count = self.presence.count();
        let zeros = (count / SAMPLE).max(1).ilog2();
        let most = index(SAMPLE) * 4;
        let mut hashes = HashSet::new();
        let mut add = |value: &[u8]| {
            let hash = hash(value, 0);
            // The strings of a hostile input may all have such a hash.
            if hash.leading_zeros() >= zeros && hashes.len() < most {
                hashes.insert(hash);
            }
        };
        match &self.values {
            Values::Strings(strings) => strings.strings.for_each(|value| {
                add(value);
                Ok::<_, ErrorKind>(())
            })?,
            Values::Terms { ids, terms } => {
                ids.values.for_each(&mut |ids| ids.iter().for_each(|&id| add(terms.get(id))))?;
            }
            Values::Numbers(_) => {}
        }
        let distinct = (hashes.len() as u64) << zeros;
        Ok(hashes.len() == most || distinct < u64::from(count - count / 8))
    }
}

type Interned = (Items<u32>, Interner);

/// Whether nearly all values of a sample are distinct.
fn is_distinct(distinct: u32) -> bool {
    distinct >= SAMPLE - SAMPLE / 16
}

/// Whether the sample is smaller without a dictionary.
fn is_smaller_binary(spec: &FieldSpec, (ids, terms): Interned) -> Result<bool, ErrorKind> {
    let mut presence = PresenceBuffer::default();
    presence.reserve(0..SAMPLE, SAMPLE, &mut MemoryBudget::new(usize::MAX))?;
    presence.extend_run(0..SAMPLE);
    let encoder = Encoder { docs: SAMPLE, doc_map: None, jump_tables: true, zones: true };
    let values = encoder.sort_terms(ids, terms)?;
    Ok(encoder.terms(encoder.frame(spec, presence)?, values)?.column.field.kind == Kind::Binary)
}

fn interned<'v>(values: impl Iterator<Item = &'v [u8]>) -> Result<Interned, ErrorKind> {
    let (mut interned, mut memory) =
        ((Items::singles(), Interner::unsorted()), MemoryBudget::new(usize::MAX));
    values.into_iter().try_for_each(|value| push(&mut interned, value, &mut memory))?;
    Ok(interned)
}

fn push((ids, terms): &mut Interned, value: &[u8], memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
    memory.reserve(&mut ids.values.in_memory, 1)?;
    ids.values.in_memory.push(terms.intern(value, memory)?);
    Ok(())
}

fn spill_if_large(
    (ids, terms): &mut Interned,
    spill: Option<&Spill>,
    memory: &mut MemoryBudget,
) -> Result<(), ErrorKind> {
    match spill {
        Some(spill) if memory.used() > RUN => {
            terms.spill(ids.values.len(), spill, memory)?;
            ids.values.spill(spill, memory)
        }
        _ => Ok(()),
    }
}
