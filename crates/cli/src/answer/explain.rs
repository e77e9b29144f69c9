//! The output of `--explain`.

use std::slice;
use std::time::Duration;

use super::search_answer::Answer;
use crate::api::search::query::Explain;
use crate::api::{FINE_ZONE, PruneCounts, Pruning, ZONE};
use crate::console::Console;
use crate::open::Segments;
use crate::text::{Json, printable};

/// A step after the query, and its time.
pub(crate) struct Step {
    pub(crate) what: &'static str,
    /// The key of its time in JSON, beside the time of all steps.
    pub(crate) key: Option<&'static str>,
    pub(crate) took: Duration,
}

impl Step {
    /// The only step of a command.
    pub(crate) fn only(what: &'static str, took: Duration) -> [Step; 1] {
        [Step { what, key: None, took }]
    }
}

impl Answer<'_> {
    /// Prints the output of `--explain`, if the request asks for it: how the query was evaluated, with `has_top` how the
    /// first documents were found, and the steps after that.
    pub(crate) fn explain(&self, has_top: bool, steps: &[Step], json: bool, console: &mut Console<'_>) {
        let Some(explain) = &self.found.explain else { return };
        let (segments, time) = (self.segments, self.found.times.query);
        let top = has_top.then_some(&self.found.top_profile);
        let _ = console.out.flush();
        if json {
            let all = steps.iter().map(|step| step.took).reduce(|a, b| a + b);
            let each = steps.iter().filter_map(|step| Some((step.key?, nanos(step.took))));
            let times = [("query", nanos(time)), ("answer", all.map_or(Json::NONE, nanos))];
            let top =
                top.map(|top| Json::object([("seen", top.visited.into()), ("index", index(&top.filter))]));
            let report = Json::object([
                ("query", of_files(explain, segments)),
                ("top", top.unwrap_or(Json::NONE)),
                ("nanoseconds", Json::object(times.into_iter().chain(each))),
            ]);
            return console.note(&serde_json::to_string_pretty(&report).unwrap_or_default());
        }
        note_plan(explain, segments, console);
        if let Some(top) = top {
            console.note(&format!("first documents: {top}"));
        }
        let steps = steps.iter().map(|Step { what, took, .. }| format!(", {what} in {took:.1?}"));
        console.note(&format!("documents found in {time:.1?}{}", steps.collect::<String>()));
    }
}

/// Prints the plan of the query; with several files, for each of them.
fn note_plan(explain: &Explain, segments: &Segments, console: &mut Console<'_>) {
    let Some(files) = segments.files() else { return console.note(explain.to_string().trim_end()) };
    let whole = Explain { how: of_files_text(&explain.how), parts: Vec::new(), ..explain.clone() };
    console.note(whole.to_string().trim_end());
    for (file, plan) in files.zip(plans(explain, segments)) {
        console.note(&format!("{}:", printable(file)));
        plan.to_string().lines().for_each(|line| console.note(&format!("  {line}")));
    }
}

/// The plan of the query; with several files, its parts are theirs.
fn of_files(explain: &Explain, segments: &Segments) -> Json {
    let Some(files) = segments.files() else { return part(explain) };
    let whole = Explain { how: of_files_text(&explain.how), parts: Vec::new(), ..explain.clone() };
    let with_file = |(file, plan): (&str, &Explain)| {
        let Json::Object(mut entries) = part(plan) else { return Json::NONE };
        entries.insert(0, ("file".into(), file.into()));
        Json::Object(entries)
    };
    let Json::Object(mut entries) = part(&whole) else { return Json::NONE };
    entries.push(("files".into(), files.zip(plans(explain, segments)).map(with_file).collect()));
    Json::Object(entries)
}

/// The plan for each file. The plan for the only one that was opened is that of the search.
fn plans<'e>(explain: &'e Explain, segments: &Segments) -> &'e [Explain] {
    if segments.all().len() == 1 { slice::from_ref(explain) } else { &explain.parts }
}

/// The parts of a search are files here.
fn of_files_text(how: &str) -> String {
    how.replace(" parts are searched", " files are searched")
}

/// A clause of the query and its parts, in the order of evaluation.
fn part(explain: &Explain) -> Json {
    let profile = explain.profile.as_ref();
    Json::object([
        ("clause", explain.clause.as_str().into()),
        ("how", explain.how.as_str().into()),
        ("expected", explain.expected.into()),
        ("asked", profile.map(|profile| profile.candidates).into()),
        ("matched", profile.map(|profile| profile.matched).into()),
        ("windows", profile.map(|profile| profile.windows).into()),
        ("skipped_windows", profile.map(|profile| profile.skipped).into()),
        ("gathered_windows", profile.map(|profile| profile.gathered).into()),
        ("nanoseconds", profile.map_or(Json::NONE, |profile| nanos(profile.time))),
        ("index", profile.map_or(Json::NONE, |profile| index(&profile.filter))),
        ("parts", Json::any(explain.parts.iter().map(part))),
    ])
}

/// The pruning statistics of a column, if it has an index.
fn index(counts: &Pruning) -> Json {
    if counts.is_empty() {
        return Json::NONE;
    }
    let share = |of: PruneCounts| {
        let PruneCounts { none, all, open } = of;
        Json::object([("skipped", none.into()), ("taken_whole", all.into()), ("looked_into", open.into())])
    };
    Json::object([
        ("directory", counts.directory.into()),
        ("order", counts.order.into()),
        ("missing", counts.missing.into()),
        ("zone_values", ZONE.into()),
        ("zones", share(counts.zones)),
        ("fine_zone_values", FINE_ZONE.into()),
        ("fine_zones", share(counts.fine_zones)),
        ("blocks", share(counts.blocks)),
        ("values_read", counts.read.into()),
    ])
}

fn nanos(time: Duration) -> Json {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).into()
}
