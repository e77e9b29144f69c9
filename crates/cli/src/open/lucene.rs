//! Indexes of Lucene, opened as the global options say.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::opener::Opener;
use super::segment::OpenSegment;
use crate::api::lucene::{self, FsDirectory, Index, Options, Segment};
use crate::api::{Field, Part, PlainColumns, PlainSource};
use crate::console::Console;
use crate::error::{CliError, Result};

impl Opener {
    /// Opens the newest commit of an index.
    pub(crate) fn lucene(&self, path: &Path, options: Options) -> Result<Index> {
        if self.commit.is_some() {
            let message = format!("--commit: expected the folder of a store, found \"{}\"", path.display());
            return Err(CliError::usage(message));
        }
        let types = self.lucene_types.iter();
        let options = types.fold(options, |options, (name, of_field)| options.field(name, *of_field));
        let mut directory = FsDirectory::new(path);
        if self.no_mmap {
            directory = directory.without_mappings();
        }
        Ok(Index::open_with(Arc::new(directory), options)?)
    }
}

/// The segments of an index; if it has none, one without documents. With `unites_kinds`, a column has one kind in all of
/// them.
pub(super) fn segments(opener: &Opener, path: &Path, unites_kinds: bool) -> Result<Vec<OpenSegment>> {
    let index = opener.lucene(path, Options::new().unite_kinds(unites_kinds))?;
    let opened = index.segments().iter().zip(index.parts());
    let opened = opened
        .map(|(segment, part)| {
            let file = path.join(segment.name()).to_string_lossy().into_owned();
            OpenSegment::of_lucene(file, Some(Arc::clone(segment)), part)
        })
        .collect::<Vec<_>>();
    if !opened.is_empty() {
        return Ok(opened);
    }
    // No column contradicts the number of documents.
    let none = PlainColumns::new(0, Vec::new()).into_iter().map(|none| {
        let part = Part::new(PlainSource::new(Arc::new(none), Arc::from([])));
        OpenSegment::of_lucene(path.to_string_lossy().into_owned(), None, part)
    });
    Ok(none.collect())
}

/// The fields of all segments, by name: with lists, if a segment has lists.
pub(super) fn fields(segments: &[OpenSegment]) -> Result<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    for segment in segments {
        for field in segment.source.fields()? {
            match fields.binary_search_by(|known| known.name.cmp(&field.name)) {
                Ok(place) if field.kind.is_multi_valued() => fields[place] = field,
                Ok(_) => {}
                Err(place) => fields.insert(place, field),
            }
        }
    }
    Ok(fields)
}

/// Why columns are not read: an error for each, of the first segment in which it is not.
pub(crate) fn unreadable<'s>(segments: impl Iterator<Item = &'s Segment>) -> Vec<lucene::Error> {
    let mut names = BTreeSet::new();
    let all = segments.flat_map(|segment| segment.unreadable());
    all.filter(|(name, _)| names.insert(*name)).map(|(_, error)| error).collect()
}

/// Names the columns that are not read on standard error, each once.
pub(crate) fn note_left_out(segments: &[OpenSegment], console: &mut Console<'_>) {
    for error in unreadable(segments.iter().filter_map(OpenSegment::lucene)) {
        console.note(&format!("dv: left out: {error}"));
    }
}
