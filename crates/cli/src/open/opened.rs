//! [`Opened`]: the segments of a path.

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "lucene")]
use super::files::is_lucene;
use super::opener::Opener;
use super::segment::OpenSegment;
use super::store_source::{StoreFields, StoreSource};
use crate::api::store::{SnapshotSegment, StoreSchema};
use crate::api::writer::{BytesKind, FieldSpec, FinishError, Schema, SegmentWriter, WriterOptions};
use crate::api::{Field, IdOptions, LiveDocs, OpenOptions, Segment};
use crate::error::Result;

/// The segments of a file, of a store or of an index of Lucene.
pub(super) struct Opened {
    pub(super) segments: Vec<OpenSegment>,
    /// The fields of a store or of an index of Lucene.
    pub(super) order: Option<Vec<Field>>,
}

impl Opened {
    /// A segment of its own.
    pub(super) fn of(segment: Segment) -> Opened {
        let (source, live) = (Arc::new(segment.clone()), LiveDocs::all(segment.docs()));
        Opened { segments: vec![OpenSegment::new(segment, source, live)], order: None }
    }

    /// The same, if `all` after a check that each column can be opened.
    pub(super) fn with_columns(self, all: bool) -> Result<Opened> {
        for OpenSegment { source, .. } in self.segments.iter().filter(|_| all) {
            source.fields()?.iter().try_for_each(|field| source.column(&field.name).map(drop))?;
        }
        Ok(self)
    }
}

/// Opens a file, or if the path is a folder, a store or an index of Lucene.
pub(super) fn open(opener: &Opener, path: &Path) -> Result<Opened> {
    if !path.is_dir() {
        return Ok(Opened::of(opener.segment(path)?));
    }
    #[cfg(feature = "lucene")]
    if is_lucene(path) {
        let segments = super::lucene::segments(opener, path, false)?;
        let order = super::lucene::fields(&segments)?;
        return Ok(Opened { segments, order: Some(order) });
    }
    let snapshot = opener.store(path)?;
    let schema = snapshot.schema();
    let by_name = schema.fields().iter().map(|field| (field.name.clone(), field.clone()));
    let fields = Arc::new(by_name.collect::<StoreFields>());
    let opened = |(part, SnapshotSegment { segment, live, .. }): (usize, SnapshotSegment<'_>)| {
        // The segment itself has the values as they were written.
        let source = snapshot.parts().source(part).clone();
        let source = Arc::new(StoreSource { source, fields: fields.clone() });
        OpenSegment::new(segment.clone(), source, live.clone())
    };
    let mut segments: Vec<OpenSegment> = snapshot.segments().enumerate().map(opened).collect();
    if segments.is_empty() {
        segments.push(without_documents(path, opener.options(), schema, fields)?);
    }
    Ok(Opened { segments, order: Some(schema.fields().to_vec()) })
}

/// A store without segments, as a segment without documents: it has the columns and the ids of the store.
fn without_documents(
    path: &Path,
    options: OpenOptions,
    schema: &StoreSchema,
    fields: Arc<StoreFields>,
) -> Result<OpenSegment> {
    let mut columns = Schema::new();
    let id_field = schema.id_field().and_then(|name| schema.field(name));
    let spec = |field: &Field| FieldSpec::new(&field.name, field.logical).kind(BytesKind::Binary);
    let id_field = id_field.map(|field| columns.add(spec(field))).transpose()?;
    let mut writer = SegmentWriter::in_memory(columns, WriterOptions::default());
    if let Some(id_field) = id_field {
        writer.id_field(id_field, IdOptions::default())?;
    }
    let bytes = writer.finish_bytes().map_err(FinishError::into_error)?;
    let segment = Segment::from_reader(Arc::new(bytes), path, options)?;
    let source = Arc::new(StoreSource { source: Arc::new(segment.clone()), fields });
    Ok(OpenSegment::new(segment, source, LiveDocs::all(0)))
}
