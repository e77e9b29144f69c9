//! Writes changes of segments since the last commit: deltas, and folds of one segment each.

use crate::error::Result;
use crate::files::FileName;
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
    let Frozen { commit, segments, tombstones: all, rewrites_deltas, since, created, .. } = frozen;
    segments.retain(|state| state.now.live.count() > 0);
    // Those that the last commit does not have.
    let mut tombstones = all.sorted_from(*since + 1);
    let since_commit = |state| ChangedSegment::since(state, &state.committed);
    let mut changed: Vec<ChangedSegment<'_>> = segments.iter().map(since_commit).collect();
    let is_change = !tombstones.is_empty() || changed.iter().any(|changed| changed.len() > 0);
    if *rewrites_deltas || is_change && commit.deltas.len() >= MAX_DELTAS {
        fold(store, &commit.schema, segments, created)?;
        changed = segments.iter().map(|state| ChangedSegment::since(state, &state.folded)).collect();
        tombstones = all.sorted_from(0);
        commit.deltas.clear();
    }
    if is_change || *rewrites_deltas {
        let name = FileName::Delta(store.take_number());
        created.push(name);
        commit.deltas.extend(delta::write(&store.directory, name, &commit.schema, changed, &tombstones)?);
    }
    segments.iter_mut().for_each(|state| state.committed = state.now.clone());
    Ok(())
}

/// Gives segments of which much changed since their fold another one, with all that changed.
fn fold(
    store: &Store,
    schema: &StoreSchema,
    segments: &mut [SegmentState],
    created: &mut Vec<FileName>,
) -> Result<()> {
    for state in segments {
        let changed = ChangedSegment::since(state, &state.folded).len() as u64;
        if changed == 0 || changed.saturating_mul(FOLDED_SHARE) < u64::from(state.now.live.docs()) {
            continue;
        }
        let name = FileName::Fold { segment: state.number(), number: store.take_number() };
        created.push(name);
        let since = SegmentChanges::none(state.now.live.docs());
        let changed = vec![ChangedSegment::since(state, &since)];
        state.fold = delta::write(&store.directory, name, schema, changed, &[])?;
        state.folded = state.now.clone();
    }
    Ok(())
}
