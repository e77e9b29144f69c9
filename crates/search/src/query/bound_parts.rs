//! Queries bound to the parts of a search.

use docvalues_column::Pruning;

use super::bound_query::BoundQuery;
use super::explain::{Explain, Profile};
use super::part_bounds::PartBounds;
use super::pattern::CompiledPatterns;
use super::{Query, Test};
use crate::describe::with_separators;
use crate::engine::{DocSet, Docs, DocsByPart, PartSet, Search, threads};
use crate::{Error, Result};

/// A query that is bound to the parts of a search, made by [`Search::bind`].
///
/// Terms are looked up in each part. A part whose column bounds exclude the query is left out; nothing of it is read.
#[derive(Debug)]
pub struct BoundParts {
    /// For the description of several parts; the only one describes itself.
    query: Option<Query>,
    parts: Vec<PartQuery>,
    threads: usize,
}

/// The query in one part.
#[derive(Debug)]
struct PartQuery {
    docs: u32,
    /// `None` if the bounds of a column exclude the part.
    bound: Option<Box<BoundQuery>>,
}

impl Search<'_> {
    /// Binds a query to the columns of the search, with its number of threads.
    ///
    /// # Errors
    ///
    /// As [`Query::bind`].
    pub fn bind(&self, query: &Query) -> Result<BoundParts> {
        if self.parts.len() > 1 && has_set(query) {
            let why = "expected a query without sets of documents, as there are several parts: pass the documents of each";
            return Err(Error::Request(why.to_owned()));
        }
        if self.parts.len() > 1 {
            self.open_columns(query)?;
        }
        let bounds = PartBounds::of(query, self)?;
        let patterns = CompiledPatterns::default();
        let mut has_bound = false;
        let part = |part: usize| {
            // One part is bound in any case, so that an error in the query is found.
            let is_last = part + 1 == self.parts.len();
            let bound = if bounds.exclude(part) && (has_bound || !is_last) {
                None
            } else {
                has_bound = true;
                let bound = self
                    .bind_part(query, part, &patterns)
                    .map_err(|error| error.in_part(part, self.parts.len()))?;
                Some(Box::new(bound))
            };
            Ok(PartQuery { docs: self.parts[part].source.docs(), bound })
        };
        let parts = (0..self.parts.len()).map(part).collect::<Result<Vec<_>>>()?;
        let query = (parts.len() != 1).then(|| query.clone());
        Ok(BoundParts { query, parts, threads: self.threads })
    }

    /// Opens the columns of a query, so that an error names the part that it occurred in. Unknown columns are left to
    /// the binding, which names their places in the query.
    fn open_columns(&self, query: &Query) -> Result<()> {
        match query {
            Query::And(parts) | Query::Or(parts) => parts.iter().try_for_each(|part| self.open_columns(part)),
            Query::Not(part) => self.open_columns(part),
            Query::Condition(condition) => {
                let other = if let Test::Column(_, other) = &condition.test { Some(other) } else { None };
                [&condition.column].into_iter().chain(other).try_for_each(|name| {
                    match self.column_set(name) {
                        Err(error @ (Error::Part(_) | Error::MixedTypes { .. })) => Err(error),
                        _ => Ok(()),
                    }
                })
            }
            Query::All | Query::None | Query::Docs(_) => Ok(()),
        }
    }

    fn bind_part(&self, query: &Query, part: usize, patterns: &CompiledPatterns) -> Result<BoundQuery> {
        let bound =
            query.bind_with(&self.source(part), patterns, &self.stop)?.live(self.parts[part].live().cloned());
        Ok(bound.threads(self.threads).limited(&self.stop, self.docs_memory()))
    }

    /// Returns the documents that match `query`. If all match, [`DocsByPart::All`] is cheaper than a set.
    ///
    /// # Errors
    ///
    /// If there is no such column, a literal does not fit its type, or a column is damaged; [`Error::Memory`] if the
    /// set exceeds the available memory or [`Search::memory`].
    ///
    /// [`Error::Memory`]: crate::Error::Memory
    pub fn filter(&self, query: &Query) -> Result<DocSet> {
        self.bind(query)?.collect(DocsByPart::All)
    }

    /// Counts the documents that match `query`.
    ///
    /// # Errors
    ///
    /// As [`filter`](Self::filter).
    pub fn count(&self, query: &Query) -> Result<u64> {
        self.bind(query)?.count(DocsByPart::All)
    }
}

impl BoundParts {
    /// The number of documents of all parts.
    pub fn docs(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.docs)).sum()
    }

    /// Whether it is known that no document matches, without reading values.
    pub fn is_none(&self) -> bool {
        self.parts.iter().all(|part| part.bound.as_ref().is_none_or(|bound| bound.is_none()))
    }

    /// Whether it is known that every document matches, without reading values.
    pub fn is_all(&self) -> bool {
        self.parts.iter().all(|part| part.bound.as_ref().is_some_and(|bound| bound.is_all()))
    }

    /// Returns the documents of `docs` that match.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<DocSet> {
        Ok(self.collect_with_pruning(docs)?.0)
    }

    /// As [`collect`](Self::collect), with the pruning statistics of all conditions.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect_with_pruning<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<(DocSet, Pruning)> {
        let sets = self.each(docs.into(), |bound, docs| {
            let mut pruned = Pruning::default();
            let set = match docs {
                _ if bound.is_none() => PartSet::None,
                Docs::All if bound.is_all() => PartSet::All(bound.docs()),
                docs => PartSet::Some(bound.collect_pruning(docs, &mut pruned)?),
            };
            Ok((set, pruned))
        })?;
        let mut pruned = Pruning::default();
        let sets = sets.into_iter().map(|found| {
            let (set, of_part) = found.unwrap_or((PartSet::None, Pruning::default()));
            pruned += of_part;
            set
        });
        let sets = DocSet::new(sets.collect());
        Ok((sets, pruned))
    }

    /// Counts the documents of `docs` that match. Allocates no set for ranges, and for all documents.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn count<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<u64> {
        Ok(self.count_with_pruning(docs)?.0)
    }

    /// As [`count`](Self::count), with the pruning statistics of all conditions.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn count_with_pruning<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<(u64, Pruning)> {
        let counts = self.each(docs.into(), |bound, docs| {
            let mut pruned = Pruning::default();
            Ok((bound.count_pruning(docs, &mut pruned)?, pruned))
        })?;
        let (mut count, mut pruned) = (0, Pruning::default());
        for (of_part, by_part) in counts.into_iter().flatten() {
            count += u64::from(of_part);
            pruned += by_part;
        }
        Ok((count, pruned))
    }

    /// Counts the documents that match in O(zones), on the calling thread, or returns `None`.
    ///
    /// Each part needs a count that is known without reading values, or no deletes and a range of one column. The skip indexes
    /// of these ranges must decide all but 65,536 documents of all parts together.
    ///
    /// ```
    /// # use docvalues_column::{Field, Kind, LogicalType};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// use docvalues_search::{Query, Search};
    ///
    /// # let at = Field::new("at", Kind::Numeric, LogicalType::I64);
    /// # let ascending = (0..300_000).map(Some).collect();
    /// # let source = MemSource::new(300_000, [(at, ModelColumn::Numeric(ascending))]);
    /// // `at` ascends.
    /// let range = Query::range("at", 100..=250_000);
    /// assert_eq!(Search::new(&source).bind(&range)?.quick_count()?, Some(249_901));
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn quick_count(&self) -> Result<Option<u64>> {
        let (mut count, mut most) = (0, MOST_READ);
        for (at, part) in self.parts.iter().enumerate() {
            let Some(bound) = &part.bound else { continue };
            let of_part = bound.quick_count(&mut most);
            match of_part.map_err(|error| error.in_part(at, self.parts.len()))? {
                Some(of_part) => count += of_part,
                None => return Ok(None),
            }
        }
        Ok(Some(count))
    }

    /// The evaluation plan with expected costs. Reads no values.
    pub fn explain(&self) -> Explain {
        self.explained(self.parts.iter().map(|part| part.bound.as_ref().map(|bound| bound.explain())))
    }

    /// As [`collect`](Self::collect), with a profile of each clause. It is slower, because every clause is evaluated
    /// in windows, counted and timed. All but the times is independent of the number of threads.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect_explained<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<(DocSet, Explain)> {
        let found = self.each(docs.into(), |bound, docs| {
            if matches!(docs, Docs::All) && (bound.is_all() || bound.is_none()) {
                let set = if bound.is_all() { PartSet::All(bound.docs()) } else { PartSet::None };
                return Ok((set, bound.explain_known()));
            }
            let (found, explain) = bound.collect_explained(docs)?;
            Ok((PartSet::Some(found), explain))
        })?;
        let (sets, explain): (Vec<_>, Vec<_>) = found
            .into_iter()
            .map(|found| found.map_or((PartSet::None, None), |(set, how)| (set, Some(how))))
            .unzip();
        Ok((DocSet::new(sets), self.explained(explain.into_iter())))
    }

    /// Calls `of` for every part that is not left out: several parts at once, or with several threads in each.
    fn each<R: Send>(
        &self,
        docs: DocsByPart<'_>,
        of: impl Fn(&BoundQuery, Docs<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<Option<R>>> {
        let count = self.parts.len();
        let mut found: Vec<Option<R>> = self.parts.iter().map(|_| None).collect();
        let bound = self.parts.iter().zip(&mut found).enumerate();
        let mut open: Vec<_> =
            bound.filter_map(|(at, (part, to))| Some((at, part.bound.as_deref()?, to))).collect();
        let one = |(at, bound, to): &mut (usize, &BoundQuery, &mut Option<R>)| {
            let found = of(bound, docs.of_part(*at, count)?).map_err(|error| error.in_part(*at, count))?;
            **to = Some(found);
            Ok(())
        };
        if self.threads > 1 && open.len() >= MANY_PARTS * self.threads {
            let mut threads = vec![(); self.threads];
            threads::each(open.iter_mut(), &mut threads, |(), part| one(part))?;
        } else {
            open.iter_mut().try_for_each(one)?;
        }
        drop(open);
        Ok(found)
    }

    /// The plans of all parts as one; `None` for a part that was left out.
    fn explained(&self, plans: impl Iterator<Item = Option<Explain>>) -> Explain {
        let clause = || self.query.as_ref().map(Query::to_string).unwrap_or_default();
        let left_out = |part: &PartQuery| Explain {
            clause: clause(),
            how: format!(
                "no document can match: {} documents, excluded by the bounds of a column",
                with_separators(part.docs.into())
            ),
            expected: 0,
            cost: 0.0,
            profile: None,
            parts: Vec::new(),
        };
        let mut plans: Vec<Explain> =
            self.parts.iter().zip(plans).map(|(part, plan)| plan.unwrap_or_else(|| left_out(part))).collect();
        if plans.len() == 1 {
            return plans.remove(0);
        }
        let evaluated =
            self.parts.iter().filter(|part| part.bound.as_ref().is_some_and(|bound| !bound.is_none()));
        let profiles = plans.iter().filter_map(|plan| plan.profile);
        let profile = profiles.reduce(|mut all, one| {
            all += one;
            all
        });
        Explain {
            clause: clause(),
            how: format!("{} of {} parts are searched", evaluated.count(), plans.len()),
            expected: plans.iter().map(|plan| plan.expected).sum(),
            cost: plans.iter().map(|plan| plan.cost).fold(0.0, f64::max),
            profile: profile.map(|profile| Profile { skipped: 0, ..profile }),
            parts: plans,
        }
    }
}

/// Whether a query has a set of documents, which are those of one source.
fn has_set(query: &Query) -> bool {
    match query {
        Query::Docs(_) => true,
        Query::And(parts) | Query::Or(parts) => parts.iter().any(has_set),
        Query::Not(part) => has_set(part),
        Query::All | Query::None | Query::Condition(_) => false,
    }
}

/// The most documents that a quick count reads.
const MOST_READ: usize = 1 << 16;

/// The parts a thread from which threads take a part each; otherwise they share one.
const MANY_PARTS: usize = 4;
