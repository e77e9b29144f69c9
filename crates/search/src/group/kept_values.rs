//! The values of metrics that rows do not hold: strings of first and last documents, and the terms of distinct values.

use docvalues_column::SortKey;

use super::FoundGroup;
use crate::engine::{Request, Stored, memory};
use crate::error::Result;
use crate::metrics::{Kept, Layout, MeasureState, Metric};
use crate::sort::{Keys, SortValue, read_keys};

/// Opens the columns of first and last documents as sort keys, by which the values of any documents are read. Returns them
/// with the indices of the metrics.
pub(super) fn open(request: &mut Request<'_>, metrics: &[Metric]) -> Result<Vec<(usize, Keys)>> {
    let by_key = metrics.iter().enumerate().filter(|(_, metric)| metric.key().is_some());
    by_key.map(|(at, metric)| Ok((at, Keys::open(request, &[SortKey::of(metric.column())])?))).collect()
}

/// Reads the values of some groups: appends strings of the columns to `kept`, and replaces ords there by their terms.
///
/// # Errors
///
/// If a column is damaged, the search is interrupted, or the values exceed the memory limit.
pub(super) fn read(
    (request, layout): (&Request<'_>, &Layout),
    columns: &[(usize, Keys)],
    (groups, kept): (&mut [FoundGroup], &mut Kept),
) -> Result<()> {
    for (metric, keys) in columns {
        let by_key = |group: &FoundGroup| layout.string_by_key(&group.row, *metric);
        let docs: Vec<_> = groups.iter().filter_map(by_key).map(|(.., doc)| doc).collect();
        let mut entries = read_keys(request, keys, &docs)?.into_iter();
        for group in groups.iter_mut() {
            let Some((at, is_last, key, _)) = by_key(group) else { continue };
            let value = entries.next().and_then(|entry| entry.values.into_iter().next());
            let Some(SortValue::Bytes(string)) = value else { continue };
            kept.push(MeasureState::ByKey(is_last, Box::new((key, Stored::Bytes(string)))));
            group.row[at] = kept.len() as u64;
        }
    }
    groups.iter().try_for_each(|group| layout.read_terms(&group.row, request, kept))?;
    memory::limit(kept.iter().map(MeasureState::heap_bytes).sum(), request.memory())
}
