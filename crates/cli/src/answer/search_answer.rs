//! The answer to a request, and the JSON that commands print of it.

use crate::api::search::{SearchAnswer, SearchRequest};
use crate::console::Console;
use crate::error::Result;
use crate::open::Segments;
use crate::text::Json;

/// The answer of segments to a request.
pub(crate) struct Answer<'s> {
    pub(super) segments: &'s Segments,
    pub(crate) request: SearchRequest,
    pub(crate) found: SearchAnswer,
}

impl<'s> Answer<'s> {
    /// Searches `segments` with `threads`; by default, with one per core. Columns of the answer get the text formats
    /// that all segments have in common.
    pub(crate) fn of(
        segments: &'s Segments,
        request: SearchRequest,
        threads: Option<u16>,
    ) -> Result<Answer<'s>> {
        let search = segments.search();
        let search = match threads {
            Some(threads) => search.threads(threads.into()),
            None => search,
        };
        let mut found = search.request(&request).map_err(|error| segments.failure(error))?;
        let SearchAnswer { facets, histograms, stats, groups, .. } = &mut found;
        let buckets = histograms.iter_mut().flat_map(|histogram| &mut histogram.buckets);
        let facets = facets.iter_mut().chain(buckets.filter_map(|bucket| bucket.facet.as_mut()));
        facets.map(|facet| &mut facet.field).try_for_each(|field| segments.describe(field))?;
        histograms.iter_mut().try_for_each(|histogram| segments.describe(&mut histogram.field))?;
        stats.iter_mut().try_for_each(|stats| segments.describe(&mut stats.field))?;
        let mut keys = groups.iter_mut().flat_map(|found| &mut found.fields);
        keys.try_for_each(|field| segments.describe(field))?;
        Ok(Answer { segments, request, found })
    }

    /// Prints JSON: the files, the number of matching documents, and `entries`.
    pub(crate) fn print_json(
        &self,
        entries: impl IntoIterator<Item = (&'static str, Json)>,
        console: &mut Console<'_>,
    ) -> Result<()> {
        let documents = [
            self.segments.json(),
            ("documents", self.segments.docs().into()),
            ("matching", self.found.hits.into()),
        ];
        Ok(console.json(Json::object(documents.into_iter().chain(entries)))?)
    }
}
