//! `dv query`: answers a request in JSON or TOML.

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::matching_docs;
use super::request::{group, group_metrics, histogram, histogram_metrics};
use crate::answer::explain::{Step, tell};
use crate::answer::facets::facet_json;
use crate::answer::groups::groups_json;
use crate::answer::histograms::{self, histogram_json};
use crate::answer::records;
use crate::answer::statistics::Column;
use crate::api::search::facet::{Facet, FacetOrder};
use crate::api::search::stats::Stats;
use crate::api::search::{Query, SearchAnswer, SearchRequest};
use crate::args::{FacetBy, GroupSpec, HistogramSpec, QueryArgs};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::files;
use crate::open::opener::Opener;
use crate::open::segments::Segments;
use crate::text::json::Json;

/// A request, as the user writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct QueryRequest {
    #[serde(rename = "where")]
    query: Option<String>,
    facets: Vec<NameOr<FacetRequest>>,
    histograms: Vec<HistogramSpec>,
    stats: Vec<NameOr<StatsRequest>>,
    groups: Vec<NameOr<GroupSpec>>,
    sort: Vec<String>,
    top: Option<usize>,
    columns: Vec<String>,
}

impl QueryRequest {
    /// The number of documents to print; 20 if the request has `sort` or `columns` and no `top`.
    fn top(&self) -> Option<usize> {
        let is_about_documents = !self.sort.is_empty() || !self.columns.is_empty();
        self.top.or(is_about_documents.then_some(20))
    }
}

/// A table of options, or a plain column name as a shorthand.
#[derive(Debug)]
struct NameOr<T>(T);

/// Implemented by hand, because errors of an untagged enum do not name the wrong key.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NameOr<T>, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = NameOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a column, or a table with `column` and more")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<NameOr<T>, E> {
                T::deserialize(MapDeserializer::new([("column", name)].into_iter())).map(NameOr)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NameOr<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(NameOr)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FacetRequest {
    column: String,
    top: Option<usize>,
    by: Option<FacetBy>,
    min_count: Option<u64>,
    prefix: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatsRequest {
    column: String,
    #[serde(default)]
    percentiles: Vec<f64>,
    #[serde(default)]
    spread: bool,
    #[serde(default)]
    distinct: bool,
}

pub(crate) fn run(args: &QueryArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let asked = parse(&args.request)?;
    let request = request(&segments, &asked, args.filter.query.as_deref())?;
    let search = matching_docs::search(&segments, &args.filter);
    let mut answer = search.request(&request).map_err(|error| segments.failure(error))?;
    describe(&segments, &mut answer)?;
    let top = records::json(&segments, &answer.top, &asked.columns)?;
    let groups = answer.groups.iter().zip(&asked.groups);
    let groups = groups.map(|(found, NameOr(spec))| {
        let metrics = group_metrics(&segments, spec)?;
        groups_json(&segments, found, &metrics, &spec.columns).map(Json::object)
    });
    let histograms = answer.histograms.iter().zip(&asked.histograms).map(|(found, spec)| {
        let metrics = histogram_metrics(&segments, spec)?;
        Ok::<_, CliError>(Json::object(histogram_json(found, &metrics)))
    });
    console.json(&Json::object([
        segments.json(),
        ("documents", segments.docs().into()),
        ("matching", answer.hits.into()),
        ("facets", Json::any(answer.facets.iter().map(facet_json))),
        ("histograms", Json::any(histograms.collect::<Result<Vec<_>, _>>()?)),
        ("stats", Json::any(answer.stats.iter().map(|stats| Column::new(stats, 0).to_json()))),
        ("groups", Json::any(groups.collect::<Result<Vec<_>, _>>()?)),
        ("top", asked.top().map_or(Json::NONE, |_| Json::List(top))),
    ]))?;
    if args.filter.explain {
        console.out.flush()?;
        let top = (request.top > 0).then_some(&answer.top_profile);
        let query = (&answer.explain, answer.times.query, &segments);
        tell(query, top, &steps(&request, &answer), args.json, console);
    }
    Ok(Exit::Ok)
}

/// Parses a request: JSON or TOML, from the command line, a file, or standard input.
fn parse(argument: &str) -> Result<QueryRequest, CliError> {
    let inline = argument.trim_start().starts_with('{');
    let hint = "write the request as JSON, or name a file of JSON or TOML, or - for standard input";
    let (name, text) =
        if inline { ("the request", argument.to_owned()) } else { files::text(argument, hint)? };
    let is_toml = Path::new(name).extension().is_some_and(|extension| extension == "toml");
    let wrong = |error: String| CliError::usage(format!("{name}: {}", error.trim_end()));
    if is_toml || !(inline || text.trim_start().starts_with('{')) {
        toml::from_str(&text).map_err(|error| wrong(error.to_string()))
    } else {
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
    }
}

/// Converts a request for the library; documents must also match the query `more`.
fn request(segments: &Segments, asked: &QueryRequest, more: Option<&str>) -> Result<SearchRequest, CliError> {
    let queries = [more, asked.query.as_deref()].into_iter().flatten().map(Query::parse);
    let query = Query::all_of(queries.collect::<Result<Vec<_>, _>>()?);
    let histograms = asked.histograms.iter().map(|spec| histogram(segments, spec));
    let groups = asked.groups.iter().map(|NameOr(spec)| group(segments, spec));
    Ok(SearchRequest {
        query,
        facets: asked.facets.iter().map(facet).collect(),
        histograms: histograms.collect::<Result<_, _>>()?,
        stats: asked.stats.iter().map(stats).collect(),
        groups: groups.collect::<Result<_, _>>()?,
        sort: segments.sort_keys("sort", &asked.sort)?,
        top: asked.top().unwrap_or(0),
    })
}

/// Gives the columns of an answer the text formats that all segments have in common.
fn describe(segments: &Segments, answer: &mut SearchAnswer) -> Result<(), CliError> {
    let SearchAnswer { facets, histograms, stats, groups, .. } = answer;
    facets.iter_mut().try_for_each(|facet| segments.describe(&mut facet.field))?;
    histograms.iter_mut().try_for_each(|found| histograms::describe(segments, found))?;
    stats.iter_mut().try_for_each(|stats| segments.describe(&mut stats.field))?;
    groups.iter_mut().flat_map(|found| &mut found.fields).try_for_each(|field| segments.describe(field))
}

fn facet(NameOr(asked): &NameOr<FacetRequest>) -> Facet {
    let mut facet = Facet::on(&asked.column);
    facet.top = match asked.top {
        Some(0) => usize::MAX,
        top => top.unwrap_or(facet.top),
    };
    facet.min_count = asked.min_count.unwrap_or(facet.min_count);
    facet.prefix = asked.prefix.as_ref().map(|prefix| prefix.as_bytes().to_vec());
    facet.order(asked.by.map_or(FacetOrder::Count, FacetBy::order))
}

fn stats(NameOr(asked): &NameOr<StatsRequest>) -> Stats {
    let mut stats = Stats::of(&asked.column).percentiles(asked.percentiles.iter().copied());
    (stats.spread, stats.distinct) = (asked.spread, asked.distinct);
    stats
}

/// The steps of a request, with their times.
fn steps(request: &SearchRequest, answer: &SearchAnswer) -> Vec<Step> {
    let SearchRequest { facets, histograms, stats, groups, top, .. } = request;
    let passes = !(facets.is_empty() && histograms.is_empty() && stats.is_empty());
    let times = answer.times;
    let steps = [
        (passes, "facets, histograms and statistics", "pass", times.pass),
        (!groups.is_empty(), "groups", "groups", times.groups),
        (*top > 0, "put in order", "top", times.top),
    ];
    let asked = steps.into_iter().filter(|(asked, ..)| *asked);
    asked.map(|(_, what, key, took)| Step { what, key: Some(key), took }).collect()
}
