//! Makes a snapshot from the contents of a store, and shares what did not change since the one before.

use std::sync::{Arc, OnceLock};

use docvalues_column::{DocId, Field, Part, PlainSource};
use docvalues_search::{PartChange, Parts};

use super::block_ids::SnapshotBlock;
use super::{Inner, Moment, Snapshot};
use crate::segments::{Block, CommitState, SegmentChanges, SegmentState, StoreIds, StoreSegment};

/// The parts of a snapshot.
pub(crate) struct Contents<'w> {
    pub(crate) moment: Moment,
    pub(crate) segments: &'w [SegmentState],
    pub(crate) blocks: Vec<&'w Block>,
    /// The table of all ids, if there is one.
    pub(crate) ids: Option<&'w StoreIds>,
}

impl Snapshot {
    /// The snapshot of some segments and blocks. What it has in common with `before` is shared.
    pub(crate) fn of(contents: Contents<'_>, before: Option<&Snapshot>) -> Snapshot {
        let Contents { moment, segments: states, blocks, ids: table } = contents;
        let with_same_segments = before.filter(|before| before.has_segments_of(states));
        let (segments, has_side_files): (Arc<[_]>, bool) = match with_same_segments {
            Some(before) => (before.0.segments.clone(), before.0.has_side_files),
            None => (
                states.iter().map(|state| state.segment.clone()).collect(),
                states.iter().any(|state| !state.segment.side.is_empty()),
            ),
        };
        let changes = match with_same_segments.filter(|before| before.has_changes_of(states)) {
            Some(before) => before.0.changes.clone(),
            None => states.iter().map(|state| state.now.clone()).collect(),
        };
        let ids = match with_same_segments.filter(|before| before.generation() == moment.generation) {
            Some(before) => before.0.ids.clone(),
            None => {
                let by_table = table.and_then(|table| table.lookup(&segments));
                Arc::new(by_table.map_or_else(OnceLock::new, OnceLock::from))
            }
        };
        let has_schema = |before: &&Snapshot| Arc::ptr_eq(&before.0.moment.schema, &moment.schema);
        let (fields, of_batches) = match before.filter(has_schema) {
            Some(before) => (before.0.fields.clone(), before.0.of_batches.clone()),
            None => (moment.schema.fields().into(), Arc::default()),
        };
        let known = before.map_or_else(|| vec![None; blocks.len()], |before| before.known_blocks(&blocks));
        let mut parts = match before {
            Some(before) => before.changed_parts(states, (&blocks, &known), &fields),
            None => {
                let mut parts: Vec<Part> = states.iter().map(|state| part(state, &fields)).collect();
                parts.extend(blocks.iter().map(|block| block_part(block, &fields)));
                Parts::new(parts)
            }
        };
        // Parts that were changed declare the same fields.
        if before.is_none_or(|before| !Arc::ptr_eq(&before.0.fields, &fields)) {
            parts = parts.with_fields(fields.clone());
        }
        let block = |(block, known): (&Block, Option<usize>)| {
            let known = before.zip(known).map(|(before, place)| &before.0.blocks[place]);
            SnapshotBlock::new(block.clone(), known)
        };
        let blocks = blocks.into_iter().zip(known).map(block).collect();
        Snapshot(Arc::new(Inner {
            moment,
            segments,
            changes,
            has_side_files,
            blocks,
            fields,
            of_batches,
            parts,
            ids,
        }))
    }

    /// Whether its segments are these.
    fn has_segments_of(&self, states: &[SegmentState]) -> bool {
        let segments = &self.0.segments;
        segments.len() == states.len()
            && segments.iter().zip(states).all(|(segment, state)| Arc::ptr_eq(segment, &state.segment))
    }

    /// Whether nothing has changed in these segments, which are its own.
    fn has_changes_of(&self, states: &[SegmentState]) -> bool {
        self.0.changes.iter().zip(states).all(|(changes, state)| state.now.is_unchanged_since(changes))
    }

    /// The snapshot of a commit, as a reader opened it. What it has in common with `before` is shared.
    pub(crate) fn of_commit(state: &CommitState, before: Option<&Snapshot>) -> Snapshot {
        let moment = Moment {
            store: state.file.id,
            sequence: state.file.sequence,
            commit: state.number,
            generation: 0,
            schema: Arc::new(state.file.schema.clone()),
            user_data: state.file.user_data.clone(),
        };
        let contents = Contents { moment, segments: &state.segments, blocks: Vec::new(), ids: None };
        Snapshot::of(contents, before)
    }

    /// The places of the blocks that this snapshot has with the same documents, deleted or not.
    fn known_blocks(&self, blocks: &[&Block]) -> Vec<Option<usize>> {
        // Both are in the same order.
        let mut at = 0;
        let known = |block: &&Block| {
            let place = at + self.0.blocks[at..].iter().position(|known| known.has_docs_of(block))?;
            at = place + 1;
            Some(place)
        };
        blocks.iter().map(known).collect()
    }

    /// The place of a segment here, if it is. Both snapshots are in the same order, apart from merged segments, so that the search
    /// from `next` on ends at once.
    fn place_of(&self, segment: &Arc<StoreSegment>, next: &mut usize) -> Option<usize> {
        let (first, last) = self.0.segments.split_at(*next);
        let is_same = |known: &Arc<StoreSegment>| Arc::ptr_eq(known, segment);
        let known = last.iter().position(is_same).map(|place| *next + place);
        let place = known.or_else(|| first.iter().position(is_same))?;
        *next = place + 1;
        Some(place)
    }

    /// For each part, its place in an older snapshot of the same opening, and the documents whose values are others there,
    /// ascending. `None` if all may be others. Which documents are live does not matter.
    pub(crate) fn known_parts(&self, older: &Snapshot) -> Vec<Option<(usize, Vec<DocId>)>> {
        let (now, before) = (&self.0, &older.0);
        if !Arc::ptr_eq(&now.moment.schema, &before.moment.schema) {
            return vec![None; now.parts.len()];
        }
        let mut next = 0;
        let of_segment = |(segment, changes): (&Arc<StoreSegment>, &SegmentChanges)| {
            let place = older.place_of(segment, &mut next)?;
            Some((place, changes.docs_updated_since(&before.changes[place])?))
        };
        let blocks: Vec<&Block> = now.blocks.iter().map(|block| &block.block).collect();
        let of_block = |place: Option<usize>| Some((before.segments.len() + place?, Vec::new()));
        let segments = now.segments.iter().zip(&*now.changes).map(of_segment);
        segments.chain(older.known_blocks(&blocks).into_iter().map(of_block)).collect()
    }

    fn changed_parts(
        &self,
        states: &[SegmentState],
        (blocks, known): (&[&Block], &[Option<usize>]),
        fields: &Arc<[Field]>,
    ) -> Parts {
        let before = &self.0;
        let mut next = 0;
        let change = |state: &SegmentState| {
            let Some(place) = self.place_of(&state.segment, &mut next) else {
                return PartChange::Added(part(state, fields));
            };
            let (changes, now) = (&before.changes[place], &state.now);
            // A reader reads all deltas again, perhaps those of another history.
            if !now.has_origin_of(changes) {
                return match now.has_old_values() && changes.has_old_values() {
                    true => PartChange::Live(place, now.live.clone()),
                    false => PartChange::Added(part(state, fields)),
                };
            }
            if !now.has_values_of(changes) {
                let columns = now.fields_unlike(changes).into_iter().map(|field| fields[field].name.clone());
                return PartChange::Columns(place, part(state, fields), columns.collect());
            }
            match changes.live.count() == now.live.count() {
                true => PartChange::Kept(place),
                false => PartChange::Live(place, now.live.clone()),
            }
        };
        let changed_block = |(block, known): (&&Block, &Option<usize>)| {
            let Some(place) = *known else { return PartChange::Added(block_part(block, fields)) };
            match before.blocks[place].is_same(block) {
                true => PartChange::Kept(before.segments.len() + place),
                false => PartChange::Live(before.segments.len() + place, block.live.clone()),
            }
        };
        let mut parts: Vec<PartChange> = states.iter().map(change).collect();
        parts.extend(blocks.iter().zip(known).map(changed_block));
        before.parts.changed(parts)
    }
}

fn part(state: &SegmentState, fields: &Arc<[Field]>) -> Part {
    let live = &state.now.live;
    let source = state.now.over(&state.segment.segment, fields);
    Part { source, live: (!live.are_all()).then(|| Arc::new(live.clone())) }
}

fn block_part(block: &Block, fields: &Arc<[Field]>) -> Part {
    let part = Part::new(PlainSource::new(block.docs.clone(), fields.clone()));
    if block.live.are_all() { part } else { part.live(Arc::new(block.live.clone())) }
}
