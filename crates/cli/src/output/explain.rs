//! What `--explain` tells, as JSON.

use std::time::Duration;

use serde::Serialize;

use crate::store::search::query::Explain;
use crate::store::search::sort::TopRan;
use crate::store::search::{SearchAnswer, SearchRequest};
use crate::store::{Decided, Pruning, STRETCH, ZONE};

/// How a command came to its answer.
#[derive(Serialize)]
pub(crate) struct ExplainJson<'a> {
    query: Part<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<Top>,
    nanoseconds: Times,
}

#[derive(Serialize)]
struct Times {
    query: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<u64>,
    /// What a request spent on its steps.
    #[serde(flatten)]
    steps: Steps,
}

/// The time of each step of a request that was asked for.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Steps<T = u64> {
    /// Facets, histograms and statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pass: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top: Option<T>,
}

/// A part of the query, and its parts, in the order in which they were run.
#[derive(Serialize)]
struct Part<'a> {
    clause: &'a str,
    how: &'a str,
    expected: u32,
    #[serde(flatten)]
    ran: Option<Ran>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Ran {
    asked: u64,
    matched: u64,
    windows: u64,
    skipped_windows: u64,
    gathered_windows: u64,
    nanoseconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Index>,
}

#[derive(Serialize)]
struct Top {
    seen: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Index>,
}

/// What the indexes of a column decided.
#[derive(Serialize)]
struct Index {
    directory: u64,
    order: u64,
    missing: u64,
    zone_values: u64,
    zones: Share,
    stretch_values: u64,
    fine_zones: Share,
    blocks: Share,
    values_read: u64,
}

#[derive(Serialize)]
struct Share {
    skipped: u64,
    taken_whole: u64,
    looked_into: u64,
}

impl<'a> ExplainJson<'a> {
    pub(crate) fn new(
        query: (&'a Explain, Duration),
        answer: Option<Duration>,
        top: Option<&TopRan>,
    ) -> Self {
        let top = top.map(|top| Top { seen: top.seen, index: Index::new(&top.filter) });
        let nanoseconds = Times { query: nanos(query.1), answer: answer.map(nanos), steps: Steps::default() };
        ExplainJson { query: Part::new(query.0), top, nanoseconds }
    }

    /// Of a request that asks several things.
    pub(crate) fn of_answer(answer: &'a SearchAnswer, steps: Steps<Duration>) -> Self {
        let Steps { pass, groups, top } = steps;
        let all = [pass, groups, top].into_iter().flatten().reduce(|a, b| a + b);
        let ran = top.map(|_| &answer.top_ran);
        let mut explained = ExplainJson::new((&answer.explain, answer.times.query), all, ran);
        let [pass, groups, top] = [pass, groups, top].map(|took| took.map(nanos));
        explained.nanoseconds.steps = Steps { pass, groups, top };
        explained
    }
}

impl Steps<Duration> {
    /// Those that a request asks for.
    pub(crate) fn of(request: &SearchRequest, answer: &SearchAnswer) -> Steps<Duration> {
        let SearchRequest { facets, histograms, stats, groups, top, .. } = request;
        let passes = !(facets.is_empty() && histograms.is_empty() && stats.is_empty());
        Steps {
            pass: passes.then_some(answer.times.pass),
            groups: (!groups.is_empty()).then_some(answer.times.groups),
            top: (*top > 0).then_some(answer.times.top),
        }
    }
}

impl<'a> Part<'a> {
    fn new(explain: &'a Explain) -> Part<'a> {
        let ran = explain.ran.as_ref().map(|ran| Ran {
            asked: ran.asked,
            matched: ran.matched,
            windows: ran.windows,
            skipped_windows: ran.skipped,
            gathered_windows: ran.gathered,
            nanoseconds: nanos(ran.time),
            index: Index::new(&ran.filter),
        });
        let parts = explain.parts.iter().map(Part::new).collect();
        Part { clause: &explain.clause, how: &explain.how, expected: explain.expected, ran, parts }
    }
}

impl Index {
    fn new(counts: &Pruning) -> Option<Index> {
        let Pruning { directory, order, missing, zones, fine_zones, blocks, read } = *counts;
        let share = |of: Decided| Share { skipped: of.none, taken_whole: of.all, looked_into: of.open };
        let index = Index {
            directory,
            order,
            missing,
            zone_values: ZONE,
            zones: share(zones),
            stretch_values: STRETCH,
            fine_zones: share(fine_zones),
            blocks: share(blocks),
            values_read: read,
        };
        (!counts.is_empty()).then_some(index)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
