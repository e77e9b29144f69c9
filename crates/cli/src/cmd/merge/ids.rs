//! The index of ids of a merged segment.

use crate::api::{Field, IdIndex, IdOptions};
use crate::args::merge::MergeArgs;
use crate::error::Result;
use crate::import::ids::{check_type, unknown};
use crate::open::id_index::damaged;
use crate::open::{OpenSegment, columns};

/// The column and options of an index of ids to build.
pub(in crate::cmd) struct IdIndexPlan {
    pub(super) column: String,
    pub(super) options: IdOptions,
}

impl IdIndexPlan {
    /// An index of a column of segments, if it can hold ids.
    #[cfg(feature = "lucene")]
    pub(in crate::cmd) fn of(column: &str, segments: &[OpenSegment]) -> Result<IdIndexPlan> {
        check_fields(column, segments)?;
        Ok(IdIndexPlan { column: column.to_owned(), options: IdOptions::default() })
    }
}

/// The plan from the options, or from the indexes that the segments have in common. May return a note for the user.
pub(super) fn plan(
    args: &MergeArgs,
    segments: &[OpenSegment],
) -> Result<(Option<IdIndexPlan>, Option<String>)> {
    if args.no_ids {
        return Ok((None, None));
    }
    let has_documents = |segment: &&OpenSegment| segment.source.docs() > 0;
    let any = segments.iter().any(|segment| has_documents(&segment));
    let counting: Vec<&OpenSegment> =
        segments.iter().filter(|segment| !any || has_documents(segment)).collect();
    if let Some(column) = &args.id_field {
        check_fields(column, segments)?;
        // The index is built anew, so a damaged one does not matter.
        let first = counting.iter().find_map(|segment| segment.ids().ok().flatten());
        let options = first.filter(|first| first.field() == column).map(|first| options_of(&first));
        let options = options.unwrap_or_default();
        return Ok((Some(IdIndexPlan { column: column.clone(), options }), None));
    }
    let (common, note) = common(&counting)?;
    let plan = |first: IdIndex| IdIndexPlan { column: first.field().to_owned(), options: options_of(&first) };
    Ok((common.map(plan), note))
}

fn options_of(index: &IdIndex) -> IdOptions {
    IdOptions::new().form(index.form()).filter_bits(index.filter_bits()).seed(index.seed())
}

/// The first segment's index, if all segments have one of the same column; otherwise a note, if some segment has one.
fn common(segments: &[&OpenSegment]) -> Result<(Option<IdIndex>, Option<String>)> {
    let mut first: Option<(&OpenSegment, IdIndex)> = None;
    let mut lacking: Option<&OpenSegment> = None;
    for segment in segments {
        let index = segment.ids().map_err(|error| {
            damaged(&error, "--no-ids merges without the index of ids, --id-field rebuilds it")
        })?;
        match (index, &first) {
            (None, _) => lacking = lacking.or(Some(segment)),
            (Some(index), None) => first = Some((segment, index)),
            (Some(index), Some((of, known))) if index.field() != known.field() => {
                let note = format!(
                    "note: the result has no index of ids: the index is of column {:?} in \"{}\", and of column {:?} in \"{}\" (choose with --id-field)",
                    known.field(),
                    of.file(),
                    index.field(),
                    segment.file()
                );
                return Ok((None, Some(note)));
            }
            (Some(_), Some(_)) => {}
        }
    }
    Ok(match (first, lacking) {
        (Some((_, index)), None) => (Some(index), None),
        (Some((of, index)), Some(lacking)) => {
            let note = format!(
                "note: the result has no index of ids: \"{}\" has one, \"{}\" has none (build one with --id-field {})",
                of.file(),
                lacking.file(),
                index.field()
            );
            (None, Some(note))
        }
        (None, _) => (None, None),
    })
}

/// Checks that a column of segments to merge can hold ids.
fn check_fields(name: &str, segments: &[OpenSegment]) -> Result<()> {
    let fields = columns::select(segments, &[])?;
    match fields.iter().find(|field| field.name == name) {
        Some(Field { logical, kind, .. }) => check_type(name, *logical, kind.is_multi_valued()),
        None => Err(unknown(name, fields.iter().map(|field| field.name.as_str()))),
    }
}
