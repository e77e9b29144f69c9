//! `--where` and the options of its evaluation.

use clap::Args;

use crate::api::search::calendar::TimeZone;
use crate::text::words::closest;

/// `--where` and the options of its evaluation.
#[derive(Debug, Args)]
pub(crate) struct WhereArgs {
    /// Only documents that match this, such as 'status = 404 and size >= 10MiB and host ^= "www."'
    ///
    /// Comparisons are = != < <= > >=, ^= (begins with), $= (ends with), *= (contains), ~ (regular expression), `in (a,
    /// b)`, `in 1..5`, `exists` and `missing`. Combine them with and, or, not and parentheses. Put text and dates in
    /// quotes, and unusual column names in backticks. `dv help where` explains it all.
    #[arg(long = "where", value_name = "QUERY")]
    pub(crate) query: Option<String>,

    /// The time zone of timestamps, such as Europe/Berlin or +02:00, in conditions, steps, groups and output
    ///
    /// Days and hours are those that clocks there show. Times of a condition without an offset are in it, too. Default:
    /// UTC, and the output as the input was written.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = zone)]
    pub(crate) tz: Option<TimeZone>,

    /// Leave out files that cannot be opened, or a column of which cannot be opened, and name them on standard error
    ///
    /// Damage of values is found when they are read, and is still an error.
    #[arg(long, hide_short_help = true)]
    pub(crate) skip_damaged: bool,

    /// Threads to use; default: one per core
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    pub(crate) threads: Option<u16>,

    /// Print to standard error how the query was evaluated, what each index skipped, and the time of each step
    #[arg(long, hide_short_help = true)]
    pub(crate) explain: bool,
}

/// The zone of --tz. An error names the zone whose name or, without a region, whose city is closest.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|error| {
        let zones: Vec<String> = jiff::tz::db().available().map(|zone| zone.to_string()).collect();
        let close = closest(name, zones.iter().map(|zone| compared(zone, name)));
        // Abbreviations such as PST are close to others.
        let close = close.filter(|_| name.len() > 4);
        match zones.iter().find(|zone| Some(compared(zone, name)) == close) {
            Some(zone) => format!("{error}; did you mean {zone}?"),
            None => error.to_string(),
        }
    })
}

/// The part of a zone that is compared with a name: all of it if the name has a region, or the city.
fn compared<'z>(zone: &'z str, name: &str) -> &'z str {
    let city = zone.rsplit('/').next().filter(|_| !name.contains('/'));
    city.unwrap_or(zone)
}
