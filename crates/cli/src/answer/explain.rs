//! The output of `--explain`.

use std::slice;
use std::time::Duration;

use super::search_answer::Answer;
use crate::api::search::query::Explain;
use crate::console::Console;
use crate::open::Segments;
use crate::text::printable;

impl Answer<'_> {
    /// Prints the output of `--explain`, if the request asks for it: how the query was evaluated, with `has_top` how the
    /// first documents were found, and the steps after that with their times.
    pub(crate) fn explain(&self, has_top: bool, steps: &[(&str, Duration)], console: &mut Console<'_>) {
        let Some(explain) = &self.found.explain else { return };
        let time = self.found.times.query;
        let _ = console.out.flush();
        note_plan(explain, self.segments, console);
        if has_top {
            console.note(&format!("first documents: {}", self.found.top_profile));
        }
        let steps = steps.iter().map(|(what, took)| format!(", {what} in {took:.1?}"));
        console.note(&format!("documents found in {time:.1?}{}", steps.collect::<String>()));
    }
}

/// Prints the plan of the query; with several files, for each of them.
fn note_plan(explain: &Explain, segments: &Segments, console: &mut Console<'_>) {
    let Some(files) = segments.files() else { return console.note(explain.to_string().trim_end()) };
    // The parts of a search are files here.
    let mut whole = explain.clone();
    whole.how = explain.how.replace(" parts are searched", " files are searched");
    whole.parts.clear();
    console.note(whole.to_string().trim_end());
    // The plan for the only file that was opened is that of the search.
    let is_one = segments.all().len() == 1;
    let plans: &[Explain] = if is_one { slice::from_ref(explain) } else { &explain.parts };
    for (file, plan) in files.zip(plans) {
        console.note(&format!("{}:", printable(file)));
        plan.to_string().lines().for_each(|line| console.note(&format!("  {line}")));
    }
}
