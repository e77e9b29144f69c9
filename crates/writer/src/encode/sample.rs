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

use super::Encoder;
use crate::buffer::{
    ByteStrings, FieldBuffer, Interner, Items, MemoryBudget, PresenceBuffer, Repeats, SAMPLE, Scratch, Values,
};
use crate::error::ErrorKind;
use crate::index::index;
use crate::schema::FieldSpec;

/// The memory for terms of values that were spilled, in bytes. Then they are spilled, too.
const RUN: usize = if cfg!(test) { 1 << 13 } else { 32 << 20 };

/// Decides from the first values, if that is due. All documents must be committed. After an error, the values are
/// unchanged.
pub(crate) fn sample(
    buffer: &mut FieldBuffer,
    spec: &FieldSpec,
    memory: &mut MemoryBudget,
) -> Result<(), ErrorKind> {
    if !buffer.is_sample_due() {
        return Ok(());
    }
    if hardly_repeat(&buffer.values, spec)? {
        // Without memory for both forms, values are interned as before.
        let _ = buffer.keep_as_they_are(memory);
        buffer.repeats = Repeats::Rarely;
    } else {
        intern_all(buffer, memory)?;
        buffer.repeats = Repeats::Often;
    }
    Ok(())
}

/// Whether the first values hardly repeat, and are smaller without a dictionary.
fn hardly_repeat(values: &Values, spec: &FieldSpec) -> Result<bool, ErrorKind> {
    let mut first = (Items::singles(), Interner::default());
    let mut unlimited = MemoryBudget::new(usize::MAX);
    Ok(match values {
        Values::Terms { ids, terms } => {
            let ids = &ids.values.in_memory[..index(SAMPLE)];
            // Ids are numbered in the order of their first occurrence.
            let distinct = ids.iter().max().map_or(0, |id| id + 1);
            is_distinct(distinct) && {
                ids.iter().try_for_each(|&id| push(&mut first, terms.get(id), &mut unlimited))?;
                is_smaller_binary(spec, first)?
            }
        }
        Values::Strings(strings) => {
            strings.strings.for_each(|value| match first.0.values.len() < index(SAMPLE) {
                true => push(&mut first, value, &mut unlimited),
                false => Ok(()),
            })?;
            is_distinct(first.1.len()) && is_smaller_binary(spec, first)?
        }
        Values::Numbers(_) => false,
    })
}

/// Decides for good: interns the values if they are few, or repeat.
pub(crate) fn settle(mut buffer: FieldBuffer, spec: &FieldSpec) -> Result<FieldBuffer, ErrorKind> {
    let mut memory = MemoryBudget::new(usize::MAX);
    sample(&mut buffer, spec, &mut memory)?;
    if buffer.repeats == Repeats::Rarely && !repeats_in_all(&buffer)? {
        buffer.keep_as_they_are(&mut memory)?;
    } else if matches!(buffer.repeats, Repeats::Unknown | Repeats::Rarely) {
        intern_all(&mut buffer, &mut memory)?;
        buffer.repeats = Repeats::Often;
    }
    Ok(buffer)
}

/// Interns byte strings. After an error, nothing has changed.
fn intern_all(buffer: &mut FieldBuffer, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
    let Values::Strings(strings) = &buffer.values else { return Ok(()) };
    let spill = strings.strings.bytes.on_disk.as_ref().map(Scratch::spill);
    let mut used = MemoryBudget::new(memory.left());
    let (ids, terms) = intern(&strings.strings, spill, RUN, &mut used)?;
    memory.charge(used.used())?;
    memory.release(buffer.heap());
    buffer.values = Values::Terms { ids, terms };
    Ok(())
}

/// Interns `strings`. With a temporary file, at most `most` bytes of ids and terms stay in memory.
pub(crate) fn intern(
    strings: &ByteStrings,
    spill: Option<&Spill>,
    most: usize,
    memory: &mut MemoryBudget,
) -> Result<Interned, ErrorKind> {
    let mut interned = (Items::singles(), Interner::default());
    strings.for_each(|value| {
        push(&mut interned, value, memory)?;
        let (ids, terms) = &mut interned;
        match spill {
            Some(spill) if memory.used() > most => {
                terms.spill(ids.values.len(), spill, memory)?;
                ids.values.spill(spill, memory)
            }
            _ => Ok(()),
        }
    })?;
    Ok(interned)
}

/// Whether more than an eighth of the values are repetitions. The number of distinct values is estimated by those
/// whose hashes begin with some zeros.
fn repeats_in_all(buffer: &FieldBuffer) -> Result<bool, ErrorKind> {
    let count = buffer.presence.count();
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
    match &buffer.values {
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

/// The ids of values, and their terms.
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
    let encoder = Encoder { docs: SAMPLE, doc_map: None, jump_tables: true, zones: true, pool: None };
    let values = encoder.sort_terms(ids, terms, true)?;
    Ok(encoder.terms(encoder.frame(spec, presence)?, values)?.column.field.kind == Kind::Binary)
}

fn push((ids, terms): &mut Interned, value: &[u8], memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
    memory.reserve(&mut ids.values.in_memory, 1)?;
    ids.values.in_memory.push(terms.intern(value, memory)?);
    Ok(())
}
