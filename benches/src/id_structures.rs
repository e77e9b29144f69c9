//! Structures that find the document of an id in many segments, under one name each in benches, programs and pages.
//!
//! | name | structure | question |
//! | --- | --- | --- |
//! | `ours-fst` | an FST over packed ids | FST or trie, all else equal? |
//! | `ours-trie` | a trie with all bytes of the packed ids | the same |
//! | `ours-blocks` | blocks of 24 to 48 packed ids under a trie of separators | does a dictionary in blocks, as Lucene's, cost more? |
//! | `ours-blocks-filter` | the same after a Bloom filter in each segment's file, the default | does the dictionary matter after a filter? |
//! | `ours-table` | the same after a fingerprint table over all segments | is a visit to each segment needed? |
//! | `crate-fst` | `fst::Map`, mapped, one segment after the other | are these structures good ones of their kind? |
//! | `ours-fst-text`, `ours-trie-text`, `ours-blocks-text` | as above, over ids that are not packed, one segment after the other: only in `--bench ids` | which share is packing and interleaving, and how does the FST compare with the crate's? |
//! | `lucene-9.12-fst` | Lucene 9.12.3: blocks under an FST | FST or trie in Lucene? |
//! | `lucene-10.3-trie`, `lucene-10.5-trie` | Lucene 10.3.1 and 10.5.0: blocks under a trie | the same |
//! | `lucene-10.5-trie-bloom`, `lucene-10.5-trie-bloom-13` | the same with `BloomFilteringPostingsFormat`, of 6.5 bits an id or 13 | the same, after a filter |
//! | `lucene-9.12-fst-27`, `lucene-10.5-trie-27` | the same as the plain ones, over UUIDs of 27 bytes, as Elasticsearch and OpenSearch store them | do fewer bytes matter? |
//!
//! Segments are files, so that all structures read mapped pages.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use docvalues::reader::{IdForm, IdReader};
use docvalues::terms::build::IdsBuilder;
use docvalues::terms::lookup::{IdLookup, IdStore, Seeker};
use docvalues::writer::IdOptions;
use docvalues::{DocId, FieldSpec, LogicalType, Schema, Segment, SegmentWriter, WriterOptions};

use crate::ids::IdKind;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Segments of consecutive ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// The kind of the ids.
    pub kind: IdKind,
    /// The number of segments.
    pub segments: u32,
    /// The number of ids in each.
    pub each: u32,
}

impl Shape {
    /// The number of ids.
    pub fn ids(self) -> u32 {
        self.segments * self.each
    }

    /// The place of the document of the `i`-th id, which each segment has in the order of arrival.
    pub fn place(self, i: u32) -> Place {
        Place { segment: i / self.each, doc: i % self.each }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}x{}", self.kind, self.segments, self.each)
    }
}

/// A document of a segment. The oldest segment is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The segment.
    pub segment: u32,
    /// The document.
    pub doc: u32,
}

/// A structure of this process. Its name is that in the table of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Structure {
    /// `ours-fst`
    Fst,
    /// `ours-trie`
    Trie,
    /// `ours-blocks`
    Blocks,
    /// `ours-blocks-filter`
    BlocksFilter,
    /// `ours-table`
    Table,
    /// `crate-fst`
    CrateFst,
}

impl Structure {
    /// Every structure.
    pub const ALL: [Structure; 6] = [
        Structure::Fst,
        Structure::Trie,
        Structure::Blocks,
        Structure::BlocksFilter,
        Structure::Table,
        Structure::CrateFst,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Fst => "ours-fst",
            Structure::Trie => "ours-trie",
            Structure::Blocks => "ours-blocks",
            Structure::BlocksFilter => "ours-blocks-filter",
            Structure::Table => "ours-table",
            Structure::CrateFst => "crate-fst",
        }
    }

    /// The options of its segments; none for the crate's.
    fn options(self) -> Option<IdOptions> {
        let bare = |form| Some(IdOptions::new().form(form).filter_bits(0));
        match self {
            Structure::Fst => bare(IdForm::Fst),
            Structure::Trie => bare(IdForm::Exact),
            Structure::Blocks => bare(IdForm::Blocks),
            Structure::BlocksFilter | Structure::Table => Some(IdOptions::new().form(IdForm::Blocks)),
            Structure::CrateFst => None,
        }
    }

    /// Builds it in memory, of sorted ids and their documents. Returns its bytes, those of the documents included.
    ///
    /// # Errors
    ///
    /// If the ids do not ascend.
    pub fn bytes(self, ids: &[(String, DocId)]) -> Outcome<usize> {
        let Some(options) = self.options() else {
            let mut builder = fst::MapBuilder::memory();
            ids.iter().try_for_each(|(id, doc)| builder.insert(id, doc.get().into()))?;
            return Ok(builder.into_inner()?.len());
        };
        let docs = ids.len() as u32;
        let built = IdsBuilder::new(options).build(ids, docs)?;
        let mut bytes = 0;
        built.try_map(&mut |_, section: Vec<u8>| {
            bytes += section.len();
            Ok::<_, Infallible>(())
        })?;
        Ok(bytes)
    }

    /// The folder of its segments in `folder`, which some structures share.
    pub fn folder(self, folder: &Path, shape: Shape) -> PathBuf {
        let files = match self {
            Structure::Table => Structure::BlocksFilter,
            other => other,
        };
        folder.join(format!("{shape}.{}", files.name()))
    }

    /// Writes its segments, unless they exist.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn build(self, folder: &Path, shape: Shape) -> Outcome {
        let built = self.folder(folder, shape);
        if built.exists() {
            return Ok(());
        }
        let making = built.with_extension("making");
        let _ = fs::remove_dir_all(&making);
        fs::create_dir_all(&making)?;
        for segment in 0..shape.segments {
            let ids = segment * shape.each..(segment + 1) * shape.each;
            let path = making.join(segment.to_string());
            match self.options() {
                Some(options) => write(&path, shape.kind, ids, options)?,
                None => write_map(&path, shape.kind, ids)?,
            }
        }
        fs::rename(making, built)?;
        Ok(())
    }

    /// Opens its segments. Without `warm`, it reads as little as it can.
    ///
    /// # Errors
    ///
    /// If they were not built, or are damaged.
    pub fn open(self, folder: &Path, shape: Shape, warm: bool) -> Outcome<Opened> {
        let folder = self.folder(folder, shape);
        let newest_first = (0..shape.segments).rev().map(|segment| folder.join(segment.to_string()));
        if self == Structure::CrateFst {
            let maps =
                newest_first.map(|path| Ok(fst::Map::new(map(&path)?)?)).collect::<Outcome<Vec<_>>>()?;
            if warm {
                maps.iter().try_for_each(|map| map.as_fst().verify())?;
            }
            return Ok(Opened::Maps(maps));
        }
        let index = |path: PathBuf| Ok(Arc::clone(Segment::open(path)?.ids()?.ok_or("no index")?.reader()));
        let readers = newest_first.map(index).collect::<Outcome<Vec<Arc<IdReader>>>>()?;
        if warm {
            readers.iter().try_for_each(|reader| reader.verify())?;
        }
        let lookup = match self {
            Structure::Table => {
                let store = IdStore::new();
                store.add_all(&readers)?;
                store.snapshot()
            }
            _ => Arc::new(IdLookup::new(readers)),
        };
        Ok(Opened::Lookup(lookup))
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Structure {
    type Err = String;

    fn from_str(name: &str) -> Result<Structure, String> {
        let named = |structure: &Structure| structure.name() == name;
        let names = || Structure::ALL.map(Structure::name).join(", ");
        Structure::ALL.into_iter().find(named).ok_or_else(|| format!("expected {}, found {name}", names()))
    }
}

/// Open segments, shared by threads.
pub enum Opened {
    /// Of this project.
    Lookup(Arc<IdLookup<IdReader>>),
    /// The crate's maps, newest first.
    Maps(Vec<fst::Map<memmap2::Mmap>>),
}

impl Opened {
    /// The state of one thread.
    pub fn finder(&self) -> Finder<'_> {
        match self {
            Opened::Lookup(lookup) => {
                let seeker = Box::new(lookup.seeker());
                Finder::Seeker { seeker, newest: lookup.len() as u32 - 1, hits: Vec::new() }
            }
            Opened::Maps(maps) => Finder::Maps(maps),
        }
    }
}

/// Look-ups of one thread.
pub enum Finder<'a> {
    /// Of this project.
    Seeker {
        /// Looks up bulks.
        seeker: Box<Seeker<'a, IdReader>>,
        /// The number of the newest segment.
        newest: u32,
        /// Of the last bulk.
        hits: Vec<Option<docvalues::terms::lookup::Hit>>,
    },
    /// The crate's maps, newest first.
    Maps(&'a [fst::Map<memmap2::Mmap>]),
}

impl Finder<'_> {
    /// Looks up a bulk. Replaces `found` with the place of each id, if a segment has it.
    ///
    /// # Panics
    ///
    /// If a segment is damaged.
    pub fn find(&mut self, ids: &[&[u8]], found: &mut Vec<Option<Place>>) {
        found.clear();
        match self {
            Finder::Seeker { seeker, newest, hits } => {
                seeker.find_many(ids, hits).expect("undamaged segments");
                found.extend(hits.iter().map(|hit| {
                    hit.map(|hit| Place { segment: *newest - hit.segment as u32, doc: hit.doc.get() })
                }));
            }
            Finder::Maps(maps) => found.extend(ids.iter().map(|id| {
                let (segment, doc) = (0..).zip(*maps).find_map(|(at, map)| Some((at, map.get(id)?)))?;
                Some(Place { segment: maps.len() as u32 - 1 - segment, doc: doc as u32 })
            })),
        }
    }
}

/// Writes a segment of ids and their numbers.
fn write(path: &Path, kind: IdKind, ids: std::ops::Range<u32>, options: IdOptions) -> Outcome {
    let mut schema = Schema::new();
    let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8))?;
    let version = schema.add(FieldSpec::new("_version", LogicalType::I64))?;
    let mut writer = SegmentWriter::create(path, schema, WriterOptions::default())?;
    writer.id_field(id, options)?;
    for i in ids {
        let mut document = writer.document();
        document.str(id, &kind.id(i))?.i64(version, i.into())?;
        document.finish()?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a map of ids to their documents.
fn write_map(path: &Path, kind: IdKind, ids: std::ops::Range<u32>) -> Outcome {
    let mut sorted: Vec<(String, u64)> = ids.map(|i| kind.id(i)).zip(0..).collect();
    sorted.sort_unstable();
    let mut builder = fst::MapBuilder::new(BufWriter::new(File::create(path)?))?;
    sorted.iter().try_for_each(|(id, doc)| builder.insert(id, *doc))?;
    builder.finish()?;
    Ok(())
}

/// Maps a file of the crate, as Lucene and this project map theirs.
#[expect(unsafe_code, reason = "the crate fst reads a mapping, too")]
fn map(path: &Path) -> Outcome<memmap2::Mmap> {
    let file = File::open(path)?;
    // SAFETY: this package wrote the file, and nothing changes it while it is mapped.
    let bytes = unsafe { memmap2::Mmap::map(&file) }?;
    bytes.advise(memmap2::Advice::Random)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::random;

    /// A model: the segments and documents are those in which the ids were written.
    #[test]
    fn every_structure_finds_the_same_documents() {
        let folder = tempfile::tempdir().unwrap();
        for kind in IdKind::ALL {
            let shape = Shape { kind, segments: 7, each: 150 };
            let all = shape.ids();
            let mut numbers: Vec<u32> = random(all, 500).chain(all..all + 500).collect();
            numbers.sort_unstable_by_key(|i| i.wrapping_mul(0x9e37_79b1));
            for structure in Structure::ALL {
                structure.build(folder.path(), shape).unwrap();
                for warm in [false, true] {
                    let opened = structure.open(folder.path(), shape, warm).unwrap();
                    let (mut finder, mut found) = (opened.finder(), Vec::new());
                    for numbers in numbers.chunks(20) {
                        let ids: Vec<String> = numbers.iter().map(|&i| kind.id(i)).collect();
                        let ids: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
                        finder.find(&ids, &mut found);
                        let model = numbers.iter().map(|&i| (i < all).then(|| shape.place(i)));
                        assert!(model.eq(found.iter().copied()), "{structure}, {kind}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_those_of_the_table() {
        let table = include_str!("id_structures.rs");
        for structure in Structure::ALL {
            assert_eq!(structure.name().parse(), Ok(structure));
            assert!(table.contains(&format!("//! | `{structure}` |")), "{structure}");
        }
    }
}
