//! An index: the segments of its newest commit.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use docvalues_column::{ColumnSource as _, DocAddress, Part};
use docvalues_storage::{Directory, FsDirectory};

use crate::commit;
use crate::engine::Engine;
use crate::error::{ErrorKind, Result};
use crate::files::Files;
use crate::options::Options;
use crate::segment::Segment;
use crate::segment_info::MAX_DOCS;

/// Commits that are tried, one after the other, while a writer removes the files of older ones.
const TRIES: usize = 10;

/// A Lucene index, as its newest commit has it.
///
/// Segments never change, so an open index shows the same documents until it is opened again. Its files are mapped, and
/// stay alive if a writer removes them, but for the files of terms: the first look-up in a field of a segment opens those.
///
/// # Examples
///
/// ```no_run
/// use docvalues_column::ColumnSource;
/// use docvalues_lucene::Index;
///
/// let index = Index::open("/var/solr/data/hits/data/index")?;
/// for segment in index.segments() {
///     println!("{}: {} documents, {:?}", segment.name(), segment.docs(), segment.fields()?);
/// }
/// let parts = index.parts(); // for searches, merges and imports of docvalues
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index {
    lucene: [i32; 3],
    engine: Engine,
    segments: Vec<Arc<Segment>>,
    user_data: Vec<(String, String)>,
}

impl Index {
    /// Opens the index in the folder `path`: for Solr `data/index` of a core, for Elasticsearch and OpenSearch `index` of a
    /// shard. Reads all metadata, and no values unless there are soft deletes.
    ///
    /// # Errors
    ///
    /// If there is no commit, metadata is damaged, or a segment has a codec or a version that is not read; of an index of a newer
    /// release of Lucene, [`ErrorKind::Release`]. Formats of single fields that are not read are
    /// [no error](Segment::unreadable).
    pub fn open(path: impl AsRef<Path>) -> Result<Index> {
        Index::open_with(Arc::new(FsDirectory::new(path)), Options::new())
    }

    /// As [`open`](Self::open), in any directory and with options. A directory without mappings is read whole, file by file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and if a field cannot have the type that was asked for.
    pub fn open_with(directory: Arc<dyn Directory>, options: Options) -> Result<Index> {
        let files = Files::new(directory);
        let mut generation = files.newest_commit()?;
        for _ in 1..TRIES {
            let opened = Index::open_commit(&files, &generation, &options);
            let is_missing = opened.as_ref().is_err_and(|error| error.is_missing());
            // A writer removes files of older commits, after it has written a newer one.
            let newest = if is_missing { files.newest_commit()? } else { return opened };
            if newest == generation {
                return opened;
            }
            generation = newest;
        }
        Index::open_commit(&files, &generation, &options)
    }

    fn open_commit(files: &Files, generation: &str, options: &Options) -> Result<Index> {
        let file = files.open(&format!("segments_{generation}"))?;
        let commit = commit::read(&file, generation)?;
        let (engine, mut segments, mut docs) = (Engine::of(&commit.user_data), Vec::new(), 0);
        for segment in &commit.segments {
            let segment = Segment::open(files, segment, (engine, options));
            let segment = segment.map_err(|error| error.of_release(commit.lucene))?;
            docs += i64::from(segment.docs());
            if docs > MAX_DOCS {
                let (what, found, least, most) = ("documents of an index", docs, 0, MAX_DOCS);
                return Err(file.error(0, ErrorKind::OutOfRange { what, found, least, most }));
            }
            segments.push(segment);
        }
        if options.unites_kinds {
            let lists: BTreeSet<String> =
                segments.iter().flat_map(Segment::lists).map(str::to_owned).collect();
            segments.iter_mut().for_each(|segment| segment.read_as_lists(&lists));
        }
        let segments = segments.into_iter().map(Arc::new).collect();
        Ok(Index { lucene: commit.lucene, engine, segments, user_data: commit.user_data })
    }

    /// The segments, in the order of their documents.
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// The segments with their live documents, as parts of a search.
    pub fn parts(&self) -> Vec<Part> {
        let part = |segment: &Arc<Segment>| Part { source: segment.clone(), live: segment.live().cloned() };
        self.segments.iter().map(part).collect()
    }

    /// The number of live documents. O(segments).
    pub fn live_docs(&self) -> u64 {
        let live = |segment: &Arc<Segment>| segment.live().map_or(segment.docs(), |live| live.count());
        self.segments.iter().map(|segment| u64::from(live(segment))).sum()
    }

    /// The live documents with an id in an indexed field, such as `_id`: see [`Segment::find_id`].
    ///
    /// # Errors
    ///
    /// As [`Segment::find_id`].
    pub fn find_id(&self, field: &str, id: &str) -> Result<Vec<DocAddress>> {
        let mut found = Vec::new();
        for (part, segment) in (0..).zip(&self.segments) {
            let docs = segment.find_id(field, id)?.into_iter();
            let live = docs.filter(|doc| segment.live().is_none_or(|live| live.contains(*doc)));
            found.extend(live.map(|doc| DocAddress { part, doc }));
        }
        Ok(found)
    }

    /// The release of Lucene that wrote the commit: major, minor and bugfix.
    pub fn lucene(&self) -> [i32; 3] {
        self.lucene
    }

    /// The program that wrote the commit, as far as its notes tell.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The user data of the commit, which the program that wrote it chose.
    pub fn user_data(&self) -> &[(String, String)] {
        &self.user_data
    }

    /// Compares the checksums of all files of doc values and terms, as [`Segment::verify`]; those of metadata were compared before.
    /// O(their length).
    ///
    /// # Errors
    ///
    /// As [`Segment::verify`].
    pub fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(|segment| segment.verify())
    }
}
