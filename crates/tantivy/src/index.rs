//! [`Index`]: a folder of text and columns is created, opened, and searched.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use docvalues::store::{Durability, KeepCommits, MergePolicy, Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind, LogicalType};
use tantivy::schema::{FAST, INDEXED, SchemaBuilder};
use tantivy::{IndexWriter, ReloadPolicy};

use crate::commits::go_back;
use crate::error::{Error, Result};
use crate::key::KEY;
use crate::searcher::Searcher;
use crate::shared::Shared;
use crate::writer::Writer;

/// A folder with text, in `text`, and columns, in `columns`: a tantivy index and a docvalues store with the same documents.
///
/// It gives out searchers, to any number of threads; the [`Writer`] changes it. Cloning is cheap.
///
/// # Examples
///
/// See the [crate](crate).
#[derive(Clone)]
pub struct Index(Arc<Shared>);

/// Options of an [`Index`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The memory for documents of the text that are in no segment yet, in bytes: at least 15 MB. tantivy has a thread for each
    /// 15 MB, up to the number of cores or eight. Up to 10,000 documents, or 40 MB of small ones, wait for these threads besides.
    pub text_memory: usize,
    /// The options of the columns. The index itself decides when they are durable, and keeps two commits or more: it sets the
    /// durability, the times of refreshes and commits, and the bytes of logs.
    pub columns: StoreOptions,
    /// The policy by which a commit first merges segments of the columns. If it is `None`, only [`Index::merge_columns`] merges
    /// them. tantivy merges the text by itself.
    pub merge: Option<MergePolicy>,
}

impl Default for Options {
    /// 64 MiB, and the default options and merges of the columns.
    fn default() -> Options {
        Options {
            text_memory: 64 << 20,
            columns: StoreOptions::default(),
            merge: Some(MergePolicy::default()),
        }
    }
}

impl Options {
    /// The default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the memory for documents of the text that are in no segment yet.
    #[must_use]
    pub fn text_memory(self, text_memory: usize) -> Options {
        Options { text_memory, ..self }
    }

    /// Sets the options of the columns.
    #[must_use]
    pub fn columns(self, columns: StoreOptions) -> Options {
        Options { columns, ..self }
    }

    /// Sets how segments of the columns are merged before each commit.
    #[must_use]
    pub fn merge(self, merge: impl Into<Option<MergePolicy>>) -> Options {
        Options { merge: merge.into(), ..self }
    }

    /// The options of the store: only commits with the text are durable, and the one before stays.
    fn store(&self) -> StoreOptions {
        let keep = match self.columns.keep_commits {
            Some(KeepCommits::Newest(commits)) => commits.max(2),
            _ => 2,
        };
        let mut options = self.columns.keep_commits(KeepCommits::Newest(keep));
        options.durability = Durability::OnCommit;
        options.keep_frames = 0;
        (options.refresh_every, options.commit_every) = (None, None);
        options
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("text", &self.0.text).finish_non_exhaustive()
    }
}

impl Index {
    /// Creates an index in the folder `path`, which is created if necessary. Both schemas get the field [`KEY`], the id of the
    /// columns.
    ///
    /// If the process ends meanwhile, remove the folder.
    ///
    /// # Errors
    ///
    /// If there is an index in the folder, or a file cannot be written; [`Error::Schema`] if `columns` has a field of the name
    /// [`KEY`], a field of ids, or one of versions.
    ///
    /// # Panics
    ///
    /// If `text` has a field of the name [`KEY`], as tantivy does.
    pub fn create(
        path: impl AsRef<Path>,
        mut text: SchemaBuilder,
        columns: StoreSchema,
        options: Options,
    ) -> Result<(Index, Writer)> {
        let path = path.as_ref();
        let taken = columns.field(KEY).map(|field| &*field.name);
        if let Some(field) = taken.or(columns.id_field()).or(columns.version_field()) {
            return Err(Error::Schema { field: field.to_owned() });
        }
        let columns =
            columns.with_field(Field::new(KEY, Kind::Binary, LogicalType::Bytes))?.with_id_field(KEY)?;
        text.add_u64_field(KEY, INDEXED | FAST);
        let folder = path.join("text");
        std::fs::create_dir_all(&folder)
            .map_err(|source| Error::Folder { folder: folder.display().to_string(), source })?;
        let text = tantivy::Index::create_in_dir(folder, text.build())?;
        let writer = text.writer(options.text_memory)?;
        let store = Store::create(path.join("columns"), columns, options.store())?;
        Index::start(text, writer, store, options)
    }

    /// Opens the index in the folder `path`. If a writer ended between the commits of columns and text, the columns go back to the
    /// commit before, which the text has.
    ///
    /// # Errors
    ///
    /// If there is no index, another process has it open, or a file of it is damaged; [`Error::Apart`] if text and columns are not
    /// those of one index.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<(Index, Writer)> {
        let path = path.as_ref();
        let text = tantivy::Index::open_in_dir(path.join("text"))?;
        // Its lock comes before the comparison, so that no other writer is between two commits.
        let writer = text.writer(options.text_memory)?;
        // A commit that a kill cut short may have left a file whose name the same commit needs again.
        writer.garbage_collect_files().wait()?;
        let columns = path.join("columns");
        go_back(&columns, text.load_metas()?.opstamp, options.store())?;
        let store = Store::open(columns, options.store())?;
        Index::start(text, writer, store, options)
    }

    fn start(
        text: tantivy::Index,
        writer: IndexWriter,
        store: Store,
        options: Options,
    ) -> Result<(Index, Writer)> {
        let key = text.schema().get_field(KEY)?;
        let reader = text.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let shared = Arc::new(Shared::new(text, reader, key, store));
        let writer = Writer::new(shared.clone(), writer, options.merge)?;
        Ok((Index(shared), writer))
    }

    /// The documents of the last commit, with the values of the last [`Writer::refresh`]. O(1).
    pub fn searcher(&self) -> Searcher {
        Searcher::of(self.0.view())
    }

    /// The text, for query parsers and tokenizers. Tokenizers of your own must be registered after each opening. Its segments
    /// are changed by the [`Writer`] only, which has tantivy's lock.
    pub fn text(&self) -> &tantivy::Index {
        &self.0.text
    }

    /// Merges segments of the columns until `policy` finds nothing to merge, and returns the number of merges. Documents are
    /// followed to the merged segments. May run beside the writer, whose next refresh or commit shows the merged ones.
    ///
    /// # Errors
    ///
    /// If a segment is damaged, or the merged one cannot be written.
    pub fn merge_columns(&self, policy: &MergePolicy) -> Result<usize> {
        Ok(self.0.store.merge(policy)?)
    }
}
