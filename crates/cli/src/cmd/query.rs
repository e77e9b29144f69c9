//! `dv query`: answers a request in JSON or TOML.

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::request::{answer, facet, group, histogram, open};
use crate::answer::facets::facet_json;
use crate::answer::groups::groups_json;
use crate::answer::histograms::histogram_json;
use crate::answer::records;
use crate::answer::statistics::Column;
use crate::api::search::facet::Facet;
use crate::api::search::stats::Stats;
use crate::api::search::{SearchAnswer, SearchRequest};
use crate::args::aggregate::{FacetBy, GroupSpec, HistogramSpec};
use crate::args::filter::WhereArgs;
use crate::args::search::QueryArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::{Opener, Segments, files};
use crate::text::Json;

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

impl FacetRequest {
    fn facet(&self) -> Facet {
        let (by, prefix) = (self.by.unwrap_or(FacetBy::Count), self.prefix.as_deref());
        facet(&self.column, self.top.unwrap_or(10), by, self.min_count.unwrap_or(1), prefix)
    }
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

pub(crate) fn run(args: &QueryArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = open(&args.files, &args.filter, opener, console)?;
    let asked = parse(&args.request)?;
    let query = asked.query.as_deref();
    let of = (&args.filter, query);
    let answer = answer(&segments, of, request(&segments, &asked, of)?)?;
    let found = &answer.found;
    let top = records::json(&segments, &found.top, &asked.columns, false)?;
    let groups = asked.groups.iter().enumerate();
    let groups =
        groups.map(|(at, NameOr(spec))| groups_json(&answer, at, &spec.columns, false).map(Json::object));
    let histograms = (0..asked.histograms.len()).map(|at| histogram_json(&answer, at).map(Json::object));
    let entries = [
        ("facets", Json::any(found.facets.iter().map(facet_json))),
        ("histograms", Json::any(histograms.collect::<Result<Vec<_>, _>>()?)),
        ("stats", Json::any(found.stats.iter().map(|stats| Column::new(stats, 0).to_json()))),
        ("groups", Json::any(groups.collect::<Result<Vec<_>, _>>()?)),
        ("top", asked.top().map_or(Json::NONE, |_| Json::List(top))),
    ];
    answer.print_json(entries, console)?;
    answer.explain(answer.request.top > 0, &steps(&answer.request, found), console);
    Ok(Exit::Ok)
}

/// Parses a request: JSON or TOML, from the command line, a file, or standard input.
fn parse(argument: &str) -> Result<QueryRequest> {
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

/// Converts a request for the library, without its condition.
fn request(
    segments: &Segments,
    asked: &QueryRequest,
    of: (&WhereArgs, Option<&str>),
) -> Result<SearchRequest> {
    let histograms = asked.histograms.iter().map(|spec| histogram(segments, spec, of));
    let groups = asked.groups.iter().map(|NameOr(spec)| group(segments, spec));
    Ok(SearchRequest::new()
        .facets(asked.facets.iter().map(|NameOr(asked)| asked.facet()))
        .histograms(histograms.collect::<Result<Vec<_>, _>>()?)
        .stats(asked.stats.iter().map(stats))
        .groups(groups.collect::<Result<Vec<_>, _>>()?)
        .sort(segments.sort_keys("sort", &asked.sort)?)
        .top(asked.top().unwrap_or(0)))
}

fn stats(NameOr(asked): &NameOr<StatsRequest>) -> Stats {
    let mut stats = Stats::of(&asked.column).percentiles(asked.percentiles.iter().copied());
    (stats.spread, stats.distinct) = (asked.spread, asked.distinct);
    stats
}

/// The steps of a request, with their times.
fn steps(request: &SearchRequest, answer: &SearchAnswer) -> Vec<(&'static str, Duration)> {
    let SearchRequest { facets, histograms, stats, groups, top, .. } = request;
    let passes = !(facets.is_empty() && histograms.is_empty() && stats.is_empty());
    let times = answer.times;
    let steps = [
        (passes, ("facets, histograms and statistics", times.pass)),
        (!groups.is_empty(), ("groups", times.groups)),
        (*top > 0, ("put in order", times.top)),
    ];
    steps.into_iter().filter(|(asked, _)| *asked).map(|(_, step)| step).collect()
}
