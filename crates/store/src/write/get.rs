//! A document as it is now, published or not.

use std::sync::Arc;

use docvalues_column::{DocId, Field, Part, PlainSource};
use docvalues_search::export::Chunk;
use docvalues_search::{Parts, Search};
use docvalues_terms::hash::hash;

use crate::error::Result;
use crate::segments::Id;
use crate::store::{Current, Store};

/// The values of the document with an id, in one row.
pub(super) fn get<S: AsRef<str>>(store: &Store, id: &[u8], columns: &[S]) -> Result<Option<Chunk>> {
    let now = store.snapshot();
    let mut found = now.find_in_segments(&[id])?;
    let part = store.change_quietly(|writer| {
        if writer.generation != now.generation() {
            // All changes of the set of segments are published.
            found = store.snapshot().find_in_segments(&[id])?;
        }
        let docs = &writer.docs;
        let fields: Arc<[Field]> = docs.schema.fields().into();
        let Some(field) = docs.schema.id_place() else { return Ok(None) };
        let id = Id { id, hash: hash(id, store.seed), field };
        let part = match docs.current(id, found[0]) {
            Some(Current::Segment(segment, doc)) => {
                let state = &docs.segments[segment];
                Some((Part { source: state.now.over(&state.segment.segment, &fields), live: None }, doc))
            }
            Some(document) => docs
                .copy(document)
                .map(|doc| (Part::new(PlainSource::new(Arc::new(doc), fields.clone())), DocId::new(0))),
            None => None,
        };
        Ok(part.map(|(part, doc)| (part, doc, fields)))
    })?;
    let Some((part, doc, fields)) = part else { return Ok(None) };
    let parts = Parts::new([part]).with_fields(fields);
    let mut retriever = Search::over(&parts).retriever(columns)?;
    retriever.retrieve(&[doc])?;
    Ok(Some(retriever.into_chunk()))
}
