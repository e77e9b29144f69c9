//! Documents with the same value of a column, as groups: which groups come first, how many documents they have, what their
//! numbers come to, and which of their documents are best. With one document a group, that is what engines call *collapse*.
//!
//! | order | a first pass keeps | a second one, for the groups that are returned |
//! | --- | --- | --- |
//! | count, metric, value | a row of accumulators for each value | their best documents, if these are asked for |
//! | best | the best document of each group that may be returned | documents, metrics, best documents |
//!
//! Rows are in an array where ords are dense or numbers lie close, else in a hash table. If there is no room for all rows
//! in [`Search::memory`], a pass is about a part of the values, a range of ords or of hashes, and there are as many passes as
//! it takes.
//!
//! Sums of doubles depend on the order of the documents, so one thread adds them up.

mod all_groups;
mod best_groups;
mod group_value;
mod metric;
mod order_value;
mod row_table;
mod second_pass;

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Lists, SortKey, TermOrd, Value};

use crate::columns::Slot;
use crate::error::{Error, Result};
use crate::search::Request;
use crate::sort::{Keys, TopDocs, TopKCollector};
use crate::stats::Distinct;
use crate::value::Stored;
use crate::{Docs, Search};
use best_groups::BestGroups;
pub(crate) use metric::Layout;
pub use metric::{Measure, Metric};
use second_pass::{GroupIndex, SecondPass};

/// Terms that are looked up at once.
pub(crate) const TERMS: usize = 1 << 12;

/// What to group by, and what to find out about groups.
///
/// ```
/// use docvalues_column::SortKey;
/// use docvalues_search::group::{Group, GroupOrder, Metric};
///
/// // The ten hosts that sent most, with the three largest requests of each.
/// let group = Group::by("host")
///     .metric(Metric::Sum("size".into()))
///     .order(GroupOrder::Metric(0))
///     .sort([SortKey::new("size").descending()])
///     .docs(3);
/// assert_eq!(group.top, 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The column: numeric, sorted or binary.
    pub by: String,
    /// How many groups are returned at most.
    pub top: usize,
    /// Which ones, and in what order.
    pub order: GroupOrder,
    /// How many documents of each group are returned at most.
    pub docs: usize,
    /// Which ones, and in what order; those that are equal in the order of their numbers.
    pub sort: Vec<SortKey>,
    /// What else to find out about each group.
    pub metrics: Vec<Metric>,
}

/// Which groups come first. Among equal ones that with the least value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupOrder {
    /// Those with most documents.
    #[default]
    Count,
    /// Those with the least value.
    Value,
    /// Those whose best document by [`Group::sort`] comes first.
    Best,
    /// Those with the greatest metric, by its place in [`Group::metrics`]; those that have none come last.
    Metric(usize),
}

/// The groups that come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// The column: its type says what the values mean.
    pub field: Field,
    /// The groups, in order.
    pub groups: Vec<GroupFound>,
    /// How many groups there are; not known if the best documents order them, because then most are never looked at.
    /// [`Stats::distinct`](crate::stats::Stats::distinct) finds out.
    pub distinct: Option<Distinct>,
    /// Documents that were looked at.
    pub docs: u64,
    /// Those of them that have no value, and are in no group.
    pub missing: u64,
}

/// A group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFound {
    /// The value that its documents have.
    pub value: Value,
    /// How many these are.
    pub count: u64,
    /// The best of them.
    pub docs: Vec<DocAddress>,
    /// The metrics, as they were asked for; nothing where no document has a number.
    pub metrics: Vec<Option<Measure>>,
}

/// A group that is returned: of a term its ord, and its accumulators.
struct TopGroup {
    value: Stored,
    row: Vec<u64>,
}

impl Group {
    /// The ten values of `column` that most documents have.
    pub fn by(column: impl Into<String>) -> Group {
        Group {
            by: column.into(),
            top: 10,
            order: GroupOrder::Count,
            docs: 0,
            sort: Vec::new(),
            metrics: Vec::new(),
        }
    }

    /// So many groups.
    #[must_use]
    pub fn top(mut self, top: usize) -> Group {
        self.top = top;
        self
    }

    /// In this order.
    #[must_use]
    pub fn order(mut self, order: GroupOrder) -> Group {
        self.order = order;
        self
    }

    /// So many documents of each group.
    #[must_use]
    pub fn docs(mut self, docs: usize) -> Group {
        self.docs = docs;
        self
    }

    /// What makes a document better than another.
    #[must_use]
    pub fn sort(mut self, keys: impl IntoIterator<Item = SortKey>) -> Group {
        self.sort = keys.into_iter().collect();
        self
    }

    /// This metric as well.
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> Group {
        self.metrics.push(metric);
        self
    }
}

impl Search<'_> {
    /// Groups `docs` by their value of a column, and finds the groups that come first.
    ///
    /// O(documents), for each pass that [`Search::memory`] makes necessary; see [the module](self).
    ///
    /// # Errors
    ///
    /// When there is no such column, it has several values a document, a metric is of a column without numbers, there
    /// is too little memory by far, or bytes of a column are damaged.
    pub fn group(&self, docs: Docs<'_>, group: &Group) -> Result<Groups> {
        let mut request = self.begin(docs)?;
        let by = request.slot(&group.by)?;
        let field = request.columns().get(by).info().field.clone();
        if field.kind.is_multi_valued() {
            let cannot = "has several values a document, and so puts it in no group";
            return Err(Error::Kind { field: field.name, kind: field.kind, cannot });
        }
        if let GroupOrder::Metric(metric) = group.order
            && metric >= group.metrics.len()
        {
            let metrics = group.metrics.len();
            return Err(Error::Request(format!(
                "groups are ordered by metric {metric}, but there are {metrics}"
            )));
        }
        let layout = Arc::new(Layout::new(&mut request, &group.metrics)?);
        let keys = Keys::open(&mut request, &group.sort)?;
        if let Some(groups) = self.one_group(docs, &request, (by, &layout), group)? {
            return Ok(groups);
        }
        if group.order == GroupOrder::Best {
            return by_best(&request, by, field, &layout, keys, group);
        }
        let found = all_groups::find(&request, by, &layout, group.order, group.top)?;
        let docs = if group.docs > 0 && !found.winners.is_empty() {
            let groups = GroupIndex::new(found.winners.iter().map(|winner| &winner.value));
            let most = most_threads(&request, &keys, found.winners.len(), group.docs);
            request.run(SecondPass::new(by, groups).best(keys, group.docs, most))?.finish().1
        } else {
            None
        };
        let groups = finish(&request, by, &layout, found.winners, docs)?;
        let distinct = Some(Distinct::Exact(found.distinct));
        Ok(Groups { field, groups, distinct, docs: found.docs, missing: found.missing })
    }

    /// The only group, or none, if the descriptions of the columns say all: see [`ConstantColumn`](crate::constant::ConstantColumn).
    fn one_group(
        &self,
        docs: Docs<'_>,
        request: &Request<'_>,
        (by, layout): (Slot, &Layout),
        group: &Group,
    ) -> Result<Option<Groups>> {
        let Some(known) = request.constant(by) else { return Ok(None) };
        let has_all = known.with_value == known.docs;
        let needs_docs = group.docs > 0 || !group.metrics.is_empty();
        let Some(row) = layout.constant(request, known.with_value) else { return Ok(None) };
        if known.value.is_some() && needs_docs && !has_all {
            return Ok(None);
        }
        let winner = known.value.map(|number| TopGroup { value: Stored::Number(number), row });
        let distinct = Distinct::Exact(winner.is_some().into());
        let winners = winner.into_iter().take(group.top).collect();
        let mut groups = finish(request, by, layout, winners, None)?;
        if let Some(only) = groups.first_mut().filter(|_| group.docs > 0) {
            only.docs = self.top(docs, &group.sort, group.docs)?;
        }
        Ok(Some(Groups {
            field: request.columns().get(by).info().field.clone(),
            groups,
            distinct: (group.order != GroupOrder::Best).then_some(distinct),
            docs: known.docs,
            missing: known.docs - known.with_value,
        }))
    }
}

/// The threads that have the memory for the best documents of so many groups: these are returned, so one always has.
fn most_threads(request: &Request<'_>, keys: &Keys, groups: usize, docs: usize) -> usize {
    let kept = groups.saturating_mul(docs).min(request.hits() as usize);
    request.memory() / kept.saturating_mul(keys.bytes()).max(1)
}

/// Finds the groups whose best documents come first.
fn by_best(
    request: &Request<'_>,
    by: Slot,
    field: Field,
    layout: &Arc<Layout>,
    keys: Keys,
    group: &Group,
) -> Result<Groups> {
    let values = if group.top == 0 {
        Vec::new()
    } else {
        request.run(TopKCollector::new(keys.clone(), BestGroups::new(by, group.top)))?.finish().0.finish()
    };
    let mut pass = SecondPass::new(by, GroupIndex::new(values.iter())).accumulate(layout);
    if group.docs > 0 {
        let most = most_threads(request, &keys, values.len(), group.docs);
        pass = pass.best(keys, group.docs, most);
    }
    let pass = request.run(pass)?;
    let (docs, missing) = (pass.docs, pass.missing);
    let (rows, best) = pass.finish();
    let rows = rows.unwrap_or_default();
    let rows = rows.chunks(layout.words()).map(<[u64]>::to_vec);
    let winners = values.into_iter().zip(rows).map(|(value, row)| TopGroup { value, row }).collect();
    let groups = finish(request, by, layout, winners, best)?;
    Ok(Groups { field, groups, distinct: None, docs, missing })
}

/// What is returned of the groups: terms for ords, metrics for rows.
fn finish(
    request: &Request<'_>,
    by: Slot,
    layout: &Layout,
    winners: Vec<TopGroup>,
    best: Option<Vec<TopDocs>>,
) -> Result<Vec<GroupFound>> {
    let (column, mut docs) = (request.columns().get(by), best.into_iter().flatten());
    let (mut groups, mut terms) = (Vec::with_capacity(winners.len()), Lists::new());
    let mut winners = winners.into_iter();
    while winners.len() > 0 {
        request.stop().check()?;
        let some: Vec<TopGroup> = winners.by_ref().take(TERMS).collect();
        if let Some(dictionary) = column.values().terms() {
            let ords: Vec<TermOrd> = some.iter().map(|winner| winner.value.ord()).collect();
            dictionary.gather_terms(&ords, &mut terms)?;
        }
        let mut terms = terms.slices().iter();
        for TopGroup { value, row } in some {
            let value = match (terms.next(), value) {
                (Some(term), _) => Value::Bytes(term.to_vec()),
                (None, Stored::Number(number)) => Value::of(column.info().field.logical, number),
                (None, Stored::Bytes(bytes)) => Value::Bytes(bytes),
            };
            let docs = docs.next().map_or_else(|| Ok(Vec::new()), |docs| docs.finish(request))?;
            groups.push(GroupFound { value, count: row[0], docs, metrics: layout.measures(&row) });
        }
    }
    Ok(groups)
}
