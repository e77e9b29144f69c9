//! `--where`: the documents that match a query.

use std::slice;
use std::time::{Duration, Instant};

use crate::answer::explain::{Step, tell};
use crate::api::search::query::Explain;
use crate::api::search::sort::TopProfile;
use crate::api::search::{DocSet, Docs, DocsByPart, Query};
use crate::api::{DocAddress, Search, SearchError};
use crate::args::WhereArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::open::columns;
use crate::open::segments::Segments;
use crate::text::json::Json;

/// The documents that match.
pub(crate) struct MatchingDocs<'s> {
    segments: &'s Segments,
    search: Search<'static>,
    /// `None` if all documents match without a look at them.
    set: Option<DocSet>,
    explain: Option<(Explain, Duration)>,
}

impl<'s> MatchingDocs<'s> {
    /// Evaluates the query of `args`.
    pub(crate) fn find(segments: &'s Segments, args: &WhereArgs) -> Result<MatchingDocs<'s>, CliError> {
        let parse = |text: &String| {
            Query::parse(text).map_err(|error| columns::unparsed(segments.all(), text, error))
        };
        let query = args.query.as_ref().map_or(Ok(Query::All), parse)?;
        let search = search(segments, args);
        let start = Instant::now();
        let bound = search.bind(&query).map_err(|error| segments.failure(error))?;
        if !args.explain {
            let set = (!bound.is_all()).then(|| bound.collect(Docs::All)).transpose();
            let set = set.map_err(|error| segments.failure(error))?;
            return Ok(MatchingDocs { segments, search, set, explain: None });
        }
        let found = bound.collect_explained(Docs::All);
        let (set, explain) = found.map_err(|error| segments.failure(error))?;
        let explain = Some((explain, start.elapsed()));
        Ok(MatchingDocs { segments, search, set: Some(set), explain })
    }

    /// The number of matching documents.
    pub(crate) fn count(&self) -> u64 {
        self.set.as_ref().map_or_else(|| self.segments.docs(), DocSet::count)
    }

    /// Runs `ask` on the matching documents; `what` names this step for `--explain`.
    pub(crate) fn evaluate<T>(
        &self,
        what: &'static str,
        ask: impl FnOnce(&Search<'static>, DocsByPart<'_>) -> Result<T, SearchError>,
    ) -> Result<(T, StepProfile), CliError> {
        let start = Instant::now();
        let found = ask(&self.search, self.set.as_ref().map_or(DocsByPart::All, DocsByPart::Set));
        let found = found.map_err(|error| self.segments.failure(error))?;
        Ok((found, StepProfile { step: Step { what, key: None, took: start.elapsed() }, top: None }))
    }

    /// The matching documents, the first `count` or all, in the order of the columns that `option` names.
    pub(crate) fn sorted(
        segments: &'s Segments,
        args: &WhereArgs,
        (option, columns): (&str, &[String]),
        count: Option<usize>,
    ) -> Result<(MatchingDocs<'s>, Vec<DocAddress>, StepProfile), CliError> {
        let keys = segments.sort_keys(option, columns)?;
        let matching = MatchingDocs::find(segments, args)?;
        let ((docs, top), then) = matching.evaluate("put in order", |search, docs| match count {
            None => Ok((search.sorted(docs, &keys)?, None)),
            Some(count) => {
                let (found, top) = search.top_explained(docs, &keys, count)?;
                Ok((found, Some(top)))
            }
        })?;
        Ok((matching, docs, StepProfile { top, ..then }))
    }

    /// Prints JSON: the files, the number of matching documents, and the entries of `found`.
    pub(crate) fn print_json(
        &self,
        found: impl IntoIterator<Item = (&'static str, Json)>,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let documents = [
            self.segments.json(),
            ("documents", self.segments.docs().into()),
            ("matching", self.count().into()),
        ];
        Ok(console.json(&Json::object(documents.into_iter().chain(found)))?)
    }

    /// Prints the output of `--explain`: how the query was evaluated and the step after it.
    pub(crate) fn explain(&self, profile: Option<&StepProfile>, json: bool, console: &mut Console<'_>) {
        if let Some((explain, time)) = &self.explain {
            let step = profile.map(|profile| &profile.step);
            let top = profile.and_then(|profile| profile.top.as_ref());
            let query = (explain, *time, self.segments);
            tell(query, top, step.map_or(&[], slice::from_ref), json, console);
        }
    }
}

/// The step after the query, for `--explain`.
pub(crate) struct StepProfile {
    step: Step,
    /// The profile of the top-k collector.
    top: Option<TopProfile>,
}

/// A search in segments, with the threads of `--threads`.
pub(crate) fn search(segments: &Segments, args: &WhereArgs) -> Search<'static> {
    let search = segments.search();
    match args.threads {
        Some(threads) => search.threads(threads.into()),
        None => search,
    }
}
