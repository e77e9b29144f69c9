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
pub(crate) use found_groups::{FoundGroups, values as group_values};
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

/// A group of documents.
#[derive(Clone, Debug, PartialEq)]
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

/// A group to return: its value, with an ord for a term, and its accumulators.
struct TopGroup {
    value: Stored,
    row: Vec<u64>,
}

/// The groups to return, and counts of all.
struct Found {
    winners: Vec<TopGroup>,
    /// The states of metrics that their rows do not hold.
    kept: Kept,
    /// The best documents of each, if they were requested.
    best: Vec<Vec<DocAddress>>,
    /// The number of all groups, if it is known.
    distinct: Option<u64>,
    docs: u64,
    missing: u64,
}

/// The first groups. If `are_all` are kept for a merge, they and their documents must fit the memory limit.
pub(crate) fn find(
    search: &Search<'_>,
    docs: DocsByPart<'_>,
    group: &Group,
    are_all: bool,
) -> Result<FoundGroups> {
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
    let found = match one_group((search, docs), &request, (&by, &layout, having), group)? {
        Some(found) => found,
        None if group.order == GroupOrder::Best => by_best(&request, by.slot, &layout, keys, group)?,
        None => {
            let asked = (group.order, group.top, having, are_all);
            let found = all_groups::find(&request, by.slot, &layout, asked)?;
            with_docs(found, &request, (by.slot, &layout, keys), (group.docs, are_all))?
        }
    };
    let Found { mut winners, mut kept, best, distinct, docs, missing } = found;
    kept_values::read((&request, &layout), &by_key, (&mut winners, &mut kept))?;
    let groups = found_groups::resolve(&request, &by, winners, best)?;
    Ok(FoundGroups { fields, groups, kept, distinct, docs, missing, layout })
}

/// The description of a column to group by, or of its steps.
fn group_field(search: &Search<'_>, name: &str, step: Option<&CalendarStep>) -> Result<Field> {
    let set = search.column_set(name)?;
    let field = &set.info().field;
    let field = step.filter(|_| !set.is_absent()).map_or_else(|| field.clone(), |step| step.field(field));
    if field.kind.is_multi_valued() {
        let cannot = "has several values a document, so that they have no group";
        return Err(Error::Kind { field: field.name, kind: field.kind, cannot });
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
) -> Result<Option<Found>> {
    let Some(known) = request.constant(by.slot) else { return Ok(None) };
    let known = known.with_one_zero(request.columns().get(by.slot));
    let has_all = known.with_value == known.docs;
    let needs_docs = group.docs > 0 || !group.metrics.is_empty();
    let Some(row) = layout.constant(request, known.with_value) else { return Ok(None) };
    if known.value.is_some() && needs_docs && !has_all {
        return Ok(None);
    }
    let winner = known.value.map(|number| TopGroup { value: Stored::Number(number), row });
    let winner = winner.filter(|only| having.is_none_or(|having| having.passes_row(layout, &only.row)));
    let distinct = (group.order != GroupOrder::Best).then_some(u64::from(winner.is_some()));
    let winners: Vec<TopGroup> = winner.into_iter().take(group.top).collect();
    let has_docs = group.docs > 0 && !winners.is_empty();
    let best = has_docs.then(|| search.top(docs, &group.sort, group.docs)).transpose()?;
    let (best, missing) = (best.into_iter().collect(), known.docs - known.with_value);
    Ok(Some(Found { winners, kept: Kept::new(), best, distinct, docs: known.docs, missing }))
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
    found: Found,
    request: &Request<'_>,
    (by, layout, keys): (Slot, &Arc<Layout>, Keys),
    (docs, are_all): (usize, bool),
) -> Result<Found> {
    let groups = found.winners.len();
    if are_all {
        let each = layout.bytes() + size_of::<TopGroup>();
        let all = found.distinct.unwrap_or_default();
        let rows = usize::try_from(all).unwrap_or(usize::MAX).saturating_mul(each);
        let docs = kept_docs(request, groups, docs).saturating_mul(keys.bytes());
        memory::limit(rows.saturating_add(docs), request.memory())?;
    }
    if docs == 0 || groups == 0 {
        return Ok(found);
    }
    let index = GroupIndex::new(found.winners.iter().map(|winner| &winner.value));
    let most = max_threads(request, &keys, groups, docs);
    let (_, best) = request.run(SecondPass::new(by, index).best(keys, docs, most))?.finish(request)?;
    Ok(Found { best, ..found })
}

/// Finds the groups whose best documents come first.
fn by_best(
    request: &Request<'_>,
    by: Slot,
    layout: &Arc<Layout>,
    keys: Keys,
    group: &Group,
) -> Result<Found> {
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
    let rows = rows.chunks(layout.words()).map(<[u64]>::to_vec);
    let winners = values.into_iter().zip(rows).map(|(value, row)| TopGroup { value, row }).collect();
    Ok(Found { winners, kept: Kept::new(), best, distinct: None, docs, missing })
}
