//! `dv lookup` of an index of Lucene: documents by the terms of a field, such as ids.

use std::path::PathBuf;

use super::{PLACE, print_place};
use crate::answer::answer_rows::RowsOrLines;
use crate::answer::records;
use crate::api::DocAddress;
use crate::args::lookup::LookupArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::import::ids::IdInput;
use crate::open::{OpenSegment, Opener, Segments};
use crate::text::printable;

/// The first of `ids` is the field.
pub(super) fn run(
    args: &LookupArgs,
    files: &[PathBuf],
    ids: Vec<IdInput>,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit> {
    let mut ids = ids.into_iter();
    let Some(IdInput::Id(field)) = ids.next() else {
        let failure = CliError::usage("expected a field and ids of it, found none");
        return Err(failure.hint("write the field before the ids, such as `dv lookup DIR _id 7`"));
    };
    let field = text(field)?;
    let segments = Segments::open_all(opener, files)?;
    if !segments.all().iter().filter_map(OpenSegment::lucene).any(|segment| segment.is_indexed(&field)) {
        return Err(CliError::failed(format!("{}: no indexed field {field:?}", segments.named())));
    }
    let ids = ids.flat_map(IdInput::all).collect::<Result<Vec<_>>>()?;
    let (mut found, mut not_found) = (Vec::new(), Vec::new());
    for id in ids {
        let id = text(id)?;
        let docs = find(&segments, &field, &id)?;
        if docs.is_empty() {
            not_found.push(format!("dv: no document has the id \"{}\"", printable(&id)));
        }
        found.extend(docs.into_iter().map(|doc| (id.clone(), doc)));
    }
    if args.doc {
        let mut places = RowsOrLines::begin(&PLACE, args.records.format, console)?;
        for (id, DocAddress { part, doc }) in &found {
            print_place(id, (&segments, *part as usize, *doc), &mut places, console)?;
        }
        places.finish(console)?;
    } else {
        let docs = found.iter().map(|(_, doc)| *doc);
        records::print(&segments, docs, &args.records.options(), console)?;
    }
    console.out.flush()?;
    for message in not_found.iter().filter(|_| !args.quiet) {
        console.note(message);
    }
    Ok(if not_found.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| CliError::usage("expected a field and ids in UTF-8, found other bytes"))
}

/// The live documents with an id.
fn find(segments: &Segments, field: &str, id: &str) -> Result<Vec<DocAddress>> {
    let mut found = Vec::new();
    for (at, segment) in segments.all().iter().enumerate() {
        let Some(lucene) = segment.lucene() else { continue };
        let part = u32::try_from(at).unwrap_or(u32::MAX);
        let docs = lucene.find_id(field, id)?.into_iter().filter(|doc| segments.is_live(at, *doc));
        found.extend(docs.map(|doc| DocAddress { part, doc }));
    }
    Ok(found)
}
