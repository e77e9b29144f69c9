//! Groups: documents with the same values of one or more columns. Returns the first groups, their counts and metrics, and the
//! best documents of each. With one document a group, this is what engines call *collapse*.
//!
//! | order | first pass keeps | second pass, for the returned groups |
//! | --- | --- | --- |
//! | count, metric, value | a row of accumulators for each value | their best documents, if requested |
//! | best | the best document of each competitive group | counts, metrics, best documents |
//!
//! Rows are in an array if values are dense, else in a hash table. If the rows exceed [`Search::memory`], several
//! passes accumulate a part of the values each: a range of ords, or of hashes.
//!
//! Dates and timestamps are grouped by [calendar steps](crate::calendar) as well: a virtual column has the step of each.
//!
//! Several columns, and one if documents without a value are grouped as well, form tuples, which are grouped as the byte strings or the numbers of one column: see `tuple_column.rs`
//! and `tuple_numbers.rs`.
//!
//! Distinct values are in a hash set of pairs of row and value, numbers for percentiles in a log of pairs. Both share the
//! memory of the rows. If groups are merged with others, the values and numbers of each are kept.
//!
//! Documents with -0.0 are in the group of 0.0.
//!
//! Sums of doubles depend on the order of addition, so a single thread adds them.

mod all_groups;
mod best_groups;
mod found_groups;
mod group_request;
mod having;
mod kept_values;
mod second_pass;
#[cfg(test)]
mod tests;
mod tuple_column;
mod tuple_numbers;

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Value};

use crate::calendar::{self, CalendarStep};
use crate::engine::{DocsByPart, Request, Search, Slot, Stored, memory};
use crate::error::{Error, Result};
use crate::metrics::{Distinct, Kept, Layout};
pub use crate::metrics::{Measure, Metric};
use crate::sort::{Keys, TopKCollector};
use best_groups::BestGroups;
pub(crate) use found_groups::{FoundGroup, FoundGroups, values as group_values};
pub(crate) use group_request::validate;
pub use group_request::{Group, GroupOrder};
pub(crate) use having::Having;
use second_pass::{GroupIndex, SecondPass};
use tuple_column::TupleColumn;
#[cfg(feature = "serde")]
pub(crate) use tuple_column::values as tuple_values;
use tuple_numbers::TupleNumbers;

/// The first groups in the requested order.
///
/// # Examples
///
/// For each host, the sum of sizes and the largest document:
///
/// | document | host | size |
/// | ---: | --- | ---: |
/// | 0 | `b.example` | 512 |
/// | 1 | `a.example` | 9 |
/// | 2 | `b.example` | 70 |
/// | 3 | | 1,500 |
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_column::SortKey;
/// use docvalues_search::group::{Group, GroupOrder, Measure, Metric};
/// use docvalues_search::stats::Sum;
/// use docvalues_search::{Docs, Search};
///
/// let group = Group::of("host")
///     .metric(Metric::Sum("size".into()))
///     .order(GroupOrder::Metric(0))
///     .sort([SortKey::of("size").descending()])
///     .docs(1);
/// let found = Search::new(&source).group(Docs::All, &group)?;
/// let first = &found.groups[0];
/// let host = first.values[0].as_ref().and_then(|host| host.as_bytes());
/// assert_eq!((host, first.count), (Some(&b"b.example"[..]), 2));
/// assert_eq!(first.metrics, [Some(Measure::Sum(Sum::Integer(582)))]);
/// assert_eq!(first.docs[0].doc.get(), 0);
/// assert_eq!(found.missing, 1);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Groups {
    /// The columns, whose types give the values their meaning.
    pub fields: Vec<Field>,
    /// The groups, in order.
    pub groups: Vec<GroupFound>,
    /// The number of groups that pass [`Group::having`]; `None` if groups are ordered by their best documents, since most are then never visited.
    /// [`Stats::distinct`](crate::stats::Stats::distinct) counts them.
    pub distinct: Option<Distinct>,
    /// The number of documents of the set.
    pub docs: u64,
    /// The number of documents of the set in no group: without a value in one of the columns, unless
    /// [`Group::with_missing`].
    pub missing: u64,
}

/// A group of documents, one of [`Groups::groups`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupFound {
    /// The values that its documents share, one for each column; `None` if they have none, with
    /// [`Group::with_missing`].
    pub values: Vec<Option<Value>>,
    /// The number of its documents.
    pub count: u64,
    /// Its best documents.
    pub docs: Vec<DocAddress>,
    /// Its metrics, in the order of the request; `None` if no document has a number.
    pub metrics: Vec<Option<Measure>>,
}

/// The column to group by; of several columns, with the tuples that its numbers stand for.
struct GroupColumn {
    slot: Slot,
    tuples: Option<Arc<TupleNumbers>>,
}

impl GroupColumn {
    fn open(request: &mut Request<'_>, group: &Group) -> Result<GroupColumn> {
        if let ([only], false, []) = (group.by.as_slice(), group.with_missing, group.steps.as_slice()) {
            return Ok(GroupColumn { slot: request.id_slot(only)?, tuples: None });
        }
        let set = |(at, name): (usize, &String)| {
            let set = request.column_set(name)?;
            let Some(step) = group.step(at) else { return Ok(set) };
            Ok(Arc::new(calendar::column_set(&set, step)?))
        };
        let sets = group.by.iter().enumerate().map(set).collect::<Result<Vec<_>>>()?;
        if let ([only], false) = (sets.as_slice(), group.with_missing) {
            return Ok(GroupColumn { slot: request.add_unnamed(Arc::clone(only)), tuples: None });
        }
        let numbers = (request.parts() == 1).then(|| TupleNumbers::over(&sets, group.with_missing)).flatten();
        let (set, tuples) = match numbers {
            Some((set, tuples)) => (set, Some(tuples)),
            None => (TupleColumn::over(&sets, request.parts(), group.with_missing), None),
        };
        Ok(GroupColumn { slot: request.add_unnamed(set), tuples })
    }
}

/// The descriptions of the columns to group by, and the first groups. If `are_all` are kept for a merge, they and their
/// documents must fit the memory limit.
pub(crate) fn find(
    search: &Search<'_>,
    docs: DocsByPart<'_>,
    group: &Group,
    are_all: bool,
) -> Result<(Vec<Field>, FoundGroups)> {
    let mut request = Request::open(search, docs)?;
    let fields = group.by.iter().enumerate();
    let fields = fields.map(|(at, name)| group_field(search, name, group.step(at)));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    validate(group)?;
    let layout = Arc::new(Layout::new(&mut request, &group.metrics, are_all)?);
    let logicals = layout.logicals(&request);
    let having = group.having.as_ref().map(|query| Having::new(query, &group.metrics, &logicals));
    let having = having.transpose()?;
    let keys = Keys::open(&mut request, &group.sort)?;
    let by_key = kept_values::open(&mut request, &group.metrics)?;
    let by = GroupColumn::open(&mut request, group)?;
    let having = having.as_ref();
    let mut found = match one_group((search, docs), &request, (&by, &layout, having), group)? {
        Some(found) => found,
        None if group.order == GroupOrder::Best => by_best(&request, by.slot, &layout, keys, group)?,
        None => {
            let asked = (group.order, group.top, having, are_all);
            let found = all_groups::find(&request, by.slot, &layout, asked)?;
            with_docs(found, &request, (by.slot, &layout, keys), (group.docs, are_all))?
        }
    };
    kept_values::read((&request, &layout), &by_key, (&mut found.groups, &mut found.kept))?;
    found.groups = found_groups::resolve(&request, &by, found.groups)?;
    Ok((fields, found))
}

/// The description of a column to group by, or of its steps.
fn group_field(search: &Search<'_>, name: &str, step: Option<&CalendarStep>) -> Result<Field> {
    let set = search.column_set(name)?;
    let field = &set.info().field;
    let field = step.filter(|_| !set.is_absent()).map_or_else(|| field.clone(), |step| step.field(field));
    if field.kind.is_multi_valued() {
        return Err(Error::kind(&field, "has several values a document, so that they have no group"));
    }
    Ok(field)
}

/// The only group, or none, if column descriptions have the answer: see
/// [`ConstantColumn`](crate::engine::ConstantColumn).
fn one_group(
    (search, docs): (&Search<'_>, DocsByPart<'_>),
    request: &Request<'_>,
    (by, layout, having): (&GroupColumn, &Arc<Layout>, Option<&Having>),
    group: &Group,
) -> Result<Option<FoundGroups>> {
    let Some(known) = request.constant(by.slot) else { return Ok(None) };
    let known = known.with_one_zero(request.columns().get(by.slot));
    let has_all = known.with_value == known.docs;
    let needs_docs = group.docs > 0 || !group.metrics.is_empty();
    let Some(row) = layout.constant(request, known.with_value) else { return Ok(None) };
    if known.value.is_some() && needs_docs && !has_all {
        return Ok(None);
    }
    let value = known.value.map(Stored::Number);
    let value = value.filter(|_| having.is_none_or(|having| having.passes_row(layout, &row)));
    let distinct = (group.order != GroupOrder::Best).then_some(u64::from(value.is_some()));
    let only = value.map(|value| FoundGroup { value, row, docs: Vec::new() });
    let mut groups: Vec<FoundGroup> = only.into_iter().take(group.top).collect();
    if let Some(only) = groups.first_mut().filter(|_| group.docs > 0) {
        only.docs = search.top(docs, &group.sort, group.docs)?;
    }
    let (kept, missing, layout) = (Kept::new(), known.docs - known.with_value, Arc::clone(layout));
    Ok(Some(FoundGroups { groups, kept, distinct, docs: known.docs, missing, layout }))
}

/// The most documents that `docs` best ones of each group may be.
fn kept_docs(request: &Request<'_>, groups: usize, docs: usize) -> usize {
    groups.saturating_mul(docs).min(usize::try_from(request.hits()).unwrap_or(usize::MAX))
}

/// The most threads whose best documents fit the memory limit. One always fits, since its documents are returned.
fn max_threads(request: &Request<'_>, keys: &Keys, groups: usize, docs: usize) -> usize {
    request.memory() / kept_docs(request, groups, docs).saturating_mul(keys.bytes()).max(1)
}

/// Adds the `docs` best documents of each group. If `are_all` groups are kept for a merge, they and their documents must
/// fit the memory limit.
fn with_docs(
    mut found: FoundGroups,
    request: &Request<'_>,
    (by, layout, keys): (Slot, &Arc<Layout>, Keys),
    (docs, are_all): (usize, bool),
) -> Result<FoundGroups> {
    let groups = found.groups.len();
    if are_all {
        let each = layout.bytes() + size_of::<FoundGroup>();
        let all = found.distinct.unwrap_or_default();
        let rows = usize::try_from(all).unwrap_or(usize::MAX).saturating_mul(each);
        let docs = kept_docs(request, groups, docs).saturating_mul(keys.bytes());
        memory::limit(rows.saturating_add(docs), request.memory())?;
    }
    if docs == 0 || groups == 0 {
        return Ok(found);
    }
    let index = GroupIndex::new(found.groups.iter().map(|group| &group.value));
    let most = max_threads(request, &keys, groups, docs);
    let (_, best) = request.run(SecondPass::new(by, index).best(keys, docs, most))?.finish(request)?;
    found.groups.iter_mut().zip(best).for_each(|(group, best)| group.docs = best);
    Ok(found)
}

/// Finds the groups whose best documents come first.
fn by_best(
    request: &Request<'_>,
    by: Slot,
    layout: &Arc<Layout>,
    keys: Keys,
    group: &Group,
) -> Result<FoundGroups> {
    let values = if group.top == 0 {
        Vec::new()
    } else {
        request.run(TopKCollector::new(keys.clone(), BestGroups::new(by, group.top)))?.finish().0.finish()
    };
    let mut pass = SecondPass::new(by, GroupIndex::new(values.iter())).accumulate(layout);
    if group.docs > 0 {
        let most = max_threads(request, &keys, values.len(), group.docs);
        pass = pass.best(keys, group.docs, most);
    }
    let pass = request.run(pass)?;
    let (docs, missing) = (pass.docs, pass.missing);
    let (rows, best) = pass.finish(request)?;
    let (rows, mut best) = (rows.chunks(layout.words()).map(<[u64]>::to_vec), best.into_iter());
    let group = |(value, row)| FoundGroup { value, row, docs: best.next().unwrap_or_default() };
    let groups = values.into_iter().zip(rows).map(group).collect();
    let (kept, layout) = (Kept::new(), Arc::clone(layout));
    Ok(FoundGroups { groups, kept, distinct: None, docs, missing, layout })
}
