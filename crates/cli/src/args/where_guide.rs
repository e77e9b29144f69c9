//! The guide to `--where`, as a command without arguments: `dv help where` prints it.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  dv where | less
  dv count packages.dv --where 'section = \"libs\" and (size > 10MiB or tags *= \"python\")'
  dv sort packages.dv --by=-size --where 'package ~ \"^lib.*-dev$\"' --columns package,size";

/// Explain the conditions of --where
///
/// A condition compares a column with a value, and a document matches if one of its values passes:
///   status = 404                 also != < <= > >=
///   size >= 10MiB                numbers: -1_000, 1.5, 1e9, 10kB, 10MiB, inf
///   host = "www.example.com"     text in double or single quotes
///   title = "a ""b"""            a quote in text is doubled; a backslash stands for itself
///   day = "2024-02-29"           a day or a time, in UTC or --tz: "2024-02-29T12:30:00"
///   client = "10.0.0.0/8"        an address or a network
///   done = true
///   sent > received              another column
///
/// Several values, and ranges:
///   status in (404, 410)         status not in (404, 410)
///   size in 10..20               10 to 19; 10..=20 includes 20; 10<..20 excludes both
///   agent exists                 has a value; `agent missing` has none
///
/// Parts of text:
///   host ^= "www."               begins with
///   host $= ".example.com"       ends with
///   host *= "shop"               contains
///   host ~ "^[a-z]+[0-9]"        has a match of a regular expression; host !~ "…" has none
///   host *= "SHOP" i             ignores case; also after = != ^= $= ~ !~
///
/// The id of a document in its segment, as --doc-ids prints it:
///   _doc in 1000..2000
///
/// Combine conditions with and, or, not and parentheses. `not` binds tightest, then `and`.
/// Put column names with spaces or other special characters in backticks: `content type` = "text".
///
/// Documents without a value match `missing`, `true` and `not …`:
///   status != 404                leaves them out
///   not status = 404             keeps them
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct WhereGuideArgs {}
