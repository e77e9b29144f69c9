//! `dv sort`: prints the first documents in the order of some columns, or those after a position.

use super::request::{all_if_zero, answer, open};
use crate::answer::records;
use crate::api::search::SearchRequest;
use crate::api::search::sort::SortCursor;
use crate::api::{DocAddress, Field, SortKey};
use crate::args::search::SortArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::import::position;
use crate::open::{Opener, Segments};
use crate::text::quoting;

pub(crate) fn run(args: &SortArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let options = args.records.options();
    let segments = open(&args.files, &args.filter, opener, console)?;
    let (sort, top) = (segments.sort_keys("--by", &args.by)?, all_if_zero(args.count));
    let after = args.after.as_deref().map(|after| read(&segments, &sort, after)).transpose()?;
    // After a position, the hits do not tell whether there are more: one more document does.
    let is_after = after.is_some();
    let mut request = SearchRequest::new().sort(sort).top(top.saturating_add(usize::from(is_after)));
    request.after = after;
    let answer = answer(&segments, (&args.filter, None), request)?;
    let found = &answer.found.top;
    let docs = &found[..top.min(found.len())];
    records::print(&segments, docs.iter().copied(), &options, console)?;
    let more = if is_after { found.len() > docs.len() } else { answer.found.hits > docs.len() as u64 };
    if let Some(&last) = docs.last().filter(|_| more && !args.filter.explain) {
        let option = quoting::option("--after", &written(&segments, &answer.request.sort, last)?);
        console.out.flush()?;
        console.note(&format!("note: more documents follow: {option}"));
    }
    answer.explain(args.count > 0, &[("put in order", answer.found.times.top)], console);
    Ok(Exit::Ok)
}

/// Parses the position of --after.
fn read(segments: &Segments, sort: &[SortKey], after: &str) -> Result<SortCursor> {
    let wrong = |what: String| {
        CliError::usage(format!("--after: {what}"))
            .hint("`dv sort` prints the position of its last document if there are more")
    };
    let (values, document) = position::parse(&fields(segments, sort)?, after).map_err(wrong)?;
    let position = SortCursor::new(values);
    let Some(document) = document else { return Ok(position) };
    let Some(address) = segments.at_place(&document) else {
        return Err(wrong(format!("expected a document of {}, found {document:?}", segments.named())));
    };
    Ok(position.at(address))
}

/// The position of a document, as [`read`] parses it.
fn written(segments: &Segments, sort: &[SortKey], doc: DocAddress) -> Result<String> {
    let position = segments.search().sort_cursor(sort, doc).map_err(|error| segments.failure(error))?;
    Ok(position::print(&fields(segments, sort)?, position.values(), &segments.place(doc)))
}

/// The columns of sort keys.
fn fields(segments: &Segments, sort: &[SortKey]) -> Result<Vec<Field>> {
    sort.iter().map(|key| segments.field(&key.column)).collect()
}
