//! The table of all ids: it is filled once enough ids were looked up without it.

use std::collections::HashSet;
use std::sync::TryLockError;

use crate::error::Result;
use crate::read::Snapshot;
use crate::segments::SegmentState;
use crate::store::{Store, Task};

/// The most times that the table is filled at once.
const FILLS: usize = 3;

/// Fills the table of all ids, or has it filled, if that pays after another `ids` ids were looked up without it.
pub(super) fn fill_table(store: &Store, now: &Snapshot, ids: usize) -> Result<()> {
    if ids == 0 || now.has_table() || !store.ids.would_pay(ids, now.opened()) {
        return Ok(());
    }
    if store.tasks.want(Task::Merge) { Ok(()) } else { fill_table_if_it_pays(store) }
}

/// Fills the table of all ids, if that pays.
pub(crate) fn fill_table_if_it_pays(store: &Store) -> Result<()> {
    let now = store.snapshot();
    if now.has_table() || now.opened().is_empty() || !store.ids.would_pay(0, now.opened()) {
        return Ok(());
    }
    // A merge would replace segments meanwhile. Another caller may be filling it, too.
    let _no_merge = match store.merging.try_lock() {
        Ok(lock) => lock,
        Err(TryLockError::Poisoned(lock)) => lock.into_inner(),
        Err(TryLockError::WouldBlock) => return Ok(()),
    };
    // Segments that are added meanwhile are added to the table the next time.
    for _ in 0..FILLS {
        let filled = store.snapshot();
        store.ids.fill(filled.opened());
        let gone = store.change(|writer| {
            writer.segments_changed();
            let now: HashSet<u64> = writer.docs.segments.iter().map(SegmentState::number).collect();
            let numbers = filled.opened().iter().map(|segment| segment.number);
            Ok(numbers.filter(|number| !now.contains(number)).collect::<Vec<_>>())
        })?;
        store.ids.remove(&gone);
        if store.snapshot().has_table() {
            break;
        }
    }
    Ok(())
}
