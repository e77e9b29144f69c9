//! Writes changes of segments since the last commit: deltas, and folds of one segment each.

use crate::error::Result;
use crate::files::{FileEntry, FileName};
use crate::schema::StoreSchema;
use crate::segments::delta::{self, ChangedSegment};
use crate::segments::{SegmentChanges, SegmentState};
use crate::store::{Frozen, Store};

/// The most deltas of a commit.
const MAX_DELTAS: usize = 8;

/// A segment of which at least one in this many documents changed gets a fold of its own.
const FOLDED_SHARE: u64 = 500;

/// Writes what changed since the last commit.
pub(super) fn write_deltas(store: &Store, frozen: &mut Frozen) -> Result<()> {
    frozen.segments.retain(|state| state.now.live.count() > 0);
    // Those that the last commit does not have.
    let mut tombstones = frozen.tombstones.sorted();
    tombstones.retain(|(_, tombstone)| tombstone.sequence > frozen.before.sequence);
    let since_commit = |state| ChangedSegment::since(state, &state.committed);
    let mut changed: Vec<ChangedSegment<'_>> = frozen.segments.iter().map(since_commit).collect();
    let is_change = !tombstones.is_empty() || changed.iter().any(|changed| changed.len() > 0);
    if frozen.rewrites_deltas || is_change && frozen.deltas.len() >= MAX_DELTAS {
        fold(store, &frozen.schema, &mut frozen.segments)?;
        changed = frozen.segments.iter().map(|state| ChangedSegment::since(state, &state.folded)).collect();
        tombstones = frozen.tombstones.sorted();
        frozen.deltas.clear();
    }
    if is_change || frozen.rewrites_deltas {
        let number = store.change_quietly(|writer| Ok(writer.take_number()))?;
        let name = FileName::Delta(number);
        let written = delta::write(&store.directory, name, &frozen.schema, changed, &tombstones);
        frozen.deltas.extend(commits_file(store, name, written)?);
    }
    frozen.segments.iter_mut().for_each(|state| state.committed = state.now.clone());
    Ok(())
}

/// Gives segments of which much changed since their fold another one, with all that changed.
fn fold(store: &Store, schema: &StoreSchema, segments: &mut [SegmentState]) -> Result<()> {
    for state in segments {
        let changed = ChangedSegment::since(state, &state.folded).len() as u64;
        if changed == 0 || changed.saturating_mul(FOLDED_SHARE) < u64::from(state.now.live.docs()) {
            continue;
        }
        let number = store.change_quietly(|writer| Ok(writer.take_number()))?;
        let name = FileName::Fold { segment: state.number(), number };
        let since = SegmentChanges::none(state.now.live.docs());
        let changed = vec![ChangedSegment::since(state, &since)];
        let written = delta::write(&store.directory, name, schema, changed, &[]);
        state.fold = commits_file(store, name, written)?;
        state.folded = state.now.clone();
    }
    Ok(())
}

/// Notes a file that was written for the commit, if one was.
fn commits_file(
    store: &Store,
    name: FileName,
    written: Result<Option<FileEntry>>,
) -> Result<Option<FileEntry>> {
    store.change_quietly(|writer| {
        let written = writer.synced(written)?;
        if written.is_some() {
            writer.commits_file(name);
        }
        Ok(written)
    })
}
