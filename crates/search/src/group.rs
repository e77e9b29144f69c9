//! Documents with the same value of a column, as groups: which groups come first, how many documents they have, what their
//! numbers come to, and which of their documents are best. With one document a group, that is what engines call *collapse*.
//!
//! | order | a first pass keeps | a second one, for the groups that are returned |
//! | --- | --- | --- |
//! | count, metric, value | a row of accumulators for each value | their best documents, if these are asked for |
//! | best | the best document of each group that may be returned | documents, metrics, best documents |
//!
//! Rows are in an array where ords are dense or numbers lie close, else in a hash table. If there is no room for all rows
//! in [`Group::budget`], a pass is about a part of the values, a range of ords or of hashes, and there are as many passes as
//! it takes.
//!
//! Sums of doubles depend on the order of the documents, so one thread adds them up.

mod all;
mod best;
mod budget;
mod key;
mod keys;
mod metric;
mod winners;

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Lists, SortKey, TermOrd, Value};

use crate::columns::Slot;
use crate::error::{Error, Result};
use crate::search::Request;
use crate::sort::{Competition, Keys, TopDocs};
use crate::stats::Distinct;
use crate::value::Stored;
use crate::window::NO_ORD;
use crate::{Docs, Search};
use best::BestGroups;
use metric::Layout;
pub use metric::{Measure, Metric};
use winners::{Places, Winners};

/// What [`Group::budget`] is at least.
const LEAST_BUDGET: usize = 64 << 10;

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
    /// Bytes that accumulators may take, those of all threads together; 64 KiB at least. What is returned is not among
    /// them, nor are the few columns of a few thousand documents that each thread looks at.
    pub budget: usize,
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
struct Winner {
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
            budget: 256 << 20,
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

    /// In so many bytes of memory: see [`Group::budget`](struct@Group#structfield.budget).
    #[must_use]
    pub fn budget(mut self, bytes: usize) -> Group {
        self.budget = bytes;
        self
    }
}

impl Search<'_> {
    /// Groups `docs` by their value of a column, and finds the groups that come first.
    ///
    /// O(documents), for each pass that the budget makes necessary; see [the module](self).
    ///
    /// # Errors
    ///
    /// When there is no such column, it has several values a document, a metric is of a column without numbers, the
    /// budget is too small by far, or bytes of a column are damaged.
    pub fn group(&self, docs: Docs<'_>, group: &Group) -> Result<Groups> {
        let mut request = self.begin(docs);
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
        if group.order == GroupOrder::Best {
            return by_best(&request, by, field, &layout, keys, group);
        }
        let bytes = group.budget.max(LEAST_BUDGET);
        let found = all::find(&request, by, &layout, group.order, group.top, bytes)?;
        let docs = if group.docs > 0 && !found.winners.is_empty() {
            let groups = Places::new(found.winners.iter().map(|winner| &winner.value));
            request.run(Winners::new(by, groups).best(keys, group.docs))?.finish().1
        } else {
            None
        };
        let groups = finish(&request, by, &layout, found.winners, docs)?;
        let distinct = Some(Distinct::Exact(found.distinct));
        Ok(Groups { field, groups, distinct, docs: found.docs, missing: found.missing })
    }
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
        request.run(Competition::new(keys.clone(), BestGroups::new(by, group.top)))?.finish().0.finish()
    };
    let mut pass = Winners::new(by, Places::new(values.iter())).accumulate(layout);
    if group.docs > 0 {
        pass = pass.best(keys, group.docs);
    }
    let threads = if layout.depends_on_order() { 1 } else { request.threads() };
    let pass = request.run_on(threads, pass)?;
    let (docs, missing) = (pass.docs, pass.missing);
    let (rows, best) = pass.finish();
    let rows = rows.unwrap_or_default();
    let rows = rows.chunks(layout.words()).map(<[u64]>::to_vec);
    let winners = values.into_iter().zip(rows).map(|(value, row)| Winner { value, row }).collect();
    let groups = finish(request, by, layout, winners, best)?;
    Ok(Groups { field, groups, distinct: None, docs, missing })
}

/// What is returned of the groups: terms for ords, metrics for rows.
fn finish(
    request: &Request<'_>,
    by: Slot,
    layout: &Layout,
    winners: Vec<Winner>,
    best: Option<Vec<TopDocs>>,
) -> Result<Vec<GroupFound>> {
    let column = request.columns().get(by);
    let ord = |winner: &Winner| match winner.value {
        Stored::Number(ord) => TermOrd::new(u32::try_from(ord).unwrap_or(u32::MAX)),
        Stored::Bytes(_) => NO_ORD,
    };
    let mut terms = Lists::new();
    if let Some(dictionary) = column.values().terms() {
        dictionary.gather_terms(&winners.iter().map(ord).collect::<Vec<_>>(), &mut terms)?;
    }
    let (mut terms, mut docs) = (terms.slices().iter(), best.into_iter().flatten());
    let group = |Winner { value, row }| GroupFound {
        value: match (terms.next(), value) {
            (Some(term), _) => Value::Bytes(term.to_vec()),
            (None, Stored::Number(number)) => Value::of(column.info().field.logical, number),
            (None, Stored::Bytes(bytes)) => Value::Bytes(bytes),
        },
        count: row[0],
        docs: docs.next().map_or_else(Vec::new, TopDocs::finish),
        metrics: layout.measures(&row),
    };
    Ok(winners.into_iter().map(group).collect())
}
