//! Partial groups.

use std::cmp::{Ordering, Reverse};

use docvalues_column::{Field, LogicalType};

use super::column::PartialColumn;
use super::keyed::{KeyedDoc, all_parts, merge_docs, shifted};
use super::{check_same, measure};
use crate::engine::{DocsByPart, Request, Search, Stored, len_u32, memory};
use crate::error::{Error, Result};
#[cfg(feature = "serde")]
use crate::group::tuple_values;
use crate::group::{FoundGroups, Group, GroupFound, GroupOrder, Groups, Having, group_values};
use crate::metrics::{Distinct, Measure, MeasureState, Metric, merge_sorted};
use crate::sort::{Keys, read_keys};

/// Groups over some parts: all of them, with the state of their metrics and their best documents. See
/// [the module](super).
///
/// It takes about 100 bytes a group, 32 for each metric, and for each document what a
/// [`PartialTop`](super::PartialTop) takes. Percentiles take 16 bytes more for each different number of a group, distinct
/// values 24 and their bytes.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::group::{Group, Measure, Metric};
/// use docvalues_search::{Docs, Parts, Search};
///
/// # let of = |sizes: [i64; 2]| {
/// #     let column = |name: &str, values: [i64; 2]| {
/// #         let field = Field::new(name, Kind::Numeric, LogicalType::I64);
/// #         (field, ModelColumn::Numeric(values.map(Some).to_vec()))
/// #     };
/// #     Parts::new([Part::new(MemSource::new(2, [column("host", [1, 1]), column("size", sizes)]))])
/// # };
/// # let (here, there) = (of([7, 8]), of([9, 10]));
/// // One host has the sizes 7 and 8 here, 9 and 10 there.
/// let group = Group::of("host").metric(Metric::Mean("size".into()));
/// let here = Search::over(&here).partial_group(Docs::All, &group)?;
/// let there = Search::over(&there).partial_group(Docs::All, &group)?;
/// let found = here.merge(there)?.finish();
/// assert_eq!((found.groups[0].count, &found.groups[0].metrics[0]), (4, &Some(Measure::Mean(8.5))));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct PartialGroups {
    group: Group,
    /// The columns to group by.
    by: Vec<PartialColumn>,
    /// The columns of the metrics.
    metrics: Vec<PartialColumn>,
    /// The columns of the sort keys, and those of the keys of metrics.
    keys: Vec<PartialColumn>,
    parts: u32,
    docs: u64,
    missing: u64,
    /// Ascending by value, which is a tuple if there are several columns.
    groups: Vec<PartialGroup>,
}

/// A group, of one document at least.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PartialGroup {
    value: Stored,
    count: u64,
    measures: Vec<Option<MeasureState>>,
    /// The best documents, in order.
    docs: Vec<KeyedDoc>,
}

/// The best documents to keep of each group.
fn kept_docs(group: &Group) -> usize {
    if group.order == GroupOrder::Best { group.docs.max(1) } else { group.docs }
}

impl PartialGroups {
    /// [`Search::partial_group`].
    pub(super) fn of(search: &Search<'_>, docs: DocsByPart<'_>, group: &Group) -> Result<PartialGroups> {
        let column = |name: &str| PartialColumn::open(search, name);
        let top = search.pass_memory() / size_of::<PartialGroup>();
        let docs_of_each = kept_docs(group);
        let all = Group { top, order: GroupOrder::Value, docs: docs_of_each, having: None, ..group.clone() };
        crate::group::validate(group)?;
        let (_, found) = crate::group::find(search, docs, &all, true)?;
        let by = group.by.iter().enumerate().map(|(at, name)| Ok(column(name)?.of_step(group.step(at))));
        let keys = group.sort.iter().map(|key| key.column.as_str());
        let keys = keys.chain(group.metrics.iter().filter_map(Metric::key));
        let mut partial = PartialGroups {
            group: group.clone(),
            by: by.collect::<Result<_>>()?,
            metrics: group.metrics.iter().map(|metric| column(metric.column())).collect::<Result<_>>()?,
            keys: keys.map(column).collect::<Result<_>>()?,
            parts: len_u32(search.parts.len()),
            docs: found.docs,
            missing: found.missing,
            groups: Vec::new(),
        };
        // Checks it here, so that `finish` cannot fail.
        partial.having()?;
        partial.groups = with_keys(search, docs, group, found)?;
        Ok(partial)
    }

    /// The groups of the documents of both. O(groups).
    ///
    /// # Errors
    ///
    /// If the requests differ, the kinds or types of a column, or there are more parts than a `u32` counts.
    pub fn merge(self, other: PartialGroups) -> Result<PartialGroups> {
        let PartialGroups { group, by, metrics, keys, parts, docs, missing, groups } = self;
        let name = group.by.join(", ");
        check_same(&name, &group, &other.group)?;
        let (most, all_parts) = (kept_docs(&group), all_parts(&name, parts, other.parts)?);
        let both = |a: PartialGroup, b: PartialGroup| a.merge(b, most);
        let after = |group: PartialGroup| PartialGroup { docs: shifted(group.docs, parts), ..group };
        let others = other.groups.into_iter().map(after).collect();
        let groups = merge_sorted(groups, others, |group| &group.value, both);
        Ok(PartialGroups {
            by: PartialColumn::merge_all(by, other.by)?,
            metrics: PartialColumn::merge_all(metrics, other.metrics)?,
            keys: PartialColumn::merge_all(keys, other.keys)?,
            parts: all_parts,
            docs: docs.saturating_add(other.docs),
            missing: missing.saturating_add(other.missing),
            groups,
            group,
        })
    }

    /// The answer. O(groups · log groups).
    pub fn finish(self) -> Groups {
        // It was bound before, to columns of the same types.
        let having = self.having().ok().flatten();
        let PartialGroups { group, by, metrics, docs, missing, mut groups, .. } = self;
        if let Some(having) = having {
            groups.retain(|found| having.passes(found.count, &|at| found.measure(at, &group, &metrics)));
        }
        let distinct = groups.len() as u64;
        let fields: Vec<Field> = by.into_iter().map(|by| by.field).collect();
        let found = |found: PartialGroup| GroupFound {
            values: group_values(found.value, &fields, group.with_missing),
            count: found.count,
            docs: found.docs.iter().take(group.docs).map(|doc| doc.address).collect(),
            metrics: measure::finish(&found.measures, &group.metrics, &metrics),
        };
        let groups = first(groups, &group, &metrics).into_iter().map(found).collect();
        let distinct = (group.order != GroupOrder::Best).then_some(Distinct::Exact(distinct));
        Groups { fields, groups, distinct, docs, missing }
    }

    /// The condition on groups, bound to the metrics.
    fn having(&self) -> Result<Option<Having>> {
        let logical = |column: &PartialColumn| (!column.is_absent()).then_some(column.field.logical);
        let logicals: Vec<Option<LogicalType>> = self.metrics.iter().map(logical).collect();
        let having = self.group.having.as_ref();
        having.map(|query| Having::new(query, &self.group.metrics, &logicals)).transpose()
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self) -> Result<()> {
        let PartialGroups { group, by, metrics, keys, groups, parts, .. } = self;
        crate::group::validate(group)?;
        self.having()?;
        let name = &group.by.join(", ");
        let all_keys = group.sort.len() + group.metrics.iter().filter_map(Metric::key).count();
        let has_columns = metrics.len() == group.metrics.len() && keys.len() == all_keys;
        super::check(name, by.len() == group.by.len(), "a description of each column")?;
        super::check(name, has_columns, "a column for each metric and sort key")?;
        let are_single = by.iter().all(|by| !by.field.kind.is_multi_valued());
        super::check(name, are_single, "at most one value a document")?;
        let fields: Vec<Field> = by.iter().map(|by| by.field.clone()).collect();
        super::check(name, groups.is_sorted_by(|a, b| a.value < b.value), "ascending groups")?;
        for found in groups {
            let fits = match (by.as_slice(), &found.value) {
                ([only], value) if !group.with_missing => value.fits(&only.field),
                (_, Stored::Bytes(tuple)) => tuple_values(tuple, &fields, group.with_missing).is_some(),
                (_, Stored::Number(_)) => false,
            };
            let are_columns = group.with_missing || by.iter().all(|by| !by.is_absent());
            let is_there = are_columns && found.count > 0;
            super::check(name, fits && is_there, "values of the column's type")?;
            let fit = measure::fit(&found.measures, &group.metrics, metrics);
            super::check(name, fit, "measures of the requested metrics")?;
            let are_first = found.docs.len() <= kept_docs(group) && found.docs.is_sorted_by(|a, b| a < b);
            let fit = found.docs.iter().all(|doc| doc.fits(&group.sort, keys, *parts));
            super::check(name, fit && are_first, "the best documents of each group in order")?;
        }
        Ok(())
    }
}

/// All groups that were found, with the keys of their documents.
fn with_keys(
    search: &Search<'_>,
    docs: DocsByPart<'_>,
    group: &Group,
    found: FoundGroups,
) -> Result<Vec<PartialGroup>> {
    const EACH: usize = size_of::<PartialGroup>();
    if let Some(all) = found.distinct.filter(|all| *all > found.groups.len() as u64) {
        return Err(Error::Memory { bytes: all.saturating_mul(EACH as u64) });
    }
    let best: Vec<_> = found.groups.iter().flat_map(|group| &group.docs).copied().collect();
    let mut request = Request::open(search, docs)?;
    let keys = Keys::open(&mut request, &group.sort)?;
    let mut entries = read_keys(&request, &keys, &best)?.into_iter().map(KeyedDoc::from);
    let (mut groups, mut bytes) = (Vec::with_capacity(found.groups.len()), 0);
    for group in found.groups {
        let measures = found.layout.measure_states(&group.row, &found.kept);
        let docs: Vec<_> = entries.by_ref().take(group.docs.len()).collect();
        bytes += EACH + group.value.heap_bytes() + size_of_val(measures.as_slice());
        bytes += measures.iter().flatten().map(MeasureState::heap_bytes).sum::<usize>();
        memory::limit(bytes, search.pass_memory())?;
        groups.push(PartialGroup { value: group.value, count: group.row[0], measures, docs });
    }
    Ok(groups)
}

/// The first groups in the requested order. Equal ones are ordered by value.
fn first(groups: Vec<PartialGroup>, group: &Group, metrics: &[PartialColumn]) -> Vec<PartialGroup> {
    let height = |found: &PartialGroup| match group.order {
        GroupOrder::Count => Some(found.count.into()),
        GroupOrder::Metric(at) => found.measure(at, group, metrics).and_then(|measure| measure.order()),
        GroupOrder::Value | GroupOrder::Best => None,
    };
    let by_best = |a: &PartialGroup, b: &PartialGroup| match group.order {
        GroupOrder::Best => a.docs.first().cmp(&b.docs.first()),
        _ => Ordering::Equal,
    };
    let mut groups: Vec<_> = groups.into_iter().map(|group| (Reverse(height(&group)), group)).collect();
    // A stable sort: groups ascend.
    groups.sort_by(|(height, group), (other, of)| height.cmp(other).then_with(|| by_best(group, of)));
    groups.truncate(group.top);
    groups.into_iter().map(|(_, group)| group).collect()
}

impl PartialGroup {
    fn measure(&self, at: usize, group: &Group, metrics: &[PartialColumn]) -> Option<Measure> {
        measure::measure(&self.measures, at, &group.metrics, metrics)
    }

    fn merge(self, other: PartialGroup, docs: usize) -> PartialGroup {
        PartialGroup {
            count: self.count.saturating_add(other.count),
            measures: MeasureState::merge_all(self.measures, other.measures),
            docs: merge_docs(self.docs, other.docs, docs),
            ..self
        }
    }
}
