//! `--where`: the documents that a command is about.

use std::time::{Duration, Instant};

use crate::args::WhereArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::explain::ExplainJson;
use crate::read;
use crate::store::search::query::Explain;
use crate::store::search::sort::TopRan;
use crate::store::search::{Bitset, Docs, Query};
use crate::store::{Search, Segment};

/// The documents that match.
pub(crate) struct Hits {
    /// Absent: all of them.
    bits: Option<Bitset>,
    docs: u32,
    explain: Option<(Explain, Duration)>,
}

impl Hits {
    /// Finds the documents that `args` ask for.
    pub(crate) fn find(segment: &Segment, args: &WhereArgs) -> Result<Hits, Failure> {
        let docs = segment.docs();
        let query = match &args.query {
            Some(text) => Query::parse(text)?,
            None => Query::All,
        };
        let start = Instant::now();
        let bound =
            search(segment, args).bind(&query).map_err(|error| read::search_failure(segment, error))?;
        if !args.explain {
            let bits = (!bound.is_all()).then(|| bound.collect(Docs::All)).transpose()?;
            return Ok(Hits { bits, docs, explain: None });
        }
        let (bits, explain) = bound.collect_explained(Docs::All)?;
        let explain = Some((explain, start.elapsed()));
        Ok(Hits { bits: Some(bits), docs, explain })
    }

    /// The documents.
    pub(crate) fn docs(&self) -> Docs<'_> {
        match &self.bits {
            // Runs are scanned then, and descriptions of columns hold for them.
            None => Docs::All,
            Some(bits) if bits.is_all() => Docs::All,
            Some(bits) => Docs::Bits(bits),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.bits.as_ref().map_or(self.docs, Bitset::count)
    }

    /// Tells how they were found, and what came then: as JSON, if that is JSON.
    pub(crate) fn explain(&self, then: &Then<'_>, json: bool, console: &mut Console<'_>) {
        self.tell(Some(then), json, console);
    }

    /// Tells how they were found, where that was all.
    pub(crate) fn explain_alone(&self, json: bool, console: &mut Console<'_>) {
        self.tell(None, json, console);
    }

    fn tell(&self, then: Option<&Then<'_>>, json: bool, console: &mut Console<'_>) {
        let Some((explain, time)) = &self.explain else { return };
        let _ = console.out.flush();
        let top = then.and_then(|then| then.top);
        if json {
            let explained = ExplainJson::new((explain, *time), then.map(|then| then.took), top);
            console.note(&serde_json::to_string_pretty(&explained).unwrap_or_default());
            return;
        }
        console.note(explain.to_string().trim_end());
        if let Some(top) = top {
            console.note(&format!("first documents: {top}"));
        }
        let then = then.map(|Then { what, took, .. }| format!(", {what} in {took:.1?}")).unwrap_or_default();
        console.note(&format!("documents found in {time:.1?}{then}"));
    }
}

/// What was done with the documents.
pub(crate) struct Then<'a> {
    pub(crate) what: &'a str,
    pub(crate) took: Duration,
    /// How the first of them were found.
    pub(crate) top: Option<&'a TopRan>,
}

impl<'a> Then<'a> {
    pub(crate) fn new(what: &'a str, took: Duration) -> Then<'a> {
        Then { what, took, top: None }
    }
}

/// A search in a segment, with as many threads as were asked for.
pub(crate) fn search<'s>(segment: &'s Segment, args: &WhereArgs) -> Search<'s> {
    let search = Search::new(segment);
    match args.threads {
        Some(threads) => search.threads(threads.into()),
        None => search,
    }
}
