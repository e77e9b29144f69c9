//! Queries bound to the parts of a search.

use docvalues_column::{DocRange, Pruning, bits};

use super::Query;
use super::bound_part::{BoundPart, Evaluated};
use super::explain::{Explain, Profile};
use super::part_bounds::PartBounds;
use super::pattern::CompiledPatterns;
use crate::Result;
use crate::describe::with_separators;
use crate::engine::{DocSet, Docs, DocsByPart, PartSet, Search, threads};

/// A query that is bound to the columns of a search, made by [`Search::bind`].
///
/// It owns its columns, which outlive the sources. Evaluation does not change it, so several threads can evaluate it
/// at once.
///
/// Terms are looked up in each part. A part whose column bounds exclude the query is left out; nothing of it is read.
///
/// # Complexity
///
/// A single condition costs as much as its column's filter. Conjunctions are evaluated in windows of 65,536
/// documents, beginning with the clause that excludes most for its cost. A window ends when no document is left; when
/// few are left, only their values are read. Each thread works on chunks of 524,288 documents.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::{Docs, Query, Search};
///
/// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), Some(9), Some(70)]))]);
/// let query = Query::parse("size > 50")?;
/// let bound = Search::new(&source).bind(&query)?;
/// assert_eq!(bound.count(Docs::All)?, 2);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[doc(alias = "Weight")]
#[derive(Debug)]
pub struct BoundQuery {
    /// For the description of several parts; the only one describes itself.
    query: Option<Query>,
    parts: Vec<QueryPart>,
    threads: usize,
}

// Documented above.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<BoundQuery>();
};

/// The query in one part.
#[derive(Debug)]
struct QueryPart {
    docs: u32,
    /// `None` if the bounds of a column exclude the part.
    bound: Option<Box<BoundPart>>,
}

impl Search<'_> {
    /// Opens the query's columns, looks up its terms, and decides what can match at all. Evaluation takes the number
    /// of threads, the interrupt flag and the memory limit of the search.
    ///
    /// Each column is opened once, and each term is looked up once in each part. No values are read, but a pattern
    /// reads the whole dictionary.
    ///
    /// # Errors
    ///
    /// If there is no such column; if a literal does not fit its column's type
    /// ([`Error::Query`](crate::Error::Query), with a position if the query was parsed); if the query is nested too
    /// deeply; if a source is damaged.
    pub fn bind(&self, query: &Query) -> Result<BoundQuery> {
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
                let bound = BoundPart::new(self, part, query, &patterns);
                Some(Box::new(bound.map_err(|error| error.in_part(part, self.parts.len()))?))
            };
            Ok(QueryPart { docs: self.parts[part].source.docs(), bound })
        };
        let parts = (0..self.parts.len()).map(part).collect::<Result<Vec<_>>>()?;
        let query = (parts.len() != 1).then(|| query.clone());
        Ok(BoundQuery { query, parts, threads: self.threads })
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

impl BoundQuery {
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
        let mut pruned = Pruning::default();
        let sets = self.evaluate(docs.into(), false)?.into_iter().map(|(set, evaluated)| {
            pruned += evaluated.pruned;
            set
        });
        let sets = DocSet::new(sets.collect());
        Ok((sets, pruned))
    }

    /// Writes a bit for each document of `docs` in a part, set if it matches: bit `i % 64` of word `i / 64` stands for
    /// document `docs.start + i`. Runs on the calling thread, and allocates no set.
    ///
    /// Documents beyond the end of the part do not match. Ranges that begin at multiples of 65,536 are fastest.
    ///
    /// # Errors
    ///
    /// If a column is damaged; `bits` is then unspecified.
    ///
    /// # Panics
    ///
    /// If `bits` is too short for `docs`, or there is no such part.
    pub fn matching(&self, part: usize, docs: impl Into<DocRange>, bits: &mut [u64]) -> Result<()> {
        let docs = docs.into();
        bits::check(docs, bits);
        bits[..docs.words()].fill(0);
        let Some(bound) = &self.parts[part].bound else { return Ok(()) };
        bound.matching(docs, bits).map_err(|error| error.in_part(part, self.parts.len()))
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
        let counts = self.each(docs.into(), BoundPart::count)?;
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
        self.explain_evaluated(&[])
    }

    /// As [`collect`](Self::collect), with a profile of each clause. It is slower, because every clause is evaluated
    /// in windows, counted and timed. All but the times is independent of the number of threads.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    pub fn collect_explained<'d>(&self, docs: impl Into<DocsByPart<'d>>) -> Result<(DocSet, Explain)> {
        let (sets, evaluated): (Vec<_>, Vec<_>) = self.evaluate(docs.into(), true)?.into_iter().unzip();
        Ok((DocSet::new(sets), self.explain_evaluated(&evaluated)))
    }

    /// Returns the documents of each part that match, with statistics.
    fn evaluate(&self, docs: DocsByPart<'_>, is_profiled: bool) -> Result<Vec<(PartSet, Evaluated)>> {
        let found = self.each(docs, |bound, docs| bound.collect(docs, is_profiled))?;
        Ok(found.into_iter().map(|found| found.unwrap_or((PartSet::None, Evaluated::default()))).collect())
    }

    /// Calls `of` for every part that is not left out: several parts at once, or with several threads in each.
    fn each<R: Send>(
        &self,
        docs: DocsByPart<'_>,
        of: impl Fn(&BoundPart, Docs<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<Option<R>>> {
        let count = self.parts.len();
        let mut found: Vec<Option<R>> = self.parts.iter().map(|_| None).collect();
        let bound = self.parts.iter().zip(&mut found).enumerate();
        let mut open: Vec<_> =
            bound.filter_map(|(at, (part, to))| Some((at, part.bound.as_deref()?, to))).collect();
        let one = |(at, bound, to): &mut (usize, &BoundPart, &mut Option<R>)| {
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

    /// The plans of all parts as one; after an evaluation with their profiles.
    fn explain_evaluated(&self, evaluated: &[Evaluated]) -> Explain {
        let clause = || self.query.as_ref().map(Query::to_string).unwrap_or_default();
        let left_out = |part: &QueryPart| Explain {
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
        let plan = |(at, part): (usize, &QueryPart)| match &part.bound {
            Some(bound) => bound.explain(evaluated.get(at)),
            None => left_out(part),
        };
        let mut plans: Vec<Explain> = self.parts.iter().enumerate().map(plan).collect();
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

/// The most documents that a quick count reads.
const MOST_READ: usize = 1 << 16;

/// The parts a thread from which threads take a part each; otherwise they share one.
const MANY_PARTS: usize = 4;
