//! What `--explain` tells, as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::text::present;
use crate::store::search::SearchAnswer;
use crate::store::search::query::Explain;
use crate::store::search::sort::TopRan;
use crate::store::{Decided, Pruning, STRETCH, ZONE};

/// The time that each step of a request took, if it was asked for: the pass for facets, histograms and statistics, groups,
/// the first documents.
pub(crate) type Steps = [Option<Duration>; 3];

/// How a command came to its answer.
pub(crate) fn explain_json(
    query: (&Explain, Duration),
    answer: Option<Duration>,
    top: Option<&TopRan>,
    [pass, groups, first]: Steps,
) -> Value {
    present(json!({
        "query": part(query.0),
        "top": top.map(|top| present(json!({ "seen": top.seen, "index": index(&top.filter) }))),
        "nanoseconds": present(json!({
            "query": nanos(query.1),
            "answer": answer.map(nanos),
            "pass": pass.map(nanos),
            "groups": groups.map(nanos),
            "top": first.map(nanos),
        })),
    }))
}

/// The same of a request that asks several things.
pub(crate) fn explain_answer(answer: &SearchAnswer, steps: Steps) -> Value {
    let all = steps.into_iter().flatten().reduce(|a, b| a + b);
    let top = steps[2].map(|_| &answer.top_ran);
    explain_json((&answer.explain, answer.times.query), all, top, steps)
}

/// A part of the query, and its parts, in the order in which they were run.
fn part(explain: &Explain) -> Value {
    let ran = explain.ran.as_ref();
    let parts: Vec<Value> = explain.parts.iter().map(part).collect();
    present(json!({
        "clause": explain.clause,
        "how": explain.how,
        "expected": explain.expected,
        "asked": ran.map(|ran| ran.asked),
        "matched": ran.map(|ran| ran.matched),
        "windows": ran.map(|ran| ran.windows),
        "skipped_windows": ran.map(|ran| ran.skipped),
        "gathered_windows": ran.map(|ran| ran.gathered),
        "nanoseconds": ran.map(|ran| nanos(ran.time)),
        "index": ran.and_then(|ran| index(&ran.filter)),
        "parts": (!parts.is_empty()).then_some(parts),
    }))
}

/// What the indexes of a column decided, if there are any.
fn index(counts: &Pruning) -> Option<Value> {
    let share = |of: Decided| json!({ "skipped": of.none, "taken_whole": of.all, "looked_into": of.open });
    let index = json!({
        "directory": counts.directory,
        "order": counts.order,
        "missing": counts.missing,
        "zone_values": ZONE,
        "zones": share(counts.zones),
        "stretch_values": STRETCH,
        "fine_zones": share(counts.fine_zones),
        "blocks": share(counts.blocks),
        "values_read": counts.read,
    });
    (!counts.is_empty()).then_some(index)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
