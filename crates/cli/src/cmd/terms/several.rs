//! The terms and ids of several segments, of documents that are not deleted.

use std::ops::ControlFlow;

use super::{bytes_of, no_dictionary};
use crate::answer::terms::TermPrinter;
use crate::api::search::Docs;
use crate::api::search::facet::{Facet, FacetOrder};
use crate::api::{Field, Kind};
use crate::args::inspect::TermsArgs;
use crate::console::Console;
use crate::error::Result;
use crate::open::{OpenSegment, Segments, id_index};

/// Prints the terms of a column. A term that only deleted documents have is none.
pub(super) fn print_terms(
    segments: &Segments,
    name: &str,
    args: &TermsArgs,
    console: &mut Console<'_>,
) -> Result<()> {
    let field = segments.field(name)?;
    if !matches!(field.kind, Kind::Sorted | Kind::SortedSet) {
        return Err(no_dictionary(&segments.named(), &field));
    }
    let top = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut facet = Facet::of(name).top(top).order(FacetOrder::Value).min_count(1);
    if let Some(prefix) = &args.prefix {
        facet = facet.prefix(bytes_of(prefix, field.logical)?);
    }
    let found = segments.search().facet(Docs::All, &facet).map_err(|error| segments.failure(error))?;
    let mut printer = TermPrinter::begin(&field, &["term"], args.format, console)?;
    for (term, _) in &found.values {
        printer.print(term.as_bytes().unwrap_or_default(), &[], console)?;
    }
    printer.finish(console)
}

/// Prints ids, in rows with the segments and documents. Takes memory for all of them.
pub(super) fn print_ids(segments: &Segments, args: &TermsArgs, console: &mut Console<'_>) -> Result<()> {
    let mut ids: Vec<(Box<[u8]>, usize, u32)> = Vec::new();
    let mut of_column: Option<Field> = None;
    for (part, segment) in segments.all().iter().enumerate() {
        let (index, field) = id_index::open(segment)?;
        let prefix = args.prefix.as_ref().map(|prefix| bytes_of(prefix, field.logical)).transpose()?;
        let each = |id: &[u8], doc: crate::api::DocId| {
            if segment.live.contains(doc) {
                ids.push((id.into(), part, doc.get()));
            }
            ControlFlow::Continue(())
        };
        let read = index.prefix(&prefix.unwrap_or_default(), each);
        read.map_err(|error| id_index::damaged(&error, id_index::MEND))?;
        of_column = of_column.or(Some(field));
    }
    ids.sort_unstable();
    let Some(field) = of_column else { return Ok(()) };
    let mut printer = TermPrinter::begin(&field, &["id", "file", "doc"], args.format, console)?;
    for (id, part, doc) in ids.iter().take(args.limit.map_or(usize::MAX, |limit| limit as usize)) {
        let file = segments.all().get(*part).map_or("", OpenSegment::file);
        printer.print(id, &[file.into(), (*doc).into()], console)?;
    }
    printer.finish(console)
}
