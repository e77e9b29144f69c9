//! [`Shared`]: text, columns, and the view of both that the next searchers have.

use std::sync::{Arc, PoisonError, RwLock};

use docvalues::store::Store;
use tantivy::IndexReader;

use crate::error::Result;
use crate::searcher::View;

/// The state of an index, which it shares with its writer.
pub(crate) struct Shared {
    pub(crate) text: tantivy::Index,
    pub(crate) reader: IndexReader,
    pub(crate) key: tantivy::schema::Field,
    pub(crate) store: Store,
    /// Locked only to clone the pointer.
    view: RwLock<Arc<View>>,
}

impl Shared {
    pub(crate) fn new(
        text: tantivy::Index,
        reader: IndexReader,
        key: tantivy::schema::Field,
        store: Store,
    ) -> Shared {
        let view = RwLock::new(Arc::new(View::new(reader.searcher(), store.snapshot(), key)));
        Shared { text, reader, key, store, view }
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the next searchers have `text` and the columns as they are now.
    pub(crate) fn publish(&self, text: tantivy::Searcher) -> Result<()> {
        let view = Arc::new(self.view().next(text, self.store.snapshot())?);
        let mut published = self.view.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *published, view);
        drop(published);
        // Others need not wait until files are closed.
        drop(before);
        Ok(())
    }
}
